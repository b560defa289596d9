"""A Salesforce org: sObjects, custom fields that end in __c, ids of 18 characters.

Errors are a JSON array. A column that the sObject does not have is refused first, then
all the required ones that are missing, then ids that are no ids or name nothing. What is
created answers with no more than its id: the claim's id goes into the submission, and
the submission's id completes it, which pays.
"""

import itertools
import json
import re
import secrets
import string
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

BODIES = (
    "the miller weighs the flour twice",
    "tie the rope around the post",
    "a storm blew the tiles away",
    "send the samples to the second floor",
    "the clerk counts coins in silence",
    "wash the blue jug with care",
    "nine steps lead down to the well",
    "the theatre opens again in autumn",
    "gather the walnuts under the tree",
    "the surveyor drew a straight line",
    "boil the syrup until it thickens",
    "swallows nest above the stable",
)
# What can be written: the sObject that a reference points to, or string.
SOBJECTS: dict[str, dict[str, str]] = {
    "Claim__c": {"Task__c": "Task__c", "Agent__c": "Agent__c"},
    "Submission__c": {"Claim__c": "Claim__c", "Answer__c": "string"},
    "Completion__c": {"Submission__c": "Submission__c"},
}
PREFIXES = {
    "Task__c": "a00",
    "Agent__c": "a01",
    "Claim__c": "a02",
    "Submission__c": "a03",
    "Completion__c": "a04",
}
ID = re.compile(r"[A-Za-z0-9]{15}(?:[A-Z0-5]{3})?")
TOKENS = {
    bool: "VALUE_TRUE",
    int: "VALUE_NUMBER_INT",
    float: "VALUE_NUMBER_FLOAT",
    list: "START_ARRAY",
    dict: "START_OBJECT",
}


class ApiError(Exception):
    """An error of the REST API."""

    def __init__(
        self, status: int, code: str, message: str, fields: list[str] | None = None
    ) -> None:
        super().__init__(message)
        error: dict[str, Any] = {"message": message, "errorCode": code}
        if fields is not None:
            error["fields"] = fields
        self.response = Response(status, [error])


def attempt(step: Callable[[Request], Response], request: Request) -> Response:
    """Run a request; the error it ends with is the answer."""
    try:
        return step(request)
    except ApiError as no:
        return no.response


def long_id(short: str) -> str:
    """Return the 18 characters of an id of 15: three tell the case of the others."""
    tail = ""
    for start in (0, 5, 10):
        five = short[start : start + 5]
        bits = sum(1 << at for at, char in enumerate(five) if char.isupper())
        tail += (string.ascii_uppercase + "012345")[bits]
    return short + tail


def check_type(name: str, value: Any, kind: str) -> None:
    """Refuse a value that no column of this kind can hold."""
    if value is None or isinstance(value, str):
        return
    shown = "" if isinstance(value, list | dict) else f" value {json.dumps(value)}"
    wanted = "string" if kind == "string" else "reference"
    raise ApiError(
        400,
        "JSON_PARSER_ERROR",
        f"Cannot deserialize instance of {wanted} from {TOKENS[type(value)]}{shown} "
        f"or request may be missing a required field: {name}",
    )


def sobject(request: Request, kind: str) -> dict[str, str]:
    """Read a body into an sObject; column names compare without case."""
    try:
        body = request.json()
    except ValueError as fault:
        told = "The HTTP entity body is required, but this request has no entity body."
        if request.raw.strip():
            told = "Unexpected character in the entity body: not a JSON document"
        raise ApiError(400, "JSON_PARSER_ERROR", told) from fault
    if not isinstance(body, dict):
        told = f"Can not deserialize {kind} out of {TOKENS.get(type(body), 'VALUE_STRING')} token"
        raise ApiError(400, "JSON_PARSER_ERROR", told)
    columns = {name.lower(): name for name in SOBJECTS[kind]}
    found: dict[str, str] = {}
    for name, value in body.items():
        if name.lower() not in columns:
            told = f"No such column '{name}' on sobject of type {kind}"
            raise ApiError(400, "INVALID_FIELD", told)
        column = columns[name.lower()]
        check_type(column, value, SOBJECTS[kind][column])
        found[column] = value
    if lacking := [name for name in SOBJECTS[kind] if not found.get(name)]:
        told = f"Required fields are missing: [{', '.join(lacking)}]"
        raise ApiError(400, "REQUIRED_FIELD_MISSING", told, lacking)
    return found


