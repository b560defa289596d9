"""A start-up's gig board on AdonisJS: VineJS validators, Lucid pages, opaque tokens."""

# Its author has typed it less strictly.
# mypy: ignore-errors

import base64
import json
import secrets
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_GIGS = [
    (41, "Banner for the spring sale", "fresh colours for the first warm week", 6),
    (42, "Newsletter headline", "three things we learned from our users", 9),
    (44, "Sticker text", "powered by tea and stubbornness", 4),
    (47, "Sign for the door", "please ring twice and wait", 12),
    (48, "Slide title", "roadmap for the second quarter", 7),
    (52, "Subject line", "your invoice is ready", 5),
    (53, "Poster for the meetup", "bring a laptop and an idea", 15),
]
_MAX_ACTIVE = 3
_Row = dict[str, Any]


class GigBoard(Backend):
    """Snake-cased JSON; numeric keys; an assignment between claim and completion."""

    def __init__(self) -> None:
        super().__init__()
        self._gigs: dict[int, _Row] = {
            number: {
                "id": number,
                "title": title,
                "brief": "Return the source text in upper case, nothing else.",
                "source_text": text,
                "reward_credits": reward,
                "status": "open",
                "created_at": self._now(),
            }
            for number, title, text, reward in _GIGS
        }
        self._assignments: dict[int, _Row] = {}
        self._agents: dict[str, _Row] = {}  # by token

    def texts(self) -> dict[str, str]:
        """Return the text of every gig."""
        return {str(number): text for number, _, text, _ in _GIGS}

    # -- the framework -------------------------------------------------------------

    @staticmethod
    def _now() -> str:
        return datetime.now(UTC).isoformat(timespec="milliseconds")

    def missing(self, request: Request) -> Response:
        """Answer as E_ROUTE_NOT_FOUND does."""
        return Response(404, {"message": f"Cannot {request.method}:{request.path}"})

    @staticmethod
    def _invalid(*errors: _Row) -> Response:
        return Response(422, {"errors": list(errors)})

    @staticmethod
    def _plain(status: int, message: str) -> Response:
        return Response(status, {"errors": [{"message": message}]})

    def _call(self, request: Request) -> tuple[_Row, _Row] | Response:
        """Return the agent and the body; a body that is not JSON is not there."""
        agent = self._agents.get(request.token)
        if agent is None:
            return self._plain(401, "Unauthorized access")
        kind = (request.headers.get("Content-Type") or "").split(";")[0].strip()
        if kind != "application/json" or not request.raw.strip():
            return agent, {}
        try:
            body = request.json()
        except ValueError as error:
            return Response(400, {"message": f"Invalid JSON: {error}"})
        return agent, body if isinstance(body, dict) else {}

    @staticmethod
    def _fault(name: str, rule: str, says: str, **meta: int) -> _Row:
        error = {"message": f"The {name} field {says}", "rule": rule, "field": name}
        return {**error, "meta": meta} if meta else error

    @staticmethod
    def _unknown(name: str) -> _Row:
        message = f"The selected {name} is invalid"
        return {"message": message, "rule": "database.exists", "field": name}

    def _number(
        self, data: _Row, name: str, errors: list[_Row], low: int = 0, high: int = 0
    ) -> int:
        """Validate as vine.number().min().max() does; it casts numeric strings."""
        value, fault, number = data.get(name), None, 0.0
        try:
            number = float("nan" if isinstance(value, bool) else value)  # type: ignore  # noqa: PGH003
        except (TypeError, ValueError):
            number = float("nan")
        if value is None:
            fault = self._fault(name, "required", "must be defined")
        elif number != number:  # noqa: PLR0124
            fault = self._fault(name, "number", "must be a number")
        elif not number.is_integer():
            fault = self._fault(name, "withoutDecimals", "must be an integer")
        elif low and number < low:
            fault = self._fault(name, "min", f"must be at least {low}", min=low)
        elif high and number > high:
            says = f"must not be greater than {high}"
            fault = self._fault(name, "max", says, max=high)
        if fault:
            errors.append(fault)
        return 0 if fault else int(number)

    # -- the controllers -----------------------------------------------------------

    def register(self, request: Request) -> Response:
        """AgentsController.store."""
        self.book.registrations += 1
        number = 100 + self.book.registrations
        head = base64.urlsafe_b64encode(str(number).encode()).decode().rstrip("=")
        token = f"oat_{head}.{secrets.token_urlsafe(30)}"
        self._agents[token] = {"id": number, "credits": 100}
        body = {"agent_id": str(number), "access_token": token, "credits": 100}
        return Response(200, body)

    def tasks(self, request: Request) -> Response:
        """GigsController.index: open gigs, a page at a time."""
        errors: list[_Row] = []
        query: _Row = {"page": 1, "limit": 5, **request.query}
        page = self._number(query, "page", errors, 1)
        limit = self._number(query, "limit", errors, 1, 25)
        if errors:
            return self._invalid(*errors)
        rows = [gig for gig in self._gigs.values() if gig["status"] == "open"]
        last = max(1, -(-len(rows) // limit))

        def url(number: int) -> str:
            return f"{request.path}?limit={limit}&page={number}"

        meta = {
            "total": len(rows),
            "per_page": limit,
            "current_page": page,
            "last_page": last,
            "first_page": 1,
            "first_page_url": url(1),
            "last_page_url": url(last),
            "next_page_url": url(page + 1) if page < last else None,
            "previous_page_url": url(page - 1) if page > 1 else None,
        }
        start = (page - 1) * limit
        return Response(200, {"meta": meta, "data": rows[start : start + limit]})

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        """AssignmentsController.store."""
        call = self._call(request)
        if isinstance(call, Response):
            return call
        agent, body = call
        errors: list[_Row] = []
        number = self._number(body, "gig_id", errors)
        minutes = self._number(body, "estimated_minutes", errors, 5, 480)
        if number not in self._gigs and "gig_id" not in [e["field"] for e in errors]:
            errors.append(self._unknown("gig_id"))
        if errors:
            return self._invalid(*errors)
        gig = self._gigs[number]
        if gig["status"] != "open":
            return self._plain(409, "This gig has already been taken")
        active = [
            row
            for row in self._assignments.values()
            if row["agent_id"] == agent["id"] and row["status"] != "completed"
        ]
        if len(active) >= _MAX_ACTIVE:
            message = f"You cannot have more than {_MAX_ACTIVE} active assignments"
            return self._plain(403, message)
        gig["status"] = "in_progress"
        self.book.claimed(str(number))
        row = {
            "id": 9001 + 3 * len(self._assignments),
            "gig_id": number,
            "agent_id": agent["id"],
            "estimated_minutes": minutes,
            "status": "active",
            "created_at": self._now(),
        }
        self._assignments[row["id"]] = row
        return Response(200, {"assignment": {**row, "gig": gig}})

    def _assignment(self, body: _Row, agent: _Row, errors: list[_Row]) -> _Row:
        before = len(errors)
        number = self._number(body, "assignment_id", errors)
        row = self._assignments.get(number)
        if len(errors) == before and (row is None or row["agent_id"] != agent["id"]):
            errors.append(self._unknown("assignment_id"))
        return row or {}

    def submit(self, request: Request) -> Response:
        """SubmissionsController.store."""
        call = self._call(request)
        if isinstance(call, Response):
            return call
        agent, body = call
        errors: list[_Row] = []
        row = self._assignment(body, agent, errors)
        content = body.get("content")
        if content is None or content == "":
            errors.append(self._fault("content", "required", "must be defined"))
        elif not isinstance(content, str):
            errors.append(self._fault("content", "string", "must be a string"))
        if errors:
            return self._invalid(*errors)
        if row["status"] != "active":
            return self._plain(409, f"This assignment is already {row['status']}")
        if content != self._gigs[row["gig_id"]]["source_text"].upper():
            says = "does not meet the brief"
            return self._invalid(self._fault("content", "brief", says))
        row["status"] = "delivered"
        return Response(200, {"assignment": row})

    def complete(self, request: Request) -> Response:
        """AssignmentsController.complete: the payout."""
        call = self._call(request)
        if isinstance(call, Response):
            return call
        agent, body = call
        errors: list[_Row] = []
        row = self._assignment(body, agent, errors)
        accepted = body.get("accept_terms")
        if accepted is None:
            errors.append(self._fault("accept_terms", "required", "must be defined"))
        elif json.dumps(accepted).strip('"') not in ("true", "1", "on", "yes"):
            errors.append(self._fault("accept_terms", "accepted", "must be accepted"))
        if errors:
            return self._invalid(*errors)
        if row["status"] != "delivered":
            return self._plain(
                409, f"Cannot complete an assignment that is {row['status']}"
            )
        gig = self._gigs[row["gig_id"]]
        row["status"] = gig["status"] = "completed"
        agent["credits"] += gig["reward_credits"]
        self.book.pay(str(gig["id"]), gig["reward_credits"])
        payout = {"credits": gig["reward_credits"], "balance": agent["credits"]}
        return Response(200, {"assignment": row, "payout": payout})
