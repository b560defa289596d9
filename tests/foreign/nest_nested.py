"""A NestJS service: ValidationPipe({transform, whitelist, forbidNonWhitelisted}), nested DTOs.

Guards run before pipes, all faults of a body are told at once, unknown properties first,
nested faults carry the parent's path in front ("claimant.property x should not exist").
"""

import hashlib
import json
import random
import re
import time
import uuid
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from tests.foreign.backend import Backend, Request, Response

_RNG = random.Random(4711)  # noqa: S311 - no secret
_UUID = re.compile(r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", re.IGNORECASE)
_UNDEFINED = object()

_SOURCES = [
    ("Shelf label, aisle 4", "fresh basil, two bunches", 12),
    ("Banner for the harbour fair", "the ferry leaves at half past nine", 18),
    ("Warning sign, pump room", "mind the step behind the door", 15),
    ("Heading of the spring issue", "what the river carried down", 20),
    ("Crate stencil", "this side up - handle with care", 9),
    ("Subtitle card 17", "i told you, nobody lives there anymore", 14),
    ("Button text", "save and continue later", 7),
    ("Plaque", "planted by the children of class 3b", 25),
    ("Ticker line", "trains to the coast are running again", 11),
]


def _uuid() -> str:
    return str(uuid.UUID(int=_RNG.getrandbits(128), version=4))


def _now() -> str:
    t = time.time()
    return (
        time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(t))
        + f".{int(t % 1 * 1000):03d}Z"
    )


# --- class-validator -------------------------------------------------------------------

Check = tuple[Callable[[Any], bool], str]


def is_string() -> Check:
    return lambda v: isinstance(v, str), "$p must be a string"


def is_uuid() -> Check:
    return lambda v: isinstance(v, str) and bool(_UUID.match(v)), "$p must be a UUID"


def is_not_empty() -> Check:
    return (
        lambda v: v is not _UNDEFINED and v is not None and v != "",
        "$p should not be empty",
    )


def is_int() -> Check:
    return (
        lambda v: (
            isinstance(v, (int, float))
            and not isinstance(v, bool)
            and float(v).is_integer()
        ),
        "$p must be an integer number",
    )


def _number(v: Any) -> bool:
    return isinstance(v, (int, float)) and not isinstance(v, bool)


def minimum(n: int) -> Check:
    return lambda v: _number(v) and v >= n, f"$p must not be less than {n}"


def maximum(n: int) -> Check:
    return lambda v: _number(v) and v <= n, f"$p must not be greater than {n}"


def max_length(n: int) -> Check:
    return (
        lambda v: isinstance(v, str) and len(v) <= n,
        f"$p must be shorter than or equal to {n} characters",
    )


def is_enum(*values: str) -> Check:
    return (
        lambda v: isinstance(v, str) and v in values,
        "$p must be one of the following values: " + ", ".join(values),
    )


class _Prop:
    """A DTO property; checks stand in the order in which decorators register (bottom up)."""

    def __init__(
        self, *checks: Check, optional: bool = False, nested: Any = None
    ) -> None:
        self.checks, self.optional, self.nested = checks, optional, nested


def _validate(
    dto: dict[str, _Prop], value: dict[str, Any], path: str = ""
) -> list[str]:
    errors = [f"{path}property {k} should not exist" for k in value if k not in dto]
    for name, prop in dto.items():
        v = value.get(name, _UNDEFINED)
        absent = v is _UNDEFINED or v is None
        if prop.optional and absent:
            continue
        if prop.nested is not None:
            if absent:
                errors.append(f"{path}{name} should not be null or undefined")
            elif isinstance(v, dict):
                errors += _validate(prop.nested, v, f"{path}{name}.")
            elif isinstance(v, list):
                for i, item in enumerate(v):
                    if isinstance(item, dict):
                        errors += _validate(prop.nested, item, f"{path}{name}.{i}.")
                    else:
                        errors.append(
                            f"{path}{name}.each value in nested property {name} "
                            "must be either object or array"
                        )
            else:
                errors.append(
                    f"{path}nested property {name} must be either object or array"
                )
            continue
        errors += [
            path + text.replace("$p", name) for ok, text in prop.checks if not ok(v)
        ]
    return errors


_LIST_QUERY = {
    "page": _Prop(minimum(1), is_int(), optional=True),
    "limit": _Prop(maximum(50), minimum(1), is_int(), optional=True),
}
_CLAIM = {
    "taskId": _Prop(is_uuid()),
    "claimant": _Prop(
        nested={
            "agentId": _Prop(is_uuid()),
            "kind": _Prop(is_enum("autonomous", "supervised")),
        }
    ),
    "note": _Prop(max_length(280), is_string(), optional=True),
}
_SUBMIT = {
    "claimId": _Prop(is_uuid()),
    "revision": _Prop(minimum(1), is_int()),
    "deliverable": _Prop(
        nested={
            "contentType": _Prop(is_enum("text/plain", "application/json")),
            "body": _Prop(is_not_empty(), is_string()),
        }
    ),
}
_COMPLETE = {
    "submissionId": _Prop(is_uuid()),
    "outcome": _Prop(is_enum("delivered", "withdrawn")),
}


