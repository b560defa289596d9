"""A Spring Boot 3.3 service: Jackson, bean validation, OAuth2, RFC 9457.

Lists a Spring Data page (`content` and `page`) in camelCase with UUIDs, a money object
and tasks of others (ASSIGNED) among the open ones. Refuses with
application/problem+json that carries a map of field errors; a missing token gets Spring
Security's empty 401. A claim is created (201, Location) and its own id is what submit
and complete want; submit needs a result type of a fixed pattern. Completion is accepted
(202, Retry-After) and reviewed for one and a half seconds; asking again tells COMPLETED
and the payout.
"""

import re
import time
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_SPACE = uuid.UUID("6f1a52d0-93a5-4d0c-8c1e-3f9a7d5b2e11")
_OPEN = [
    ("Headline for the newsletter", "quarterly harvest report is out", 40),
    ("Tag line", "small boats travel far", 15),
    ("Release note", "the parser now accepts trailing commas", 25),
    ("Greeting card", "happy anniversary from all of us", 10),
    ("Sign for the door", "please ring twice after sunset", 12),
    ("Name of the exhibit", "bridges of the upper danube", 30),
    ("Menu line", "smoked trout with dill", 18),
]
_TAKEN = [
    ("Poster", "summer fair on the green", 22),
    ("Label", "store in a dry place", 8),
]


def _record(request: Request, rules: dict[str, str]) -> dict[str, Any] | None:
    """Return the record that Jackson reads from a body, or None."""
    try:
        body = request.json()
        if not isinstance(body, dict):
            return None
        for name, rule in rules.items():
            if rule == "uuid" and body.get(name) is not None:
                uuid.UUID(body[name])
    except (ValueError, AttributeError, TypeError):
        return None
    nested = any(isinstance(body.get(name), dict | list) for name in rules)
    return None if nested else body


