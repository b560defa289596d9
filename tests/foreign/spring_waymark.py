"""Waymark: texts for trail signs, on Spring Boot 3 with RFC 9457 problem details."""

import json
import secrets
import time
import uuid
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

SIGNS = [
    ("Beech ridge", "stay on the left bank", 35),
    ("Goat pass", "loose stones after rain", 28),
    ("Mill meadow", "close the gate behind you", 17),
    ("Upper hut", "last water before the summit", 44),
]
TITLES = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    409: "Conflict",
    422: "Unprocessable Entity",
}
REVIEW_SECONDS = 1.0


def instant() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


class SpringWaymark(Backend):
    """camelCase DTOs, Spring Data pages, `application/problem+json` for every refusal.

    Listing: `{content: [{id, location, summary, reward: {amount, unit}, status}],
    totalElements, ...}`, without the text: the claim's answer has it as `wording`. Claim
    wants `{taskId}` and answers an assignment; submit `{assignmentId, signText}`; complete
    `{assignmentId}`: 409 with Retry-After while the submission is PENDING_REVIEW, then paid.
    Bean validation's failures stand in the problem's `errors: [{field, message}]`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.members: dict[str, dict[str, Any]] = {}
        self.signs: dict[str, dict[str, Any]] = {}
        for location, text, amount in [*SIGNS, ("Old ford", "bridge out", 9)]:
            ident = str(uuid.uuid4())
            self.signs[ident] = {
                "id": ident,
                "location": location,
                "text": text,
                "amount": amount,
                "status": "OPEN",
            }
        self.doable = list(self.signs)[:-1]
        last = next(reversed(self.signs))
        self.signs[last]["status"] = "COMPLETED"
        self.assignments: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {i: self.signs[i]["text"] for i in self.doable}

    def _problem(
        self,
        request: Request,
        status: int,
        detail: str,
        retry: bool = False,  # noqa: FBT001, FBT002 - as in the framework
        **extra: Any,
    ) -> Response:
        headers = {"Content-Type": "application/problem+json"}
        if retry:
            headers["Retry-After"] = "1"
        return Response(
            status,
            {
                "type": "about:blank",
                "title": TITLES[status],
                "status": status,
                "detail": detail,
                "instance": request.path,
                **extra,
            },
            headers,
        )

    def missing(self, request: Request) -> Response:
        return self._problem(
            request, 404, f"No static resource {request.path.lstrip('/')}."
        )

    def _enter(self, request: Request, fields: tuple[str, ...]) -> tuple[Any, Any]:
        member = self.members.get(request.token)
        if member is None:
            why = 'Bearer error="invalid_token"' if request.token else "Bearer"
            return Response(401, b"", {"WWW-Authenticate": why}), None
        try:
            body = json.loads(request.raw)
        except ValueError:
            body = None
        # Jackson: strings from scalars, but no string from an object or an array
        if not isinstance(body, dict) or any(
            isinstance(body.get(f), (dict, list)) for f in fields
        ):
            return self._problem(request, 400, "Failed to read request"), None
        values = {f: str(body[f]) if body.get(f) is not None else None for f in fields}
        for field in fields:
            if field.endswith("Id") and values[field]:
                try:
                    uuid.UUID(values[field])
                except ValueError:
                    return self._problem(request, 400, "Failed to read request"), None
        errors = [
            {
                "field": f,
                "message": "must not be null"
                if f.endswith("Id")
                else "must not be blank",
            }
            for f in fields
            if not (values[f] or "").strip()
        ]
        if errors:
            return self._problem(
                request, 400, "Invalid request content.", errors=errors
            ), None
        return member, values

    def _view(self, sign: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": sign["id"],
            "location": sign["location"],
            "status": sign["status"],
            "summary": "Letter a trail sign. The wording is given on claiming; signs are lettered in capitals.",
            "reward": {"amount": sign["amount"], "unit": "CREDIT"},
        }

    def _assignment(self, assignment: dict[str, Any]) -> dict[str, Any]:
        if (
            assignment["status"] == "PENDING_REVIEW"
            and time.monotonic() >= assignment["reviewed"]
        ):
            assignment["status"] = "APPROVED"
        sign = self.signs[assignment["taskId"]]
        return {
            "assignmentId": assignment["id"],
            "taskId": sign["id"],
            "status": assignment["status"],
            "wording": sign["text"],
            "instructions": "Return signText: the wording in capital letters.",
            "reward": {"amount": sign["amount"], "unit": "CREDIT"},
            "claimedAt": assignment["claimedAt"],
        }

    def register(self, request: Request) -> Response:
        member = {"id": str(uuid.uuid4()), "credits": 100}
        token = secrets.token_urlsafe(40)
        self.members[token] = member
        self.book.registrations += 1
        return Response(
            200, {"agent_id": member["id"], "access_token": token, "credits": 100}
        )

    def _page(self, rows: list[Any], size: int) -> Response:
        content = rows[:size]
        pages = -(-len(rows) // size)
        return Response(
            200,
            {
                "content": content,
                "pageable": {
                    "pageNumber": 0,
                    "pageSize": size,
                    "offset": 0,
                    "paged": True,
                    "unpaged": False,
                },
                "last": pages <= 1,
                "totalPages": pages,
                "totalElements": len(rows),
                "size": size,
                "number": 0,
                "first": True,
                "numberOfElements": len(content),
                "empty": not content,
            },
        )

    def marketplace(self, request: Request) -> Response:
        return self._page(
            [self._view(s) for s in self.signs.values() if s["status"] == "OPEN"], 20
        )

    def tasks(self, request: Request) -> Response:
        if request.token not in self.members:
            return Response(401, b"", {"WWW-Authenticate": "Bearer"})
        limit = request.query.get("limit", "20")
        if not limit.lstrip("-").isdecimal():
            return self._problem(
                request, 400, f"Failed to convert 'limit' with value: '{limit}'"
            )
        if not 1 <= int(limit) <= 100:
            return self._problem(
                request,
                400,
                "Validation failure",
                errors=[{"field": "limit", "message": "must be between 1 and 100"}],
            )
        return self._page([self._view(s) for s in self.signs.values()], int(limit))

    def agents(self, request: Request) -> Response:
        return self._page(
            [{"id": m["id"], "status": "ACTIVE"} for m in self.members.values()], 20
        )

    def directory(self, request: Request) -> Response:
        if "slug" in request.query:
            return self._problem(
                request, 404, f"Agent {request.query['slug']} not found"
            )
        return self.agents(request)

    def claim(self, request: Request) -> Response:
        member, body = self._enter(request, ("taskId",))
        if isinstance(member, Response):
            return member
        sign = self.signs.get(body["taskId"].lower())
        if sign is None:
            return self._problem(request, 404, f"Task {body['taskId']} not found")
        for assignment in self.assignments.values():
            if (
                assignment["taskId"] == sign["id"]
                and assignment["agent"] == member["id"]
            ):
                return Response(200, self._assignment(assignment))
        if sign["status"] != "OPEN":
            return self._problem(request, 409, f"Task {sign['id']} is {sign['status']}")
        assignment = {
            "id": str(uuid.uuid4()),
            "taskId": sign["id"],
            "agent": member["id"],
            "status": "IN_PROGRESS",
            "claimedAt": instant(),
            "reviewed": 0.0,
        }
        self.assignments[assignment["id"]] = assignment
        sign["status"] = "ASSIGNED"
        self.book.claimed(sign["id"])
        return Response(200, self._assignment(assignment))

    def _find(
        self, request: Request, member: dict[str, Any], body: dict[str, Any]
    ) -> Any:
        assignment = self.assignments.get(body["assignmentId"].lower())
        if assignment is None:
            return self._problem(
                request, 404, f"Assignment {body['assignmentId']} not found"
            )
        if assignment["agent"] != member["id"]:
            return self._problem(request, 403, "Access Denied")
        return assignment

    def submit(self, request: Request) -> Response:
        member, body = self._enter(request, ("assignmentId", "signText"))
        if isinstance(member, Response):
            return member
        assignment = self._find(request, member, body)
        if isinstance(assignment, Response):
            return assignment
        if assignment["status"] == "IN_PROGRESS":
            if (
                body["signText"].strip()
                != self.signs[assignment["taskId"]]["text"].upper()
            ):
                return self._problem(
                    request, 422, "signText is not the wording in capital letters"
                )
            assignment.update(
                status="PENDING_REVIEW", reviewed=time.monotonic() + REVIEW_SECONDS
            )
        elif assignment["status"] == "COMPLETED":
            return self._problem(request, 409, "Assignment is already completed")
        return Response(200, self._assignment(assignment))

    def complete(self, request: Request) -> Response:
        member, body = self._enter(request, ("assignmentId",))
        if isinstance(member, Response):
            return member
        assignment = self._find(request, member, body)
        if isinstance(assignment, Response):
            return assignment
        self._assignment(assignment)
        sign = self.signs[assignment["taskId"]]
        if assignment["status"] == "IN_PROGRESS":
            return self._problem(
                request, 409, "No submission has been received for this assignment"
            )
        if assignment["status"] == "PENDING_REVIEW":
            return self._problem(
                request, 409, "Submission is pending review, retry later", retry=True
            )
        if assignment["status"] == "APPROVED":
            assignment["status"] = sign["status"] = "COMPLETED"
            member["credits"] += sign["amount"]
            self.book.pay(sign["id"], sign["amount"])
        return Response(
            200,
            {
                **self._assignment(assignment),
                "payment": {
                    "amount": sign["amount"],
                    "unit": "CREDIT",
                    "status": "PAID",
                },
                "balance": member["credits"],
            },
        )
