"""FastAPI with pydantic v2: a market of small gigs.

Lists a bare JSON array; each gig with `gigId` ("gig_" and 10 of 0-9a-z), `brief` ({"kind":
"uppercase", "text"}), `bountyCredits` (integer), `state` ("OPEN"), `postedBy`, `postedAt`. `limit`
is 1 to 50 (20 without one), else 422.
claim wants {"gigId"}; 200 {"holdId": "hold_...", "gigId", "state", "revision": 1, "expiresAt"}.
submit wants {"holdId", "output": {"kind": "text", "content": str}, "note"?: str}; `output` is a
  discriminated union (tags 'text' and 'file'); 200 {"deliveryId", ..., "revision": 2}.
complete wants {"holdId", "revision": int}: the hold's present revision, as submit's answer has it;
  pays, 200 {"holdId", "state": "SETTLED", "paidCredits", "balanceCredits", ...}.
Models are in camel case and forbid extra keys. A body that does not validate is answered 422 with
pydantic's list in `detail` (all errors; within the union `loc` has the tag: ["body", "output",
"text", "content"]). An HTTPException's `detail` is a string (wrong work 422, 401, 404, 409), or
an object for a gig that is on hold (409).
"""

import hashlib
import json
import math
import re
import time
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

GIGS = [
    ("gig_7k2m9qx04b", 14, "two old friends share a bench and a bag of cherries"),
    ("gig_c81zt5w3pe", 6, "the ferry leaves at dawn whether or not you are aboard"),
    ("gig_0f6hn4yd2s", 11, "rain drummed on the tin roof all through the wedding speech"),
    ("gig_v93ra7kq1j", 18, "nobody remembers who planted the pear tree behind the post office"),
    ("gig_5xb2u8gm6t", 5, "keep the receipt in a safe place"),
    ("gig_m4e0jw9c7h", 9, "our neighbour tunes pianos and sings to her tomatoes"),
]  # fmt: skip
GIG_ID = r"^gig_[0-9a-z]{10}$"
HOLD_ID = r"^hold_[0-9a-z]{12}$"
Loc = list[str | int]
# A field's validator takes the value and its place; it returns the errors.
Field = Callable[[Any, Loc], list[dict[str, Any]]]


def fault(kind: str, loc: Loc, msg: str, given: Any, **ctx: Any) -> dict[str, Any]:
    """Return one of pydantic's errors, as FastAPI shows it."""
    error = {"type": kind, "loc": loc, "msg": msg, "input": given}
    return {**error, "ctx": ctx} if ctx else error


def string(
    pattern: str = "", least: int = 0, most: int = 0, *, nullable: bool = False
) -> Field:
    """Return a constrained str."""

    def run(value: Any, loc: Loc) -> list[dict[str, Any]]:
        if value is None and nullable:
            return []
        if not isinstance(value, str):
            return [fault("string_type", loc, "Input should be a valid string", value)]
        if len(value) < least:
            text = f"String should have at least {least} character"
            return [fault("string_too_short", loc, text, value, min_length=least)]
        if most and len(value) > most:
            text = f"String should have at most {most} characters"
            return [fault("string_too_long", loc, text, value, max_length=most)]
        if pattern and not re.fullmatch(pattern.strip("^$"), value):
            text, kind = (
                f"String should match pattern '{pattern}'",
                "string_pattern_mismatch",
            )
            return [fault(kind, loc, text, value, pattern=pattern)]
        return []

    return run


def integer(least: int, most: int | None = None) -> Field:
    """Return a constrained int, in pydantic's lax mode."""

    def run(value: Any, loc: Loc) -> list[dict[str, Any]]:
        text = "Input should be a valid integer"
        if isinstance(value, str):
            if not re.fullmatch(r"\s*[+-]?\d{1,300}(\.0+)?\s*", value):
                text += ", unable to parse string as an integer"
                return [fault("int_parsing", loc, text, value)]
        elif not isinstance(value, (int, float)):
            return [fault("int_type", loc, text, value)]
        elif math.isnan(value) or abs(value) == float("inf"):
            return [
                fault("finite_number", loc, "Input should be a finite number", value)
            ]
        elif value != int(value):
            text += ", got a number with a fractional part"
            return [fault("int_from_float", loc, text, value)]
        if number(value) < least:
            text = f"Input should be greater than or equal to {least}"
            return [fault("greater_than_equal", loc, text, value, ge=least)]
        if most is not None and number(value) > most:
            text = f"Input should be less than or equal to {most}"
            return [fault("less_than_equal", loc, text, value, le=most)]
        return []

    return run


