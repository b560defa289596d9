"""A Feathers 5 application with MongoDB and Ajv schemas, as its generator writes them.

Lists {"total", "limit", "skip", "data"} with ObjectIds as _id, five at a time, more
with skip. Refuses as @feathersjs/errors does: {"name": "BadRequest", "message":
"validation failed", "code": 400, "className": "bad-request", "data": [Ajv's errors, all
of them]}, and no additional properties. The delivery is nested (payload.body,
payload.mimeType); submit makes a deliverable, and complete wants that one's id and the
minutes spent. Creates answer 201. Pays at once on complete.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

CLASSES = {
    400: ("BadRequest", "bad-request"),
    401: ("NotAuthenticated", "not-authenticated"),
    403: ("Forbidden", "forbidden"),
    404: ("NotFound", "not-found"),
    409: ("Conflict", "conflict"),
    422: ("Unprocessable", "unprocessable"),
}
ITEMS = [
    (
        "665f1c2e9b1d8a0012ab3401",
        "Rewrite for a kiosk",
        "Please wipe your boots before the glass floor.",
        10,
        None,
    ),
    (
        "665f1c2e9b1d8a0012ab3402",
        "Trail sign",
        "Keep dogs on the lead between March and July.",
        6,
        None,
    ),
    (
        "665f1c2e9b1d8a0012ab3405",
        "Hut book",
        "The stove takes dry birch and nothing else.",
        13,
        "665e0000000000000000aa01",
    ),
    (
        "665f1c2e9b1d8a0012ab3407",
        "Avalanche line",
        "Danger is considerable above two thousand metres.",
        17,
        None,
    ),
    (
        "665f1c2e9b1d8a0012ab340a",
        "Lift ticker",
        "The Ostgrat lift runs at half speed in wind.",
        4,
        None,
    ),
    (
        "665f1c2e9b1d8a0012ab340b",
        "Map legend",
        "Dotted red lines are routes without a path.",
        9,
        None,
    ),
    (
        "665f1c2e9b1d8a0012ab340f",
        "Guide's note",
        "Grüße an alle: rope up before the bridge.",
        12,
        None,
    ),
]
STRING = {"type": "string", "minLength": 1}
CLAIM = {
    "type": "object",
    "required": ["workItemId"],
    "properties": {"workItemId": STRING},
}
PAYLOAD = {
    "type": "object",
    "required": ["body", "mimeType"],
    "properties": {
        "body": STRING,
        "mimeType": {"type": "string", "enum": ["text/plain", "text/markdown"]},
    },
}
SUBMIT = {
    "type": "object",
    "required": ["workItemId", "payload"],
    "properties": {"workItemId": STRING, "payload": PAYLOAD},
}
COMPLETE = {
    "type": "object",
    "required": ["deliverableId", "minutesSpent"],
    "properties": {
        "deliverableId": STRING,
        "minutesSpent": {"type": "integer", "minimum": 1},
    },
}
TYPES: dict[str, Any] = {"object": dict, "string": str, "integer": int}


def _ajv(
    schema: dict[str, Any], value: Any, at: str = "", where: str = "#"
) -> list[dict[str, Any]]:
    """Return what Ajv finds, with allErrors."""

    def error(keyword: str, params: dict[str, Any], message: str) -> dict[str, Any]:
        return {
            "instancePath": at,
            "schemaPath": f"{where}/{keyword}",
            "keyword": keyword,
            "params": params,
            "message": message,
        }

    kind = schema["type"]
    if not isinstance(value, TYPES[kind]) or isinstance(value, bool):
        return [error("type", {"type": kind}, f"must be {kind}")]
    if kind == "string":
        if len(value) < schema.get("minLength", 0):
            message = "must NOT have fewer than 1 characters"
            return [error("minLength", {"limit": 1}, message)]
        if value not in schema.get("enum", [value]):
            message = "must be equal to one of the allowed values"
            return [error("enum", {"allowedValues": schema["enum"]}, message)]
    if kind == "integer" and value < schema["minimum"]:
        least = schema["minimum"]
        params = {"comparison": ">=", "limit": least}
        return [error("minimum", params, f"must be >= {least}")]
    if kind != "object":
        return []
    found = [
        error("required", {"missingProperty": n}, f"must have required property '{n}'")
        for n in schema["required"]
        if n not in value
    ]
    message = "must NOT have additional properties"
    found += [
        error("additionalProperties", {"additionalProperty": n}, message)
        for n in value
        if n not in schema["properties"]
    ]
    for name, inner in schema["properties"].items():
        if name in value:
            found += _ajv(
                inner, value[name], f"{at}/{name}", f"{where}/properties/{name}"
            )
    return found


class FeathersServices(Backend):
    """The services work-items, assignments and deliverables."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        self._assignments: dict[str, dict[str, Any]] = {}
        self._deliverables: dict[str, str] = {}
        self._done: set[str] = set()

    def texts(self) -> dict[str, str]:
        return {item[0]: item[2] for item in ITEMS if not item[4]}

    @staticmethod
    def _error(code: int, message: str, data: Any = None) -> Response:
        name, class_name = CLASSES[code]
        body = {"name": name, "message": message, "code": code, "className": class_name}
        return Response(code, {**body, "data": data} if data else body)

    def missing(self, request: Request) -> Response:
        return self._error(404, f"Path {request.path} not found")

    def _check(
        self, request: Request, schema: dict[str, Any]
    ) -> tuple[Any, Response | None]:
        if request.token not in self._agents:
            return {}, self._error(
                401, "Not authenticated" if not request.token else "jwt malformed"
            )
        try:
            body = request.json() if request.raw else {}
        except ValueError as error:
            return {}, self._error(400, f"{error}")
        errors = _ajv(schema, body)
        return body, self._error(400, "validation failed", errors) if errors else None

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token, agent = (
            f"eyJhbGciOiJIUzI1NiJ9.{secrets.token_hex(24)}",
            secrets.token_hex(12),
        )
        self._agents[token] = agent
        user = {"_id": agent, "role": "agent", "credits": 100}
        return Response(
            201,
            {"accessToken": token, "authentication": {"strategy": "jwt"}, "user": user},
        )

    def tasks(self, request: Request) -> Response:
        if request.token not in self._agents:
            return self._error(401, "Not authenticated")
        given = {n.lstrip("$"): int(v) for n, v in request.query.items() if v.isdigit()}
        limit, skip = min(given.get("limit", 5), 50), given.get("skip", 0)
        data = []
        for i, title, description, credits_, owner in ITEMS:
            holder = owner or self._assignments.get(i, {}).get("agentId")
            status = "done" if i in self._done else "assigned" if holder else "open"
            data.append(
                {
                    "_id": i,
                    "title": title,
                    "description": description,
                    "credits": credits_,
                    "status": status,
                    "assigneeId": holder,
                    "createdAt": 1717509166000,
                }
            )
        return Response(
            200,
            {
                "total": len(data),
                "limit": limit,
                "skip": skip,
                "data": data[skip : skip + limit],
            },
        )

    def claim(self, request: Request) -> Response:
        body, refusal = self._check(request, CLAIM)
        if refusal:
            return refusal
        item, agent = body["workItemId"], self._agents[request.token]
        owner = next((row[4] or "" for row in ITEMS if row[0] == item), None)
        if owner is None:
            return self._error(404, f"No record found for id '{item}'")
        held = self._assignments.get(item)
        if held and held["agentId"] == agent:
            return self._error(
                409, "You already have this work item", {"assignmentId": held["_id"]}
            )
        if owner or held:
            return self._error(409, "Work item is assigned to another agent")
        self._assignments[item] = {
            "_id": secrets.token_hex(12),
            "workItemId": item,
            "agentId": agent,
            "status": "active",
        }
        self.book.claimed(item)
        return Response(201, self._assignments[item])

    def submit(self, request: Request) -> Response:
        body, refusal = self._check(request, SUBMIT)
        if refusal:
            return refusal
        item = body["workItemId"]
        if (
            self._assignments.get(item, {}).get("agentId")
            != self._agents[request.token]
        ):
            return self._error(403, "You have no assignment for this work item")
        if item in self._done:
            return self._error(409, "Work item is done")
        if body["payload"]["body"] != self.texts()[item].upper():
            return self._error(422, "The deliverable does not meet the description")
        number = secrets.token_hex(12)
        self._deliverables[number] = item
        return Response(
            201,
            {
                "_id": number,
                "workItemId": item,
                "payload": body["payload"],
                "status": "draft",
            },
        )

    def complete(self, request: Request) -> Response:
        body, refusal = self._check(request, COMPLETE)
        if refusal:
            return refusal
        item = self._deliverables.get(body["deliverableId"], "")
        if (
            not item
            or self._assignments[item]["agentId"] != self._agents[request.token]
        ):
            return self._error(404, f"No record found for id '{body['deliverableId']}'")
        credits_ = next(row[3] for row in ITEMS if row[0] == item)
        if item not in self._done:
            self._done.add(item)
            self.book.pay(item, credits_)
        return Response(
            200,
            {
                "_id": body["deliverableId"],
                "workItemId": item,
                "status": "accepted",
                "creditsEarned": credits_,
            },
        )
