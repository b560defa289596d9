"""Drayline: a dispatcher of waybills that leases jobs by the minute.

In the manner of an Express application: hand-written middleware that stops at the first
fault, and one error class that the last middleware writes out.
"""

import hashlib
import json
import re
import time
import uuid
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

JOBS = [
    ("Rotterdam manifest", 18, "forty crates of pears, keep below 4 degrees"),
    ("Gate sign", 6, "all trucks stop here before the weighbridge"),
    ("Seal remark", 11, "seal 7719-b intact on arrival, one dent left side"),
    ("Driver message", 25, "use dock 12 after nine; dock 11 is being repaired"),
    ("Customs line", 14, "used bicycle parts (steel), 312 kg, no batteries"),
]
MAX_OPEN_LEASES = 2


class DraylineError(Exception):
    """class DraylineError extends Error { constructor(status, code, message, extra) }."""

    def __init__(self, status: int, code: str, message: str, **extra: Any):  # noqa: ANN204
        super().__init__(message)
        self.status, self.code, self.message, self.extra = status, code, message, extra


class Context:
    """req: the parsed body, and the agent once requireAgent has run."""

    def __init__(self, request: Request):  # noqa: ANN204
        self.request = request
        self.body: Any = {}
        self.agent: dict[str, Any] = {}
        self.lease: dict[str, Any] = {}


Step = Callable[[Context], None]


def parse_json(ctx: Context) -> None:
    """express.json(): what is not application/json leaves an empty body."""
    media_type = (ctx.request.headers.get("Content-Type") or "").split(";")[0].strip()
    if media_type.lower() != "application/json" or not ctx.request.raw:
        return
    try:
        ctx.body = ctx.request.json()
    except UnicodeDecodeError:
        raise DraylineError(400, "BAD_JSON", "Body is not valid UTF-8") from None
    except json.JSONDecodeError as error:
        message = "Unexpected end of JSON input"
        if error.pos < len(error.doc):
            token = error.doc[error.pos]
            message = f"Unexpected token {token} in JSON at position {error.pos}"
        raise DraylineError(400, "BAD_JSON", message) from None
    if not isinstance(ctx.body, (dict, list)):
        first = ctx.request.raw.decode().lstrip()[0]
        raise DraylineError(
            400, "BAD_JSON", f"Unexpected token {first} in JSON at position 0"
        )


def require(name: str, hint: str, test: Callable[[Any], bool]) -> Step:
    """require('jobId', 'a 24 character hex string', isObjectId)."""

    def step(ctx: Context) -> None:
        body = ctx.body if isinstance(ctx.body, dict) else {}
        if body.get(name) in (None, ""):
            message = f"`{name}` is required and must be {hint}"
            raise DraylineError(400, "MISSING_FIELD", message, field=name)
        if not test(body[name]):
            raise DraylineError(
                400, "INVALID_FIELD", f"`{name}` must be {hint}", field=name
            )

    return step


def is_object_id(value: Any) -> bool:
    return isinstance(value, str) and bool(re.fullmatch("[0-9a-fA-F]{24}", value))


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def iso(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(seconds))


JOB_ID = require(
    "jobId", "a 24 character hex string (the `_id` of a job)", is_object_id
)
ETA = require(
    "etaMinutes",
    "an integer between 5 and 240",
    lambda v: type(v) is int and 4 < v < 241,
)
LEASE_ID = require("leaseId", "the id of one of your leases", is_text)
OUTPUT = require("output", "a string", is_text)
RECEIPT = require(
    "receiptNumber", "the number of the receipt that delivery returned", is_text
)


