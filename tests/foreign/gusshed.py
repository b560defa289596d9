"""Gus's Shed: one man's job board in an afternoon, later extended."""

import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

SIGNS = {
    "birdbox": ("please do not wake the wrens", 3),
    "compost": ("only green things in here", 4),
    "gate": ("shut it or the goat gets out", 9),
    "kiln": ("hot until tuesday", 6),
}
ABOUT = """\
GUS'S SHED
I paint signs. I paint them in CAPITALS. You write them out for me.
1. claim: post {"sign": "gate", "who": "<your agent_id>"}
2. submit: same, plus "paint": the words in capitals. I pay when I get it.
3. complete: same as claim. I take the sign off the board.
One sign at a time each, finish it before you take the next.
"""


class GusShed(Backend):
    """A hobbyist: jobs keyed by name, the words in the listing, one line of text for a no.

    Claim takes `sign` and `who` (the agent's own id), submit those and `paint`, complete
    those. Paid at submission (`paid`, `tin`). An agent may hold one sign at a time: it must
    complete it before it claims the next. A claim lapses after two minutes. The wrong words
    get 418, all else 400, 401 or 409.
    """

    def __init__(self) -> None:
        super().__init__()
        self.people: dict[str, str] = {}  # token -> id
        self.tin: dict[str, int] = {}
        self.board: dict[str, dict[str, Any]] = {
            sign: {
                "words": words,
                "pays": pays,
                "who": None,
                "done": False,
                "paid": False,
                "t": 0.0,
            }
            for sign, (words, pays) in SIGNS.items()
        }

    def texts(self) -> dict[str, str]:
        """Return the words of every sign."""
        return {sign: words for sign, (words, _) in SIGNS.items()}

    def nope(self, status: int, text: str) -> Response:
        """Say no in a line."""
        return Response(status, f"nope: {text}\n")

    def lapse(self) -> None:
        """Put back what was claimed and forgotten."""
        for sign, job in self.board.items():
            if job["who"] and not job["paid"] and time.monotonic() - job["t"] > 120:
                job["who"] = None
                self.book.held.discard(sign)

    def document(self, request: Request) -> Response:
        """Gus put the same page everywhere he knew of."""
        if request.path in ("/llms.txt", "/for-ai-agents.html"):
            return Response(200, ABOUT)
        return self.nope(404, "nothing here")

    def register(self, request: Request) -> Response:
        """Let somebody into the shed."""
        token, who = secrets.token_hex(6), f"pal{len(self.people) + 1}"
        self.people[token] = who
        self.tin[who] = 100
        self.book.registrations += 1
        return Response(200, {"agent_id": who, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        """Show the board; signs that are done come off it."""
        self.lapse()
        board = {
            sign: {"words": job["words"], "pays": job["pays"], "taken_by": job["who"]}
            for sign, job in self.board.items()
            if not job["done"]
        }
        try:
            limit = int(request.query.get("limit") or len(board))
        except ValueError:
            return self.nope(400, "limit is not a number")
        return Response(200, dict(list(board.items())[:limit]))

    marketplace = tasks

    def agents(self, request: Request) -> Response:
        """Show who has what in the tin."""
        return Response(200, self.tin)

    directory = agents

    def look(self, request: Request) -> tuple[str, str, dict[str, Any]] | Response:
        """Return the sign, the person and the body, or a no."""
        self.lapse()
        who = self.people.get(request.token)
        if who is None:
            return self.nope(401, "who are you?")
        try:
            body = request.json()
            assert isinstance(body, dict)
        except (ValueError, AssertionError):
            return self.nope(400, "send me a json object")
        for key in ("sign", "who"):
            if not body.get(key):
                return self.nope(400, f"need '{key}'")
        if body["who"] != who:
            return self.nope(401, "'who' has to be your own agent_id")
        if not isinstance(body["sign"], str) or body["sign"] not in self.board:
            return self.nope(400, f"no sign called {body['sign']}")
        return body["sign"], who, body

    def claim(self, request: Request) -> Response:
        """Hand a sign out."""
        got = self.look(request)
        if isinstance(got, Response):
            return got
        sign, who, _ = got
        job = self.board[sign]
        if job["who"] == who:
            return Response(200, {"sign": sign, "words": job["words"], "who": who})
        if job["who"]:
            return self.nope(409, f"{job['who']} has that one")
        other = [s for s, j in self.board.items() if j["who"] == who and not j["done"]]
        if other:
            return self.nope(409, f"one at a time, you still have {other[0]}")
        job.update(who=who, t=time.monotonic())
        self.book.claimed(sign)
        return Response(200, {"sign": sign, "words": job["words"], "who": who})

    def submit(self, request: Request) -> Response:
        """Take the painted words and pay."""
        got = self.look(request)
        if isinstance(got, Response):
            return got
        sign, who, body = got
        job = self.board[sign]
        if job["who"] != who:
            return self.nope(409, "you don't have that one")
        if not body.get("paint"):
            return self.nope(400, "need 'paint'")
        if body["paint"] != job["words"].upper():
            return self.nope(418, "that's not the words in capitals")
        if not job["paid"]:
            job["paid"] = True
            self.tin[who] += job["pays"]
            self.book.pay(sign, job["pays"])
        return Response(
            200,
            {
                "sign": sign,
                "thanks": "lovely",
                "paid": job["pays"],
                "tin": self.tin[who],
            },
        )

    def complete(self, request: Request) -> Response:
        """Take the sign off the board."""
        got = self.look(request)
        if isinstance(got, Response):
            return got
        sign, who, _ = got
        job = self.board[sign]
        if job["who"] != who:
            return self.nope(409, "you don't have that one")
        if not job["paid"]:
            return self.nope(409, "paint it first")
        job["done"] = True
        return Response(200, {"sign": sign, "done": True, "tin": self.tin[who]})
