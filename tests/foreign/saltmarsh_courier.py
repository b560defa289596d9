"""The Saltmarsh Courier, a regional newspaper: an in-house interface for its stringers.

The news budget lists stories by desk; a stringer takes a ticket, which carries the line to
be set, files copy on it (and is paid then), and the story is put to bed. The desk returns
what it cannot use with a note on each entry, and with status 200: nothing broke.
"""

import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

STORIES = [
    ("HARBOUR-DREDGE", "News", "Council backs £4m plan to dredge the harbour", 45),
    ("LIBRARY-HOURS", "News", "Library to open on Sundays from May", 30),
    ("COUNTY-FINAL", "Sport", "Late penalty sends United to the county final", 60),
    ("ROWERS-GOLD", "Sport", "Marsh rowers take gold, and a ducking", 25),
    ("PANTO-CAST", "Arts", "Who's who in this year's pantomime?", 20),
    ("CHOIR-CENTENARY", "Arts", "100 years of song: the miners' choir looks back", 50),
]
BRIEF = "Head. Set the line of the ticket all in capitals; change nothing else."
MOST_TICKETS = 2
MOST_MINUTES = 240

Notes = list[dict[str, str]]


def _returned(*notes: tuple[str, str], status: int = 200) -> Response:
    body = {
        "Outcome": "Returned",
        "Notes": [{"Entry": entry, "Note": note} for entry, note in notes],
    }
    return Response(status, body, refused=True)


