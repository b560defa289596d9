"""A crowdsourcing site: Flask, flask-smorest, marshmallow 3 and flask-jwt-extended.

Work units are answered in attempts. Keys are sorted (Flask's jsonify), refusals of bodies
carry all faults at once under errors.json, and those of tokens are of another library.
"""

import base64
import json
import secrets
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_NAMES = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    409: "Conflict",
    422: "Unprocessable Entity",
}
_REQUIRED = "Missing data for required field."
_SNIPPETS = [
    "the ferry leaves at noon",
    "two crates of blood oranges, slightly bruised",
    "please return the key to room 14",
    "a grey heron stood in the shallows",
    "turn left after the old mill",
    "invoice no. 882 was settled in march",
    "she kept every letter he wrote",
    "mind the gap between train and platform",
    "low tide is expected at 6:40",
    "the bell tower was rebuilt in 1911",
]
_MAX_OPEN = 3
_MAX_TRIES = 3


class _NoError(Exception):
    def __init__(self, status: int, body: dict[str, Any]) -> None:
        self.answer = _json(body, status)


def _json(body: Any, status: int = 200, **headers: str) -> Response:
    text = json.dumps(body, sort_keys=True, separators=(",", ":")) + "\n"
    return Response(
        status,
        text.encode(),
        {
            "Server": "gunicorn",
            "Content-Type": "application/json",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        },
    )


def _abort(status: int, message: str = "", errors: Any = None) -> _NoError:
    body: dict[str, Any] = {"code": status, "status": _NAMES[status]}
    if message:
        body["message"] = message
    if errors:
        body["errors"] = errors
    return _NoError(status, body)


# --- as much of marshmallow as the schemas below use -----------------------------------


class _InvalidError(Exception):
    def __init__(self, messages: Any) -> None:
        self.messages = messages


def _string(least: int = 0) -> Any:
    def load(value: Any) -> str:
        if not isinstance(value, str):
            raise _InvalidError(["Not a valid string."])
        if len(value) < least:
            raise _InvalidError([f"Shorter than minimum length {least}."])
        return value

    return load


def _integer(least: int | None = None) -> Any:
    def load(value: Any) -> int:
        if isinstance(value, bool):
            raise _InvalidError(["Not a valid integer."])
        try:
            number = int(value)
        except (TypeError, ValueError, OverflowError):
            raise _InvalidError(["Not a valid integer."]) from None
        if least is not None and number < least:
            raise _InvalidError([f"Must be greater than or equal to {least}."])
        return number

    return load


def _uuid(value: Any) -> str:
    try:
        return str(uuid.UUID(value))
    except (ValueError, AttributeError, TypeError):
        raise _InvalidError(["Not a valid UUID."]) from None


def _one_of(*choices: str) -> Any:
    def load(value: Any) -> str:
        if _string()(value) not in choices:
            raise _InvalidError([f"Must be one of: {', '.join(choices)}."])
        return str(value)

    return load


