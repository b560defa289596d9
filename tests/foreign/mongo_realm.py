"""A MongoDB app: extended JSON, ObjectIds, and $jsonSchema's account of a bad document.

An identifier is {"$oid": "..."} and a number {"$numberInt": "4"}, in answers and in
requests: an ObjectId that comes as a bare string has the wrong bsonType. What a document
lacks or has too much is in the server's own error document (MongoDB 5 and later).
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

BRIEFS = (
    "the shard moved to a sunny cluster",
    "an oplog is a diary with no secrets",
    "seven replicas voted for the same goat",
    "aggregate the marbles by their colour",
    "the cursor went out for fresh air",
    "she upserted a daisy into the vase",
    "no schema survives the first winter",
    "the arbiter holds no data and no grudge",
    "unwind the wool before the kitten does",
    "a capped collection forgets politely",
    "the balancer carries boxes at midnight",
    "project only the fields with poppies",
)
SCHEMAS = {
    "claim": {"taskId": "objectId"},
    "submit": {"assignmentId": "objectId", "output": "string"},
    "complete": {"assignmentId": "objectId"},
}


def object_id() -> str:
    return "65f1" + secrets.token_hex(10)


def oid(key: str) -> dict[str, str]:
    return {"$oid": key}


def bson_type(value: Any) -> str:
    """Return the type that extended JSON says a value has."""
    if isinstance(value, dict):
        key = value.get("$oid")
        is_id = set(value) == {"$oid"} and isinstance(key, str) and len(key) == 24
        return "objectId" if is_id else "object"
    names = {str: "string", bool: "bool", int: "int", float: "double", list: "array"}
    return names.get(type(value), "null")


def broken_rules(body: dict[str, Any], schema: dict[str, str]) -> list[dict[str, Any]]:
    """Return schemaRulesNotSatisfied."""
    broken: list[dict[str, Any]] = []
    wrong = [
        {
            "propertyName": name,
            "details": [
                {
                    "operatorName": "bsonType",
                    "specifiedAs": {"bsonType": kind},
                    "reason": "type did not match",
                    "consideredValue": body[name],
                    "consideredType": bson_type(body[name]),
                }
            ],
        }
        for name, kind in schema.items()
        if name in body and bson_type(body[name]) != kind
    ]
    if wrong:
        broken.append({"operatorName": "properties", "propertiesNotSatisfied": wrong})
    if extra := [name for name in body if name not in schema]:
        broken.append(
            {
                "operatorName": "additionalProperties",
                "specifiedAs": {"additionalProperties": False},
                "additionalProperties": extra,
            }
        )
    if lacking := [name for name in schema if name not in body]:
        broken.append(
            {
                "operatorName": "required",
                "specifiedAs": {"required": [*schema]},
                "missingProperties": lacking,
            }
        )
    return broken


def no(status: int, error: str, error_code: str, **more: Any) -> Response:
    return Response(status, {"error": error, "error_code": error_code, **more})


class MongoRealm(Backend):
    """Twelve documents in a collection, and one of assignments."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, dict[str, Any]] = {}
        for at, brief in enumerate(BRIEFS):
            key = object_id()
            self.rows[key] = {
                "_id": oid(key),
                "brief": brief,
                "payout": {"$numberInt": str(at % 5 + 3)},
                "status": "OPEN",
                "createdAt": {"$date": {"$numberLong": str(1750000000000 + at * 91)}},
            }
        self.agents: dict[str, str] = {}  # token -> agent
        self.assigned: dict[str, tuple[str, str]] = {}  # assignment -> task, agent

    def texts(self) -> dict[str, str]:
        return {key: row["brief"] for key, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        return no(404, "cannot find endpoint", "EndpointNotFound")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = object_id(), secrets.token_urlsafe(40)
        self.agents[token] = agent
        answer = {"agent_id": agent, "access_token": token, "credits": 100}
        return Response(200, answer)

    def tasks(self, request: Request) -> Response:
        found = [row for row in self.rows.values() if row["status"] == "OPEN"]
        limit = request.query.get("limit", "")
        return Response(body=found[: int(limit)] if limit.isdigit() else found)

    marketplace = tasks

    def checked(self, request: Request, action: str) -> dict[str, Any] | Response:
        """Return the document, or how it fails validation."""
        if request.token not in self.agents:
            return no(401, "invalid session", "InvalidSession")
        try:
            body = request.json()
        except ValueError:
            return no(400, "invalid extended JSON", "InvalidParameter")
        if not isinstance(body, dict):
            return no(400, "argument must be a document", "InvalidParameter")
        if broken := broken_rules(body, SCHEMAS[action]):
            info = {"operatorName": "$jsonSchema", "schemaRulesNotSatisfied": broken}
            error = "Document failed validation"
            details = {"failingDocumentId": oid(object_id()), "details": info}
            return no(400, error, "MongoDBError", code=121, errInfo=details)
        return body

    def assignment(self, request: Request, body: dict[str, Any]) -> str | Response:
        """Return the task of an assignment."""
        task, agent = self.assigned.get(body["assignmentId"]["$oid"], ("", ""))
        if not task:
            return no(404, "no such assignment", "NotFound")
        if agent != self.agents[request.token]:
            return no(403, "no rule permits this write", "NoMatchingRuleFound")
        return task

    def claim(self, request: Request) -> Response:
        if isinstance(body := self.checked(request, "claim"), Response):
            return body
        task = body["taskId"]["$oid"]
        if task not in self.rows:
            return no(404, "no such task", "NotFound")
        if self.rows[task]["status"] != "OPEN":
            return no(409, "task is already assigned", "Conflict")
        self.rows[task]["status"] = "ASSIGNED"
        made = object_id()
        self.assigned[made] = (task, self.agents[request.token])
        self.book.claimed(task)
        answer = {"assignmentId": oid(made), "taskId": oid(task), "status": "ASSIGNED"}
        return Response(200, answer)

    def submit(self, request: Request) -> Response:
        if isinstance(body := self.checked(request, "submit"), Response):
            return body
        if isinstance(task := self.assignment(request, body), Response):
            return task
        row = self.rows[task]
        if row["status"] != "ASSIGNED":
            return no(409, f"assignment is {row['status']}", "Conflict")
        if body["output"] != row["brief"].upper():
            return no(422, "the output was rejected: it is not correct", "Rejected")
        row["status"] = "SUBMITTED"
        result = {"matchedCount": {"$numberInt": "1"}, "status": "SUBMITTED"}
        return Response(200, result)

    def complete(self, request: Request) -> Response:
        if isinstance(body := self.checked(request, "complete"), Response):
            return body
        if isinstance(task := self.assignment(request, body), Response):
            return task
        row = self.rows[task]
        if row["status"] != "SUBMITTED":
            return no(409, f"assignment is {row['status']}", "Conflict")
        row["status"] = "COMPLETED"
        self.book.pay(task, int(row["payout"]["$numberInt"]))
        return Response(200, {"status": "COMPLETED", "credited": row["payout"]})