class SaltmarshCourier(Backend):
    """Stories: Open, Taken, Filed, Put to bed."""

    def __init__(self) -> None:
        super().__init__()
        self._stories: dict[str, dict[str, Any]] = {
            slug: {"Desk": desk, "Line": line, "Fee": fee, "Standing": "Open"}
            for slug, desk, line, fee in STORIES
        }
        self._stringers: dict[str, str] = {}  # token -> stringer
        self._accounts: dict[str, int] = {}
        self._tickets: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the text of every task."""
        return {slug: story["Line"] for slug, story in self._stories.items()}

    def missing(self, request: Request) -> Response:
        """Return the answer to what the paper does not offer."""
        note = f"The Courier keeps no such page as {request.path}."
        return _returned(("-", note), status=404)

    def post(self, request: Request) -> Response:
        """Refuse: the desks write the budget themselves."""
        note = "Stories are put on the budget by the desks, not by stringers."
        return _returned(("-", note), status=403)

    def register(self, request: Request) -> Response:
        """Add a stringer to the list."""
        stringer = f"STR{204 + len(self._stringers)}"
        token = secrets.token_urlsafe(24)
        self._stringers[token] = stringer
        self._accounts[stringer] = 100
        self.book.registrations += 1
        answer = {"agent_id": stringer, "access_token": token, "credits": 100}
        return Response(200, answer)

    # --- the budget ---

    def _budget(self, stories: dict[str, dict[str, Any]], limit: int) -> Response:
        desks: dict[str, list[dict[str, Any]]] = {}
        for slug in list(stories)[:limit]:
            story = stories[slug]
            desks.setdefault(story["Desk"], []).append(
                {
                    "Slug": slug,
                    "Brief": BRIEF,
                    "Fee": story["Fee"],
                    "Standing": story["Standing"],
                }
            )
        budget = [{"Desk": desk, "Stories": rows} for desk, rows in desks.items()]
        return Response(200, {"StoriesInAll": len(stories), "Budget": budget})

    def marketplace(self, request: Request) -> Response:
        """Print the stories still open, for anybody."""
        free = {s: v for s, v in self._stories.items() if v["Standing"] == "Open"}
        return self._budget(free, len(free))

    def tasks(self, request: Request) -> Response:
        """Print the whole budget, for stringers."""
        if request.token not in self._stringers:
            return self._stranger(request)
        limit = request.query.get("limit", "20")
        if not limit.isdecimal() or int(limit) < 1:
            return _returned(("limit", "How many stories? Give a number from 1 up."))
        return self._budget(self._stories, int(limit))

    # --- the work ---

    @staticmethod
    def _stranger(request: Request) -> Response:
        note = (
            "We have nobody on the list with that token."
            if request.token
            else "Stringers only: send your access token as a bearer token."
        )
        return _returned(("Authorization", note), status=401)

    def _open(self, request: Request) -> tuple[str, dict[str, Any]] | Response:
        """Return who asks and what, or the answer that ends it."""
        stringer = self._stringers.get(request.token)
        if stringer is None:
            return self._stranger(request)
        try:
            body = request.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return _returned(("-", "We read JSON objects only."), status=400)
        return stringer, body

    def _ticket(
        self, stringer: str, body: dict[str, Any], notes: list[tuple[str, str]]
    ) -> dict[str, Any]:
        """Return the ticket that the body names; note it when there is none."""
        number = body.get("TicketNumber")
        if number in (None, ""):
            notes.append(("TicketNumber", "Left out. It is on your ticket."))
            return {}
        ticket = self._tickets.get(number) if isinstance(number, str) else None
        if ticket is None or ticket["Stringer"] != stringer:
            notes.append(("TicketNumber", f"You hold no ticket {number}."))
            return {}
        return ticket

    def claim(self, request: Request) -> Response:
        """Hand out a ticket for a story."""
        opened = self._open(request)
        if isinstance(opened, Response):
            return opened
        stringer, body = opened
        notes = []
        slug: Any = body.get("Slug")
        minutes: Any = body.get("MinutesToFile")
        story = self._stories.get(slug) if isinstance(slug, str) else None
        if slug in (None, ""):
            notes.append(("Slug", "Left out. Which story do you want?"))
        elif story is None:
            notes.append(("Slug", f"There is no story slugged {slug} on the budget."))
        elif story["Standing"] != "Open":
            notes.append(("Slug", f"{slug} is not open any more: {story['Standing']}."))
        if minutes is None:
            notes.append(("MinutesToFile", "Left out. How soon will you file?"))
        elif type(minutes) is not int or not 1 <= minutes <= MOST_MINUTES:
            note = f"A whole number from 1 to {MOST_MINUTES}, please."
            notes.append(("MinutesToFile", note))
        if notes or story is None:
            return _returned(*notes)
        own = [t for t in self._tickets.values() if t["Stringer"] == stringer]
        held = [t for t in own if t["Standing"] == "Taken"]
        if len(held) >= MOST_TICKETS:
            note = f"You hold {len(held)} tickets already. File one of them first."
            return _returned(("-", note))
        before = datetime.now(UTC) + timedelta(minutes=minutes)
        ticket = {
            "TicketNumber": f"T{len(self._tickets) + 7301}",
            "Slug": slug,
            "Stringer": stringer,
            "Line": story["Line"],
            "FileBefore": before.strftime("%H:%M GMT"),
            "Standing": "Taken",
        }
        self._tickets[ticket["TicketNumber"]] = ticket
        story["Standing"] = "Taken"
        self.book.claimed(slug)
        return Response(200, {"Outcome": "Taken", "Ticket": dict(ticket)})

    def submit(self, request: Request) -> Response:
        """Read the copy; what is right is paid at once."""
        opened = self._open(request)
        if isinstance(opened, Response):
            return opened
        stringer, body = opened
        notes: list[tuple[str, str]] = []
        ticket = self._ticket(stringer, body, notes)
        copy: Any = body.get("Copy")
        if not isinstance(copy, dict):
            said = "Left out." if copy is None else "This is not an object."
            notes.append(("Copy", f"{said} We want Copy with Head and Byline in it."))
        else:
            for entry, means in (
                ("Head", "the finished line"),
                ("Byline", "the name to print with it"),
            ):
                value = copy.get(entry)
                if not isinstance(value, str) or not value.strip():
                    notes.append((f"Copy.{entry}", f"Left out: {means}, as text."))
        if notes:
            return _returned(*notes)
        if ticket["Standing"] != "Taken":
            note = f"Nothing to file: this ticket is marked {ticket['Standing']}."
            return _returned(("TicketNumber", note))
        if copy["Head"] != ticket["Line"].upper():
            note = "Spiked by the subs: not the line of the ticket in capitals. Refile."
            return _returned(("Copy.Head", note))
        story = self._stories[ticket["Slug"]]
        ticket["Standing"] = story["Standing"] = "Filed"
        ticket["FilingNumber"] = (
            f"{secrets.randbelow(90) + 10}/{ticket['TicketNumber']}"
        )
        self._accounts[stringer] += story["Fee"]
        self.book.pay(ticket["Slug"], story["Fee"])
        answer = {
            "Outcome": "Filed",
            "FilingNumber": ticket["FilingNumber"],
            "FeePaid": story["Fee"],
            "Account": self._accounts[stringer],
        }
        return Response(200, answer)

    def complete(self, request: Request) -> Response:
        """Put a filed story to bed."""
        opened = self._open(request)
        if isinstance(opened, Response):
            return opened
        stringer, body = opened
        notes: list[tuple[str, str]] = []
        ticket = self._ticket(stringer, body, notes)
        filing = body.get("FilingNumber")
        if filing in (None, ""):
            notes.append(("FilingNumber", "Left out. You were given it on filing."))
        elif ticket and filing != ticket.get("FilingNumber"):
            notes.append(("FilingNumber", "That is not the filing on this ticket."))
        if not notes and ticket["Standing"] != "Filed":
            notes.append(("TicketNumber", f"Already marked {ticket['Standing']}."))
        if notes:
            return _returned(*notes)
        ticket["Standing"] = self._stories[ticket["Slug"]]["Standing"] = "Put to bed"
        return Response(200, {"Outcome": "Put to bed", "Slug": ticket["Slug"]})
