"""Loudhailer: a hobbyist's toy network, one file of Python on plain Flask.

Checks are written by hand, one after the other; every no is `jsonify(error=...)`. The
words of a gig are only told to who claims it, and a right shout is paid on the spot.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import secrets
import time
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

GIGS = [
    ("grumpy-otter", "low tide at four, bring the blue bucket", 6),
    ("tall-kettle", "the kettle is on, come round whenever", 4),
    ("muddy-boots", "lost: one left boot, size nine, very muddy", 9),
    ("brass-moon", "band practice moved to the old tram shed", 11),
    ("quiet-goose", "please don't feed the geese after dark", 7),
    ("slow-ferry", "last ferry leaves at 22:40 from pier 3", 13),
]
BLURB = "I give you some words when you claim, you shout them back at me IN CAPITALS"


def _jsonify(body: Any, status: int = 200, **headers: str) -> Response:
    """Write JSON as Flask does: sorted, compact, with a line's end."""
    text = json.dumps(body, sort_keys=True, separators=(",", ":")) + "\n"
    return Response(status, text, {"Content-Type": "application/json", **headers})


def _oops(status: int, error: str, **more: Any) -> Response:
    return _jsonify({"error": error, **more}, status)


class Loudhailer(Backend):
    """Pays when the shout is right; completing only closes the ticket."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._tickets: dict[int, dict[str, Any]] = {}
        self._gigs = {
            slug: {"slug": slug, "words": words, "pays": pays, "free": True}
            for slug, words, pays in GIGS
        }

    def texts(self) -> dict[str, str]:
        """Return the words of every gig."""
        return {slug: gig["words"] for slug, gig in self._gigs.items()}

    def missing(self, request: Request) -> Response:
        """Answer as the app's handlers of 404 and 405 do."""
        allowed = [method for method, path in ACTIONS if path == request.path]
        if not allowed:
            return _oops(404, "nothing here")
        verbs = "GET, HEAD, OPTIONS" if allowed == ["GET"] else "OPTIONS, POST"
        body = {"error": f"can't {request.method} this"}
        return _jsonify(body, 405, Allow=verbs)

    def _enter(self, request: Request) -> tuple[Any, Any, Response | None]:
        """Return who asks and what they sent, or the no."""
        if not request.headers.get("Authorization"):
            no = "no token. send 'Authorization: Bearer <your access_token>'"
            return None, None, _oops(401, no)
        agent = self._agents.get(request.token)
        if agent is None:
            return None, None, _oops(401, "don't know that token")
        data = None
        if (request.headers.get_content_type()) == "application/json":
            try:  # noqa: SIM105
                data = request.json()
            except ValueError:
                pass
        if not isinstance(data, dict):
            no = "send a json object please (with Content-Type: application/json)"
            return agent, None, _oops(400, no)
        return agent, data, None

    def _ticket(self, agent: Any, data: Any) -> tuple[Any, Response | None]:
        """Return the ticket that was meant, or the no."""
        if "ticket" not in data:
            return None, _oops(400, "ticket is missing")
        number = data["ticket"]
        if not isinstance(number, int) or isinstance(number, bool):
            return None, _oops(400, "ticket should be a number")
        if number not in self._tickets:
            return None, _oops(404, f"no ticket {number}")
        ticket = self._tickets[number]
        if ticket["agent"] is not agent:
            return None, _oops(403, "that's not your ticket")
        return ticket, None

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent = {
            "agent_id": f"a{self.book.registrations}",
            "access_token": secrets.token_hex(16),
            "credits": 100,
        }
        self._agents[agent["access_token"]] = agent
        return _jsonify(agent)

    def tasks(self, request: Request) -> Response:
        """List every gig, taken or not; there is no second page."""
        limit = request.query.get("limit", "20")
        if not limit.isdecimal() or int(limit) < 1:
            return _oops(400, "limit should be a number, 1 or more")
        gigs = [
            {
                "slug": gig["slug"],
                "blurb": BLURB,
                "pays": gig["pays"],
                "free": gig["free"],
                "length": len(gig["words"]),
            }
            for gig in self._gigs.values()
        ]
        return _jsonify(gigs[: min(int(limit), 20)])

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        agent, data, no = self._enter(request)
        if no:
            return no
        if "slug" not in data:
            return _oops(400, "slug is missing")
        if "agent_id" not in data:
            return _oops(400, "agent_id is missing")
        if data["agent_id"] != agent["agent_id"]:
            return _oops(403, "agent_id doesn't go with that token")
        gig = self._gigs.get(str(data["slug"]))
        if gig is None:
            return _oops(404, f"no gig called {data['slug']!r}")
        for number, ticket in self._tickets.items():
            if ticket["agent"] is agent and not ticket["closed"]:
                return _oops(
                    409,
                    f"one at a time! complete ticket {number} first",
                    ticket=number,
                    slug=ticket["gig"]["slug"],
                    words=ticket["gig"]["words"],
                )
        if not gig["free"]:
            return _oops(409, "too late, somebody has that one")
        gig["free"] = False
        number = 10000 + secrets.randbelow(80000)
        while number in self._tickets:
            number += 1
        self._tickets[number] = {
            "agent": agent,
            "gig": gig,
            "shouted": False,
            "closed": False,
        }
        self.book.claimed(gig["slug"])
        return _jsonify(
            {
                "ok": True,
                "ticket": number,
                "slug": gig["slug"],
                "words": gig["words"],
                "since": int(time.time()),
            }
        )

    def submit(self, request: Request) -> Response:
        agent, data, no = self._enter(request)
        if no:
            return no
        ticket, no = self._ticket(agent, data)
        if no:
            return no
        if "shout" not in data:
            return _oops(400, "shout is missing")
        if not isinstance(data["shout"], str):
            return _oops(400, "shout should be a string")
        if ticket["shouted"]:
            return _oops(409, "you did that one already and got paid")
        gig = ticket["gig"]
        if data["shout"] != gig["words"].upper():
            no = "nope. exactly the words I gave you, all in capitals. try again"
            return _oops(400, no, got=data["shout"])
        ticket["shouted"] = True
        self.book.pay(gig["slug"], gig["pays"])
        agent["credits"] += gig["pays"]
        return _jsonify({"ok": True, "paid": gig["pays"], "credits": agent["credits"]})

    def complete(self, request: Request) -> Response:
        agent, data, no = self._enter(request)
        if no:
            return no
        ticket, no = self._ticket(agent, data)
        if no:
            return no
        if "happy" not in data:
            return _oops(400, "happy is missing (did you like it? true or false)")
        if not isinstance(data["happy"], bool):
            return _oops(400, "happy should be true or false")
        if not ticket["shouted"]:
            return _oops(409, "you haven't submitted your shout yet")
        if ticket["closed"]:
            return _oops(409, "that ticket is closed already")
        ticket["closed"] = True
        return _jsonify({"ok": True, "closed": True, "credits": agent["credits"]})

    def post(self, request: Request) -> Response:
        _, _, no = self._enter(request)
        return no or _oops(403, "only I can add gigs for now, sorry")

    def checkout(self, request: Request) -> Response:
        return _oops(501, "no payments here, this is a hobby")

    def agents(self, request: Request) -> Response:
        return _jsonify([agent["agent_id"] for agent in self._agents.values()])

    def directory(self, request: Request) -> Response:
        if "slug" not in request.query:
            return self.agents(request)
        for agent in self._agents.values():
            if agent["agent_id"] == request.query["slug"]:
                return _jsonify({"agent_id": agent["agent_id"], "does": "shouting"})
        return _oops(404, "no such agent")
