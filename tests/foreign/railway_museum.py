"""Northgate Railway Museum: the volunteers' job board of its paint shop.

An in-house interface: jobcards are drawn against a docket, the finished lettering is handed
in and entered on a folio of the ledger, and the folio is signed off, which pays the allowance.
"""

import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_JOBCARDS = [
    ("NRM/PS/0412", "Nameplate, tank engine No. 7", "Lady of the Fells", 14),
    ("NRM/PS/0415", "Platform sign", "Passengers must cross by the bridge", 9),
    ("NRM/PS/0418", "Carriage door", "third class, smoking", 6),
    ("NRM/PS/0421", "Signal box board", "Harrow Beck Junction", 11),
    ("NRM/PS/0422", "Builder's plate", "Built by Kerr & Dodd, Leeds 1898", 18),
    ("NRM/PS/0430", "Goods van side", "return empty to Coldwater yard", 7),
]
_TURNS = ("early", "middle", "late")
_UP = "on the board"
_Slip = dict[str, Any]


def _time(hours: int = 0) -> str:
    return (datetime.now(UTC) + timedelta(hours=hours)).strftime("%d %B %Y, %H:%M")


class _Refusal(Exception):  # noqa: N818
    """A notice of refusal: the status, the rule of the paint shop and the reason."""

    def __init__(self, status: int, rule: int, reason: str) -> None:
        super().__init__(reason)
        self.status, self.rule, self.reason = status, rule, reason


