"""A Go service: net/http, encoding/json with DisallowUnknownFields, errors by http.Error.

Refusals are one line of plain text, one fault at a time, in the words of encoding/json:
unknown fields are refused, and a number in quotes is not an int64. The listing groups the
jobs by category in a map of lists. At the sixth action request it says 429 once, to
everything, for three seconds (Retry-After: 3).
"""

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from tests.foreign.backend import ACTIONS, Backend, Request, Response

TEXTS = (
    "the engine hummed all night long",
    "put the ladder back in the shed",
    "our neighbours keep four brown hens",
    "a thin fog covered the valley",
    "the postman knows every dog by name",
    "she folded the paper into a crane",
    "cold soup is better than none",
    "the bridge was closed for repairs",
    "nine candles burned on the table",
    "the radio played an old waltz",
    "mind the step beside the cellar",
    "the garden gate never quite shuts",
)
PAUSE_AT = 6
PAUSE_SECONDS = 3
LIMITED = {"claim", "submit", "complete", "post"}
# Each handler's request struct: its name, and its fields with their Go types.
CLAIM = ("ClaimRequest", {"job_id": "int64"})
SUBMIT = ("SubmitRequest", {"job_id": "int64", "output": "string"})
COMPLETE = ("CompleteRequest", {"job_id": "int64"})
Struct = tuple[str, dict[str, str]]


