"""A Rust service: Axum's Json extractor over serde structs with deny_unknown_fields.

Refusals of a body are one line of text, about the first fault that serde meets as it
reads on: an unknown field is named together with all the fields that exist, a missing
one only at the end. Numbers are not strings. What is submitted is an internally tagged
enum: an object whose `kind` says which variant it is.
"""

import json
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

BRIEFS = (
    "the river is wide and slow",
    "bring two cups of green tea",
    "a letter came from the coast",
    "mend the fence before winter",
    "count the boats in the harbour",
    "the old clock runs five minutes late",
    "paint the door a darker blue",
    "three owls live in the barn",
    "leave the key under the stone",
    "snow fell on the southern pass",
    "the baker opens before dawn",
    "carry the lamp to the cellar",
)
TARGET = "Failed to deserialize the JSON body into the target type: "
SPACE = re.compile(r"[ \t\r\n]*")
STRUCTS: dict[str, dict[str, str]] = {
    "ClaimGig": {"gig_id": "u64", "worker": "a string"},
    "SubmitWork": {"lease_id": "u64", "output": "internally tagged enum Output"},
    "CompleteLease": {"lease_id": "u64"},
}
VARIANTS = {"text": {"value": "a string"}, "file": {"url": "a string"}}


class RejectionError(Exception):
    """An extractor said no, or the handler did."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.response = Response(status, text)


def quoted(names: list[str]) -> str:
    """Return what serde's OneOf writes."""
    marked = [f"`{name}`" for name in names]
    if len(marked) > 2:
        return "one of " + ", ".join(marked)
    return " or ".join(marked)


