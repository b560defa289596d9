"""Tasklane: a start-up's Rails 7.1 API (strong parameters, service objects, full messages)."""

# Its author has typed it less strictly.
# mypy: ignore-errors

import re
import secrets
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

# public id, headline, bounty, input text; the text is only shown to who claims
_TASKS = [
    ("tsk_4kq9zd", "Shout our tagline", 15, "coffee that keeps its promises"),
    ("tsk_8bw2mx", "Podcast cover text", 30, "the long way home, episode 12"),
    ("tsk_c71hvn", "Sticker copy", 9, "i brake for raccoons"),
    ("tsk_fp05yt", "Booth banner", 55, "meet us at hall 3 / stand b-17"),
    ("tsk_m3x8ra", "Subject line", 22, "last chance: 20% off until sunday"),
    ("tsk_q6ze1j", "Menu section title", 12, "crème brûlée & friends"),
    ("tsk_w2d7uk", "Error page", 18, "oops... nothing to see here"),
    ("tsk_z9n4lo", "Jersey print", 40, "o'connor 7"),
]
_BRIEF = "Convert the input text to uppercase. Keep spaces and punctuation as they are."


class _Halt(Exception):  # noqa: N818
    """What rescue_from renders."""

    def __init__(self, status: int, *errors: str) -> None:
        self.status, self.errors = status, list(errors)


def _action(
    method: Callable[[Any, Request], dict[str, Any]],
) -> Callable[..., Response]:
    """Run a controller action under ApplicationController's rescue_from."""

    def call(self: Any, request: Request) -> Response:
        try:
            status, body = 200, method(self, request)
        except _Halt as halt:
            status, body = halt.status, {"errors": halt.errors}
            if not halt.errors:  # nothing rescues it: public_exceptions answers
                reason = "Bad Request" if status == 400 else "Internal Server Error"
                body = {"status": status, "error": reason}
        headers = {"Content-Type": "application/json; charset=utf-8"}
        if status == 401:
            body = "HTTP Token: Access denied.\n"
            headers = {"WWW-Authenticate": 'Token realm="Application"'}
        return Response(status, body, headers | {"X-Request-Id": secrets.token_hex(16)})

    return call


def _params(request: Request, key: str, *permitted: str) -> dict[str, str]:
    """params.require(key).permit(*permitted), the values as the strings they are cast from."""
    params: Any = {}
    if "json" in (request.headers.get("Content-Type") or ""):
        try:
            params = request.json() if request.raw.strip() else {}
        except ValueError:
            raise _Halt(400) from None  # ActionDispatch::Http::Parameters::ParseError
    found = params.get(key) if isinstance(params, dict) else None
    if found in (None, {}, [], False) or (isinstance(found, str) and not found.strip()):
        raise _Halt(400, f"param is missing or the value is empty: {key}")
    if not isinstance(found, dict):
        raise _Halt(500)  # undefined method `permit' for an instance of String
    kept = {name: found.get(name) for name in permitted}
    return {
        name: str(value)
        for name, value in kept.items()
        if value is not None and not isinstance(value, (dict, list))
    }


def _number(text: str | None) -> int:
    """String#to_i."""
    found = re.match(r"\s*[-+]?\d+", text or "")
    return int(found[0]) if found else 0


def _stamp() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")[:23] + "Z"


def _length(name: str, text: str, least: int) -> list[str]:
    """validates name, presence: true, length: { minimum: least }"""
    errors = [] if text.strip() else [f"{name} can't be blank"]
    if len(text) < least:
        errors.append(f"{name} is too short (minimum is {least} characters)")
    return errors


