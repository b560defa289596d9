"""A manuscript library whose readers transcribe leaves in capitals.

A task is a leaf, a worker a reader, a claim a call slip, a result a transcription. The
passage is shown only when the leaf is issued; a transcription that collates is paid on
deposit, and the leaf is then returned to the desk. Errors are RFC 9457 problems.
"""

import re
import secrets
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_LEAVES = [
    (
        "Add. MS 4012",
        "f. 3r",
        "Kitchen accounts of a priory",
        "item for eels, ii d",
        16,
    ),
    (
        "Add. MS 4377",
        "f. 18v",
        "A gardener's almanac",
        "sow leeks in the waning moon",
        11,
    ),
    (
        "Cotton App. 9",
        "f. 1r",
        "Letter to a ship's captain",
        "the wind is against us",
        22,
    ),
    ("Egerton 2110", "f. 44r", "Recipe book", "take a quart of good vinegar", 8),
    ("Harley 661", "f. 7v", "Marginalia by a bored clerk", "my hand is cold today", 13),
    ("Sloane 95", "f. 60r", "Notes on a comet", "it rose before dawn, very pale", 27),
]
_CONDITIONS = ("sound", "foxed", "torn", "stained")
_MAX_OUT = 3
_MAX_LIMIT = 10
_DURATION = re.compile(
    r"P(?=\d|T\d)(?:(\d{1,4})D)?(?:T(?=\d)(?:(\d{1,4})H)?(?:(\d{1,5})M)?)?", re.ASCII
)


@dataclass
class _Leaf:
    shelfmark: str
    folio: str
    caption: str
    passage: str
    honorarium: int
    standing: str = "on_shelf"


@dataclass
class _Slip:
    slip_no: str
    leaf: _Leaf
    reader: str
    state: str = "issued"


class _ProblemError(Exception):
    def __init__(self, status: int, kind: str, detail: str, **more: Any) -> None:
        super().__init__(detail)
        body = {
            "type": f"https://readingroom.example/problems/{kind}",
            "title": kind.replace("-", " ").capitalize(),
            "status": status,
            "detail": detail,
            **more,
        }
        headers = {"Content-Type": "application/problem+json"}
        if status == HTTPStatus.UNAUTHORIZED:
            headers["WWW-Authenticate"] = 'Bearer realm="reading room"'
        self.response = Response(status, body, headers)


