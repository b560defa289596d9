"""Symfony with API Platform: JSON-LD, IRIs and constraint violations.

Lists a hydra collection {"@context", "@id", "@type", "totalItems", "member": [...]} of missions;
each has an "@id" IRI ("/api/missions/12"), `id`, `subject`, `text`, `reward`, `status`.
claim wants {"mission": IRI}; 201 an Assignment with its own "@id" ("/api/assignments/1").
submit wants {"assignment": IRI, "content": str}; 201 a Deliverable with "@id".
complete wants {"assignment": IRI}; pays; 200 the Assignment with `status` "completed".
Violations: 422 {"@type": "ConstraintViolationList", "violations": [{"propertyPath", "message",
"code"}]}; a plain id instead of an IRI: 400 'Invalid IRI "12".'; Lexik's 401s.
"""

import time
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TEXTS = [
    "le chat is not the only animal welcome in this small hotel",
    "breakfast is served on the terrace from seven until eleven",
    "the guided tour of the vineyard starts in front of the chapel",
    "guests may borrow umbrellas from the stand by the front door",
    "the pool is closed on the first wednesday of every month",
    "a taxi to the airport can be ordered the evening before",
    "fresh towels are found in the cupboard next to the shower",
]
LD = {"Content-Type": "application/ld+json; charset=utf-8"}
BLANK = "c1051bb4-d103-4f74-8988-acbcafc7fdc3"
NULL = "ad32d13f-c3d4-423b-909a-857b961eb720"
UNIQUE = "23bd9dbf-6b9b-41cd-a99e-4844bcf3077f"
EQUAL = "478618a7-95ba-473d-9101-cabd45e49115"


def failure(status: int, words: str) -> Response:
    """Return an exception as API Platform normalizes it."""
    body = {
        "@id": f"/api/errors/{status}",
        "@type": "hydra:Error",
        "title": "An error occurred",
        "detail": words,
        "status": status,
        "type": f"/errors/{status}",
        "description": words,
    }
    return Response(status, body, {"Content-Type": "application/problem+json"})


def violations(*found: tuple[str, str, str]) -> Response:
    """Return violations, each of a property path, a message and a code."""
    words = "\n".join(f"{path}: {message}" for path, message, _ in found)
    body = {
        "@id": f"/api/validation_errors/{found[0][2]}",
        "@type": "ConstraintViolationList",
        "status": 422,
        "violations": [
            dict(zip(("propertyPath", "message", "code"), each, strict=True))
            for each in found
        ],
        "detail": words,
        "description": words,
        "type": f"/validation_errors/{found[0][2]}",
        "title": "An error occurred",
    }
    return Response(422, body, {"Content-Type": "application/problem+json"})


