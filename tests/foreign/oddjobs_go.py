"""Oddjobs: a start-up's Go service, net/http with hand-written checks and http.Error.

Snake case, numbers as ids, a bare array, plain-text refusals, the text only for who
claims, and pay on submission; completing only closes the job.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import re
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_JOBS = [
    (101, "shop-window", "fresh bread every morning from six", 12),
    (102, "lost-cat", "Have you seen Mimi? Grey, shy, one white paw.", 35),
    (104, "bus-sign", "line 9 does not stop here", 8),
    (107, "menu-board", "soup of the day: leek & potato", 18),
    (110, "door-plate", "ring twice, then wait", 27),
    (111, "flyer", "Flea market on Sunday, 10am-4pm, come early!", 50),
]
_MOST_HELD = 2
_LONGEST = 24 * 3600.0
_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}


class _HTTPError(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def _prose(handler: Callable[[Any, Request], Response]) -> Callable[..., Response]:
    def wrapped(self: Any, request: Request) -> Response:
        try:
            return handler(self, request)
        except _HTTPError as error:
            headers = {"X-Content-Type-Options": "nosniff"}
            return Response(error.status, f"{error}\n", headers)

    return wrapped


def _stamp(seconds: float = 0) -> str:
    at = datetime.now(UTC) + timedelta(seconds=seconds)
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def _duration(text: str) -> float:
    """Return the seconds of what time.ParseDuration takes; it says no as that does."""
    quoted = json.dumps(text, ensure_ascii=False)
    if text.lstrip("+-") == "0":
        return 0
    if re.fullmatch(r"[+-]?\d+(\.\d*)?", text):
        raise ValueError(f"time: missing unit in duration {quoted}")
    part = r"(\d+\.?\d*|\.\d+)(ns|us|µs|ms|s|m|h)"
    if not re.fullmatch(rf"[+-]?({part})+", text):
        raise ValueError(f"time: invalid duration {quoted}")
    total = sum(float(n) * _UNITS[unit] for n, unit in re.findall(part, text))
    return -total if text.startswith("-") else total


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    names = {str: "string", list: "array", dict: "object"}
    return names.get(type(value), "number")


def _decode(request: Request, name: str, fields: dict[str, str]) -> dict[str, Any]:  # noqa: PLR0915
    """Fill a struct as encoding/json would, with DisallowUnknownFields."""
    filled: dict[str, Any] = {
        key: 0 if kind == "int64" else "" for key, kind in fields.items()
    }
    raw = request.raw.decode(errors="replace").strip()
    if not raw:
        raise _HTTPError(400, "could not read request body: EOF")
    try:
        body = json.loads(raw)
    except ValueError as error:
        at = getattr(error, "pos", 0)
        said = "unexpected EOF"
        if at < len(raw):
            where = "looking for beginning of " + (
                "object key string" if "property" in str(error) else "value"
            )
            said = f"invalid character '{raw[at]}' {where}"
        raise _HTTPError(400, f"could not read request body: {said}") from None
    if body is None:
        return filled
    if not isinstance(body, dict):
        said = f"json: cannot unmarshal {_kind(body)} into Go value of type main.{name}"
        raise _HTTPError(400, f"could not read request body: {said}")
    for given, value in body.items():
        key = given.lower()  # encoding/json folds case
        if key not in fields:
            said = f"json: unknown field {json.dumps(given, ensure_ascii=False)}"
            raise _HTTPError(400, f"could not read request body: {said}")
        if value is None:
            continue
        wanted = int if fields[key] == "int64" else str
        if not isinstance(value, wanted) or isinstance(value, bool):
            kind = f"number {value}" if isinstance(value, float) else _kind(value)
            said = f"json: cannot unmarshal {kind} into Go struct field "
            said += f"{name}.{key} of type {fields[key]}"
            raise _HTTPError(400, f"could not read request body: {said}")
        filled[key] = value
    return filled


class Oddjobs(Backend):
    """Go, net/http, errors in prose."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # token -> agent
        self._jobs: dict[int, dict[str, Any]] = {}
        for number, name, text, bounty in _JOBS:
            todo = "You get a text when you claim. Send it back in capitals."
            seen = {"id": number, "name": name, "todo": todo, "bounty": bounty}
            seen |= {"length": len(text), "state": "available"}
            seen["posted_at"] = _stamp(-7200)
            job = {"text": text, "holder": "", "ticket": "", "receipt": ""}
            self._jobs[number] = job | {"seen": seen}

    def texts(self) -> dict[str, str]:
        """Return the texts of the jobs."""
        return {str(number): job["text"] for number, job in self._jobs.items()}

    def register(self, request: Request) -> Response:
        """Create an agent."""
        self.book.registrations += 1
        number = 5000 + self.book.registrations
        token = secrets.token_urlsafe(24)
        self._agents[token] = {"id": f"agent-{number}", "balance": 100}
        body = {"agent_id": f"agent-{number}", "access_token": token, "credits": 100}
        return Response(200, body)

    @_prose
    def tasks(self, request: Request) -> Response:
        """List every job there is; anyone may look."""
        numbers = []
        for name, usual in (("limit", "20"), ("offset", "0")):
            said = request.query.get(name) or usual
            if not said.isascii() or not said.isdigit():
                raise _HTTPError(400, f"{name} must be a positive number")
            numbers.append(int(said))
        limit, offset = min(numbers[0], 100), numbers[1]
        every = [job["seen"] for job in self._jobs.values()]
        headers = {"X-Total-Count": str(len(every))}
        if limit and offset + limit < len(every):
            more = f"{request.base}{request.path}?limit={limit}&offset={offset + limit}"
            headers["Link"] = f'<{more}>; rel="next"'
        return Response(200, every[offset : offset + limit], headers)

    marketplace = tasks

    def _agent(self, request: Request) -> dict[str, Any]:
        if not request.token:
            said = "no token: send it as Authorization: Bearer <access_token>"
            raise _HTTPError(401, said)
        if request.token not in self._agents:
            raise _HTTPError(401, "unknown token")
        return self._agents[request.token]

    @_prose
    def claim(self, request: Request) -> Response:
        """Hand out a job, its text and a ticket."""
        agent = self._agent(request)
        body = _decode(request, "claimRequest", {"task_id": "int64", "eta": "string"})
        number, eta = body["task_id"], body["eta"]
        if number == 0:
            raise _HTTPError(400, "task_id is required")
        if eta == "":
            said = 'eta is required: how long you will need, such as "10m" or "1h30m"'
            raise _HTTPError(400, said)
        try:
            seconds = _duration(eta)
        except ValueError as error:
            raise _HTTPError(400, f"bad eta: {error}") from None
        if not 0 < seconds <= _LONGEST:
            raise _HTTPError(400, "eta must be more than 0s and at most 24h")
        job = self._jobs.get(number)
        if job is None:
            raise _HTTPError(404, f"there is no task {number}")
        if job["holder"] == agent["id"]:
            raise _HTTPError(409, f"you already claimed task {number}")
        if job["holder"]:
            raise _HTTPError(409, f"task {number} was claimed by somebody else")
        mine = [one for one in self._jobs.values() if one["holder"] == agent["id"]]
        if sum(one["seen"]["state"] == "taken" for one in mine) >= _MOST_HELD:
            said = f"you are working on {_MOST_HELD} tasks already, submit one first"
            raise _HTTPError(409, said)
        job |= {"holder": agent["id"], "ticket": "tkt-" + secrets.token_hex(6)}
        job["seen"]["state"] = "taken"
        self.book.claimed(str(number))
        told = {"ticket": job["ticket"], "text": job["text"], "due": _stamp(seconds)}
        return Response(200, {"task_id": number, **told})

    @_prose
    def submit(self, request: Request) -> Response:
        """Check a result and pay for it."""
        agent = self._agent(request)
        body = _decode(
            request, "submitRequest", {"ticket": "string", "result": "string"}
        )
        if body["ticket"] == "":
            raise _HTTPError(400, "ticket is required, you got one with your claim")
        if body["result"] == "":
            raise _HTTPError(400, "result is required and must not be empty")
        for number, job in self._jobs.items():  # noqa: B007
            if job["ticket"] == body["ticket"] and job["holder"] == agent["id"]:
                break
        else:
            raise _HTTPError(404, f"you have no ticket {body['ticket']}")
        if job["receipt"]:
            raise _HTTPError(409, f"task {number} was submitted and paid already")
        if body["result"] != job["text"].upper():
            said = f"result for task {number} not accepted: not the text in capitals"
            raise _HTTPError(422, said)
        bounty = job["seen"]["bounty"]
        job["receipt"] = "rcp-" + secrets.token_hex(6)
        job["seen"]["state"] = "delivered"
        agent["balance"] += bounty
        self.book.pay(str(number), bounty)
        told = {"receipt": job["receipt"], "paid": bounty, "balance": agent["balance"]}
        return Response(200, {"accepted": True, **told})

    @_prose
    def complete(self, request: Request) -> Response:
        """Close a job that was paid."""
        agent = self._agent(request)
        fields = {"task_id": "int64", "receipt": "string"}
        body = _decode(request, "completeRequest", fields)
        number = body["task_id"]
        if number == 0:
            raise _HTTPError(400, "task_id is required")
        job = self._jobs.get(number)
        if job is None or job["holder"] != agent["id"]:
            raise _HTTPError(404, f"you hold no task {number}")
        if not job["receipt"]:
            raise _HTTPError(409, f"task {number} has not been submitted yet")
        if body["receipt"] == "":
            raise _HTTPError(400, "receipt is required, you got one when you submitted")
        if body["receipt"] != job["receipt"]:
            raise _HTTPError(403, f"that is not the receipt for task {number}")
        if job["seen"]["state"] == "closed":
            raise _HTTPError(409, f"task {number} is closed already")
        job["seen"]["state"] = "closed"
        return Response(200, {"task_id": number, "state": "closed"})
