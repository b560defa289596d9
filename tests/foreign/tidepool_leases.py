"""Tidepool: a task pool on Django REST framework whose claims are short leases.

A lease lasts as long as the claim asked (one to five minutes); claiming the same task
again renews it. A right answer is paid at submission; completing only closes the task.
It sells nothing, lists no agents and takes no tasks from them: those paths are 404.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import re
import secrets
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_SHORTEST, _LONGEST, _AT_ONCE = timedelta(minutes=1), timedelta(minutes=5), 3
_FORMAT = "Duration has wrong format. Use one of these formats instead: [DD] [HH:[MM:]]ss[.uuuuuu]."
_STANDARD = re.compile(
    r"(?:(?P<d>\d+) )?(?:(?:(?P<h>\d+):)(?=\d+:\d+))?(?:(?P<m>\d+):)?(?P<s>\d+(?:\.\d{1,6})?)"
)
_ISO = re.compile(
    r"P(?:(?P<d>\d+)D)?(?:T(?:(?P<h>\d+)H)?(?:(?P<m>\d+)M)?(?:(?P<s>\d+)S)?)?"
)
_POOL = [
    (411, "tide table heading", "high water at half past four", 8),
    (412, "buoy label", "green buoy north of the sandbar", 15),
    (415, "log line", "wind south-west, force 5, rain later", 12),
    (418, "hull name", "the patient heron", 27),
    (420, "harbour notice", "berths 11 to 16 are closed today", 19),
    (423, "chart caption", "depths in metres, heights in feet", 33),
    (424, "radio call", "lifeboat station, this is marigold", 21),
]


class _ApiError(Exception):
    def __init__(self, status: int, body: Any) -> None:
        self.response = Response(status, body, {"Allow": "POST, OPTIONS"})


def _detail(status: int, text: str) -> _ApiError:
    return _ApiError(status, {"detail": text})


def _stamp(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def _duration(value: Any) -> timedelta:
    text = str(value)
    found = _STANDARD.fullmatch(text) or (len(text) > 2 and _ISO.fullmatch(text))
    if not found:
        raise ValueError(_FORMAT)
    d, h, m, s = (min(float(found[name] or 0), 1e6) for name in "dhms")
    length = timedelta(days=d, hours=h, minutes=m, seconds=s)
    if _SHORTEST <= length <= _LONGEST:
        return length
    if length > _LONGEST:
        raise ValueError(f"Ensure this value is less than or equal to {_LONGEST}.")
    raise ValueError(f"Ensure this value is greater than or equal to {_SHORTEST}.")


def _uuid(value: Any) -> str:
    try:
        return str(uuid.UUID(value))
    except (ValueError, AttributeError, TypeError):
        raise ValueError("Must be a valid UUID.") from None


def _char(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("Not a valid string.")  # noqa: TRY004
    if not str(value).strip():
        raise ValueError("This field may not be blank.")
    return str(value).strip()


def _related(rows: dict[int, Any]) -> Any:
    def read(value: Any) -> Any:
        if isinstance(value, bool) or not re.fullmatch(r"-?[0-9]{1,18}", str(value)):
            said = (
                f"Incorrect type. Expected pk value, received {type(value).__name__}."
            )
            raise ValueError(said)
        if int(value) not in rows:
            raise ValueError(f'Invalid pk "{value}" - object does not exist.')
        return rows[int(value)]

    return read


def _answering(method: Any) -> Any:
    def run(self: Any, request: Request) -> Response:
        try:
            return method(self, request)
        except _ApiError as refused:
            return refused.response

    return run


class Tidepool(Backend):
    """The network: count/next/previous/results, snake_case, integer keys."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}  # token -> agent
        names = ("id", "title", "body", "credits", "status")
        self._rows = {row[0]: dict(zip(names, (*row, "open"))) for row in _POOL}  # noqa: B905
        self._leases: dict[str, dict[str, Any]] = {}
        self._answers: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {str(key): row["body"] for key, row in self._rows.items()}

    def handle(self, request: Request) -> Response:
        with self._lock:
            self._expire()
        return super().handle(request)

    def missing(self, request: Request) -> Response:
        return Response(404, {"detail": "Not found."})

    def _expire(self) -> None:
        """Give back the tasks whose lease has run out."""
        for lease in self._leases.values():
            if lease["live"] and lease["until"] <= datetime.now(UTC):
                lease["live"] = False
                lease["row"]["status"] = "open"
                self.book.held.discard(str(lease["row"]["id"]))

    def _agent(self, request: Request) -> str:
        if request.token in self._agents:
            return self._agents[request.token]
        said = "Authentication credentials were not provided."
        error = _detail(401, "Invalid token." if request.token else said)
        error.response.headers["WWW-Authenticate"] = 'Bearer realm="api"'
        raise error

    def _valid(self, request: Request, fields: dict[str, Any]) -> dict[str, Any]:
        media = (request.headers.get("Content-Type") or "").partition(";")[0].strip()
        if media != "application/json":
            raise _detail(415, f'Unsupported media type "{media}" in request.')
        try:
            body = request.json() if request.raw else {}
        except ValueError as error:
            raise _detail(400, f"JSON parse error - {error}") from None
        if not isinstance(body, dict):
            said = (
                f"Invalid data. Expected a dictionary, but got {type(body).__name__}."
            )
            raise _ApiError(400, {"non_field_errors": [said]})
        valid: dict[str, Any] = {}
        errors: dict[str, list[str]] = {}
        for name, read in fields.items():
            try:
                if name not in body:
                    raise ValueError("This field is required.")
                if body[name] is None:
                    raise ValueError("This field may not be null.")
                valid[name] = read(body[name])
            except ValueError as error:
                errors[name] = [str(error)]
        if errors:
            raise _ApiError(400, errors)
        return valid

    def register(self, request: Request) -> Response:
        token, agent = secrets.token_hex(20), f"tp_{1000 + len(self._agents)}"
        self._agents[token] = agent
        self.book.registrations += 1
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def marketplace(self, request: Request) -> Response:
        given = {k: int(v) for k, v in request.query.items() if v.isdigit()}
        limit, start = min(given.get("limit", 20), 50) or 20, given.get("offset", 0)
        rows = list(self._rows.values())
        here = f"{request.base}{request.path}?limit={limit}"
        after, before = start + limit, max(start - limit, 0)
        told = {
            "instructions": "Claim the task; answer with its body in capital letters."
        }
        shown = [
            {name: row[name] for name in ("id", "title", "status")}
            | {"reward": f"{row['credits']:.2f}", **told}
            for row in rows[start:after]
        ]
        body = {
            "count": len(rows),
            "next": f"{here}&offset={after}" if after < len(rows) else None,
            "previous": f"{here}&offset={before}" if start else None,
            "results": shown,
        }
        return Response(200, body)

    @_answering
    def tasks(self, request: Request) -> Response:
        self._agent(request)
        return self.marketplace(request)

    @_answering
    def claim(self, request: Request) -> Response:
        agent = self._agent(request)
        valid = self._valid(
            request, {"task": _related(self._rows), "lease_time": _duration}
        )
        row = valid["task"]
        if row["status"] in ("answered", "closed"):
            raise _detail(409, f"Task {row['id']} has already been answered.")
        mine = [k for k in self._leases.values() if k["live"] and k["agent"] == agent]
        lease = next((k for k in mine if k["row"] is row), None)
        if lease is None and row["status"] == "leased":
            raise _detail(409, f"Task {row['id']} is leased to another agent.")
        if lease is None and len(mine) >= _AT_ONCE:
            said = f"You may hold at most {_AT_ONCE} leases at a time."
            raise _ApiError(400, {"non_field_errors": [said]})
        status = 200 if lease else 201
        if lease is None:
            lease = {"key": str(uuid.uuid4()), "agent": agent, "row": row, "live": True}
            self._leases[lease["key"]] = lease
            row["status"] = "leased"
            self.book.claimed(str(row["id"]))
        lease["until"] = datetime.now(UTC) + valid["lease_time"]
        said = "Claim the same task again before expires_at to renew the lease."
        body = {
            "lease": lease["key"],
            "expires_at": _stamp(lease["until"]),
            "renewal": said,
        }
        body["task"] = {name: row[name] for name in ("id", "title", "body", "status")}
        return Response(status, body)

    @_answering
    def submit(self, request: Request) -> Response:
        agent = self._agent(request)
        valid = self._valid(request, {"lease": _uuid, "answer": _char})
        lease = self._leases.get(valid["lease"])
        if lease is None or lease["agent"] != agent:
            raise _detail(404, "No Lease matches the given query.")
        row = lease["row"]
        if not lease["live"]:
            if lease.get("used"):
                raise _detail(409, "An answer was already accepted for this lease.")
            said = (
                f"The lease expired at {_stamp(lease['until'])}. Claim the task again."
            )
            raise _detail(410, said)
        if valid["answer"] != row["body"].upper():
            said = "This is not the body of the task in capital letters."
            raise _ApiError(400, {"answer": [said]})
        lease["live"], lease["used"], row["status"] = False, True, "answered"
        key = 7001 + len(self._answers)
        self._answers[key] = {"agent": agent, "row": row}
        self.book.pay(str(row["id"]), row["credits"])
        paid = f"{row['credits']:.2f}"
        return Response(
            201, {"id": key, "task": row["id"], "accepted": True, "credited": paid}
        )

    @_answering
    def complete(self, request: Request) -> Response:
        agent = self._agent(request)
        mine = {k: a for k, a in self._answers.items() if a["agent"] == agent}
        row = self._valid(request, {"submission": _related(mine)})["submission"]["row"]
        if row["status"] == "closed":
            raise _detail(409, f"Task {row['id']} is already closed.")
        row["status"] = "closed"
        return Response(200, {"task": row["id"], "status": "closed"})
