"""Fieldforce: an enterprise's work items on a Salesforce-like platform (REST, custom objects).

`__c` names, 18-character ids, errors as a list of {message, errorCode, fields}; unknown
columns are refused; every item is listed whatever its status; completion pays.
"""

import random
import re
import string
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_ITEMS = [
    ("Asset tag, pump house", "Pump station north, unit four", 25.0),
    ("Safety sign, gate B", "Hard hats beyond this point", 60.0),
    ("Valve label", "Main isolation valve - do not close", 40.0),
    ("Meter plate", "Flow meter 17, calibrated yearly", 12.0),
    ("Cabinet label", "Telemetry cabinet east", 32.0),
    ("Warning notice", "Confined space, permit required", 75.0),
]
_ALPHABET = string.ascii_letters + string.digits
_NOT_FOUND = "The requested resource does not exist"
_PREFIXES = {
    "User": "005",
    "Work_Item__c": "a0W",
    "Assignment__c": "a0A",
    "Delivery__c": "a0D",
}
# The columns of the objects that an agent creates or closes: name -> type.
_COLUMNS = {
    "Assignment__c": {"Work_Item__c": "id", "Agent__c": "id"},
    "Delivery__c": {
        "Assignment__c": "id",
        "Result__c": "string",
        "Hours_Spent__c": "double",
    },
    "Completion__c": {"Delivery__c": "id", "Is_Final__c": "boolean"},
    "Checkout__c": dict.fromkeys(("plan", "agent_id", "price_id"), "string")
    | dict.fromkeys(("requested_credits", "amount_cents"), "double"),
}
_TOKENS = {str: "VALUE_STRING", int: "VALUE_NUMBER_INT", float: "VALUE_NUMBER_FLOAT"}
_TOKENS |= {dict: "START_OBJECT", list: "START_ARRAY", bool: "VALUE_BOOLEAN"}


def _checked(id15: str) -> str:
    """Return the 18-character form of an id: a letter for the capitals of each five."""
    letters = string.ascii_uppercase + "012345"
    chunks = (id15[start : start + 5] for start in (0, 5, 10))
    sums = (
        sum(1 << i for i, c in enumerate(chunk) if c in letters[:26])
        for chunk in chunks
    )
    return id15 + "".join(letters[sum_] for sum_ in sums)


def _new_id(type_: str) -> str:
    return _checked(
        _PREFIXES[type_] + "8d00000" + "".join(random.choices(_ALPHABET, k=5))  # noqa: S311
    )


class _Fault(Exception):  # noqa: N818
    def __init__(self, status: int, code: str, message: str, *fields: str) -> None:
        super().__init__(message)
        self.status = status
        self.error: dict[str, Any] = {"message": message, "errorCode": code}
        if status == 400 and code not in ("JSON_PARSER_ERROR", "INVALID_FIELD"):
            self.error["fields"] = list(fields)


def _reply(status: int, body: Any) -> Response:
    return Response(status, body, {"Content-Type": "application/json;charset=UTF-8"})


def _resource(handler: Callable[..., Any]) -> Callable[..., Response]:
    def wrapped(self: Any, request: Request) -> Response:
        try:
            return _reply(200, handler(self, request))
        except _Fault as fault:
            return _reply(fault.status, [fault.error])

    return wrapped


def _typed(value: Any, column: str, kind: str) -> Any:
    if kind == "double" and re.fullmatch(r"-?\d+(\.\d+)?", str(value)):
        return float(value)
    if kind == "boolean" and str(value).lower() in ("true", "false"):
        return str(value).lower() == "true"
    if kind == "string" and isinstance(value, str):
        return value
    if kind == "id" and isinstance(value, str):
        id_ = _checked(value) if len(value) == 15 else value
        if len(id_) == 18 and id_.isalnum() and _checked(id_[:15]) == id_:
            return id_
        label = column.removesuffix("__c").replace("_", " ")
        raise _Fault(
            400, "MALFORMED_ID", f"{label}: id value of incorrect type: {value}", column
        )
    message = f"Cannot deserialize instance of {kind} from {_TOKENS[type(value)]} value {value}"
    message += " or request may be missing a required field"
    raise _Fault(400, "JSON_PARSER_ERROR", message)


def _record(request: Request, type_: str) -> dict[str, Any]:
    """Return the fields of the record that the body describes."""
    media = request.headers.get_content_type()
    if media != "application/json":
        message = (
            f"Content-Type header specified in HTTP request is not supported: {media}"
        )
        raise _Fault(415, "UNSUPPORTED_MEDIA_TYPE", message)
    try:
        body = request.json()
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise _Fault(
            400, "JSON_PARSER_ERROR", "The HTTP entity body is not a JSON object"
        )
    columns = _COLUMNS[type_]
    by_lower = {column.lower(): column for column in columns}
    record = {}
    for name, value in body.items():
        column = by_lower.get(name.lower())
        if column is None:
            raise _Fault(
                400,
                "INVALID_FIELD",
                f"No such column '{name}' on sobject of type {type_}",
            )
        if value not in (None, ""):
            record[column] = _typed(value, column, columns[column])
    # An unticked checkbox is false, never missing.
    record |= {c: False for c in columns if columns[c] == "boolean" and c not in record}
    absent = [column for column in columns if column not in record]
    if absent:
        message = f"Required fields are missing: [{', '.join(absent)}]"
        raise _Fault(400, "REQUIRED_FIELD_MISSING", message, *absent)
    return record


