"""A Kotlin service: Ktor with kotlinx.serialization, and a review that takes its time.

The parser stops at the first key it does not know, or at the first value of the wrong
type; only an otherwise clean body is told all the fields it lacks, in one sentence with
the name of the Kotlin class. A submit is accepted for review (202): completing answers
409 until the review is over, about two seconds later, and pays then.
"""

import json
import re
import secrets
import time
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

INSTRUCTIONS = (
    "the tram leaves at half past nine",
    "write the names on small cards",
    "a grey cat sleeps on the roof",
    "fold the map along the border",
    "the orchard needs more water",
    "keep the receipts in the drawer",
    "seven swans crossed the lake",
    "the museum is closed on monday",
    "sharpen the pencils for the class",
    "wind turned the weathervane north",
    "peel the apples and slice them",
    "the bridge was built of cedar",
)
CLASSES: dict[str, tuple[str, ...]] = {
    "ClaimRequest": ("taskId",),
    "SubmitRequest": ("taskId", "result", "submittedBy"),
    "CompleteRequest": ("taskId",),
}
REVIEW_SECONDS = 2.0
SPACE = re.compile(r"[ \t\r\n]*")
HINT = "Use 'ignoreUnknownKeys = true' in 'Json {}' builder to ignore unknown keys."


class CallError(Exception):
    """What StatusPages turns into an answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.response = Response(status, {"error": message})


def unexpected_token(
    at: int, message: str, path: str, text: str, hint: str = ""
) -> CallError:
    """Return what AbstractJsonLexer.fail throws."""
    lines = [f"Unexpected JSON token at offset {at}: {message} at path: {path}"]
    lines += [hint] if hint else []
    lines.append(f"JSON input: {text if len(text) < 200 else text[:60] + '.....'}")
    return CallError(400, "\n".join(lines))


def after_space(text: str, at: int) -> int:
    """Return where the next token starts."""
    found = SPACE.match(text, at)
    return found.end() if found else at


def string_at(text: str, at: int, path: str) -> tuple[str, int]:
    """Read a string, not leniently."""
    if text[at] != '"':
        if text.startswith("null", at):
            raise unexpected_token(
                at,
                "Expected string literal but 'null' literal was found",
                path,
                text,
                "Use 'coerceInputValues = true' in 'Json {}' builder to coerce nulls if property has a default value.",
            )
        raise unexpected_token(
            at,
            f"Expected quotation mark '\"', but had '{text[at]}' instead",
            path,
            text,
        )
    value, end = json.JSONDecoder().raw_decode(text, at)
    return str(value), end


def missing_fields(lacking: list[str], name: str) -> CallError:
    """Return what MissingFieldException says."""
    serial = f"for type with serial name 'com.example.{name}', but"
    if len(lacking) == 1:
        return CallError(
            400, f"Field '{lacking[0]}' is required {serial} it was missing at path: $"
        )
    return CallError(
        400,
        f"Fields [{', '.join(lacking)}] are required {serial} they were missing at path: $",
    )


def decode(text: str, name: str) -> dict[str, str]:
    """Decode a flat class of strings in the order of the text."""
    known, path, found = CLASSES[name], "$", dict[str, str]()
    at = after_space(text, 0)
    if text[at] != "{":
        fault = f"Expected start of the object '{{', but had '{text[at]}' instead"
        raise unexpected_token(at, fault, path, text)
    at = after_space(text, at + 1)
    while text[at] != "}":
        key, end = json.JSONDecoder().raw_decode(text, at)
        if key not in known:
            fault = f"Encountered an unknown key '{key}'"
            raise unexpected_token(at + 1, fault, path, text, HINT)
        path = f"$.{key}"
        at = after_space(text, after_space(text, end) + 1)
        found[key], end = string_at(text, at, path)
        at = after_space(text, end)
        at = after_space(text, at + 1) if text[at] == "," else at
    if lacking := [key for key in known if key not in found]:
        raise missing_fields(lacking, name)
    return found


def receive(request: Request, name: str) -> dict[str, str]:
    """Do what call.receive<T>() does."""
    if "json" not in (request.headers.get("Content-Type") or ""):
        raise CallError(415, "Content-Type application/json is expected")
    text = request.raw.decode(errors="replace")
    if not text.strip():
        raise CallError(
            400,
            "Cannot read Json element because of unexpected end of the input at path: $",
        )
    try:
        json.loads(text)
    except json.JSONDecodeError as fault:
        had = text[fault.pos] if fault.pos < len(text) else "EOF"
        raise unexpected_token(
            fault.pos, f"Unexpected symbol '{had}' in the input", "$", text
        ) from fault
    return decode(text, name)


def attempt(step: Callable[[Request], Response], request: Request) -> Response:
    """Run a handler; what it raises is the answer."""
    try:
        return step(request)
    except CallError as no:
        return no.response


class Ktor(Backend):
    """Tasks in camelCase with a review between submitting and being paid."""

    def __init__(self) -> None:
        super().__init__()
        self.records: dict[str, dict[str, Any]] = {}
        for at, text in enumerate(INSTRUCTIONS):
            task = f"tsk-{0x5A31 + 0x1F7 * at:06x}"
            self.records[task] = {
                "taskId": task,
                "instructions": text,
                "rewardCredits": (at * 4) % 9 + 1,
                "status": "OPEN",
                "createdAt": f"2026-05-{at + 3:02d}T08:15:00Z",
            }
        self.tokens: dict[str, str] = {}
        self.holders: dict[str, str] = {}
        self.submitted: dict[str, float] = {}

    def texts(self) -> dict[str, str]:
        return {task: row["instructions"] for task, row in self.records.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, "")

    def register(self, request: Request) -> Response:
        agent, token = f"agent-{secrets.token_hex(6)}", secrets.token_hex(24)
        self.tokens[token] = agent
        self.book.registrations += 1
        return Response(body={"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        limit = request.query.get("limit", "50")
        if not limit.isascii() or not limit.isdigit():
            return Response(
                400,
                {
                    "error": "Request parameter limit couldn't be parsed/converted to Int"
                },
            )
        rows = [row for row in self.records.values() if row["status"] == "OPEN"]
        return Response(body={"tasks": rows[: int(limit)], "total": len(rows)})

    def marketplace(self, request: Request) -> Response:
        return self.tasks(request)

    def caller(self, request: Request) -> str:
        if request.token not in self.tokens:
            raise CallError(401, "Bearer token is missing or not valid")
        return self.tokens[request.token]

    def held(self, task: str, agent: str) -> dict[str, Any]:
        if task not in self.records:
            raise CallError(404, f"Task {task} not found")
        if self.holders.get(task) != agent:
            raise CallError(409, f"Task {task} is not claimed by you")
        return self.records[task]

    def claim(self, request: Request) -> Response:
        return attempt(self.on_claim, request)

    def on_claim(self, request: Request) -> Response:
        agent = self.caller(request)
        task = receive(request, "ClaimRequest")["taskId"]
        if task not in self.records:
            raise CallError(404, f"Task {task} not found")
        if task in self.holders:
            raise CallError(409, f"Task {task} is already claimed")
        self.holders[task] = agent
        self.records[task]["status"] = "CLAIMED"
        self.book.claimed(task)
        return Response(body={"taskId": task, "status": "CLAIMED", "claimedBy": agent})

    def submit(self, request: Request) -> Response:
        return attempt(self.on_submit, request)

    def on_submit(self, request: Request) -> Response:
        agent = self.caller(request)
        body = receive(request, "SubmitRequest")
        row = self.held(body["taskId"], agent)
        if body["submittedBy"] != agent:
            raise CallError(403, "submittedBy must be the id of the calling agent")
        if row["status"] != "CLAIMED":
            raise CallError(409, f"Task {body['taskId']} is already {row['status']}")
        if body["result"] != row["instructions"].upper():
            raise CallError(422, "Result does not match the instructions")
        row["status"] = "IN_REVIEW"
        self.submitted[row["taskId"]] = time.monotonic()
        return Response(202, {"taskId": row["taskId"], "status": "IN_REVIEW"})

    def complete(self, request: Request) -> Response:
        return attempt(self.on_complete, request)

    def on_complete(self, request: Request) -> Response:
        agent = self.caller(request)
        task = receive(request, "CompleteRequest")["taskId"]
        row = self.held(task, agent)
        if task not in self.submitted:
            raise CallError(409, "No result has been submitted")
        if time.monotonic() - self.submitted[task] < REVIEW_SECONDS:
            raise CallError(409, "Review is still pending")
        if row["status"] != "PAID":
            row["status"] = "PAID"
            self.book.pay(task, row["rewardCredits"])
        return Response(body={"status": "PAID", "credits": row["rewardCredits"]})