def unexpected(value: Any) -> str:
    """Return what serde's Unexpected writes."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"boolean `{str(value).lower()}`"
    if isinstance(value, int):
        return f"integer `{value}`"
    if isinstance(value, float):
        return f"floating point `{value}`"
    if isinstance(value, str):
        return f"string {json.dumps(value, ensure_ascii=False)}"
    return "map" if isinstance(value, dict) else "sequence"


def mistake(value: Any, wanted: str) -> str:
    """Return what is wrong with a plain value, or nothing."""
    if wanted == "u64" and isinstance(value, int) and not isinstance(value, bool):
        if 0 <= value < 2**64:
            return ""
        return f"invalid value: {unexpected(value)}, expected u64"
    if wanted == "a string" and isinstance(value, str):
        return ""
    return f"invalid type: {unexpected(value)}, expected {wanted}"


@dataclass
class Reader:
    """Reads a struct member by member and knows where it stands."""

    text: str

    def fail(self, at: int, fault: str, path: str = "") -> RejectionError:
        line = self.text.count("\n", 0, at) + 1
        column = at - (self.text.rfind("\n", 0, at) + 1)
        where = f"{path}: " if path else ""
        return RejectionError(
            422, f"{TARGET}{where}{fault} at line {line} column {column}"
        )

    def skip(self, at: int) -> int:
        found = SPACE.match(self.text, at)
        return found.end() if found else at

    def members(self, at: int) -> list[tuple[str, int, Any, int, int]]:
        """Return name, its end, value, its start and its end, for every member."""
        found = []
        at = self.skip(at + 1)
        while self.text[at] != "}":
            name, name_end = json.JSONDecoder().raw_decode(self.text, at)
            start = self.skip(self.skip(name_end) + 1)
            value, end = json.JSONDecoder().raw_decode(self.text, start)
            found.append((name, name_end, value, start, end))
            at = self.skip(end)
            at = self.skip(at + 1) if self.text[at] == "," else at
        return found

    def struct(self, name: str) -> dict[str, Any]:
        """Return the members of a struct, or reject the first fault."""
        fields, start = STRUCTS[name], self.skip(0)
        if self.text[start] != "{":
            value = json.loads(self.text)
            raise self.fail(
                start, f"invalid type: {unexpected(value)}, expected struct {name}"
            )
        seen: dict[str, Any] = {}
        for key, key_end, value, at, end in self.members(start):
            if key not in fields:
                known = quoted(list(fields))
                raise self.fail(
                    key_end, f"unknown field `{key}`, expected {known}", key
                )
            if key in seen:
                raise self.fail(key_end, f"duplicate field `{key}`")
            if "enum" in fields[key]:
                self.output(value, at, end)
            elif wrong := mistake(value, fields[key]):
                raise self.fail(
                    at if isinstance(value, dict | list) else end, wrong, key
                )
            seen[key] = value
        for key in fields:
            if key not in seen:
                end = len(self.text.rstrip())
                raise self.fail(end, f"missing field `{key}`")
        return seen

    def output(self, value: Any, at: int, end: int) -> None:
        """Reject an output that is no variant of the enum."""
        if not isinstance(value, dict):
            fault = f"invalid type: {unexpected(value)}, expected internally tagged enum Output"
            raise self.fail(at if isinstance(value, list) else end, fault, "output")
        for key, _, kind, _, kind_end in self.members(at):
            if key == "kind" and not isinstance(kind, str):
                fault = f"invalid type: {unexpected(kind)}, expected variant identifier"
                raise self.fail(kind_end, fault, "output.kind")
            if key == "kind" and kind not in VARIANTS:
                fault = f"unknown variant `{kind}`, expected {quoted(list(VARIANTS))}"
                raise self.fail(kind_end, fault, "output.kind")
        if "kind" not in value:
            raise self.fail(end, "missing field `kind`", "output")
        self.variant(value, end)

    def variant(self, value: dict[str, Any], end: int) -> None:
        """Reject the content of a variant; serde has buffered it by then."""
        fields, after = VARIANTS[value["kind"]], self.skip(end)
        after = after + 1 if self.text[after] == "}" else after
        for key, inner in value.items():
            if key == "kind":
                continue
            if key not in fields:
                fault = f"unknown field `{key}`, expected {quoted(list(fields))}"
                raise self.fail(after, fault, "output")
            if wrong := mistake(inner, fields[key]):
                raise self.fail(after, wrong, "output")
        for key in fields:
            if key not in value:
                raise self.fail(after, f"missing field `{key}`", "output")


def extract(request: Request, struct: str) -> dict[str, Any]:
    """Do what axum::Json does."""
    if "json" not in (request.headers.get("Content-Type") or ""):
        raise RejectionError(
            415, "Expected request with `Content-Type: application/json`"
        )
    text = request.raw.decode(errors="replace")
    try:
        json.loads(text)
    except json.JSONDecodeError as fault:
        rest = text[fault.pos :].strip()
        what = "expected value" if rest else "EOF while parsing a value"
        column = fault.colno if rest else fault.colno - 1
        raise RejectionError(
            400,
            f"Failed to parse the request body as JSON: {what} at line {fault.lineno} column {column}",
        ) from fault
    return Reader(text).struct(struct)


def attempt(step: Callable[[Request], Response], request: Request) -> Response:
    """Run a handler; what it raises is the answer."""
    try:
        return step(request)
    except RejectionError as no:
        return no.response


class Axum(Backend):
    """Gigs, leases, outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.gigs = {
            412 + 7 * at: (brief, at % 9 + 1) for at, brief in enumerate(BRIEFS)
        }
        self.tokens: dict[str, str] = {}  # token -> agent
        self.leases: dict[int, tuple[int, str]] = {}  # lease -> gig, agent
        self.right: set[int] = set()
        self.credits: dict[str, int] = {}

    def texts(self) -> dict[str, str]:
        return {str(gig): brief for gig, (brief, _) in self.gigs.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, "")

    def register(self, request: Request) -> Response:
        agent, token = f"agt_{secrets.token_hex(8)}", secrets.token_urlsafe(32)
        self.tokens[token] = agent
        self.credits[agent] = 100
        self.book.registrations += 1
        return Response(body={"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        limit = request.query.get("limit", "50")
        if not limit.isascii() or not limit.isdigit():
            return Response(
                400,
                "Failed to deserialize query string: limit: invalid digit found in string",
            )
        taken = {gig for gig, _ in self.leases.values()}
        gigs = [
            {"id": gig, "brief": brief, "pays": pays, "status": "open"}
            for gig, (brief, pays) in self.gigs.items()
            if gig not in taken
        ]
        return Response(body={"gigs": gigs[: int(limit)]})

    def marketplace(self, request: Request) -> Response:
        return self.tasks(request)

    def agent(self, request: Request) -> str:
        if not request.headers.get("Authorization"):
            raise RejectionError(401, "missing `Authorization` header")
        if request.token not in self.tokens:
            raise RejectionError(401, "invalid bearer token")
        return self.tokens[request.token]

    def lease(self, lease_id: int, agent: str) -> int:
        gig, holder = self.leases.get(lease_id, (0, ""))
        if not gig:
            raise RejectionError(404, f"no lease {lease_id}")
        if holder != agent:
            raise RejectionError(403, f"lease {lease_id} belongs to another worker")
        return gig

    def claim(self, request: Request) -> Response:
        return attempt(self.on_claim, request)

    def on_claim(self, request: Request) -> Response:
        agent = self.agent(request)
        body = extract(request, "ClaimGig")
        self.check_claim(body, agent)
        lease = 90_001 + len(self.leases)
        self.leases[lease] = (body["gig_id"], agent)
        self.book.claimed(str(body["gig_id"]))
        expires = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 900))
        return Response(body={"lease": {"id": lease, "expires_at": expires}})

    def check_claim(self, body: dict[str, Any], agent: str) -> None:
        if body["worker"] != agent:
            raise RejectionError(
                403, "worker is not the agent id that the bearer token belongs to"
            )
        if body["gig_id"] not in self.gigs:
            raise RejectionError(404, f"no gig {body['gig_id']}")
        if any(gig == body["gig_id"] for gig, _ in self.leases.values()):
            raise RejectionError(409, f"gig {body['gig_id']} is already leased")

    def submit(self, request: Request) -> Response:
        return attempt(self.on_submit, request)

    def on_submit(self, request: Request) -> Response:
        agent = self.agent(request)
        body = extract(request, "SubmitWork")
        gig = self.lease(body["lease_id"], agent)
        if str(gig) in self.book.paid:
            raise RejectionError(409, f"lease {body['lease_id']} is already completed")
        if body["output"].get("value") != self.gigs[gig][0].upper():
            raise RejectionError(422, "output rejected: not what the brief asks for")
        self.right.add(body["lease_id"])
        return Response(body={"lease": {"id": body["lease_id"], "status": "submitted"}})

    def complete(self, request: Request) -> Response:
        return attempt(self.on_complete, request)

    def on_complete(self, request: Request) -> Response:
        agent = self.agent(request)
        lease = extract(request, "CompleteLease")["lease_id"]
        gig = self.lease(lease, agent)
        if lease not in self.right:
            raise RejectionError(409, f"lease {lease} has no accepted output yet")
        pays = self.gigs[gig][1]
        if str(gig) not in self.book.paid:
            self.book.pay(str(gig), pays)
            self.credits[agent] += pays
        return Response(
            body={
                "lease": {"id": lease, "status": "completed"},
                "paid": pays,
                "balance": self.credits[agent],
            }
        )
