"""Quillwork, a copy desk: Kotlin, Ktor 3, ContentNegotiation with kotlinx.serialization 1.8.

Bodies are decoded strictly (no isLenient, no ignoreUnknownKeys); StatusPages turns
BadRequestException into the message of its cause. What the types cannot say is checked
by hand and answered as VALIDATION_FAILED, what the state forbids as a 409.
"""

import itertools
import json
import random
import secrets
from datetime import UTC, datetime, timedelta
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from tests.foreign.backend import Backend, Response

PACKAGE = "io.quillwork.desk.api"
UNKNOWN_HINT = (
    "Use 'ignoreUnknownKeys = true' in 'Json {}' builder or "
    "'@JsonIgnoreUnknownKeys' annotation to ignore unknown keys."
)
NULL_HINT = (
    "Use 'coerceInputValues = true' in 'Json {}' builder to coerce nulls "
    "if property has a default value."
)
STRUCTURAL = set('",:{}[] \t\r\n')
NAMES = {"{": "start of the object '{'", "}": "end of the object '}'", ":": "colon ':'"}
NAMES['"'] = "quotation mark '\"'"

# Fields are "String", "Int" or (class name, fields); a "?" has a default.
REGISTER = ("RegisterRequest", {"displayName?": "String"})
CLAIM = ("ClaimRequest", {"jobId": "String", "etaMinutes": "Int"})
DELIVERABLE = ("Deliverable", {"format": "String", "content": "String"})
SUBMIT = ("SubmitRequest", {"claimId": "String", "deliverable": DELIVERABLE})
COMPLETE = ("CompleteRequest", {"claimId": "String", "revision": "Int"})
FORMATS = ["text/plain", "text/markdown"]

BRIEFS = [
    ("Shop window", "closed on sunday for the village fair", 14),
    ("Museum label", "please do not touch the herring barrels", 9),
    ("Deck sign", "crew only beyond this rope", 11),
    ("Menu head", "three kinds of soup, one kind of bread", 16),
    ("Bus banner", "line 42 now stops at the old brewery", 21),
    ("Trail post", "steep path, 90 minutes to the hut", 12),
    ("Recall notice", "return the blue kettle to any of our shops", 27),
]


class Illegal(Exception):
    """What the converter throws; Ktor makes a BadRequestException of it."""


class Fault(Exception):
    """Our own ApiException(status, code, message)."""


def ensure(right: Any, *fault: Any) -> Any:
    """inline fun ensure(value: Boolean, status, code, message)"""
    if not right:
        raise Fault(*fault)


class Decoder:
    """Json.decodeFromString for the few shapes above, with the library's words."""

    def __init__(self, source: Any) -> None:
        self.src = source
        self.pos = 0

    def shown(self, offset: Any) -> Any:
        if len(self.src) < 200:
            return self.src
        start, end = offset - 30, offset + 30
        head, tail = "....." * (start > 0), "....." * (end < len(self.src))
        return head + self.src[max(start, 0) : end] + tail

    def fail(self, message: Any, offset: Any, path: Any, hint: Any = "") -> Any:
        text = f"Unexpected JSON token at offset {offset}: " if offset >= 0 else ""
        text += f"{message} at path: {path}"
        text += f"\n{hint}" if hint else ""
        raise Illegal(f"{text}\nJSON input: {self.shown(offset)}")

    def peek(self) -> Any:
        while self.pos < len(self.src) and self.src[self.pos] in " \t\r\n":
            self.pos += 1
        return self.src[self.pos] if self.pos < len(self.src) else ""

    def expect(self, token: Any, path: Any) -> Any:
        found = self.peek()
        if found != token:
            if token == '"' and self.src.startswith("null", self.pos):
                text = "Expected string literal but 'null' literal was found"
                self.fail(text, self.pos, path, NULL_HINT)
            text = f"Expected {NAMES[token]}, but had '{found or 'EOF'}' instead"
            self.fail(text, self.pos if found else -1, path)
        self.pos += 1

    def string(self, path: Any) -> Any:
        self.expect('"', path)
        try:
            value, self.pos = scanstring(self.src, self.pos, False)
        except ValueError:
            end = len(self.src) - 1
            self.fail(f"Expected {NAMES[chr(34)]}, but had 'EOF' instead", end, path)
        return value  # type: ignore[possibly-undefined]

    def integer(self, path: Any) -> Any:
        quoted = self.peek() == '"'
        self.pos += quoted
        start = self.pos
        while self.pos < len(self.src) and self.src[self.pos] not in STRUCTURAL:
            char = self.src[self.pos]
            if not char.isdecimal() and not (char == "-" and self.pos == start):
                self.fail(
                    f"Unexpected symbol '{char}' in numeric literal", self.pos, path
                )
            self.pos += 1
        digits = self.src[start : self.pos]
        if digits in ("", "-"):
            self.fail("Expected numeric literal", self.pos, path)
        self.pos += quoted
        if len(digits) > 11 or not -(2**31) <= int(digits) < 2**31:
            self.fail(f"Failed to parse int for input '{digits}'", self.pos, path)
        return int(digits)

    def value(self, kind: Any, path: Any) -> Any:
        if kind == "String":
            return self.string(path)
        if kind == "Int":
            return self.integer(path)
        return self.instance(kind, path)

    def instance(self, kind: Any, path: Any) -> Any:
        name, declared = kind
        fields = {field.rstrip("?"): of for field, of in declared.items()}
        found = {}
        self.expect("{", path)
        if self.peek() == "}":
            self.pos += 1
        else:
            while True:
                key = self.string(path)
                self.expect(":", path)
                if key not in fields:
                    at = self.src[: self.pos].rfind(key)
                    text = f"Encountered an unknown key '{key}' at offset {at} at path: {path}"
                    raise Illegal(
                        f"{text}\n{UNKNOWN_HINT}\nJSON input: {self.shown(at)}"
                    )
                found[key] = self.value(fields[key], f"{path}.{key}")
                if self.peek() == ",":
                    self.pos += 1
                    continue
                self.expect("}", path)
                break
        missing = [f for f in declared if not f.endswith("?") and f not in found]
        serial = f"for type with serial name '{PACKAGE}.{name}'"
        if len(missing) == 1:
            text = f"Field '{missing[0]}' is required {serial}, but it was missing"
            raise Illegal(f"{text} at path: {path}")
        if missing:
            text = f"Fields [{', '.join(missing)}] are required {serial}, but they were missing"
            raise Illegal(f"{text} at path: {path}")
        return found

    def whole(self, kind: Any) -> Any:
        found = self.instance(kind, "$")
        if self.peek():
            self.fail(
                f"Expected EOF after parsing, but had {self.peek()} instead",
                self.pos,
                "$",
            )
        return found


