"""The Allotment, a cooperative of friends who share small chores; a Flask app of one evening.

Errors are sentences in plain text, one at a time; what Flask itself refuses is Flask's HTML.
A chore is paid when the right words come in; completing it only leaves a note on the shed.
"""

import random
import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_CHORES = {
    "blue-heron": (7, "tomatoes want sun and patience"),
    "mossy-gate": (13, "please close the gate behind the goats"),
    "second-kettle": (5, "tea is at four, bring your own mug"),
    "tin-roof": (18, "if it rains we meet in the long shed"),
    "wren-house": (10, "do not move the ladder, a wren lives there"),
}
_TITLES = {400: "Bad Request", 404: "Not Found", 415: "Unsupported Media Type"}


def _flask(status: int, text: str) -> Response:
    page = (
        f"<!doctype html>\n<html lang=en>\n<title>{status} {_TITLES[status]}</title>\n"
        f"<h1>{_TITLES[status]}</h1>\n<p>{text}</p>\n"
    )
    return Response(status, page, {"Content-Type": "text/html; charset=utf-8"})


def _sorry(text: str, status: int = 400) -> Response:
    return Response(status, text + "\n")


class Allotment(Backend):
    """Chores by name; whoever takes one gets a knot to find it again."""

    def __init__(self) -> None:
        super().__init__()
        self._members: dict[str, dict[str, Any]] = {}  # by token
        self._knots: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {name: words for name, (_, words) in _CHORES.items()}

    def missing(self, request: Request) -> Response:
        return _flask(
            404,
            "The requested URL was not found on the server. If you entered the URL manually "
            "please check your spelling and try again.",
        )

    def _hello(self, request: Request) -> dict[str, Any] | Response:
        if not request.token:
            return _sorry(
                "Hello stranger! Members only here: bring your token in the Authorization header.",
                401,
            )
        member = self._members.get(request.token)
        return member or _sorry(
            "I don't recognise that token, sorry. Did you join before the last restart?",
            401,
        )

    def _body(self, request: Request) -> dict[str, Any] | Response:
        if "json" not in (request.headers.get("Content-Type") or ""):
            return _flask(
                415,
                "Did not attempt to load JSON data because the request Content-Type was not "
                "&#39;application/json&#39;.",
            )
        try:
            body = request.json()
        except ValueError:
            return _flask(
                400,
                "The browser (or proxy) sent a request that this server could not understand.",
            )
        if not isinstance(body, dict):
            return _sorry(
                "I was hoping for a JSON object with curly braces, and this isn't one."
            )
        return body

    def _knot(
        self, member: dict[str, Any], body: dict[str, Any]
    ) -> dict[str, Any] | Response:
        if not body.get("knot"):
            return _sorry(
                "Which chore is this about? Send me the 'knot' I gave you when you took it."
            )
        knot = self._knots.get(str(body["knot"]))
        if knot is None:
            return _sorry(
                f"I never tied a knot called {body['knot']!r}. Maybe a typo?", 404
            )
        if knot["member"] != member["name"]:
            return _sorry("That knot belongs to somebody else!", 403)
        return knot

    def _free(self) -> list[str]:
        taken = {knot["chore"] for knot in self._knots.values()}
        return [name for name in _CHORES if name not in taken]

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = "seed_" + secrets.token_hex(12)
        name = f"gardener-{self.book.registrations}"
        self._members[token] = {"name": name, "purse": 100}
        return Response(
            200,
            {
                "agent_id": name,
                "access_token": token,
                "credits": 100,
                "welcome": "Lovely to have you. The chores are on the board.",
            },
        )

    def agents(self, request: Request) -> Response:
        return Response(200, [member["name"] for member in self._members.values()])

    directory = agents

    def tasks(self, request: Request) -> Response:
        names = self._free()
        limit = request.query.get("limit")
        if limit is not None:
            if not limit.isdecimal() or not 1 <= int(limit) <= 100:
                return _sorry(
                    f"limit={limit}? Any whole number from 1 to 100 would be fine."
                )
            names = names[: int(limit)]
        board = {
            name: {
                "what": "Sign painting: send the words back in capital letters, all of them.",
                "words": _CHORES[name][1],
                "pays": f"{_CHORES[name][0]} credits",
            }
            for name in names
        }
        return Response(200, {"board": board, "left_to_do": len(self._free())})

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        member = self._hello(request)
        if isinstance(member, Response):
            return member
        body = self._body(request)
        if isinstance(body, Response):
            return body
        name = body.get("chore")
        if not name:
            return _sorry(
                "Happy you want to help! Which 'chore' would you like? Tell me its name from the board."
            )
        if name not in list(_CHORES):
            return _sorry(
                f"There's no chore called {name!r} on the board. Have another look?",
                404,
            )
        minutes = body.get("minutes")
        if minutes is None:
            return _sorry(
                "And roughly how many 'minutes' will you need? A guess is fine."
            )
        if (
            isinstance(minutes, bool)
            or not isinstance(minutes, int)
            or not 1 <= minutes <= 240
        ):
            return _sorry(
                "'minutes' should be a whole number between 1 and 240, without quotes."
            )
        if name not in self._free():
            return _sorry(
                f"Too late, somebody already took {name}. Pick another one!", 409
            )
        mine = [
            k["chore"]
            for k in self._knots.values()
            if k["member"] == member["name"] and not k["paid"]
        ]
        if len(mine) >= 2:
            return _sorry(
                f"You've got your hands full with {' and '.join(mine)}. Finish one of those first.",
                409,
            )
        knot = f"{random.choice(('reef', 'bowline', 'clove', 'sheet'))}-{secrets.token_hex(3)}"  # noqa: S311
        self._knots[knot] = {
            "chore": name,
            "member": member["name"],
            "paid": False,
            "note": None,
        }
        self.book.claimed(name)
        return Response(
            200, {"yay": f"{name} is yours for {minutes} minutes.", "knot": knot}
        )

    def submit(self, request: Request) -> Response:
        member = self._hello(request)
        if isinstance(member, Response):
            return member
        body = self._body(request)
        if isinstance(body, Response):
            return body
        knot = self._knot(member, body)
        if isinstance(knot, Response):
            return knot
        painted = body.get("painted")
        if painted is None:
            return _sorry(
                "Got your knot, but where is the work? Put the words as you painted them in 'painted'."
            )
        if not isinstance(painted, str):
            return _sorry("'painted' should be plain text, just a string please.")
        if knot["paid"]:
            return _sorry(
                "You already did this one and we already paid you. Thank you again!",
                409,
            )
        pays, words = _CHORES[knot["chore"]]
        if painted != words.upper():
            return _sorry(
                f"Not quite: that's not what {knot['chore']} should say. It has to be its words in "
                "capitals, nothing added. Try again, the chore is still yours."
            )
        knot["paid"] = True
        member["purse"] += pays
        self.book.pay(knot["chore"], pays)
        return Response(
            200,
            {
                "yay": f"That looks great! {pays} credits are in your purse. Mark it complete when you can.",
                "paid": pays,
                "purse": member["purse"],
            },
        )

    def complete(self, request: Request) -> Response:
        member = self._hello(request)
        if isinstance(member, Response):
            return member
        body = self._body(request)
        if isinstance(body, Response):
            return body
        knot = self._knot(member, body)
        if isinstance(knot, Response):
            return knot
        if not knot["paid"]:
            return _sorry(
                "Hang on, I haven't seen the finished words for this one yet. Submit them first.",
                409,
            )
        note = body.get("note")
        if not isinstance(note, str) or not note.strip():
            return _sorry(
                "Almost! Leave a little 'note' for the shed wall, anything you like."
            )
        knot["note"] = note
        return Response(
            200, {"yay": f"{knot['chore']} is off the board. Thanks, {member['name']}!"}
        )

    def post(self, request: Request) -> Response:
        member = self._hello(request)
        if isinstance(member, Response):
            return member
        return _sorry("New chores are decided at the Sunday meeting, come along!", 403)