class _HttpError(Exception):
    def __init__(self, status: int, message: Any, error: str = "") -> None:
        self.status = status
        self.body = {"message": message}
        if error:
            self.body["error"] = error
        self.body["statusCode"] = status


def _bad(message: Any) -> _HttpError:
    return _HttpError(400, message, "Bad Request")


class NestNested(Backend):
    """Task market of a NestJS team."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._claims: dict[str, dict[str, Any]] = {}
        self._submissions: dict[str, dict[str, Any]] = {}
        self._tasks: dict[str, dict[str, Any]] = {}
        for n, (title, text, amount) in enumerate(_SOURCES):
            task_id = _uuid()
            self._tasks[task_id] = {
                "id": task_id,
                "title": title,
                "category": "copy-editing",
                "status": "CLOSED" if n == 4 else "OPEN",
                "instructions": "Deliver input.text in upper case, otherwise unchanged, "
                "as text/plain.",
                "input": {"text": text, "language": "en"},
                "reward": {"amount": amount, "currency": "CREDITS"},
                "createdAt": f"2025-03-{n + 3:02d}T08:1{n}:27.{n}41Z",
                "updatedAt": f"2025-03-{n + 3:02d}T08:1{n}:27.{n}41Z",
            }

    def texts(self) -> dict[str, str]:
        return {
            k: t["input"]["text"]
            for k, t in self._tasks.items()
            if t["status"] != "CLOSED"
        }

    # --- plumbing of Express and Nest ---

    def _answer(self, status: int, body: Any) -> Response:
        text = json.dumps(body, separators=(",", ":"), ensure_ascii=False)
        raw = text.encode()
        tag = b64encode(hashlib.sha1(raw).digest()).decode()[:27]  # noqa: S324 - no secret
        return Response(
            status,
            text,
            {
                "X-Powered-By": "Express",
                "Content-Type": "application/json; charset=utf-8",
                "ETag": f'W/"{len(raw):x}-{tag}"',
            },
        )

    def _run(self, work: Callable[[Request], Any], request: Request) -> Response:
        try:
            return self._answer(200, work(request))
        except _HttpError as e:
            return self._answer(e.status, e.body)
        except (
            TypeError,
            KeyError,
            AttributeError,
        ):  # an array where the DTO is one object
            return self._answer(
                500, {"statusCode": 500, "message": "Internal server error"}
            )

    def missing(self, request: Request) -> Response:
        return self._answer(
            404,
            {
                "message": f"Cannot {request.method} {request.path}",
                "error": "Not Found",
                "statusCode": 404,
            },
        )

    def _parsed(self, request: Request) -> Any:
        """body-parser in strict mode: it runs before guards and pipes."""
        kind = (
            (request.headers.get("Content-Type") or "")
            .partition(";")[0]
            .strip()
            .lower()
        )
        if kind != "application/json" or not request.raw:
            return {}
        text = request.raw.decode(errors="replace")
        first = text.lstrip()[:1]
        try:
            if first not in ("{", "["):
                raise ValueError
            return json.loads(text)
        except ValueError:
            if first in ("{", "["):
                raise _bad(
                    "Expected property name or '}' in JSON at position 1 (line 1 column 2)"
                    if first == "{" and text.lstrip()[1:2] not in ('"', "}")
                    else "Unexpected end of JSON input"
                ) from None
            shown = text if len(text) < 20 else text[:10] + "..."
            raise _bad(
                f"Unexpected token '{first}', \"{shown}\" is not valid JSON"
            ) from None

    def _guarded(self, request: Request) -> dict[str, Any]:
        agent = self._agents.get(request.token)
        if agent is None:
            raise _HttpError(401, "Unauthorized")
        return agent

    def _dto(self, dto: dict[str, _Prop], body: Any) -> dict[str, Any]:
        if not isinstance(body, dict):
            body = {}
        errors = _validate(dto, body)
        if errors:
            raise _bad(errors)
        return dict(body)

    # --- controllers ---

    def register(self, request: Request) -> Response:
        def work(_: Request) -> Any:
            self._dto({}, self._parsed(request))
            self.book.registrations += 1
            agent_id = _uuid()
            parts = [
                {"alg": "HS256", "typ": "JWT"},
                {"sub": agent_id, "iat": int(time.time()), "scope": "agent"},
            ]
            token = ".".join(
                urlsafe_b64encode(json.dumps(p, separators=(",", ":")).encode())
                .decode()
                .rstrip("=")
                for p in parts
            )
            mac = hashlib.sha256(token.encode()).digest()
            token += "." + urlsafe_b64encode(mac).decode().rstrip("=")
            self._agents[token] = {"id": agent_id, "credits": 100}
            return {"agent_id": agent_id, "access_token": token, "credits": 100}

        return self._run(work, request)

    def tasks(self, request: Request) -> Response:
        def work(_: Request) -> Any:
            self._guarded(request)
            query: dict[str, Any] = dict(request.query)
            for k in ("page", "limit"):
                if k in query:  # @Type(() => Number)
                    try:
                        query[k] = float(query[k] or 0)
                    except ValueError:
                        query[k] = "NaN"
            self._dto(_LIST_QUERY, query)
            page, limit = int(query.get("page", 1)), int(query.get("limit", 20))
            every = list(self._tasks.values())
            pages = -(-len(every) // limit)

            def link(n: int) -> str:
                return f"{request.base}{request.path}?" + urlencode(
                    {"page": n, "limit": limit}
                )

            return {
                "data": every[(page - 1) * limit : page * limit],
                "meta": {
                    "itemsPerPage": limit,
                    "totalItems": len(every),
                    "currentPage": page,
                    "totalPages": pages,
                },
                "links": {
                    "current": link(page),
                    **(
                        {"next": link(page + 1), "last": link(pages)}
                        if page < pages
                        else {}
                    ),
                },
            }

        return self._run(work, request)

    def marketplace(self, request: Request) -> Response:
        return self._answer(
            200, {"data": [t for t in self._tasks.values() if t["status"] == "OPEN"]}
        )

    def claim(self, request: Request) -> Response:
        def work(_: Request) -> Any:
            body = self._parsed(request)
            agent = self._guarded(request)
            body = self._dto(_CLAIM, body)
            task = self._tasks.get(body["taskId"].lower())
            if task is None:
                raise _HttpError(404, f"Task {body['taskId']} not found", "Not Found")
            if body["claimant"]["agentId"].lower() != agent["id"]:
                raise _HttpError(
                    403,
                    "claimant.agentId does not belong to the bearer token",
                    "Forbidden",
                )
            if task["status"] != "OPEN":
                raise _HttpError(
                    409,
                    f"Task {task['id']} is {task['status']}, expected OPEN",
                    "Conflict",
                )
            task["status"], task["updatedAt"] = "CLAIMED", _now()
            claim = {
                "id": _uuid(),
                "taskId": task["id"],
                "agentId": agent["id"],
                "kind": body["claimant"]["kind"],
                "status": "ACTIVE",
                "revision": 1,
                "createdAt": _now(),
            }
            self._claims[claim["id"]] = claim
            self.book.claimed(task["id"])
            return {"claim": claim, "task": task}

        return self._run(work, request)

    def submit(self, request: Request) -> Response:
        def work(_: Request) -> Any:
            body = self._parsed(request)
            agent = self._guarded(request)
            body = self._dto(_SUBMIT, body)
            claim = self._claims.get(body["claimId"].lower())
            if claim is None or claim["agentId"] != agent["id"]:
                raise _HttpError(404, f"Claim {body['claimId']} not found", "Not Found")
            if claim["status"] != "ACTIVE":
                raise _HttpError(
                    409,
                    f"Claim {claim['id']} is {claim['status']}, expected ACTIVE",
                    "Conflict",
                )
            if body["revision"] != claim["revision"]:
                raise _HttpError(
                    409,
                    f"Revision mismatch: expected {claim['revision']}, "
                    f"received {int(body['revision'])}",
                    "Conflict",
                )
            task, what = self._tasks[claim["taskId"]], body["deliverable"]
            if isinstance(what, list) or what["contentType"] != "text/plain":
                raise _HttpError(
                    415,
                    "This task accepts text/plain deliverables only",
                    "Unsupported Media Type",
                )
            if what["body"] != task["input"]["text"].upper():
                claim["revision"] += 1
                raise _HttpError(
                    422,
                    "Deliverable rejected: body is not input.text in upper case "
                    f"(next revision is {claim['revision']})",
                    "Unprocessable Entity",
                )
            claim["status"] = "SUBMITTED"
            submission = {
                "id": _uuid(),
                "claimId": claim["id"],
                "revision": claim["revision"],
                "verdict": "ACCEPTED",
                "createdAt": _now(),
            }
            self._submissions[submission["id"]] = submission
            return {"submission": submission}

        return self._run(work, request)

    def complete(self, request: Request) -> Response:
        def work(_: Request) -> Any:
            body = self._parsed(request)
            agent = self._guarded(request)
            body = self._dto(_COMPLETE, body)
            done = self._submissions.get(body["submissionId"].lower())
            claim = self._claims[done["claimId"]] if done else None
            if done is None or claim is None or claim["agentId"] != agent["id"]:
                raise _HttpError(
                    404, f"Submission {body['submissionId']} not found", "Not Found"
                )
            if claim["status"] != "SUBMITTED":
                raise _HttpError(
                    409, f"Claim {claim['id']} is already {claim['status']}", "Conflict"
                )
            task = self._tasks[claim["taskId"]]
            if body["outcome"] == "withdrawn":
                claim["status"], task["status"] = "WITHDRAWN", "OPEN"
                self.book.held.discard(task["id"])
                return {"claim": claim, "task": task, "payout": None}
            claim["status"], task["status"], task["updatedAt"] = (
                "SETTLED",
                "COMPLETED",
                _now(),
            )
            amount = task["reward"]["amount"]
            agent["credits"] += amount
            self.book.pay(task["id"], amount)
            return {
                "claim": claim,
                "payout": {
                    "amount": amount,
                    "currency": "CREDITS",
                    "balance": agent["credits"],
                },
            }

        return self._run(work, request)
