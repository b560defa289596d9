"""AdonisJS with VineJS: every fault with its rule and field, deliverables in an array.

A field bails at its first rule, and the faults of all fields come together (422). Fields
that the schema does not have are dropped. An item of the array is named by its place in
the field and by its last part in the message. The paginator's addresses are relative.
"""

import secrets
from collections.abc import Callable, Iterator
from typing import Any

from tests.foreign.backend import Backend, Request, Response

CONTENTS = (
    "the beekeeper wears a borrowed veil",
    "a tin soldier guards the bookshelf",
    "our boat is called patience",
    "the last tram leaves at midnight",
    "she planted garlic in november",
    "the sculptor hates soft stone",
    "an echo answered from the silo",
    "the almanac predicts a dry autumn",
    "he hid the key beneath the fern",
    "fireflies circled the empty pool",
    "the bridge was painted green again",
    "a thimble saved her afternoon",
)
PER_PAGE = 4
KINDS = ["plain", "link"]
Fault = dict[str, Any]


class AdonisError(Exception):
    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.response = Response(status, {"code": code, "message": message})


class VineError(AdonisError):
    def __init__(self, faults: list[Fault]) -> None:
        super().__init__(422, "E_VALIDATION_ERROR", "Validation failure")
        self.response = Response(422, {"errors": faults})


def fault(field: str, rule: str, words: str, **meta: Any) -> Fault:
    shown = {"message": f"The {field.rpartition('.')[2]} field {words}", "rule": rule}
    return {**shown, "field": field, **({"meta": meta} if meta else {})}


def required(field: str) -> Fault:
    return fault(field, "required", "must be defined")


def check_text(body: dict[str, Any], name: str, inside: str = "") -> Iterator[Fault]:
    value = body.get(name)
    if value is None:
        yield required(inside + name)
    elif not isinstance(value, str):
        yield fault(inside + name, "string", "must be a string")


def check_number(body: dict[str, Any], name: str) -> Iterator[Fault]:
    value = body.get(name)
    if value is None:
        yield required(name)
    elif isinstance(value, bool) or not str(value).isdecimal():
        yield fault(name, "number", "must be a number")


def check_deliverables(body: dict[str, Any]) -> Iterator[Fault]:
    name = "deliverables"
    value = body.get(name)
    if value is None:
        yield required(name)
        return
    if not isinstance(value, list):
        yield fault(name, "array", "must be an array")
        return
    if not value:
        yield fault(name, "array.minLength", "must have at least 1 items", min=1)
    for at, item in enumerate(value):
        place = f"{name}.{at}"
        if not isinstance(item, dict):
            yield fault(place, "object", "must be an object")
            continue
        if item.get("kind") is None:
            yield required(f"{place}.kind")
        elif item["kind"] not in KINDS:
            told = {"message": "The selected kind is invalid", "rule": "enum"}
            yield {**told, "field": f"{place}.kind", "meta": {"choices": KINDS}}
        yield from check_text(item, "content", f"{place}.")


