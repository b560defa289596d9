"""A platform team's work queue in plain Go: net/http, encoding/json, leases and fences.

A job is leased for a Go duration ("90s"), its payload comes with the lease only, and what
is written under a lease has to show the lease's fencing token. Claiming a job again that
one holds is the heartbeat. A lease that runs out puts the job back into the queue. Bodies
are decoded with DisallowUnknownFields; refusals are {"error": "..."} with err.Error() in
it, so a missing field is a zero value that some check further on trips over.
"""

import json
import re
import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from typing import Any

from tests.foreign.backend import Backend, Request, Response

JOBS = (
    ("uc-004411", 5, "the night shift counts the crates twice"),
    ("uc-004412", 3, "rollers hum under a parcel for lisbon"),
    ("uc-004413", 8, "no belt is longer than its patience"),
    ("uc-004415", 4, "stack the blue bins by the third door"),
    ("uc-004416", 6, "a scanner blinks and forgets the label"),
    ("uc-004419", 2, "forklift seven prefers the left aisle"),
    ("uc-004420", 7, "weigh it, tape it, send it on its way"),
    ("uc-004421", 5, "the last pallet smells of oranges"),
    ("uc-004424", 9, "somebody left a kite in bay eleven"),
    ("uc-004425", 4, "hold the truck until the rain is over"),
    ("uc-004426", 3, "sort small before large before fragile"),
)
KIND = "text.upper"
SHORTEST, LONGEST = 10.0, 600.0
LEASES_PER_WORKER = 4
UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}

REQUESTS: dict[str, dict[str, str]] = {
    "leaseRequest": {"job_id": "string", "lease_for": "string"},
    "outputRequest": {"lease_id": "string", "fence": "int64", "output": "string"},
    "ackRequest": {"lease_id": "string", "fence": "int64"},
}


class Refusal(Exception):
    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.response = Response(status, {"error": words})


def rfc3339(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def shown(seconds: float) -> str:
    """Write a duration as time.Duration does."""
    if abs(seconds) < 1:
        return f"{seconds * 1000:g}ms" if seconds else "0s"
    sign, seconds = ("-" if seconds < 0 else ""), abs(seconds)
    hours, rest = divmod(seconds, 3600)
    minutes, rest = divmod(rest, 60)
    text = f"{rest:g}s"
    if hours or minutes:
        text = f"{minutes:g}m{text}"
    return sign + (f"{hours:g}h{text}" if hours else text)


def parse_duration(text: str) -> float:
    """Do as time.ParseDuration, with its errors."""
    quoted = json.dumps(text, ensure_ascii=False)
    rest = text[1:] if text[:1] in ("+", "-") else text
    if rest == "0":
        return 0.0
    if not rest:
        raise ValueError(f"time: invalid duration {quoted}")
    total = 0.0
    while rest:
        number = re.match(r"\d+\.?\d*|\.\d+", rest)
        if number is None:
            raise ValueError(f"time: invalid duration {quoted}")
        rest = rest[number.end() :]
        unit = re.match(r"[^.\d]*", rest)
        name = unit.group() if unit else ""
        if not name:
            raise ValueError(f"time: missing unit in duration {quoted}")
        if name not in UNITS:
            raise ValueError(f'time: unknown unit "{name}" in duration {quoted}')
        total += float(number.group()) * UNITS[name]
        rest = rest[len(name) :]
    return -total if text.startswith("-") else total


def kind_of(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)):
        return "number"
    return {str: "string", list: "array", dict: "object"}[type(value)]  # type: ignore[index]


