"""Bounty board: Rails 8 --api, params.expect, has_secure_token, pagy headers, render json: @record."""

import re
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

BODIES = [
    "convention over configuration",
    "The menu is omakase",
    "optimize for programmer happiness",
    "no one paradigm",
    "exalt beautiful code",
    "provide sharp knives",
    "value integrated systems",
    "progress over stability",
    "push up a big tent",
    "Don't repeat yourself",
    "fat models, skinny controllers",
    "ship it on Friday anyway",
]
STATES = {205: "claimed", 211: "closed"}
SPACE = uuid.UUID("e2a6f1d8-55b0-4a0c-8a38-4f1a3c9d0e05")
STAMP = "2025-05-{:02d}T09:30:00.000Z"

# root key of the controller -> the model's columns, which ParamsWrapper looks for at the top
COLUMNS = {
    "claim": ["id", "task_id", "agent_id", "state", "created_at", "updated_at"],
    "submission": [
        "id",
        "claim_id",
        "answer",
        "answer_format",
        "state",
        "created_at",
        "updated_at",
    ],
    "task_completion": ["id", "submission_id", "confirmed", "created_at", "updated_at"],
}


class ParameterMissingError(Exception):
    pass


class RecordNotFoundError(Exception):
    pass


class RecordInvalidError(Exception):
    """Carries record.errors.full_messages."""


class ParseError(Exception):
    pass


def blank(value: Any) -> bool:
    return (
        value is None or value is False or not str(value).strip() or value in ([], {})
    )


