"""A yard of monumental masons: inscriptions to be laid out in Roman capitals before they are cut.

Listing: {"commissions": [...], "page", "pages"} of five a page (?page=2); it tells the stone and the fee; the claim's
answer tells the text, `wording`. claim wants {"commission": string}; submit wants {"commission": string, "layout": string};
complete wants {"commission": string, "hours": number worked} for the time sheet, and pays.
Refusals are {"yard_says": sentence} with a 4xx; the sentence names the field.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

COMMISSIONS: list[tuple[str, str, str, str, int, str]] = [
    (
        "M17",
        "Bench in a park",
        "Portland stone",
        "for all who loved this view",
        12,
        "open",
    ),
    (
        "M18",
        "Foundation stone",
        "York stone",
        "this stone was laid by the children of the school",
        20,
        "open",
    ),
    ("M21", "Sundial", "Welsh slate", "count only the sunny hours", 9, "open"),
    (
        "M22",
        "Bridge parapet",
        "Granite",
        "rebuilt by the parish after the great flood",
        18,
        "open",
    ),
    (
        "M24",
        "Well head",
        "Bath stone",
        "draw deep and leave some for the next",
        13,
        "handed over",
    ),
    (
        "M25",
        "Library lintel",
        "Portland stone",
        "let every reader enter here",
        10,
        "open",
    ),
    (
        "M28",
        "Garden step",
        "Welsh slate",
        "mind the step and smell the roses",
        11,
        "open",
    ),
    (
        "M30",
        "War memorial",
        "Granite",
        "their names are kept in the hall of this town",
        19,
        "open",
    ),
]
PER_PAGE = 5


def yard(status: int, sentence: str) -> Response:
    """Return a refusal in the words of the yard office."""
    return Response(status, {"yard_says": sentence})


class Stonecutters(Backend):
    """The yard office."""

    def __init__(self) -> None:
        super().__init__()
        self.board: dict[str, dict[str, Any]] = {
            key: {
                "commission": key,
                "for": purpose,
                "stone": stone,
                "letters": sum(letter.isalpha() for letter in wording),
                "fee_credits": fee,
                "standing": standing,
            }
            for key, purpose, stone, wording, fee, standing in COMMISSIONS
        }
        self.wording = {commission[0]: commission[3] for commission in COMMISSIONS}
        self.masons: dict[str, str] = {}
        self.purse: dict[str, int] = {}
        self.mason_of: dict[str, str] = {}

    def texts(self) -> dict[str, str]:
        return {
            commission[0]: commission[3]
            for commission in COMMISSIONS
            if commission[5] == "open"
        }

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        mason = f"mason{secrets.randbelow(9000) + 1000}"
        token = secrets.token_hex(16)
        self.masons[token] = mason
        self.purse[mason] = 100
        return Response(200, {"agent_id": mason, "access_token": token, "credits": 100})

    def _denied(self, request: Request) -> Response | None:
        if request.token in self.masons:
            return None
        return yard(
            401,
            "We do not know you. Show the bearer token you were given when you signed on.",
        )

    def tasks(self, request: Request) -> Response:
        return self._denied(request) or self._board(request)

    def marketplace(self, request: Request) -> Response:
        return self._board(request)

    def _board(self, request: Request) -> Response:
        size = PER_PAGE
        limit = request.query.get("limit", "")
        if limit:
            if not limit.isdecimal() or int(limit) < 1:
                return yard(400, "limit has to be a number, one or more.")
            size = min(int(limit), PER_PAGE)
        page = request.query.get("page", "1")
        if not page.isdecimal() or int(page) < 1:
            return yard(400, "page has to be a number, one or more.")
        found = list(self.board.values())
        start = (int(page) - 1) * size
        return Response(
            200,
            {
                "commissions": found[start : start + size],
                "page": int(page),
                "pages": -(-len(found) // size),
                "note": "The wording is told to the mason who takes the commission.",
            },
        )

    def _read(self, request: Request) -> dict[str, Any] | Response:
        try:
            body = request.json() if request.raw.strip() else {}
        except ValueError:
            return yard(400, "We cannot read that; send JSON.")
        if not isinstance(body, dict):
            return yard(400, "We cannot use that; send a JSON object.")
        if not body.get("commission"):
            return yard(400, "Which one? Put the number of the job in commission.")
        key = body["commission"]
        if not isinstance(key, str) or key not in self.board:
            return yard(404, f"There is no commission {key} on the board.")
        return body

    def _own(self, request: Request) -> dict[str, Any] | Response:
        body = self._read(request)
        if (
            isinstance(body, dict)
            and self.mason_of.get(body["commission"]) != self.masons[request.token]
        ):
            return yard(
                403, f"Commission {body['commission']} is not yours; take it first."
            )
        return body

    def _sheet(self, key: str) -> dict[str, Any]:
        return {
            "job_sheet": {
                **self.board[key],
                "wording": self.wording[key],
                "letter_style": "Roman capitals",
                "mason": self.mason_of[key],
            }
        }

    def claim(self, request: Request) -> Response:
        denied = self._denied(request)
        if denied:
            return denied
        body = self._read(request)
        if isinstance(body, Response):
            return body
        key, mason = body["commission"], self.masons[request.token]
        if self.mason_of.get(key) == mason:
            return Response(200, self._sheet(key))
        if self.board[key]["standing"] != "open":
            return yard(409, f"Commission {key} is {self.board[key]['standing']}.")
        self.board[key]["standing"] = "taken"
        self.mason_of[key] = mason
        self.book.claimed(key)
        return Response(200, self._sheet(key))

    def submit(self, request: Request) -> Response:
        denied = self._denied(request)
        if denied:
            return denied
        body = self._own(request)
        if isinstance(body, Response):
            return body
        key, layout = body["commission"], body.get("layout")
        if layout is None or layout == "":
            return yard(
                400,
                "There is no layout. Put the lettering, as it is to be cut, in layout.",
            )
        if not isinstance(layout, str):
            return yard(400, "layout has to be a string.")
        if self.board[key]["standing"] == "handed over":
            return yard(409, f"Commission {key} is handed over; the stone is cut.")
        if layout != self.wording[key].upper():
            return yard(
                422,
                "The layout is not the client's wording in Roman capitals. Draw it again.",
            )
        self.board[key]["standing"] = "laid out"
        return Response(200, {**self._sheet(key), "layout": layout})

    def complete(self, request: Request) -> Response:
        denied = self._denied(request)
        if denied:
            return denied
        body = self._own(request)
        if isinstance(body, Response):
            return body
        key, hours = body["commission"], body.get("hours")
        if hours is None:
            return yard(400, "The time sheet is empty. Put the hours worked in hours.")
        if (
            isinstance(hours, bool)
            or not isinstance(hours, int | float)
            or not 0 < hours <= 100
        ):
            return yard(
                400, "hours has to be a number greater than 0 and not above 100."
            )
        if self.board[key]["standing"] == "taken":
            return yard(409, f"Commission {key} has no layout yet.")
        mason, fee = self.masons[request.token], self.board[key]["fee_credits"]
        if self.board[key]["standing"] == "laid out":
            self.board[key]["standing"] = "handed over"
            self.purse[mason] += fee
            self.book.pay(key, fee)
        return Response(
            200,
            {
                **self._sheet(key),
                "hours": hours,
                "paid_credits": fee,
                "purse": self.purse[mason],
            },
        )
