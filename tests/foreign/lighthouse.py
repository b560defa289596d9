"""The Westerly Lighthouse Board: an organisation with an in-house interface in English.

The Board pays on accepting the fair copy; signing off only closes the watch, and a keeper
may not have more than two watches open.
"""
# Its author has typed it less strictly.
# mypy: ignore-errors

import re
import secrets
from datetime import date
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_SEED = [
    ("WLB-118", "Carrick Head", "fog signal out of order until further notice", 16),
    ("WLB-121", "Sule Rock", "light reduced to half power after sunset", 21),
    ("WLB-124", "Long Ness", "new red buoy laid two cables west of the pier", 34),
    ("WLB-125", "Inner Merrow", "landing closed, heavy swell from the north", 10),
    ("WLB-130", "The Anvil", "supply boat delayed; expect her on the 9th", 27),
    ("WLB-133", "Carrick Head", "keepers' dwelling open to visitors on sunday", 13),
]
_SHEET = 4  # notices on a sheet


class _NotAccepted(Exception):  # noqa: N818
    def __init__(self, status: int, *remarks: tuple[str, str, str]) -> None:
        super().__init__(status)
        names = ("reference", "concerning", "remark")
        listed = [dict(zip(names, remark, strict=False)) for remark in remarks]
        body = {"board-reply": {"outcome": "not accepted", "remarks": listed}}
        self.response = Response(status, body)


def _counter(method: Any) -> Any:
    def run(self: Any, request: Request) -> Response:
        try:
            return Response(200, method(self, request))
        except _NotAccepted as no:
            return no.response

    return run


def _form(request: Request, *entries: tuple[str, type, str]) -> dict[str, Any]:
    """Read a form and have every entry that is wanting or unfit remarked upon."""
    try:
        form = request.json()
    except ValueError:
        form = None
    if not isinstance(form, dict):
        said = "The form could not be read. Please send it as a JSON object."
        raise _NotAccepted(400, ("F1", "form", said))
    kinds = {str: "in words", int: "as a whole number", bool: "as true or false"}
    remarks = []
    for name, kind, meaning in entries:
        value = form.get(name)
        if value is None or value == "":
            remarks.append(("F2", name, f"Wanting. Please state {meaning}."))
        elif type(value) is not kind:
            remarks.append(("F3", name, f"Please give this entry {kinds[kind]}."))
    if remarks:
        raise _NotAccepted(400, *remarks)
    return form