def number(value: Any) -> int:
    return int(value.partition(".")[0] if isinstance(value, str) else value)


def model(fields: dict[str, Field], optional: tuple[str, ...] = ()) -> Field:
    """Return a BaseModel with extra="forbid"."""

    def run(value: Any, loc: Loc) -> list[dict[str, Any]]:
        if not isinstance(value, dict):
            return [no_model(value, loc)]
        errors = []
        for name, field in fields.items():
            if name in value:
                errors += field(value[name], [*loc, name])
            elif name not in optional:
                errors.append(fault("missing", [*loc, name], "Field required", value))
        for name in value:
            if name not in fields:
                text = "Extra inputs are not permitted"
                errors.append(fault("extra_forbidden", [*loc, name], text, value[name]))
        return errors

    return run


def no_model(value: Any, loc: Loc) -> dict[str, Any]:
    """Return the error of a value that is no object."""
    text = "Input should be a valid dictionary or object to extract fields from"
    return fault("model_attributes_type", loc, text, value)


def union(discriminator: str, models: dict[str, Field]) -> Field:
    """Return a discriminated union."""

    def run(value: Any, loc: Loc) -> list[dict[str, Any]]:
        if not isinstance(value, dict):
            return [no_model(value, loc)]
        quoted = f"'{discriminator}'"
        if discriminator not in value:
            text = f"Unable to extract tag using discriminator {quoted}"
            return [
                fault("union_tag_not_found", loc, text, value, discriminator=quoted)
            ]
        tag = value[discriminator]
        if isinstance(tag, str) and tag in models:
            return models[tag](value, [*loc, tag])
        tags = ", ".join(f"'{name}'" for name in models)
        text = f"Input tag '{tag}' found using {quoted} does not match any of the expected "
        text += f"tags: {tags}"
        ctx = {"discriminator": quoted, "tag": str(tag), "expected_tags": tags}
        return [fault("union_tag_invalid", loc, text, value, **ctx)]

    return run


CLAIM = model({"gigId": string(GIG_ID)})
TEXT = model({"kind": string(), "content": string(least=1)})
FILE = model({"kind": string(), "url": string(), "sha256": string()})
OUTPUT = union("kind", {"text": TEXT, "file": FILE})
NOTE = string(most=280, nullable=True)
SUBMIT = model(
    {"holdId": string(HOLD_ID), "output": OUTPUT, "note": NOTE}, optional=("note",)
)
COMPLETE = model({"holdId": string(HOLD_ID), "revision": integer(1)})
LIMIT = integer(1, 50)


def refuse(status: int, detail: Any) -> Response:
    return Response(status, {"detail": detail})


