"""The reading room of a hospital's archive: an R Plumber service that grew by hand.

Names have dots, a lone value is a vector of one (nobody set auto_unbox), an argument that
is missing is R's own error with status 500, and other refusals are `list(error = ...)`.
Sending a right transcript pays; closing the loan only tidies up.
"""

import secrets
from datetime import date, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_NOTES = [
    ("ward 3", "patient slept well, no fever", 10),
    ("ward 3", "second dose given at noon", 16),
    ("surgery", "stitches out on monday", 7),
    ("clinic", "walks with a stick since may", 25),
    ("clinic", "asks for a letter to the employer", 13),
    ("laboratory", "sample clotted, please repeat", 19),
    ("night desk", "family called, will call again", 4),
    ("pharmacy", "tablets changed to drops", 33),
]


class _Stop(Exception):  # noqa: N818
    """A refusal on its way out: R's stop(), or a status that was set by hand."""

    def __init__(self, response: Response) -> None:
        self.response = response


def _boxed(**values: Any) -> dict[str, Any]:
    """Return a list as jsonlite writes it: a lone value is a vector of one."""
    return {
        name.replace("_", "."): value if isinstance(value, list) else [value]
        for name, value in values.items()
    }


def _refuse(status: int, message: str) -> _Stop:
    return _Stop(Response(status, _boxed(error=message)))


def _crash(message: str) -> _Stop:
    """Return what Plumber itself answers when a function stops; debug is on."""
    body = {"error": "500 - Internal server error", "message": message + "\n"}
    return _Stop(Response(500, body))


class _Arguments:
    """The arguments of an endpoint's function, looked at one after the other."""

    def __init__(self, request: Request, *names: str) -> None:
        self._call = f"(function (req, res, {', '.join(names)})"
        try:
            body = request.json() if request.raw.strip() else {}
        except ValueError:
            raise _crash("Error: lexical error: invalid char in json text.") from None
        self._values = body if isinstance(body, dict) else {}

    def get(self, name: str) -> Any:
        value = self._values.get(name)
        if isinstance(value, list) and len(value) == 1:
            value = value[0]  # to R it is the same
        if value is None:
            lack = f'argument "{name}" is missing, with no default'
            raise _crash(f"Error in {self._call} : {lack}")
        return value

    def text(self, name: str) -> str:
        value = self.get(name)
        if not isinstance(value, str) or not value.strip():
            raise _refuse(400, f"{name} must be a character string")
        return value

    def whole(self, name: str) -> int:
        value = self.get(name)
        try:
            return int(str(value))
        except ValueError:
            raise _refuse(400, f"{name} must be a whole number") from None

    def day(self, name: str) -> date:
        try:
            return date.fromisoformat(str(self.get(name)))
        except ValueError:
            raise _refuse(400, f"{name} must be a date, YYYY-MM-DD") from None

    def logical(self, name: str) -> bool:
        value = self.get(name)
        if str(value).lower() not in ("true", "false"):
            raise _refuse(400, f"{name} must be true or false")
        return str(value).lower() == "true"


