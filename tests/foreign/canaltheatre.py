"""A small theatre's surtitle desk: plain PHP, one file per address, one author.

He checks one thing after another and says in his own words what he misses. He sends 200
with "ok": false for nearly everything, and what comes from MySQL comes as strings.
"""

import secrets
from datetime import date
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_CUES = [
    ("ACT1-03", "The Lamplighter", "who left the lantern burning?", 8),
    ("ACT1-09", "The Lamplighter", "i have counted every step to the harbour", 14),
    ("ACT2-01", "The Lamplighter", "mother, the tide is early tonight", 11),
    ("ACT2-06", "The Lamplighter", "nobody dances on a sunday", 9),
    ("ACT2-12", "Winter Guests", "leave the door, the snow knows the way", 21),
    ("ACT3-02", "Winter Guests", "one chair too few, as always", 17),
    ("ACT3-08", "Winter Guests", "then let us begin again from the soup", 28),
    ("ACT3-11", "Winter Guests", "goodnight, and mind the stairs", 33),
]
_APACHE_404 = """<!DOCTYPE HTML PUBLIC "-//IETF//DTD HTML 2.0//EN">
<html><head>
<title>404 Not Found</title>
</head><body>
<h1>Not Found</h1>
<p>The requested URL was not found on this server.</p>
<hr>
<address>Apache/2.4.57 (Debian) Server at www.canaltheatre.example Port 80</address>
</body></html>
"""


class _Sorry(Exception):  # noqa: N818
    def __init__(self, sentence: str, status: int = 200) -> None:
        super().__init__(sentence)
        self.response = Response(
            status,
            {"ok": False, "error": sentence},
            {"X-Powered-By": "PHP/8.2.7"},
            refused=True,
        )


def _empty(value: Any) -> bool:
    """Say what PHP's empty() says."""
    return not value or value == "0"


def _thanks(body: dict[str, Any]) -> Response:
    return Response(200, {"ok": True, **body}, {"X-Powered-By": "PHP/8.2.7"})


