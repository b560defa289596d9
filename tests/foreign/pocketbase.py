"""A PocketBase: one collection for each step, and API rules that say no without a reason.

Whoever claims must be the `worker` of the new record: that is a rule
(`@request.body.worker = @request.auth.id`), and a rule that does not hold is a 400 with
empty `data`. Only then are the fields validated, each fault by its name. Other fields are
dropped. The listing shows every column of a task, the empty `worker` too.
"""

import secrets
import string
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

LINES = (
    "the clockmaker keeps bees in spring",
    "three spoons of sugar and no more",
    "the drawbridge creaks before dawn",
    "a sailor taught the parrot to count",
    "the museum closes when it snows",
    "our neighbour repairs accordions",
    "the river forgot its own name",
    "a ladder leaned against the moon",
    "the tailor measures everyone twice",
    "pigeons gathered under the arcade",
    "the soup was better without salt",
    "somebody painted the bench again",
)
ALPHABET = string.ascii_lowercase + string.digits
CREATED = "2025-01-19 18:04:33.207Z"
REQUIRED = {"code": "validation_required", "message": "Cannot be blank."}
NO_RECORD = {
    "code": "validation_missing_rel_records",
    "message": "Failed to find all relation records with the provided ids.",
}
TAKEN = {"code": "validation_not_unique", "message": "Value must be unique."}
WRONG = {"code": "validation_match_invalid", "message": "Invalid value format."}


class ApiError(Exception):
    def __init__(self, status: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        body = {"data": data or {}, "message": message, "status": status}
        self.response = Response(status, body)


def not_created(**data: Any) -> ApiError:
    return ApiError(400, "Failed to create record.", data)


def new_id() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(15))


def record(collection: str, key: str, **fields: Any) -> dict[str, Any]:
    return {
        "collectionId": f"pbc_{sum(map(ord, collection)) * 100_003 % 2**32}",
        "collectionName": collection,
        "id": key,
        **fields,
        "created": CREATED,
        "updated": CREATED,
    }


class PocketBase(Backend):
    """Twelve records."""

    def __init__(self) -> None:
        super().__init__()
        self.users: dict[str, str] = {}
        self.rows = {
            new_id(): {"line": line, "points": at * 3 % 10 + 1, "worker": ""}
            for at, line in enumerate(LINES)
        }
        self.claims: dict[str, str] = {}  # claim -> task
        self.delivered: set[str] = set()

    def texts(self) -> dict[str, str]:
        return {key: str(row["line"]) for key, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        told = "The requested resource wasn't found."
        return ApiError(404, told).response

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        user, token = new_id(), f"eyJhbGciOiJIUzI1NiJ9.{secrets.token_urlsafe(60)}"
        self.users[token] = user
        return Response(200, {"agent_id": user, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        free = [
            record("tasks", key, **row)
            for key, row in self.rows.items()
            if not row["worker"]
        ]
        page = {"page": 1, "perPage": 30, "totalPages": 1, "totalItems": len(free)}
        return Response(200, {**page, "items": free})

    marketplace = tasks

    def user(self, request: Request) -> str:
        if request.token not in self.users:
            told = "The request requires valid record authorization token."
            raise ApiError(401, told)
        return self.users[request.token]

    def created(
        self, request: Request, run: Callable[[str, dict[str, str]], Any]
    ) -> Response:
        try:
            return Response(200, run(self.user(request), body(request)))
        except ApiError as no:
            return no.response

    def claim(self, request: Request) -> Response:
        return self.created(request, self.on_claim)

    def on_claim(self, user: str, given: dict[str, str]) -> Any:
        if given.get("worker") != user:
            raise not_created()
        if not given.get("task"):
            raise not_created(task=REQUIRED)
        task = given["task"]
        if task not in self.rows:
            raise not_created(task=NO_RECORD)
        if self.rows[task]["worker"]:
            raise not_created(task=TAKEN)
        self.rows[task]["worker"] = user
        claim = new_id()
        self.claims[claim] = task
        self.book.claimed(task)
        return record("claims", claim, task=task, worker=user)

    def on_own_claim(self, user: str, given: dict[str, str]) -> str:
        if not given.get("claim"):
            return ""
        task = self.claims.get(given["claim"], "")
        if not task:
            raise not_created(claim=NO_RECORD)
        if self.rows[task]["worker"] != user:
            raise not_created()
        return task

    def submit(self, request: Request) -> Response:
        return self.created(request, self.on_submit)

    def on_submit(self, user: str, given: dict[str, str]) -> Any:
        task = self.on_own_claim(user, given)
        lacking = {
            name: REQUIRED for name in ("claim", "output") if not given.get(name)
        }
        if lacking:
            raise not_created(**lacking)
        if given["output"] != str(self.rows[task]["line"]).upper():
            raise not_created(output=WRONG)
        self.delivered.add(task)
        fields = {"claim": given["claim"], "output": given["output"]}
        return record("outputs", new_id(), **fields)

    def complete(self, request: Request) -> Response:
        return self.created(request, self.on_complete)

    def on_complete(self, user: str, given: dict[str, str]) -> Any:
        task = self.on_own_claim(user, given)
        if not task:
            raise not_created(claim=REQUIRED)
        if task not in self.delivered:
            raise not_created()
        points = int(str(self.rows[task]["points"]))
        if task not in self.book.paid:
            self.book.pay(task, points)
        return record("payments", new_id(), claim=given["claim"], points=points)


def body(request: Request) -> dict[str, str]:
    """Return the fields as text columns hold them."""
    try:
        found = request.json()
    except ValueError as fault:
        told = "Failed to load the submitted data due to invalid formatting."
        raise ApiError(400, told) from fault
    if not isinstance(found, dict):
        raise ApiError(
            400, "Failed to load the submitted data due to invalid formatting."
        )
    # A relation given as a list of one is that one; any other value becomes text.
    return {
        name: ""
        if value is None
        else str(value[0] if isinstance(value, list) else value)
        for name, value in found.items()
        if value != []
    }
