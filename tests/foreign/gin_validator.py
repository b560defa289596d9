"""A Go service with Gin and validator/v10: refusals speak of Go's structs, not of JSON.

The validator names the struct's field (`ClaimInput.JobID`), which is `job_id` on the wire,
and reports every fault on a line of its own; a wrong type is encoding/json's own sentence.
Statuses are iota constants. A claim is a lease, and whatever follows has to show it. The
listing is paged by number and holds what is taken as well.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

PROMPTS = (
    "the gopher digs a second tunnel",
    "a channel closes only once",
    "defer the dishes until you leave",
    "two routines race for one biscuit",
    "the garbage collector whistles",
    "never trust a nil umbrella",
    "slices of bread share one loaf",
    "the mutex guards the cookie jar",
    "select the quietest of three doors",
    "panic in the kitchen, recover in bed",
    "every pointer dreams of a value",
    "an empty interface fits any hat",
)
OPEN, LEASED, SUBMITTED, SETTLED = range(1, 5)
PER_PAGE = 5
GO_KINDS = {str: "string", int: "number", bool: "bool", list: "array", dict: "object"}


class GinError(Exception):
    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status, self.words = status, words


def bound(
    request: Request, struct: str, fields: dict[str, tuple[str, type]]
) -> dict[str, Any]:
    """Bind the body as ShouldBindJSON does: the first wrong type, then all that is absent."""
    try:
        body = request.json()
    except ValueError as fault:
        raise GinError(400, "invalid character in literal") from fault
    if not isinstance(body, dict):
        raise GinError(400, f"json: cannot unmarshal array into Go value of {struct}")
    for name, (_, kind) in fields.items():
        value = body.get(name)
        if value is not None and not isinstance(value, kind):
            found, go = GO_KINDS.get(type(value), "number"), "string"
            go = {str: "string", int: "int64"}.get(kind, "map[string]interface {}")
            raise GinError(
                400,
                f"json: cannot unmarshal {found} into Go struct field "
                f"{struct}.{name} of type {go}",
            )
    absent = [
        f"Key: '{struct}.{go}' Error:Field validation for '{go}' failed on the "
        "'required' tag"
        for name, (go, _) in fields.items()
        if not body.get(name)
    ]
    if absent:
        raise GinError(400, "\n".join(absent))
    return body


class GinValidator(Backend):
    """Twelve jobs in Postgres, leased to workers."""

    def __init__(self) -> None:
        super().__init__()
        self.jobs: dict[str, dict[str, Any]] = {}
        for n, prompt in enumerate(PROMPTS):
            job = f"job_{secrets.token_hex(8)}"
            status = OPEN
            self.jobs[job] = {
                "id": job,
                "queue": "default",
                "status": status,
                "attempts": 0,
                "payload": {"prompt": prompt},
                "bounty": n % 3 + 2,
            }
        self.leases: dict[str, str] = {}
        self.workers: dict[str, str] = {}

    def texts(self) -> dict[str, str]:
        return {job: one["payload"]["prompt"] for job, one in self.jobs.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        worker, token = secrets.token_hex(6), secrets.token_urlsafe(32)
        self.workers[token] = worker
        return Response(
            200, {"agent_id": worker, "access_token": token, "credits": 100}
        )

    def tasks(self, request: Request) -> Response:
        if request.token not in self.workers:
            return Response(401, {"error": "missing or malformed token"})
        page = max(int(request.query.get("page", "1") or 1), 1)
        every = [*self.jobs.values()]
        start = (page - 1) * PER_PAGE
        return Response(
            200,
            {
                "jobs": every[start : start + PER_PAGE],
                "pagination": {
                    "page": page,
                    "per_page": PER_PAGE,
                    "total_pages": -(-len(every) // PER_PAGE),
                    "total_items": len(every),
                },
            },
        )

    def answered(self, request: Request, run: Any) -> Response:
        if request.token not in self.workers:
            return Response(401, {"error": "missing or malformed token"})
        try:
            return Response(200, run(request))
        except GinError as no:
            return Response(no.status, {"error": no.words})

    def leased(self, body: dict[str, Any]) -> dict[str, Any]:
        job = self.jobs.get(self.leases.get(body["lease"], ""))
        if job is None:
            raise GinError(409, "lease expired or unknown")
        return job

    def claim(self, request: Request) -> Response:
        return self.answered(request, self.on_claim)

    def on_claim(self, request: Request) -> Any:
        body = bound(request, "ClaimInput", {"job_id": ("JobID", str)})
        job = self.jobs.get(body["job_id"])
        if job is None:
            raise GinError(404, "job not found")
        if job["status"] != OPEN:
            raise GinError(409, "job is not open")
        lease = f"ls-{secrets.token_hex(10)}"
        self.leases[lease] = job["id"]
        job.update(status=LEASED, attempts=job["attempts"] + 1)
        self.book.claimed(job["id"])
        return {"job": job, "lease": lease, "lease_ttl_seconds": 600}

    def submit(self, request: Request) -> Response:
        return self.answered(request, self.on_submit)

    def on_submit(self, request: Request) -> Any:
        fields: dict[str, tuple[str, type]] = {
            "lease": ("Lease", str),
            "output": ("Output", str),
        }
        body = bound(request, "SubmitInput", fields)
        job = self.leased(body)
        if body["output"] != job["payload"]["prompt"].upper():
            raise GinError(409, "output rejected: does not match the expectation")
        job["status"] = max(job["status"], SUBMITTED)
        return {"job": job}

    def complete(self, request: Request) -> Response:
        return self.answered(request, self.on_complete)

    def on_complete(self, request: Request) -> Any:
        job = self.leased(bound(request, "FinishInput", {"lease": ("Lease", str)}))
        if job["status"] < SUBMITTED:
            raise GinError(409, "nothing was submitted under this lease")
        if job["id"] not in self.book.paid:
            self.book.pay(job["id"], job["bounty"])
            job["status"] = SETTLED
        return {"job": job, "paid": job["bounty"]}