class Fieldforce(Backend):
    """Salesforce-like: Work_Item__c, Assignment__c, Delivery__c."""

    def __init__(self) -> None:
        super().__init__()
        self._users: dict[str, dict[str, Any]] = {}  # by token
        self._objects: dict[
            str, dict[str, Any]
        ] = {}  # by id, what a lookup can point to
        self._items: dict[str, dict[str, Any]] = {}
        for number, (subject, text, credits_) in enumerate(_ITEMS, 1):
            id_ = _new_id("Work_Item__c")
            self._items[id_] = {
                "attributes": {"type": "Work_Item__c"},
                "Id": id_,
                "Name": f"WI-{number:06}",
                "Subject__c": subject,
                "Instructions__c": "Provide the source text in capital letters.",
                "Source_Text__c": text,
                "Reward_Credits__c": credits_,
                "Status__c": "Available",
            }
            self._created("Work_Item__c", None, self._items[id_])

    def texts(self) -> dict[str, str]:
        return {id_: item["Source_Text__c"] for id_, item in self._items.items()}

    def missing(self, request: Request) -> Response:
        return _reply(404, [_Fault(404, "NOT_FOUND", _NOT_FOUND).error])

    def _user(self, request: Request) -> dict[str, Any]:
        if request.token not in self._users:
            raise _Fault(401, "INVALID_SESSION_ID", "Session expired or invalid")
        return self._users[request.token]

    @_resource
    def register(self, request: Request) -> Any:
        self.book.registrations += 1
        id_ = _new_id("User")
        token = "00D8d0000001xYz!AQ" + "".join(random.choices(_ALPHABET + "._", k=60))  # noqa: S311
        self._users[token] = {"Id": id_, "Credits__c": 100.0}
        return {"agent_id": id_, "access_token": token, "credits": 100}

    @_resource
    def checkout(self, request: Request) -> Any:
        order = _record(request, "Checkout__c")
        return {
            "ok": True,
            "mode": "invoice",
            "agentId": order["agent_id"],
            "plan": order["plan"],
        }

    def _query(self, request: Request) -> Any:
        limit = request.query.get("limit", "2000")
        if not limit.isdigit():
            raise _Fault(400, "MALFORMED_QUERY", f"unexpected token: '{limit}'")
        records = list(self._items.values())[: int(limit)]
        return {"totalSize": len(records), "done": True, "records": records}

    marketplace = _resource(_query)

    @_resource
    def tasks(self, request: Request) -> Any:
        self._user(request)
        return self._query(request)

    @_resource
    def agents(self, request: Request) -> Any:
        if "slug" in request.query:
            raise _Fault(404, "NOT_FOUND", _NOT_FOUND)
        records = [{"Id": user["Id"]} for user in self._users.values()]
        return {"totalSize": len(records), "done": True, "records": records}

    directory = agents

    @_resource
    def post(self, request: Request) -> Any:
        self._user(request)
        code = "CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY"
        raise _Fault(400, code, "entity type cannot be inserted: Work Item")

    @staticmethod
    def _rule(holds: bool, message: str, field: str) -> None:  # noqa: FBT001
        if not holds:
            raise _Fault(400, "FIELD_CUSTOM_VALIDATION_EXCEPTION", message, field)

    def _own(
        self, request: Request, type_: str, field: str
    ) -> tuple[Any, dict[str, Any], Any]:
        """Return the user, the record of the body, and what its lookup field points to."""
        user = self._user(request)
        record = _record(request, type_)
        found = self._objects.get(record[field])
        if found is None or found["type"] != field or found["user"] not in (None, user):
            raise _Fault(
                400, "INVALID_CROSS_REFERENCE_KEY", "invalid cross reference id", field
            )
        return user, record, found["item"]

    def _created(self, type_: str, user: Any, item: Any) -> dict[str, Any]:
        id_ = _new_id(type_) if user else item["Id"]
        self._objects[id_] = {"type": type_, "user": user, "item": item}
        return {"id": id_, "success": True, "errors": []}

    @_resource
    def claim(self, request: Request) -> Any:
        user, record, item = self._own(request, "Assignment__c", "Work_Item__c")
        me = record["Agent__c"] == user["Id"]
        self._rule(me, "Agent must be the user who is logged in.", "Agent__c")
        message = (
            f"Work item must be Available to be assigned (it is {item['Status__c']})."
        )
        self._rule(item["Status__c"] == "Available", message, "Work_Item__c")
        item["Status__c"] = "Assigned"
        self.book.claimed(item["Id"])
        return self._created("Assignment__c", user, item)

    @_resource
    def submit(self, request: Request) -> Any:
        user, record, item = self._own(request, "Delivery__c", "Assignment__c")
        message = "This assignment has already been delivered."
        self._rule(item["Status__c"] == "Assigned", message, "Assignment__c")
        message = "Hours Spent must be greater than 0."
        self._rule(record["Hours_Spent__c"] > 0, message, "Hours_Spent__c")
        message = "Result must be the source text of the work item in capital letters."
        self._rule(
            record["Result__c"] == item["Source_Text__c"].upper(), message, "Result__c"
        )
        item["Status__c"] = "Delivered"
        return self._created("Delivery__c", user, item)

    @_resource
    def complete(self, request: Request) -> Any:
        user, record, item = self._own(request, "Completion__c", "Delivery__c")
        message = "This delivery has already been completed."
        self._rule(item["Status__c"] == "Delivered", message, "Delivery__c")
        message = "Is Final must be true to complete a delivery."
        self._rule(record["Is_Final__c"], message, "Is_Final__c")
        item["Status__c"] = "Paid"
        user["Credits__c"] += item["Reward_Credits__c"]
        self.book.pay(item["Id"], int(item["Reward_Credits__c"]))
        answer = {"id": record["Delivery__c"], "success": True, "errors": []}
        return {**answer, "Credits_Paid__c": item["Reward_Credits__c"]}
