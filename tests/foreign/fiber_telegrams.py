"""Telegraph Counter: telegrams for people who like paper, a small Go service on Fiber.

Stack: Fiber v2, BodyParser into structs, checks by hand that stop at the first thing wrong and
say it in prose (fiber.NewError, so plain text). The listing is a bare array: `[{"no": 118,
"from", "to", "words", "fee", "remarks"}]`; the message is told in the answer to the claim.

Claim wants `no` (a number) and answers `{"slip": "TC-118-x7q2", "message", "instructions"}`.
Submit wants `slip` and `typed`. Complete wants `slip` and `initials` (two or three letters,
for the ledger), and pays. Field names match without case, as encoding/json does it.

Errors: plain text, one sentence, 400/401/403/404/409/422.
"""

import secrets
import string
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TELEGRAMS = [
    (
        "Aunt Perpetua",
        "the Lindqvists",
        "Arriving Thursday with two goats, clear the barn",
        9,
    ),
    ("a secret admirer", "Room 14", "Your umbrella is safe and so am I", 12),
    ("Captain Hale", "Mrs Hale", "Storm passed stop home by Sunday stop", 10),
    ("The Chess Club", "Dr Amadi", "Knight takes bishop, your move, dear doctor", 14),
    ("Bertil", "his brother", "Sold the motorcycle, bought a second piano", 11),
    ("Grandfather", "Wilma", "Happy ninth birthday from the top of the hill", 8),
    ("The Bakery", "all regulars", "Ovens fixed, rye bread back on Monday", 13),
    ("an old friend", "Kasimir", "Meet me where the clock has no hands", 16),
    (
        "Expedition Six",
        "the Institute",
        "Found the lake exactly where the map denied it",
        18,
    ),
]


@dataclass
class Telegram:
    """A telegram on its way."""

    no: int
    sender: str
    to: str
    message: str
    fee: int
    slip: str = ""
    clerk: str = ""
    typed: bool = False
    sent: bool = False


def say(status: int, sentence: str) -> Response:
    """Return fiber.NewError as the default handler writes it."""
    return Response(status, sentence)


