"""A tRPC router behind fixed paths, with superjson as its transformer.

Everything is wrapped: a request's input is under "json", an answer under
"result.data.json", an error under "error.json", whose message is itself JSON text: the
list of zod's issues. Unknown names are stripped silently, as z.object does. Submitting
pays at once and says so; there is no procedure for completing.
"""

import json
import re
import secrets
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

PROMPTS = (
    "the ferry waits for the mail",
    "roll the carpet towards the wall",
    "a comet was seen over the hills",
    "put the blue books on the shelf",
    "the choir sings every second friday",
    "find the leak in the kitchen pipe",
    "two foxes ran across the field",
    "the lighthouse was sold last spring",
    "measure the window before noon",
    "dust the piano and close the lid",
    "the tailor wants the long coat back",
    "plant the tulips beside the gate",
)
CODES = {
    "BAD_REQUEST": (-32600, 400),
    "PARSE_ERROR": (-32700, 400),
    "UNAUTHORIZED": (-32001, 401),
    "FORBIDDEN": (-32003, 403),
    "NOT_FOUND": (-32004, 404),
    "CONFLICT": (-32009, 409),
    "UNPROCESSABLE_CONTENT": (-32022, 422),
}
SCHEMAS: dict[str, dict[str, str]] = {
    "claimTask": {"taskId": "cuid"},
    "submitTask": {"taskId": "cuid", "text": "string"},
}
CUID = re.compile(r"c[^\s-]{8,}", re.IGNORECASE)
PAGE = 5
ABSENT = object()


class TRPCError(Exception):
    """What a procedure throws."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message

    def response(self, path: str) -> Response:
        number, status = CODES[self.code]
        data = {"code": self.code, "httpStatus": status, "path": path}
        shape = {"message": self.message, "code": number, "data": data}
        return Response(status, {"error": {"json": shape}})


def zod_type(value: Any) -> str:
    """Return the name of a parsed type."""
    if value is ABSENT:
        return "undefined"
    if value is None:
        return "null"
    names = {bool: "boolean", int: "number", float: "number", str: "string"}
    names |= {list: "array", dict: "object"}
    return names[type(value)]


def wrong_type(expected: str, value: Any, path: list[str]) -> dict[str, Any]:
    """Return zod's issue for a value of another type."""
    received = zod_type(value)
    told = f"Expected {expected}, received {received}"
    return {
        "code": "invalid_type",
        "expected": expected,
        "received": received,
        "path": path,
        "message": "Required" if value is ABSENT else told,
    }


def issues_of(value: Any, schema: dict[str, str]) -> list[dict[str, Any]]:
    """Return all that zod has against an input."""
    if not isinstance(value, dict):
        return [wrong_type("object", value, [])]
    found: list[dict[str, Any]] = []
    for name, kind in schema.items():
        given = value.get(name, ABSENT)
        if not isinstance(given, str):
            found.append(wrong_type("string", given, [name]))
        elif kind == "cuid" and not CUID.fullmatch(given):
            found.append(
                {
                    "validation": "cuid",
                    "code": "invalid_string",
                    "message": "Invalid cuid",
                    "path": [name],
                }
            )
    return found


def input_of(request: Request, path: str) -> dict[str, Any]:
    """Parse the body, let superjson unwrap it, and let zod look at it."""
    try:
        body = request.json() if request.raw else None
    except json.JSONDecodeError as fault:
        raise TRPCError(
            "PARSE_ERROR", f"Unexpected token in JSON at position {fault.pos}"
        ) from fault
    unwrapped: Any = body.get("json", ABSENT) if isinstance(body, dict) else ABSENT
    if issues := issues_of(unwrapped, SCHEMAS[path]):
        raise TRPCError("BAD_REQUEST", json.dumps(issues, indent=2))
    return dict(unwrapped)


def output(value: dict[str, Any], dates: tuple[str, ...] = ()) -> Response:
    """Return a result as superjson serializes it."""
    data: dict[str, Any] = {"json": value}
    if dates:
        data["meta"] = {"values": {date: ["Date"] for date in dates}}
    return Response(body={"result": {"data": data}})


