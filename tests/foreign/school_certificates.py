"""A school office's prize-day certificates (a Node service with zod-like checks, camelCase).

Lists {"schoolYear", "certificates": [...]} with both open and already issued ones; each has
`certificateNo` (int), `pupil`, `form`, `citation` (the text), `honorarium`, `status`.
claim wants {"certificateNo": int, "scribe": {"name": str}}; 201 {"assignment": {"deskId", ...}}.
submit wants {"deskId": str, "engrossedText": str}; the office pays at once: 200
{"assignment", "honorariumPaid", "creditBalance"}.
complete wants {"deskId": str, "issueDate": "YYYY-MM-DD"}; files the certificate; 200.
Errors: 400 {"error": "ValidationError", "issues": [{"path": [...], "message", "code"}]}, others
{"error": "NotFound" | "Conflict" | ..., "message"}.
"""

import re
import time
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

PUPILS = [
    ("Ada Holm", "4B", "for steady progress in mathematics throughout the year"),
    ("Ben Oduya", "5A", "for outstanding help with the junior reading club"),
    ("Clara Voss", "3C", "for the best handwriting in the lower school"),
    ("Dmitri Lane", "6A", "for leading the school orchestra with patience and humour"),
    ("Elif Kaya", "4A", "for full attendance and a cheerful greeting every morning"),
    ("Finn Moran", "5B", "for courage and fair play on the football field"),
    ("Greta Sand", "6B", "for her study of the insects in the school garden"),
]
ISSUED = ("Hugo Bell", "3A", "for kindness shown to new pupils in the first term")
ZOD = {str: "string", int: "number", dict: "object"}