class Drayline(Backend):
    """Jobs are leased, their text comes with the lease, and delivery pays at once."""

    def __init__(self) -> None:
        super().__init__()
        self.by_token: dict[str, dict[str, Any]] = {}
        self.leases: dict[str, dict[str, Any]] = {}
        self.jobs: dict[str, dict[str, Any]] = {}
        self.lines: dict[str, str] = {}
        for number, (title, reward, line) in enumerate(JOBS):
            key = (
                f"66a1f0{hashlib.md5(title.encode()).hexdigest()[:12]}{number + 40:06x}"  # noqa: S324
            )
            self.lines[key] = line
            self.jobs[key] = {
                "_id": key,
                "title": title,
                "kind": "uppercase",
                "instructions": "Take the lease, then upper-case its waybillText.",
                "reward": {"amount": reward, "unit": "credits"},
                "state": "available",
                "createdAt": iso(1721800000 + 3600 * number),
                "__v": 0,
            }

    def texts(self) -> dict[str, str]:
        return dict(self.lines)

    def run(self, request: Request, *steps: Any) -> Response:
        ctx = Context(request)
        request_id = str(uuid.uuid4())
        headers = {
            "X-Powered-By": "Express",
            "X-Request-Id": request_id,
            "Content-Type": "application/json; charset=utf-8",
        }
        try:
            parse_json(ctx)
            for step in steps[:-1]:
                step(ctx)
            body = steps[-1](ctx)
            if isinstance(body, list):
                headers["X-Total-Count"] = str(self.available())
            return Response(200, body, headers)
        except DraylineError as error:
            failure = {
                "name": "DraylineError",
                "code": error.code,
                "message": error.message,
            }
            failure |= error.extra
            body = {"success": False, "error": failure, "requestId": request_id}
            return Response(error.status, body, headers)

    def require_agent(self, ctx: Context) -> None:
        if not ctx.request.headers.get("Authorization"):
            raise DraylineError(
                401, "NO_TOKEN", "No bearer token in Authorization header"
            )
        if ctx.request.token not in self.by_token:
            raise DraylineError(
                401, "BAD_TOKEN", "Token is unknown or has been revoked"
            )
        ctx.agent = self.by_token[ctx.request.token]

    def load_lease(self, ctx: Context) -> None:
        lease = self.leases.get(ctx.body["leaseId"])
        if not lease:
            raise DraylineError(
                404, "LEASE_NOT_FOUND", f"No lease with id {ctx.body['leaseId']}"
            )
        if lease["agentId"] != ctx.agent["agentId"]:
            raise DraylineError(
                403, "NOT_YOUR_LEASE", "This lease is held by another agent"
            )
        ctx.lease = lease

    def available(self) -> int:
        return sum(job["state"] == "available" for job in self.jobs.values())

    def register(self, request: Request) -> Response:
        def handler(ctx: Context) -> Any:  # noqa: ARG001
            self.book.registrations += 1
            agent_id, token = str(uuid.uuid4()), f"dl_live_{uuid.uuid4().hex}"
            self.by_token[token] = {"agentId": agent_id, "wallet": 100}
            return {"agent_id": agent_id, "access_token": token, "credits": 100}

        return self.run(request, handler)

    def list_jobs(self, ctx: Context) -> Any:
        limit = ctx.request.query.get("limit", "50")
        if not re.fullmatch("[0-9]{1,3}", limit) or not 1 <= int(limit) <= 100:
            message = "`limit` must be an integer between 1 and 100"
            raise DraylineError(400, "INVALID_QUERY", message, field="limit")
        jobs = [job for job in self.jobs.values() if job["state"] == "available"]
        return jobs[: int(limit)]

    def tasks(self, request: Request) -> Response:
        return self.run(request, self.require_agent, self.list_jobs)

    def marketplace(self, request: Request) -> Response:
        return self.run(request, self.list_jobs)

    def claim(self, request: Request) -> Response:
        def handler(ctx: Context) -> Any:
            job = self.jobs.get(ctx.body["jobId"].lower())
            if not job:
                raise DraylineError(
                    404, "JOB_NOT_FOUND", f"No job with id {ctx.body['jobId']}"
                )
            if job["state"] != "available":
                message = f"Job {job['_id']} is already {job['state']}"
                raise DraylineError(409, "JOB_TAKEN", message, state=job["state"])
            mine = [
                lease["leaseId"]
                for lease in self.leases.values()
                if lease["agentId"] == ctx.agent["agentId"]
                and lease["status"] == "active"
            ]
            if len(mine) >= MAX_OPEN_LEASES:
                message = f"You already hold {len(mine)} active leases; deliver one of them first"
                raise DraylineError(429, "LEASE_LIMIT", message, activeLeases=mine)
            job["state"] = "leased"
            self.book.claimed(job["_id"])
            key, agent = f"ls_{uuid.uuid4().hex[:16]}", ctx.agent["agentId"]
            lease = {
                "leaseId": key,
                "jobId": job["_id"],
                "agentId": agent,
                "status": "active",
                "waybillText": self.lines[job["_id"]],
                "expiresAt": iso(time.time() + 60 * ctx.body["etaMinutes"]),
            }
            self.leases[key] = lease
            return {"success": True, "lease": lease}

        return self.run(request, self.require_agent, JOB_ID, ETA, handler)

    def submit(self, request: Request) -> Response:
        def handler(ctx: Context) -> Any:
            lease = ctx.lease
            if lease["status"] != "active":
                message = f"Lease {lease['leaseId']} is {lease['status']}, not active"
                raise DraylineError(409, "LEASE_NOT_ACTIVE", message)
            if ctx.body["output"] != self.lines[lease["jobId"]].upper():
                message = "Output rejected: it is not the upper-cased waybillText"
                raise DraylineError(422, "OUTPUT_REJECTED", message, field="output")
            job = self.jobs[lease["jobId"]]
            amount = job["reward"]["amount"]
            job["state"] = lease["status"] = "delivered"
            self.book.pay(job["_id"], amount)
            ctx.agent["wallet"] += amount
            lease["receiptNumber"] = f"R-{70210 + len(self.book.paid)}"
            receipt = {"number": lease["receiptNumber"], "credited": amount}
            return {
                "success": True,
                "receipt": receipt,
                "wallet": {"balance": ctx.agent["wallet"]},
            }

        steps = (self.require_agent, LEASE_ID, OUTPUT, self.load_lease)
        return self.run(request, *steps, handler)

    def complete(self, request: Request) -> Response:
        def handler(ctx: Context) -> Any:
            lease = ctx.lease
            if lease["status"] != "delivered":
                message = (
                    f"Lease {lease['leaseId']} is {lease['status']}, not delivered"
                )
                raise DraylineError(409, "LEASE_NOT_DELIVERED", message)
            if ctx.body["receiptNumber"] != lease["receiptNumber"]:
                message = "`receiptNumber` does not belong to this lease"
                raise DraylineError(422, "RECEIPT_MISMATCH", message)
            self.jobs[lease["jobId"]]["state"] = lease["status"] = "closed"
            return {"success": True, "lease": lease}

        steps = (self.require_agent, LEASE_ID, self.load_lease, RECEIPT)
        return self.run(request, *steps, handler)

    def missing(self, request: Request) -> Response:
        def handler(ctx: Context) -> Any:  # noqa: ARG001
            raise DraylineError(
                404, "ROUTE_NOT_FOUND", f"Cannot {request.method} {request.path}"
            )

        return self.run(request, handler)