class AdonisVine(Backend):
    """Twelve Lucid models."""

    def __init__(self) -> None:
        super().__init__()
        self.users: dict[str, int] = {}
        self.rows: dict[int, dict[str, Any]] = {
            207 + 2 * at: {"content": content, "price": at * 4 % 7 + 1, "user": 0}
            for at, content in enumerate(CONTENTS)
        }
        self.delivered: set[int] = set()

    def texts(self) -> dict[str, str]:
        return {str(key): row["content"] for key, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        told = f"Cannot {request.method}:{request.path}"
        return AdonisError(404, "E_ROUTE_NOT_FOUND", told).response

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = f"oat_Mg.{secrets.token_urlsafe(40)}"
        user = self.users[token] = 50 + self.book.registrations
        return Response(
            200, {"agent_id": str(user), "access_token": token, "credits": 100}
        )

    def tasks(self, request: Request) -> Response:
        free = [key for key, row in self.rows.items() if not row["user"]]
        asked = request.query.get("page", "1")
        page = max(1, int(asked)) if asked.isdecimal() else 1
        last = max(1, -(-len(free) // PER_PAGE))
        meta = {
            "total": len(free),
            "perPage": PER_PAGE,
            "currentPage": page,
            "lastPage": last,
            "firstPage": 1,
            "firstPageUrl": "/?page=1",
            "lastPageUrl": f"/?page={last}",
            "nextPageUrl": f"/?page={page + 1}" if page < last else None,
            "previousPageUrl": f"/?page={page - 1}" if page > 1 else None,
        }
        shown = free[(page - 1) * PER_PAGE : page * PER_PAGE]
        data = [self.serialized(key) for key in shown]
        return Response(200, {"meta": meta, "data": data})

    def serialized(self, key: int) -> dict[str, Any]:
        row = self.rows[key]
        return {
            "id": key,
            "kind": "uppercase",
            "content": row["content"],
            "price": f"{row['price']}.00",
            "createdAt": "2025-03-30T08:00:00.000+00:00",
            "updatedAt": "2025-03-30T08:00:00.000+00:00",
        }

    def answered(
        self,
        request: Request,
        run: Callable[[int, dict[str, Any]], Any],
        *checks: Callable[[dict[str, Any]], Iterator[Fault]],
    ) -> Response:
        if request.token not in self.users:
            return Response(401, {"errors": [{"message": "Unauthorized access"}]})
        try:
            body = request.json()
        except ValueError:
            told = "Unexpected token in JSON at position 0"
            return AdonisError(400, "E_INVALID_JSON", told).response
        try:
            given = body if isinstance(body, dict) else {}
            if faults := [one for check in checks for one in check(given)]:
                raise VineError(faults)
            return Response(200, run(self.users[request.token], given))
        except AdonisError as no:
            return no.response

    def row(self, value: Any) -> tuple[int, dict[str, Any]]:
        key = int(value)
        if key not in self.rows:
            raise AdonisError(404, "E_ROW_NOT_FOUND", "Row not found")
        return key, self.rows[key]

    def claim(self, request: Request) -> Response:
        def check(body: dict[str, Any]) -> Iterator[Fault]:
            return check_number(body, "taskId")

        return self.answered(request, self.on_claim, check)

    def on_claim(self, user: int, body: dict[str, Any]) -> Any:
        key, row = self.row(body["taskId"])
        if row["user"]:
            raise AdonisError(409, "E_TASK_TAKEN", "Task is already taken")
        row["user"] = user
        self.book.claimed(str(key))
        return {"message": "Task claimed"}

    def own(self, user: int, value: Any) -> tuple[int, dict[str, Any]]:
        key, row = self.row(value)
        if row["user"] != user:
            raise AdonisError(403, "E_AUTHORIZATION_FAILURE", "Access denied")
        return key, row

    def submit(self, request: Request) -> Response:
        def check(body: dict[str, Any]) -> Iterator[Fault]:
            return check_number(body, "taskId")

        return self.answered(request, self.on_submit, check, check_deliverables)

    def on_submit(self, user: int, body: dict[str, Any]) -> Any:
        key, row = self.own(user, body["taskId"])
        if [one["content"] for one in body["deliverables"]] != [row["content"].upper()]:
            told = "must answer the task"
            raise VineError([fault("deliverables.0.content", "answer", told)])
        self.delivered.add(key)
        return {"message": "Deliverables received"}

    def complete(self, request: Request) -> Response:
        def check(body: dict[str, Any]) -> Iterator[Fault]:
            return check_number(body, "taskId")

        return self.answered(request, self.on_complete, check)

    def on_complete(self, user: int, body: dict[str, Any]) -> Any:
        key, row = self.own(user, body["taskId"])
        if key not in self.delivered:
            raise AdonisError(409, "E_NO_DELIVERABLES", "Nothing was delivered yet")
        if str(key) not in self.book.paid:
            self.book.pay(str(key), row["price"])
        return {"message": "Task completed", "payout": f"{row['price']}.00"}
