"""A company's task service in Kotlin on Spring Boot 3 with ProblemDetail; completion pays."""
# Its author has typed it less strictly.
# mypy: ignore-errors

import re
import secrets
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_PACKAGE = "io.quillport.market.api"
_SCALARS = {  # Java's type, what its text has to be, and what Jackson says when it is not
    "string": ("java.lang.String", ".*", ""),
    "int": ("int", r"-?[0-9]{1,9}", "not a valid `int` value"),
    "uuid": (
        "java.util.UUID",
        r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
        "UUID has to be represented by standard 36-char representation",
    ),
    "format": (
        f"{_PACKAGE}.OutputFormat",
        "PLAIN_TEXT|MARKDOWN|HTML",
        "not one of the values accepted for Enum class: [PLAIN_TEXT, MARKDOWN, HTML]",
    ),
}
_WORK = [
    ("Shelf label, aisle 4", "organic rye flour, stone ground", 40),
    ("Warehouse door sign", "keep this gate closed after loading", 25),
    ("Packing slip headline", "fragile goods inside: two lamps", 65),
    ("Pallet tag", "return to depot 17 by friday", 30),
    ("Counter notice", "card payments only from monday on", 90),
]


class _Problem(Exception):  # noqa: N818
    """Whatever the controller advice turns into a ProblemDetail."""

    def __init__(
        self,
        status: int,
        title: str,
        detail: str,
        headers: dict[str, str] | None = None,
        **properties: Any,
    ) -> None:
        self.status, self.headers = status, headers or {}
        self.body = {
            "type": properties.pop("type", "about:blank"),
            "title": title,
            "status": status,
            "detail": detail,
            "instance": "",
            **properties,
        }


def _business(status: int, code: str, detail: str) -> _Problem:
    kind = "https://api.quillport.io/problems/" + code.lower().replace("_", "-")
    return _Problem(
        status, code.replace("_", " ").capitalize(), detail, type=kind, code=code
    )


