"""A captioning farm on Sanic, written by hand: no validation library, body["key"] everywhere.

Lists {"jobs": [...], "open": n}: each with `job` ("j-5e20c1"), `op` ("caps"), `source`
(the text), `outputs` (["headline"], the names of what is wanted), `reward_cr` (int), `state`.
claim wants {"job": id}; 200 {"ok": true, "ticket": "tk-...", "job", "lease_s"}.
submit wants {"ticket": str, "outputs": [{"name": "headline", "value": str, "word_count": int}]},
one entry for each name that the job lists, and the count of the words in the value;
200 {"ok": true, "receipt": int, "outputs": [{"name", "ok"}]}.
complete wants {"ticket": str, "receipt": int}; pays, 200 {"ok": true, "credited", "balance"}.
Refusals: a key that is not there is the caught exception, 400 {"error": "KeyError: 'ticket'"}
(one at a time; a body that is no object gives the TypeError); what is there but wrong is
422 {"ok": false, "reason": "outputs must be a list"}; wrong work too. Broken JSON, 401, 404,
403 and 409 are Sanic's own {"description", "status", "message"}.
"""

from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

SOURCES = [
    ("two brothers sail around the island in a borrowed boat", 11),
    ("storm damages the roof of the village school for the second time", 14),
    ("the chess club celebrates its hundredth birthday with a tournament", 8),
    ("farmers expect a good apple harvest after the warm spring", 6),
    ("the mayor opens a footpath along the river to the mill", 20),
    ("scientists count more storks in the wetlands than ever before", 13),
]
TITLES = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    409: "Conflict",
}
MEMBERS = ("name", "value", "word_count")


class SanicException(Exception):
    """What Sanic's JSON renderer answers."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Invalid(Exception):
    """Something is there, but wrong; the team's own."""


def load_json(request: Request) -> Any:
    """Return request.json as Sanic has it: None without a body."""
    if not request.raw:
        return None
    try:
        return request.json()
    except ValueError:
        raise SanicException(400, "Failed when parsing body as json") from None


def text_of(body: Any, key: str) -> str:
    """Return body[key], which has to be a string."""
    value = body[key]
    if not isinstance(value, str):
        raise Invalid(f"{key} must be a string, got {type(value).__name__}")
    return value


def check_outputs(outputs: Any, wanted: list[str]) -> dict[str, str]:
    """Return the values by name."""
    if not isinstance(outputs, list):
        raise Invalid(f"outputs must be a list, got {type(outputs).__name__}")
    if len(outputs) != len(wanted):
        names = ", ".join(wanted)
        raise Invalid(
            f"outputs has {len(outputs)} entries, job wants {len(wanted)}: {names}"
        )
    values = {}
    for i, entry in enumerate(outputs):
        if not isinstance(entry, dict):
            raise Invalid(f"outputs[{i}] must be an object, got {type(entry).__name__}")
        absent = [key for key in MEMBERS if key not in entry]
        if absent:
            raise Invalid(f"outputs[{i}] has no {', '.join(absent)}")
        name, value, count = (entry[key] for key in MEMBERS)
        if name not in wanted:
            raise Invalid(f"outputs[{i}].name {name!r} not in {wanted!r}")
        if not isinstance(value, str):
            raise Invalid(f"outputs[{i}].value must be a string")
        if isinstance(count, bool) or not isinstance(count, int):
            raise Invalid(f"outputs[{i}].word_count must be an int")
        if count != len(value.split()):
            found = len(value.split())
            raise Invalid(
                f"outputs[{i}].word_count is {count} but value has {found} words"
            )
        values[name] = value
    return values


