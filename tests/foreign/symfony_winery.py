"""Étiquette: back labels for small wineries, on Symfony.

Stack: Symfony 7, #[MapRequestPayload] DTOs, serializer and validator, LexikJWT, backed enums
as strings under Assert\\Choice. The listing is `{"lots": [{"id": 340, "winery", "cuvee",
"label": {"text", "locale"}, "remuneration": {"credits"}, "task"}], "total"}`.

Claim wants `lotId` (int) and `urgency` (standard, express); answers 201 with `{"assignment":
{"id": 9001, ...}}`. Submit wants `assignmentId` and `transcription: {text, locale}`. Complete
wants `assignmentId` and `invoiceReference` (4 to 20 characters of the agent's own), and pays.

Errors: RFC 7807 problems: `{"type", "title", "status", "detail"}`, for validation with
`violations: [{propertyPath, title, template, parameters, type}]` and status 422; types are
strict (no "12" for 12). LexikJWT answers `{"code": 401, "message": "JWT Token not found"}`.
"""

import json
import secrets
import time
import uuid
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

LOTS = [
    (
        "Domaine Lacombe",
        "Clos du Puits 2021",
        "Harvested by hand at the first light of dawn",
        28,
    ),
    (
        "Domaine Lacombe",
        "Vieilles Vignes 2019",
        "Drink it slowly, beside someone who listens",
        24,
    ),
    (
        "Weingut Stahr",
        "Steillage 2022",
        "Grown on slate so steep the tractor gave up",
        32,
    ),
    ("Weingut Stahr", "Kabinett 2023", "Light as a letter from the seaside", 18),
    ("Quinta do Melro", "Tinto 2020", "Contains sulphites and a little thunder", 21),
    ("Quinta do Melro", "Branco 2022", "Serve cold, open the windows", 16),
    (
        "Tenuta Sorbello",
        "Riserva 2017",
        "Aged thirty months in the cellar of a convent",
        35,
    ),
    ("Tenuta Sorbello", "Rosato 2023", "Good with olives, better with an argument", 19),
]
BLANK = ("This value should not be blank.", "c1051bb4-d103-4f74-8988-acbcafc7fdc3")
CHOICE = (
    "The value you selected is not a valid choice.",
    "8e179f1b-97aa-4560-a02f-2a8b42e49df7",
)
LOCALE = ("This value is not a valid locale.", "a0af4293-1f1a-4a1c-a328-979cba6182a2")
SHORT = (
    "This value is too short. It should have 4 characters or more.",
    "9ff3fdc4-b214-49db-8718-39c315e33d45",
)
LONG = (
    "This value is too long. It should have 20 characters or less.",
    "d94b19cc-114f-4f44-9cc4-4138e80a87b9",
)
TITLES = {400: "Bad Request", 403: "Forbidden", 404: "Not Found", 409: "Conflict"}


@dataclass
class Lot:
    """An entity, with its assignment."""

    id: int
    winery: str
    cuvee: str
    text: str
    credits: int
    assignment: int = 0
    agent: str = ""
    urgency: str = ""
    state: str = "open"
    invoice: str = ""


def violation(
    path: str, what: tuple[str, str], value: Any, **more: str
) -> dict[str, Any]:
    """Return a ConstraintViolation as the serializer normalizes it."""
    return {
        "propertyPath": path,
        "title": what[0],
        "template": what[0],
        "parameters": {"{{ value }}": json.dumps(value)}
        | {f"{{{{ {name} }}}}": text for name, text in more.items()},
        "type": f"urn:uuid:{what[1]}",
    }


def invalid(violations: list[dict[str, Any]]) -> Response:
    """Return the problem of a ValidationFailedException."""
    lines = [f"{one['propertyPath']}: {one['title']}" for one in violations]
    return Response(
        422,
        {
            "type": "https://symfony.com/errors/validation",
            "title": "Validation Failed",
            "status": 422,
            "detail": "\n".join(lines),
            "violations": violations,
        },
        {"Content-Type": "application/problem+json"},
    )


