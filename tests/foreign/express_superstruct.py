"""A start-up's Express service in TypeScript, its bodies checked with Superstruct.

Every body goes through `assert(req.body, Struct)`; the error handler answers with
`{ ok: false, error: { code, message, issues? } }`. Unknown keys are `never`.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_UNDEFINED = object()
_Failure = tuple[list[str], str]
_Struct = Callable[[Any, list[str]], Iterator[_Failure]]


def _print(value: Any) -> str:
    """Print a value as Superstruct does: JSON for strings, `${value}` for the rest."""
    if value is _UNDEFINED:
        return "undefined"
    if isinstance(value, dict):
        return "[object Object]"
    if isinstance(value, list):
        return ",".join(map(str, value))
    return json.dumps(value, ensure_ascii=False)


def _string(value: Any, path: list[str]) -> Iterator[_Failure]:
    if not isinstance(value, str):
        yield path, f"Expected a string, but received: {_print(value)}"
    elif not value:
        yield path, "Expected a nonempty string but received an empty one"


def _enums(*values: str) -> _Struct:
    def run(value: Any, path: list[str]) -> Iterator[_Failure]:
        if value not in values:
            names = ",".join(map(_print, values))
            yield path, f"Expected one of `{names}`, but received: {_print(value)}"

    return run


def _object(shape: dict[str, _Struct]) -> _Struct:
    def run(value: Any, path: list[str]) -> Iterator[_Failure]:
        if not isinstance(value, dict):
            yield path, f"Expected an object, but received: {_print(value)}"
            return
        for key, struct in shape.items():
            yield from struct(value.get(key, _UNDEFINED), [*path, key])
        for key in value:
            if key not in shape:
                got = _print(value[key])
                never = "Expected a value of type `never`, but received"
                yield [*path, key], f"{never}: `{got}`"

    return run


class _AppError(Exception):
    def __init__(self, status: int, code: str, message: str, **more: Any) -> None:
        super().__init__(message)
        self.status = status
        self.error = {"code": code, "message": message, **more}


def _invalid(failures: list[_Failure]) -> _AppError:
    path, message = failures[0]
    where = f"At path: {'.'.join(path)} -- " if path else ""
    issues = [{"path": ".".join(p), "message": m} for p, m in failures]
    return _AppError(422, "VALIDATION_FAILED", where + message, issues=issues)


def _route(struct: _Struct) -> Callable[[Any], Any]:
    """Put a handler behind the token, the struct and the error handler."""
    return lambda run: (
        lambda self, request: self._guard(
            lambda: run(self, self._auth(request), self._body(request, struct))
        )
    )


_CLAIM = _object({"taskId": _string, "agentId": _string})
_OUTPUT = _object({"kind": _enums("text"), "value": _string})
_SUBMIT = _object({"claimId": _string, "output": _OUTPUT})
_COMPLETE = _object({"claimId": _string, "submissionId": _string})

_WORK = [
    ("Shout the tagline", "ship it on friday", 12),
    ("Banner headline", "summer sale starts now", 18),
    ("Warehouse label", "handle with care - glass inside", 25),
    ("Slide title", "roadmap for the third quarter", 9),
    ("Street sign", "no parking between 8 and 18", 31),
    ("Poster line", "the café opens at noon", 15),
    ("Ticker text", "markets closed mixed on tuesday", 22),
]


class ExpressSuperstruct(Backend):
    """Express, Superstruct, and an error handler of the house."""

    def __init__(self) -> None:
        super().__init__()
        self._tasks: dict[str, dict[str, Any]] = {}
        for number, (title, text, credits_) in enumerate(_WORK):
            id_ = "tsk_" + uuid.uuid5(uuid.NAMESPACE_DNS, f"task{number}").hex[:16]
            self._tasks[id_] = {
                "id": id_,
                "title": title,
                "brief": "Convert payload.sourceText to upper case, nothing else.",
                "payload": {"sourceText": text},
                "reward": {"amount": credits_, "currency": "credits"},
                "status": "open",
                "postedAt": f"2025-03-0{number + 1}T09:30:00.000Z",
            }
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._claims: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the text of every task."""
        return {k: t["payload"]["sourceText"] for k, t in self._tasks.items()}

    def missing(self, request: Request) -> Response:
        """Return Express's own page for a route that nobody wrote."""
        return Response(
            404,
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            "<title>Error</title>\n</head>\n<body>\n"
            f"<pre>Cannot {request.method} {request.path}</pre>\n</body>\n</html>\n",
            {"Content-Type": "text/html; charset=utf-8", "X-Powered-By": "Express"},
        )

    @staticmethod
    def _guard(handler: Callable[[], Any]) -> Response:
        """Run a handler the way asyncHandler and the error middleware do."""
        try:
            return Response(200, {"ok": True, "data": handler()})
        except _AppError as e:
            return Response(e.status, {"ok": False, "error": e.error})

    def _auth(self, request: Request) -> dict[str, Any]:
        if not request.token:
            raise _AppError(401, "UNAUTHENTICATED", "Missing bearer token")
        if request.token not in self._agents:
            raise _AppError(401, "UNAUTHENTICATED", "Invalid access token")
        return self._agents[request.token]

    @staticmethod
    def _body(request: Request, struct: _Struct) -> dict[str, Any]:
        body: Any = {}
        if request.raw and "json" in (request.headers.get("Content-Type") or ""):
            try:
                body = request.json()
            except ValueError as e:
                text, at = request.raw.decode(errors="replace"), getattr(e, "pos", 0)
                message = "Unexpected end of JSON input"
                if at < len(text):
                    message = f"Unexpected token {text[at]} in JSON at position {at}"
                raise _AppError(400, "INVALID_JSON", message) from e
        failures = list(struct(body, []))
        if failures:
            raise _invalid(failures)
        return body

    def register(self, request: Request) -> Response:
        """Create an agent."""
        self.book.registrations += 1
        id_, token = f"agt_{uuid.uuid4().hex[:16]}", f"sk_live_{uuid.uuid4().hex}"
        agent = {"agent_id": id_, "access_token": token, "credits": 100}
        self._agents[token] = agent
        return Response(200, dict(agent))

    def _page(self, request: Request) -> dict[str, Any]:
        raw = request.query.get("limit", "5")
        if not raw.isascii() or not raw.isdigit() or not 1 <= int(raw) <= 50:
            message = f"Expected an integer, but received: {_print(raw)}"
            if raw.lstrip("-").isdigit():
                between = "Expected a integer between `1` and `50` but received"
                message = f"{between} `{raw}`"
            raise _invalid([(["limit"], message)])
        ids = list(self._tasks)
        cursor = request.query.get("cursor", "")
        start = ids.index(cursor) + 1 if cursor in ids else 0
        open_ = [i for i in ids[start:] if self._tasks[i]["status"] == "open"]
        page = open_[: int(raw)]
        more = page[-1] if len(open_) > len(page) else None
        return {"items": [self._tasks[i] for i in page], "nextCursor": more}

    def tasks(self, request: Request) -> Response:
        """List the open tasks for an agent."""
        return self._guard(lambda: self._auth(request) and self._page(request))

    def marketplace(self, request: Request) -> Response:
        """List the open tasks for everyone."""
        return self._guard(lambda: self._page(request))

    @_route(_CLAIM)
    def claim(self, agent: Any, body: Any) -> Any:
        """Give a task to an agent."""
        if body["agentId"] != agent["agent_id"]:
            raise _AppError(403, "FORBIDDEN", "agentId is not the token's agent")
        task = self._tasks.get(body["taskId"])
        if task is None:
            raise _AppError(404, "TASK_NOT_FOUND", "Task not found")
        if task["status"] != "open":
            raise _AppError(409, "TASK_NOT_OPEN", f"Task is {task['status']}")
        task["status"] = "claimed"
        self.book.claimed(task["id"])
        id_ = f"clm_{uuid.uuid4().hex[:16]}"
        claim = {"claimId": id_, "taskId": task["id"], "status": "active"}
        self._claims[id_] = claim | {"agentId": agent["agent_id"]}
        return {"claim": self._claims[id_]}

    def _claim_of(self, agent: dict[str, Any], id_: str) -> dict[str, Any]:
        claim = self._claims.get(id_)
        if claim is None or claim["agentId"] != agent["agent_id"]:
            raise _AppError(404, "CLAIM_NOT_FOUND", "Claim not found")
        return claim

    @_route(_SUBMIT)
    def submit(self, agent: Any, body: Any) -> Any:
        """Check a result."""
        claim = self._claim_of(agent, body["claimId"])
        if claim["status"] != "active":
            raise _AppError(409, "CLAIM_NOT_ACTIVE", f"Claim is {claim['status']}")
        task = self._tasks[claim["taskId"]]
        if body["output"]["value"] != task["payload"]["sourceText"].upper():
            message = "Output does not match the task brief"
            raise _AppError(409, "OUTPUT_REJECTED", message)
        claim["status"] = "submitted"
        claim["submissionId"] = f"sub_{uuid.uuid4().hex[:16]}"
        return {"submission": {"id": claim["submissionId"], "status": "accepted"}}

    @_route(_COMPLETE)
    def complete(self, agent: Any, body: Any) -> Any:
        """Pay."""
        claim = self._claim_of(agent, body["claimId"])
        if claim["status"] != "submitted":
            message = f"Claim is {claim['status']}, expected submitted"
            raise _AppError(409, "CLAIM_NOT_SUBMITTED", message)
        if claim["submissionId"] != body["submissionId"]:
            raise _AppError(404, "SUBMISSION_NOT_FOUND", "Submission not found")
        task = self._tasks[claim["taskId"]]
        claim["status"] = task["status"] = "completed"
        self.book.pay(task["id"], task["reward"]["amount"])
        agent["credits"] += task["reward"]["amount"]
        return {"claim": claim, "paid": task["reward"], "balance": agent["credits"]}
