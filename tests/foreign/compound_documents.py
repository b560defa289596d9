"""Compound documents: a record says where the rest of it is, and that is `included`.

In the manner of JSON:API as some libraries serve it by default: an assignment has a state
and a slug of its own, but its text is a `briefs` and its reward an `offers` resource, which
stand once each beside the data, whoever refers to them. Actions are plain and answer with
the assignment.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Action = Callable[[Any, Request], Response]
ROWS = (
    ("winter-poster", "skates are for rent by the lake", 2),
    ("spring-poster", "plant your own apple tree", 1),
    ("summer-poster", "the pool is open until nine", 3),
    ("autumn-poster", "come and see the leaves", 2),
    ("night-poster", "lanterns on the river", 1),
    ("market-poster", "bread and honey on saturdays", 3),
)
OFFERS = {1: 3, 2: 5, 3: 8}  # by number: three prices for everything
KIND = {"Content-Type": "application/vnd.api+json"}


@dataclass
class Assignment:
    slug: str
    text: str
    offer: int
    state: str = "open"
    worker: str = ""

    @property
    def brief(self) -> str:
        return f"b-{len(self.slug) * 7 + self.offer}-{self.slug[:3]}"

    def resource(self) -> dict[str, object]:
        return {
            "type": "assignments",
            "id": self.slug,
            "attributes": {"state": self.state, "created-at": "2026-10-20T07:00:00Z"},
            "relationships": {
                "brief": {"data": {"type": "briefs", "id": self.brief}},
                "offer": {"data": {"type": "offers", "id": str(self.offer)}},
            },
        }

    def included(self) -> list[dict[str, object]]:
        brief = {"text": self.text, "language": "en", "words": len(self.text.split())}
        offer = {"credits": OFFERS[self.offer]}
        return [
            {"type": "briefs", "id": self.brief, "attributes": brief},
            {"type": "offers", "id": str(self.offer), "attributes": offer},
        ]


class RefusedError(Exception):
    def __init__(self, status: int, title: str, detail: str, at: str = "") -> None:
        super().__init__(detail)
        error: dict[str, object] = {"status": str(status), "title": title}
        error["detail"] = detail
        if at:
            error["source"] = {"pointer": f"/{at}"}
        self.response = Response(status, {"errors": [error]}, KIND)


def telling(action: Action) -> Action:
    """Answer with the refusal where the action raises one."""

    def answer(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except RefusedError as no:
            return no.response

    return answer


class CompoundDocuments(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        open_ = [Assignment(*row) for row in ROWS]
        self._open = {one.slug: one for one in open_}
        old = [
            Assignment("old-poster", "the circus is back", 3, "paid", "w0"),
            Assignment("last-poster", "free tea for all", 2, "taken", "w0"),
        ]
        self._all = {one.slug: one for one in [*old, *open_]}

    def texts(self) -> dict[str, str]:
        return {one.slug: one.text for one in self._open.values()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"w{self.book.registrations}", secrets.token_hex(20)
        self._agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        shown = [*self._all.values()]
        included = {
            (one["type"], one["id"]): one for row in shown for one in row.included()
        }
        document = {
            "data": [one.resource() for one in shown],
            "included": [*included.values()],
            "jsonapi": {"version": "1.0"},
        }
        return Response(200, document, KIND)

    @telling
    def claim(self, request: Request) -> Response:
        agent, one, _ = self._read(request)
        if one.state != "open":
            raise RefusedError(409, "Conflict", f"{one.slug} is {one.state}")
        one.state, one.worker = "taken", agent
        self.book.claimed(one.slug)
        return Response(200, {"data": one.resource()}, KIND)

    @telling
    def submit(self, request: Request) -> Response:
        agent, one, given = self._read(request, "text")
        self._own(agent, one, "taken")
        if given["text"] != one.text.upper():
            raise RefusedError(422, "Invalid", "text is not in capitals", "text")
        one.state = "delivered"
        return Response(200, {"data": one.resource()}, KIND)

    @telling
    def complete(self, request: Request) -> Response:
        agent, one, _ = self._read(request)
        self._own(agent, one, "delivered")
        one.state = "paid"
        self.book.pay(one.slug, OFFERS[one.offer])
        return Response(200, {"data": one.resource()}, KIND)

    def _own(self, agent: str, one: Assignment, state: str) -> None:
        if one.worker != agent or one.state != state:
            raise RefusedError(409, "Conflict", f"{one.slug} is {one.state}")

    def _read(
        self, request: Request, *more: str
    ) -> tuple[str, Assignment, dict[str, Any]]:
        if request.token not in self._agents:
            raise RefusedError(401, "Unauthorized", "a token is needed")
        try:
            given = request.json()
        except ValueError:
            given = None
        if not isinstance(given, dict):
            raise RefusedError(400, "Bad request", "the body is not an object")
        for name in ("assignment_id", *more):
            if not isinstance(given.get(name), str):
                told = f"{name} can't be blank"
                raise RefusedError(422, "Invalid attribute", told, name)
        one = self._all.get(given["assignment_id"])
        if one is None:
            told = f"there is no assignment {given['assignment_id']}"
            raise RefusedError(404, "Not found", told)
        return self._agents[request.token], one, given