def problem(status: int, detail: str) -> Response:
    """Return the problem of an HttpException."""
    return Response(
        status,
        {
            "type": "https://tools.ietf.org/html/rfc2616#section-10",
            "title": TITLES.get(status, "An error occurred"),
            "status": status,
            "detail": detail,
        },
        {"Content-Type": "application/problem+json"},
    )


def denormalize(shape: dict[str, Any], value: Any, path: str) -> list[dict[str, Any]]:
    """Return the violations of a payload whose types are not the DTO's."""
    found = []
    for name, kind in shape.items():
        here = f"{path}{name}"
        expected = "int" if kind is int else "string" if kind is str else "array"
        given = value.get(name)
        if (kind is int and type(given) is int) or (
            kind is str and isinstance(given, str)
        ):
            continue
        if isinstance(kind, dict) and isinstance(given, dict):
            found += denormalize(kind, given, f"{here}.")
            continue
        found.append(
            {
                "propertyPath": here,
                "title": f"This value should be of type {expected}.",
                "template": "This value should be of type {{ type }}.",
                "parameters": {"{{ type }}": expected},
            }
        )
        if name not in value:
            found[-1]["parameters"]["hint"] = (
                f'Failed to create object because the class misses the "{name}" property.'
            )
    return found


class Etiquette(Backend):
    """The application."""

    def __init__(self) -> None:
        super().__init__()
        self.lots = [Lot(340 + 5 * n, *row) for n, row in enumerate(LOTS)]
        self.agents: dict[str, str] = {}
        self.balance: dict[str, int] = {}
        self.assignments = 9000

    def texts(self) -> dict[str, str]:
        """Return each lot's text."""
        return {str(lot.id): lot.text for lot in self.lots}

    def missing(self, request: Request) -> Response:
        """Answer as the router does."""
        return problem(404, f'No route found for "{request.method} {request.path}"')

    def register(self, request: Request) -> Response:
        """Create an agent."""
        self.book.registrations += 1
        agent = str(uuid.uuid4())
        token = f"eyJ0eXAiOiJKV1QiLCJhbGciOiJSUzI1NiJ9.{secrets.token_urlsafe(60)}"
        self.agents[token] = agent
        self.balance[agent] = 100
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        """List the lots without a label."""
        limit = request.query.get("limit", "30")
        if not limit.isdecimal():
            # #[MapQueryParameter] with a filter that fails.
            return problem(404, 'Invalid query parameter "limit".')
        rows = [lot for lot in self.lots if lot.state == "open"]
        return Response(
            200,
            {
                "lots": [self._lot(lot) for lot in rows[: int(limit)]],
                "total": len(rows),
            },
        )

    marketplace = tasks

    def _lot(self, lot: Lot) -> dict[str, Any]:
        return {
            "id": lot.id,
            "winery": lot.winery,
            "cuvee": lot.cuvee,
            "task": "Our press has one set of type, all capitals: transcribe the label's "
            "text into upper case.",
            "label": {"text": lot.text, "locale": "en"},
            "remuneration": {"credits": lot.credits},
            "state": lot.state,
        }

    def _assignment(self, lot: Lot) -> dict[str, Any]:
        return {
            "id": lot.assignment,
            "lotId": lot.id,
            "agent": lot.agent,
            "urgency": lot.urgency,
            "state": lot.state,
            "updatedAt": time.strftime(
                "%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(time.time())
            ),
        }

    def _payload(
        self, request: Request, shape: dict[str, Any]
    ) -> tuple[str, dict[str, Any], Response | None]:
        """Return the agent, the payload and perhaps the refusal."""
        if not request.token:
            return (
                "",
                {},
                Response(401, {"code": 401, "message": "JWT Token not found"}),
            )
        agent = self.agents.get(request.token, "")
        if not agent:
            return "", {}, Response(401, {"code": 401, "message": "Invalid JWT Token"})
        if not request.raw:
            return "", {}, problem(422, "Request payload is empty.")
        try:
            body = request.json()
        except ValueError:
            detail = 'Request payload contains invalid "json" data.'
            return "", {}, problem(400, detail)
        if not isinstance(body, dict):
            return "", {}, problem(400, "Request payload must be a JSON object.")
        violations = denormalize(shape, body, "")
        if violations:
            return "", {}, invalid(violations)
        return agent, body, None

    def claim(self, request: Request) -> Response:
        """Assign a lot."""
        agent, body, refusal = self._payload(request, {"lotId": int, "urgency": str})
        if refusal:
            return refusal
        if body["urgency"] not in ("standard", "express"):
            choices = '"standard", "express"'
            return invalid(
                [violation("urgency", CHOICE, body["urgency"], choices=choices)]
            )
        lot = next((lot for lot in self.lots if lot.id == body["lotId"]), None)
        if lot is None:
            return problem(404, f"Lot {body['lotId']} does not exist.")
        if lot.agent:
            detail = f"Lot {lot.id} is already assigned."
            if lot.agent == agent:
                detail = f"Lot {lot.id} is already assigned to you (assignment {lot.assignment})."
            return problem(409, detail)
        self.assignments += 1
        lot.agent, lot.urgency, lot.state = agent, body["urgency"], "assigned"
        lot.assignment = self.assignments
        self.book.claimed(str(lot.id))
        return Response(201, {"assignment": self._assignment(lot)})

    def _find(self, agent: str, wanted: int) -> tuple[Any, Response | None]:
        for lot in self.lots:
            if lot.assignment == wanted and wanted:
                if lot.agent != agent:
                    return None, problem(403, "Access Denied.")
                return lot, None
        return None, problem(404, f"Assignment {wanted} does not exist.")

    def submit(self, request: Request) -> Response:
        """Take the transcription."""
        shape = {"assignmentId": int, "transcription": {"text": str, "locale": str}}
        agent, body, refusal = self._payload(request, shape)
        if refusal:
            return refusal
        text, locale = body["transcription"]["text"], body["transcription"]["locale"]
        found = []
        if not text.strip():
            found.append(violation("transcription.text", BLANK, text))
        if not (
            len(locale[:2]) == 2
            and locale[:2].isalpha()
            and locale[2:3] in ("", "_", "-")
        ):
            found.append(violation("transcription.locale", LOCALE, locale))
        if found:
            return invalid(found)
        lot, refusal = self._find(agent, body["assignmentId"])
        if refusal:
            return refusal
        if lot.state == "paid":
            return problem(409, f"Assignment {lot.assignment} is paid.")
        if text != lot.text.upper():
            what = (
                "This value is not the text of the label in upper case.",
                str(uuid.uuid4()),
            )
            return invalid([violation("transcription.text", what, text)])
        lot.state = "transcribed"
        return Response(200, {"assignment": self._assignment(lot)})

    def complete(self, request: Request) -> Response:
        """Take the invoice and pay it."""
        shape = {"assignmentId": int, "invoiceReference": str}
        agent, body, refusal = self._payload(request, shape)
        if refusal:
            return refusal
        reference = body["invoiceReference"]
        if not 4 <= len(reference) <= 20:
            short = len(reference) < 4
            what, limit = (SHORT, "4") if short else (LONG, "20")
            return invalid(
                [violation("invoiceReference", what, reference, limit=limit)]
            )
        lot, refusal = self._find(agent, body["assignmentId"])
        if refusal:
            return refusal
        if lot.state != "transcribed":
            return problem(409, f"Assignment {lot.assignment} is {lot.state}.")
        lot.state, lot.invoice = "paid", reference
        self.balance[agent] += lot.credits
        self.book.pay(str(lot.id), lot.credits)
        paid = {"credits": lot.credits, "reference": reference}
        return Response(
            200,
            {"assignment": self._assignment(lot), "payment": paid}
            | {"balance": self.balance[agent]},
        )