class SpringBounties(Backend):
    """Bounties behind Spring MVC."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.rows: dict[str, dict[str, Any]] = {}
        for number, (title, text, credits_) in enumerate(_OPEN + _TAKEN):
            key = str(uuid.uuid5(_SPACE, title))
            taken = number >= len(_OPEN)
            self.rows[key] = {
                "id": key,
                "title": title,
                "description": text,
                "category": "TEXT",
                "status": "ASSIGNED" if taken else "OPEN",
                "reward": {"amount": credits_, "currency": "CREDITS"},
                "assigneeId": str(uuid.uuid5(_SPACE, "other")) if taken else None,
                "createdAt": f"2025-03-0{number + 1}T08:15:30.124Z",
            }
        self.rows = dict(sorted(self.rows.items()))
        self.claims: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the open tasks' texts."""
        return {str(uuid.uuid5(_SPACE, title)): text for title, text, _ in _OPEN}

    def handle(self, request: Request) -> Response:
        """Let the reviewer do what is due, then answer."""
        with self._lock:
            for claim in self.claims.values():
                if claim["status"] == "IN_REVIEW" and time.monotonic() >= claim["due"]:
                    self._review(claim)
        return super().handle(request)

    def _review(self, claim: dict[str, Any]) -> None:
        row = self.rows[claim["taskId"]]
        if claim["result"] == row["description"].upper():
            claim["status"] = row["status"] = "COMPLETED"
            credits_ = row["reward"]["amount"]
            claim["agent"]["credits"] += credits_
            self.book.pay(row["id"], credits_)
        else:
            claim["status"] = "REJECTED"

    def _problem(
        self, request: Request, status: int, title: str, detail: str, **more: Any
    ) -> Response:
        body = {
            "type": "about:blank",
            "title": title,
            "status": status,
            "detail": detail,
            "instance": request.path,
            **more,
        }
        return Response(status, body, {"Content-Type": "application/problem+json"})

    def missing(self, request: Request) -> Response:
        """Return what Spring 6.1 says of an unmapped path."""
        detail = f"No static resource {request.path.lstrip('/')}."
        return self._problem(request, 404, "Not Found", detail)

    def register(self, request: Request) -> Response:
        """Create an agent."""
        self.book.registrations += 1
        token = "eyJhbGciOiJIUzI1NiJ9." + uuid.uuid4().hex + "." + uuid.uuid4().hex
        agent = {"agentId": str(uuid.uuid4()), "credits": 100}
        self.agents[token] = agent
        body = {
            **agent,
            "accessToken": token,
            "tokenType": "Bearer",
            "expiresIn": 86400,
        }
        return Response(201, body)

    def _agent(self, request: Request) -> dict[str, Any] | Response:
        if agent := self.agents.get(request.token):
            return agent
        reason = ' error="invalid_token"' if request.token else ""
        return Response(401, "", {"WWW-Authenticate": f"Bearer{reason}"})

    def marketplace(self, request: Request) -> Response:
        """List the page without asking who it is for."""
        try:
            size = min(max(int(request.query.get("limit") or 20), 1), 100)
            page = max(int(request.query.get("page") or 0), 0)
        except ValueError:
            name = "page" if request.query.get("limit", "0").isdigit() else "limit"
            detail = (
                f"Failed to convert '{name}' with value: '{request.query.get(name)}'"
            )
            return self._problem(request, 400, "Bad Request", detail)
        rows = [row for row in self.rows.values() if row["status"] != "COMPLETED"]
        counts = {"totalElements": len(rows), "totalPages": -(-len(rows) // size)}
        content = rows[page * size : (page + 1) * size]
        counts = {"size": size, "number": page, **counts}
        return Response(200, {"content": content, "page": counts})

    def tasks(self, request: Request) -> Response:
        """List the page for an agent."""
        agent = self._agent(request)
        return agent if isinstance(agent, Response) else self.marketplace(request)

    def _body(
        self, request: Request, rules: dict[str, str]
    ) -> dict[str, Any] | Response:
        """Return the record, or what bean validation says; a rule is a kind."""
        body = _record(request, rules)
        if body is None:
            return self._problem(request, 400, "Bad Request", "Failed to read request")
        errors = {}
        for name, rule in rules.items():
            value = body.get(name)
            if rule == "text":
                if value is None or not str(value).strip():
                    errors[name] = "must not be blank"
            elif value is None:
                errors[name] = "must not be null"
            elif rule != "uuid" and not re.fullmatch(rule, str(value)):
                errors[name] = f'must match "{rule}"'
        if errors:
            detail = "Invalid request content."
            return self._problem(request, 400, "Bad Request", detail, errors=errors)
        return body

    def claim(self, request: Request) -> Response:
        """Assign a task."""
        agent = self._agent(request)
        if isinstance(agent, Response):
            return agent
        body = self._body(request, {"taskId": "uuid"})
        if isinstance(body, Response):
            return body
        row = self.rows.get(key := body["taskId"].lower())
        if not row:
            return self._problem(
                request, 404, "Not Found", f"Task {key} does not exist"
            )
        if row["status"] != "OPEN":
            detail = f"Task {key} is not open (status {row['status']})"
            return self._problem(request, 409, "Conflict", detail)
        claim = {"claimId": str(uuid.uuid4()), "taskId": key, "status": "CLAIMED"}
        self.claims[claim["claimId"]] = {
            **claim,
            "agent": agent,
            "result": None,
            "due": 0.0,
        }
        row["status"], row["assigneeId"] = "ASSIGNED", agent["agentId"]
        self.book.claimed(key)
        return Response(201, claim, {"Location": f"/claims/{claim['claimId']}"})

    def _claim(self, request: Request, **rules: str) -> Any:
        agent = self._agent(request)
        if isinstance(agent, Response):
            return agent, {}
        body = self._body(request, {"claimId": "uuid", **rules})
        if isinstance(body, Response):
            return body, {}
        claim = self.claims.get(body["claimId"].lower())
        if not claim or claim["agent"] is not agent:
            detail = f"Claim {body['claimId']} does not exist"
            return self._problem(request, 404, "Not Found", detail), {}
        return claim, body

    def submit(self, request: Request) -> Response:
        """Take a result."""
        claim, body = self._claim(request, resultType="TEXT|JSON|URL", result="text")
        if isinstance(claim, Response):
            return claim
        if claim["status"] in {"IN_REVIEW", "COMPLETED"}:
            detail = f"Claim is {claim['status']}"
            return self._problem(request, 409, "Conflict", detail)
        claim["status"], claim["result"] = "SUBMITTED", body["result"]
        answer = {
            "claimId": claim["claimId"],
            "taskId": claim["taskId"],
            "status": "SUBMITTED",
        }
        return Response(200, answer)

    def complete(self, request: Request) -> Response:
        """Hand the result to the reviewer, or tell what became of it."""
        claim, _ = self._claim(request)
        if isinstance(claim, Response):
            return claim
        if claim["status"] == "CLAIMED":
            detail = "No result has been submitted for this claim"
            return self._problem(request, 409, "Conflict", detail)
        if claim["status"] == "REJECTED":
            detail = "The result was rejected by the reviewer"
            return self._problem(request, 422, "Unprocessable Entity", detail)
        answer = {"claimId": claim["claimId"], "taskId": claim["taskId"]}
        if claim["status"] == "COMPLETED":
            answer |= {"payout": self.rows[claim["taskId"]]["reward"]}
            answer |= {"status": "COMPLETED", "balance": claim["agent"]["credits"]}
            return Response(200, answer)
        if claim["status"] == "SUBMITTED":
            claim["status"], claim["due"] = "IN_REVIEW", time.monotonic() + 1.5
        return Response(202, {**answer, "status": "IN_REVIEW"}, {"Retry-After": "2"})
