"""Bramblepost: a grown Rails monolith with jbuilder views and service objects.

Snake case, root keys, integer ids, decimals as strings, Kaminari pages; params are required
under a root key, validations answer 422, and the service objects speak in their own shape.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import math
import secrets
import uuid
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_POSTINGS = [
    (4181, "Parish noticeboard", "jumble sale on saturday, doors at ten", "14.0"),
    (4190, "Gate sign", "please shut the gate: lambs about", "21.0"),
    (4193, "Jam label", "damson & apple, made 12 october", "6.0"),
    (4202, "Village quiz", "which hedge fruit is picked last?", "17.0"),
    (4207, "Footpath map", "turn left at the third stile", "11.0"),
    (4215, "Hive marker", "queen marked blue, second brood box", "25.0"),
    (4216, "Show programme", "tallest hollyhock, class 38", "8.0"),
]


class _Halt(Exception):  # noqa: N818
    """A rescued exception or a failed service, with what is rendered for it."""

    def __init__(self, status: int, body: Any) -> None:
        super().__init__(str(body))
        self.status, self.body = status, body


def _failed(code: str, message: str, status: int = 422) -> _Halt:
    """Render the result of a service object that failed."""
    return _Halt(status, {"success": False, "error_code": code, "message": message})


def _now() -> str:
    at = datetime.now(UTC)
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"


def _blank(value: Any) -> bool:
    return (
        value is None or value is False or value in ({}, []) or not str(value).strip()
    )


def _render(body: Any, status: int = 200) -> Response:
    headers = {
        "Content-Type": "application/json; charset=utf-8",
        "Cache-Control": "max-age=0, private, must-revalidate",
        "X-Request-Id": str(uuid.uuid4()),
        "X-Runtime": "0.018244",
    }
    return Response(status, json.dumps(body, separators=(",", ":")), headers)


class Bramblepost(Backend):
    """The text comes with the assignment; completing with a closing note pays."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._assignments: dict[int, dict[str, Any]] = {}
        closes, posted = date.today() + timedelta(days=14), _now()  # noqa: DTZ011
        self._postings: dict[int, dict[str, Any]] = {
            id_: {
                "id": id_,
                "headline": headline,
                "category": "transcription",
                "summary": "Retype the source text in block capitals.",
                "payout_credits": payout,
                "state": "published",
                "closes_on": closes.isoformat(),
                "created_at": posted,
            }
            for id_, headline, _, payout in _POSTINGS
        }
        self._sources = {id_: source for id_, _, source, _ in _POSTINGS}

    def texts(self) -> dict[str, str]:
        """Return the source texts by the postings' ids."""
        return {str(id_): source for id_, source in self._sources.items()}

    def missing(self, request: Request) -> Response:
        """Answer as the exceptions app does to a routing error."""
        return _render({"status": 404, "error": "Not Found"}, 404)

    def register(self, request: Request) -> Response:
        """Create an agent."""
        id_, token = str(uuid.uuid4()), secrets.token_urlsafe(24)
        self._agents[token] = {"id": id_, "balance": 100}
        self.book.registrations += 1
        return _render({"agent_id": id_, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        """Render job_postings/index, a page of published postings."""
        rows = [row for row in self._postings.values() if row["state"] == "published"]
        per, page = self._to_i(request, "limit", 25), self._to_i(request, "page", 1)
        per = min(per, 25)
        total = math.ceil(len(rows) / per)
        at = f"{request.base}{request.path}?limit={per}&page="
        after = f"{at}{page + 1}" if page < total else None
        shown = rows[(page - 1) * per : page * per]
        meta = {"current_page": page, "total_pages": total, "total_count": len(rows)}
        links = {"self": f"{at}{page}", "next": after}
        return _render({"job_postings": shown, "meta": meta, "links": links})

    marketplace = tasks

    def agents(self, request: Request) -> Response:
        rows = [{"id": agent["id"]} for agent in self._agents.values()]
        return _render({"agents": rows, "meta": {"total_count": len(rows)}})

    directory = agents

    def claim(self, request: Request) -> Response:
        return self._rescue(self._claim, request)

    def submit(self, request: Request) -> Response:
        return self._rescue(self._submit, request)

    def complete(self, request: Request) -> Response:
        return self._rescue(self._complete, request)

    def post(self, request: Request) -> Response:
        return self._rescue(self._post, request)

    def _claim(self, agent: dict[str, Any], params: dict[str, Any]) -> Any:
        form = self._require(params, "assignment")
        errors: dict[str, list[str]] = {}
        posting, due = None, form.get("due_on")
        if _blank(form.get("job_posting_id")):
            errors["job_posting_id"] = ["can't be blank"]
        else:
            posting = self._find("JobPosting", self._postings, form["job_posting_id"])
        try:
            day = date.fromisoformat(str(due)[:10])
            if day < date.today():  # noqa: DTZ011
                errors["due_on"] = ["can't be in the past"]
            elif posting and day.isoformat() > posting["closes_on"]:
                errors["due_on"] = [f"must be on or before {posting['closes_on']}"]
        except ValueError:
            errors["due_on"] = [
                "can't be blank" if _blank(due) else "is not a valid date"
            ]
        if form.get("terms_accepted") not in (True, "1", "true"):
            errors["terms_accepted"] = ["must be accepted"]
        self._validate(errors)
        assert posting is not None
        if posting["state"] != "published":
            raise _failed("POSTING_TAKEN", "Job posting has already been taken", 409)
        posting["state"] = "assigned"
        id_ = 90310 + len(self._assignments)
        view = {
            "id": id_,
            "state": "in_progress",
            "due_on": day.isoformat(),
            "job_posting": {**posting, "source_text": self._sources[posting["id"]]},
        }
        self._assignments[id_] = {"agent": agent["id"], "view": view}
        self.book.claimed(str(posting["id"]))
        return {"assignment": view}

    def _submit(self, agent: dict[str, Any], params: dict[str, Any]) -> Any:
        form = self._require(params, "submission")
        if _blank(form.get("assignment_id")):
            self._validate({"assignment_id": ["can't be blank"]})
        view = self._own(agent, form["assignment_id"])["view"]
        if view["state"] != "in_progress":
            raise self._transition("submit", view["state"])
        errors = {}
        if _blank(form.get("body")):
            errors["body"] = ["can't be blank"]
        elif form["body"] != view["job_posting"]["source_text"].upper():
            errors["body"] = ["is not the source text in block capitals"]
        self._validate(errors)
        view["state"] = "submitted"
        submission = {"id": view["id"] - 82600, "assignment_id": view["id"]}
        return {
            "submission": {**submission, "body": form["body"], "created_at": _now()}
        }

    def _complete(self, agent: dict[str, Any], params: dict[str, Any]) -> Any:
        form = self._require(params, "assignment")
        if _blank(form.get("id")):
            raise _Halt(404, {"error": "Couldn't find Assignment without an ID"})
        view = self._own(agent, form["id"])["view"]
        if view["state"] != "submitted":
            raise self._transition("complete", view["state"])
        note = form.get("closing_note")
        if _blank(note):
            self._validate({"closing_note": ["can't be blank"]})
        if len(str(note)) < 10:
            self._validate(
                {"closing_note": ["is too short (minimum is 10 characters)"]}
            )
        posting = self._postings[view["job_posting"]["id"]]
        amount = int(float(posting["payout_credits"]))
        view["state"], posting["state"] = "completed", "closed"
        agent["balance"] += amount
        self.book.pay(str(posting["id"]), amount)
        return {
            "assignment": {
                "id": view["id"],
                "state": "completed",
                "closing_note": note,
            },
            "payout": {"amount": posting["payout_credits"], "paid_at": _now()},
            "agent": {"id": agent["id"], "credit_balance": f"{agent['balance']}.0"},
        }

    def _post(self, agent: dict[str, Any], params: dict[str, Any]) -> Any:
        raise _Halt(403, {"error": "not allowed to create? this JobPosting"})

    def _transition(self, event: str, state: str) -> _Halt:
        message = f"Event '{event}' cannot transition from '{state}'."
        return _failed("INVALID_TRANSITION", message)

    def _validate(self, errors: dict[str, list[str]]) -> None:
        if errors:
            raise _Halt(422, {"errors": errors})

    def _require(self, params: dict[str, Any], key: str) -> dict[str, Any]:
        if _blank(params.get(key)) or not isinstance(params[key], dict):
            error = f"param is missing or the value is empty or invalid: {key}"
            raise _Halt(400, {"error": error})
        return params[key]

    def _find(self, model: str, rows: dict[int, Any], id_: Any) -> Any:
        found = rows.get(int(id_)) if str(id_).isdecimal() else None
        if found is None:
            raise _Halt(404, {"error": f"Couldn't find {model} with 'id'={id_}"})
        return found

    def _own(self, agent: dict[str, Any], id_: Any) -> dict[str, Any]:
        assignment = self._find("Assignment", self._assignments, id_)
        if assignment["agent"] != agent["id"]:
            raise _Halt(403, {"error": "not allowed to update? this Assignment"})
        return assignment

    def _to_i(self, request: Request, name: str, default: int) -> int:
        text = request.query.get(name, "")
        return max(int(text), 1) if text.isascii() and text.isdigit() else default

    def _rescue(self, action: Callable[..., Any], request: Request) -> Response:
        agent = self._agents.get(request.token)
        if agent is None:
            error = "You need to sign in or sign up before continuing."
            error = "Invalid access token." if request.token else error
            return _render({"error": error}, 401)
        params: dict[str, Any] = dict(request.query)
        if "json" in (request.headers.get("Content-Type") or "") and request.raw:
            try:
                body = request.json()
            except ValueError:
                error = "Error occurred while parsing request parameters"
                return _render({"status": 400, "error": error}, 400)
            params |= body if isinstance(body, dict) else {"_json": body}
        try:
            return _render(action(agent, params))
        except _Halt as halt:
            return _render(halt.body, halt.status)
