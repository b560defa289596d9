"""An asynchronous Python service that streams its listing: one JSON object a line.

There is no state: what happened to a task are its times (`claimed_at`, `delivered_at`,
`paid_at`, null until then) and who `claimed_by`. The bounty is an object. A claim answers
201 with a Location and no body. A result is 202, is looked at some seconds later and paid
by itself; nothing has to be completed, and the path says 501.
"""

import json
import secrets
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Action = Callable[[Any, Request], Response]
BRIEFS = (
    "the lighthouse keeper has a new radio",
    "plums are cheaper than pears this week",
    "a train of forty wagons passed us",
    "the clockmaker lives above the shop",
    "our neighbour keeps eleven geese",
    "fog covered the whole valley",
)
REVIEW_SECONDS = 4.0


@dataclass
class Item:
    uuid: str
    brief: str
    bounty: int
    claimed_by: str | None = None
    claimed: float | None = None
    delivered: float | None = None
    paid: float | None = None

    def shown(self) -> dict[str, object]:
        return {
            "uuid": self.uuid,
            "brief": self.brief,
            "tags": ["text", "uppercase"],
            "bounty": {"amount": self.bounty, "unit": "credit"},
            "claimed_by": self.claimed_by,
            "claimed_at": _time(self.claimed),
            "delivered_at": _time(self.delivered),
            "paid_at": _time(self.paid),
        }


def _time(moment: float | None) -> str | None:
    if moment is None:
        return None
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))


class RefusedError(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message

    def response(self) -> Response:
        names = {400: "Bad Request", 401: "Unauthorized", 404: "Not Found"}
        names |= {409: "Conflict", 403: "Forbidden", 501: "Not Implemented"}
        told = {"description": names[self.status], "status": self.status}
        return Response(self.status, told | {"message": self.message})


def telling(action: Action) -> Action:
    """Answer with the refusal where the action raises one."""

    def answer(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except RefusedError as no:
            return no.response()

    return answer


class SanicNdjson(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        open_ = [Item(str(uuid.uuid4()), b, n + 2) for n, b in enumerate(BRIEFS)]
        self._open = {item.uuid: item for item in open_}
        then = time.time() - 86_400
        done = Item(str(uuid.uuid4()), "ring the bell", 3, "kestrel", then, then, then)
        taken = Item(str(uuid.uuid4()), "peel the apples", 9, "magpie", then)
        self._items = {item.uuid: item for item in (taken, *open_, done)}

    def texts(self) -> dict[str, str]:
        return {item.uuid: item.brief for item in self._open.values()}

    def missing(self, request: Request) -> Response:
        return RefusedError(404, f"Requested URL {request.path} not found").response()

    def document(self, request: Request) -> Response:
        item = self._items.get(request.path.removeprefix("/tasks/"))
        self._review()
        return Response(200, item.shown()) if item else self.missing(request)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = str(uuid.uuid4()), secrets.token_urlsafe(40)
        self._agents[token] = agent
        auth = {"access_token": token, "token_type": "Bearer"}
        answer = {"agent_id": agent, "auth": auth, "credits": 100}
        return Response(201, answer)

    def tasks(self, request: Request) -> Response:
        self._review()
        lines = [json.dumps(item.shown()) for item in self._items.values()]
        return Response(
            200, "\n".join(lines) + "\n", {"Content-Type": "application/x-ndjson"}
        )

    @telling
    def claim(self, request: Request) -> Response:
        agent, item, _ = self._read(request)
        if item.claimed is not None:
            raise RefusedError(409, f"Task {item.uuid} is already claimed.")
        item.claimed_by, item.claimed = agent, time.time()
        self.book.claimed(item.uuid)
        return Response(201, b"", {"Location": f"/tasks/{item.uuid}"})

    @telling
    def submit(self, request: Request) -> Response:
        agent, item, given = self._read(request, "result")
        if item.claimed_by != agent:
            raise RefusedError(403, f"Task {item.uuid} is not claimed by you.")
        if item.delivered is not None:
            raise RefusedError(409, f"Task {item.uuid} has been delivered.")
        if given["result"] != item.brief.upper():
            raise RefusedError(400, "The result is not the brief in upper case.")
        item.delivered = time.time()
        told = {"message": "Thank you. A reviewer will look at it.", "task": item.uuid}
        return Response(202, told)

    def complete(self, request: Request) -> Response:
        return RefusedError(501, "Tasks are completed by their reviewer.").response()

    def _review(self) -> None:
        for item in self._items.values():
            if item.delivered is None or item.paid is not None:
                continue
            if time.time() - item.delivered > REVIEW_SECONDS:
                item.paid = time.time()
                self.book.pay(item.uuid, item.bounty)

    def _read(self, request: Request, *more: str) -> tuple[str, Item, dict[str, str]]:
        self._review()
        if request.token not in self._agents:
            raise RefusedError(401, "Auth required.")
        try:
            given = request.json()
        except ValueError:
            raise RefusedError(400, "Failed when parsing body as json") from None
        if not isinstance(given, dict):
            raise RefusedError(400, "The body must be an object.")
        for name in ("task", *more):
            if not isinstance(given.get(name), str):
                raise RefusedError(400, f"'{name}' is required and must be a string.")
        item = self._items.get(given["task"])
        if item is None:
            raise RefusedError(404, f"No task {given['task']}.")
        return self._agents[request.token], item, given