def cuid(at: int) -> str:
    """Return the identifier of a task."""
    return f"clx{at:02d}k{(at * 7919 + 104729) * 65537:013x}9q2mzt"


def attempt(
    step: Callable[[Request], Response], request: Request, path: str
) -> Response:
    """Run a procedure; what it raises is the answer."""
    try:
        return step(request)
    except TRPCError as no:
        return no.response(path)


class Trpc(Backend):
    """A router with three procedures."""

    def __init__(self) -> None:
        super().__init__()
        self.records: dict[str, dict[str, Any]] = {}
        for at, text in enumerate(PROMPTS):
            task = cuid(at)
            self.records[task] = {
                "id": task,
                "prompt": text,
                "reward": (at * 5) % 9 + 1,
                "status": "open",
                "createdAt": f"2026-06-{at + 1:02d}T10:00:00.000Z",
            }
        self.sessions: dict[str, str] = {}
        self.holders: dict[str, str] = {}

    def texts(self) -> dict[str, str]:
        return {task: row["prompt"] for task, row in self.records.items()}

    def missing(self, request: Request) -> Response:
        name = request.path.rpartition("/")[2]
        kind = "query" if request.method == "GET" else "mutation"
        return self.absent(kind, name)

    def absent(self, kind: str, name: str) -> Response:
        told = f'No "{kind}"-procedure on path "{name}"'
        return TRPCError("NOT_FOUND", told).response(name)

    def register(self, request: Request) -> Response:
        agent, token = f"clz{secrets.token_hex(11)}", secrets.token_urlsafe(30)
        self.sessions[token] = agent
        self.book.registrations += 1
        return Response(body={"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        rows = [row for row in self.records.values() if row["status"] == "open"]
        if cursor := request.query.get("cursor", ""):
            if cursor not in self.records:
                return TRPCError("BAD_REQUEST", "Invalid cursor").response("listTasks")
            order = list(self.records)
            first = order.index(cursor)
            rows = [row for row in rows if order.index(row["id"]) >= first]
        page, rest = rows[:PAGE], rows[PAGE:]
        dates = tuple(f"items.{at}.createdAt" for at in range(len(page)))
        return output(
            {"items": page, "nextCursor": rest[0]["id"] if rest else None}, dates
        )

    def marketplace(self, request: Request) -> Response:
        return self.tasks(request)

    def protected(self, request: Request) -> str:
        if request.token not in self.sessions:
            raise TRPCError("UNAUTHORIZED", "UNAUTHORIZED")
        return self.sessions[request.token]

    def record(self, task: str) -> dict[str, Any]:
        if task not in self.records:
            raise TRPCError("NOT_FOUND", "Task not found")
        return self.records[task]

    def claim(self, request: Request) -> Response:
        return attempt(self.on_claim, request, "claimTask")

    def on_claim(self, request: Request) -> Response:
        agent = self.protected(request)
        row = self.record(input_of(request, "claimTask")["taskId"])
        if row["id"] in self.holders:
            raise TRPCError("CONFLICT", "Task has already been claimed")
        self.holders[row["id"]] = agent
        row["status"] = "claimed"
        self.book.claimed(row["id"])
        return output({"taskId": row["id"], "status": "claimed", "agentId": agent})

    def submit(self, request: Request) -> Response:
        return attempt(self.on_submit, request, "submitTask")

    def on_submit(self, request: Request) -> Response:
        agent = self.protected(request)
        body = input_of(request, "submitTask")
        row = self.record(body["taskId"])
        if self.holders.get(row["id"]) != agent:
            raise TRPCError("FORBIDDEN", "Claim the task before submitting")
        if row["status"] == "paid":
            raise TRPCError("CONFLICT", "Task has already been paid")
        if body["text"] != row["prompt"].upper():
            raise TRPCError("UNPROCESSABLE_CONTENT", "The text is not correct")
        row["status"] = "paid"
        self.book.pay(row["id"], row["reward"])
        return output({"taskId": row["id"], "status": "paid", "payout": row["reward"]})

    def complete(self, request: Request) -> Response:
        return self.absent("mutation", "completeTask")

    def post(self, request: Request) -> Response:
        return self.absent("mutation", "createTask")
