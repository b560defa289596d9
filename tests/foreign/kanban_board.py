"""A board with columns: a card's state is the column it stands in, and nothing else.

Ids are slugs, a card's text is its `desc` (with a name above it), its pay is `points`. A
claim moves the card and answers 303 to the card, with no body. An accepted result pays at
once and moves the card to Done; there is nothing to complete (405).
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Action = Callable[[Any, Request], Response]
CARDS = (
    ("paint-the-fence", "Paint the fence", "the fence wants two coats", 3),
    ("feed-the-hens", "Feed the hens", "the hens are by the barn", 2),
    ("mend-the-sail", "Mend the sail", "the sail tore in the gale", 8),
    ("wax-the-floor", "Wax the floor", "mind the step near the hall", 5),
    ("tune-the-piano", "Tune the piano", "the low c is very flat", 6),
    ("sort-the-post", "Sort the post", "put letters before parcels", 4),
)
COLUMNS = ("Ideas", "To do", "Doing", "Done")


@dataclass
class Card:
    id: str
    name: str
    desc: str
    points: int
    column: str = "To do"
    member: str = ""

    def shown(self) -> dict[str, object]:
        return {
            "id": self.id,
            "name": self.name,
            "desc": self.desc,
            "points": self.points,
            "labels": ["uppercase"],
            "members": [self.member] if self.member else [],
        }


class RefusedError(Exception):
    def __init__(self, status: int, error: str, **details: str) -> None:
        super().__init__(error)
        self.status, self.body = status, {"error": error, **details}

    def response(self) -> Response:
        return Response(self.status, self.body)


def telling(action: Action) -> Action:
    """Answer with the refusal where the action raises one."""

    def answer(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except RefusedError as no:
            return no.response()

    return answer


class KanbanBoard(Backend):
    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        others = [
            Card("buy-a-boat", "Buy a boat", "somebody should buy one", 9, "Ideas"),
            Card("sell-the-cart", "Sell the cart", "it squeaks", 4, "Done", "olga"),
            Card(
                "shear-the-sheep", "Shear the sheep", "all of them", 7, "Doing", "olga"
            ),
        ]
        open_ = [Card(*card) for card in CARDS]
        self._open = {card.id: card for card in open_}
        self._cards = {card.id: card for card in [*others, *open_]}

    def texts(self) -> dict[str, str]:
        return {card.id: card.desc for card in self._open.values()}

    def missing(self, request: Request) -> Response:
        return RefusedError(404, "Not found").response()

    def document(self, request: Request) -> Response:
        card = self._cards.get(request.path.removeprefix("/cards/"))
        if card is None:
            return self.missing(request)
        return Response(200, card.shown() | {"column": card.column})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"member-{secrets.token_hex(4)}", secrets.token_urlsafe(32)
        self._agents[token] = agent
        answer = {"agent_id": agent, "access_token": token, "credits": 100}
        return Response(200, answer)

    def tasks(self, request: Request) -> Response:
        columns = [
            {
                "name": name,
                "cards": [
                    card.shown() for card in self._cards.values() if card.column == name
                ],
            }
            for name in COLUMNS
        ]
        return Response(200, {"board": {"name": "Farm", "columns": columns}})

    @telling
    def claim(self, request: Request) -> Response:
        agent, card, _ = self._read(request)
        if card.column != "To do":
            raise RefusedError(409, f"This card is in {card.column}")
        card.member, card.column = agent, "Doing"
        self.book.claimed(card.id)
        return Response(303, b"", {"Location": f"{request.base}/cards/{card.id}"})

    @telling
    def submit(self, request: Request) -> Response:
        agent, card, given = self._read(request, "result")
        if card.member != agent:
            raise RefusedError(403, "You are not a member of this card")
        if card.column != "Doing":
            raise RefusedError(409, f"This card is in {card.column}")
        if given["result"] != card.desc.upper():
            raise RefusedError(
                422, "This is not what the card asks for", field="result"
            )
        card.column = "Done"
        self.book.pay(card.id, card.points)
        return Response(200, {"card": card.shown(), "points_awarded": card.points})

    def complete(self, request: Request) -> Response:
        return Response(405, {"error": "Method not allowed"}, {"Allow": "GET"})

    def _read(self, request: Request, *more: str) -> tuple[str, Card, dict[str, str]]:
        if request.token not in self._agents:
            raise RefusedError(401, "Invalid token")
        try:
            given = request.json()
        except ValueError:
            given = None
        if not isinstance(given, dict):
            raise RefusedError(400, "Body must be a JSON object")
        for name in ("card_id", *more):
            if not isinstance(given.get(name), str):
                raise RefusedError(422, f"{name} is missing", field=name)
        card = self._cards.get(given["card_id"])
        if card is None:
            raise RefusedError(404, "No such card")
        return self._agents[request.token], card, given