class Tasklane(Backend):
    """snake_case under a root key, prefixed ids, full messages; approval of work pays."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.rows = {
            key: {
                "id": key,
                "headline": headline,
                "bounty": pay,
                "input": text,
                "state": "open",
            }
            for key, headline, pay, text in _TASKS
        }
        self.claims: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {key: row["input"] for key, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, {"status": 404, "error": "Not Found"})

    def _agent(self, request: Request) -> dict[str, Any]:
        if request.token not in self.agents:
            raise _Halt(401)
        return self.agents[request.token]

    def _claim(self, agent: dict[str, Any], key: str | None) -> dict[str, Any] | None:
        """Agent#claims.find_by(public_id: key)"""
        claim = self.claims.get(key or "")
        return claim if claim and claim["agent"] is agent else None

    @_action
    def register(self, request: Request) -> dict[str, Any]:
        self.book.registrations += 1
        agent = {
            "agent_id": f"agt_{secrets.token_hex(5)}",
            "access_token": f"tl_live_{secrets.token_hex(20)}",
            "credits": 100,
        }
        self.agents[agent["access_token"]] = agent
        return agent | {
            "handle": f"agent-{self.book.registrations}",
            "created_at": _stamp(),
        }

    def _card(self, row: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": row["id"],
            "headline": row["headline"],
            "kind": "uppercase",
            "brief": _BRIEF,
            "bounty_credits": row["bounty"],
            "state": row["state"],
        }

    @_action
    def tasks(self, request: Request) -> dict[str, Any]:
        size = min(max(_number(request.query.get("limit", "25")), 1), 50)
        page = max(_number(request.query.get("page", "1")), 1)
        rows = [self._card(row) for row in self.rows.values() if row["state"] == "open"]
        pages = max(-(-len(rows) // size), 1)
        meta = {"current_page": page, "next_page": page + 1 if page < pages else None}
        meta |= {"total_pages": pages, "total_count": len(rows)}
        return {"tasks": rows[(page - 1) * size :][:size], "meta": meta}

    def marketplace(self, request: Request) -> Response:
        return self.tasks(request)

    @_action
    def claim(self, request: Request) -> dict[str, Any]:
        agent = self._agent(request)
        given = _params(request, "claim", "task_id", "due_on")
        row, errors = self.rows.get(given.get("task_id", "")), []
        if not row:
            errors.append("Task must exist")
        elif row["state"] != "open":
            errors.append("Task has already been taken")
        today = datetime.now(UTC).date()
        try:
            due = date.fromisoformat(given.get("due_on", "").strip()[:10])
        except ValueError:
            errors.append("Due on can't be blank")  # what does not parse is cast to nil
        else:
            last = today + timedelta(days=14)
            if due < today:
                errors.append(f"Due on must be greater than or equal to {today}")
            if due > last:
                errors.append(f"Due on must be less than or equal to {last}")
        if errors or not row:
            raise _Halt(422, *errors)
        row["state"] = "taken"
        key = f"clm_{secrets.token_hex(5)}"
        self.claims[key] = {"agent": agent, "task": row, "state": "active"}
        self.book.claimed(row["id"])
        task = self._card(row) | {"input_text": row["input"]}
        claim = {
            "id": key,
            "state": "active",
            "due_on": str(due),
            "created_at": _stamp(),
        }
        return {"claim": claim | {"task": task}}

    @_action
    def submit(self, request: Request) -> dict[str, Any]:
        agent = self._agent(request)
        given = _params(request, "submission", "claim_id", "body", "minutes_spent")
        claim, errors = self._claim(agent, given.get("claim_id")), []
        if not claim:
            errors.append("Claim must exist")
        elif claim["state"] != "active":
            errors.append(f"Claim is already {claim['state']}")
        body, minutes = given.get("body", ""), given.get("minutes_spent", "")
        if not body.strip():
            errors.append("Body can't be blank")
        if not re.fullmatch(r"\s*[-+]?\d+(\.\d+)?\s*", minutes):
            errors.append("Minutes spent is not a number")
        elif "." in minutes:
            errors.append("Minutes spent must be an integer")
        elif int(minutes) <= 0:
            errors.append("Minutes spent must be greater than 0")
        if errors or not claim:
            raise _Halt(422, *errors)
        row = claim["task"]
        if body != row["input"].upper():  # Submissions::Review failed
            raise _Halt(422, "Body is not the input text in uppercase")
        claim["state"] = "approved"
        self.book.pay(row["id"], row["bounty"])
        agent["credits"] += row["bounty"]
        submission = {"id": f"sub_{secrets.token_hex(5)}", "state": "approved"}
        submission |= {"claim_id": given["claim_id"], "credits_awarded": row["bounty"]}
        return {"submission": submission, "wallet": {"credits": agent["credits"]}}

    @_action
    def complete(self, request: Request) -> dict[str, Any]:
        agent = self._agent(request)
        given = _params(request, "completion", "claim_id", "summary")
        claim = self._claim(agent, given.get("claim_id"))
        errors = [] if claim else ["Claim must exist"]
        if claim and claim["state"] == "active":
            errors.append("Claim has no approved submission")
        elif claim and claim["state"] == "closed":
            errors.append("Claim is already closed")
        errors += _length("Summary", given.get("summary", ""), 10)
        if errors or not claim:
            raise _Halt(422, *errors)
        claim["state"], claim["task"]["state"] = "closed", "done"
        task = {"id": claim["task"]["id"], "state": "done", "closed_at": _stamp()}
        return {"completion": {"claim_id": given["claim_id"], "task": task}}