def decode(request: Request, name: str) -> dict[str, Any]:
    """Do as json.Decoder with DisallowUnknownFields: the first trouble in order counts."""
    fields = REQUESTS[name]
    raw = request.raw.decode(errors="replace")
    if not raw.strip():
        raise Refusal(400, "decode body: EOF")
    try:
        body = json.JSONDecoder().raw_decode(raw.lstrip())[0]
    except json.JSONDecodeError as error:
        text = raw.lstrip()
        if error.pos >= len(text.rstrip()):
            raise Refusal(400, "decode body: unexpected EOF") from None
        where = "looking for beginning of value"
        if "property name" in error.msg:
            where = "looking for beginning of object key string"
        elif "':'" in error.msg:
            where = "after object key"
        elif "','" in error.msg:
            where = "after object key:value pair"
        sign = text[error.pos]
        raise Refusal(400, f"decode body: invalid character '{sign}' {where}") from None
    found: dict[str, Any] = {f: "" if t == "string" else 0 for f, t in fields.items()}
    if body is None:
        return found
    if not isinstance(body, dict):
        words = (
            f"json: cannot unmarshal {kind_of(body)} into Go value of type queue.{name}"
        )
        raise Refusal(400, f"decode body: {words}")
    for key, value in body.items():
        field = key if key in fields else key.lower()
        if field not in fields:
            raise Refusal(400, f'decode body: json: unknown field "{key}"')
        if value is None:
            continue
        wanted, got = fields[field], kind_of(value)
        right = got == "string" if wanted == "string" else got == "number"
        if right and wanted == "int64" and not isinstance(value, int):
            right, got = False, f"number {value}"
        if not right:
            raise Refusal(
                400,
                f"decode body: json: cannot unmarshal {got} into Go struct field "
                f"{name}.{field} of type {wanted}",
            )
        found[field] = value
    return found


def handler(inner: Callable[..., Response]) -> Callable[..., Response]:
    @wraps(inner)
    def outer(self: "ConveyorLeases", request: Request) -> Response:
        try:
            self.reap()
            return inner(self, request)
        except Refusal as refusal:
            return refusal.response

    return outer


