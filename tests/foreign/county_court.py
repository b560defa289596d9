"""A county court's in-house docket service: transcripts are put into capitals for a fee.

It began as a calendar, was given assignments, then receipts, and every layer kept its own
number. The calendar is public and in pages; the passage is shown only to its assignee.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_DATE = "%m/%d/%Y"
_MATTERS = [
    ("WX-24-00118", "Notice of hearing", 14, "Hearing is moved to courtroom four."),
    ("WX-24-00131", "Order", 22, "Motion to continue is granted in part."),
    ("WX-24-00140", "Summons", 9, "You are hereby summoned to answer the complaint."),
    ("WX-24-00152", "Caption", 31, "Estate of Harlan v. Wexcombe Water District"),
    ("WX-24-00167", "Notice of appeal", 17, "Appellant files notice within 30 days."),
    ("WX-24-00173", "Writ", 26, "The sheriff shall return this writ unexecuted."),
    ("WX-24-00189", "Verdict form", 12, "We, the jury, find for the defendant."),
]


_REASONS = {
    "R001": (404, "No such service at the clerk's office."),
    "R002": (401, "Filer is not signed in. Send your access token."),
    "R003": (400, "Filing is unreadable: send a JSON object."),
    "R010": (400, "limit must be a whole number from 1 to 10."),
    "R100": (400, "{} is missing: give {}."),
    "R101": (400, "{} must be a character string."),
    "R102": (404, "Docket number {} is not on file."),
    "R104": (400, "filer_id is not the agent_id of the signed-in filer."),
    "R105": (400, "promised_by is not a date in the form MM/DD/YYYY."),
    "R106": (400, "promised_by must be from today to the matter's return_date, {}."),
    "R120": (409, "Matter is already assigned to you as {}."),
    "R121": (409, "Matter is not open ({})."),
    "R130": (409, "Filer holds 3 assignments, the most allowed. File one first."),
    "R202": (404, "{} {} is not on file for this filer."),
    "R205": (400, "Transcript is not certified: certify must be Y."),
    "R220": (409, "Assignment was filed already, receipt {}."),
    "R310": (400, "Transcript does not conform to the passage in capital letters."),
    "R420": (409, "Matter is closed and its fee was paid."),
}


class _RejectError(Exception):
    """A filing that the clerk's window hands back, with the code of its reason."""


@dataclass
class _Matter:
    docket_no: str
    doc_type: str
    fee: int
    passage: str
    return_date: date
    status: str = "OPEN"
    filer: str = ""
    assign_no: str = ""
    receipt_no: str = ""

    def listed(self) -> dict[str, Any]:
        return {
            "docket_no": self.docket_no,
            "doc_type": self.doc_type,
            "div": "CIV",
            "stat": self.status,
            "fee": {"amt": f"{self.fee}.00", "unit": "CR"},
            "word_ct": len(self.passage.split()),
            "return_date": self.return_date.strftime(_DATE),
            "instr": "Re-type the passage entirely in capital letters. Change nothing "
            "else. The passage is released on assignment.",
        }


