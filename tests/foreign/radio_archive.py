"""A radio station's tape archive; volunteers wrote the service over several summers.

Answers 200 to everything, with ok true or false. Lists tapes by shelfmark (R/1974/0031)
with who has each on loan; pay is written out, as "8 credits". Refuses tersely: {"ok":
false, "err": "missing: loan, entry"}, one line. Borrowing a tape gives a loan number;
the entry goes in under the loan with the cataloguer's name; the tape is brought back
with returned "yes" or "no". Pays when the tape is back; the list keeps the tapes that
are done.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TAPES = [
    (
        "R/1974/0031",
        "Morning Shipping",
        "Gale warnings for all coasts except Thames.",
        "8 credits",
    ),
    ("R/1974/0032", "Farm Hour", "The first lambs were born in the snow.", "6 credits"),
    (
        "R/1976/0110",
        "Night Jazz",
        "A trio from Antwerp plays three long numbers.",
        "12 credits",
    ),
    (
        "R/1979/0007",
        "Local Voices",
        "Mrs Ellery remembers the flood of the lower town.",
        "15 credits",
    ),
    ("R/1981/0204", "Schools", "How a canal lock lifts a boat.", "5 credits"),
    ("R/1981/0219", "Sports Desk", "Two all at half time and heavy rain.", "7 credits"),
    (
        "R/1983/0044",
        "Concert",
        "Überschwang: the choir opens with Brahms.",
        "11 credits",
    ),
    (
        "R/1985/0300",
        "Phone-in",
        "Callers complain about the new bus routes.",
        "9 credits",
    ),
    ("R/1988/0012", "Poetry", "The poet reads a poem on herring gulls.", "10 credits"),
]
LENT = {"R/1976/0110": "brenda", "R/1985/0300": "tomasz"}


def _err(text: str) -> Response:
    return Response(200, {"ok": False, "err": text}, refused=True)


class RadioArchive(Backend):
    """The shelves and the loans book."""

    def __init__(self) -> None:
        super().__init__()
        self._members: dict[str, str] = {}
        self._loans: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {tape[0]: tape[2] for tape in TAPES if tape[0] not in LENT}

    def missing(self, request: Request) -> Response:
        return Response(404, {"ok": False, "err": "no such page"})

    def _fields(
        self, request: Request, *names: str
    ) -> tuple[dict[str, Any], Response | None]:
        if request.token not in self._members:
            return {}, _err("not a member (no or wrong key)")
        try:
            body = request.json() if request.raw else {}
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return {}, _err("not json")
        lacking = [name for name in names if body.get(name) in (None, "")]
        if lacking:
            return {}, _err("missing: " + ", ".join(lacking))
        wrong = [name for name in names if not isinstance(body[name], str)]
        return body, _err("not a string: " + ", ".join(wrong)) if wrong else None

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        key, member = secrets.token_hex(12), f"volunteer{len(self._members) + 60}"
        self._members[key] = member
        return Response(200, {"ok": True, "member": member, "key": key, "credits": 100})

    def tasks(self, request: Request) -> Response:
        if request.token not in self._members:
            return _err("not a member (no or wrong key)")
        return self.marketplace(request)

    def marketplace(self, request: Request) -> Response:
        of = {
            loan["shelfmark"]: loan for loan in self._loans.values() if not loan["back"]
        }
        done = {loan["shelfmark"] for loan in self._loans.values() if loan["paid"]}
        tapes = [
            {
                "shelfmark": mark,
                "programme": programme,
                "summary": text,
                "pay": pay,
                "on_loan_to": LENT.get(mark) or of.get(mark, {}).get("member"),
                "catalogued": mark in done,
            }
            for mark, programme, text, pay in TAPES
        ]
        limit = request.query.get("limit", "")
        shown = tapes[: int(limit)] if limit.isdigit() and int(limit) else tapes
        return Response(200, {"ok": True, "n": len(tapes), "tapes": shown})

    def claim(self, request: Request) -> Response:
        body, refusal = self._fields(request, "shelfmark")
        if refusal:
            return refusal
        mark, member = body["shelfmark"], self._members[request.token]
        if mark not in {tape[0] for tape in TAPES}:
            return _err(f"no tape {mark}")
        if any(
            loan["shelfmark"] == mark and loan["paid"] for loan in self._loans.values()
        ):
            return _err(f"{mark} is catalogued already")
        held = next(
            (
                x
                for x in self._loans.values()
                if x["shelfmark"] == mark and not x["back"]
            ),
            None,
        )
        holder = LENT.get(mark) or (held["member"] if held else member)
        if mark in LENT or holder != member:
            return _err(f"{mark} is on loan to {holder}")
        if held:
            return _err(f"you have {mark} already, loan {held['loan']}")
        loan = {
            "loan": f"L{511 + len(self._loans)}",
            "shelfmark": mark,
            "member": member,
            "entry": None,
            "back": False,
            "paid": False,
        }
        self._loans[loan["loan"]] = loan
        self.book.claimed(mark)
        return Response(
            200,
            {"ok": True, "loan": loan["loan"], "shelfmark": mark, "due": "in 14 days"},
        )

    def _loan(self, request: Request, number: str) -> dict[str, Any] | None:
        loan = self._loans.get(number)
        return loan if loan and loan["member"] == self._members[request.token] else None

    def submit(self, request: Request) -> Response:
        body, refusal = self._fields(request, "loan", "entry", "cataloguer")
        if refusal:
            return refusal
        loan = self._loan(request, body["loan"])
        if not loan:
            return _err(f"no loan {body['loan']} in your name")
        if loan["back"]:
            return _err("that loan is closed")
        if body["entry"] != self.texts()[loan["shelfmark"]].upper():
            return _err("entry is not right, listen again")
        loan["entry"] = body["entry"]
        return Response(200, {"ok": True, "loan": loan["loan"], "entered": True})

    def complete(self, request: Request) -> Response:
        body, refusal = self._fields(request, "loan", "returned")
        if refusal:
            return refusal
        loan = self._loan(request, body["loan"])
        if not loan:
            return _err(f"no loan {body['loan']} in your name")
        if body["returned"] not in ("yes", "no"):
            return _err("returned: yes or no")
        if body["returned"] == "no":
            return _err("then bring the tape back first")
        if loan["back"]:
            return _err("that loan is closed")
        if not loan["entry"]:
            return _err("no entry for that loan yet")
        loan.update(back=True, paid=True)
        pay = next(tape[3] for tape in TAPES if tape[0] == loan["shelfmark"])
        self.book.pay(loan["shelfmark"], int(pay.split()[0]))
        return Response(200, {"ok": True, "loan": loan["loan"], "paid": pay})
