"""hapi with Joi validation and Boom errors.

Lists {"tasks": [...], "count": n}: each with `_id` (24 hex digits), `kind`, `payload.text`,
`price` ({"amount", "unit"}).
claim wants {"taskId": hex}; 200 {"task": {...}, "lease": {"leaseId", "expiresAt"}}.
submit wants {"taskId", "leaseId", "answer": {"text": str}}; 200 {"accepted": true, ...}.
complete wants {"taskId", "leaseId"}; pays, 200 {"task", "payout"}.
Errors are Boom's {"statusCode", "error", "message"}, with Joi's message and
`validation: {"source", "keys"}`; abortEarly is on (first error only), unknown keys are not allowed.
"""

import re
import time
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TEXTS = [
    "a red lantern swings above the entrance of the noodle house",
    "my grandmother kept her recipes in a tin under the stairs",
    "the last bus to the valley waits for the train from the city",
    "three students painted the fence during the summer holidays",
    "there is a small museum of clocks behind the town library",
    "she found an old map between the pages of a cookery book",
]
NAMES = {
    400: "Bad Request",
    401: "Unauthorized",
    404: "Not Found",
    409: "Conflict",
    422: "Unprocessable Entity",
}
HEX = re.compile(r"[0-9a-fA-F]{24}")
GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def boom(status: int, message: str, **more: Any) -> Response:
    """Return a Boom error's payload."""
    body = {"statusCode": status, "error": NAMES[status], "message": message, **more}
    return Response(status, body)


def joi(given: Any, schema: dict[str, Any], path: str = "") -> tuple[str, str]:
    """Return the first error's message and key, or two empty strings.

    A schema has for each key the name of its type, or a schema again; all are required.
    """
    for key, kind in schema.items():
        label = f"{path}{key}"
        if key not in given:
            return f'"{label}" is required', label
        value = given[key]
        if isinstance(kind, dict):
            if not isinstance(value, dict):
                return f'"{label}" must be of type object', label
            message, at = joi(value, kind, f"{label}.")
            if message:
                return message, at
        elif not isinstance(value, str):
            return f'"{label}" must be a string', label
        elif not value:
            return f'"{label}" is not allowed to be empty', label
        elif kind == "hex" and not re.fullmatch(r"[0-9a-fA-F]+", value):
            return f'"{label}" must only contain hexadecimal characters', label
        elif kind == "hex" and not HEX.fullmatch(value):
            return f'"{label}" length must be 24 characters long', label
        elif kind == "guid" and not GUID.fullmatch(value):
            return f'"{label}" must be a valid GUID', label
    for key in given:
        if key not in schema:
            return f'"{path}{key}" is not allowed', f"{path}{key}"
    return "", ""


