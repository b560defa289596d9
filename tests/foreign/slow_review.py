"""A network where every result is reviewed before it is paid.

The first complete asks for the review and answers 202 "awaiting_review"; six seconds
later the same request answers 200 "approved" with the credits, and does so ever after.
Claim gives a claim id, submit wants it and gives a submission id, complete wants that.
An agent should do other work meanwhile, and ask again now and then.
"""

import secrets
import time
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

REVIEW = 6.0  # seconds
TASKS = 20
THINGS = ["the tide", "a paper boat", "old rope", "the attic", "winter wheat"]
ENDS = ["turns at noon", "waits for wind", "remembers a storm", "needs no name"]
SHAPES: dict[str, dict[str, type]] = {
    "claim": {"job_id": str},
    "submit": {"claim_id": str, "output": str},
    "complete": {"submission_id": str},
}


@dataclass
class Job:
    id: str
    text: str
    credits: int
    agent: str = ""
    claim: str = ""
    submission: str = ""
    asked_at: float | None = None
    paid: bool = False


def _no(status: int, message: str) -> Response:
    return Response(status, {"error": message})


def _fault(body: Any, shape: dict[str, type]) -> str:
    """Return the first fault of a body; fields beyond the shape are ignored."""
    if not isinstance(body, dict):
        return "The body must be a JSON object."
    for name, kind in shape.items():
        if name not in body:
            return f"The field {name} is required."
        if not isinstance(body[name], kind) or not body[name]:
            return f"The field {name} must be a non-empty string."
    return ""


class SlowReview(Backend):
    """Twenty jobs, each reviewed for six seconds."""

    def __init__(self) -> None:
        super().__init__()
        self.jobs = [
            Job(
                f"job_{secrets.token_hex(5)}",
                f"{THINGS[n % 5]} {ENDS[n // 5]}",
                n % 9 + 1,
            )
            for n in range(TASKS)
        ]
        self.tokens: dict[str, str] = {}  # token -> agent

    def texts(self) -> dict[str, str]:
        return {job.id: job.text for job in self.jobs}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"agt_{secrets.token_hex(8)}", secrets.token_urlsafe(24)
        self.tokens[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        listed = [
            {"job_id": j.id, "state": "open", "input": j.text, "credits": j.credits}
            for j in self.jobs
            if not j.agent
        ]
        return Response(200, {"jobs": listed})

    marketplace = tasks

    def _checked(self, request: Request, action: str) -> tuple[str, Any] | Response:
        """Return who asks and the body; or the refusal."""
        if not (agent := self.tokens.get(request.token, "")):
            return _no(401, "A valid bearer token is required.")
        try:
            body = request.json()
        except ValueError:
            return _no(400, "The body is not valid JSON.")
        if fault := _fault(body, SHAPES[action]):
            return _no(400, fault)
        return agent, body

    def claim(self, request: Request) -> Response:
        if isinstance(checked := self._checked(request, "claim"), Response):
            return checked
        agent, body = checked
        job = next((j for j in self.jobs if j.id == body["job_id"]), None)
        if not job:
            return _no(404, "There is no job with this job_id.")
        if job.agent not in {"", agent}:
            return _no(409, "Another agent holds this job.")
        if not job.agent:
            job.agent, job.claim = agent, f"clm_{secrets.token_hex(6)}"
            self.book.claimed(job.id)
        return Response(
            200, {"claim_id": job.claim, "job_id": job.id, "status": "claimed"}
        )

    def submit(self, request: Request) -> Response:
        if isinstance(checked := self._checked(request, "submit"), Response):
            return checked
        agent, body = checked
        mine = [j for j in self.jobs if j.agent == agent]
        job = next((j for j in mine if j.claim == body["claim_id"]), None)
        if not job:
            return _no(404, "You have no claim with this claim_id.")
        if body["output"] != job.text.upper():
            return _no(422, "The output is not what the job asks for.")
        job.submission = job.submission or f"sub_{secrets.token_hex(6)}"
        return Response(200, {"submission_id": job.submission, "status": "submitted"})

    def complete(self, request: Request) -> Response:
        if isinstance(checked := self._checked(request, "complete"), Response):
            return checked
        agent, body = checked
        mine = [j for j in self.jobs if j.agent == agent]
        job = next((j for j in mine if j.submission == body["submission_id"]), None)
        if not job:
            return _no(404, "You have no submission with this submission_id.")
        now = time.monotonic()
        if job.asked_at is None:
            job.asked_at = now
        if now - job.asked_at < REVIEW:
            return Response(202, {"status": "awaiting_review"})
        if not job.paid:
            job.paid = True
            self.book.pay(job.id, job.credits)
        return Response(200, {"status": "approved", "credits": job.credits})
