"""A power grid operator's report desk: shift reports are taken, filed and closed.

Lists an object of reports by their key ("NORD/W14/003"), each with a phase. Refuses in
plain text, a line for each thing that is wrong ("shift: missing, one of DAY NIGHT"),
with the fitting status. Taking a report wants the shift, filing it wants a revision
number, closing it wants confirm true. One open report for each operator; the same
report taken again is answered as before. Closing answers 202; a second or so later the
phase is SETTLED instead of CLOSING, and the tariff, whole credits, is paid.
"""

import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

REPORTS = {
    "NORD/W14/003": ("Line 4 tripped at dawn and was back in six minutes.", 11),
    "NORD/W14/004": ("Wind feed-in was forty per cent above forecast.", 8),
    "NORD/W14/009": ("A swan was removed from the switchyard unharmed.", 5),
    "OST/W14/001": ("Transformer two runs warm; oil sample is on its way.", 16),
    "OST/W14/002": ("Frequency dipped to 49.91 for eleven seconds.", 13),
    "SUED/W13/017": ("The import limit at the border was raised again.", 9),
    "SUED/W14/001": ("Maintenance of busbar B is moved to Sunday.", 7),
    "SUED/W14/002": ("Solar ramp was late because of fog.", 6),
}
ELSEWHERE = {"NORD/W14/009", "SUED/W13/017"}
SETTLE = 1.2  # seconds


def _lines(status: int, *lines: str) -> Response:
    return Response(status, "".join(line + "\n" for line in lines))


class GridReportDesk(Backend):
    """The desk's board."""

    def __init__(self) -> None:
        super().__init__()
        self._operators: dict[str, str] = {}
        self._open: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {key: text for key, (text, _) in REPORTS.items() if key not in ELSEWHERE}

    def _settle(self) -> None:
        for key, one in self._open.items():
            if one["phase"] == "CLOSING" and time.monotonic() >= one["due"]:
                one["phase"] = "SETTLED"
                self.book.pay(key, REPORTS[key][1])

    def missing(self, request: Request) -> Response:
        return _lines(404, f"{request.path}: not on this desk")

    def _card(self, key: str) -> dict[str, Any]:
        one = self._open.get(key)
        phase = "TAKEN" if key in ELSEWHERE else one["phase"] if one else "FREE"
        return {"phase": phase, "operator": one["operator"] if one else None}

    def _body(
        self, request: Request, **kinds: Any
    ) -> tuple[dict[str, Any], Response | None]:
        """Return the body and the lines on what is wrong with it."""
        self._settle()
        if request.token not in self._operators:
            return {}, _lines(401, "bearer token missing or unknown")
        try:
            body = request.json() if request.raw else {}
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return {}, _lines(400, "body: must be a JSON object")
        lines = []
        for name, kind in kinds.items():
            value = body.get(name)
            if isinstance(kind, tuple):
                right, want = (
                    value in kind and value is not None,
                    "one of " + " ".join(kind),
                )
            elif kind is int:
                right = (
                    isinstance(value, int)
                    and not isinstance(value, bool)
                    and value >= 1
                )
                want = "an integer from 1"
            elif kind is bool:
                right, want = value is True, "must be true"
            else:
                right, want = isinstance(value, str) and value != "", "a text"
            if not right:
                lines.append(
                    f"{name}: {'missing' if value is None else 'wrong'}, {want}"
                )
        return body, _lines(400, *lines) if lines else None

    def _mine(
        self, request: Request, key: str
    ) -> tuple[dict[str, Any], Response | None]:
        one = self._open.get(key, {})
        if key not in REPORTS:
            return one, _lines(404, f"report_key: no report {key}")
        if one.get("operator") != self._operators[request.token]:
            return one, _lines(409, f"{key}: you have not taken this report")
        return one, None

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token, operator = secrets.token_hex(20), f"op-{len(self._operators) + 21}"
        self._operators[token] = operator
        return Response(
            200, {"operator": operator, "bearer": token, "account": {"credits": 100}}
        )

    def tasks(self, request: Request) -> Response:
        _, refusal = self._body(request)
        return refusal or self.marketplace(request)

    def marketplace(self, request: Request) -> Response:
        self._settle()
        limit = request.query.get("limit", "")
        keys = list(REPORTS)[
            : int(limit) if limit.isdigit() and int(limit) else len(REPORTS)
        ]
        reports = {
            key: {
                "area": key.split("/")[0],
                "week": key.split("/")[1],
                "raw_report": REPORTS[key][0],
                "tariff": {"kind": "fixed", "credits": REPORTS[key][1]},
                **self._card(key),
            }
            for key in keys
        }
        return Response(
            200, {"board": "reports", "count": len(reports), "reports": reports}
        )

    def claim(self, request: Request) -> Response:
        body, refusal = self._body(request, report_key=str, shift=("DAY", "NIGHT"))
        if refusal:
            return refusal
        key, operator = body["report_key"], self._operators[request.token]
        if key not in REPORTS:
            return _lines(404, f"report_key: no report {key}")
        one = self._open.get(key)
        if key in ELSEWHERE or (one and one["operator"] != operator):
            return _lines(409, f"{key}: taken by another operator")
        if not one:
            busy = [
                k
                for k, o in self._open.items()
                if o["operator"] == operator and o["phase"] in ("TAKEN", "FILED")
            ]
            if busy:
                return _lines(
                    429, f"one open report for each operator: close {busy[0]} first"
                )
            self._open[key] = {
                "operator": operator,
                "phase": "TAKEN",
                "shift": body["shift"],
                "due": 0.0,
            }
            self.book.claimed(key)
        return Response(
            200,
            {"report_key": key, "shift": self._open[key]["shift"], **self._card(key)},
        )

    def submit(self, request: Request) -> Response:
        body, refusal = self._body(request, report_key=str, filing=str, revision=int)
        if refusal:
            return refusal
        key = body["report_key"]
        one, refusal = self._mine(request, key)
        if refusal:
            return refusal
        if one["phase"] in ("CLOSING", "SETTLED"):
            return _lines(409, f"{key}: closed")
        if body["filing"] != REPORTS[key][0].upper():
            return _lines(422, "filing: does not agree with the report")
        one["phase"] = "FILED"
        return Response(
            200, {"report_key": key, "revision": body["revision"], **self._card(key)}
        )

    def complete(self, request: Request) -> Response:
        body, refusal = self._body(request, report_key=str, confirm=bool)
        if refusal:
            return refusal
        key = body["report_key"]
        one, refusal = self._mine(request, key)
        if refusal:
            return refusal
        if one["phase"] == "TAKEN":
            return _lines(409, f"{key}: nothing was filed")
        if one["phase"] == "FILED":
            one.update(phase="CLOSING", due=time.monotonic() + SETTLE)
        return Response(
            200 if one["phase"] == "SETTLED" else 202,
            {"report_key": key, **self._card(key)},
        )
