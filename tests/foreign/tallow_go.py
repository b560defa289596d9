"""Tallow: a start-up's Go service; untagged structs, prose errors, its own router."""

import base64
import json
import re
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_INPUTS = [
    ("ticker line", "copper up two points at noon", 7),
    ("platform notice", "the train to dover calls at ashford", 11),
    ("call sign", "kilo seven november", 3),
    ("morse script", "send more coal by friday", 16),
    ("chart heading", "rainfall in inches, april to june", 21),
    ("radio log", "mayday relay received at 0410", 14),
    ("ship's name", "northern wanderer", 4),
    ("crate marking", "keep dry; handle with care", 26),
]
_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}
_KINDS = {bool: "bool", int: "number", float: "number", list: "array", dict: "object"}


class _HTTPError(Exception):
    """What http.Error(w, message, status) writes."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def _error(status: int, message: str) -> Response:
    return Response(status, message + "\n", {"X-Content-Type-Options": "nosniff"})


def _handler(action: Callable[[Any, Request], Response]) -> Any:
    def run(self: "Tallow", request: Request) -> Response:
        try:
            return action(self, request)
        except _HTTPError as error:
            return _error(error.status, str(error))

    return run


def _parse_duration(text: str) -> float:
    """Read a duration as time.ParseDuration does; the answer is in seconds."""
    rest, total = text.lstrip("+-"), 0.0
    if rest == "0":
        return 0
    if not rest:
        raise _HTTPError(400, f"Hold: time: invalid duration {json.dumps(text)}")
    while rest:
        if not (match := re.match(r"(\d+\.?\d*|\.\d+)([^\d.]*)", rest)):
            raise _HTTPError(400, f"Hold: time: invalid duration {json.dumps(text)}")
        number, unit = match.groups()
        if not unit:
            message = f"Hold: time: missing unit in duration {json.dumps(text)}"
            raise _HTTPError(400, message)
        if unit not in _UNITS:
            message = f'unknown unit "{unit}" in duration {json.dumps(text)}'
            raise _HTTPError(400, f"Hold: time: {message}")
        total += float(number) * _UNITS[unit]
        rest = rest[match.end() :]
    return -total if text.startswith("-") else total


def _decode(request: Request, struct: str, *names: str) -> dict[str, str]:
    """Decode a body of string fields as a strict json.Decoder does."""
    if not request.raw.strip():
        raise _HTTPError(400, "cannot decode request body: EOF")
    prefix = "cannot decode request body: json:"
    try:
        body = request.json()
    except ValueError:
        first = request.raw.decode(errors="replace").strip()[:1]
        said = f"invalid character '{first}' looking for beginning of value"
        said = "unexpected EOF" if first in "{[" else said
        raise _HTTPError(400, f"cannot decode request body: {said}") from None
    if not isinstance(body, dict):
        kind = _KINDS.get(type(body), "string")
        message = f"{prefix} cannot unmarshal {kind} into Go value of type api.{struct}"
        raise _HTTPError(400, message)
    known = {name.lower(): name for name in names}
    fields = dict.fromkeys(names, "")
    for key, value in body.items():
        name = known.get(key.lower())
        if name is None:
            raise _HTTPError(400, f"{prefix} unknown field {json.dumps(key)}")
        if isinstance(value, str):
            fields[name] = value
        elif value is not None:
            said = f"cannot unmarshal {_KINDS[type(value)]} into Go struct field"
            raise _HTTPError(400, f"{prefix} {said} {struct}.{name} of type string")
    return fields


class Tallow(Backend):
    """A bare array with a Link to more, the input in the lease, pay on submission."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._leases: dict[str, dict[str, Any]] = {}
        self._jobs: dict[str, dict[str, Any]] = {}
        self._inputs: dict[str, str] = {}
        for name, text, pay in _INPUTS:
            key = str(uuid.uuid4())
            self._inputs[key] = text
            self._jobs[key] = {
                "ID": key,
                "Name": name,
                "Kind": "uppercase",
                "Summary": "Lease the job, then send back its Input in upper case.",
                "InputBytes": len(text),
                "Pay": pay,
                "Status": "queued",
                "QueuedAt": self._stamp(),
            }

    @staticmethod
    def _stamp(later: float = 0) -> str:
        moment = datetime.now(UTC) + timedelta(seconds=later)
        return moment.isoformat().replace("+00:00", "Z")

    def texts(self) -> dict[str, str]:
        return dict(self._inputs)

    def missing(self, request: Request) -> Response:
        allowed = [method for method, path in ACTIONS if path == request.path]
        if allowed and request.method not in allowed:
            answer = _error(405, f"{request.method} is not allowed here")
            answer.headers["Allow"] = ", ".join(allowed)
            return answer
        return _error(404, f"no route for {request.method} {request.path}")

    def _agent(self, request: Request) -> dict[str, Any]:
        if not request.token:
            raise _HTTPError(401, "missing bearer token")
        if request.token not in self._agents:
            raise _HTTPError(401, "bearer token is not one of ours")
        return self._agents[request.token]

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token, key = f"tlw_{uuid.uuid4().hex}", str(uuid.uuid4())
        self._agents[token] = {"ID": key, "Balance": 100}
        return Response(200, {"agent_id": key, "access_token": token, "credits": 100})

    def marketplace(self, request: Request) -> Response:
        try:
            limit = int(request.query.get("limit", "5"))
        except ValueError:
            given = json.dumps(request.query["limit"])
            return _error(400, f"strconv.Atoi: parsing {given}: invalid syntax")
        if not 1 <= limit <= 20:
            return _error(400, f"limit must be between 1 and 20, got {limit}")
        keys, start = list(self._jobs), 0
        if after := request.query.get("after"):
            try:
                start = keys.index(base64.urlsafe_b64decode(after).decode()) + 1
            except ValueError:
                return _error(400, "after is not a cursor of this listing")
        rows = [self._jobs[key] for key in keys[start:]]
        rows = [job for job in rows if job["Status"] == "queued"]
        headers = {}
        if len(rows) > limit:
            cursor = base64.urlsafe_b64encode(rows[limit - 1]["ID"].encode()).decode()
            link = f"{request.base}{request.path}?limit={limit}&after={cursor}"
            headers["Link"] = f'<{link}>; rel="next"'
        return Response(200, rows[:limit], headers)

    @_handler
    def tasks(self, request: Request) -> Response:
        self._agent(request)
        return self.marketplace(request)

    def agents(self, request: Request) -> Response:
        rows = [{"ID": a["ID"]} for a in self._agents.values()]
        return Response(200, rows)

    directory = agents

    @_handler
    def claim(self, request: Request) -> Response:
        agent = self._agent(request)
        body = _decode(request, "LeaseRequest", "JobID", "Hold")
        if not body["JobID"]:
            raise _HTTPError(400, "JobID is required")
        if not body["Hold"]:
            raise _HTTPError(400, 'Hold is required: how long you need, as in "30m"')
        hold = _parse_duration(body["Hold"])
        if not 60 <= hold <= 4 * 3600:
            raise _HTTPError(400, "Hold must be at least 1m and at most 4h")
        job = self._jobs.get(body["JobID"])
        if job is None:
            raise _HTTPError(404, f"no job with ID {json.dumps(body['JobID'])}")
        if job["Status"] != "queued":
            raise _HTTPError(409, f"job {job['ID']} is {job['Status']}, not queued")
        job["Status"] = "leased"
        key = str(uuid.uuid4())
        self._leases[key] = {"JobID": job["ID"], "Agent": agent, "Passed": False}
        self.book.claimed(job["ID"])
        answer = {"LeaseID": key, "JobID": job["ID"], "ExpiresAt": self._stamp(hold)}
        return Response(200, {**answer, "Input": self._inputs[job["ID"]]})

    def _lease(self, agent: dict[str, Any], key: str) -> dict[str, Any]:
        if not key:
            raise _HTTPError(400, "LeaseID is required")
        lease = self._leases.get(key)
        if lease is None or lease["Agent"] is not agent:
            raise _HTTPError(404, f"you hold no lease with ID {json.dumps(key)}")
        return lease

    @_handler
    def submit(self, request: Request) -> Response:
        agent = self._agent(request)
        body = _decode(request, "OutputRequest", "LeaseID", "Output")
        lease = self._lease(agent, body["LeaseID"])
        if not body["Output"]:
            raise _HTTPError(400, "Output is required")
        job = self._jobs[lease["JobID"]]
        if lease["Passed"]:
            raise _HTTPError(409, f"output of job {job['ID']} was already accepted")
        if body["Output"] != self._inputs[job["ID"]].upper():
            message = "Output is wrong: want the Input in upper case; lease kept"
            raise _HTTPError(422, message)
        lease["Passed"], job["Status"] = True, "passed"
        agent["Balance"] += job["Pay"]
        self.book.pay(job["ID"], job["Pay"])
        answer = {"Verdict": "pass", "Paid": job["Pay"], "Balance": agent["Balance"]}
        return Response(200, answer)

    @_handler
    def complete(self, request: Request) -> Response:
        agent = self._agent(request)
        lease_id = _decode(request, "CloseRequest", "LeaseID")["LeaseID"]
        lease = self._lease(agent, lease_id)
        job = self._jobs[lease["JobID"]]
        if job["Status"] == "closed":
            raise _HTTPError(409, f"job {job['ID']} is closed already")
        if not lease["Passed"]:
            raise _HTTPError(409, f"job {job['ID']} has no accepted output yet")
        job["Status"] = "closed"
        return Response(200, {"JobID": job["ID"], "Status": "closed"})