class ReadingRoom(Backend):
    """Notes that are to be copied out in capitals."""

    def __init__(self) -> None:
        super().__init__()
        self._readers: dict[str, str] = {}  # token -> reader
        self._credits: dict[str, int] = {}
        self._loans: dict[str, tuple[int, str]] = {}  # loan -> record, reader
        self._notes: dict[int, dict[str, Any]] = {
            number: {
                "record.no": number,
                "department": department,
                "note.text": text,
                "what.to.do": "copy note.text in upper case",
                "credits": reward,
                "state": "waiting",
                "read.before": (date.today() + timedelta(days=14)).isoformat(),  # noqa: DTZ011
            }
            for number, (department, text, reward) in enumerate(_NOTES, 80311)
        }

    def texts(self) -> dict[str, str]:
        """Return the text of every note."""
        return {str(n): note["note.text"] for n, note in self._notes.items()}

    def missing(self, request: Request) -> Response:
        """Answer as Plumber does, which unboxes this one."""
        return Response(404, {"error": "404 - Resource Not Found"})

    def register(self, request: Request) -> Response:
        """Make a reader; this one endpoint has the unboxed serializer."""
        self.book.registrations += 1
        reader = f"reader-{self.book.registrations:04d}"
        token = secrets.token_hex(20)
        self._readers[token] = reader
        self._credits[reader] = 100
        answer = {"agent_id": reader, "access_token": token, "credits": 100}
        return Response(200, answer)

    def marketplace(self, request: Request) -> Response:
        """List the notes that wait."""
        return self._guard(self._queue, request)

    def tasks(self, request: Request) -> Response:
        """List the notes that wait, to anybody."""
        return self._guard(self._queue, request)

    def agents(self, request: Request) -> Response:
        """List the readers."""
        readers = list(self._credits)
        return Response(200, _boxed(readers=readers, n_total=len(readers)))

    def claim(self, request: Request) -> Response:
        """Lend a note."""
        return self._guard(self._lend, request)

    def submit(self, request: Request) -> Response:
        """Take a transcript and pay it."""
        return self._guard(self._take, request)

    def complete(self, request: Request) -> Response:
        """Close a loan."""
        return self._guard(self._close, request)

    def _guard(self, function: Any, request: Request) -> Response:
        try:
            return Response(200, function(request))
        except _Stop as stop:
            return stop.response

    def _reader(self, request: Request) -> str:
        """Return who asks: the filter before the endpoints that change something."""
        if request.token not in self._readers:
            raise _refuse(401, "Authentication required")
        return self._readers[request.token]

    def _queue(self, request: Request) -> dict[str, Any]:
        numbers = {"limit": 50, "offset": 0}
        for name in numbers:  # noqa: PLC0206
            value = request.query.get(name, str(numbers[name]))
            if not value.isdecimal() or (
                name == "limit" and not 1 <= int(value) <= 200
            ):
                span = "from 1 to 200" if name == "limit" else "from 0"
                raise _refuse(400, f"{name} must be a whole number {span}")
            numbers[name] = int(value)
        waiting = [n for n in self._notes.values() if n["state"] == "waiting"]
        start = numbers["offset"]
        # A data frame: its rows are objects with plain values.
        rows = waiting[start : start + numbers["limit"]]
        return _boxed(queue=rows, n_total=len(waiting), **numbers)

    def _lend(self, request: Request) -> dict[str, Any]:
        reader = self._reader(request)
        given = _Arguments(request, "record.no", "reader.id")
        number = given.whole("record.no")
        if number not in self._notes:
            raise _refuse(404, f"No record with record.no {number}")
        if given.text("reader.id") != reader:
            raise _refuse(403, "reader.id does not belong to this token")
        note = self._notes[number]
        if note["state"] != "waiting":
            raise _refuse(409, f"Record {number} is not waiting, it is {note['state']}")
        note["state"] = "on loan"
        loan = f"LN{len(self._loans) + 1:03d}-{secrets.token_hex(3)}"
        self._loans[loan] = (number, reader)
        self.book.claimed(str(number))
        return _boxed(
            loan_no=loan,
            record_no=number,
            note_text=note["note.text"],
            return_before=note["read.before"],
        )

    def _loan(self, request: Request, given: _Arguments) -> dict[str, Any]:
        """Return the note that a loan number stands for."""
        loan = given.text("loan.no")
        number, owner = self._loans.get(loan, (0, ""))
        if owner != self._reader(request):
            raise _refuse(404, f"You have no loan with loan.no {loan}")
        return self._notes[number]

    def _take(self, request: Request) -> dict[str, Any]:
        reader = self._reader(request)
        given = _Arguments(request, "loan.no", "transcript", "date.read")
        note = self._loan(request, given)
        transcript = given.text("transcript")
        day = given.day("date.read")
        # A day of grace, for readers whose clocks are ahead of ours.
        if day > date.today() + timedelta(days=1):  # noqa: DTZ011
            raise _refuse(400, "date.read must not be in the future")
        if note["state"] != "on loan":
            raise _refuse(409, f"The record is already {note['state']}")
        if transcript != note["note.text"].upper():
            raise _refuse(400, "transcript differs from note.text in upper case")
        note["state"] = "read"
        self._credits[reader] += note["credits"]
        self.book.pay(str(note["record.no"]), note["credits"])
        now = self._credits[reader]
        return _boxed(state="read", credits_paid=note["credits"], credits_now=now)

    def _close(self, request: Request) -> dict[str, Any]:
        self._reader(request)
        given = _Arguments(request, "loan.no", "finished")
        note = self._loan(request, given)
        if not given.logical("finished"):
            raise _refuse(400, "A loan is closed only when finished is true")
        if note["state"] != "read":
            raise _refuse(409, f"The record is {note['state']}, it must be read first")
        note["state"] = "closed"
        return _boxed(state="closed", record_no=note["record.no"])
