"""A provincial land registry: PL/SQL packages behind Oracle REST Data Services.

The transcription unit lets out entries of its old registers. ORDS turns cursors into
collections with links, and a package's RAISE_APPLICATION_ERROR into status 555 with the
ORA text in the cause. A missing bind is NULL, and a number may come as a string.
"""

import re
import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_CASES = [
    (10417, "TR/1931/0417", "Lower Aston", "two meadows beside the mill race", 40),
    (10422, "TR/1931/0422", "Lower Aston", "cottage with garden, no right of way", 65),
    (10431, "TR/1932/0009", "Hollin", "quarry at the north end of the parish", 25),
    (
        10438,
        "TR/1932/0016",
        "Hollin",
        "orchard of 41 trees; well shared with no. 7",
        80,
    ),
    (10440, "TR/1932/0018", "Marsh End", "drainage ditch kept by the owner", 35),
    (10456, "TR/1933/0102", "Marsh End", "boathouse and slip, held by licence", 55),
    (10459, "TR/1933/0105", "Sele", "paddock sold to the school board", 50),
]
_PAGE = 4
_ACTION = (
    "Verify that the URI and payload are correctly specified for the requested operation. "
    "If the issue persists then please contact the author of the resource"
)


class _Raised(Exception):  # noqa: N818
    """An ORA error that left the package; its number and its text."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code, self.text = code, text


def _problem(status: int, code: str, title: str, message: str, **more: str) -> Response:
    """Return an error as ORDS writes it."""
    body = {"code": code, "title": title, "message": message, **more}
    body["type"] = f"tag:oracle.com,2020:error/{code}"
    body["instance"] = f"tag:oracle.com,2020:ecid/{secrets.token_urlsafe(16)}"
    return Response(status, body, {"Content-Type": "application/problem+json"})


def _raised(error: _Raised, line: int) -> Response:
    """Return what ORDS makes of an error in a handler's PL/SQL."""
    return _problem(
        555,
        "UserDefinedResourceError",
        "User Defined Resource Error",
        "The request could not be processed for a user defined resource",
        **{
            "o:errorCode": "ORDS-25001",
            "cause": "An error occurred when evaluating a SQL statement associated with "
            f"this resource. SQL Error Code {error.code}, Error Message: "
            f"ORA-{error.code:05d}: {error.text}\n"
            f'ORA-06512: at "REGISTRY.TRANSCRIPTION_API", line {line}\n'
            "ORA-06512: at line 2\n",
            "action": _ACTION,
        },
    )


def _text(body: dict[str, Any], name: str, hint: str = "") -> str:
    """Return a VARCHAR2 bind that is mandatory."""
    value = body.get(name)
    if value is None or value == "":
        raise _Raised(
            20101, f"{name} must be supplied" + (f" ({hint})" if hint else "")
        )
    return str(value).lower() if isinstance(value, bool) else str(value)


def _number(body: dict[str, Any], name: str) -> int:
    """Return a NUMBER bind that is mandatory."""
    text = _text(body, name, "number")
    if not re.fullmatch(r"\s*-?\d+\s*", text):
        said = "numeric or value error: character to number conversion error"
        raise _Raised(6502, f"PL/SQL: {said} in {name}")
    return int(text)


