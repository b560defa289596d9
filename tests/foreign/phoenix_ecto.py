"""A start-up's Phoenix JSON API: changesets, a FallbackController, `data` around all."""
# Its author has typed it less strictly.
# mypy: ignore-errors

import secrets
import uuid
from datetime import UTC, datetime
from typing import Any

from .backend import Backend, Request, Response  # noqa: TID252

_MISSING = (
    'expected key "{}" to be present in params, please send the expected key '
    "or adapt your scrub_params call"
)
_DETAIL = {400: "Bad Request", 401: "Unauthorized", 404: "Not Found"}
_TASKS = [
    ("Shout the greeting", 12, "good morning from the night shift"),
    ("Banner for the fair", 20, "county fair opens saturday at nine"),
    ("Label for crate 7", 8, "handle with care, glass inside"),
    ("Heading of the memo", 15, "all hands meeting moved to thursday"),
    ("Warning sign", 30, "do not feed the swans"),
    ("Ticker line", 18, "rain expected in the northern valleys"),
    ("Name plate", 25, "dr. elena marsh, room 12b"),
]


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class _Halt(Exception):  # noqa: N818
    """What the FallbackController or the ErrorJSON view renders."""

    def __init__(self, status: int, errors: dict[str, Any] | None = None) -> None:
        super().__init__(status)
        self.status = status
        self.errors = errors or {"detail": _DETAIL[status]}


def _cast(kind: str, value: Any) -> Any:
    """Cast as Ecto does; ValueError means "is invalid"."""
    if kind == "integer":
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if isinstance(value, str):
            return int(value)
    elif kind == "string" and isinstance(value, str):
        return value
    elif kind == "uuid" and isinstance(value, str):
        return str(uuid.UUID(value))
    raise ValueError(value)


def _changeset(params: dict[str, Any], fields: dict[str, str]) -> dict[str, Any]:
    """cast/3 and validate_required/2 of all fields."""
    errors: dict[str, list[str]] = {}
    changes = {}
    for name, kind in fields.items():
        value = params.get(name)
        if value is None or (isinstance(value, str) and not value.strip()):
            errors[name] = ["can't be blank"]
            continue
        try:
            changes[name] = _cast(kind, value)
        except ValueError:
            errors[name] = ["is invalid"]
    if errors:
        raise _Halt(422, errors)
    return changes


