"""Jumbotron: messages for stadium scoreboards, a T3 app whose tRPC procedures have these paths.

Stack: Next.js, tRPC v10 without transformer, zod, Prisma. Successes are `{"result": {"data":
...}}`; mutations take the input as the plain body. The listing is `result.data.boards: [{
"slug", "venue", "spec": {"transform": "UPPER", "line"}, "tokens", ...}]`; tokens are credits.

Claim wants `slug` and answers `{"lease": {"id": "cl...", "expiresInSec"}}`; an agent holds one
lease at a time (TOO_MANY_REQUESTS). Submit wants `leaseId` and `rendered: {line, charCount}`;
an operator then looks at it for a second and a half. Complete wants `leaseId` (and takes
`note`); before the operator is done it answers `{"status": "REVIEWING"}` with 200 and no pay,
then `{"status": "PAID"}`.

Errors: `{"error": {"message", "code": -32600, "data": {"code", "httpStatus", "path",
"zodError"}}}`; `message` is zod's issues as a JSON text.
"""

import json
import secrets
import string
import time
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

LINES = [
    ("kick-off", "Harbour Park", "Kick-off in five minutes, take your seats", 40),
    ("lost-child", "Harbour Park", "A boy with a green scarf waits at gate two", 55),
    ("half-time", "Harbour Park", "Half-time show by the Riverside marching band", 35),
    ("thank-you", "Mill Lane", "Thank you to all four hundred volunteers", 30),
    ("rain-delay", "Mill Lane", "Play resumes when the covers are off", 45),
    ("record", "Mill Lane", "New club record for the 800 metres", 60),
    ("last-tram", "Sandhill Arena", "The last tram leaves at ten past eleven", 50),
]
CODES = {
    "PARSE_ERROR": (-32700, 400),
    "BAD_REQUEST": (-32600, 400),
    "UNAUTHORIZED": (-32001, 401),
    "FORBIDDEN": (-32003, 403),
    "NOT_FOUND": (-32004, 404),
    "CONFLICT": (-32009, 409),
    "PRECONDITION_FAILED": (-32012, 412),
    "TOO_MANY_REQUESTS": (-32029, 429),
}
REVIEW_SECONDS = 1.5


@dataclass
class Board:
    """A row of Board and its Lease."""

    slug: str
    venue: str
    line: str
    tokens: int
    lease: str = ""
    user: str = ""
    status: str = "OPEN"
    ready: float = 0.0


def cuid() -> str:
    """Return an id as Prisma's `@default(cuid())` makes them."""
    letters = string.ascii_lowercase + string.digits
    return "cl" + "".join(secrets.choice(letters) for _ in range(23))


def received(value: Any) -> str:
    """Return zod's name of a value's type."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    names = {
        str: "string",
        int: "number",
        float: "number",
        list: "array",
        dict: "object",
    }
    return names[type(value)]


def issues_of(
    shape: dict[str, Any], value: Any, path: list[str]
) -> list[dict[str, Any]]:
    """Return zod's issues with `z.object(shape)`; a name ending in "?" is optional."""
    if not isinstance(value, dict):
        return [wrong("object", received(value), path)]
    issues = []
    for key, kind in shape.items():
        name = key.rstrip("?")
        if name not in value:
            if not key.endswith("?"):
                expected = "object" if isinstance(kind, dict) else kind
                issues.append(wrong(expected, "undefined", [*path, name]))
        elif isinstance(kind, dict):
            issues += issues_of(kind, value[name], [*path, name])
        elif received(value[name]) != kind:
            issues.append(wrong(kind, received(value[name]), [*path, name]))
    return issues


def wrong(expected: str, got: str, path: list[str]) -> dict[str, Any]:
    """Return zod's issue of a wrong type."""
    message = (
        "Required" if got == "undefined" else f"Expected {expected}, received {got}"
    )
    return {
        "code": "invalid_type",
        "expected": expected,
        "received": got,
        "path": path,
        "message": message,
    }


def ok(data: Any) -> Response:
    """Return a procedure's result."""
    return Response(200, {"result": {"data": data}})


