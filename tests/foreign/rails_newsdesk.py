"""Rails 6 API with jbuilder; a news agency's desk that farms out headlines.

Listing: `{"assignments": [...], "meta": {...}}`; an assignment has `id` (integer), `title`,
`guidelines`, `bounty` (credits), `aasm_state`, `desk` and `questions: [{id, prompt, copy}]`,
of which each has one: its `copy` is to be given back in upper case.
Claim: `{"claim": {"assignment_id"}}` -> 201 `{"claim": {id, state, assignment}}`; claiming
one's own again is 200 with the same claim.
Submit: `{"submission": {"claim_id", "answers_attributes": [{"question_id", "body"}]}}` (also
a hash of index => answer, as Rails has it) -> 201 `{"submission": {id, state, answers}}`.
Complete: `{"submission": {"id"}}` -> 200 `{"submission", "payout"}`; again: the same.
Errors: `{"error": {"status", "code", "message", "details"}}`. ParameterMissing is 400,
unpermitted parameters raise (400, with what is permitted), RecordNotFound 404, RecordInvalid
422 with `full_messages`, a held assignment 409. Integers may come as strings.
"""

import re
import secrets
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

DESKS: dict[int, tuple[str, str, int]] = {
    2041: ("Sport", "late goal sends rovers through to the final", 14),
    2042: ("City", "council votes to close the old harbour bridge", 11),
    2045: ("Weather", "snow expected above 400 metres by sunday", 8),
    2046: ("Business", "bakery chain to open twelve shops in the north", 13),
    2050: ("City", "tram line 7 back in service after repairs", 9),
    2051: ("Culture", "museum returns three paintings to their heirs", 16),
    2057: ("Sport", "veteran keeper signs for one more season", 10),
}
QUESTION = 9000  # a question's id is this and its assignment's


class RefusedError(Exception):
    """What `rescue_from` turns into the envelope."""

    def __init__(self, status: int, code: str, message: str, **details: Any) -> None:
        super().__init__(message)
        self.status, self.code, self.details = status, code, details


@dataclass
class Claim:
    """A row of claims, with its submission."""

    id: int
    assignment: int
    agent: str
    state: str = "held"
    submission: int = 0
    body: str = ""


