"""A Directus instance whose collections are the API: tasks, claims, results, payouts.

A field that the role may not write is a 403 (it looks exactly like a field that does not
exist), all missing ones follow as one error each, then foreign keys. Tasks are UUIDs,
claims are serial numbers; a decimal column travels as a string with five decimals. The
record that was made is answered whole, with the columns as the collection has them.
"""

import secrets
import uuid
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

BRIEFS = (
    "the cellar smells of old barrels",
    "two sparrows fought over a crumb",
    "the captain mends his only sail",
    "a basket of plums by the gate",
    "the lantern burned until morning",
    "nobody remembers the second verse",
    "the quarry filled with green water",
    "an aunt arrived with nine suitcases",
    "the dough needs an hour of peace",
    "a fox crossed the frozen canal",
    "the choir rehearses in the stable",
    "rain drummed on the tin bucket",
)
CREATED = "2025-03-04T07:15:52.108Z"
# The columns that the role may write, and all of them are required.
WRITABLE = {
    "claims": {"task": "uuid"},
    "results": {"claim": "integer", "body": "text"},
    "payouts": {"claim": "integer"},
}


class DirectusError(Exception):
    def __init__(self, status: int, *errors: tuple[str, dict[str, Any]]) -> None:
        super().__init__(errors)
        shown = [{"message": told, "extensions": more} for told, more in errors]
        self.response = Response(status, {"errors": shown})


def forbidden(reason: str) -> DirectusError:
    return DirectusError(403, (reason, {"reason": reason, "code": "FORBIDDEN"}))


def failed(field: str, kind: str, words: str) -> tuple[str, dict[str, Any]]:
    told = f'Validation failed for field "{field}". {words}'
    more = {"path": [], "field": field, "type": kind, "code": "FAILED_VALIDATION"}
    return told, more


def payload(request: Request, collection: str) -> dict[str, Any]:
    """Return what is to be written to a collection."""
    try:
        body = request.json()
    except ValueError as fault:
        told = "Invalid payload. Unexpected token in JSON."
        more = {"reason": "Unexpected token in JSON", "code": "INVALID_PAYLOAD"}
        raise DirectusError(400, (told, more)) from fault
    if isinstance(body, list):
        body = body[0] if body else {}
    if not isinstance(body, dict):
        more = {"reason": "Input must be an object", "code": "INVALID_PAYLOAD"}
        raise DirectusError(400, ("Invalid payload. Input must be an object.", more))
    wanted = WRITABLE[collection]
    for field in body:
        if field not in wanted:
            raise forbidden(
                f'You don\'t have permission to access field "{field}" in collection '
                f'"{collection}" or it does not exist.'
            )
    lacking = [field for field in wanted if body.get(field) in (None, "")]
    if lacking:
        faults = [failed(name, "required", "Value is required.") for name in lacking]
        raise DirectusError(400, *faults)
    return {name: cast(name, kind, body[name]) for name, kind in wanted.items()}


def cast(field: str, kind: str, value: Any) -> Any:
    """Return a value as its column holds it."""
    try:
        if kind == "integer":
            return int(value)
        if kind == "uuid":
            return str(uuid.UUID(value))
    except (ValueError, TypeError, AttributeError) as fault:
        told = f'Invalid type for field "{field}". Expected {kind}.'
        more = {"field": field, "expected": kind, "code": "INVALID_PAYLOAD"}
        raise DirectusError(400, (told, more)) from fault
    if not isinstance(value, str):
        raise DirectusError(400, failed(field, "string", "Value has to be a string."))
    return value