class HapiJoi(Backend):
    """Tasks under leases, as a hapi server with Mongo behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.rows: dict[str, dict[str, Any]] = {}
        self.leases: dict[str, dict[str, Any]] = {}  # by task
        for number, text in enumerate(TEXTS):
            key = f"65f1c0a9e4b0d2{0x3A7F10 + 37 * number:010x}"
            self.rows[key] = {
                "_id": key,
                "kind": "uppercase",
                "description": "Turn payload.text into upper case",
                "payload": {"text": text, "lang": "en"},
                "price": {"amount": 8 + number, "unit": "credits"},
                "state": "available",
            }

    def texts(self) -> dict[str, str]:
        return {key: row["payload"]["text"] for key, row in self.rows.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = uuid.uuid4().hex
        agent = {"agent_id": uuid.uuid4().hex[:24], "credits": 100}
        self.agents[token] = agent
        return Response(201, {**agent, "access_token": token})

    def unauthorized(self, request: Request) -> Response | None:
        if request.token in self.agents:
            return None
        if not request.token:
            return boom(401, "Missing authentication")
        return boom(401, "Bad token", attributes={"error": "Bad token"})

    def tasks(self, request: Request) -> Response:
        refusal = self.unauthorized(request)
        if refusal:
            return refusal
        limit = request.query.get("limit", "25")
        wrong = ""
        if not re.fullmatch(r"-?\d+", limit):
            wrong = '"limit" must be a number'
        elif int(limit) < 1:
            wrong = '"limit" must be greater than or equal to 1'
        elif int(limit) > 100:
            wrong = '"limit" must be less than or equal to 100'
        if wrong:
            where = {"source": "query", "keys": ["limit"]}
            return boom(400, wrong, validation=where)
        return self.listing(int(limit))

    def marketplace(self, request: Request) -> Response:
        return self.listing(100)

    def listing(self, limit: int) -> Response:
        found = [row for row in self.rows.values() if row["state"] == "available"]
        return Response(200, {"tasks": found[:limit], "count": len(found)})

    def payload(
        self, request: Request, schema: dict[str, Any]
    ) -> dict[str, Any] | Response:
        refusal = self.unauthorized(request)
        if refusal:
            return refusal
        try:
            given = request.json() if request.raw else None
        except ValueError:
            return boom(400, "Invalid request payload JSON format")
        if not isinstance(given, dict):
            where = {"source": "payload", "keys": [""]}
            return boom(400, '"value" must be of type object', validation=where)
        message, key = joi(given, schema)
        if message:
            return boom(400, message, validation={"source": "payload", "keys": [key]})
        return given

    def claim(self, request: Request) -> Response:
        given = self.payload(request, {"taskId": "hex"})
        if isinstance(given, Response):
            return given
        row = self.rows.get(given["taskId"].lower())
        if row is None:
            return boom(404, "Task not found")
        lease = self.leases.get(row["_id"])
        if lease and (lease["owner"] != request.token or row["state"] == "done"):
            return boom(409, "Task is not available")
        if not lease:
            lease = {
                "leaseId": str(uuid.uuid4()),
                "expiresAt": int((time.time() + 1800) * 1000),
                "owner": request.token,
            }
            self.leases[row["_id"]] = lease
            row["state"] = "leased"
            self.book.claimed(row["_id"])
        shown = {"leaseId": lease["leaseId"], "expiresAt": lease["expiresAt"]}
        return Response(200, {"task": row, "lease": shown})

    def leased(self, given: dict[str, Any], token: str) -> dict[str, Any] | Response:
        """Return the task that the lease is for."""
        row = self.rows.get(given["taskId"].lower())
        if row is None:
            return boom(404, "Task not found")
        lease = self.leases.get(row["_id"])
        if (
            lease is None
            or lease["owner"] != token
            or lease["leaseId"] != given["leaseId"]
        ):
            return boom(409, "No such lease on this task")
        return row

    def submit(self, request: Request) -> Response:
        schema = {"taskId": "hex", "leaseId": "guid", "answer": {"text": "string"}}
        given = self.payload(request, schema)
        if isinstance(given, Response):
            return given
        row = self.leased(given, request.token)
        if isinstance(row, Response):
            return row
        if row["state"] == "done":
            return boom(409, "Task is already completed")
        if given["answer"]["text"] != row["payload"]["text"].upper():
            return boom(422, "Answer does not match the expected upper case text")
        row["state"] = "answered"
        return Response(
            200, {"accepted": True, "taskId": row["_id"], "state": "answered"}
        )

    def complete(self, request: Request) -> Response:
        given = self.payload(request, {"taskId": "hex", "leaseId": "guid"})
        if isinstance(given, Response):
            return given
        row = self.leased(given, request.token)
        if isinstance(row, Response):
            return row
        if row["state"] == "leased":
            return boom(409, "Task has no accepted answer")
        agent = self.agents[request.token]
        if row["state"] == "answered":
            row["state"] = "done"
            agent["credits"] += row["price"]["amount"]
            self.book.pay(row["_id"], row["price"]["amount"])
        payout = {**row["price"], "balance": agent["credits"]}
        return Response(
            200, {"task": {"_id": row["_id"], "state": "done"}, "payout": payout}
        )
