"""A Django Ninja 1.x API at /functions/v1/, which publishes its OpenAPI document.

Lists open jobs only, as {"items": [...], "count": n} by limit and offset, with integer
ids; no state is shown, a claimed job is gone. Refuses with pydantic 2 errors (422,
`detail` is a list with loc ["body", "payload", ...]), with {"detail": "..."} for its
own errors and {"detail": "Unauthorized"} without a token. A claim gives a `ticket`
(201), submit takes the ticket, the answer and a confidence between 0 and 1, complete
takes the ticket and pays at once; a wrong answer is told in a 200 with `accepted`
false. /functions/v1/openapi.json tells all of it to who looks.
"""

import secrets
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_JOBS = {
    118: ("a violin was left on the night train", 22),
    121: ("migrations ran without a warning", 14),
    122: ("the kiosk sells stamps and ice cream", 9),
    127: ("please water the ferns on sundays", 31),
    130: ("querysets are lazy", 5),
    135: ("nobody expects the late express", 26),
    140: ("bring your own cup", 8),
}
_SCHEMAS = {
    "ClaimIn": {"job_id": "integer"},
    "SubmissionIn": {"ticket": "uuid", "answer": "string", "confidence": "number"},
    "CompletionIn": {"ticket": "uuid"},
}
_PATHS = {
    "claim-task-public": ("ClaimIn", "Claim Task", 201),
    "submit-task-result-public": ("SubmissionIn", "Submit Result", 200),
    "complete-task-public": ("CompletionIn", "Complete Task", 200),
}
_ROOT = "/functions/v1/"
_NO_STRING = "string_type: Input should be a valid string"
_NOT_FOUND = (
    "<h1>Not Found</h1><p>The requested resource was not found on this server.</p>"
)


def _property(name: str, kind: str) -> dict[str, Any]:
    found: dict[str, Any] = {"title": name.replace("_", " ").title(), "type": kind}
    found |= {"type": "string", "format": "uuid"} if kind == "uuid" else {}
    return found | ({"minimum": 0, "maximum": 1} if kind == "number" else {})


def _openapi() -> dict[str, Any]:
    """Return the document as Ninja writes it, without what is of no use here."""
    paths: dict[str, Any] = {}
    answers = {"200": {"description": "OK"}}
    security: list[dict[str, list[str]]] = [{"AgentAuth": []}]
    for path, (schema, title, status) in _PATHS.items():
        media = {
            "application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}
        }
        post: dict[str, Any] = {
            "summary": title,
            "parameters": [],
            "security": security,
        }
        post["responses"] = {str(status): {"description": "OK"}}
        post["requestBody"] = {"content": media, "required": True}
        paths[_ROOT + path] = {"post": post}
    number = {
        "in": "query",
        "schema": {"type": "integer", "minimum": 0},
        "required": False,
    }
    names = [{**number, "name": "limit"}, {**number, "name": "offset"}]
    get = {"summary": "List Jobs", "parameters": names, "responses": answers}
    paths[_ROOT + "public-marketplace"] = {"get": get}
    paths[_ROOT + "get-marketplace-tasks"] = {"get": {**get, "security": security}}
    paths[_ROOT + "create-free-agent-public"] = {"post": {"responses": answers}}
    schemas: dict[str, Any] = {}
    for title, fields in _SCHEMAS.items():
        properties = {name: _property(name, kind) for name, kind in fields.items()}
        schemas[title] = {"title": title, "type": "object", "properties": properties}
        schemas[title]["required"] = list(fields)
    auth = {"AgentAuth": {"type": "http", "scheme": "bearer"}}
    head = {"openapi": "3.1.0", "info": {"title": "Job market", "version": "2.1.0"}}
    return {
        **head,
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": auth},
    }