class Directus(Backend):
    """Twelve items, published."""

    def __init__(self) -> None:
        super().__init__()
        self.users: dict[str, str] = {}
        self.items: dict[str, dict[str, Any]] = {}
        self.claims: dict[int, dict[str, Any]] = {}
        self.done: set[int] = set()
        for at, brief in enumerate(BRIEFS):
            key = str(uuid.uuid5(uuid.NAMESPACE_OID, brief))
            self.items[key] = {
                "id": key,
                "status": "published",
                "sort": None,
                "date_created": CREATED,
                "brief": brief,
                "fee": f"{at * 5 % 8 + 1}.00000",
                "tags": ["uppercase", "text"],
            }

    def texts(self) -> dict[str, str]:
        return {key: item["brief"] for key, item in self.items.items()}

    def missing(self, request: Request) -> Response:
        more = {"path": request.path, "code": "ROUTE_NOT_FOUND"}
        told = f"Route {request.path} doesn't exist."
        return DirectusError(404, (told, more)).response

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token, user = secrets.token_urlsafe(24), str(uuid.uuid4())
        self.users[token] = user
        return Response(200, {"agent_id": user, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        asked = request.query.get("limit", "100")
        if not asked.lstrip("-").isdecimal():
            more = {"reason": '"limit" must be a number', "code": "INVALID_QUERY"}
            told = 'Invalid query. "limit" must be a number.'
            return DirectusError(400, (told, more)).response
        rows = [one for one in self.items.values() if one["status"] == "published"]
        limit = int(asked)
        return Response(200, {"data": rows if limit < 0 else rows[:limit]})

    marketplace = tasks

    def user(self, request: Request) -> str:
        if request.token not in self.users:
            more = {"code": "INVALID_CREDENTIALS"}
            raise DirectusError(401, ("Invalid user credentials.", more))
        return self.users[request.token]

    def created(
        self, request: Request, collection: str, run: Callable[[str, Any], Any]
    ) -> Response:
        try:
            made = run(self.user(request), payload(request, collection))
            return Response(200, {"data": made})
        except DirectusError as no:
            return no.response

    def claim(self, request: Request) -> Response:
        return self.created(request, "claims", self.on_claim)

    def on_claim(self, user: str, row: dict[str, Any]) -> Any:
        key = row["task"]
        if key not in self.items:
            raise no_key("task", "claims", key)
        if self.items[key]["status"] != "published":
            told = 'Value for field "task" in collection "claims" has to be unique.'
            more = {"collection": "claims", "field": "task", "value": key}
            raise DirectusError(400, (told, {**more, "code": "RECORD_NOT_UNIQUE"}))
        self.items[key]["status"] = "draft"
        number = 118 + len(self.claims)
        self.claims[number] = {"user": user, "task": key}
        self.book.claimed(key)
        made = {"id": number, "user_created": user, "date_created": CREATED}
        return {**made, "task": key}

    def own(self, user: str, collection: str, number: int) -> str:
        if number not in self.claims:
            raise no_key("claim", collection, number)
        if self.claims[number]["user"] != user:
            raise forbidden("You don't have permission to access this.")
        return str(self.claims[number]["task"])

    def submit(self, request: Request) -> Response:
        return self.created(request, "results", self.on_submit)

    def on_submit(self, user: str, row: dict[str, Any]) -> Any:
        number = row["claim"]
        item = self.items[self.own(user, "results", number)]
        if row["body"] != item["brief"].upper():
            words = "Value doesn't match the expected answer."
            raise DirectusError(400, failed("body", "eq", words))
        self.done.add(number)
        made = {"id": 900 + number, "user_created": user, "date_created": CREATED}
        return {**made, "claim": number, "body": row["body"]}

    def complete(self, request: Request) -> Response:
        return self.created(request, "payouts", self.on_complete)

    def on_complete(self, user: str, row: dict[str, Any]) -> Any:
        number = row["claim"]
        key = self.own(user, "payouts", number)
        if number not in self.done:
            told = "This claim has no result."
            raise DirectusError(400, (told, {"code": "INVALID_PAYLOAD"}))
        if key not in self.book.paid:
            self.items[key]["status"] = "archived"
            self.book.pay(key, int(float(self.items[key]["fee"])))
        amount = self.items[key]["fee"]
        return {"id": str(uuid.uuid4()), "claim": number, "amount": amount}


def no_key(field: str, collection: str, value: object) -> DirectusError:
    told = f'Invalid foreign key "{value}" for field "{field}" in collection "{collection}".'
    more = {"collection": collection, "field": field, "value": value}
    return DirectusError(400, (told, {**more, "code": "INVALID_FOREIGN_KEY"}))
