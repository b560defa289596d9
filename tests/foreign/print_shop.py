"""A family print shop: the owner's nephew wrote it in a weekend.

He likes kebab-case, yes and no, objects keyed by ticket (he learned on Firebase), and he
says no in plain text, one thing at a time.
"""

import random
import string
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_TICKETS: dict[str, tuple[str, str, int]] = {
    "T-301": ("banner, vinyl, 6ft", "grand opening this saturday!", 18),
    "T-302": ("name tags x12", "hello, my name is", 5),
    "T-303": ("yard sign", "please slow down - kids & ducks", 10),
    "T-305": ("mug", "world's okayest fisherman", 7),
    "T-308": ("van lettering", "Delgado & sons plumbing, since 1988", 22),
    "T-309": ("birthday card", "happy 90th, nana june", 6),
    "T-312": ("church raffle poster", "1st prize: a ham. 2nd prize: two hams.", 13),
}


def _no(status: int, words: str) -> Response:
    return Response(status, words + "\n", {"X-Powered-By": "Tyler"})


def _yes(**answer: Any) -> Response:
    return Response(200, {"ok": "yes", **answer}, {"X-Powered-By": "Tyler"})


class PrintShop(Backend):
    """Hobbs & Daughter Printing."""

    def __init__(self) -> None:
        super().__init__()
        self._helpers: dict[str, dict[str, Any]] = {}  # by token
        self._where = dict.fromkeys(_TICKETS, "on the board")
        self._slips: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {ticket: words for ticket, (_, words, _) in _TICKETS.items()}

    def missing(self, request: Request) -> Response:
        return _no(404, f"Cannot {request.method} {request.path}")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = "".join(random.choices(string.ascii_letters + string.digits, k=24))  # noqa: S311
        helper = {
            "agent_id": f"helper{self.book.registrations}",
            "access_token": token,
            "credits": 100,
        }
        self._helpers[token] = dict(helper)
        return Response(200, {**helper, "welcome": "Thanks for helping out! - Tyler"})

    def tasks(self, request: Request) -> Response:
        limit = request.query.get("limit", "4")
        if not limit.isdecimal() or not 1 <= int(limit) <= 50:
            return _no(400, "limit should be a number from 1 to 50")
        after = request.query.get("after", "")
        if after and after not in _TICKETS:
            return _no(400, f"after should be a ticket number, we have no {after}")
        left = [ticket for ticket in _TICKETS if ticket > after]
        shown = left[: int(limit)]
        board: dict[str, Any] = {}
        for ticket in shown:
            what, words, pays = _TICKETS[ticket]
            board[ticket] = {
                "what-for": what,
                "words": words,
                "please-do": "Type the words again in ALL CAPS. Keep the commas and such.",
                "pays": pays,
                "where-is-it": self._where[ticket],
            }
        more = len(left) > len(shown)
        answer: dict[str, Any] = {"board": board, "more": "yes" if more else "no"}
        if more:
            answer["see-more"] = f"{request.path}?limit={limit}&after={shown[-1]}"
        return _yes(**answer)

    marketplace = tasks

    def agents(self, request: Request) -> Response:
        return _yes(helpers=[helper["agent_id"] for helper in self._helpers.values()])

    directory = agents

    def checkout(self, request: Request) -> Response:
        return _no(
            501, "We don't sell credits online yet, come by the counter (Mon-Sat 9-5)"
        )

    def _asked(self, request: Request, **wanted: str) -> dict[str, Any] | Response:
        """Return what was asked, by names with underscores, or the refusal."""
        if request.token not in self._helpers:
            return _no(
                401,
                "Who's this? Put your access token in the header, Authorization: Bearer TOKEN",
            )
        try:
            body = request.json()
        except ValueError as error:
            return _no(400, f"That's not JSON: {error}")
        if not isinstance(body, dict):
            return _no(400, "Send me a JSON object with curly braces please")
        asked = {}
        for name, why in wanted.items():
            key = name.replace("_", "-")
            value = body.get(key)
            if value is None or value == "":
                return _no(400, f'You forgot "{key}" ({why})')
            asked[name] = value
        return asked

    def claim(self, request: Request) -> Response:
        asked = self._asked(
            request,
            ticket_no="the ticket number off the board, like T-301",
            who="your agent_id, so Aunt Marge knows who has it",
        )
        if isinstance(asked, Response):
            return asked
        ticket, me = asked["ticket_no"], self._helpers[request.token]["agent_id"]
        if asked["who"] != me:
            return _no(403, f'"who" has to be you, and your token says you are {me}')
        if not isinstance(ticket, str) or ticket not in _TICKETS:
            return _no(404, f"There's no ticket {ticket} on the board")
        for number, slip in self._slips.items():
            if slip["who"] == me and slip["done"] == "no":
                return _no(
                    409,
                    "One job at a time please! "
                    f"You still have {slip['ticket']} (slip-no {number}), finish that first",
                )
        if self._where[ticket] != "on the board":
            return _no(409, f"Sorry, {ticket} is {self._where[ticket]}")
        number = 7000 + len(self._slips) + 1
        self._slips[number] = {"ticket": ticket, "who": me, "proof": "no", "done": "no"}
        self._where[ticket] = "on the bench"
        self.book.claimed(ticket)
        return _yes(**{"its-yours": ticket, "slip-no": number})

    def _slip(self, request: Request, number: Any) -> dict[str, Any] | Response:
        if isinstance(number, bool) or not str(number).isdecimal():
            return _no(
                400, '"slip-no" is a number, it was in the answer when you claimed'
            )
        slip = self._slips.get(int(number))
        if slip is None:
            return _no(404, f"I can't find slip {number}")
        if slip["who"] != self._helpers[request.token]["agent_id"]:
            return _no(403, f"Slip {number} isn't yours")
        if slip["done"] == "yes":
            return _no(409, f"Slip {number} is all done and paid already")
        return slip

    def submit(self, request: Request) -> Response:
        asked = self._asked(
            request,
            slip_no="the slip number you got when you claimed",
            finished_words="the finished words",
            note="a line for Aunt Marge about how it went, anything is fine",
        )
        if isinstance(asked, Response):
            return asked
        slip = self._slip(request, asked["slip_no"])
        if isinstance(slip, Response):
            return slip
        if not isinstance(asked["note"], str):
            return _no(400, '"note" is just text')
        if asked["finished_words"] != _TICKETS[slip["ticket"]][1].upper():
            return _no(
                422,
                "Aunt Marge proofread it and it's not right. Fix it and send it again",
            )
        slip["proof"] = "yes"
        return _yes(
            **{
                "proofread": "looks good",
                "slip-no": asked["slip_no"],
                "next": "complete it and you get paid",
            }
        )

    def complete(self, request: Request) -> Response:
        asked = self._asked(
            request,
            slip_no="the slip number you got when you claimed",
            minutes_spent="how many minutes it took you, a number, for the time book",
        )
        if isinstance(asked, Response):
            return asked
        slip = self._slip(request, asked["slip_no"])
        if isinstance(slip, Response):
            return slip
        minutes = asked["minutes_spent"]
        if (
            isinstance(minutes, bool)
            or not isinstance(minutes, int | float)
            or minutes < 0
        ):
            return _no(400, '"minutes-spent" has to be a number, 0 or more')
        if slip["proof"] != "yes":
            return _no(
                409, "Not so fast, submit the words first so they can be proofread"
            )
        slip["done"] = "yes"
        ticket = slip["ticket"]
        pays = _TICKETS[ticket][2]
        self._where[ticket] = "picked up"
        helper = self._helpers[request.token]
        helper["credits"] += pays
        self.book.pay(ticket, pays)
        return _yes(
            **{"paid-you": pays, "you-have-now": helper["credits"], "thanks": "Tyler"}
        )

    def post(self, request: Request) -> Response:
        return _no(403, "Only Aunt Marge puts tickets on the board")