class HandlerError(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


@dataclass
class Job:
    id: int
    text: str
    credits: int
    category: str
    owner: str = ""
    status: str = "open"

    def encoded(self) -> dict[str, object]:
        return {
            "id": self.id,
            "prompt": self.text,
            "kind": "uppercase",
            "reward": self.credits,
            "posted_at": f"2025-03-{self.credits:02}T09:30:00.184467Z",
        }


def http_error(status: int, message: str, **headers: str) -> Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(
        status, f"{message}\n", {"X-Content-Type-Options": "nosniff", **named}
    )


class GoProse(Backend):
    def __init__(self) -> None:
        super().__init__()
        self.during_pause = 0
        self._actions = 0
        self._paused_until = 0.0
        self._agents: dict[str, str] = {}
        self._jobs = {
            7301 + 4 * n: Job(
                7301 + 4 * n, text, n * 7 % 9 + 1, "other" if n % 3 else "text"
            )
            for n, text in enumerate(TEXTS)
        }

    def texts(self) -> dict[str, str]:
        return {str(job.id): job.text for job in self._jobs.values()}

    def handle(self, request: Request) -> Response:
        action = ACTIONS.get((request.method, request.path), "")
        with self._lock:
            if self._over_limit(action):
                answer = http_error(
                    429, "rate limit exceeded", Retry_After=str(PAUSE_SECONDS)
                )
                self._note(action, request, answer)
                return answer
        return super().handle(request)

    def _over_limit(self, action: str) -> bool:
        if monotonic() < self._paused_until:
            self.during_pause += 1
            return True
        self._actions += action in LIMITED
        if self._actions != PAUSE_AT or self._paused_until:
            return False
        self._paused_until = monotonic() + PAUSE_SECONDS
        return True

    def _note(self, action: str, request: Request, answer: Response) -> None:
        if action:
            self.book.requests[action] += 1
            self.book.refused[action] += 1
            sent = request.raw.decode(errors="replace")
            self.book.refusals.append((action, sent, answer.status, str(answer.body)))

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"agt_{secrets.token_hex(8)}", secrets.token_urlsafe(32)
        self._agents[token] = agent
        return Response(body={"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        categories: dict[str, list[dict[str, object]]] = {}
        for job in self._jobs.values():
            if job.status == "open":
                categories.setdefault(job.category, []).append(job.encoded())
        return Response(body={"jobs_by_category": categories})

    def claim(self, request: Request) -> Response:
        return self._handler(request, CLAIM, self._claim)

    def submit(self, request: Request) -> Response:
        return self._handler(request, SUBMIT, self._submit)

    def complete(self, request: Request) -> Response:
        return self._handler(request, COMPLETE, self._complete)

    def _handler(
        self,
        request: Request,
        struct: Struct,
        act: Callable[[str, Job, str], dict[str, object]],
    ) -> Response:
        try:
            agent = self._authenticated(request)
            given = decode(request.raw, struct)
            job = self._job(int(str(given["job_id"])))
            return Response(body=act(agent, job, str(given.get("output"))))
        except HandlerError as no:
            return http_error(no.status, no.message)

    def _authenticated(self, request: Request) -> str:
        if request.token not in self._agents:
            raise HandlerError(401, "missing or invalid bearer token")
        return self._agents[request.token]

    def _job(self, number: int) -> Job:
        if number not in self._jobs:
            raise HandlerError(404, f"job {number} not found")
        return self._jobs[number]

    def _claim(self, agent: str, job: Job, _: str) -> dict[str, object]:
        if job.owner:
            raise HandlerError(409, f"job {job.id} is already claimed")
        job.owner, job.status = agent, "claimed"
        self.book.claimed(str(job.id))
        return {"job_id": job.id, "status": job.status, "expires_in": 3600}

    def _submit(self, agent: str, job: Job, output: str) -> dict[str, object]:
        if job.owner != agent:
            raise HandlerError(403, f"job {job.id} is not claimed by you")
        if job.status != "claimed":
            raise HandlerError(409, f"job {job.id} already has an accepted output")
        if output != job.text.upper():
            raise HandlerError(422, "output is not the prompt in upper case")
        job.status = "submitted"
        return {"job_id": job.id, "status": job.status}

    def _complete(self, agent: str, job: Job, _: str) -> dict[str, object]:
        if job.owner != agent:
            raise HandlerError(403, f"job {job.id} is not claimed by you")
        if job.status != "submitted":
            done = (
                "is already completed" if job.status == "completed" else "has no output"
            )
            raise HandlerError(409, f"job {job.id} {done}")
        job.status = "completed"
        self.book.pay(str(job.id), job.credits)
        return {"job_id": job.id, "status": job.status, "paid": job.credits}


def decode(raw: bytes, struct: Struct) -> dict[str, object]:
    """Decode a body into a struct as encoding/json does; its first fault is the answer."""
    name, fields = struct
    body = _parsed(raw)
    if body is None:  # null changes nothing
        body = {}
    if not isinstance(body, dict):
        what = f"{_kind(body)} into Go value of type main.{name}"
        raise HandlerError(400, f"json: cannot unmarshal {what}")
    zero = {field: 0 if type_ == "int64" else "" for field, type_ in fields.items()}
    filled: dict[str, object] = {**zero}
    for key, value in body.items():
        field = next((f for f in fields if f.lower() == key.lower()), "")
        if not field:
            raise HandlerError(400, f"json: unknown field {json.dumps(key)}")
        if value is not None:  # null leaves the zero value
            _assignable(value, f"{name}.{field}", fields[field])
            filled[field] = value
    for field, value in filled.items():
        if value in {0, ""}:
            raise HandlerError(400, f"{field} is required")
    return filled


def _parsed(raw: bytes) -> object:
    try:
        body: object = json.loads(raw)
    except UnicodeDecodeError:
        raise HandlerError(400, "invalid character in string literal") from None
    except json.JSONDecodeError as error:
        rest = error.doc[error.pos :]
        message = "unexpected EOF" if raw.strip() else "EOF"
        if rest:
            message = f"invalid character '{rest[0]}' {_context(error.msg)}"
        raise HandlerError(400, message) from None
    return body


def _context(python_says: str) -> str:
    contexts = {
        "Expecting property name": "looking for beginning of object key string",
        "Expecting ':'": "after object key",
        "Expecting ','": "after object key:value pair",
        "Invalid \\escape": "in string escape code",
        "Invalid control": "in string literal",
    }
    for said, context in contexts.items():
        if python_says.startswith(said):
            return context
    return "looking for beginning of value"


def _kind(value: object) -> str:
    kinds = {dict: "object", list: "array", str: "string", bool: "bool"}
    return kinds.get(type(value), "number")


def _assignable(value: object, field: str, wanted: str) -> None:
    kind = _kind(value)
    if kind == {"int64": "number", "string": "string"}[wanted]:
        if wanted == "string" or (isinstance(value, int) and abs(value) < 1 << 63):
            return
        kind = f"number {value}"
    what = f"{kind} into Go struct field {field} of type {wanted}"
    raise HandlerError(400, f"json: cannot unmarshal {what}")