class ReadingRoom(Backend):
    """The desk of the reading room."""

    def __init__(self) -> None:
        super().__init__()
        self._readers: dict[str, str] = {}
        self._ledger: dict[str, int] = {}
        self._slips: dict[str, _Slip] = {}
        self._leaves = {row[0]: _Leaf(*row) for row in _LEAVES}

    def texts(self) -> dict[str, str]:
        return {leaf.shelfmark: leaf.passage for leaf in self._leaves.values()}

    def missing(self, request: Request) -> Response:
        text = f"The reading room keeps nothing at {request.path}."
        return _ProblemError(404, "no-such-desk", text).response

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        reader = f"RT{secrets.randbelow(10**6):06d}{self.book.registrations}"
        token = secrets.token_urlsafe(24)
        self._readers[token] = reader
        self._ledger[reader] = 100
        return Response(
            200, {"agent_id": reader, "access_token": token, "credits": 100}
        )

    def tasks(self, request: Request) -> Response:
        return self._guard(self._catalogue, request)

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        return self._guard(self._issue, request)

    def submit(self, request: Request) -> Response:
        return self._guard(self._deposit, request)

    def complete(self, request: Request) -> Response:
        return self._guard(self._return, request)

    def _guard(self, action: Any, request: Request) -> Response:
        try:
            return Response(200, action(request))
        except _ProblemError as problem:
            return problem.response

    def _catalogue(self, request: Request) -> dict[str, Any]:
        limit = request.query.get("limit", "4")
        if not re.fullmatch(r"[0-9]{1,9}", limit) or not 1 <= int(limit) <= _MAX_LIMIT:
            text = f"limit must be a whole number from 1 to {_MAX_LIMIT}."
            raise _ProblemError(400, "bad-argument", text)
        after = request.query.get("resumption_token", "")
        if after and not re.fullmatch(r"(?:[0-9a-f]{2})+", after):
            text = "resumption_token was not issued by this catalogue."
            raise _ProblemError(400, "bad-resumption-token", text)
        last = bytes.fromhex(after).decode(errors="replace")
        on_shelf = [x for x in self._leaves.values() if x.standing == "on_shelf"]
        rest = [x for x in on_shelf if x.shelfmark > last]
        shown = rest[: int(limit)]
        answer: dict[str, Any] = {
            "complete_list_size": len(on_shelf),
            "leaves": [
                {
                    "shelfmark": x.shelfmark,
                    "folio": x.folio,
                    "caption": x.caption,
                    "rubric": "Transcribe the passage in majuscules: every letter a "
                    "capital, all else as it stands. The passage is shown "
                    "when the leaf is issued to you.",
                    "honorarium": f"{x.honorarium}.00",
                    "standing": x.standing,
                }
                for x in shown
            ],
        }
        if len(rest) > len(shown):
            answer["resumption_token"] = shown[-1].shelfmark.encode().hex()
        return answer

    def _open(self, request: Request) -> tuple[str, dict[str, Any]]:
        reader = self._readers.get(request.token)
        if reader is None:
            text = "Present a reader's ticket: a valid bearer token is needed here."
            raise _ProblemError(401, "no-readers-ticket", text)
        try:
            body = request.json()
        except ValueError:
            raise _ProblemError(
                400, "illegible-request", "The body is not JSON."
            ) from None
        if not isinstance(body, dict):
            raise _ProblemError(
                400, "illegible-request", "The body is not a JSON object."
            )
        return reader, body

    def _text(self, body: dict[str, Any], name: str, hint: str) -> str:
        value = body.get(name)
        if value is None or value == "":
            text = f"The entry '{name}' is wanting: {hint}."
            raise _ProblemError(400, "incomplete-request", text, entry=name)
        if not isinstance(value, str):
            text = f"The entry '{name}' must be a string: {hint}."
            raise _ProblemError(400, "incomplete-request", text, entry=name)
        return value

    def _slip(self, reader: str, body: dict[str, Any]) -> _Slip:
        number = self._text(body, "slip_no", "the number of your call slip")
        slip = self._slips.get(number)
        if slip is None or slip.reader != reader:
            text = f"No call slip {number} is made out to you."
            raise _ProblemError(404, "unknown-call-slip", text)
        return slip

    def _issue(self, request: Request) -> dict[str, Any]:
        reader, body = self._open(request)
        mark = self._text(body, "shelfmark", "the shelfmark of the leaf you call up")
        leaf = self._leaves.get(mark)
        if leaf is None:
            text = f"The catalogue has no leaf with the shelfmark '{mark}'."
            raise _ProblemError(404, "unknown-shelfmark", text)
        self._text(body, "purpose", "say in a few words why you consult the leaf")
        hint = "an ISO 8601 duration of at most P7D, such as PT2H"
        period = self._text(body, "loan_period", hint)
        match = _DURATION.fullmatch(period)
        days, hours, minutes = (
            (int(x or 0) for x in match.groups()) if match else (0,) * 3
        )
        if not 0 < days * 1440 + hours * 60 + minutes <= 7 * 1440:
            text = f"The entry 'loan_period' must be {hint}; '{period}' is not."
            raise _ProblemError(
                400, "unsuitable-loan-period", text, entry="loan_period"
            )
        if leaf.standing != "on_shelf":
            text = f"{mark} cannot be issued, its standing is '{leaf.standing}'."
            raise _ProblemError(409, "leaf-not-on-shelf", text)
        slips = self._slips.values()
        out = [s.slip_no for s in slips if s.reader == reader and s.state != "returned"]
        if len(out) >= _MAX_OUT:
            text = f"A reader may have {_MAX_OUT} leaves out at once; return one first."
            raise _ProblemError(409, "too-many-leaves-out", text, slips_out=out)
        slip = _Slip(f"CS-{len(self._slips) + 1:05d}", leaf, reader)
        self._slips[slip.slip_no] = slip
        leaf.standing = "issued"
        self.book.claimed(mark)
        return {
            "call_slip": {"slip_no": slip.slip_no, "state": slip.state},
            "leaf": {"shelfmark": mark, "folio": leaf.folio, "passage": leaf.passage},
        }

    def _deposit(self, request: Request) -> dict[str, Any]:
        reader, body = self._open(request)
        slip = self._slip(reader, body)
        leaf = slip.leaf
        wanted = "the passage in majuscules"
        transcription = self._text(body, "transcription", wanted)
        if body.get("proofread") is not True:
            text = "The entry 'proofread' must be true: readers vouch for their copy."
            raise _ProblemError(400, "incomplete-request", text, entry="proofread")
        if slip.state != "issued":
            text = f"A transcription for {slip.slip_no} has been deposited already."
            raise _ProblemError(409, "already-deposited", text)
        if transcription != leaf.passage.upper():
            text = (
                "The transcription does not collate with the leaf; "
                f"wanted is {wanted}. You may deposit a better one."
            )
            raise _ProblemError(422, "transcription-does-not-collate", text)
        slip.state = "deposited"
        self._ledger[reader] += leaf.honorarium
        self.book.pay(leaf.shelfmark, leaf.honorarium)
        return {
            "slip_no": slip.slip_no,
            "state": slip.state,
            "honorarium_paid": f"{leaf.honorarium}.00",
            "remark": "Please return the leaf to the desk.",
        }

    def _return(self, request: Request) -> dict[str, Any]:
        reader, body = self._open(request)
        slip = self._slip(reader, body)
        hint = f"one of {', '.join(_CONDITIONS)}"
        if self._text(body, "leaf_condition", hint) not in _CONDITIONS:
            text = f"The entry 'leaf_condition' must be {hint}."
            raise _ProblemError(400, "unknown-condition", text, entry="leaf_condition")
        if slip.state != "deposited":
            text = f"{slip.slip_no} cannot be closed, its state is '{slip.state}'."
            raise _ProblemError(409, "call-slip-not-closable", text)
        slip.state = "returned"
        slip.leaf.standing = "transcribed"
        balance = f"{self._ledger[reader]}.00"
        return {"slip_no": slip.slip_no, "state": slip.state, "ledger_balance": balance}
