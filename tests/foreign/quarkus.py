"""A Quarkus service with Hibernate Validator, and a review that takes its time.

Violations come all at once and name the whole path of a parameter, `submit.body.artifacts`.
Whatever changes something has to carry an Idempotency-Key. A delivery is a list of
artifacts. Completing asks for a review: 202, then 202 again, until it is accepted. Rewards
are objects, and pages are linked by the header that RFC 8288 has for it.
"""

import secrets
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

BRIEFS = (
    "supersonic teapots rarely spill",
    "the quark prefers company of three",
    "native images start before breakfast",
    "live reload the soup with more salt",
    "a mutiny of sailors over lemonade",
    "panache is a feather in the helmet",
    "inject the porter with fresh coffee",
    "the arc of the bridge spans the bay",
    "reactive cats respond to tin openers",
    "dev services bring slippers and tea",
    "the uber jar holds all the pickles",
    "kogito means the gardener thinks",
)
PAGE = 5
LOOKS_BEFORE_ACCEPTED = 2


class ViolationError(Exception):
    def __init__(self, *violations: tuple[str, str]) -> None:
        super().__init__(violations)
        self.violations = violations


class Quarkus(Backend):
    """Twelve assignments, reviewed after delivery."""

    def __init__(self) -> None:
        super().__init__()
        self.briefs = {str(uuid.uuid4()): brief for brief in BRIEFS}
        self.pays = {one: n % 4 + 1 for n, one in enumerate(self.briefs)}
        self.state = dict.fromkeys(self.briefs, "AVAILABLE")
        self.looks = dict.fromkeys(self.briefs, 0)
        self.agents: dict[str, str] = {}

    def texts(self) -> dict[str, str]:
        return dict(self.briefs)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = str(uuid.uuid4()), secrets.token_hex(24)
        self.agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        free = [one for one, state in self.state.items() if state == "AVAILABLE"]
        page = int(request.query.get("page", "0") or 0)
        shown = free[page * PAGE : (page + 1) * PAGE]
        links = [f'<{request.base}{request.path}?page=0>; rel="first"']
        if (page + 1) * PAGE < len(free):
            links.append(f'<{request.base}{request.path}?page={page + 1}>; rel="next"')
        return Response(
            200, [self.record(one) for one in shown], {"Link": ", ".join(links)}
        )

    def record(self, one: str) -> dict[str, Any]:
        return {
            "uuid": one,
            "brief": self.briefs[one],
            "state": self.state[one],
            "compensation": {"amount": self.pays[one], "unit": "CREDIT"},
            "createdAt": "2026-05-04T09:30:00Z",
        }

    def answered(self, request: Request, method: str, run: Any) -> Response:
        if request.token not in self.agents:
            return Response(401, "")
        if not request.headers.get("Idempotency-Key"):
            problem = {
                "title": "Bad Request",
                "status": 400,
                "detail": "The Idempotency-Key header is required",
            }
            return Response(400, problem, {"Content-Type": "application/problem+json"})
        try:
            found: Response = run(request.json())
        except ViolationError as no:
            told = [
                {"field": f"{method}.body{'.' if path else ''}{path}", "message": words}
                for path, words in no.violations
            ]
            body = {"title": "Constraint Violation", "status": 400, "violations": told}
            return Response(400, body)
        return found

    def assignment(self, body: Any) -> list[tuple[str, str]]:
        """Return what is wrong with the assignment that a body names."""
        if not isinstance(body, dict) or not body.get("assignmentUuid"):
            return [("assignmentUuid", "must not be blank")]
        if body["assignmentUuid"] not in self.briefs:
            return [("assignmentUuid", "must be the UUID of an assignment")]
        return []

    def claim(self, request: Request) -> Response:
        return self.answered(request, "claim", self.on_claim)

    def on_claim(self, body: Any) -> Response:
        if wrong := self.assignment(body):
            raise ViolationError(*wrong)
        one = body["assignmentUuid"]
        if self.state[one] != "AVAILABLE":
            return Response(
                409, {"title": "Conflict", "status": 409, "detail": "already assigned"}
            )
        self.state[one] = "ASSIGNED"
        self.book.claimed(one)
        return Response(200, self.record(one))

    def submit(self, request: Request) -> Response:
        return self.answered(request, "submit", self.on_submit)

    def on_submit(self, body: Any) -> Response:
        wrong = self.assignment(body)
        artifacts = body.get("artifacts") if isinstance(body, dict) else None
        if not isinstance(artifacts, list) or not artifacts:
            wrong.append(("artifacts", "must not be empty"))
        else:
            for n, artifact in enumerate(artifacts):
                content = artifact.get("content") if isinstance(artifact, dict) else ""
                if not isinstance(content, str) or not content:
                    wrong.append((f"artifacts[{n}].content", "must not be blank"))
        if wrong:
            raise ViolationError(*wrong)
        one = body["assignmentUuid"]
        if body["artifacts"][0]["content"] != self.briefs[one].upper():
            return Response(
                409,
                {"title": "Conflict", "status": 409, "detail": "the content is wrong"},
            )
        if self.state[one] == "ASSIGNED":
            self.state[one] = "DELIVERED"
        return Response(200, self.record(one))

    def complete(self, request: Request) -> Response:
        return self.answered(request, "complete", self.on_complete)

    def on_complete(self, body: Any) -> Response:
        if wrong := self.assignment(body):
            raise ViolationError(*wrong)
        one = body["assignmentUuid"]
        if self.state[one] == "ASSIGNED":
            return Response(
                409, {"title": "Conflict", "status": 409, "detail": "not delivered"}
            )
        if self.looks[one] < LOOKS_BEFORE_ACCEPTED:
            self.looks[one] += 1
            self.state[one] = "UNDER_REVIEW"
            return Response(202, self.record(one))
        if one not in self.book.paid:
            self.book.pay(one, self.pays[one])
            self.state[one] = "ACCEPTED"
        return Response(200, self.record(one))