def _schema(fields: dict[str, tuple[Any, bool]]) -> Any:
    def load(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise _InvalidError({"_schema": ["Invalid input type."]})
        loaded, errors = {}, {}
        for name, (field, required) in fields.items():
            if name not in value:
                if required:
                    errors[name] = [_REQUIRED]
            elif value[name] is None:
                errors[name] = ["Field may not be null."]
            else:
                try:
                    loaded[name] = field(value[name])
                except _InvalidError as fault:
                    errors[name] = fault.messages
        for name in value:
            if name not in fields:
                errors[name] = ["Unknown field."]
        if errors:
            raise _InvalidError(errors)
        return loaded

    return load


_CLAIM = _schema({"work_unit_id": (_integer(), True)})
_SUBMIT = _schema(
    {
        "attempt_id": (_uuid, True),
        "output": (_schema({"transcript": (_string(1), True)}), True),
        "seconds_spent": (_integer(1), True),
        "comment": (_string(), False),
    }
)
_COMPLETE = _schema(
    {"attempt_id": (_uuid, True), "outcome": (_one_of("finished", "abandoned"), True)}
)


def _now(minutes: int = 0) -> str:
    return (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat()


def _segment(value: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


class FlaskCrowd(Backend):
    """Work units, attempts, automatic checks; completing says how the attempt ended."""

    def __init__(self) -> None:
        super().__init__()
        self.workers: dict[str, str] = {}  # token -> worker
        self.attempts: dict[str, dict[str, Any]] = {}
        self.units = {
            4100 + 7 * n: {
                "id": 4100 + 7 * n,
                "batch": "caps-2024-b",
                "title": "Retype a snippet in capital letters",
                "guidelines": "Type the snippet again, all letters upper case, nothing"
                " else changed. Checked automatically, letter by letter.",
                "snippet": snippet,
                "reward_credits": 5 + n % 4,
                "state": "exhausted" if n in (2, 8) else "available",
                "max_attempts": 1,
                "created_at": f"2024-11-0{1 + n % 9}T08:15:00+00:00",
            }
            for n, snippet in enumerate(_SNIPPETS)
        }
        self.open_at_first = {
            i for i, unit in self.units.items() if unit["state"] == "available"
        }

    def texts(self) -> dict[str, str]:
        return {str(i): str(self.units[i]["snippet"]) for i in self.open_at_first}

    def missing(self, request: Request) -> Response:
        return _abort(404).answer

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        worker = str(uuid.uuid4())
        claims = {"fresh": False, "jti": str(uuid.uuid4()), "sub": worker}
        head = _segment({"alg": "HS256", "typ": "JWT"})
        token = f"{head}.{_segment(claims)}.{secrets.token_urlsafe(32)}"
        self.workers[token] = worker
        return _json({"agent_id": worker, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        try:
            limit = _integer(1)(request.query.get("limit", "50"))
        except _InvalidError as fault:
            return _abort(422, errors={"query": {"limit": fault.messages}}).answer
        page = list(self.units.values())[:limit]
        total = len(self.units)
        pages = -(-total // limit)
        pagination = {
            "total": total,
            "total_pages": pages,
            "first_page": 1,
            "last_page": pages,
            "page": 1,
        }
        return _json(page, X_Pagination=json.dumps(pagination))

    def marketplace(self, request: Request) -> Response:
        return self.tasks(request)

    def claim(self, request: Request) -> Response:
        return self._run(request, _CLAIM, self._claim)

    def submit(self, request: Request) -> Response:
        return self._run(request, _SUBMIT, self._submit)

    def complete(self, request: Request) -> Response:
        return self._run(request, _COMPLETE, self._complete)

    def _run(self, request: Request, schema: Any, view: Any) -> Response:
        try:
            worker = self._worker(request)
            # webargs: a body of another media type is no body.
            kind = (request.headers.get("Content-Type") or "").partition(";")[0]
            body: Any = {}
            if kind.strip().lower() == "application/json" and request.raw:
                try:
                    body = request.json()
                except ValueError:
                    raise _abort(400, errors={"json": ["Invalid JSON body."]}) from None
            try:
                loaded = schema(body)
            except _InvalidError as fault:
                raise _abort(422, errors={"json": fault.messages}) from None
            return _json(view(worker, loaded))
        except _NoError as no:
            return no.answer

    def _worker(self, request: Request) -> str:
        if "Authorization" not in request.headers:
            raise _NoError(401, {"msg": "Missing Authorization Header"})
        if not request.token:
            raise _NoError(
                401,
                {
                    "msg": "Missing 'Bearer' type in 'Authorization' header."
                    " Expected 'Authorization: Bearer <JWT>'"
                },
            )
        if request.token not in self.workers:
            dots = request.token.count(".")
            text = (
                "Not enough segments" if dots < 2 else "Signature verification failed"
            )
            raise _NoError(422, {"msg": text})
        return self.workers[request.token]

    def _claim(self, worker: str, body: dict[str, Any]) -> dict[str, Any]:
        unit = self.units.get(body["work_unit_id"])
        if unit is None:
            raise _abort(404, "Work unit not found.")
        if unit["state"] != "available":
            raise _abort(409, f"Work unit {unit['id']} is {unit['state']}.")
        mine = [a for a in self.attempts.values() if a["worker_id"] == worker]
        if sum(a["state"] in ("in_progress", "checked") for a in mine) >= _MAX_OPEN:
            raise _abort(
                409,
                f"You already have {_MAX_OPEN} open attempts."
                " Finish or abandon one before starting another.",
            )
        unit["state"] = "in_progress"
        attempt = {
            "id": str(uuid.uuid4()),
            "worker_id": worker,
            "work_unit_id": unit["id"],
            "state": "in_progress",
            "tries_left": _MAX_TRIES,
            "started_at": _now(),
            "expires_at": _now(45),
            "credits_awarded": None,
        }
        self.attempts[str(attempt["id"])] = attempt
        self.book.claimed(str(unit["id"]))
        return attempt

    def _attempt(self, worker: str, attempt_id: str) -> dict[str, Any]:
        attempt = self.attempts.get(attempt_id)
        if attempt is None:
            raise _abort(404, "Attempt not found.")
        if attempt["worker_id"] != worker:
            raise _abort(403, "This attempt belongs to another worker.")
        return attempt

    def _submit(self, worker: str, body: dict[str, Any]) -> dict[str, Any]:
        attempt = self._attempt(worker, body["attempt_id"])
        if attempt["state"] != "in_progress":
            raise _abort(409, f"Attempt is {attempt['state']}, expected in_progress.")
        unit = self.units[attempt["work_unit_id"]]
        if body["output"]["transcript"] != str(unit["snippet"]).upper():
            attempt["tries_left"] -= 1
            if not attempt["tries_left"]:
                attempt["state"], unit["state"] = "failed", "available"
                self.book.held.discard(str(unit["id"]))
            raise _abort(
                422,
                "Transcript did not pass the automatic check."
                f" {attempt['tries_left']} tries left.",
            )
        attempt["state"] = "checked"
        return attempt

    def _complete(self, worker: str, body: dict[str, Any]) -> dict[str, Any]:
        attempt = self._attempt(worker, body["attempt_id"])
        unit = self.units[attempt["work_unit_id"]]
        if body["outcome"] == "abandoned":
            if attempt["state"] not in ("in_progress", "checked"):
                raise _abort(409, f"Attempt is already {attempt['state']}.")
            attempt["state"], unit["state"] = "abandoned", "available"
            self.book.held.discard(str(unit["id"]))
            return attempt
        if attempt["state"] != "checked":
            raise _abort(409, f"Attempt is {attempt['state']}, expected checked.")
        attempt["state"], unit["state"] = "finished", "exhausted"
        attempt["credits_awarded"] = unit["reward_credits"]
        self.book.pay(str(unit["id"]), int(str(unit["reward_credits"])))
        return attempt