class Jumbotron(Backend):
    """The router."""

    def __init__(self) -> None:
        super().__init__()
        self.boards = {row[0]: Board(*row) for row in LINES}
        self.users: dict[str, str] = {}
        self.balance: dict[str, int] = {}

    def texts(self) -> dict[str, str]:
        """Return each board's line."""
        return {board.slug: board.line for board in self.boards.values()}

    def _error(
        self, request: Request, code: str, message: str, zod: Any = None
    ) -> Response:
        """Return a TRPCError as the error formatter shapes it."""
        number, status = CODES[code]
        path = request.path.rsplit("/", 1)[-1]
        data = {"code": code, "httpStatus": status, "path": path, "zodError": zod}
        return Response(
            status, {"error": {"message": message, "code": number, "data": data}}
        )

    def missing(self, request: Request) -> Response:
        """Answer as for a procedure that is not there."""
        path = request.path.rsplit("/", 1)[-1]
        message = f'No "{"query" if request.method == "GET" else "mutation"}"'
        return self._error(
            request, "NOT_FOUND", f'{message}-procedure on path "{path}"'
        )

    def _bad_input(self, request: Request, issues: list[dict[str, Any]]) -> Response:
        """Return the answer to a ZodError, flattened beside its message."""
        flat: dict[str, Any] = {"formErrors": [], "fieldErrors": {}}
        for issue in issues:
            if issue["path"]:
                errors = flat["fieldErrors"].setdefault(issue["path"][0], [])
                errors.append(issue["message"])
            else:
                flat["formErrors"].append(issue["message"])
        return self._error(request, "BAD_REQUEST", json.dumps(issues, indent=2), flat)

    def register(self, request: Request) -> Response:
        """Create a user; the contract's fields stand outside the envelope."""
        self.book.registrations += 1
        user, token = cuid(), secrets.token_hex(32)
        self.users[token] = user
        self.balance[user] = 100
        return Response(200, {"agent_id": user, "access_token": token, "credits": 100})

    def _list(self, request: Request) -> Response:
        limit = request.query.get("limit", "20")
        if not limit.isdecimal():
            return self._bad_input(request, [wrong("number", "nan", ["limit"])])
        if not 1 <= int(limit) <= 50:
            issue: dict[str, Any] = {
                "code": "too_big",
                "maximum": 50,
                "path": ["limit"],
            }
            issue["message"] = "Number must be greater than 0 and at most 50"
            return self._bad_input(request, [issue])
        rows = [board for board in self.boards.values() if board.status == "OPEN"]
        boards = [
            {
                "slug": board.slug,
                "venue": board.venue,
                "status": board.status,
                "tokens": board.tokens,
                "spec": {
                    "transform": "UPPER",
                    "line": board.line,
                    "note": "Render the line in upper case; the board has no small letters.",
                },
            }
            for board in rows[: int(limit)]
        ]
        return ok({"boards": boards, "openCount": len(rows)})

    def tasks(self, request: Request) -> Response:
        """List the open boards to a user."""
        if request.token not in self.users:
            return self._error(request, "UNAUTHORIZED", "UNAUTHORIZED")
        return self._list(request)

    def marketplace(self, request: Request) -> Response:
        """List the open boards to anybody."""
        return self._list(request)

    def _input(
        self, request: Request, shape: dict[str, Any]
    ) -> tuple[str, dict[str, Any], Response | None]:
        """Return the user, the input and perhaps the refusal."""
        user = self.users.get(request.token, "")
        if not user:
            return "", {}, self._error(request, "UNAUTHORIZED", "UNAUTHORIZED")
        if not request.raw:
            return "", {}, self._bad_input(request, [wrong("object", "undefined", [])])
        try:
            body = request.json()
        except ValueError as error:
            return "", {}, self._error(request, "PARSE_ERROR", str(error))
        issues = issues_of(shape, body, [])
        if issues:
            return "", {}, self._bad_input(request, issues)
        return user, body, None

    def claim(self, request: Request) -> Response:
        """Lease a board."""
        user, body, refusal = self._input(request, {"slug": "string"})
        if refusal:
            return refusal
        board = self.boards.get(body["slug"])
        if board is None:
            return self._error(
                request, "NOT_FOUND", f"No board with slug {body['slug']}"
            )
        if board.user and board.user != user:
            return self._error(request, "CONFLICT", "Board is leased by another agent")
        if board.status == "PAID":
            return self._error(request, "CONFLICT", "Board is done")
        if not board.user:
            for other in self.boards.values():
                if other.user == user and other.status != "PAID":
                    message = (
                        f"One lease at a time: complete {other.lease} ({other.slug})"
                    )
                    return self._error(request, "TOO_MANY_REQUESTS", f"{message} first")
            board.user, board.status, board.lease = user, "LEASED", cuid()
            self.book.claimed(board.slug)
        lease = {"id": board.lease, "slug": board.slug, "expiresInSec": 1200}
        return ok({"lease": lease, "status": board.status})

    def _leased(
        self, request: Request, user: str, lease: str
    ) -> tuple[Any, Response | None]:
        for board in self.boards.values():
            if board.lease == lease and board.user == user:
                return board, None
        return None, self._error(request, "NOT_FOUND", "Lease not found")

    def submit(self, request: Request) -> Response:
        """Take the rendered line."""
        rendered = {"line": "string", "charCount": "number"}
        shape = {"leaseId": "string", "rendered": rendered}
        user, body, refusal = self._input(request, shape)
        if refusal:
            return refusal
        board, refusal = self._leased(request, user, body["leaseId"])
        if refusal:
            return refusal
        if board.status == "PAID":
            return self._error(request, "CONFLICT", "Lease is already paid")
        line, count = body["rendered"]["line"], body["rendered"]["charCount"]
        if count != len(line):
            message = f"charCount is {count} but line has {len(line)} characters"
            path = ["rendered", "charCount"]
            issue = {"code": "custom", "message": message, "path": path}
            return self._bad_input(request, [issue])
        if line != board.line.upper():
            message = "rendered.line is not spec.line in upper case"
            return self._error(request, "PRECONDITION_FAILED", message)
        if board.status == "LEASED":
            board.status, board.ready = "REVIEWING", time.time() + REVIEW_SECONDS
        return ok({"leaseId": board.lease, "status": board.status})

    def complete(self, request: Request) -> Response:
        """Pay when the operator is done."""
        shape = {"leaseId": "string", "note?": "string"}
        user, body, refusal = self._input(request, shape)
        if refusal:
            return refusal
        board, refusal = self._leased(request, user, body["leaseId"])
        if refusal:
            return refusal
        if board.status == "LEASED":
            message = "Nothing was submitted for this lease"
            return self._error(request, "PRECONDITION_FAILED", message)
        if board.status == "REVIEWING":
            if time.time() < board.ready:
                return ok(
                    {
                        "leaseId": board.lease,
                        "status": "REVIEWING",
                        "retryAfterMs": 1500,
                    }
                )
            board.status = "PAID"
            self.balance[user] += board.tokens
            self.book.pay(board.slug, board.tokens)
        return ok(
            {
                "leaseId": board.lease,
                "status": board.status,
                "tokensPaid": board.tokens,
                "balance": self.balance[user],
            }
        )