class PhoenixNetwork(Backend):
    """Tasks have integer ids and decimal rewards; completing a submission pays."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._claims: dict[str, dict[str, Any]] = {}
        self._submissions: dict[str, dict[str, Any]] = {}
        self._rows: dict[int, dict[str, Any]] = {
            number: {
                "id": number,
                "title": title,
                "description": "Return the input in upper case.",
                "input": text,
                "reward": f"{reward}.00",
                "status": "open",
                "inserted_at": "2025-03-04T09:12:45Z",
                "updated_at": "2025-03-04T09:12:45Z",
            }
            for number, (title, reward, text) in enumerate(_TASKS, 41)
        }

    def texts(self) -> dict[str, str]:
        return {str(row["id"]): row["input"] for row in self._rows.values()}

    # The pipeline ------------------------------------------------------------------

    def _send(self, status: int, body: Any) -> Response:
        return Response(
            status,
            body,
            {
                "Content-Type": "application/json; charset=utf-8",
                "cache-control": "max-age=0, private, must-revalidate",
                "x-request-id": secrets.token_urlsafe(15),
            },
        )

    def missing(self, request: Request) -> Response:
        return self._send(404, {"errors": {"detail": "Not Found"}})

    def _run(self, action: Any, request: Request) -> Response:
        try:
            return self._send(200, action(request))
        except _Halt as halt:
            return self._send(halt.status, {"errors": halt.errors})

    def _params(self, request: Request) -> dict[str, Any]:
        """Plug.Parsers: only JSON is read; everything else passes unread."""
        media = (request.headers.get("Content-Type") or "").partition(";")[0].strip()
        if media.lower() != "application/json" or not request.raw:
            return dict(request.query)
        try:
            body = request.json()
        except ValueError:
            raise _Halt(400) from None
        return {
            **request.query,
            **(body if isinstance(body, dict) else {"_json": body}),
        }

    def _scrubbed(self, request: Request, key: str) -> dict[str, Any]:
        value = self._params(request).get(key)
        if value is None or value == "":
            raise _Halt(400, {"detail": _MISSING.format(key)})
        if not isinstance(value, dict):
            raise _Halt(400)
        return value

    def _agent(self, request: Request) -> dict[str, Any]:
        agent = self._agents.get(request.token)
        if agent is None:
            raise _Halt(401)
        return agent

    # The controllers ---------------------------------------------------------------

    def register(self, request: Request) -> Response:
        return self._run(self._register, request)

    def _register(self, request: Request) -> dict[str, Any]:
        self._params(request)
        self.book.registrations += 1
        token = "SFMyNTY." + secrets.token_urlsafe(32)
        agent = {"id": str(uuid.uuid4()), "balance": 100}
        self._agents[token] = agent
        return {"agent_id": agent["id"], "access_token": token, "credits": 100}

    def tasks(self, request: Request) -> Response:
        return self._run(self._index, request)

    marketplace = tasks

    def _index(self, request: Request) -> dict[str, Any]:
        given = {"limit": "5", "page": "1", **request.query}
        page = _changeset(given, {"limit": "integer", "page": "integer"})
        errors = {k: ["must be greater than 0"] for k, v in page.items() if v < 1}
        if page["limit"] > 50:
            errors["limit"] = ["must be less than or equal to 50"]
        if errors:
            raise _Halt(422, errors)
        rows = [row for row in self._rows.values() if row["status"] == "open"]
        limit, number = page["limit"], page["page"]
        pages = max(1, -(-len(rows) // limit))
        following = f"{request.path}?limit={limit}&page={number + 1}"
        return {
            "data": rows[(number - 1) * limit : number * limit],
            "meta": {
                "page": number,
                "limit": limit,
                "total_pages": pages,
                "total_entries": len(rows),
            },
            "links": {"next": following if number < pages else None},
        }

    def claim(self, request: Request) -> Response:
        return self._run(self._claim, request)

    def _claim(self, request: Request) -> dict[str, Any]:
        agent = self._agent(request)
        fields = {"task_id": "integer", "estimated_minutes": "integer"}
        new = _changeset(self._scrubbed(request, "claim"), fields)
        if new["estimated_minutes"] < 1:
            raise _Halt(422, {"estimated_minutes": ["must be greater than 0"]})
        if new["estimated_minutes"] > 240:
            message = "must be less than or equal to 240"
            raise _Halt(422, {"estimated_minutes": [message]})
        row = self._rows.get(new["task_id"])
        if row is None:
            raise _Halt(422, {"task_id": ["does not exist"]})
        if row["status"] != "open":
            raise _Halt(422, {"task_id": ["has already been taken"]})
        row.update(status="claimed", updated_at=_now())
        claim = {"id": str(uuid.uuid4()), **new, "agent_id": agent["id"]}
        claim.update(state="active", inserted_at=_now())
        self._claims[claim["id"]] = claim
        self.book.claimed(str(row["id"]))
        return {"data": {**claim, "task": row}}

    def submit(self, request: Request) -> Response:
        return self._run(self._submit, request)

    def _submit(self, request: Request) -> dict[str, Any]:
        agent = self._agent(request)
        params = self._scrubbed(request, "submission")
        new = _changeset(params, {"claim_id": "uuid", "output": "string"})
        claim = self._claims.get(new["claim_id"])
        if claim is None or claim["agent_id"] != agent["id"]:
            raise _Halt(422, {"claim_id": ["does not exist"]})
        if claim["state"] != "active":
            raise _Halt(422, {"claim_id": ["has already been taken"]})
        if new["output"] != self._rows[claim["task_id"]]["input"].upper():
            raise _Halt(422, {"output": ["is not the input in upper case"]})
        claim["state"] = "submitted"
        made = {"id": str(uuid.uuid4()), **new, "state": "in_review"}
        made["inserted_at"] = _now()
        self._submissions[made["id"]] = made
        return {"data": made}

    def complete(self, request: Request) -> Response:
        return self._run(self._complete, request)

    def _complete(self, request: Request) -> dict[str, Any]:
        agent = self._agent(request)
        params = self._scrubbed(request, "completion")
        made = self._submissions.get(
            _changeset(params, {"submission_id": "uuid"})["submission_id"]
        )
        claim = self._claims[made["claim_id"]] if made else None
        if claim is None or claim["agent_id"] != agent["id"]:
            raise _Halt(422, {"submission_id": ["does not exist"]})
        if made["state"] == "completed":
            raise _Halt(422, {"submission_id": ["has already been completed"]})
        made["state"] = claim["state"] = "completed"
        row = self._rows[claim["task_id"]]
        row.update(status="completed", updated_at=_now())
        credits_ = int(row["reward"].partition(".")[0])
        agent["balance"] += credits_
        self.book.pay(str(row["id"]), credits_)
        return {"data": {"task": row, "agent": dict(agent), "completed_at": _now()}}
