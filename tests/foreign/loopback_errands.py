"""LoopBack 4 with its AJV body validation, publishing /openapi.json as LoopBack does.

Lists a bare array of errands (`limit`, `offset`), taken ones among the open. Claim wants
`errandId` (integer) and answers a `take` whose `id` is the later `takeId`; submit wants
`takeId`, `outcome`, `channel` (an enum) and `minutesSpent` (integer, from 1); complete wants
`takeId` and answers 204 without a word: the errand's `status` PAID and `earned` in the list
tell it. Refuses with `error` and its `details` (path, code, message, info); properties that
the model does not have are refused.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

ERRANDS = [
    (2001, "Noticeboard", "Choir practice moves to the small hall", 3, "OPEN"),
    (2002, "Hall rental", "Return the key to the caretaker on Monday", 4, "TAKEN"),
    (2003, "Flea market", "Stalls open at nine, rain or shine", 2, "OPEN"),
    (2004, "Kitchen", "Please rinse the urn after use", 5, "OPEN"),
    (2005, "Library corner", "Take a book and leave a book", 3, "OPEN"),
    (2006, "Bicycle shed", "Unlocked bicycles are moved on Fridays", 4, "OPEN"),
    (2007, "Garden", "Water the beds along the south wall", 6, "TAKEN"),
    (2008, "Youth club", "The table tennis cup starts at five", 2, "OPEN"),
]
PAGING = ("limit", "offset")
INTEGER, TEXT = {"type": "integer"}, {"type": "string", "minLength": 1}
MODELS: dict[str, dict[str, Any]] = {
    "NewTake": {"errandId": INTEGER},
    "NewOutcome": {
        "takeId": INTEGER,
        "outcome": TEXT,
        "channel": {"type": "string", "enum": ["screen", "print", "speech"]},
        "minutesSpent": {"type": "integer", "minimum": 1},
    },
    "Closing": {"takeId": INTEGER},
}
EXTRA, ENUM = "additionalProperties", "must be equal to one of the allowed values"
BODIES = {"claim-task-public": "NewTake", "submit-task-result-public": "NewOutcome"}
BODIES["complete-task-public"] = "Closing"
HOME = """<!DOCTYPE html><html lang="en"><head><title>errands</title></head><body><h1>errands</h1>
<h3>OpenAPI spec: <a href="/openapi.json">/openapi.json</a></h3></body></html>"""


class LoopbackErrands(Backend):
    """Errands of a parish hall and who takes them."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, int] = {}
        names = ("id", "title", "description", "credits", "status")
        self.errands: dict[int, dict[str, Any]] = {
            e[0]: dict(zip(names, e, strict=True)) for e in ERRANDS
        }
        self.takes: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {str(e[0]): e[2] for e in ERRANDS if e[4] == "OPEN"}

    @staticmethod
    def _error(status: int, name: str, message: str, **more: Any) -> Response:
        error = {"statusCode": status, "name": name, "message": message}
        return Response(status, {"error": error | more})

    def missing(self, request: Request) -> Response:
        said = f'Endpoint "{request.method} {request.path}" not found.'
        return self._error(404, "NotFoundError", said)

    def document(self, request: Request) -> Response:
        if request.path == "/":
            return Response(200, HOME, {"Content-Type": "text/html; charset=utf-8"})
        if request.path != "/openapi.json":
            return self.missing(request)
        paths: dict[str, Any] = {
            f"/functions/v1/{path}": {
                "post": {
                    "requestBody": {
                        "required": True,
                        "content": {
                            "application/json": {
                                "schema": {"$ref": f"#/components/schemas/{model}"}
                            }
                        },
                    },
                    "responses": {"200": {"description": "OK"}},
                    "security": [{"jwt": []}],
                }
            }
            for path, model in BODIES.items()
        }
        paths["/functions/v1/get-marketplace-tasks"] = {
            "get": {
                "parameters": [
                    {"name": n, "in": "query", "schema": INTEGER} for n in PAGING
                ],
                "responses": {"200": {"description": "Array of Errand"}},
                "security": [{"jwt": []}],
            }
        }
        schemas = {
            name: {
                "type": "object",
                "required": list(fields),
                "properties": fields,
                "additionalProperties": False,
            }
            for name, fields in MODELS.items()
        }
        jwt = {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
        info = {"title": "errands", "version": "1.4.0"}
        parts = {"schemas": schemas, "securitySchemes": {"jwt": jwt}}
        document = {
            "openapi": "3.0.0",
            "info": info,
            "paths": paths,
            "components": parts,
        }
        return Response(200, document | {"servers": [{"url": "/"}]})

    def _body(self, request: Request, model: str) -> Any:
        """Return the body that AJV passes, or the refusal."""
        if request.token not in self.agents:
            return self._error(401, "UnauthorizedError", "Error verifying token")
        if not request.raw.strip():
            more: dict[str, Any] = {"code": "MISSING_REQUIRED_PARAMETER"}
            return self._error(
                400, "BadRequestError", "Request body is required", **more
            )
        try:
            body = request.json()
        except ValueError as error:
            return self._error(400, "SyntaxError", str(error))
        details = self._faults(body, MODELS[model])
        if not details:
            return body
        said = "The request body is invalid. See error object `details` property for more info."
        more = {"code": "VALIDATION_FAILED", "details": details}
        return self._error(422, "UnprocessableEntityError", said, **more)

    @staticmethod
    def _faults(body: Any, fields: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the details of all that AJV finds wrong."""
        details: list[dict[str, Any]] = []

        def note(path: str, code: str, message: str, **info: Any) -> None:
            details.append(
                {"path": path, "code": code, "message": message, "info": info}
            )

        if not isinstance(body, dict):
            note("", "type", "must be object", type="object")
            return details
        for name in (n for n in fields if n not in body):
            note(
                "",
                "required",
                f"must have required property '{name}'",
                missingProperty=name,
            )
        for name, value in body.items():
            rule, path = fields.get(name), f"/{name}"
            if rule is None:
                note(
                    "",
                    EXTRA,
                    "must NOT have additional properties",
                    additionalProperty=name,
                )
                continue
            kind = int if rule["type"] == "integer" else str
            if not isinstance(value, kind) or isinstance(value, bool):
                note(path, "type", f"must be {rule['type']}", type=rule["type"])
            elif kind is str and not value:
                note(
                    path, "minLength", "must NOT have fewer than 1 characters", limit=1
                )
            elif value not in rule.get("enum", [value]):
                note(path, "enum", ENUM, allowedValues=rule["enum"])
            elif "minimum" in rule and value < rule["minimum"]:
                note(path, "minimum", "must be >= 1", comparison=">=", limit=1)
        return details

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = f"eyJhbGciOiJIUzI1NiJ9.{secrets.token_hex(12)}.{secrets.token_hex(12)}"
        self.agents[token] = number = 40 + len(self.agents)
        return Response(200, {"id": number, "credits": 100, "token": token})

    def tasks(self, request: Request) -> Response:
        if request.token not in self.agents:
            return self._error(401, "UnauthorizedError", "Error verifying token")
        return self.marketplace(request)

    def marketplace(self, request: Request) -> Response:
        numbers = {"limit": "100", "offset": "0"} | request.query
        for name in (n for n in PAGING if not numbers[n].isdigit()):
            said = f'Invalid data "{numbers[name]}" for parameter "{name}".'
            return self._error(
                400, "BadRequestError", said, code="INVALID_PARAMETER_VALUE"
            )
        start = int(numbers["offset"])
        return Response(
            200, list(self.errands.values())[start : start + int(numbers["limit"])]
        )

    def claim(self, request: Request) -> Response:
        body = self._body(request, "NewTake")
        if isinstance(body, Response):
            return body
        number, agent = body["errandId"], self.agents[request.token]
        if not (errand := self.errands.get(number)):
            said = f"Entity not found: Errand with id {number}"
            return self._error(404, "Error", said, code="ENTITY_NOT_FOUND")
        for take in self.takes.values():
            if take["errandId"] == number and take["agentId"] == agent:
                return Response(200, {k: take[k] for k in ("id", "errandId", "status")})
        if errand["status"] != "OPEN":
            return self._error(
                409, "ConflictError", f"Errand {number} is {errand['status']}."
            )
        errand["status"] = "TAKEN"
        take = {"id": 61 + len(self.takes), "errandId": number, "status": "TAKEN"}
        self.takes[take["id"]] = take | {"agentId": agent, "outcome": ""}
        self.book.claimed(str(number))
        return Response(200, take)

    def _take(self, request: Request, number: int) -> Any:
        take = self.takes.get(number)
        if take and take["agentId"] == self.agents[request.token]:
            return take
        said = f"Entity not found: Take with id {number}"
        return self._error(404, "Error", said, code="ENTITY_NOT_FOUND")

    def submit(self, request: Request) -> Response:
        body = self._body(request, "NewOutcome")
        take = (
            body if isinstance(body, Response) else self._take(request, body["takeId"])
        )
        if isinstance(take, Response):
            return take
        if take["status"] not in ("TAKEN", "HANDED_IN"):
            return self._error(409, "ConflictError", f"Take is {take['status']}.")
        take |= {"status": "HANDED_IN", "outcome": body["outcome"]}
        self.errands[take["errandId"]]["status"] = "HANDED_IN"
        return Response(200, {k: take[k] for k in ("id", "errandId", "status")})

    def complete(self, request: Request) -> Response:
        body = self._body(request, "Closing")
        take = (
            body if isinstance(body, Response) else self._take(request, body["takeId"])
        )
        if isinstance(take, Response):
            return take
        errand = self.errands[take["errandId"]]
        if take["status"] == "PAID":
            return Response(204)
        if take["status"] != "HANDED_IN":
            return self._error(
                409, "ConflictError", f"Take is {take['status']}, hand in first."
            )
        if take["outcome"] != errand["description"].upper():
            take["status"] = errand["status"] = "DECLINED"
            return self._error(
                422, "UnprocessableEntityError", "The outcome was declined."
            )
        take["status"] = errand["status"] = "PAID"
        errand["earned"] = errand["credits"]
        self.book.pay(str(errand["id"]), errand["credits"])
        return Response(204)