class TelegraphCounter(Backend):
    """The service."""

    def __init__(self) -> None:
        super().__init__()
        self.telegrams = [Telegram(118 + n, *row) for n, row in enumerate(TELEGRAMS)]
        self.clerks: dict[str, str] = {}
        self.purse: dict[str, int] = {}

    def texts(self) -> dict[str, str]:
        """Return each telegram's message."""
        return {str(one.no): one.message for one in self.telegrams}

    def missing(self, request: Request) -> Response:
        """Answer as Fiber does."""
        return say(404, f"Cannot {request.method} {request.path}")

    def register(self, request: Request) -> Response:
        """Hire a clerk."""
        self.book.registrations += 1
        clerk, token = f"clerk-{secrets.token_hex(3)}", secrets.token_hex(16)
        self.clerks[token] = clerk
        self.purse[clerk] = 100
        return Response(200, {"agent_id": clerk, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        """List what lies on the counter."""
        limit = request.query.get("limit", "")
        # c.QueryInt: what is no number is the default.
        size = int(limit) if limit.isdecimal() else 25
        rows = [one for one in self.telegrams if not one.clerk]
        return Response(
            200,
            [
                {
                    "no": one.no,
                    "from": one.sender,
                    "to": one.to,
                    "words": len(one.message.split()),
                    "fee": one.fee,
                    "remarks": "To be typed in CAPITALS. Claim it and the message is yours "
                    "to read. Fee in credits.",
                }
                for one in rows[:size]
            ],
        )

    marketplace = tasks

    def _parse(
        self, request: Request, struct: str, kinds: dict[str, str]
    ) -> tuple[str, dict[str, Any], Response | None]:
        """Return the clerk, the struct's fields and perhaps the refusal."""
        clerk = self.clerks.get(request.token, "")
        if not clerk:
            return (
                "",
                {},
                say(401, "who are you? send Authorization: Bearer <access_token>"),
            )
        if "json" not in (request.headers.get("Content-Type") or ""):
            return "", {}, say(422, "Unprocessable Entity")
        try:
            body = request.json()
        except ValueError:
            return "", {}, say(400, "that is not JSON we can read")
        names = {str: "string", bool: "bool", int: "number", float: "number"}
        names |= {list: "array", dict: "object"}
        fields: dict[str, Any] = {n: 0 if k == "int" else "" for n, k in kinds.items()}
        if body is None:
            return clerk, fields, None
        if not isinstance(body, dict):
            message = (
                f"json: cannot unmarshal {names[type(body)]} into Go value of type"
            )
            return "", {}, say(400, f"{message} handlers.{struct}")
        for key, value in body.items():
            name = key.lower()
            if name not in kinds or value is None:
                continue
            if type(value) is not {"int": int, "string": str}[kinds[name]]:
                message = (
                    f"json: cannot unmarshal {names[type(value)]} into Go struct field"
                )
                return (
                    "",
                    {},
                    say(400, f"{message} {struct}.{name} of type {kinds[name]}"),
                )
            fields[name] = value
        return clerk, fields, None

    def claim(self, request: Request) -> Response:
        """Hand a telegram over the counter."""
        clerk, fields, refusal = self._parse(request, "ClaimRequest", {"no": "int"})
        if refusal:
            return refusal
        if fields["no"] == 0:
            return say(400, 'which telegram? put its number in "no"')
        for one in self.telegrams:
            if one.no == fields["no"]:
                break
        else:
            return say(404, f"there is no telegram no {fields['no']}")
        if one.clerk and one.clerk != clerk:
            return say(409, f"telegram no {one.no} was taken by another clerk")
        if one.sent:
            return say(409, f"telegram no {one.no} has been sent, thank you")
        if not one.clerk:
            letters = string.ascii_lowercase + string.digits
            tail = "".join(secrets.choice(letters) for _ in range(6))
            one.clerk, one.slip = clerk, f"TC-{one.no}-{tail}"
            self.book.claimed(str(one.no))
        return Response(
            200,
            {
                "slip": one.slip,
                "no": one.no,
                "message": one.message,
                "instructions": "type the message in capitals and hand it in with the slip",
            },
        )

    def _by_slip(self, clerk: str, slip: str) -> tuple[Any, Response | None]:
        if not slip:
            return None, say(
                400, 'we need the "slip" you got when you took the telegram'
            )
        for one in self.telegrams:
            if one.slip == slip:
                if one.clerk != clerk:
                    return None, say(403, f"slip {slip} belongs to another clerk")
                return one, None
        return None, say(404, f"we never wrote a slip {slip}")

    def submit(self, request: Request) -> Response:
        """Take what was typed."""
        kinds = {"slip": "string", "typed": "string"}
        clerk, fields, refusal = self._parse(request, "SubmitRequest", kinds)
        if refusal:
            return refusal
        one, refusal = self._by_slip(clerk, fields["slip"])
        if refusal:
            return refusal
        if one.sent:
            return say(409, f"telegram no {one.no} has been sent, thank you")
        if not fields["typed"]:
            return say(
                400, 'the sheet is empty: put the telegram, as you typed it, in "typed"'
            )
        if fields["typed"] != one.message.upper():
            return say(422, "that is not the message in capitals, please type it again")
        one.typed = True
        return Response(
            200, {"slip": one.slip, "no": one.no, "ok": True, "next": "sign for it"}
        )

    def complete(self, request: Request) -> Response:
        """Have the clerk sign, send the telegram, pay the fee."""
        kinds = {"slip": "string", "initials": "string"}
        clerk, fields, refusal = self._parse(request, "CompleteRequest", kinds)
        if refusal:
            return refusal
        one, refusal = self._by_slip(clerk, fields["slip"])
        if refusal:
            return refusal
        if one.sent:
            return say(409, f"telegram no {one.no} has been sent and the fee paid")
        if not one.typed:
            return say(409, f"telegram no {one.no} has not been typed yet")
        if not fields["initials"]:
            return say(
                400, 'please sign the ledger: your "initials", two or three letters'
            )
        if not (fields["initials"].isalpha() and 2 <= len(fields["initials"]) <= 3):
            return say(
                400, f"initials are two or three letters, not {fields['initials']!r}"
            )
        one.sent = True
        self.purse[clerk] += one.fee
        self.book.pay(str(one.no), one.fee)
        return Response(
            200,
            {
                "slip": one.slip,
                "sent": True,
                "fee": one.fee,
                "purse": self.purse[clerk],
            },
        )