class SymfonyValidator(Backend):
    """Missions, assignments and deliverables as API resources."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.missions: dict[str, dict[str, Any]] = {}
        self.assignments: dict[str, dict[str, Any]] = {}
        self.owners: dict[str, str] = {}
        self.delivered = 0
        for number, text in enumerate(TEXTS, 12):
            iri = f"/api/missions/{number}"
            self.missions[iri] = {
                "@id": iri,
                "@type": "Mission",
                "id": number,
                "subject": "Capitalisation",
                "instructions": "Rewrite the text in capital letters.",
                "text": text,
                "reward": number - 3,
                "status": "published",
            }

    def texts(self) -> dict[str, str]:
        return {str(row["id"]): row["text"] for row in self.missions.values()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = "eyJ0eXAiOiJKV1QiLCJhbGciOiJSUzI1NiJ9." + uuid.uuid4().hex
        number = len(self.agents) + 1
        self.agents[token] = {"credits": 100}
        body = {
            "@context": "/api/contexts/Agent",
            "@id": f"/api/agents/{number}",
            "@type": "Agent",
        }
        body |= {"agent_id": str(number), "access_token": token}
        return Response(201, {**body, "credits": 100}, dict(LD))

    def unauthorized(self, request: Request) -> Response | None:
        if request.token in self.agents:
            return None
        words = "Invalid JWT Token" if request.token else "JWT Token not found"
        return Response(401, {"code": 401, "message": words})

    def collection(self, limit: int) -> Response:
        found = [
            each for each in self.missions.values() if each["status"] == "published"
        ]
        body = {
            "@context": "/api/contexts/Mission",
            "@id": "/api/missions",
            "@type": "Collection",
            "totalItems": len(found),
            "member": found[:limit],
        }
        return Response(200, body, dict(LD))

    def tasks(self, request: Request) -> Response:
        refusal = self.unauthorized(request)
        if refusal:
            return refusal
        limit = request.query.get("limit", "30")
        if not limit.isdigit():
            return failure(400, "Limit should not be less than 0")
        return self.collection(min(int(limit), 30))

    def marketplace(self, request: Request) -> Response:
        return self.collection(30)

    def body(self, request: Request, *strings: str) -> dict[str, Any] | Response:
        refusal = self.unauthorized(request)
        if refusal:
            return refusal
        try:
            given = request.json()
        except ValueError:
            return failure(400, "Syntax error")
        if not isinstance(given, dict):
            return failure(400, "The input data is misformatted.")
        for name in strings:
            value = given.get(name)
            if value is not None and not isinstance(value, str):
                kind = {dict: "array", list: "array", int: "integer", bool: "boolean"}
                words = kind.get(type(value), "double")
                told = f'The type of the "{name}" attribute must be "string", "{words}" given.'
                return failure(400, told)
        return given

    def relation(
        self, given: dict[str, Any], name: str, rows: dict[str, dict[str, Any]]
    ) -> dict[str, Any] | Response | None:
        """Denormalize a relation: None when it is not there."""
        value = given.get(name)
        if value is None:
            return None
        if isinstance(value, dict) and isinstance(value.get("@id"), str):
            value = value["@id"]
        if isinstance(value, dict):
            return failure(
                400,
                f'Nested documents for attribute "{name}" are not allowed. Use IRIs instead.',
            )
        if not isinstance(value, str):
            kind = "array" if isinstance(value, list) else "integer"
            words = f'The type of the "{name}" attribute must be "array" (nested document) or "string" (IRI), "{kind}" given.'
            return failure(400, words)
        if not value.startswith("/api/"):
            return failure(400, f'Invalid IRI "{value}".')
        if value not in rows:
            return failure(400, f'Item not found for "{value}".')
        return rows[value]

    def claim(self, request: Request) -> Response:
        given = self.body(request)
        if isinstance(given, Response):
            return given
        mission = self.relation(given, "mission", self.missions)
        if isinstance(mission, Response):
            return mission
        if mission is None:
            return violations(("mission", "This value should not be null.", NULL))
        if mission["status"] != "published":
            return violations(("mission", "This mission is already assigned.", UNIQUE))
        iri = f"/api/assignments/{len(self.assignments) + 1}"
        mission["status"] = "assigned"
        self.assignments[iri] = {
            "@context": "/api/contexts/Assignment",
            "@id": iri,
            "@type": "Assignment",
            "mission": mission["@id"],
            "text": mission["text"],
            "status": "in_progress",
            "assignedAt": self.now(),
        }
        self.owners[iri] = request.token
        self.book.claimed(str(mission["id"]))
        return Response(201, self.assignments[iri], dict(LD))

    def now(self) -> str:
        return time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(time.time()))

    def submit(self, request: Request) -> Response:
        given = self.body(request, "content")
        if isinstance(given, Response):
            return given
        assignment = self.relation(given, "assignment", self.assignments)
        if isinstance(assignment, Response):
            return assignment
        found: list[tuple[str, str, str]] = []
        if assignment is None:
            found.append(("assignment", "This value should not be null.", NULL))
        if not given.get("content"):
            found.append(("content", "This value should not be blank.", BLANK))
        if found or assignment is None:
            return violations(*found)
        if self.owners[assignment["@id"]] != request.token:
            return failure(403, "Access Denied.")
        if assignment["status"] == "completed":
            return failure(409, "This assignment is already completed.")
        if given["content"] != assignment["text"].upper():
            words = "This value should be the text of the mission in capital letters."
            return violations(("content", words, EQUAL))
        assignment["status"] = "delivered"
        self.delivered += 1
        iri = f"/api/deliverables/{self.delivered}"
        body = {
            "@context": "/api/contexts/Deliverable",
            "@id": iri,
            "@type": "Deliverable",
        }
        body |= {
            "assignment": assignment["@id"],
            "content": given["content"],
            "submittedAt": self.now(),
        }
        return Response(201, body, dict(LD))

    def complete(self, request: Request) -> Response:
        given = self.body(request)
        if isinstance(given, Response):
            return given
        assignment = self.relation(given, "assignment", self.assignments)
        if isinstance(assignment, Response):
            return assignment
        if assignment is None:
            return violations(("assignment", "This value should not be null.", NULL))
        if self.owners[assignment["@id"]] != request.token:
            return failure(403, "Access Denied.")
        if assignment["status"] == "in_progress":
            return failure(
                409,
                'Transition "complete" is not enabled for this assignment: nothing was delivered.',
            )
        mission = self.missions[assignment["mission"]]
        agent = self.agents[request.token]
        if assignment["status"] == "delivered":
            assignment["status"] = mission["status"] = "completed"
            assignment["reward"] = mission["reward"]
            agent["credits"] += mission["reward"]
            self.book.pay(str(mission["id"]), mission["reward"])
        return Response(200, {**assignment, "balance": agent["credits"]}, dict(LD))