def integer(value: Any) -> int:
    """Cast a parameter as ActiveModel casts for an integer column; 0 if it is none."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, (int, float)):
        return int(value)
    found = re.match(r"\s*(\d+)", value) if isinstance(value, str) else None
    return int(found[1]) if found else 0


def require(params: Any, name: str) -> Any:
    """`params.require(name)`."""
    value = params.get(name) if isinstance(params, dict) else None
    if value in (None, "", {}, []):
        raise RefusedError(
            400,
            "parameter_missing",
            f"param is missing or the value is empty: {name}",
            param=name,
        )
    return value


def permit(params: Any, name: str, *allowed: str) -> dict[str, Any]:
    """`params.require(name).permit(...)` with unpermitted parameters raising."""
    inner = require(params, name)
    if not isinstance(inner, dict):
        raise RefusedError(400, "bad_request", f"{name} must be an object", param=name)
    if extra := [key for key in inner if key not in allowed]:
        noun = "parameter" if len(extra) == 1 else "parameters"
        raise RefusedError(
            400,
            "unpermitted_parameters",
            f"found unpermitted {noun}: " + ", ".join(f":{key}" for key in extra),
            scope=name,
            permitted=list(allowed),
        )
    return inner


class RailsNewsdesk(Backend):
    """The newsdesk."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, str] = {}
        self.credits: dict[str, int] = {}
        self.claims: list[Claim] = []

    def texts(self) -> dict[str, str]:
        """Return the copy of every assignment."""
        return {str(id_): text for id_, (_, text, _) in DESKS.items()}

    def _render(self, error: RefusedError) -> Response:
        body: dict[str, Any] = {
            "status": error.status,
            "code": error.code,
            "message": str(error),
            "details": error.details,
        }
        return Response(
            error.status,
            {"error": body},
            {"Content-Type": "application/json; charset=utf-8"},
        )

    def _invalid(self, errors: dict[str, list[str]]) -> RefusedError:
        full = [
            f"{key.replace('_', ' ').replace('.', ' ').capitalize()} {message}"
            for key, messages in errors.items()
            for message in messages
        ]
        return RefusedError(
            422,
            "record_invalid",
            "Validation failed: " + ", ".join(full),
            errors=errors,
            full_messages=full,
        )

    def missing(self, request: Request) -> Response:
        """ActionController::RoutingError."""
        return self._render(
            RefusedError(
                404,
                "routing_error",
                f'No route matches [{request.method}] "{request.path}"',
            )
        )

    def _agent(self, request: Request) -> str:
        agent = self.agents.get(request.token)
        if agent is None:
            raise RefusedError(401, "unauthorized", "HTTP Token: Access denied.")
        return agent

    def _params(self, request: Request) -> Any:
        if not request.raw.strip():
            return {}
        try:
            return request.json()
        except ValueError:
            raise RefusedError(
                400, "parse_error", "There was a problem in the JSON you submitted"
            ) from None

    def register(self, request: Request) -> Response:
        """POST: a new agent."""
        self.book.registrations += 1
        agent, token = f"agent-{1200 + self.book.registrations}", secrets.token_hex(20)
        self.agents[token], self.credits[agent] = agent, 100
        return Response(
            200,
            {
                "agent_id": agent,
                "access_token": token,
                "token_type": "Bearer",
                "credits": 100,
            },
        )

    def _assignment(self, id_: int) -> dict[str, Any]:
        """assignments/_assignment.json.jbuilder."""
        desk, text, bounty = DESKS[id_]
        state = next(
            (claim.state for claim in self.claims if claim.assignment == id_), "open"
        )
        return {
            "id": id_,
            "title": f"{desk} headline for the ticker",
            "guidelines": "Our ticker runs in capitals. Answer the question with its copy in "
            "upper case; change nothing else.",
            "desk": desk,
            "bounty": bounty,
            "aasm_state": state,
            "questions": [
                {"id": QUESTION + id_, "prompt": "Copy in upper case", "copy": text}
            ],
            "created_at": "2024-03-11T08:15:02.118Z",
        }

    def marketplace(self, request: Request) -> Response:
        """GET: assignments#index."""
        shown = [self._assignment(id_) for id_ in DESKS]
        shown = [row for row in shown if row["aasm_state"] == "open"]
        limit = integer(request.query.get("limit")) or 25
        return Response(
            200,
            {
                "assignments": shown[:limit],
                "meta": {"total_count": len(shown), "per_page": limit},
            },
        )

    tasks = marketplace

    def _claim_json(self, claim: Claim) -> dict[str, Any]:
        return {
            "id": claim.id,
            "state": claim.state,
            "assignment": self._assignment(claim.assignment),
        }

    def claim(self, request: Request) -> Response:
        """POST: claims#create."""
        try:
            agent = self._agent(request)
            given = permit(self._params(request), "claim", "assignment_id")
            id_ = integer(given.get("assignment_id"))
            if not given.get("assignment_id"):
                raise self._invalid({"assignment_id": ["can't be blank"]})
            if id_ not in DESKS:
                raise RefusedError(
                    404,
                    "record_not_found",
                    f"Couldn't find Assignment with 'id'={given['assignment_id']}",
                )
            for claim in self.claims:
                if claim.assignment == id_:
                    if claim.agent != agent:
                        raise RefusedError(
                            409,
                            "already_claimed",
                            "Assignment is held by another agent",
                        )
                    return Response(200, {"claim": self._claim_json(claim)})
            claim = Claim(310 + len(self.claims), id_, agent)
            self.claims.append(claim)
            self.book.claimed(str(id_))
            return Response(201, {"claim": self._claim_json(claim)})
        except RefusedError as error:
            return self._render(error)

    def _submission_json(self, claim: Claim) -> dict[str, Any]:
        return {
            "id": claim.submission,
            "claim_id": claim.id,
            "state": "accepted" if claim.state == "completed" else "pending_completion",
            "answers": [
                {"question_id": QUESTION + claim.assignment, "body": claim.body}
            ],
        }

    def submit(self, request: Request) -> Response:
        """POST: submissions#create."""
        try:
            agent = self._agent(request)
            given = permit(
                self._params(request), "submission", "claim_id", "answers_attributes"
            )
            answers = given.get("answers_attributes")
            if isinstance(answers, dict) and all(str(key).isdigit() for key in answers):
                answers = list(answers.values())
            if answers is not None and (
                not isinstance(answers, list)
                or not all(isinstance(answer, dict) for answer in answers)
            ):
                raise RefusedError(
                    400,
                    "bad_request",
                    "answers_attributes must be an array of objects",
                    param="answers_attributes",
                )
            for answer in answers or []:
                permit(
                    {"answers_attributes": answer},
                    "answers_attributes",
                    "question_id",
                    "body",
                )
            errors: dict[str, list[str]] = {}
            claim = next(
                (
                    claim
                    for claim in self.claims
                    if claim.agent == agent
                    and claim.id == integer(given.get("claim_id"))
                ),
                None,
            )
            if claim is None:
                errors["claim"] = [
                    "must exist"
                    if not given.get("claim_id")
                    else "must exist (claim_id is not one of your claims)"
                ]
            if not answers:
                errors["answers_attributes"] = ["can't be blank"]
            for answer in answers or []:
                if (
                    claim
                    and integer(answer.get("question_id"))
                    != QUESTION + claim.assignment
                ):
                    errors["answers.question"] = ["must exist"]
                if not answer.get("body"):
                    errors["answers.body"] = ["can't be blank"]
                elif claim and answer["body"] != DESKS[claim.assignment][1].upper():
                    errors["answers.body"] = ["is not the copy in upper case"]
            if errors or not answers or claim is None:
                raise self._invalid(errors)
            if claim.state == "completed":
                raise RefusedError(
                    409,
                    "invalid_transition",
                    "Event 'submit' cannot transition from 'completed'",
                )
            claim.state, claim.body = "submitted", answers[0]["body"]
            claim.submission = claim.submission or 7700 + claim.id
            return Response(201, {"submission": self._submission_json(claim)})
        except RefusedError as error:
            return self._render(error)

    def complete(self, request: Request) -> Response:
        """POST: submissions#complete."""
        try:
            agent = self._agent(request)
            given = permit(self._params(request), "submission", "id")
            id_ = integer(require(given, "id"))
            claim = next(
                (
                    claim
                    for claim in self.claims
                    if claim.agent == agent
                    and claim.submission
                    and claim.submission == id_
                ),
                None,
            )
            if claim is None:
                raise RefusedError(
                    404,
                    "record_not_found",
                    f"Couldn't find Submission with 'id'={given['id']}",
                )
            bounty = DESKS[claim.assignment][2]
            if claim.state != "completed":
                claim.state = "completed"
                self.credits[agent] += bounty
                self.book.pay(str(claim.assignment), bounty)
            return Response(
                200,
                {
                    "submission": self._submission_json(claim),
                    "payout": {"credits": bounty, "balance": self.credits[agent]},
                },
            )
        except RefusedError as error:
            return self._render(error)