class CanalTheatre(Backend):
    """Surtitle cues with a fee; a right surtitle is paid when it is handed in."""

    def __init__(self) -> None:
        super().__init__()
        self._guests: dict[str, str] = {}  # token -> agent
        self._cues = {
            code: {
                "code": code,
                "play": play,
                "fee": str(fee),
                "state": "free",
                "job": "Write the line in capital letters, for the board above the stage."
                " You get the line when you take the cue.",
                "urgent": "0",
            }
            for code, play, _, fee in _CUES
        }
        self._lines = {code: line for code, _, line, _ in _CUES}
        self._tickets: dict[str, dict[str, str]] = {}

    def texts(self) -> dict[str, str]:
        return dict(self._lines)

    def missing(self, request: Request) -> Response:
        headers = {"Content-Type": "text/html; charset=iso-8859-1"}
        return Response(404, _APACHE_404, headers)

    def _guest(self, request: Request) -> str:
        if not request.token:
            raise _Sorry(
                "I don't know who you are. Please send your token in the Authorization"
                " header, like this: Bearer 1234",
                401,
            )
        if request.token not in self._guests:
            raise _Sorry("Sorry, that token is not in our books.", 401)
        return self._guests[request.token]

    def _post(self, request: Request) -> dict[str, Any]:
        try:
            data = request.json()
        except ValueError:
            data = None
        if not isinstance(data, dict):
            raise _Sorry("I could not read your request. It has to be a JSON object.")
        return data

    def _ticket(self, data: dict[str, Any], guest: str) -> dict[str, str]:
        if _empty(data.get("ticket")):
            raise _Sorry(
                "Your ticket is missing. You got a ticket number when you took the cue,"
                ' send it as "ticket".'
            )
        ticket = self._tickets.get(str(data["ticket"]))
        if ticket is None or ticket["guest"] != guest:
            raise _Sorry("We have no such ticket under your name.")
        return ticket

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = str(310 + self.book.registrations), secrets.token_hex(16)
        self._guests[token] = agent
        return _thanks(
            {
                "agent_id": agent,
                "access_token": token,
                "credits": 100,
                "message": "Welcome to the Canal Theatre!",
            }
        )

    def tasks(self, request: Request) -> Response:
        raw = request.query.get("limit", "")
        limit = int(raw) if raw.isdecimal() and int(raw) > 0 else 50
        free = {c: cue for c, cue in self._cues.items() if cue["state"] == "free"}
        shown = dict(list(free.items())[:limit])
        # An empty PHP array is a list, a filled one with keys an object.
        return _thanks({"how_many": len(free), "cues": shown or []})

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        try:
            guest = self._guest(request)
            data = self._post(request)
            if _empty(data.get("cue")):
                raise _Sorry(
                    'Which cue would you like to take? Please send its code as "cue",'
                    " for example ACT1-03."
                )
            cue = self._cues.get(str(data["cue"]))
            if cue is None:
                raise _Sorry("There is no cue with that code in our programme.")
            if _empty(data.get("ready_by")):
                raise _Sorry(
                    'Please tell us by which day you will be ready, as "ready_by".'
                )
            try:
                day = date.fromisoformat(str(data["ready_by"]))
                if len(str(data["ready_by"])) != 10:
                    raise ValueError
            except ValueError:
                raise _Sorry(
                    "I don't understand the date in ready_by, please write it like"
                    " 2026-05-31 (year-month-day)."
                ) from None
            if day < date.today():  # noqa: DTZ011
                raise _Sorry("The day in ready_by is already over.")
            if cue["state"] != "free":
                raise _Sorry("Too late, somebody has already taken this cue.")
        except _Sorry as sorry:
            return sorry.response
        number = f"T{len(self._tickets) + 1:03}-{secrets.token_hex(3)}"
        self._tickets[number] = {"cue": cue["code"], "guest": guest, "state": "taken"}
        cue["state"] = "taken"
        self.book.claimed(cue["code"])
        return _thanks(
            {
                "message": f"The cue is yours until {day.isoformat()}. Break a leg!",
                "ticket": number,
                "line": self._lines[cue["code"]],
            }
        )

    def submit(self, request: Request) -> Response:
        try:
            guest = self._guest(request)
            data = self._post(request)
            ticket = self._ticket(data, guest)
            if _empty(data.get("surtitle")):
                raise _Sorry('You forgot the finished text. It belongs in "surtitle".')
            if not isinstance(data["surtitle"], str):
                raise _Sorry("The surtitle has to be plain text.")
            if ticket["state"] != "taken":
                raise _Sorry("You have already handed in this one, thank you.")
            if data["surtitle"] != self._lines[ticket["cue"]].upper():
                raise _Sorry(
                    "That is not the line in capital letters. Please compare it with the"
                    " line you got and send it again."
                )
        except _Sorry as sorry:
            return sorry.response
        fee = int(self._cues[ticket["cue"]]["fee"])
        ticket["state"] = self._cues[ticket["cue"]]["state"] = "delivered"
        self.book.pay(ticket["cue"], fee)
        return _thanks(
            {
                "message": "Thank you, that looks right. Your fee has been paid.",
                "state": "delivered",
                "paid": str(fee),
            }
        )

    def complete(self, request: Request) -> Response:
        try:
            guest = self._guest(request)
            data = self._post(request)
            ticket = self._ticket(data, guest)
            if _empty(data.get("agent")):
                raise _Sorry(
                    'Who is signing off? Please send your agent number as "agent".'
                )
            if str(data["agent"]) != guest:
                raise _Sorry("The agent number does not belong to this token.")
            if ticket["state"] == "taken":
                raise _Sorry("You have not handed in a surtitle for this ticket yet.")
            if ticket["state"] == "closed":
                raise _Sorry("This ticket is closed already.")
        except _Sorry as sorry:
            return sorry.response
        ticket["state"] = self._cues[ticket["cue"]]["state"] = "closed"
        return _thanks(
            {"message": "All done, see you at the premiere.", "state": "closed"}
        )
