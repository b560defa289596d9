"""A hospital's menu cards; the interface was made by the kitchen's own office.

tasks: {"kitchen", "cards": [{"card", "ward", "meal", "diet", "line", "points", "state"}]}
claim: {"card": 1104, "ward": "3B"} -> {"result": "given out", "card": {...}}
submit: {"card", "ward", "printed_line": "..."} -> {"result": "received"}
complete: {"card", "ward", "initials": "AB"} -> 202 {"result": "with the dietician",
"ask_again_in_seconds": 2}; the same again later -> 200 {"result": "served", "points": n}
Refusals: 400 {"result": "rejected", "problems": [{"item", "problem"}]}.
"""

import secrets
import time
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

REVIEW = 2.0


@dataclass
class Card:
    """One menu card."""

    card: int
    ward: str
    meal: str
    diet: str
    line: str
    points: int
    state: str = "to print"
    holder: str = ""
    checked: float = 0.0


class HospitalMenus(Backend):
    """The kitchen office."""

    def __init__(self) -> None:
        super().__init__()
        self.helpers: dict[str, int] = {}
        rows = [
            (1104, "3B", "supper", "soft", "mashed potatoes with creamed spinach", 9),
            (
                1105,
                "3B",
                "supper",
                "no salt",
                "steamed cod with carrots and parsley",
                11,
            ),
            (1106, "5A", "breakfast", "full", "oat porridge with stewed apples", 8),
            (
                1107,
                "5A",
                "lunch",
                "no milk",
                "lentil soup with a slice of rye bread",
                13,
            ),
            (
                1108,
                "7C",
                "lunch",
                "full",
                "roast chicken with rice and green beans",
                12,
            ),
            (1109, "7C", "supper", "light", "clear broth with noodles and herbs", 10),
        ]
        self.cards = {row[0]: Card(*row) for row in rows}

    def texts(self) -> dict[str, str]:
        """Return what can be earned."""
        return {str(key): one.line for key, one in self.cards.items()}

    def rejected(self, status: int, *problems: tuple[str, str]) -> Response:
        """Send the slip back."""
        return Response(
            status,
            {
                "result": "rejected",
                "problems": [
                    {"item": item, "problem": what} for item, what in problems
                ],
            },
        )

    def settle(self) -> None:
        """Let the dietician pass what has waited long enough."""
        for card in self.cards.values():
            if (
                card.state == "with the dietician"
                and time.monotonic() - card.checked >= REVIEW
            ):
                card.state = "served"
                self.helpers[card.holder] += card.points
                self.book.pay(str(card.card), card.points)

    def read(
        self, request: Request, *more: str
    ) -> Response | tuple[Card, dict[str, Any]]:
        """Read a slip and find its card."""
        if request.token not in self.helpers:
            return self.rejected(401, ("Authorization", "is not a helper's token"))
        self.settle()
        try:
            slip = request.json() if request.raw else {}
        except ValueError:
            slip = None
        if not isinstance(slip, dict):
            return self.rejected(400, ("slip", "is not a JSON object"))
        problems: list[tuple[str, str]] = []
        for name in ("card", "ward", *more):
            value = slip.get(name)
            if value in (None, ""):
                problems.append((name, "is required"))
            elif name != "card" and not isinstance(value, str):
                problems.append((name, "must be text"))
            elif name == "initials" and not (2 <= len(value) <= 3 and value.isalpha()):
                problems.append((name, "must be two or three letters"))
            elif name == "card" and not str(value).isdigit():
                problems.append((name, "must be a card number"))
        if problems:
            return self.rejected(400, *problems)
        card = self.cards.get(int(slip["card"]))
        if card is None:
            return self.rejected(
                404, ("card", f"{slip['card']} is not on today's list")
            )
        if slip["ward"] != card.ward:
            return self.rejected(
                400,
                ("ward", f"card {card.card} does not belong to ward {slip['ward']}"),
            )
        if more and card.holder != request.token:
            return self.rejected(409, ("card", "was not given out to you"))
        return card, slip

    def shown(self, card: Card) -> dict[str, Any]:
        """Describe a card."""
        return {
            "card": card.card,
            "ward": card.ward,
            "meal": card.meal,
            "diet": card.diet,
            "line": card.line,
            "points": card.points,
            "state": card.state,
        }

    def register(self, request: Request) -> Response:
        """Enrol a helper."""
        self.book.registrations += 1
        token = secrets.token_hex(10)
        self.helpers[token] = 100
        return Response(
            200,
            {
                "agent_id": f"helper-{len(self.helpers)}",
                "access_token": token,
                "credits": 100,
            },
        )

    def marketplace(self, request: Request) -> Response:
        """Show today's cards."""
        self.settle()
        return Response(
            200,
            {
                "kitchen": "Saint Anna Hospital",
                "remark": "Patients read capitals best: print each line in capitals. "
                "One point is one credit.",
                "cards": [self.shown(one) for one in self.cards.values()],
            },
        )

    def tasks(self, request: Request) -> Response:
        """Show today's cards to a helper."""
        if request.token not in self.helpers:
            return self.rejected(401, ("Authorization", "is not a helper's token"))
        return self.marketplace(request)

    def claim(self, request: Request) -> Response:
        """Give out a card."""
        found = self.read(request)
        if isinstance(found, Response):
            return found
        card, _ = found
        if card.holder and card.holder != request.token:
            return self.rejected(409, ("card", "is given out to another helper"))
        if not card.holder:
            card.holder, card.state = request.token, "given out"
            self.book.claimed(str(card.card))
        return Response(200, {"result": card.state, "card": self.shown(card)})

    def submit(self, request: Request) -> Response:
        """Receive the printed line."""
        found = self.read(request, "printed_line")
        if isinstance(found, Response):
            return found
        card, slip = found
        if slip["printed_line"] != card.line.upper():
            return self.rejected(
                422, ("printed_line", "is not the card's line in capitals")
            )
        if card.state == "given out":
            card.state = "received"
        return Response(
            200, {"result": card.state, "card": card.card, "ward": card.ward}
        )

    def complete(self, request: Request) -> Response:
        """Pass it to the dietician, who takes a moment."""
        found = self.read(request, "initials")
        if isinstance(found, Response):
            return found
        card, _ = found
        if card.state == "given out":
            return self.rejected(409, ("card", "has no printed line yet"))
        if card.state == "received":
            card.state, card.checked = "with the dietician", time.monotonic()
        answer: dict[str, Any] = {
            "result": card.state,
            "card": card.card,
            "ward": card.ward,
        }
        if card.state == "with the dietician":
            return Response(
                202, {**answer, "ask_again_in_seconds": 2}, {"Retry-After": "2"}
            )
        return Response(
            200,
            {**answer, "points": card.points, "credits": self.helpers[request.token]},
        )