class CountyCourt(Backend):
    """The clerk's docket service of Wexcombe County."""

    def __init__(self) -> None:
        super().__init__()
        self._filers: dict[str, str] = {}  # token -> agent id
        self._ledger: dict[str, int] = {}
        self._serial = 4100
        due = datetime.now(UTC).date() + timedelta(days=14)
        self._matters = {row[0]: _Matter(*row, due) for row in _MATTERS}

    def texts(self) -> dict[str, str]:
        """Return the passage of every matter by its docket number."""
        return {m.docket_no: m.passage for m in self._matters.values()}

    def missing(self, request: Request) -> Response:
        """Return the clerk's answer to a service that is not offered."""
        return _no("R001")

    def register(self, request: Request) -> Response:
        """Enrol a filer."""
        self.book.registrations += 1
        agent = f"F{self._next()}"
        token = secrets.token_hex(16)
        self._filers[token] = agent
        self._ledger[agent] = 100
        body = {"agent_id": agent, "access_token": token, "credits": 100}
        return Response(
            body={**body, "enrolled": datetime.now(UTC).date().strftime(_DATE)}
        )

    def tasks(self, request: Request) -> Response:
        """Return a page of the open calendar."""
        limit = request.query.get("limit", "4")
        if not limit.isdecimal() or not 1 <= int(limit) <= 10:
            return _no("R010")
        start = request.query.get("start", "")
        rows = [m for m in self._matters.values() if m.status == "OPEN"]
        rows = [m for m in rows if m.docket_no >= start]
        page, rest = rows[: int(limit)], rows[int(limit) :]
        return Response(
            body={
                "result": "OK",
                "calendar": {
                    "court": "Wexcombe County Court",
                    "as_of": datetime.now(UTC).strftime(f"{_DATE} %H:%M"),
                    "matters": [m.listed() for m in page],
                    "remaining": len(rest),
                    "next_start": rest[0].docket_no if rest else None,
                },
            }
        )

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        """Assign a matter to a filer."""
        return self._window(request, self._claim)

    def submit(self, request: Request) -> Response:
        """Take in a transcript and give a receipt for it."""
        return self._window(request, self._submit)

    def complete(self, request: Request) -> Response:
        """Close a filed matter and pay its fee."""
        return self._window(request, self._complete)

    def _window(
        self, request: Request, serve: Callable[[str, dict[str, Any]], dict[str, Any]]
    ) -> Response:
        try:
            filer = self._filers.get(request.token)
            if filer is None:
                raise _RejectError("R002")
            body = request.json()
            if not isinstance(body, dict):
                raise _RejectError("R003")
            return Response(body={"result": "OK", **serve(filer, body)})
        except _RejectError as no:
            return _no(*no.args)
        except ValueError:  # not JSON
            return _no("R003")

    def _claim(self, filer: str, body: dict[str, Any]) -> dict[str, Any]:
        docket = _text(body, "docket_no", "Docket number")
        matter = self._matters.get(docket)
        if matter is None:
            raise _RejectError("R102", docket)
        self._same_filer(filer, body)
        promised = _text(body, "promised_by", "Promise date (MM/DD/YYYY)")
        try:
            day = datetime.strptime(promised, _DATE).replace(tzinfo=UTC).date()
        except ValueError:
            raise _RejectError("R105") from None
        if not datetime.now(UTC).date() <= day <= matter.return_date:
            raise _RejectError("R106", matter.return_date.strftime(_DATE))
        if matter.status == "ASSIGNED" and matter.filer == filer:
            raise _RejectError("R120", matter.assign_no)
        if matter.status != "OPEN":
            raise _RejectError("R121", matter.status)
        states = [m.status for m in self._matters.values() if m.filer == filer]
        if states.count("ASSIGNED") >= 3:
            raise _RejectError("R130")
        matter.status, matter.filer = "ASSIGNED", filer
        matter.assign_no = f"A-{self._next()}"
        self.book.claimed(docket)
        assignment = {"assign_no": matter.assign_no, "docket_no": docket}
        assignment.update(promised_by=promised, passage=matter.passage)
        return {"assignment": assignment}

    def _submit(self, filer: str, body: dict[str, Any]) -> dict[str, Any]:
        number = _text(body, "assign_no", "Assignment number")
        matter = self._mine(filer, "assign_no", number)
        transcript = _text(body, "transcript", "Transcript")
        if body.get("certify") != "Y":
            raise _RejectError("R205")
        if matter.status != "ASSIGNED":
            raise _RejectError("R220", matter.receipt_no)
        if transcript != matter.passage.upper():
            raise _RejectError("R310")
        matter.status = "FILED"
        matter.receipt_no = f"RC{self._next()}"
        note = "Fee is paid when the matter is closed on this receipt."
        return {"receipt": {"receipt_no": matter.receipt_no, "note": note}}

    def _complete(self, filer: str, body: dict[str, Any]) -> dict[str, Any]:
        number = _text(body, "receipt_no", "Receipt number")
        matter = self._mine(filer, "receipt_no", number)
        self._same_filer(filer, body)
        if matter.status != "FILED":
            raise _RejectError("R420")
        matter.status = "CLOSED"
        self._ledger[filer] += matter.fee
        self.book.pay(matter.docket_no, matter.fee)
        return {
            "docket_no": matter.docket_no,
            "stat": "CLOSED",
            "fee_paid": {"amt": f"{matter.fee}.00", "unit": "CR"},
            "ledger_bal": f"{self._ledger[filer]}.00",
        }

    def _next(self) -> int:
        self._serial += 1
        return self._serial

    def _same_filer(self, filer: str, body: dict[str, Any]) -> None:
        if _text(body, "filer_id", "Filer (the agent_id of your enrolment)") != filer:
            raise _RejectError("R104")

    def _mine(self, filer: str, name: str, number: str) -> _Matter:
        for matter in self._matters.values():
            if matter.filer == filer and getattr(matter, name) == number:
                return matter
        raise _RejectError("R202", name, number)


def _text(body: dict[str, Any], name: str, title: str) -> str:
    value = body.get(name)
    if value is None or value == "":
        raise _RejectError("R100", title, name)
    if not isinstance(value, str):
        raise _RejectError("R101", name)
    return value


def _no(code: str, *names: str) -> Response:
    status, reason = _REASONS[code]
    body = {"reject_code": code, "reject_reason": reason.format(*names)}
    return Response(status, {"result": "REJECTED", **body})