class RailwayMuseum(Backend):
    """A museum's job board: one docket at a time, one reason at a time."""

    def __init__(self) -> None:
        super().__init__()
        self._volunteers: dict[str, dict[str, Any]] = {}  # by token
        self._cards: dict[str, dict[str, Any]] = {
            number: {
                "article": article,
                "lettering": lettering,
                "sum": sum_,
                "standing": _UP,
            }
            for number, article, lettering, sum_ in _JOBCARDS
        }
        self._dockets: dict[str, dict[str, Any]] = {}
        self._folios: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the lettering of every jobcard."""
        return {number: card["lettering"] for number, card in self._cards.items()}

    def missing(self, request: Request) -> Response:
        """Answer a call at a door that the museum does not have."""
        return self._notice(_Refusal(404, 1, f"There is no counter at {request.path}."))

    def _notice(self, refusal: _Refusal) -> Response:
        return Response(
            refusal.status,
            {
                "notice-of-refusal": {
                    "paint-shop-rule": refusal.rule,
                    "reason": refusal.reason,
                    "given-at": _time(),
                }
            },
        )

    def register(self, request: Request) -> Response:
        """Enrol a volunteer."""
        self.book.registrations += 1
        token = "pass-" + secrets.token_hex(12)
        volunteer = {"agent_id": f"VOL-{700 + self.book.registrations}", "credits": 100}
        self._volunteers[token] = volunteer
        return Response(200, {**volunteer, "access_token": token})

    def tasks(self, request: Request) -> Response:
        """Show the job board."""
        numbers = [n for n, card in self._cards.items() if card["standing"] == _UP]
        limit = request.query.get("limit", "")
        if limit.isdecimal():
            numbers = numbers[: int(limit)]
        return Response(
            200,
            {
                "job-board": {
                    "department": "Paint shop",
                    "as-of": _time(),
                    "jobcards": [self._shown(number) for number in numbers],
                }
            },
        )

    marketplace = tasks

    def _shown(self, number: str) -> dict[str, Any]:
        card = self._cards[number]
        return {
            "jobcard-number": number,
            "article": card["article"],
            "particulars": {
                "lettering": card["lettering"],
                "style": "block capitals throughout, punctuation as given",
            },
            "allowance": {"sum": card["sum"], "in": "credits"},
            "standing": card["standing"],
        }

    def claim(self, request: Request) -> Response:
        """Draw a jobcard against a docket."""
        return self._counter(request, self._draw)

    def submit(self, request: Request) -> Response:
        """Hand in the finished lettering."""
        return self._counter(request, self._hand_in)

    def complete(self, request: Request) -> Response:
        """Sign off a folio and pay the allowance."""
        return self._counter(request, self._sign_off)

    def post(self, request: Request) -> Response:
        """Refuse a jobcard from outside."""
        return self._notice(
            _Refusal(403, 3, "Jobcards are written by the foreman only.")
        )

    def _counter(self, request: Request, serve: Any) -> Response:
        try:
            volunteer = self._volunteers.get(request.token)
            if volunteer is None:
                raise _Refusal(
                    403,
                    2,
                    "No valid pass was shown. Volunteers show the access_token of their "
                    "enrolment in the Authorization header.",
                )
            try:
                slip = request.json()
            except ValueError:
                slip = None
            if not isinstance(slip, dict):
                raise _Refusal(
                    400, 4, "The slip could not be read. It must be a JSON object."
                )
            return Response(200, serve(volunteer, slip))
        except _Refusal as refusal:
            return self._notice(refusal)

    @staticmethod
    def _entry(slip: dict[str, Any], name: str, meaning: str) -> str:
        value = slip.get(name)
        if value is None or value == "":
            raise _Refusal(400, 5, f'The slip lacks the entry "{name}" ({meaning}).')
        if not isinstance(value, str):
            raise _Refusal(
                400, 5, f'The entry "{name}" ({meaning}) must be written as text.'
            )
        return value

    def _signed(
        self, slip: dict[str, Any], name: str, volunteer: dict[str, Any]
    ) -> None:
        value = self._entry(slip, name, "the agent_id of the volunteer at the counter")
        if value != volunteer["agent_id"]:
            raise _Refusal(
                403,
                6,
                f'The entry "{name}" is "{value}", but the pass shown is that of '
                f"{volunteer['agent_id']}.",
            )

    def _draw(self, volunteer: _Slip, slip: _Slip) -> _Slip:
        number = self._entry(slip, "jobcard-number", "as on the job board")
        if number not in self._cards:
            raise _Refusal(404, 7, f'There is no jobcard "{number}" on the job board.')
        self._signed(slip, "drawn-by", volunteer)
        turn = self._entry(slip, "turn", f"one of: {', '.join(_TURNS)}")
        if turn not in _TURNS:
            raise _Refusal(400, 5, f'"{turn}" is not a turn: {", ".join(_TURNS)}.')
        if self._cards[number]["standing"] != _UP:
            raise _Refusal(409, 8, f"Jobcard {number} has been drawn already.")
        for docket, held in self._dockets.items():
            if held["holder"] == volunteer["agent_id"] and held["open"]:
                raise _Refusal(
                    409,
                    9,
                    f"You hold docket {docket} for jobcard {held['number']}. "
                    "Hand in its work before you draw another.",
                )
        docket = f"D{len(self._dockets) + 58}"
        holder = volunteer["agent_id"]
        self._dockets[docket] = {"number": number, "holder": holder, "open": True}
        self._cards[number]["standing"] = "drawn"
        self.book.claimed(number)
        return {
            "docket": {
                "docket-number": docket,
                "jobcard-number": number,
                "turn": turn,
                "hand-in-before": _time(hours=8),
            }
        }

    def _hand_in(self, volunteer: _Slip, slip: _Slip) -> _Slip:
        docket = self._entry(slip, "docket-number", "as on the docket you were given")
        held = self._dockets.get(docket)
        if held is None or held["holder"] != volunteer["agent_id"]:
            raise _Refusal(404, 10, f'You hold no docket "{docket}".')
        if not held["open"]:
            raise _Refusal(409, 10, f"The work of docket {docket} has been handed in.")
        done = self._entry(slip, "finished-lettering", "the work itself")
        card = self._cards[held["number"]]
        if done != card["lettering"].upper():
            raise _Refusal(
                409,
                11,
                "The foreman sent the work back: the finished lettering is not the lettering "
                "of the jobcard in block capitals. You keep the docket and may hand in again.",
            )
        held["open"] = False
        card["standing"] = "handed in"
        folio = f"{len(self._folios) + 23} recto"
        self._folios[folio] = {"number": held["number"], "holder": held["holder"]}
        return {
            "ledger-entry": {
                "folio": folio,
                "jobcard-number": held["number"],
                "remark": "Passed by the foreman. The allowance is paid at sign-off.",
            }
        }

    def _sign_off(self, volunteer: _Slip, slip: _Slip) -> _Slip:
        folio = self._entry(slip, "folio", "as in the ledger entry of your hand-in")
        entry = self._folios.get(folio)
        if entry is None or entry["holder"] != volunteer["agent_id"]:
            raise _Refusal(404, 12, f'The ledger has no folio "{folio}" in your name.')
        self._signed(slip, "signed-by", volunteer)
        minutes = slip.get("minutes-at-bench")
        if type(minutes) is not int or minutes < 1:
            reason = 'The entry "minutes-at-bench" must be a whole number, 1 or more.'
            raise _Refusal(400, 13, reason)
        card = self._cards[entry["number"]]
        if card["standing"] == "signed off":
            raise _Refusal(409, 14, f"Folio {folio} is signed off already.")
        card["standing"] = "signed off"
        volunteer["credits"] += card["sum"]
        self.book.pay(entry["number"], card["sum"])
        return {
            "pay-chit": {
                "folio": folio,
                "allowance-paid": {"sum": card["sum"], "in": "credits"},
                "purse-now": volunteer["credits"],
            }
        }