def _advised(action: Any) -> Any:
    """Turn what a controller throws into its answer."""

    def answer(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except _Problem as problem:
            if problem.status == 401:  # Spring Security answers without a body
                return Response(401, b"", problem.headers)
            return Response(
                problem.status,
                problem.body | {"instance": request.path},
                {"Content-Type": "application/problem+json"},
            )

    return answer


def _now(minutes: int = 0) -> str:
    moment = datetime.now(UTC) + timedelta(minutes=minutes)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _unreadable(
    sentence: str, request: Request, chain: list[tuple[str, str]]
) -> _Problem:
    column = len(request.raw.decode(errors="replace")) + 1
    detail = (
        f"{sentence}\n at [Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION`"
        f" disabled); line: 1, column: {column}]"
    )
    if chain:
        path = "->".join(f'{_PACKAGE}.{owner}["{name}"]' for owner, name in chain)
        detail += f" (through reference chain: {path})"
    return _Problem(400, "Bad Request", detail)


def _read(
    shape: dict[str, Any],
    owner: str,
    value: Any,
    request: Request,
    chain: list[tuple[str, str]],
) -> dict[str, Any]:
    """Read an object as Jackson reads a data class; a shape maps names to types."""
    if not isinstance(value, dict):
        kind, token = {list: ("Array", "START_ARRAY")}.get(
            type(value), ("String", "VALUE_STRING")
        )
        raise _unreadable(
            f"Cannot deserialize value of type `{_PACKAGE}.{owner}` from {kind} "
            f"value (token `JsonToken.{token}`)",
            request,
            chain,
        )
    found: dict[str, Any] = {}
    for name, kind in shape.items():
        default, here = 0 if kind == "int" else None, [*chain, (owner, name)]
        given = value.get(name, default)  # a primitive that is missing is 0
        if given is None:
            raise _unreadable(
                f"Instantiation of [simple type, class {_PACKAGE}.{owner}] value failed for JSON "
                f"property {name} due to missing (therefore NULL) value for creator parameter "
                f"{name} which is a non-nullable type",
                request,
                here,
            )
        if isinstance(kind, tuple):
            found[name] = _read(kind[1], kind[0], given, request, here)
            continue
        java, pattern, reason = _SCALARS[kind]
        refused = f"Cannot deserialize value of type `{java}` from "
        if isinstance(given, (dict, list)):
            start = ("Object", "Array")[isinstance(given, list)]
            refused += f"{start} value (token `JsonToken.START_{start.upper()}`)"
            raise _unreadable(refused, request, here)
        if not re.fullmatch(pattern, str(given), re.DOTALL):
            raise _unreadable(f'{refused}String "{given}": {reason}', request, here)
        found[name] = {"int": int, "uuid": str.lower}.get(kind, str)(str(given))
    return found


def _valid(*violations: tuple[bool, str, str]) -> None:
    errors = [
        {"field": field, "message": text}
        for broken, field, text in violations
        if broken
    ]
    if errors:
        raise _Problem(400, "Bad Request", "Invalid request content.", errors=errors)


def _body(request: Request, owner: str, shape: dict[str, Any]) -> dict[str, Any]:
    media = request.headers.get("Content-Type") or "application/octet-stream"
    if media.split(";")[0].strip().lower() != "application/json":
        raise _Problem(
            415, "Unsupported Media Type", f"Content-Type '{media}' is not supported."
        )
    if not request.raw.strip():
        raise _Problem(400, "Bad Request", "Required request body is missing")
    try:
        return _read(shape, owner, request.json(), request, [])
    except ValueError as error:
        raise _unreadable(f"JSON parse error: {error}", request, []) from None


class KotlinService(Backend):
    """Claim with an estimate, submit an output in the task's format, complete for pay."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._claims: dict[str, dict[str, Any]] = {}
        self._submissions: dict[str, str] = {}  # submission -> claim
        self._tasks: dict[str, dict[str, Any]] = {}
        for title, text, amount in _WORK:
            key = str(uuid.uuid5(uuid.NAMESPACE_URL, "https://quillport.io/" + title))
            self._tasks[key] = {
                "id": key,
                "title": title,
                "category": "TEXT_FORMATTING",
                "instructions": "Write inputText entirely in capital letters.",
                "inputText": text,
                "outputFormat": "PLAIN_TEXT",
                "status": "OPEN",
                "reward": {"amount": amount, "unit": "CREDITS"},
                "deadline": _now(2880),
            }

    def texts(self) -> dict[str, str]:
        """Return the text of every task."""
        return {key: task["inputText"] for key, task in self._tasks.items()}

    @_advised
    def missing(self, request: Request) -> Response:
        """Return what the DispatcherServlet says of a path that is not mapped."""
        raise _Problem(
            404, "Not Found", f"No static resource {request.path.lstrip('/')}."
        )

    def _agent(self, request: Request) -> dict[str, Any]:
        if request.token not in self._agents:
            says = ' error="invalid_token"' if request.token else ""
            raise _Problem(
                401, "Unauthorized", "", {"WWW-Authenticate": "Bearer" + says}
            )
        return self._agents[request.token]

    @_advised
    def register(self, request: Request) -> Response:
        """Create an agent."""
        self.book.registrations += 1
        key, token = str(uuid.uuid4()), secrets.token_urlsafe(32)
        self._agents[token] = {"id": key, "credits": 100}
        return Response(200, {"agent_id": key, "access_token": token, "credits": 100})

    @_advised
    def marketplace(self, request: Request) -> Response:
        """List open tasks, a Spring Data page of them."""
        given = request.query.get("limit") or "20"
        if not re.fullmatch(r"-?[0-9]{1,9}", given):
            raise _Problem(
                400, "Bad Request", f"Failed to convert 'limit' with value: '{given}'"
            )
        size = int(given)
        _valid(
            (size < 1, "limit", "must be greater than or equal to 1"),
            (size > 50, "limit", "must be less than or equal to 50"),
        )
        rows = [task for task in self._tasks.values() if task["status"] == "OPEN"]
        return Response(
            200,
            {
                "content": rows[:size],
                "page": {
                    "size": size,
                    "number": 0,
                    "totalElements": len(rows),
                    "totalPages": -(-len(rows) // size),
                },
            },
        )

    @_advised
    def tasks(self, request: Request) -> Response:
        """List open tasks to an agent."""
        self._agent(request)
        return self.marketplace(request)

    @_advised
    def claim(self, request: Request) -> Response:
        """Give a task to an agent."""
        agent = self._agent(request)
        body = _body(
            request, "ClaimTaskRequest", {"taskId": "uuid", "estimatedMinutes": "int"}
        )
        minutes = body["estimatedMinutes"]
        _valid(
            (minutes < 1, "estimatedMinutes", "must be greater than 0"),
            (minutes > 480, "estimatedMinutes", "must be less than or equal to 480"),
        )
        task = self._tasks.get(body["taskId"])
        if not task:
            raise _business(
                404, "TASK_NOT_FOUND", f"Task {body['taskId']} was not found."
            )
        if task["status"] != "OPEN":
            raise _business(
                409, "TASK_NOT_AVAILABLE", f"Task status is {task['status']}."
            )
        active = [c for c in self._claims.values() if c["status"] != "COMPLETED"]
        if sum(c["agent"] is agent for c in active) >= 3:
            raise _business(
                409, "CLAIM_LIMIT_REACHED", "At most 3 active claims are allowed."
            )
        task["status"] = "CLAIMED"
        claim = {
            "claimId": str(uuid.uuid4()),
            "taskId": task["id"],
            "status": "ACTIVE",
            "claimedAt": _now(),
            "expiresAt": _now(minutes),
        }
        self._claims[claim["claimId"]] = claim | {"agent": agent}
        self.book.claimed(task["id"])
        return Response(201, claim)

    def _claim_of(self, agent: dict[str, Any], key: str) -> dict[str, Any]:
        claim = self._claims.get(key)
        if not claim or claim["agent"] is not agent:
            raise _business(404, "CLAIM_NOT_FOUND", f"You have no claim {key}.")
        return claim

    @_advised
    def submit(self, request: Request) -> Response:
        """Check a result and take it."""
        agent = self._agent(request)
        shape = ("OutputDto", {"content": "string", "format": "format"})
        body = _body(
            request, "SubmitResultRequest", {"claimId": "uuid", "output": shape}
        )
        output = body["output"]
        _valid((not output["content"].strip(), "output.content", "must not be blank"))
        claim = self._claim_of(agent, body["claimId"])
        task = self._tasks[claim["taskId"]]
        if claim["status"] != "ACTIVE":
            raise _business(
                409, "CLAIM_NOT_ACTIVE", f"Claim status is {claim['status']}."
            )
        if output["format"] != task["outputFormat"]:
            raise _business(
                422,
                "OUTPUT_FORMAT_MISMATCH",
                "The task expects output format "
                f"{task['outputFormat']} but was {output['format']}.",
            )
        if output["content"] != task["inputText"].upper():
            raise _business(
                422, "RESULT_REJECTED", "The content is not what was asked for."
            )
        claim["status"] = task["status"] = "SUBMITTED"
        self._submissions[key := str(uuid.uuid4())] = claim["claimId"]
        return Response(
            201,
            {
                "submissionId": key,
                "claimId": claim["claimId"],
                "status": "ACCEPTED",
                "submittedAt": _now(),
            },
        )

    @_advised
    def complete(self, request: Request) -> Response:
        """Close an accepted submission and pay for it."""
        agent = self._agent(request)
        key = _body(request, "CompleteTaskRequest", {"submissionId": "uuid"})[
            "submissionId"
        ]
        if key not in self._submissions:
            raise _business(
                404, "SUBMISSION_NOT_FOUND", f"Submission {key} was not found."
            )
        claim = self._claim_of(agent, self._submissions[key])
        task, reward = (
            self._tasks[claim["taskId"]],
            self._tasks[claim["taskId"]]["reward"],
        )
        if task["status"] == "COMPLETED":
            raise _business(
                409, "TASK_ALREADY_COMPLETED", f"Task {task['id']} is completed."
            )
        claim["status"] = task["status"] = "COMPLETED"
        agent["credits"] += reward["amount"]
        self.book.pay(task["id"], reward["amount"])
        return Response(
            200,
            {
                "taskId": task["id"],
                "status": "COMPLETED",
                "payout": reward,
                "completedAt": _now(),
                "balance": agent["credits"],
            },
        )
