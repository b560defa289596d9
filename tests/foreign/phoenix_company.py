"""A company's service in Elixir: Phoenix, Ecto changesets, a fallback controller.

Snake case under `data`, integer ids, decimals as strings, `errors` by field. The text is
shown to whoever claimed the task; completion reviews the submission and pays.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_WORK = [
    ("Capitalise invoice heading", "overdue since the first of march", 13),
    ("Capitalise shelf label", "organic oats, 500 grams", 5),
    ("Capitalise boarding call", "last call for flight lh 204", 16),
    ("Capitalise plaque", "in memory of a very good dog", 20),
    ("Capitalise packing note", "this side up / handle with care", 8),
    ("Capitalise poster", "open air cinema on the roof", 24),
    ("Capitalise banner", "welcome back, class of '09!", 30),
]
_INVALID = object()


def _iso(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


# Ecto.Type.cast for the types in use.
_string: Callable[[Any], Any] = lambda value: (  # noqa: E731
    value if isinstance(value, str) else _INVALID
)


def _id(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    digits = isinstance(value, str) and value.isascii() and value.isdigit()
    return int(value) if digits else _INVALID


def _boolean(value: Any) -> Any:
    known = {"true": True, "1": True, "false": False, "0": False}
    return value if isinstance(value, bool) else known.get(str(value), _INVALID)


def _utc_datetime(value: Any) -> Any:
    try:
        moment = datetime.fromisoformat(value if len(value) >= 16 else "")
    except (TypeError, ValueError):
        return _INVALID
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


class _Changeset:
    """As much of Ecto.Changeset as the contexts use."""

    def __init__(self, params: dict[str, Any], **types: Callable[[Any], Any]) -> None:
        self.changes: dict[str, Any] = {}
        self.errors: dict[str, list[str]] = {}
        for name, cast in types.items():
            value = params.get(name)
            if value is None or (isinstance(value, str) and not value.strip()):
                continue
            if (value := cast(value)) is _INVALID:
                self.add_error(name, "is invalid")
            else:
                self.changes[name] = value

    def add_error(self, name: str, message: str) -> None:
        self.errors.setdefault(name, []).append(message)

    def validate_required(self, *names: str) -> None:
        for name in names:
            if name not in self.changes and name not in self.errors:
                self.add_error(name, "can't be blank")

    def validate(self, name: str, right: Callable[[Any], bool], message: str) -> None:
        if name in self.changes and not right(self.changes[name]):
            self.add_error(name, message)


def _controller(action: Any) -> Any:
    """Let an action take the agent and the params, and return data or a changeset."""
    return lambda self, request: self._run(action, request)


class _Fallback(Exception):  # noqa: N818
    def __init__(self, status: int) -> None:
        self.status = status


class PhoenixCompany(Backend):
    """The service."""

    def __init__(self) -> None:
        super().__init__()
        now = datetime.now(UTC)
        self._tasks: dict[int, dict[str, Any]] = {}
        for key, (title, text, price) in enumerate(_WORK, 4101):
            self._tasks[key] = {
                "id": key,
                "title": title,
                "summary": "Write the source text in upper case.",
                "price": f"{price}.00",
                "state": "available",
                "closes_at": _iso(now + timedelta(days=2)),
                "_text": text,
                "_price": price,
            }
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._claims: dict[int, dict[str, Any]] = {}
        self._submissions: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {str(key): task["_text"] for key, task in self._tasks.items()}

    def _render(self, status: int, body: Any) -> Response:
        headers = {"Content-Type": "application/json; charset=utf-8"}
        headers["x-request-id"] = secrets.token_urlsafe(15)
        return Response(status, json.dumps(body, separators=(",", ":")), headers)

    def _detail(self, status: int) -> Response:
        return self._render(status, {"errors": {"detail": HTTPStatus(status).phrase}})

    def missing(self, request: Request) -> Response:
        return self._detail(404)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent = {"agent_id": f"agt_{7000 + self.book.registrations}", "credits": 100}
        self._agents[token := f"SFMyNTY.{secrets.token_urlsafe(30)}"] = agent
        return self._render(200, {**agent, "access_token": token})

    def _index(self, request: Request) -> Response:
        limit, after = (_id(request.query.get(name)) for name in ("limit", "after"))
        limit = 20 if limit is _INVALID or limit < 1 else min(limit, 50)
        after = 0 if after is _INVALID else after
        found = [
            {name: value for name, value in task.items() if name[0] != "_"}
            for key, task in self._tasks.items()
            if task["state"] == "available" and key > after
        ]
        more = found[limit - 1]["id"] if len(found) > limit else None
        meta = {"total_count": len(found), "after": more}
        return self._render(200, {"data": found[:limit], "meta": meta})

    def marketplace(self, request: Request) -> Response:
        return self._index(request)

    def tasks(self, request: Request) -> Response:
        known = request.token in self._agents
        return self._index(request) if known else self._detail(401)

    def agents(self, request: Request) -> Response:
        found = [{"id": agent["agent_id"]} for agent in self._agents.values()]
        return self._render(200, {"data": found})

    def post(self, request: Request) -> Response:
        return self._detail(403 if request.token in self._agents else 401)

    def _params(self, request: Request) -> dict[str, Any]:
        """Return what Plug.Parsers makes of the request."""
        if not request.raw:
            return dict(request.query)
        if "application/json" not in (request.headers.get("Content-Type") or ""):
            raise _Fallback(415)
        try:
            body = json.loads(request.raw)
        except ValueError as e:
            raise _Fallback(400) from e
        return {
            **request.query,
            **(body if isinstance(body, dict) else {"_json": body}),
        }

    def _run(self, action: Any, request: Request) -> Response:
        try:
            params = self._params(request)
            if request.token not in self._agents:
                raise _Fallback(401)
            result = action(self, self._agents[request.token], params)
        except _Fallback as e:
            return self._detail(e.status)
        if isinstance(result, _Changeset):
            return self._render(422, {"errors": result.errors})
        return self._render(200, {"data": result})

    @_controller
    def claim(self, agent: dict[str, Any], params: dict[str, Any]) -> Any:
        changeset = _Changeset(params, task_id=_id, deliver_by=_utc_datetime)
        changeset.validate_required("task_id", "deliver_by")
        now = datetime.now(UTC)
        changeset.validate("deliver_by", now.__lt__, "must be in the future")
        changeset.validate("task_id", self._tasks.__contains__, "does not exist")
        key = changeset.changes.get("task_id")
        task = self._tasks.get(key, {})
        if not changeset.errors and task["state"] != "available":
            changeset.add_error("task_id", "has already been taken")
        if changeset.errors:
            return changeset
        task["state"] = "taken"
        claim = {"task": task, "agent": agent, "open": True}
        self._claims[number := 881 + len(self._claims)] = claim
        self.book.claimed(str(key))
        deliver_by = _iso(changeset.changes["deliver_by"].astimezone(UTC))
        shown = {"id": key, "title": task["title"], "source_text": task["_text"]}
        return {"id": number, "task": shown, "deliver_by": deliver_by, "state": "held"}

    @_controller
    def submit(self, agent: dict[str, Any], params: dict[str, Any]) -> Any:
        changeset = _Changeset(params, claim_id=_id, answer=_string, own_work=_boolean)
        changeset.validate_required("claim_id", "answer")
        if not changeset.changes.get("own_work") and "own_work" not in changeset.errors:
            changeset.add_error("own_work", "must be accepted")
        claim = self._claims.get(changeset.changes.get("claim_id"))
        theirs = claim is not None and claim["agent"] is agent
        changeset.validate("claim_id", lambda _: theirs, "does not exist")
        if theirs and not claim["open"]:
            changeset.add_error("claim_id", "is already settled")
        if changeset.errors:
            return changeset
        number, answer = 50012 + len(self._submissions), changeset.changes["answer"]
        self._submissions[number] = {"claim": claim, "answer": answer}
        key = changeset.changes["claim_id"]
        return {"id": number, "claim_id": key, "state": "awaiting_completion"}

    @_controller
    def complete(self, agent: dict[str, Any], params: dict[str, Any]) -> Any:
        changeset = _Changeset(params, submission_id=_id, closing_note=_string)
        changeset.validate_required("submission_id", "closing_note")
        message = "should be at least 10 character(s)"
        changeset.validate("closing_note", lambda note: len(note) >= 10, message)
        submission = self._submissions.get(changeset.changes.get("submission_id"))
        theirs = submission is not None and submission["claim"]["agent"] is agent
        changeset.validate("submission_id", lambda _: theirs, "does not exist")
        if changeset.errors:
            return changeset
        claim, task = submission["claim"], submission["claim"]["task"]
        if not claim["open"]:
            changeset.add_error("submission_id", "is already settled")
            return changeset
        if submission["answer"] != task["_text"].upper():
            changeset.add_error("answer", "is not the source text in upper case")
            return changeset
        claim["open"], task["state"] = False, "settled"
        agent["credits"] += task["_price"]
        self.book.pay(str(task["id"]), task["_price"])
        key = changeset.changes["submission_id"]
        paid = {"amount": task["price"], "balance": f"{agent['credits']}.00"}
        return {"submission_id": key, "state": "settled", **paid}