class BountyBoard(Backend):
    """A task has one claim, a claim has submissions, a completion reviews the submission and pays."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.claims: dict[int, dict[str, Any]] = {}
        self.submissions: dict[int, dict[str, Any]] = {}
        self.table: dict[int, dict[str, Any]] = {}
        for n, body in enumerate(BODIES):
            self.table[201 + n] = {
                "id": 201 + n,
                "title": f"Shout it out #{n + 1}",
                "instructions": "Answer with the body in CAPITALS.",
                "body": body,
                "answer_format": "plain",
                "bounty": 20 + 2 * (n % 6),
                "state": STATES.get(201 + n, "open"),
                "created_at": STAMP.format(n + 1),
                "updated_at": STAMP.format(n + 1),
            }

    def texts(self) -> dict[str, str]:
        return {
            str(n): task["body"] for n, task in self.table.items() if n not in STATES
        }

    def missing(self, request: Request) -> Response:
        return Response(404, {"status": 404, "error": "Not Found"})

    def run(self, request: Request, action: Any) -> Response:
        agent = self.agents.get(request.token)
        try:
            params = self.params(request)
            if agent is None:
                realm = {"WWW-Authenticate": 'Token realm="Application"'}
                return Response(401, "HTTP Token: Access denied.\n", realm)
            return Response(200, action(params, agent))
        except ParseError:
            return Response(400, {"status": 400, "error": "Bad Request"})
        except ParameterMissingError as error:
            text = f"param is missing or the value is empty or invalid: {error}"
            return Response(400, {"error": text})
        except RecordNotFoundError as error:
            return Response(404, {"error": str(error)})
        except RecordInvalidError as error:
            return Response(422, {"errors": list(error.args)})

    def params(self, request: Request) -> dict[str, Any]:
        if not (request.headers.get("Content-Type") or "").startswith(
            "application/json"
        ):
            return {}
        if not request.raw:
            return {}
        try:
            body = request.json()
        except ValueError:
            raise ParseError from None
        return body if isinstance(body, dict) else {"_json": body}

    def expect(
        self, params: dict[str, Any], root: str, names: list[str]
    ) -> dict[str, Any]:
        """params.expect(root: names), after ParamsWrapper wrapped what stood at the top."""
        if root not in params:
            params = {root: {k: v for k, v in params.items() if k in COLUMNS[root]}}
        inner = params[root] if isinstance(params[root], dict) else {}
        permitted = {
            name: inner[name]
            for name in names
            if name in inner and not isinstance(inner[name], dict | list)
        }
        if not permitted:
            raise ParameterMissingError(root)
        return permitted

    def cast_id(self, value: Any) -> int | None:
        """ActiveModel::Type::Integer: "12abc" is 12, "abc" is 0."""
        if blank(value):
            return None
        found = re.match(r"\s*-?\d+", str(value))
        return int(found.group()) if found else 0

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        n = len(self.agents) + 1
        token = uuid.uuid5(SPACE, f"secure token {n}").hex[:24]
        self.agents[token] = {"id": n, "credits": 100}
        return Response(
            200, {"agent_id": str(n), "access_token": token, "credits": 100}
        )

    def index(self, request: Request) -> Response:
        limit = min(self.cast_id(request.query.get("limit")) or 25, 100)
        page = max(self.cast_id(request.query.get("page")) or 1, 1)
        limit = max(limit, 1)
        found = [task for task in self.table.values() if task["state"] == "open"]
        pages = max(1, -(-len(found) // limit))
        headers = {
            "current-page": str(page),
            "page-items": str(limit),
            "total-pages": str(pages),
            "total-count": str(len(found)),
        }
        if page < pages:
            address = f"{request.base}{request.path}?page={page + 1}&limit={limit}"
            headers["link"] = f'<{address}>; rel="next"'
        return Response(200, found[(page - 1) * limit : page * limit], headers)

    def marketplace(self, request: Request) -> Response:
        return self.index(request)

    def tasks(self, request: Request) -> Response:
        answer = self.run(request, lambda _params, _agent: None)
        return answer if answer.is_refusal else self.index(request)

    def claim(self, request: Request) -> Response:
        return self.run(request, self.create_claim)

    def create_claim(
        self, params: dict[str, Any], agent: dict[str, Any]
    ) -> dict[str, Any]:
        given = self.expect(params, "claim", ["task_id"])
        task = self.table.get(self.cast_id(given["task_id"]) or 0)
        if task is None:
            raise RecordInvalidError("Task must exist")
        if task["state"] == "claimed":
            raise RecordInvalidError("Task has already been taken")
        if task["state"] != "open":
            raise RecordInvalidError("Task is not open")
        task["state"] = "claimed"
        number = len(self.claims) + 1
        self.claims[number] = {
            "id": number,
            "task_id": task["id"],
            "agent_id": agent["id"],
            "state": "active",
            "created_at": task["created_at"],
            "updated_at": task["created_at"],
        }
        self.book.claimed(str(task["id"]))
        return self.claims[number]

    def submit(self, request: Request) -> Response:
        return self.run(request, self.create_submission)

    def create_submission(
        self, params: dict[str, Any], agent: dict[str, Any]
    ) -> dict[str, Any]:
        given = self.expect(
            params, "submission", ["claim_id", "answer", "answer_format"]
        )
        errors = []
        claim_id = self.cast_id(given.get("claim_id"))
        if claim_id is None:
            errors.append("Claim must exist")
        if blank(given.get("answer")):
            errors.append("Answer can't be blank")
        if given.get("answer_format") not in ("plain", "markdown", "html"):
            errors.append("Answer format is not included in the list")
        claim: dict[str, Any] = {}
        if claim_id is not None:
            claim = self.claims.get(claim_id, {})
            if not claim or claim["agent_id"] != agent["id"]:
                where = '[WHERE "claims"."agent_id" = $1]'
                raise RecordNotFoundError(
                    f"Couldn't find Claim with 'id'={claim_id} {where}"
                )
            if claim["state"] != "active":
                errors.append(f"Claim is {claim['state']}")
            elif given.get("answer_format") in ("markdown", "html"):
                errors.append("Answer format doesn't match the task")
        if errors:
            raise RecordInvalidError(*errors)
        claim["state"] = "in_review"
        number = 9001 + len(self.submissions)
        self.submissions[number] = {
            "id": number,
            "claim_id": claim_id,
            "answer": str(given["answer"]),
            "answer_format": given["answer_format"],
            "state": "pending",
            "created_at": claim["created_at"],
            "updated_at": claim["created_at"],
        }
        return self.submissions[number]

    def complete(self, request: Request) -> Response:
        return self.run(request, self.create_completion)

    def create_completion(
        self, params: dict[str, Any], agent: dict[str, Any]
    ) -> dict[str, Any]:
        given = self.expect(params, "task_completion", ["submission_id", "confirmed"])
        submission_id = self.cast_id(given.get("submission_id"))
        errors = ["Submission must exist"] if submission_id is None else []
        if str(given.get("confirmed")).lower() not in ("true", "1"):
            errors.append("Confirmed must be accepted")
        if errors:
            raise RecordInvalidError(*errors)
        submission = self.submissions.get(submission_id or 0)
        claim = self.claims[submission["claim_id"]] if submission else None
        if submission is None or claim is None or claim["agent_id"] != agent["id"]:
            where = '[WHERE "claims"."agent_id" = $1]'
            raise RecordNotFoundError(
                f"Couldn't find Submission with 'id'={submission_id} {where}"
            )
        if submission["state"] != "pending":
            raise RecordInvalidError(
                f"Submission has already been {submission['state']}"
            )
        task = self.table[claim["task_id"]]
        if submission["answer"] != task["body"].upper():
            submission["state"], claim["state"] = "rejected", "active"
            raise RecordInvalidError(
                "Submission was rejected: answer is not the body in capitals"
            )
        submission["state"], claim["state"], task["state"] = (
            "approved",
            "completed",
            "closed",
        )
        agent["credits"] += task["bounty"]
        self.book.pay(str(task["id"]), task["bounty"])
        return {
            "id": len(self.book.paid),
            "submission_id": submission_id,
            "confirmed": True,
            "submission": submission,
            "task": task,
            "agent": {"id": agent["id"], "credits": agent["credits"]},
        }