class CaptionFarm(Backend):
    """Jobs with named outputs; a ticket for the claim, a receipt for the result."""

    def __init__(self) -> None:
        super().__init__()
        self.workers: dict[str, dict[str, Any]] = {}
        self.jobs: dict[str, dict[str, Any]] = {}
        self.tickets: dict[str, dict[str, Any]] = {}
        for number, (source, reward) in enumerate(SOURCES):
            key = f"j-{0x5E20C1 + 0x1F3 * number:06x}"
            self.jobs[key] = {
                "job": key,
                "op": "caps",
                "help": "headline = source in upper case",
                "source": source,
                "outputs": ["headline"],
                "reward_cr": reward,
                "state": "queued",
                "queued_at": 1710147600.25 + 61 * number,
            }

    def texts(self) -> dict[str, str]:
        return {key: job["source"] for key, job in self.jobs.items()}

    @staticmethod
    def sanic(status: int, message: str) -> Response:
        body = {"description": TITLES[status], "status": status, "message": message}
        return Response(status, body)

    def missing(self, request: Request) -> Response:
        return self.sanic(404, f"Requested URL {request.path} not found")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        number = len(self.workers) + 1
        token = f"wk{0x1F83D9ABFB41BD6B * number % 2**64:016x}"
        self.workers[token] = {"agent_id": f"w{number:04d}", "credits": 100}
        return Response(200, {**self.workers[token], "access_token": token})

    def listing(self, limit: int) -> Response:
        queued = [job for job in self.jobs.values() if job["state"] == "queued"]
        return Response(200, {"jobs": queued[:limit], "open": len(queued)})

    def marketplace(self, request: Request) -> Response:
        return self.listing(50)

    def tasks(self, request: Request) -> Response:
        return self.guarded(
            request, lambda: self.listing(int(request.query.get("limit", 50)))
        )

    def guarded(self, request: Request, handler: Callable[[], Response]) -> Response:
        """Run a handler as the farm's decorator does: token first, then the excepts."""
        try:
            if not request.token:
                raise SanicException(401, "Auth required.")
            if request.token not in self.workers:
                raise SanicException(401, "Unknown token.")
            return handler()
        except SanicException as exc:
            return self.sanic(exc.status, str(exc))
        except Invalid as exc:
            return Response(422, {"ok": False, "reason": str(exc)})
        except (KeyError, TypeError, ValueError) as exc:
            return Response(400, {"error": f"{type(exc).__name__}: {exc}"})

    def claim(self, request: Request) -> Response:
        return self.guarded(request, lambda: self.do_claim(request))

    def submit(self, request: Request) -> Response:
        return self.guarded(request, lambda: self.do_submit(request))

    def complete(self, request: Request) -> Response:
        return self.guarded(request, lambda: self.do_complete(request))

    def do_claim(self, request: Request) -> Response:
        key = text_of(load_json(request), "job")
        job = self.jobs.get(key)
        if job is None:
            raise SanicException(404, f"no job {key}")
        digits = int(key.removeprefix("j-"), 16)
        ticket = f"tk-{digits * 2654435761 % 2**32:08x}"
        held = self.tickets.get(ticket)
        if held and (held["worker"] != request.token or job["state"] != "running"):
            raise SanicException(409, f"job {key} is {job['state']}")
        if not held:
            job["state"] = "running"
            self.tickets[ticket] = {"job": key, "worker": request.token, "receipt": 0}
            self.book.claimed(key)
        return Response(200, {"ok": True, "ticket": ticket, "job": key, "lease_s": 900})

    def held(self, ticket: str, token: str) -> dict[str, Any]:
        """Return the ticket's entry if it is the worker's own."""
        entry = self.tickets.get(ticket)
        if entry is None:
            raise SanicException(404, f"no ticket {ticket}")
        if entry["worker"] != token:
            raise SanicException(403, "not your ticket")
        return entry

    def do_submit(self, request: Request) -> Response:
        body = load_json(request)
        ticket, outputs = text_of(body, "ticket"), body["outputs"]
        entry = self.held(ticket, request.token)
        job = self.jobs[entry["job"]]
        if job["state"] == "done":
            raise SanicException(409, f"job {entry['job']} is done")
        values = check_outputs(outputs, job["outputs"])
        if values["headline"] != job["source"].upper():
            raise Invalid("headline rejected: not the source in upper case")
        job["state"] = "checked"
        entry["receipt"] = 50200 + 7 * list(self.jobs).index(entry["job"])
        checked = [{"name": name, "ok": True} for name in values]
        answer = {"ok": True, "receipt": entry["receipt"], "outputs": checked}
        return Response(200, answer)

    def do_complete(self, request: Request) -> Response:
        body = load_json(request)
        ticket, receipt = text_of(body, "ticket"), body["receipt"]
        if isinstance(receipt, bool) or not isinstance(receipt, int):
            raise Invalid(f"receipt must be an int, got {type(receipt).__name__}")
        entry = self.held(ticket, request.token)
        job = self.jobs[entry["job"]]
        if job["state"] == "running":
            raise SanicException(409, "nothing submitted on this ticket")
        if receipt != entry["receipt"]:
            raise Invalid(f"receipt {receipt} is not of ticket {ticket}")
        worker = self.workers[request.token]
        if job["state"] == "checked":
            job["state"] = "done"
            worker["credits"] += job["reward_cr"]
            self.book.pay(entry["job"], job["reward_cr"])
        return Response(
            200,
            {
                "ok": True,
                "job": entry["job"],
                "credited": job["reward_cr"],
                "balance": worker["credits"],
            },
        )