class LandRegistry(Backend):
    """Cases are allocated to an operator, transcribed, and closed with a declaration."""

    def __init__(self) -> None:
        super().__init__()
        self._operators: dict[str, str] = {}  # token -> operator
        self._balance: dict[str, int] = {}
        self._allocations: dict[int, dict[str, Any]] = {}
        self._cases = {
            number: {
                "case_id": number,
                "case_ref": ref,
                "parish_nm": parish,
                "work_desc": "Transcribe the register entry in capital letters. "
                "The entry is issued on allocation.",
                "fee_credits": fee,
                "status_cd": "OPEN",
            }
            for number, ref, parish, _, fee in _CASES
        }

    def texts(self) -> dict[str, str]:
        """Return the entry of every case."""
        return {str(number): entry for number, _, _, entry, _ in _CASES}

    def missing(self, request: Request) -> Response:
        """Say that no module has such a template."""
        said = "The request could not be mapped to any database resource."
        return _problem(404, "NotFound", "Not Found", said)

    def register(self, request: Request) -> Response:
        """Enrol an operator."""
        self.book.registrations += 1
        operator = f"OP{4200 + self.book.registrations:06d}"
        token = secrets.token_urlsafe(16)
        self._operators[token] = operator
        self._balance[operator] = 100
        start = {"agent_id": operator, "access_token": token, "credits": 100}
        return Response(200, start)

    def _collection(self, request: Request, rows: list[dict[str, Any]]) -> Response:
        """Return a page of rows with ORDS' links; a larger limit is cut to the page."""
        try:
            offset = int(request.query.get("offset", "0"))
            limit = min(int(request.query.get("limit", str(_PAGE))), _PAGE)
            if offset < 0 or limit < 1:
                raise ValueError
        except ValueError:
            said = "The values of limit and offset must be positive integers"
            return _problem(400, "BadRequest", "Bad Request", said)
        page = rows[offset : offset + limit]
        more = offset + limit < len(rows)
        here = request.base + request.path
        links = [{"rel": "self", "href": here}]
        if more:
            after = f"{here}?offset={offset + limit}&limit={limit}"
            links.append({"rel": "next", "href": after})
        body = {"items": page, "hasMore": more, "limit": limit, "offset": offset}
        return Response(200, {**body, "count": len(page), "links": links})

    def _unauthorized(self) -> Response:
        """Refuse a request without a token that is known."""
        return _problem(401, "Unauthorized", "Unauthorized", "Unauthorized")

    def tasks(self, request: Request) -> Response:
        """List all cases, whatever their status, to an operator."""
        if request.token not in self._operators:
            return self._unauthorized()
        return self._collection(request, list(self._cases.values()))

    def marketplace(self, request: Request) -> Response:
        """List the open cases to the public."""
        rows = [c for c in self._cases.values() if c["status_cd"] == "OPEN"]
        return self._collection(request, rows)

    def agents(self, request: Request) -> Response:
        """List the operators."""
        return self._collection(request, [{"operator_id": o} for o in self._balance])

    directory = agents

    def _call(self, request: Request) -> Response:
        """Run a procedure of the package."""
        operator = self._operators.get(request.token)
        if operator is None:
            return self._unauthorized()
        try:
            body = request.json()
            if not isinstance(body, dict):
                raise ValueError  # noqa: TRY004
        except ValueError:
            said = "The request body is not a valid JSON object"
            return _problem(400, "BadRequest", "Bad Request", said)
        name = request.path.rpartition("/")[2].partition("-")[0]
        line, procedure = {
            "claim": (118, self._allocate),
            "submit": (164, self._transcribe),
            "complete": (207, self._close),
        }[name]
        try:
            return Response(200, procedure(operator, body))
        except _Raised as error:
            return _raised(error, line)

    claim = submit = complete = _call

    def _allocate(self, operator: str, body: dict[str, Any]) -> dict[str, Any]:
        number = _number(body, "case_id")
        named = _text(body, "operator_id", "the agent_id given at registration")
        if named != operator:
            raise _Raised(20102, f"operator_id {named} is not the owner of this token")
        case = self._cases.get(number)
        if case is None:
            raise _Raised(20104, f"case {number} not found")
        for key, held in self._allocations.items():
            if held["case_id"] == number:
                own = (
                    f", allocation_id {key}" if held["operator_id"] == operator else ""
                )
                said = f"case {number} is allocated to {held['operator_id']}{own}"
                raise _Raised(20105, said)
        key = 88001 + len(self._allocations)
        self._allocations[key] = {"case_id": number, "operator_id": operator}
        case["status_cd"] = "ALLOCATED"
        self.book.claimed(str(number))
        due = (datetime.now(UTC) + timedelta(days=5)).strftime("%Y-%m-%dT%H:%M:%SZ")
        given = {"allocation_id": key, "case_id": number, "status_cd": "ALLOCATED"}
        return {**given, "entry_text": self.texts()[str(number)], "due_on": due}

    def _allocation(self, operator: str, body: dict[str, Any]) -> dict[str, Any]:
        key = _number(body, "allocation_id")
        held = self._allocations.get(key)
        if held is None or held["operator_id"] != operator:
            raise _Raised(20106, f"operator {operator} has no allocation_id {key}")
        return self._cases[held["case_id"]]

    def _transcribe(self, operator: str, body: dict[str, Any]) -> dict[str, Any]:
        case = self._allocation(operator, body)
        text = _text(body, "transcript_text")
        day = _text(body, "transcribed_on", "date, YYYY-MM-DD")
        try:
            datetime.strptime(day, "%Y-%m-%d")  # noqa: DTZ007
        except ValueError:
            said = "transcribed_on must be a date in the format YYYY-MM-DD"
            raise _Raised(20107, said) from None
        if case["status_cd"] != "ALLOCATED":
            raise _Raised(20108, f"case {case['case_id']} is {case['status_cd']}")
        if text != self.texts()[str(case["case_id"])].upper():
            said = "transcript_text does not agree with the entry in capital letters"
            raise _Raised(20110, said)
        case["status_cd"] = "TRANSCRIBED"
        return {"case_id": case["case_id"], "status_cd": "TRANSCRIBED"}

    def _close(self, operator: str, body: dict[str, Any]) -> dict[str, Any]:
        case = self._allocation(operator, body)
        number, fee = case["case_id"], case["fee_credits"]
        declared = _text(body, "own_work_yn", "Y or N")
        if declared not in ("Y", "N"):
            raise _Raised(20111, "own_work_yn must be Y or N")
        if case["status_cd"] != "TRANSCRIBED":
            raise _Raised(
                20108, f"case {number} is {case['status_cd']}, not TRANSCRIBED"
            )
        if declared == "N":
            raise _Raised(20112, "a case is closed only when own_work_yn is Y")
        case["status_cd"] = "CLOSED"
        self._balance[operator] += fee
        self.book.pay(str(number), fee)
        closed = {"case_id": number, "status_cd": "CLOSED", "fee_credited": fee}
        return {**closed, "account_balance": self._balance[operator]}
