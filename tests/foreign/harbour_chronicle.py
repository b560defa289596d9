"""The Harbour Chronicle: a newspaper's contributor desk, an in-house interface.

Always HTTP 200 with an outcome and, for a no, an editor's note. Commissions are listed
by desk without their copy; the copy comes with the docket. Filing pays the fee; putting
the piece to bed only closes it.
"""

import secrets
from datetime import UTC, date, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_CAPS = "Set the wire copy in capitals, letter for letter, for the front board."
_COMMISSIONS = [
    ("gale-warning", "Weather", "Gale warning board", "Gale force nine tonight", 17),
    ("ferry-late", "Transport", "Ferry notice", "Last ferry now leaves at 22:40", 12),
    ("cod-prices", "Business", "Fish market line", "Cod up four pence at the quay", 8),
    (
        "lifeboat-day",
        "Local",
        "Lifeboat day poster",
        "Lifeboat crew thanks the town",
        25,
    ),
    ("cup-final", "Sport", "Cup final bill", "Rovers win in the last minute", 30),
    ("fog-morning", "Weather", "Fog notice", "Thick fog until ten o'clock", 5),
    ("council-vote", "Local", "Council bill", "Council votes to keep the pier", 14),
]
_OUTSTANDING = 2


class _DeclinedError(Exception):
    pass


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