def receive(request: Any, kind: Any) -> Any:
    """call.receive<T>()"""
    media = (request.headers.get("Content-Type") or "").split(";")[0].strip()
    if media != "application/json":
        raise Fault(415, "UNSUPPORTED_MEDIA_TYPE", f"Cannot read '{media}' as JSON")
    return Decoder(request.raw.decode(errors="replace")).whole(kind)


def stamp(minutes: Any = 0) -> Any:
    at = datetime.now(UTC) + timedelta(minutes=minutes)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def nano(prefix: Any, size: Any = 10) -> Any:
    return prefix + secrets.token_hex(size)[:size]


def answered(handler: Any) -> Any:
    """install(StatusPages)"""

    def route(self: Any, request: Any) -> Any:
        try:
            return Response(200, handler(self, request))
        except Illegal as error:
            status, code, text = 400, "BAD_REQUEST", f"Illegal input: {error}"
        except Fault as error:
            status, code, text = error.args
        headers = (
            {"WWW-Authenticate": 'Bearer realm="quillwork"'} if status == 401 else {}
        )
        return Response(status, {"code": code, "message": text}, headers)

    return route


class Quillwork(Backend):
    """The desk."""

    def __init__(self) -> None:
        super().__init__()
        ids = random.Random(414)  # noqa: S311
        self.jobs = {}
        for number, (title, brief, amount) in enumerate(BRIEFS):
            key = "job_" + "".join(ids.choices("23456789abcdefghjkmnpqrstuvwxyz", k=8))
            self.jobs[key] = {
                "id": key,
                "title": title,
                "kind": "UPPERCASE",
                "brief": brief,
                "price": {"amount": amount, "unit": "CREDIT"},
                "state": "OPEN",
                "postedAt": stamp(-37 * (number + 2)),
            }
        self.writers: dict[str, Any] = {}  # token -> record
        self.claims = {}  # type: ignore[var-annotated]
        self.serial = itertools.count(1)

    def texts(self) -> Any:
        return {key: job["brief"] for key, job in self.jobs.items()}

    def missing(self, request: Any) -> Any:
        return Response(
            404, {"code": "NOT_FOUND", "message": f"No route for {request.path}"}
        )

    def writer(self, request: Any) -> Any:
        try:
            return self.writers[request.token]
        except KeyError:
            raise Fault(
                401, "UNAUTHORIZED", "Bearer token is missing or unknown"
            ) from None

    def held(self, writer: Any, claim_id: Any) -> Any:
        claim = self.claims.get(claim_id)
        if claim is None or claim["writer"] != writer["agent_id"]:
            raise Fault(404, "CLAIM_NOT_FOUND", f"No claim with id '{claim_id}'")
        return claim

    @answered
    def register(self, request: Any) -> Any:
        body = receive(request, REGISTER)
        token = nano("qw_live_", 32)
        self.book.registrations += 1
        name = body.get("displayName") or f"writer-{next(self.serial)}"
        self.writers[token] = {"agent_id": nano("wr_"), "credits": 100, "name": name}
        return {
            "agent_id": self.writers[token]["agent_id"],
            "access_token": token,
            "credits": 100,
            "displayName": name,
            "createdAt": stamp(),
        }

    @answered
    def tasks(self, request: Any) -> Any:
        limit = request.query.get("limit", "50")
        if not limit.isdecimal() or int(limit) < 1:
            raise Fault(
                400, "BAD_REQUEST", "Query parameter 'limit' must be an Int >= 1"
            )
        items = list(self.jobs.values())
        return {"items": items[: min(int(limit), 50)], "total": len(items)}

    marketplace = tasks

    @answered
    def claim(self, request: Any) -> Any:
        writer = self.writer(request)
        body = receive(request, CLAIM)
        eta = body["etaMinutes"]
        text = f"etaMinutes must be in 1..240 but was {eta}"
        ensure(1 <= eta <= 240, 422, "VALIDATION_FAILED", text)
        job = self.jobs.get(body["jobId"])
        ensure(job, 404, "JOB_NOT_FOUND", f"No job with id '{body['jobId']}'")
        if job["state"] != "OPEN":  # type: ignore[index]
            mine = [
                key
                for key, claim in self.claims.items()
                if claim["job"] == job["id"] and claim["writer"] == writer["agent_id"]  # type: ignore[index]
            ]
            text = f"Job '{job['id']}' is {job['state']}, expected OPEN"  # type: ignore[index]
            text += f" (you hold it with claim '{mine[0]}')" if mine else ""
            raise Fault(409, "JOB_NOT_OPEN", text)
        key = nano("clm_")
        job["state"] = "CLAIMED"  # type: ignore[index]
        self.claims[key] = {
            "job": job["id"],  # type: ignore[index]
            "writer": writer["agent_id"],
            "revision": 0,
            "content": "",
            "state": "CLAIMED",
        }
        self.book.claimed(job["id"])  # type: ignore[index]
        return {
            "claimId": key,
            "jobId": job["id"],  # type: ignore[index]
            "state": "CLAIMED",
            "dueAt": stamp(eta),
        }

    @answered
    def submit(self, request: Any) -> Any:
        writer = self.writer(request)
        body = receive(request, SUBMIT)
        given = body["deliverable"]
        text = f"must be one of [{', '.join(FORMATS)}] but was '{given['format']}'"
        ensure(
            given["format"] in FORMATS,
            422,
            "VALIDATION_FAILED",
            f"deliverable.format {text}",
        )
        text = "deliverable.content must not be blank"
        ensure(given["content"].strip(), 422, "VALIDATION_FAILED", text)
        claim = self.held(writer, body["claimId"])
        text = f"Claim '{body['claimId']}' is PAID"
        ensure(claim["state"] != "PAID", 409, "CLAIM_CLOSED", text)
        claim["revision"] += 1
        claim.update(content=given["content"], state="SUBMITTED")
        return {
            "claimId": body["claimId"],
            "revision": claim["revision"],
            "state": "SUBMITTED",
            "receivedAt": stamp(),
        }

    @answered
    def complete(self, request: Any) -> Any:
        writer = self.writer(request)
        body = receive(request, COMPLETE)
        claim = self.held(writer, body["claimId"])
        text = f"Claim '{body['claimId']}' is {claim['state']}, expected SUBMITTED"
        ensure(claim["state"] == "SUBMITTED", 409, "ILLEGAL_STATE", text)
        text = f"revision {body['revision']} is not the latest revision of claim "
        text += f"'{body['claimId']}' ({claim['revision']})"
        ensure(body["revision"] == claim["revision"], 409, "STALE_REVISION", text)
        job = self.jobs[claim["job"]]
        if claim["content"] != job["brief"].upper():
            claim["state"] = "CLAIMED"
            text = f"Revision {claim['revision']} is not the brief of '{job['id']}' in "
            text += "upper case; submit a new revision"
            raise Fault(422, "DELIVERABLE_REJECTED", text)
        claim["state"] = job["state"] = "PAID"
        writer["credits"] += job["price"]["amount"]
        self.book.pay(job["id"], job["price"]["amount"])
        return {
            "claimId": body["claimId"],
            "state": "PAID",
            "payout": job["price"],
            "balance": {"amount": writer["credits"], "unit": "CREDIT"},
        }


if __name__ == "__main__":
    print(json.dumps(Quillwork().texts(), indent=1))
