"""A legacy PHP backend of a small German job portal, with a MySQL table behind it.

Every answer has status 200 and PHP's default media type, text/html, also a refusal: what
counts is "status": "ok" or "error" in the body, and "msg" says one thing at a time. Numbers
from the table are written as strings, states are German words. The listing is a list of
lists and holds jobs in all states. Submitting pays at once; nothing is left to complete.
"""

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

OPEN, GIVEN, DONE = "offen", "vergeben", "erledigt"
JOBS = (
    (DONE, "the cellar was swept in april"),
    (OPEN, "seven apples lie under the tree"),
    (OPEN, "the ferry leaves at a quarter past nine"),
    (GIVEN, "someone else is writing this label"),
    (OPEN, "close the shutters before the storm"),
    (OPEN, "the mason forgot his hat again"),
    (DONE, "all parcels have gone to bremen"),
    (OPEN, "two swans sleep below the bridge"),
    (OPEN, "a postcard came from the island"),
    (OPEN, "the oven needs an hour to warm up"),
    (GIVEN, "this sign is being painted already"),
    (OPEN, "count the chairs in the town hall"),
    (OPEN, "the choir sings without its tenor"),
    (DONE, "last week's minutes are typed"),
    (OPEN, "bring two lamps and a long rope"),
    (OPEN, "the dog knows the way to the market"),
    (OPEN, "yesterday's bread makes good dumplings"),
)
FIRST_JOB, FIRST_WORKER, PAGE = 311, 1041, 5

# What each script looks at, in its order; other fields do not interest it.
WANTED = {
    "claim": ("job_id", "worker"),
    "submit": ("job_id", "antwort"),
    "complete": ("job_id",),
}
NUMBERS = {"job_id", "worker"}


class Fault(Exception):  # noqa: N818 - a word of the trade
    """die(json_encode(...)) with an error."""


@dataclass
class Job:
    """One row of the table."""

    number: int
    text: str
    credits: int
    state: str
    worker: int = 0

    def row(self) -> dict[str, str]:
        """Return the row as mysqli's fetch_assoc does: strings only."""
        return {
            "id": str(self.number),
            "text": self.text,
            "credits": str(self.credits),
            "zustand": self.state,
            "datum": f"2026-02-{self.number - FIRST_JOB + 1:02} 08:30:00",
        }


def _echo(body: dict[str, Any], *, refused: bool = False) -> Response:
    """Write as json_encode does, slashes escaped and without spaces."""
    text = json.dumps(body, separators=(",", ":")).replace("/", "\\/")
    return Response(200, text, {"Content-Type": "text/html; charset=UTF-8"}, refused)


def _empty(value: Any) -> bool:
    """Return what PHP's empty() says."""
    return not value or value == "0"


def _number(name: str, value: Any) -> int:
    """Return the number, as a number or as a string of digits, or refuse it."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().isdecimal():
        return int(value)
    raise Fault(f"{name} invalid")


def _checked(action: str, request: Request) -> dict[str, Any]:
    """Return the wanted fields, or refuse the first that is bad."""
    try:
        data = request.json()
    except ValueError:
        data = None
    if not isinstance(data, dict):
        data = {}  # an undefined index is empty
    fields: dict[str, Any] = {}
    for name in WANTED[action]:
        value = data.get(name)
        if _empty(value):
            raise Fault(f"{name} missing")
        if name in NUMBERS:
            value = _number(name, value)
        elif not isinstance(value, str):
            raise Fault(f"{name} invalid")
        fields[name] = value
    return fields


class PhpLegacy(Backend):
    """The portal."""

    def __init__(self) -> None:
        super().__init__()
        self._jobs = {
            FIRST_JOB + at: Job(FIRST_JOB + at, text, 1 + at * 5 % 9, state)
            for at, (state, text) in enumerate(JOBS)
        }
        self._workers: dict[str, int] = {}  # token -> worker
        self._balance: dict[int, int] = {}
        self._texts = {
            str(n): job.text for n, job in self._jobs.items() if job.state == OPEN
        }

    def texts(self) -> dict[str, str]:
        return dict(self._texts)

    def missing(self, request: Request) -> Response:
        return _echo({"status": "error", "msg": "unknown action"}, refused=True)

    def register(self, request: Request) -> Response:
        worker, token = FIRST_WORKER + len(self._workers), secrets.token_hex(16)
        self._workers[token] = worker
        self._balance[worker] = 100
        self.book.registrations += 1
        body = {
            "status": "ok",
            "agent_id": str(worker),
            "access_token": token,
            "credits": 100,
        }
        return _echo(body)

    def tasks(self, request: Request) -> Response:
        rows = [job.row() for job in self._jobs.values()]
        pages = [rows[at : at + PAGE] for at in range(0, len(rows), PAGE)]
        return _echo({"jobs": pages, "anzahl": len(rows)})

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        return self._script("claim", request, self._claimed)

    def submit(self, request: Request) -> Response:
        return self._script("submit", request, self._submitted)

    def complete(self, request: Request) -> Response:
        return self._script("complete", request, self._completed)

    def _script(
        self,
        action: str,
        request: Request,
        act: Callable[[int, Job, dict[str, Any]], dict[str, Any]],
    ) -> Response:
        try:
            worker = self._worker(request)
            fields = _checked(action, request)
            job = self._job(fields["job_id"])
            return _echo({"status": "ok"} | act(worker, job, fields))
        except Fault as fault:
            return _echo({"status": "error", "msg": str(fault)}, refused=True)

    def _worker(self, request: Request) -> int:
        if not request.token:
            raise Fault("token missing")
        if request.token not in self._workers:
            raise Fault("token invalid")
        return self._workers[request.token]

    def _job(self, number: int) -> Job:
        if number not in self._jobs:
            raise Fault("job not found")
        return self._jobs[number]

    def _claimed(self, worker: int, job: Job, fields: dict[str, Any]) -> dict[str, Any]:
        if fields["worker"] != worker:
            raise Fault("worker is not the agent of this token")
        if job.state != OPEN:
            raise Fault(f"job schon {job.state}")
        job.state, job.worker = GIVEN, worker
        self.book.claimed(str(job.number))
        return {"job_id": str(job.number), "zustand": job.state}

    def _submitted(
        self, worker: int, job: Job, fields: dict[str, Any]
    ) -> dict[str, Any]:
        if job.worker != worker:
            raise Fault("not your job")
        if job.state == DONE:
            return {"msg": "schon erledigt"}
        if fields["antwort"] != job.text.upper():
            raise Fault("antwort falsch: text in upper case please")
        job.state = DONE
        self.book.pay(str(job.number), job.credits)
        self._balance[worker] += job.credits
        return {"zustand": job.state, "guthaben": self._balance[worker]}

    def _completed(
        self, worker: int, job: Job, _fields: dict[str, Any]
    ) -> dict[str, Any]:
        if job.worker != worker:
            raise Fault("not your job")
        if job.state != DONE:
            raise Fault("job noch nicht erledigt")
        return {"msg": "schon erledigt"}