class HarbourChronicle(Backend):
    """The contributor desk."""

    def __init__(self) -> None:
        super().__init__()
        self._contributors: dict[str, str] = {}  # token -> agent
        self._state = {slug: "open" for slug, *_ in _COMMISSIONS}
        self._commissions = {row[0]: row for row in _COMMISSIONS}
        self._dockets: dict[str, tuple[str, str]] = {}  # docket -> contributor, slug

    def texts(self) -> dict[str, str]:
        return {slug: copy for slug, _, _, copy, _ in _COMMISSIONS}

    def missing(self, request: Request) -> Response:
        note = "Nothing is printed at this address."
        return Response(404, {"outcome": "declined", "editors-note": note})

    # --- house rules --------------------------------------------------------------

    def _contributor(self, request: Request) -> str:
        who = self._contributors.get(request.token)
        if who is None:
            raise _DeclinedError(
                "We don't know you. Send your access token as a bearer token in the "
                "Authorization header."
            )
        return who

    @staticmethod
    def _slip(request: Request, *needed: str) -> dict[str, Any]:
        try:
            slip = request.json()
        except ValueError:
            slip = None
        if not isinstance(slip, dict):
            raise _DeclinedError("We could not read that. Please send a JSON object.")
        absent = [name for name in needed if slip.get(name) in (None, "")]
        if absent:
            raise _DeclinedError(f"Your slip has no {_listed(absent)}.")
        return slip

    @staticmethod
    def _words(slip: dict[str, Any], name: str) -> str:
        value = slip[name]
        if not isinstance(value, str):
            raise _DeclinedError(f"The {name} should be text.")
        return value

    def _docket(self, slip: dict[str, Any], who: str) -> str:
        docket = self._words(slip, "docket")
        holder, slug = self._dockets.get(docket, ("", ""))
        if holder != who:
            raise _DeclinedError(f"No docket {docket} has been issued to you.")
        return slug

    @staticmethod
    def _no(declined: _DeclinedError) -> Response:
        return Response(
            200,
            {"outcome": "declined", "editors-note": str(declined)},
            refused=True,
        )

    # --- the desk -----------------------------------------------------------------

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        who = f"stringer-{secrets.token_hex(4)}"
        token = secrets.token_urlsafe(24)
        self._contributors[token] = who
        return Response(
            200,
            {
                "agent_id": who,
                "access_token": token,
                "credits": 100,
                "welcome": "The Harbour Chronicle contributor desk",
            },
        )

    def _budget(self, limit: int) -> dict[str, Any]:
        waiting = [row for row in _COMMISSIONS if self._state[row[0]] == "open"]
        desks: dict[str, list[dict[str, Any]]] = {}
        for slug, desk, headline, _, fee in waiting[:limit]:
            desks.setdefault(desk, []).append(
                {
                    "slug": slug,
                    "working-headline": headline,
                    "house-style": _CAPS,
                    "fee-in-credits": fee,
                }
            )
        return {
            "edition": datetime.now(UTC).date().isoformat(),
            "desks": [{"desk": d, "commissions": c} for d, c in desks.items()],
            "held-over": max(0, len(waiting) - limit),
        }

    def marketplace(self, request: Request) -> Response:
        return Response(200, {"outcome": "ok", "news-budget": self._budget(3)})

    def tasks(self, request: Request) -> Response:
        try:
            self._contributor(request)
            limit = request.query.get("limit", "4")
            if not limit.isdecimal() or limit == "0":
                raise _DeclinedError("The limit should be a whole number, one or more.")
        except _DeclinedError as declined:
            return self._no(declined)
        return Response(
            200, {"outcome": "ok", "news-budget": self._budget(min(int(limit), 25))}
        )

    def claim(self, request: Request) -> Response:
        try:
            who = self._contributor(request)
            slip = self._slip(request, "slug", "byline")
            slug = self._words(slip, "slug")
            byline = self._words(slip, "byline")
            if slug not in self._state:
                raise _DeclinedError(f"There is no commission slugged {slug}.")
            if len(byline) > 60:
                raise _DeclinedError("A byline runs to sixty characters at most.")
            if self._state[slug] != "open":
                raise _DeclinedError(f"{slug} has already been commissioned.")
            outstanding = [
                s
                for holder, s in self._dockets.values()
                if holder == who and self._state[s] == "commissioned"
            ]
            if len(outstanding) >= _OUTSTANDING:
                raise _DeclinedError(
                    f"You still owe us {_listed(outstanding)}. File one of them before "
                    "you take another."
                )
        except _DeclinedError as declined:
            return self._no(declined)
        docket = f"HC/{secrets.randbelow(900) + 100}/{len(self._dockets) + 1}"
        self._dockets[docket] = (who, slug)
        self._state[slug] = "commissioned"
        self.book.claimed(slug)
        _, desk, _, copy, fee = self._commissions[slug]
        return Response(
            200,
            {
                "outcome": "commissioned",
                "docket": docket,
                "brief": {
                    "slug": slug,
                    "desk": desk,
                    "byline": byline,
                    "house-style": _CAPS,
                    "wire-copy": copy,
                    "fee-in-credits": fee,
                },
            },
        )

    def submit(self, request: Request) -> Response:
        try:
            who = self._contributor(request)
            slip = self._slip(request, "docket", "finished-copy", "filed-on")
            slug = self._docket(slip, who)
            copy = self._words(slip, "finished-copy")
            try:
                date.fromisoformat(self._words(slip, "filed-on"))
            except ValueError:
                raise _DeclinedError(
                    "The filed-on should be a date, written like 2019-03-28."
                ) from None
            if self._state[slug] != "commissioned":
                raise _DeclinedError(f"{slug} has already been filed.")
            if copy != self._commissions[slug][3].upper():
                raise _DeclinedError(
                    "Spiked by the subs: the finished-copy is not the wire copy set in "
                    "capitals. Please file again."
                )
        except _DeclinedError as declined:
            return self._no(declined)
        fee = self._commissions[slug][4]
        self._state[slug] = "filed"
        self.book.pay(slug, fee)
        return Response(
            200,
            {
                "outcome": "passed-by-subs",
                "docket": slip["docket"],
                "fee-paid-in-credits": fee,
                "next": "Put the piece to bed to close the docket.",
            },
        )

    def complete(self, request: Request) -> Response:
        try:
            who = self._contributor(request)
            slip = self._slip(request, "docket", "fit-to-print")
            slug = self._docket(slip, who)
            if slip["fit-to-print"] is not True:
                raise _DeclinedError("We print only with fit-to-print given as true.")
            if self._state[slug] == "commissioned":
                raise _DeclinedError(f"{slug} has not been filed yet.")
            if self._state[slug] == "in-bed":
                raise _DeclinedError(f"{slug} has already been put to bed.")
        except _DeclinedError as declined:
            return self._no(declined)
        self._state[slug] = "in-bed"
        return Response(200, {"outcome": "put-to-bed", "docket": slip["docket"]})
