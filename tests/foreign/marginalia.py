"""Marginalia: the annotation campaign of a research group, an R plumber service.

Written the usual way: arguments by name, dot.case, data frames as bare arrays of rows,
lists with every scalar boxed, `stop()` and `stopifnot()` ending as a 500 with the message
of the condition (the group leaves `debug` on), and a 200 for a result found wrong.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import secrets
import time
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_ITEMS = [
    (101, "ms-14", "folio 2r, upper margin", "nota bene: the scribe is tired", 6),
    (102, "ms-14", "folio 7v, gutter", "here ends the first quire", 10),
    (107, "ms-14", "folio 9r, lower margin", "pray for brother anselm", 13),
    (203, "ms-22", "folio 1v, pen trial", "this pen is good, the ink is not", 20),
    (208, "ms-22", "folio 30r, gloss", "id est: a measure of three bushels", 16),
]
_LEVELS = ["low", "medium", "high"]
_MISSING = object()


class _Stop(Exception):  # noqa: N818
    """An R condition: its message, and the call that `as.character` shows."""

    def __init__(self, message: str, call: str = "") -> None:
        super().__init__(message)
        self.message, self.call = message, call


class _Status(Exception):  # noqa: N818
    """What `res$status <- n; return(list(error = ...))` answers."""

    def __init__(self, status: int, error: str) -> None:
        super().__init__(error)
        self.status, self.error = status, error


def _json(body: Any, status: int = 200, refused: bool = False) -> Response:  # noqa: FBT001, FBT002
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return Response(status, text, {"Content-Type": "application/json"}, refused)


def _boxed(**values: Any) -> dict[str, list[Any]]:
    """Return a list as jsonlite writes it; `_` stands for R's dot."""
    return {name.replace("_", "."): [value] for name, value in values.items()}