def kind_of(value: Any) -> str:
    """Return a value's type as JavaScript names it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, list):
        return "array"
    return "number" if isinstance(value, float) else ZOD[type(value)]


def issues_of(
    given: dict[str, Any], schema: dict[str, Any], path: list[str]
) -> list[dict[str, Any]]:
    """Return all issues; a schema has a type for each key, or a schema again."""
    found: list[dict[str, Any]] = []
    for key, kind in schema.items():
        at = [*path, key]
        wanted = dict if isinstance(kind, dict) else kind
        if key not in given:
            found.append(
                {
                    "code": "invalid_type",
                    "expected": ZOD[wanted],
                    "received": "undefined",
                    "path": at,
                    "message": "Required",
                }
            )
        elif kind_of(given[key]) != ZOD[wanted]:
            kinds = f"Expected {ZOD[wanted]}, received {kind_of(given[key])}"
            found.append(
                {
                    "code": "invalid_type",
                    "expected": ZOD[wanted],
                    "received": kind_of(given[key]),
                    "path": at,
                    "message": kinds,
                }
            )
        elif isinstance(kind, dict):
            found.extend(issues_of(given[key], kind, at))
        elif kind is str and not given[key]:
            found.append(
                {
                    "code": "too_small",
                    "minimum": 1,
                    "path": at,
                    "message": "String must contain at least 1 character(s)",
                }
            )
    return found


def invalid(issues: list[dict[str, Any]]) -> Response:
    """Return a validation error."""
    return Response(400, {"error": "ValidationError", "issues": issues})


def problem(status: int, name: str, words: str) -> Response:
    """Return any other error."""
    return Response(status, {"error": name, "message": words})


class SchoolCertificates(Backend):
    """Certificates are engrossed in capitals, paid, and filed."""

    def __init__(self) -> None:
        super().__init__()
        self.scribes: dict[str, dict[str, Any]] = {}
        self.certificates: dict[int, dict[str, Any]] = {}
        self.desks: dict[str, dict[str, Any]] = {}
        self.owners: dict[str, str] = {}
        for number, (pupil, form, citation) in enumerate([ISSUED, *PUPILS], 1207):
            self.certificates[number] = {
                "certificateNo": number,
                "pupil": pupil,
                "form": form,
                "request": "Engross the citation in capital letters",
                "citation": citation,
                "honorarium": 9 + number % 5,
                "status": "issued" if number == 1207 else "open",
            }

    def texts(self) -> dict[str, str]:
        return {
            str(key): row["citation"]
            for key, row in self.certificates.items()
            if key != 1207
        }

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = uuid.uuid4().hex
        scribe = {"agent_id": f"scribe_{uuid.uuid4().hex[:8]}", "credits": 100}
        self.scribes[token] = scribe
        return Response(200, {**scribe, "access_token": token})

    def tasks(self, request: Request) -> Response:
        if request.token not in self.scribes:
            return problem(401, "Unauthorized", "Please sign in at the school office.")
        limit = request.query.get("limit", "50")
        if not limit.isdigit():
            words = "Expected number, received nan"
            return invalid(
                [{"code": "invalid_type", "path": ["limit"], "message": words}]
            )
        rows = list(self.certificates.values())[: int(limit)]
        return Response(200, {"schoolYear": "2024/25", "certificates": rows})

    def marketplace(self, request: Request) -> Response:
        rows = [row for row in self.certificates.values() if row["status"] == "open"]
        return Response(200, {"schoolYear": "2024/25", "certificates": rows})

    def body(
        self, request: Request, schema: dict[str, Any]
    ) -> dict[str, Any] | Response:
        if request.token not in self.scribes:
            return problem(401, "Unauthorized", "Please sign in at the school office.")
        try:
            body = request.json() if request.raw else {}
        except ValueError:
            return problem(400, "BadRequest", "Request body is not valid JSON.")
        if not isinstance(body, dict):
            words = f"Expected object, received {kind_of(body)}"
            return invalid([{"code": "invalid_type", "path": [], "message": words}])
        issues = issues_of(body, schema, [])
        return invalid(issues) if issues else body

    def claim(self, request: Request) -> Response:
        body = self.body(request, {"certificateNo": int, "scribe": {"name": str}})
        if isinstance(body, Response):
            return body
        number = int(body["certificateNo"])
        row = self.certificates.get(number)
        if row is None:
            return problem(404, "NotFound", f"There is no certificate no. {number}.")
        if row["status"] == "issued":
            return problem(
                409, "Conflict", f"Certificate no. {number} has been issued."
            )
        for desk_id, desk in self.desks.items():
            if desk["certificateNo"] == number:
                if self.owners[desk_id] != request.token:
                    words = f"Certificate no. {number} is on another scribe's desk."
                    return problem(409, "Conflict", words)
                return Response(200, {"assignment": desk, "certificate": row})
        row["status"] = "on desk"
        desk_id = f"desk-{uuid.uuid4().hex[:6]}"
        self.desks[desk_id] = {
            "deskId": desk_id,
            "certificateNo": number,
            "scribe": body["scribe"]["name"],
            "state": "writing",
            "since": int(time.time()),
        }
        self.owners[desk_id] = request.token
        self.book.claimed(str(number))
        return Response(201, {"assignment": self.desks[desk_id], "certificate": row})

    def desk(self, desk_id: str, token: str) -> dict[str, Any] | Response:
        if self.owners.get(desk_id) != token:
            return problem(404, "NotFound", f"You have no desk {desk_id}.")
        return self.desks[desk_id]

    def submit(self, request: Request) -> Response:
        body = self.body(request, {"deskId": str, "engrossedText": str})
        if isinstance(body, Response):
            return body
        desk = self.desk(body["deskId"], request.token)
        if isinstance(desk, Response):
            return desk
        if desk["state"] == "filed":
            return problem(409, "Conflict", "This certificate has been filed.")
        row = self.certificates[desk["certificateNo"]]
        if body["engrossedText"] != row["citation"].upper():
            words = "The engrossed text is not the citation in capital letters."
            return problem(422, "ProofreadingFailed", words)
        scribe = self.scribes[request.token]
        if desk["state"] == "writing":
            desk["state"] = "proofread"
            scribe["credits"] += row["honorarium"]
            self.book.pay(str(row["certificateNo"]), row["honorarium"])
        return Response(
            200,
            {
                "assignment": desk,
                "honorariumPaid": row["honorarium"],
                "creditBalance": scribe["credits"],
            },
        )

    def complete(self, request: Request) -> Response:
        body = self.body(request, {"deskId": str, "issueDate": str})
        if isinstance(body, Response):
            return body
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", body["issueDate"]):
            words = "issueDate must be a date as YYYY-MM-DD"
            return invalid(
                [{"code": "invalid_string", "path": ["issueDate"], "message": words}]
            )
        desk = self.desk(body["deskId"], request.token)
        if isinstance(desk, Response):
            return desk
        if desk["state"] == "writing":
            return problem(409, "Conflict", "The certificate is not proofread yet.")
        row = self.certificates[desk["certificateNo"]]
        if desk["state"] == "proofread":
            desk["state"] = "filed"
            row["status"] = "issued"
            row["issueDate"] = body["issueDate"]
        return Response(200, {"assignment": desk, "certificate": row})
