"""A Rust service on actix-web: serde's line of text, validator's map, and leases.

What serde cannot read is 400 and plain text, `Json deserialize error: ...`, one fault at a
time, with line and column; what it can read and `validator` does not like is 422 and a map
of field to a list of {code, message, params}. A claim is a lease of a few seconds. Claiming
again extends it; one that ran out is 410, and its job is free once more, under a new lease.
Delivering and finishing show the lease. Times are milliseconds, identifiers numbers.
"""

import json
import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Json = dict[str, Any]

LINES = (
    "the tide gauge lost its pencil",
    "rust grows on the starboard rail",
    "a gull stole the cook's cap",
    "tie the skiff to the third ring",
    "fog again at half past four",
    "the chart ends before the reef",
    "two bells mean change of watch",
    "oil the winch and say nothing",
    "the anchor came up with a shoe",
    "every lantern has a number",
)
LEASE_SECONDS = 4.0
NAMES = {"u64": int, "a string": str}
CLAIM: Json = {"job": "u64"}
DELIVER: Json = {"lease_id": "a string", "output": "a string"}
FINISH: Json = {"lease_id": "a string"}


class RefusedError(Exception):
    def __init__(self, status: int, body: Any) -> None:
        super().__init__(str(body))
        self.status, self.body = status, body


def shown(value: object) -> str:
    """Return a value as serde's Unexpected prints it."""
    if isinstance(value, bool):
        return f"boolean `{str(value).lower()}`"
    if isinstance(value, str):
        return f"string {json.dumps(value)}"
    if isinstance(value, int):
        return f"integer `{value}`"
    if isinstance(value, float):
        return f"floating point `{value}`"
    return "null" if value is None else "map" if isinstance(value, dict) else "sequence"


def deserialize(raw: bytes, struct: Json) -> Json:
    """Return the struct that serde makes of a body."""
    text = raw.decode(errors="replace")
    end = f"at line 1 column {len(text)}"
    try:
        body = json.loads(text)
    except ValueError:
        told = f"EOF while parsing a value at line 1 column {len(text)}"
        raise RefusedError(400, f"Json deserialize error: {told}") from None
    if not isinstance(body, dict):
        told = f"invalid type: {shown(body)}, expected struct {end}"
        raise RefusedError(400, f"Json deserialize error: {told}")
    for name, wanted in struct.items():
        if name in body and (
            not isinstance(body[name], NAMES[wanted]) or isinstance(body[name], bool)
        ):
            told = f"invalid type: {shown(body[name])}, expected {wanted} {end}"
            raise RefusedError(400, f"Json deserialize error: {told}")
    for name in struct:
        if name not in body:
            told = f"missing field `{name}` {end}"
            raise RefusedError(400, f"Json deserialize error: {told}")
    return body


def invalid(name: str, code: str, **params: Any) -> RefusedError:
    """Return validator::ValidationErrors as it serializes."""
    return RefusedError(
        422, {name: [{"code": code, "message": None, "params": params}]}
    )


class ActixLeases(Backend):
    """Ten jobs."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens: set[str] = set()
        self.jobs: dict[int, Json] = {
            8800 + n: {
                "id": 8800 + n,
                "input": line,
                "op": "upper",
                "pay": n % 3 + 2,
                "enqueued_ms": 1750000000000 + n,
            }
            for n, line in enumerate(LINES)
        }
        self.leases: dict[str, Json] = {}
        self.leased: dict[int, str] = {}  # job -> its latest lease

    def texts(self) -> dict[str, str]:
        return {str(key): job["input"] for key, job in self.jobs.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(32)
        self.tokens.add(token)
        told = {"agent_id": secrets.token_hex(4), "access_token": token, "credits": 100}
        return Response(200, told)

    def state(self, job: int) -> str:
        lease = self.leases.get(self.leased.get(job, ""))
        if lease is None:
            return "ready"
        if lease["state"] == "held" and lease["ends"] < time.monotonic():
            return "ready"
        return "leased" if lease["state"] == "held" else str(lease["state"])

    def tasks(self, request: Request) -> Response:
        jobs = [{**job, "state": self.state(key)} for key, job in self.jobs.items()]
        return Response(200, {"jobs": jobs})

    def handled(self, request: Request, struct: Json, handler: Any) -> Response:
        try:
            self.authorize(request)
            return Response(200, handler(deserialize(request.raw, struct)))
        except RefusedError as refused:
            return Response(refused.status, refused.body)

    def authorize(self, request: Request) -> None:
        if request.token not in self.tokens:
            raise RefusedError(401, {"code": "unauthorized"})

    def claim(self, request: Request) -> Response:
        return self.handled(request, CLAIM, self.on_claim)

    def on_claim(self, body: Json) -> Json:
        job = body["job"]
        if job not in self.jobs:
            raise RefusedError(404, {"code": "job_not_found"})
        state, key = self.state(job), self.leased.get(job, "")
        if state == "ready":
            if key:
                self.book.held.discard(str(job))
            key = f"ls_{secrets.token_hex(10)}"
            self.leases[key] = {"job": job, "state": "held"}
            self.leased[job] = key
            self.book.claimed(str(job))
        elif state != "leased":
            raise RefusedError(409, {"code": f"job_{state}"})
        self.leases[key]["ends"] = time.monotonic() + LEASE_SECONDS
        ends = int((time.time() + LEASE_SECONDS) * 1000)
        return {"lease": {"id": key, "job": job, "expires_ms": ends}}

    def lease(self, key: str) -> Json:
        if not key.startswith("ls_"):
            raise invalid("lease_id", "lease_format", value=key)
        if key not in self.leases:
            raise RefusedError(404, {"code": "lease_not_found"})
        lease = self.leases[key]
        late = lease["state"] == "held" and lease["ends"] < time.monotonic()
        if late or self.leased[lease["job"]] != key:
            raise RefusedError(410, {"code": "lease_expired"})
        return lease

    def submit(self, request: Request) -> Response:
        return self.handled(request, DELIVER, self.on_submit)

    def on_submit(self, body: Json) -> Json:
        if not body["output"]:
            raise invalid("output", "length", min=1, max=4000, value="")
        lease = self.lease(body["lease_id"])
        if lease["state"] != "held":
            raise RefusedError(409, {"code": "already_delivered"})
        if body["output"] != self.jobs[lease["job"]]["input"].upper():
            raise RefusedError(409, {"code": "output_mismatch"})
        lease["state"] = "delivered"
        return {"lease_id": body["lease_id"], "state": "delivered"}

    def complete(self, request: Request) -> Response:
        return self.handled(request, FINISH, self.on_complete)

    def on_complete(self, body: Json) -> Json:
        lease = self.lease(body["lease_id"])
        if lease["state"] != "delivered":
            raise RefusedError(409, {"code": f"lease_{lease['state']}"})
        lease["state"] = "finished"
        job = self.jobs[lease["job"]]
        self.book.pay(str(job["id"]), job["pay"])
        return {"lease_id": body["lease_id"], "state": "finished", "paid": job["pay"]}