class ConveyorLeases(Backend):
    """Eleven jobs behind a lease table."""

    def __init__(self) -> None:
        super().__init__()
        self.started = time.time() - 5400
        self.workers: dict[str, dict[str, Any]] = {}
        self.jobs: dict[str, dict[str, Any]] = {
            job: {
                "job_id": job,
                "kind": KIND,
                "state": "ready",
                "bounty": bounty,
                "attempts": 0,
                "max_lease": shown(LONGEST),
                "enqueued_at": rfc3339(self.started + 31 * n),
            }
            for n, (job, bounty, _) in enumerate(JOBS)
        }
        self.leases: dict[str, dict[str, Any]] = {}
        self.fence = 70312

    def texts(self) -> dict[str, str]:
        return {job: text for job, _, text in JOBS}

    def reap(self) -> None:
        """Put the jobs of leases that ran out back into the queue."""
        now = time.time()
        for lease in self.leases.values():
            if lease["state"] in ("held", "output") and lease["expires"] <= now:
                lease["state"] = "expired"
                self.jobs[lease["job_id"]]["state"] = "ready"
                self.book.held.discard(lease["job_id"])

    def worker(self, request: Request) -> dict[str, Any]:
        if not request.token:
            raise Refusal(401, "missing bearer token")
        if request.token not in self.workers:
            raise Refusal(401, "unknown bearer token")
        return self.workers[request.token]

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(16)
        self.workers[token] = {"id": f"wrk-{secrets.token_hex(4)}", "credits": 100}
        return Response(
            200,
            {
                "agent_id": self.workers[token]["id"],
                "access_token": token,
                "credits": 100,
            },
        )

    def page(self, request: Request) -> Response:
        asked = request.query.get("limit", "5")
        if not re.fullmatch(r"[+-]?\d+", asked):
            quoted = json.dumps(asked)
            words = f"limit: strconv.Atoi: parsing {quoted}: invalid syntax"
            raise Refusal(400, words)
        limit = max(1, min(int(asked), 50))
        after = request.query.get("after", "")
        ready = [j for j in self.jobs.values() if j["state"] == "ready"]
        rest = [j for j in ready if j["job_id"] > after]
        body: dict[str, Any] = {
            "kinds": {KIND: "output is payload.text in upper case"},
            "depth": len(ready),
            "jobs": [dict(j) for j in rest[:limit]],
        }
        if len(rest) > limit:
            body["next_after"] = rest[limit - 1]["job_id"]
        return Response(200, body)

    @handler
    def marketplace(self, request: Request) -> Response:
        return self.page(request)

    @handler
    def tasks(self, request: Request) -> Response:
        self.worker(request)
        return self.page(request)

    def lease_view(self, lease: dict[str, Any]) -> dict[str, Any]:
        return {
            "lease_id": lease["lease_id"],
            "job_id": lease["job_id"],
            "fence": lease["fence"],
            "attempt": lease["attempt"],
            "expires_at": rfc3339(lease["expires"]),
        }

    @handler
    def claim(self, request: Request) -> Response:
        """Lease a job, or prolong the lease of a job that the worker holds."""
        worker = self.worker(request)
        body = decode(request, "leaseRequest")
        if not body["job_id"]:
            raise Refusal(400, "job_id: must not be empty")
        try:
            wanted = parse_duration(body["lease_for"])
        except ValueError as error:
            raise Refusal(400, f"lease_for: {error}") from None
        if not SHORTEST <= wanted <= LONGEST:
            words = f"must be between {shown(SHORTEST)} and {shown(LONGEST)}"
            raise Refusal(400, f"lease_for: {words}, got {shown(wanted)}")
        job = self.jobs.get(body["job_id"])
        if job is None:
            raise Refusal(404, f"no job {json.dumps(body['job_id'])}")
        payload = {"payload": {"text": self.texts()[job["job_id"]]}}
        if job["state"] == "done":
            raise Refusal(409, f"job {job['job_id']} is done")
        if job["state"] == "leased":
            lease = next(
                entry
                for entry in self.leases.values()
                if entry["job_id"] == job["job_id"]
                and entry["state"] in ("held", "output")
            )
            if lease["worker"] != worker["id"]:
                until = rfc3339(lease["expires"])
                raise Refusal(409, f"job {job['job_id']} is leased until {until}")
            lease["expires"] = time.time() + wanted
            return Response(200, self.lease_view(lease) | payload)
        mine = [
            entry
            for entry in self.leases.values()
            if entry["worker"] == worker["id"] and entry["state"] in ("held", "output")
        ]
        if len(mine) >= LEASES_PER_WORKER:
            words = f"worker {worker['id']} holds {len(mine)} leases, the limit is"
            raise Refusal(429, f"{words} {LEASES_PER_WORKER}: ack one first")
        self.fence += 3
        job["state"] = "leased"
        job["attempts"] += 1
        lease = {
            "lease_id": f"ls_{secrets.token_hex(6)}",
            "job_id": job["job_id"],
            "worker": worker["id"],
            "fence": self.fence,
            "attempt": job["attempts"],
            "expires": time.time() + wanted,
            "state": "held",
        }
        self.leases[lease["lease_id"]] = lease
        self.book.claimed(job["job_id"])
        return Response(200, self.lease_view(lease) | payload)

    def lease_of(self, worker: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
        if not body["lease_id"]:
            raise Refusal(400, "lease_id: must not be empty")
        lease = self.leases.get(body["lease_id"])
        if lease is None or lease["worker"] != worker["id"]:
            raise Refusal(404, f"no lease {json.dumps(body['lease_id'])}")
        if lease["state"] == "expired":
            at = rfc3339(lease["expires"])
            raise Refusal(410, f"lease {lease['lease_id']} expired at {at}")
        if body["fence"] != lease["fence"]:
            words = f"got {body['fence']}, lease {lease['lease_id']} was granted with"
            raise Refusal(412, f"fence: {words} {lease['fence']}")
        return lease

    @handler
    def submit(self, request: Request) -> Response:
        """Store the output if the checker likes it; it may be replaced until the ack."""
        lease = self.lease_of(
            self.worker(request), body := decode(request, "outputRequest")
        )
        if lease["state"] == "acked":
            raise Refusal(409, f"job {lease['job_id']} is done")
        if not body["output"]:
            raise Refusal(422, "output: must not be empty")
        wanted, got = self.texts()[lease["job_id"]].upper(), body["output"].strip()
        if got != wanted:
            at = next(
                (
                    n
                    for n, (a, b) in enumerate(zip(got, wanted, strict=False))
                    if a != b
                ),
                min(len(got), len(wanted)),
            )
            raise Refusal(422, f"output: checker {KIND}: differs at offset {at}")
        lease["state"] = "output"
        return Response(
            200, self.lease_view(lease) | {"state": "output_stored", "bytes": len(got)}
        )

    @handler
    def complete(self, request: Request) -> Response:
        """Ack the job, once; acking again is answered the same."""
        worker = self.worker(request)
        lease = self.lease_of(worker, decode(request, "ackRequest"))
        job = self.jobs[lease["job_id"]]
        if lease["state"] == "held":
            raise Refusal(409, f"job {job['job_id']} has no output yet")
        if lease["state"] == "output":
            lease["state"], job["state"] = "acked", "done"
            worker["credits"] += job["bounty"]
            self.book.pay(job["job_id"], job["bounty"])
        return Response(
            200,
            {
                "job_id": job["job_id"],
                "state": "done",
                "credited": job["bounty"],
                "balance": worker["credits"],
            },
        )