class Gigs(Backend):
    """Gigs on hold with revisions, in camel case."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.holds: dict[str, dict[str, Any]] = {}
        self.gigs: dict[str, dict[str, Any]] = {}
        for at, (key, bounty, text) in enumerate(GIGS):
            self.gigs[key] = {
                "gigId": key,
                "brief": {"kind": "uppercase", "text": text},
                "bountyCredits": bounty,
                "state": "OPEN",
                "postedBy": f"usr_{'48'[at % 2]}n1v",
                "postedAt": f"2025-05-1{at}T07:3{at}:00Z",
            }

    def texts(self) -> dict[str, str]:
        return {key: gig["brief"]["text"] for key, gig in self.gigs.items()}

    def missing(self, request: Request) -> Response:
        return refuse(404, "Not Found")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        digest = hashlib.sha256(f"gig worker {len(self.agents)}".encode()).hexdigest()
        token = f"gt_{digest[:40]}"
        self.agents[token] = {"agent_id": f"agt_{digest[-8:]}", "credits": 100}
        return Response(200, {**self.agents[token], "access_token": token})

    def unauthorized(self, request: Request) -> Response | None:
        if request.token in self.agents:
            return None
        detail = "Invalid access token" if request.token else "Not authenticated"
        return Response(401, {"detail": detail}, {"WWW-Authenticate": "Bearer"})

    def tasks(self, request: Request) -> Response:
        limit = request.query.get("limit", "20")
        errors = LIMIT(limit, ["query", "limit"])
        answer = refuse(422, errors) if errors else self.listing(number(limit))
        return self.unauthorized(request) or answer

    def marketplace(self, request: Request) -> Response:
        return self.listing(50)

    def listing(self, limit: int) -> Response:
        rows = [gig for gig in self.gigs.values() if gig["state"] == "OPEN"]
        return Response(200, rows[:limit])

    def valid(self, request: Request, check: Field) -> dict[str, Any] | Response:
        """Return the body that the model takes; broken JSON is noticed before the token."""
        body: Any = None
        media_type = request.headers.get_content_type()
        if re.fullmatch(r"application/(.+\+)?json", media_type) and request.raw:
            try:
                body = request.json()
            except json.JSONDecodeError as error:
                where: Loc = ["body", error.pos]
                ctx = {"error": error.msg}
                return refuse(
                    422, [fault("json_invalid", where, "JSON decode error", {}, **ctx)]
                )
            except ValueError:
                return refuse(400, "There was an error parsing the body")
        elif request.raw:
            body = request.raw.decode(errors="replace")
        refusal = self.unauthorized(request)
        if refusal:
            return refusal
        if not request.raw:
            return refuse(422, [fault("missing", ["body"], "Field required", None)])
        errors = check(body, ["body"])
        return refuse(422, errors) if errors else body

    def claim(self, request: Request) -> Response:
        body = self.valid(request, CLAIM)
        if isinstance(body, Response):
            return body
        gig = self.gigs.get(body["gigId"])
        if gig is None:
            return refuse(404, "Gig not found")
        for key, hold in self.holds.items():
            if hold["gig"] is gig and gig["state"] != "SETTLED":
                detail = {"code": "gig_on_hold", "message": "Gig is already on hold"}
                mine = {"holdId": key} if hold["owner"] == request.token else {}
                return refuse(409, {**detail, **mine})
        if gig["state"] != "OPEN":
            return refuse(409, "Gig is no longer open")
        digest = hashlib.sha256(f"{gig['gigId']} {request.token}".encode()).hexdigest()
        key, gig["state"] = f"hold_{digest[:12]}", "ON_HOLD"
        self.holds[key] = {"gig": gig, "owner": request.token, "revision": 1}
        self.book.claimed(gig["gigId"])
        until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 1200))
        shown = {"holdId": key, "gigId": gig["gigId"], "state": "ON_HOLD"}
        return Response(200, {**shown, "revision": 1, "expiresAt": until})

    def held(self, request: Request, key: str) -> dict[str, Any] | Response:
        hold = self.holds.get(key)
        if hold is None or hold["owner"] != request.token:
            return refuse(404, "Hold not found")
        if hold["gig"]["state"] == "SETTLED":
            return refuse(409, "Hold is already settled")
        return hold

    def submit(self, request: Request) -> Response:
        body = self.valid(request, SUBMIT)
        if isinstance(body, Response):
            return body
        hold = self.held(request, body["holdId"])
        if isinstance(hold, Response):
            return hold
        gig, output = hold["gig"], body["output"]
        if output["kind"] != "text":
            return refuse(422, "Output rejected: this gig is delivered as text")
        if output["content"] != gig["brief"]["text"].upper():
            return refuse(
                422, "Output rejected: content is not the gig's text in upper case"
            )
        gig["state"], hold["revision"] = "DELIVERED", hold["revision"] + 1
        digest = hashlib.sha256(f"{body['holdId']} {hold['revision']}".encode())
        shown = {
            "deliveryId": f"dlv_{digest.hexdigest()[:12]}",
            "holdId": body["holdId"],
        }
        return Response(
            200, {**shown, "state": gig["state"], "revision": hold["revision"]}
        )

    def complete(self, request: Request) -> Response:
        body = self.valid(request, COMPLETE)
        if isinstance(body, Response):
            return body
        hold = self.held(request, body["holdId"])
        if isinstance(hold, Response):
            return hold
        gig, revision = hold["gig"], number(body["revision"])
        if gig["state"] != "DELIVERED":
            return refuse(409, "Nothing has been delivered on this hold")
        if revision != hold["revision"]:
            words = f"hold is at revision {hold['revision']}, request has {revision}"
            return refuse(409, f"Revision mismatch: {words}")
        agent, bounty, gig["state"] = (
            self.agents[request.token],
            gig["bountyCredits"],
            "SETTLED",
        )
        agent["credits"] += bounty
        self.book.pay(gig["gigId"], bounty)
        money = {"paidCredits": bounty, "balanceCredits": agent["credits"]}
        return Response(200, {"holdId": body["holdId"], "state": "SETTLED", **money})