class LighthouseBoard(Backend):
    """The Board's counter for keepers."""

    def __init__(self) -> None:
        super().__init__()
        self._keepers: dict[str, dict[str, Any]] = {}  # by token
        self._watches: dict[int, dict[str, Any]] = {}
        keys = ("number", "station", "wording", "allowance", "standing")
        self._notices = {
            row[0]: dict(zip(keys, (*row, "unattended"), strict=False)) for row in _SEED
        }

    def texts(self) -> dict[str, str]:
        return {n["number"]: n["wording"] for n in self._notices.values()}

    def missing(self, request: Request) -> Response:
        said = "The Board keeps no such counter."
        return _NotAccepted(404, ("G4", request.path, said)).response

    def _keeper(self, request: Request) -> dict[str, Any]:
        if request.token not in self._keepers:
            said = (
                "Please present the access_token issued to you on joining, as Bearer."
            )
            raise _NotAccepted(401, ("G1", "Authorization", said))
        return self._keepers[request.token]

    def _watch(self, keeper: dict[str, Any], number: int) -> dict[str, Any]:
        watch = self._watches.get(number)
        if not watch or watch["keeper"] != keeper["number"]:
            said = f"You have no watch numbered {number}."
            raise _NotAccepted(404, ("W1", "watch-number", said))
        if watch["closed"]:
            said = f"Watch {number} has been signed off already."
            raise _NotAccepted(409, ("W2", "watch-number", said))
        return watch

    @_counter
    def register(self, request: Request) -> Any:
        number, token = f"K{2041 + len(self._keepers)}", secrets.token_urlsafe(24)
        self._keepers[token] = {"number": number, "account": 100}
        self.book.registrations += 1
        answer = {"agent_id": number, "access_token": token, "credits": 100}
        return {**answer, "rank": "supernumerary assistant keeper"}

    @_counter
    def tasks(self, request: Request) -> Any:
        entries = {}
        for name, usual in (("limit", _SHEET), ("sheet", 1)):
            given = request.query.get(name, str(usual))
            if not re.fullmatch(r"0*[1-9]\d{0,5}", given):
                said = "Please give a whole number, one or more."
                raise _NotAccepted(400, ("L1", name, said))
            entries[name] = int(given)
        size, sheet = min(entries["limit"], _SHEET), entries["sheet"]
        current = [n for n in self._notices.values() if n["standing"] != "signed off"]
        sheets = max(1, -(-len(current) // size))
        if sheet > sheets:
            said = f"The register has no sheet {sheet}; the last is {sheets}."
            raise _NotAccepted(404, ("L2", "sheet", said))
        answer: dict[str, Any] = {
            "sheet": sheet,
            "of-sheets": sheets,
            "notices": [
                {
                    "notice-number": n["number"],
                    "station": n["station"],
                    "duty": "Write out the wording in capital letters throughout.",
                    "particulars": {"wording": n["wording"], "language": "English"},
                    "allowance-in-credits": n["allowance"],
                    "standing": n["standing"],
                }
                for n in current[(sheet - 1) * size : sheet * size]
            ],
        }
        if sheet < sheets:
            more = f"?limit={size}&sheet={sheet + 1}"
            answer["next-sheet"] = f"{request.base}{request.path}{more}"
        return {"notice-register": answer}

    marketplace = tasks

    @_counter
    def agents(self, request: Request) -> Any:
        slug = request.query.get("slug")
        roll = [k["number"] for k in self._keepers.values()]
        roll = [number for number in roll if slug in (None, number)]
        if slug is not None and not roll:
            said = "No keeper of that number is on the roll."
            raise _NotAccepted(404, ("K1", "slug", said))
        return {"roll-of-keepers": roll}

    directory = agents

    @_counter
    def claim(self, request: Request) -> Any:  # noqa: PLR0915
        keeper = self._keeper(request)
        form = _form(
            request,
            ("notice-number", str, "the number of the notice you will attend to"),
            ("keeper-number", str, "your own number, the agent_id issued on joining"),
            ("relief-date", str, "the day by which you will be done (YYYY-MM-DD)"),
        )
        notice = self._notices.get(form["notice-number"])
        if not notice:
            said = "The register has no notice of that number."
            raise _NotAccepted(404, ("N1", "notice-number", said))
        if form["keeper-number"] != keeper["number"]:
            said = "That is not the number of the keeper whose token was presented."
            raise _NotAccepted(403, ("K2", "keeper-number", said))
        said = "Please write a day as YYYY-MM-DD, not past nor over 28 days ahead."
        refused = _NotAccepted(400, ("F4", "relief-date", said))
        try:
            ahead = date.fromisoformat(form["relief-date"]) - date.today()  # noqa: DTZ011
        except ValueError:
            raise refused from None
        if not -1 <= ahead.days <= 28:
            raise refused
        if notice["standing"] != "unattended":
            said = f"Notice {notice['number']} is {notice['standing']}."
            raise _NotAccepted(409, ("N2", "notice-number", said))
        mine = (w for w in self._watches.values() if w["keeper"] == keeper["number"])
        kept = [str(w["number"]) for w in mine if not w["closed"]]
        if len(kept) >= 2:
            said = (
                f"You keep two watches ({', '.join(kept)}). Please sign one off first."
            )
            raise _NotAccepted(409, ("W3", "watches", said))
        number = 7001 + len(self._watches)
        self._watches[number] = {"number": number, "keeper": keeper["number"]}
        self._watches[number] |= {"notice": notice, "receipt": None, "closed": False}
        notice["standing"] = "attended"
        self.book.claimed(notice["number"])
        entered = {"watch-number": number, "relief-date": form["relief-date"]}
        return {"board-reply": {"outcome": "watch entered", "watch": entered}}

    @_counter
    def submit(self, request: Request) -> Any:
        keeper = self._keeper(request)
        form = _form(
            request,
            ("watch-number", int, "the number of the watch entered for you"),
            ("fair-copy", str, "the wording as written out by you"),
        )
        watch = self._watch(keeper, form["watch-number"])
        if watch["receipt"]:
            said = f"A fair copy was accepted already, receipt {watch['receipt']}."
            raise _NotAccepted(409, ("W4", "watch-number", said))
        notice = watch["notice"]
        if form["fair-copy"] != notice["wording"].upper():
            said = (
                "This is not the wording of the notice in capital letters throughout."
            )
            raise _NotAccepted(422, ("C1", "fair-copy", said))
        watch["receipt"] = f"R-{watch['number']}-{secrets.randbelow(900) + 100}"
        notice["standing"] = "fair copy accepted"
        self.book.pay(notice["number"], notice["allowance"])
        keeper["account"] += notice["allowance"]
        reply = {"outcome": "fair copy accepted", "receipt-number": watch["receipt"]}
        reply["allowance-paid"] = notice["allowance"]
        return {"board-reply": {**reply, "keepers-account": keeper["account"]}}

    @_counter
    def complete(self, request: Request) -> Any:
        keeper = self._keeper(request)
        form = _form(
            request,
            ("watch-number", int, "the number of the watch to be signed off"),
            ("receipt-number", str, "the number of the receipt for your fair copy"),
            ("own-work", bool, "whether the fair copy is your own work"),
        )
        watch = self._watch(keeper, form["watch-number"])
        if form["receipt-number"] != watch["receipt"]:
            said = "That is not a receipt for this watch. Hand in the fair copy first."
            raise _NotAccepted(409, ("W5", "receipt-number", said))
        if not form["own-work"]:
            said = "The Board signs off only what is declared own work (true)."
            raise _NotAccepted(422, ("C2", "own-work", said))
        watch["closed"] = True
        watch["notice"]["standing"] = "signed off"
        signed = {"watch-number": watch["number"], "outcome": "watch signed off"}
        return {"board-reply": {**signed, "keepers-account": keeper["account"]}}

    @_counter
    def post(self, request: Request) -> Any:
        said = "Notices are posted by the stations of the Board only."
        raise _NotAccepted(403, ("N3", "notice", said))

    @_counter
    def checkout(self, request: Request) -> Any:
        said = "The Board sells no credits."
        raise _NotAccepted(403, ("A1", "plan", said))