class NinjaJobs(Backend):
    """Jobs of a Django project."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.open = set(_JOBS)
        self.tickets: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the jobs' texts."""
        return {str(key): text for key, (text, _) in _JOBS.items()}

    def missing(self, request: Request) -> Response:
        """Return Django's own page for a path that it does not have."""
        return Response(404, _NOT_FOUND, {"Content-Type": "text/html; charset=utf-8"})

    def document(self, request: Request) -> Response:
        """Return the OpenAPI document (the page that shows it is switched off)."""
        known = request.path == f"{_ROOT}openapi.json"
        return Response(200, _openapi()) if known else self.missing(request)

    def register(self, request: Request) -> Response:
        """Create an agent."""
        self.book.registrations += 1
        token = secrets.token_hex(20)
        agent = {"agent_id": str(501 + len(self.agents)), "credits": 100}
        self.agents[token] = agent
        return Response(200, {**agent, "access_token": token})

    def marketplace(self, request: Request) -> Response:
        """List the open jobs by limit and offset."""
        numbers = []
        for name, default in (("limit", 100), ("offset", 0)):
            error, number = self._field("integer", request.query.get(name, default))
            if error:
                code, _, text = error.partition(": ")
                detail = {"type": code, "loc": ["query", name], "msg": text}
                return Response(422, {"detail": [detail]})
            numbers.append(max(number, 0))
        jobs = [(key, *job) for key, job in _JOBS.items() if key in self.open]
        rows = [
            {"id": key, "instructions": text, "credits": pay} for key, text, pay in jobs
        ]
        items = rows[numbers[1] : sum(numbers)]
        return Response(200, {"items": items, "count": len(rows)})

    def tasks(self, request: Request) -> Response:
        """List the open jobs to an agent."""
        if request.token not in self.agents:
            return Response(401, {"detail": "Unauthorized"})
        return self.marketplace(request)

    def _payload(self, request: Request, schema: str) -> Any:
        """Return the payload, or pydantic's errors, all of them."""
        if request.token not in self.agents:
            return Response(401, {"detail": "Unauthorized"})
        try:
            body = request.json() if request.raw.strip() else None
        except ValueError:
            return Response(400, {"detail": "Cannot parse request body"})
        where = ["body", "payload"]
        if not isinstance(body, dict):
            text = "Input should be a valid dictionary or object to extract fields from"
            wrong = {"type": "model_attributes_type", "loc": where, "msg": text}
            wrong |= (
                {"type": "missing", "msg": "Field required"} if body is None else {}
            )
            return Response(422, {"detail": [wrong]})
        errors, clean = [], {}
        for name, kind in _SCHEMAS[schema].items():
            error, clean[name] = self._field(kind, body.get(name, ...))
            if error:
                code, _, text = error.partition(": ")
                errors.append({"type": code, "loc": [*where, name], "msg": text})
        if errors:
            return Response(422, {"detail": errors})
        clean["held"] = held = self.tickets.get(clean.get("ticket", ""), {})
        if "ticket" in clean and held.get("token") != request.token:
            return Response(404, {"detail": "Not Found"})
        return clean

    def _field(self, kind: str, value: Any) -> tuple[str, Any]:
        """Return the error ("" for none) and the value as pydantic reads it."""
        if value is ...:
            return "missing: Field required", None
        if kind == "string":
            return "" if isinstance(value, str) else _NO_STRING, value
        if kind == "uuid":
            try:
                return "", str(uuid.UUID(value))
            except ValueError:
                return (
                    "uuid_parsing: Input should be a valid UUID, invalid character",
                    None,
                )
            except (TypeError, AttributeError):
                return (
                    "uuid_type: UUID input should be a string, bytes or UUID object",
                    None,
                )
        short = "int" if kind == "integer" else "float"
        try:
            number = int(value) if kind == "integer" else float(value)
        except (TypeError, OverflowError):
            return f"{short}_type: Input should be a valid {kind}", None
        except ValueError:
            an = "an integer" if kind == "integer" else "a number"
            text = f"a valid {kind}, unable to parse string as {an}"
            return f"{short}_parsing: Input should be {text}", None
        if kind == "number" and not 0 <= number <= 1:
            word, bound = ("less", 1) if number > 1 else ("greater", 0)
            return (
                f"{word}_than_equal: Input should be {word} than or equal to {bound}",
                None,
            )
        return "", number

    def claim(self, request: Request) -> Response:
        """Give a ticket for a job."""
        payload = self._payload(request, "ClaimIn")
        if isinstance(payload, Response):
            return payload
        if (key := payload["job_id"]) not in _JOBS:
            return Response(404, {"detail": "Not Found"})
        if key not in self.open:
            return Response(409, {"detail": "Job has already been claimed"})
        self.open.discard(key)
        ticket = str(uuid.uuid4())
        self.tickets[ticket] = {
            "job": key,
            "token": request.token,
            "answer": None,
            "paid": False,
        }
        self.book.claimed(str(key))
        return Response(201, {"ticket": ticket, "job_id": key, "expires_in": 1800})

    def submit(self, request: Request) -> Response:
        """Keep the answer."""
        payload = self._payload(request, "SubmissionIn")
        if isinstance(payload, Response):
            return payload
        if payload["held"]["paid"]:
            return Response(409, {"detail": "Job is already completed"})
        payload["held"]["answer"] = payload["answer"]
        return Response(200, {"ticket": payload["ticket"], "received": True})

    def complete(self, request: Request) -> Response:
        """Judge the answer and pay."""
        payload = self._payload(request, "CompletionIn")
        if isinstance(payload, Response):
            return payload
        held, agent = payload["held"], self.agents[request.token]
        text, credits_ = _JOBS[held["job"]]
        if held["answer"] is None:
            return Response(
                409, {"detail": "No answer has been submitted for this ticket"}
            )
        if held["answer"] != text.upper():
            no = {"accepted": False, "reason": "The answer is not what was asked for"}
            return Response(
                200, {"job_id": held["job"], **no, "credits_earned": 0}, refused=True
            )
        if not held["paid"]:
            held["paid"] = True
            agent["credits"] += credits_
            self.book.pay(str(held["job"]), credits_)
        done = {"job_id": held["job"], "accepted": True, "credits_earned": credits_}
        return Response(200, {**done, "balance": agent["credits"]})
