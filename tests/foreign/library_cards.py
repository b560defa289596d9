"""A public library's cataloguing desk (Flask and marshmallow), with shelf cards to letter.

Lists {"cards": [...]} of catalogue cards: each with `call_number` ("823.91 WOO"), `drawer`,
`heading` (the text to letter), `note` (what to do) and `stipend`.
claim is a loan: wants {"call_number": str}; 201 {"loan": {"loan_number", "due", "card"}}.
submit wants {"loan_number": int, "lettering": str}; 200 {"loan": {...}} with status "lettered".
complete is the return: wants {"loan_number": int, "condition": "good" | "worn" | "damaged"};
pays the stipend, 200 {"loan", "stipend_paid", "account"}.
Errors: 422 {"errors": {"field": ["Missing data for required field."]}}, others {"message"}.
"""

import time
import uuid
from typing import Any

from tests.foreign.backend import Backend, Request, Response

CARDS = [
    ("823.91 WOO", "a voyage out and other early novels with notes"),
    ("598.29 BIR", "birds of the salt marsh and how to know them by their call"),
    ("641.86 PAT", "plain cakes and puddings for a household of six"),
    ("914.11 HIG", "walks among the highland lochs with eleven maps"),
    ("780.92 BAC", "the organ builder and the cantor of leipzig"),
    ("523.80 STA", "a beginners guide to the stars of the winter sky"),
]
REQUIRED = "Missing data for required field."
CONDITIONS = ("good", "worn", "damaged")


def problem(status: int, words: str) -> Response:
    """Return a message to a person at the desk."""
    return Response(status, {"message": words})


class LibraryCards(Backend):
    """Cards are lent, lettered in capitals, and returned to the drawer."""

    def __init__(self) -> None:
        super().__init__()
        self.readers: dict[str, dict[str, Any]] = {}
        self.cards: dict[str, dict[str, Any]] = {}
        self.loans: dict[int, dict[str, Any]] = {}
        self.owners: dict[int, str] = {}
        for number, (call_number, heading) in enumerate(CARDS):
            self.cards[call_number] = {
                "call_number": call_number,
                "drawer": "ABC"[number % 3],
                "note": "Letter the heading in capitals for the new drawer labels.",
                "heading": heading,
                "stipend": 5 + number,
                "availability": "on shelf",
            }

    def texts(self) -> dict[str, str]:
        return {key: card["heading"] for key, card in self.cards.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = uuid.uuid4().hex
        reader = {"agent_id": f"R{40210 + len(self.readers)}", "credits": 100}
        self.readers[token] = reader
        return Response(201, {**reader, "access_token": token})

    def tasks(self, request: Request) -> Response:
        if request.token not in self.readers:
            return problem(401, "A valid reader's token is required.")
        limit = request.query.get("limit", "50")
        if not limit.isdigit():
            return Response(422, {"errors": {"limit": ["Not a valid integer."]}})
        return Response(200, {"cards": self.shelf()[: int(limit)]})

    def marketplace(self, request: Request) -> Response:
        return Response(200, {"cards": self.shelf()})

    def shelf(self) -> list[dict[str, Any]]:
        return [c for c in self.cards.values() if c["availability"] == "on shelf"]

    def load(self, request: Request, **fields: type) -> dict[str, Any] | Response:
        """Load the body by a schema of required fields."""
        if request.token not in self.readers:
            return problem(401, "A valid reader's token is required.")
        try:
            body = request.json() if request.raw else {}
        except ValueError:
            return problem(400, "The body is not valid JSON.")
        if not isinstance(body, dict):
            return Response(422, {"errors": {"_schema": ["Invalid input type."]}})
        errors: dict[str, list[str]] = {}
        loaded: dict[str, Any] = {}
        for name, kind in fields.items():
            value = body.get(name)
            if name not in body:
                errors[name] = [REQUIRED]
            elif value is None:
                errors[name] = ["Field may not be null."]
            elif kind is int:
                try:
                    loaded[name] = int(value)
                except (TypeError, ValueError):
                    errors[name] = ["Not a valid integer."]
            elif not isinstance(value, str):
                errors[name] = ["Not a valid string."]
            else:
                loaded[name] = value
        for name in body:
            if name not in fields:
                errors[name] = ["Unknown field."]
        return Response(422, {"errors": errors}) if errors else loaded

    def claim(self, request: Request) -> Response:
        loaded = self.load(request, call_number=str)
        if isinstance(loaded, Response):
            return loaded
        key = loaded["call_number"]
        card = self.cards.get(key)
        if card is None:
            return problem(404, f"There is no card with the call number {key}.")
        if card["availability"] == "lettered":
            return problem(409, "This card has been lettered and returned already.")
        for loan in self.loans.values():
            if loan["call_number"] == key:
                if self.owners[loan["loan_number"]] == request.token:
                    return Response(200, {"loan": {**loan, "card": card}})
                return problem(409, "This card is on loan to another reader.")
        number = 70118 + len(self.loans)
        due = time.strftime("%Y-%m-%d", time.gmtime(time.time() + 14 * 86400))
        loan = {
            "loan_number": number,
            "call_number": key,
            "due": due,
            "status": "on loan",
        }
        self.loans[number] = loan
        self.owners[number] = request.token
        card["availability"] = "on loan"
        self.book.claimed(key)
        return Response(201, {"loan": {**loan, "card": card}})

    def loan(self, number: int, token: str) -> dict[str, Any] | None:
        return self.loans[number] if self.owners.get(number) == token else None

    def submit(self, request: Request) -> Response:
        loaded = self.load(request, loan_number=int, lettering=str)
        if isinstance(loaded, Response):
            return loaded
        loan = self.loan(loaded["loan_number"], request.token)
        if loan is None:
            return problem(404, "You have no loan with this number.")
        if loan["status"] == "returned":
            return problem(409, "This loan has been returned.")
        if loaded["lettering"] != self.cards[loan["call_number"]]["heading"].upper():
            words = "The lettering must be the heading of the card in capitals."
            return Response(422, {"errors": {"lettering": [words]}})
        loan["status"] = "lettered"
        return Response(200, {"loan": loan})

    def complete(self, request: Request) -> Response:
        loaded = self.load(request, loan_number=int, condition=str)
        if isinstance(loaded, Response):
            return loaded
        if loaded["condition"] not in CONDITIONS:
            words = f"Must be one of: {', '.join(CONDITIONS)}."
            return Response(422, {"errors": {"condition": [words]}})
        loan = self.loan(loaded["loan_number"], request.token)
        if loan is None:
            return problem(404, "You have no loan with this number.")
        if loan["status"] == "on loan":
            return problem(409, "The card cannot be returned before it is lettered.")
        card = self.cards[loan["call_number"]]
        reader = self.readers[request.token]
        if loan["status"] == "lettered":
            loan["status"] = "returned"
            loan["condition"] = loaded["condition"]
            card["availability"] = "lettered"
            reader["credits"] += card["stipend"]
            self.book.pay(card["call_number"], card["stipend"])
        return Response(
            200,
            {
                "loan": loan,
                "stipend_paid": card["stipend"],
                "account": {"reader": reader["agent_id"], "credits": reader["credits"]},
            },
        )