class Salesforce(Backend):
    """An org with four custom objects."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, dict[str, Any]] = {}  # id of 18 characters -> row
        self.sessions: dict[str, str] = {}
        self.numbers = itertools.count(3571)
        for at, text in enumerate(BODIES):
            row = {"Body__c": text, "Reward__c": float((at * 8) % 9 + 1)}
            self.insert("Task__c", {"Name": f"TASK-{at + 101:05d}", **row})

    def insert(self, kind: str, row: dict[str, Any]) -> str:
        """Store a row and return its id."""
        number = next(self.numbers) * 7919
        tail = ""
        while number:
            number, digit = divmod(number, 62)
            tail = (string.digits + string.ascii_letters)[digit] + tail
        found = long_id(f"{PREFIXES[kind]}5g00000{tail:0>5}")
        self.rows[found] = {"kind": kind, "Status__c": "Open", **row}
        return found

    def created(self, kind: str, row: dict[str, Any]) -> Response:
        made = {"id": self.insert(kind, row), "success": True, "errors": []}
        return Response(201, made)

    def open_tasks(self) -> list[tuple[str, dict[str, Any]]]:
        rows = self.rows.items()
        return [
            (key, row)
            for key, row in rows
            if row["kind"] == "Task__c" and row["Status__c"] == "Open"
        ]

    def texts(self) -> dict[str, str]:
        rows = self.rows.items()
        return {key: row["Body__c"] for key, row in rows if row["kind"] == "Task__c"}

    def missing(self, request: Request) -> Response:
        told = "The requested resource does not exist"
        return ApiError(404, "NOT_FOUND", told).response

    def register(self, request: Request) -> Response:
        agent, token = self.insert("Agent__c", {}), f"00D5g!{secrets.token_hex(32)}"
        self.sessions[token] = agent
        self.book.registrations += 1
        return Response(body={"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        records = [
            {
                "attributes": {
                    "type": "Task__c",
                    "url": f"/services/data/v61.0/sobjects/Task__c/{key}",
                },
                "Id": key,
                "Name": row["Name"],
                "Body__c": row["Body__c"],
                "Reward__c": row["Reward__c"],
                "Status__c": row["Status__c"],
            }
            for key, row in self.open_tasks()
        ]
        return Response(
            body={"totalSize": len(records), "done": True, "records": records}
        )

    def marketplace(self, request: Request) -> Response:
        return self.tasks(request)

    def user(self, request: Request) -> str:
        if request.token not in self.sessions:
            raise ApiError(401, "INVALID_SESSION_ID", "Session expired or invalid")
        return self.sessions[request.token]

    def resolve(self, body: dict[str, str], kind: str) -> dict[str, str]:
        """Check the references of an sObject and return them with long ids."""
        found = dict(body)
        for name, target in SOBJECTS[kind].items():
            if target == "string":
                continue
            given, label = body[name], target.removesuffix("__c")
            if not ID.fullmatch(given):
                told = f"{label}: id value of incorrect type: {given}"
                raise ApiError(400, "MALFORMED_ID", told, [name])
            found[name] = long_id(given[:15])
            if not given.startswith(PREFIXES[target]):
                told = f"{label}: id value of incorrect type: {given}"
                raise ApiError(400, "FIELD_INTEGRITY_EXCEPTION", told, [name])
            if found[name] not in self.rows:
                told = "invalid cross reference id"
                raise ApiError(400, "INVALID_CROSS_REFERENCE_KEY", told, [])
        return found

    def own(self, owner: str, agent: str, given: str) -> None:
        """Refuse what belongs to another user."""
        if owner != agent:
            told = f"insufficient access rights on cross-reference id: {given[:15]}"
            code = "INSUFFICIENT_ACCESS_ON_CROSS_REFERENCE_ENTITY"
            raise ApiError(400, code, told, [])

    def unique(self, kind: str, name: str, value: str) -> None:
        """Refuse a second row with the same value."""
        for key, row in self.rows.items():
            if row["kind"] == kind and row[name] == value:
                told = f"duplicate value found: {name} duplicates value on record with id: {key[:15]}"
                raise ApiError(400, "DUPLICATE_VALUE", told, [])

    def claim(self, request: Request) -> Response:
        return attempt(self.on_claim, request)

    def on_claim(self, request: Request) -> Response:
        agent = self.user(request)
        row = self.resolve(sobject(request, "Claim__c"), "Claim__c")
        self.own(row["Agent__c"], agent, row["Agent__c"])
        self.unique("Claim__c", "Task__c", row["Task__c"])
        self.rows[row["Task__c"]]["Status__c"] = "Claimed"
        self.book.claimed(row["Task__c"])
        return self.created("Claim__c", row)

    def submit(self, request: Request) -> Response:
        return attempt(self.on_submit, request)

    def on_submit(self, request: Request) -> Response:
        agent = self.user(request)
        row = self.resolve(sobject(request, "Submission__c"), "Submission__c")
        claim = self.rows[row["Claim__c"]]
        self.own(claim["Agent__c"], agent, row["Claim__c"])
        self.unique("Submission__c", "Claim__c", row["Claim__c"])
        if row["Answer__c"] != self.rows[claim["Task__c"]]["Body__c"].upper():
            code = "FIELD_CUSTOM_VALIDATION_EXCEPTION"
            raise ApiError(400, code, "The answer is not correct.", ["Answer__c"])
        return self.created("Submission__c", row)

    def complete(self, request: Request) -> Response:
        return attempt(self.on_complete, request)

    def on_complete(self, request: Request) -> Response:
        agent = self.user(request)
        row = self.resolve(sobject(request, "Completion__c"), "Completion__c")
        claim = self.rows[self.rows[row["Submission__c"]]["Claim__c"]]
        self.own(claim["Agent__c"], agent, row["Submission__c"])
        self.unique("Completion__c", "Submission__c", row["Submission__c"])
        task = claim["Task__c"]
        self.rows[task]["Status__c"] = "Completed"
        self.book.pay(task, int(self.rows[task]["Reward__c"]))
        return self.created("Completion__c", row)