def _adist(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


class Marginalia(Backend):
    """The text comes with the claim; a right submission pays, completing closes."""

    def __init__(self) -> None:
        super().__init__()
        self._annotators: dict[str, str] = {}
        self._points: dict[str, int] = {}
        self._sessions: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the line of every item."""
        return {str(row[0]): row[3] for row in _ITEMS}

    def missing(self, request: Request) -> Response:
        """Return plumber's own 404 and 405, which are unboxed."""
        known = {path for _, path in ACTIONS}
        if request.path in known and (request.method, request.path) not in ACTIONS:
            return _json({"error": "405 - Method Not Allowed"}, 405)
        return _json({"error": "404 - Resource Not Found"}, 404)

    def _call(self, request: Request, names: list[str], function: Any) -> Response:
        """Run a handler as plumber would: filter, arguments, error handler."""
        head = f"(function (req, res, {', '.join(names)}) "
        try:
            if request.token not in self._annotators:
                raise _Status(401, "Authentication required")
            given: dict[str, Any] = {}
            if request.raw.strip():
                try:
                    given = request.json()
                except ValueError:
                    raise _Stop(
                        "lexical error: invalid char in json text.\n"
                        f"          {request.raw.decode(errors='replace')[:40]}\n"
                        "                     (right here) ------^\n",
                        "parse_string(txt, bigint_as_char)",
                    ) from None
            given = {**(given if isinstance(given, dict) else {}), **request.query}
            # jsonlite simplifies: an array of one is the scalar itself.
            for name, value in given.items():
                if isinstance(value, list) and len(value) == 1:
                    given[name] = value[0]
            values = [given.get(name, _MISSING) for name in names]
            for name, value in zip(names, values, strict=True):
                if value is _MISSING:
                    raise _Stop(f'argument "{name}" is missing, with no default')
            done: Response = function(self._annotators[request.token], *values)
            return done  # noqa: TRY300
        except _Status as said:
            return _json(_boxed(error=said.error), said.status)
        except _Stop as stop:
            text = f"Error in {stop.call or head}: {stop.message}\n"
            return _json({"error": "500 - Internal server error", "message": text}, 500)

    def register(self, request: Request) -> Response:
        """Add an annotator (`@serializer unboxedJSON`)."""
        self.book.registrations += 1
        annotator, token = f"ann{self.book.registrations:03d}", secrets.token_hex(16)
        self._annotators[token] = annotator
        self._points[annotator] = 100
        return _json({"agent_id": annotator, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        """Return the open items: `head(items, as.integer(limit))`."""
        taken = {session["item"] for session in self._sessions.values()}
        rows = [
            {
                "item.id": number,
                "corpus": corpus,
                "locus": locus,
                "n.chars": len(text),
                "points": points,
                "instruction": "transcribe the line in upper case",
            }
            for number, corpus, locus, text, points in _ITEMS
            if number not in taken
        ]
        try:
            limit = int(float(request.query.get("limit", "20")))
        except (ValueError, OverflowError):
            return _json(rows)  # NA: head() keeps all
        return _json(rows[:limit])  # a negative n drops from the end, here as in R

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        """Open a session on an item."""
        return self._call(request, ["item.id", "annotator"], self._claim)

    def _claim(self, who: str, item: Any, annotator: Any) -> Response:
        if annotator != who:
            raise _Status(403, f"annotator must be the agent_id of this token ({who})")
        try:
            number = int(float(item))
        except (TypeError, ValueError, OverflowError):
            number = -1
        row = next((row for row in _ITEMS if row[0] == number), None)
        if row is None:
            raise _Status(404, f"no item with item.id {item}")
        if any(session["item"] == number for session in self._sessions.values()):
            raise _Status(409, f"item {number} is already assigned")
        key = f"{who}-{secrets.token_hex(3)}"
        self._sessions[key] = {"who": who, "item": number, "state": "open"}
        self.book.claimed(str(number))
        due = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(time.time() + 86400))
        return _json(
            _boxed(
                session=key,
                item_id=number,
                line=row[3],
                points=row[4],
                state="open",
                due=due,
            )
        )

    def _session(self, who: str, key: Any) -> dict[str, Any]:
        session = self._sessions.get(key) if isinstance(key, str) else None
        if session is None or session["who"] != who:
            raise _Status(404, f"unknown session: {key}")
        return session

    def submit(self, request: Request) -> Response:
        """Compare a transcription with the gold standard."""
        names = ["session", "transcription", "confidence"]
        return self._call(request, names, self._submit)

    def _submit(self, who: str, key: Any, given: Any, confidence: Any) -> Response:
        session = self._session(who, key)
        if not isinstance(given, str):
            raise _Stop("is.character(transcription) is not TRUE")
        call = 'match.arg(confidence, c("low", "medium", "high"))'
        if not isinstance(confidence, str):
            raise _Stop("'arg' must be NULL or a character vector", call)
        if not confidence or not any(n.startswith(confidence) for n in _LEVELS):
            shown = ", ".join(f"‘{name}’" for name in _LEVELS)  # noqa: RUF001
            raise _Stop(f"'arg' should be one of {shown}", call)
        if session["state"] != "open":
            raise _Status(409, f"session is {session['state']}")
        row = next(row for row in _ITEMS if row[0] == session["item"])
        distance = _adist(given, row[3].upper())
        if distance:
            return _json(
                _boxed(
                    accepted=False,
                    distance=distance,
                    message="transcription differs from the gold standard, try again",
                ),
                refused=True,
            )
        session["state"] = "scored"
        self._points[who] += row[4]
        self.book.pay(str(row[0]), row[4])
        return _json(
            _boxed(
                accepted=True,
                distance=0,
                points_awarded=row[4],
                points_total=self._points[who],
                state="scored",
            )
        )

    def complete(self, request: Request) -> Response:
        """Close a scored session, with the time it took."""
        return self._call(request, ["session", "minutes"], self._complete)

    def _complete(self, who: str, key: Any, minutes: Any) -> Response:
        session = self._session(who, key)
        if isinstance(minutes, bool) or not isinstance(minutes, int | float):
            raise _Stop("is.numeric(minutes) is not TRUE")
        if minutes < 0:
            raise _Stop("minutes >= 0 is not TRUE")
        if session["state"] != "scored":
            raise _Status(409, f"session is {session['state']}, not scored")
        session["state"] = "closed"
        return _json(_boxed(session=key, state="closed", minutes=minutes))
