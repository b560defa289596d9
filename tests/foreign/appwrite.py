"""An Appwrite project: documents in collections, attributes inside of `data`.

Whoever makes a document names it: `documentId` is a UID of the client's own making, of at
most 36 characters. A parameter is refused by its name in backquotes, one at a time, and
an attribute in the words of the database. Other parameters are dropped, other attributes
are not. System attributes begin with a dollar sign.
"""

import re
import secrets
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

PROMPTS = (
    "a barge carries sand up the canal",
    "the weaver ran out of red thread",
    "grandfather polishes the brass bell",
    "the hedgehog crossed at the lights",
    "a choir of frogs filled the pond",
    "the plumber sings in the stairwell",
    "two clouds argued over the hill",
    "the cellist broke her second bow",
    "an apricot rolled under the stove",
    "the ferryman counts in old coins",
    "her umbrella had a duck for a handle",
    "the bakery cat weighs eleven kilos",
)
UID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,35}")
TIME = "2025-04-02T10:11:12.131+00:00"
ATTRIBUTES = {
    "claims": ("taskId",),
    "results": ("claimId", "content"),
    "payouts": ("claimId",),
}
HINT = (
    "UID must contain at most 36 chars. Valid chars are a-z, A-Z, 0-9, period, hyphen, "
    "and underscore. Can't start with a special char"
)


class AppwriteError(Exception):
    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        body = {"message": message, "code": status, "type": kind, "version": "1.6.1"}
        self.response = Response(status, body)


def bad(message: str) -> AppwriteError:
    return AppwriteError(400, "general_argument_invalid", message)


def structure(message: str) -> AppwriteError:
    told = f"Invalid document structure: {message}"
    return AppwriteError(400, "document_invalid_structure", told)


def uid() -> str:
    return secrets.token_hex(10)


class Appwrite(Backend):
    """Twelve documents."""

    def __init__(self) -> None:
        super().__init__()
        self.keys: dict[str, str] = {}
        self.rows = {
            uid(): {"prompt": prompt, "reward": at % 4 + 3, "state": "open"}
            for at, prompt in enumerate(PROMPTS)
        }
        self.claims: dict[str, tuple[str, str]] = {}
        self.done: set[str] = set()
        self.used: set[str] = set()

    def texts(self) -> dict[str, str]:
        return {key: str(row["prompt"]) for key, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        told = "Route not found. Please ensure the endpoint is configured correctly."
        return AppwriteError(404, "general_route_not_found", told).response

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = uid(), f"standard_{secrets.token_hex(40)}"
        self.keys[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def shown(self, collection: str, key: str, row: dict[str, Any]) -> Any:
        return {
            **row,
            "$id": key,
            "$createdAt": TIME,
            "$updatedAt": TIME,
            "$permissions": [],
            "$databaseId": "work",
            "$collectionId": collection,
        }

    def tasks(self, request: Request) -> Response:
        found = [
            self.shown("tasks", key, row)
            for key, row in self.rows.items()
            if row["state"] == "open"
        ]
        return Response(200, {"total": len(found), "documents": found})

    def created(
        self,
        request: Request,
        collection: str,
        run: Callable[[str, str, dict[str, str]], None],
    ) -> Response:
        try:
            agent = self.agent(request)
            key, row = given(request, collection)
            self.refuse_second(f"{collection}/{key}")
            run(agent, key, row)
        except AppwriteError as no:
            return no.response
        self.used.add(f"{collection}/{key}")
        return Response(201, self.shown(collection, key, row))

    def refuse_second(self, key: str) -> None:
        if key in self.used:
            told = "Document with the requested ID already exists."
            raise AppwriteError(409, "document_already_exists", told)

    def agent(self, request: Request) -> str:
        if request.token not in self.keys:
            told = "The current user is not authorized to perform the requested action."
            raise AppwriteError(401, "user_unauthorized", told)
        return self.keys[request.token]

    def claim(self, request: Request) -> Response:
        return self.created(request, "claims", self.on_claim)

    def on_claim(self, agent: str, key: str, row: dict[str, str]) -> None:
        task = self.rows.get(row["taskId"])
        if task is None:
            raise not_found()
        if task["state"] != "open":
            raise AppwriteError(409, "task_taken", "The task has been taken.")
        task["state"] = "taken"
        self.claims[key] = agent, row["taskId"]
        self.book.claimed(row["taskId"])

    def own(self, agent: str, claim: str) -> str:
        owner, task = self.claims.get(claim, ("", ""))
        if owner != agent:
            raise not_found()
        return task

    def submit(self, request: Request) -> Response:
        return self.created(request, "results", self.on_submit)

    def on_submit(self, agent: str, key: str, row: dict[str, str]) -> None:
        task = self.own(agent, row["claimId"])
        if row["content"] != str(self.rows[task]["prompt"]).upper():
            raise AppwriteError(422, "result_rejected", "The result is not right.")
        self.done.add(task)

    def complete(self, request: Request) -> Response:
        return self.created(request, "payouts", self.on_complete)

    def on_complete(self, agent: str, key: str, row: dict[str, str]) -> None:
        task = self.own(agent, row["claimId"])
        if task not in self.done:
            raise AppwriteError(409, "no_result", "The claim has no result yet.")
        if task not in self.book.paid:
            self.book.pay(task, int(str(self.rows[task]["reward"])))


def not_found() -> AppwriteError:
    told = "Document with the requested ID could not be found."
    return AppwriteError(404, "document_not_found", told)


def given(request: Request, collection: str) -> tuple[str, dict[str, str]]:
    try:
        body = request.json()
    except ValueError as fault:
        raise bad("Invalid JSON in request body") from fault
    body = body if isinstance(body, dict) else {}
    for name in ("documentId", "data"):
        if body.get(name) is None:
            raise bad(f'Param "{name}" is not optional.')
    key, data = body["documentId"], body["data"]
    if not isinstance(key, str) or not UID.fullmatch(key):
        raise bad(f"Invalid `documentId` param: {HINT}")
    if not isinstance(data, dict) or not data:
        raise bad("Invalid `data` param: Value must be a valid JSON object")
    wanted = ATTRIBUTES[collection]
    for name in wanted:
        if data.get(name) is None:
            raise structure(f'Missing required attribute "{name}"')
    for name in data:
        if name not in wanted:
            raise structure(f'Unknown attribute: "{name}"')
    for name in wanted:
        if not isinstance(data[name], str):
            told = "has invalid type. Value must be a valid string"
            raise structure(f'Attribute "{name}" {told}')
    return key, data
