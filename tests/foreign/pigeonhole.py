"""Pigeonhole: a gig market as a start-up writes it in Node, with Express and Mongo.

The checks are ifs at the top of each handler; a refusal carries an errorCode of the house
and a sentence. The text of a gig comes with the assignment; work that is wrong is sent
back with status 200 and a word of feedback. Completion pays.
"""

import json
import re
import secrets
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import Any

from tests.foreign.backend import Backend, Request, Response

GIGS = [
    ("Shout our tagline", "Slow mail, fast answers", 30),
    ("Banner for the spring sale", "everything must go by sunday", 18),
    ("Poster headline", "Lost: one grey pigeon, answers to Walter", 42),
    ("Sticker text", "handle with care", 10),
    ("Newsletter subject", "three things we learned in march", 24),
    ("Rubber stamp", "received & filed", 16),
]
MAX_ACTIVE = 2


def _no(status: int, code: str, message: str) -> Response:
    return Response(status, {"success": False, "errorCode": code, "message": message})


def _yes(data: dict[str, Any]) -> Response:
    return Response(200, {"success": True, **data})


def _iso(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _date(value: Any) -> datetime | None:
    """Return what `new Date(value)` would make of an ISO string."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


class _Stop(Exception):  # noqa: N818
    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response = response


def _route(handler: Callable[..., Response]) -> Callable[..., Response]:
    @wraps(handler)
    def answer(self: "Pigeonhole", request: Request) -> Response:
        try:
            return handler(self, request, *self._start(request))
        except _Stop as stop:
            return stop.response

    return answer


class Pigeonhole(Backend):
    """Gigs with Mongo's ids; an assignment holds the input, a submission the review."""

    def __init__(self) -> None:
        super().__init__()
        self._due = datetime.now(UTC) + timedelta(days=7)
        self._gigs: dict[str, dict[str, Any]] = {}
        self._inputs: dict[str, str] = {}
        for title, text, price in GIGS:
            key = secrets.token_hex(12)
            self._inputs[key] = text
            self._gigs[key] = {
                "_id": key,
                "title": title,
                "instructions": "Rewrite the input in UPPERCASE. Keep everything else.",
                "price": price,
                "currency": "credits",
                "status": "AVAILABLE",
                "dueAt": _iso(self._due),
                "__v": 0,
            }
        self._workers: dict[str, dict[str, Any]] = {}  # by token
        self._assignments: dict[str, dict[str, Any]] = {}
        self._submissions: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return dict(self._inputs)

    def missing(self, request: Request) -> Response:
        return _no(404, "ROUTE_NOT_FOUND", f"Cannot {request.method} {request.path}")

    def _start(self, request: Request) -> tuple[dict[str, Any], dict[str, Any]]:
        """Run express.json() and the auth middleware; raise _Stop to answer at once."""
        body: Any = {}
        media = (
            (request.headers.get("Content-Type") or "").split(";")[0].strip().lower()
        )
        if request.raw and media == "application/json":
            try:
                body = json.loads(request.raw)
            except ValueError:
                body = None
            if not isinstance(body, dict | list):  # body-parser is strict
                raise _Stop(
                    _no(400, "INVALID_JSON", "The request body is not valid JSON.")
                )
        if not request.token:
            sentence = (
                "Please send your access token as 'Authorization: Bearer <token>'."
            )
            raise _Stop(_no(401, "NO_TOKEN", sentence))
        if request.token not in self._workers:
            raise _Stop(_no(401, "BAD_TOKEN", "We don't know this access token."))
        return self._workers[request.token], body if isinstance(body, dict) else {}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent = str(uuid.uuid4())
        token = secrets.token_hex(32)
        self._workers[token] = {"id": agent, "balance": 100}
        return _yes({"agent_id": agent, "access_token": token, "credits": 100})

    def marketplace(self, request: Request) -> Response:
        gigs = [g for g in self._gigs.values() if g["status"] == "AVAILABLE"]
        return _yes({"count": len(gigs), "gigs": gigs})

    def agents(self, request: Request) -> Response:
        return _yes({"agents": [{"agentId": w["id"]} for w in self._workers.values()]})

    directory = agents

    @_route
    def tasks(self, request: Request, worker: Any, body: Any) -> Response:
        """List every gig, also those that are taken: the status tells."""
        number = re.match(r"\s*\d+", request.query.get("limit", ""))
        limit = min((int(number[0]) if number else 0) or 20, 100)
        return _yes(
            {"total": len(self._gigs), "gigs": list(self._gigs.values())[:limit]}
        )

    @_route
    def claim(self, request: Request, worker: Any, body: Any) -> Response:
        key = body.get("gigId")
        if not key:
            return _no(400, "GIG_ID_REQUIRED", "gigId is required.")
        if not isinstance(key, str) or not re.fullmatch("[0-9a-fA-F]{24}", key):
            return _no(400, "GIG_ID_INVALID", "gigId is not a valid id.")
        if not body.get("agentId"):
            return _no(400, "AGENT_ID_REQUIRED", "agentId is required.")
        if body["agentId"] != worker["id"]:
            return _no(
                403, "AGENT_MISMATCH", "agentId does not belong to this access token."
            )
        if not body.get("deliverBy"):
            return _no(400, "DELIVER_BY_REQUIRED", "deliverBy is required.")
        by = _date(body["deliverBy"])
        if by is None:
            return _no(400, "DELIVER_BY_INVALID", "deliverBy must be an ISO 8601 date.")
        if by <= datetime.now(UTC):
            return _no(400, "DELIVER_BY_PAST", "deliverBy must be in the future.")
        if by > self._due:
            return _no(
                400,
                "DELIVER_BY_TOO_LATE",
                "deliverBy can't be later than the gig's dueAt.",
            )
        gig = self._gigs.get(key.lower())
        if gig is None:
            return _no(404, "GIG_NOT_FOUND", "We couldn't find that gig.")
        if gig["status"] != "AVAILABLE":
            return _no(409, "GIG_TAKEN", "Sorry, this gig has already been taken.")
        active = [
            a
            for a in self._assignments.values()
            if a["workerId"] == worker["id"] and a["status"] != "COMPLETED"
        ]
        if len(active) >= MAX_ACTIVE:
            sentence = (
                f"You already have {MAX_ACTIVE} gigs in progress. Complete one first."
            )
            return _no(409, "TOO_MANY_ACTIVE", sentence)
        gig["status"] = "TAKEN"
        self.book.claimed(gig["_id"])
        assignment = {
            "_id": secrets.token_hex(12),
            "gig": gig["_id"],
            "workerId": worker["id"],
            "status": "IN_PROGRESS",
            "deliverBy": _iso(by.astimezone(UTC)),
            "input": self._inputs[gig["_id"]],
        }
        self._assignments[assignment["_id"]] = assignment
        return _yes({"message": "The gig is yours!", "assignment": assignment})

    def _own(self, worker: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
        key = body.get("assignmentId")
        if not key:
            raise _Stop(_no(400, "ASSIGNMENT_ID_REQUIRED", "assignmentId is required."))
        found = self._assignments.get(str(key))
        if found is None:
            raise _Stop(
                _no(404, "ASSIGNMENT_NOT_FOUND", "We couldn't find that assignment.")
            )
        if found["workerId"] != worker["id"]:
            raise _Stop(_no(403, "NOT_YOUR_ASSIGNMENT", "This assignment isn't yours."))
        return found

    @_route
    def submit(self, request: Request, worker: Any, body: Any) -> Response:
        assignment = self._own(worker, body)
        work = body.get("deliverable")
        if not isinstance(work, str) or not work.strip():
            return _no(
                400, "DELIVERABLE_REQUIRED", "deliverable must be a non-empty string."
            )
        if assignment["status"] not in ("IN_PROGRESS", "CHANGES_REQUESTED"):
            return _no(
                409, "ALREADY_SUBMITTED", "You've already delivered this assignment."
            )
        right = work == self._inputs[assignment["gig"]].upper()
        assignment["status"] = "APPROVED" if right else "CHANGES_REQUESTED"
        submission = {
            "_id": secrets.token_hex(12),
            "assignmentId": assignment["_id"],
            "status": assignment["status"],
            "feedback": None if right else "This isn't what the instructions ask for.",
        }
        self._submissions[submission["_id"]] = submission
        answer = _yes({"submission": submission})
        answer.refused = not right
        return answer

    @_route
    def complete(self, request: Request, worker: Any, body: Any) -> Response:
        assignment = self._own(worker, body)
        if not body.get("submissionId"):
            return _no(400, "SUBMISSION_ID_REQUIRED", "submissionId is required.")
        submission = self._submissions.get(str(body["submissionId"]))
        if submission is None or submission["assignmentId"] != assignment["_id"]:
            return _no(
                404, "SUBMISSION_NOT_FOUND", "No such submission for this assignment."
            )
        if body.get("confirm") is not True:
            return _no(
                400, "NOT_CONFIRMED", "Please set confirm to true to close the gig."
            )
        if assignment["status"] == "COMPLETED":
            return _no(409, "ALREADY_COMPLETED", "This gig is already completed.")
        if submission["status"] != "APPROVED":
            return _no(409, "NOT_APPROVED", "This submission hasn't been approved.")
        gig = self._gigs[assignment["gig"]]
        assignment["status"] = gig["status"] = "COMPLETED"
        worker["balance"] += gig["price"]
        self.book.pay(gig["_id"], gig["price"])
        payout = {"amount": gig["price"], "newBalance": worker["balance"]}
        return _yes({"assignment": assignment, "payout": payout})
