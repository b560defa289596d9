"""Haulyard: a plain Go net/http service; structs without tags, http.Error for refusals."""

# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import re
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LOADS = [
    ("Bay marking", "dock seven, gate b", 300),
    ("Pallet tag", "ceramic tiles 40x40", 120),
    ("Truck plate", "kn-hy 204", 75),
    ("Route card", "via the old quarry road", 210),
    ("Yard notice", "no parking between 6 and 8", 160),
    ("Seal text", "inspected and closed", 90),
    ("Lift label", "max load 2.5 tonnes", 250),
]
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001, "us": 1e-6, "ns": 1e-9}


class _HTTPError(Exception):
    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.response = Response(
            status, text + "\n", {"X-Content-Type-Options": "nosniff"}
        )


def _handler(method: Callable[..., Any]) -> Callable[..., Response]:
    def answer(self: Any, request: Request) -> Response:
        try:
            result = method(self, request)
        except _HTTPError as error:
            return error.response
        return result if isinstance(result, Response) else Response(200, result)

    return answer


def _ulid() -> str:
    return "01J" + "".join(secrets.choice(_CROCKFORD) for _ in range(23))


def _rfc3339(seconds: float = 0) -> str:
    moment = datetime.now(UTC) + timedelta(seconds=seconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _go_type(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    return {str: "string", list: "array"}.get(type(value), "object")


def _decode(request: Request, struct: str, *names: str) -> dict[str, str]:
    """Decode a struct of strings as json.Decoder does with DisallowUnknownFields."""
    if not request.raw.strip():
        raise _HTTPError(400, "EOF")
    try:
        body = request.json()
    except ValueError:
        first = request.raw.decode(errors="replace").strip()[0]
        raise _HTTPError(
            400,
            "unexpected EOF"
            if first == "{"
            else f"invalid character '{first}' looking for beginning of value",
        ) from None
    if not isinstance(body, dict):
        raise _HTTPError(
            400,
            f"json: cannot unmarshal {_go_type(body)} into Go value of type main.{struct}",
        )
    fields = {name.lower(): name for name in names}
    values = dict.fromkeys(names, "")
    for key, value in body.items():
        name = fields.get(key.lower())
        if name is None:
            raise _HTTPError(400, f"json: unknown field {json.dumps(key)}")
        if value is None:
            continue
        if not isinstance(value, str):
            raise _HTTPError(
                400,
                f"json: cannot unmarshal {_go_type(value)} into Go struct field"
                f" {struct}.{name} of type string",
            )
        values[name] = value
    for name in names:
        if not values[name]:
            raise _HTTPError(400, f"{name} is required")
    return values


def _duration(text: str) -> float:
    """Return the seconds of a duration as time.ParseDuration reads it."""
    if text == "0":
        return 0.0
    if re.fullmatch(r"[-+]?\d+(\.\d*)?", text):
        raise _HTTPError(400, f'time: missing unit in duration "{text}"')
    if not re.fullmatch(r"[-+]?(\d+(\.\d*)?(h|ms|m|s|us|ns))+", text):
        raise _HTTPError(
            400, f'time: invalid duration {json.dumps(text)} (example: "15m")'
        )
    parts = re.findall(r"(\d+(?:\.\d*)?)(h|ms|m|s|us|ns)", text)
    total = sum(float(count) * _UNITS[unit] for count, unit in parts)
    return -total if text.startswith("-") else total


class Haulyard(Backend):
    """One lease at a time; submission is checked, completion pays."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._leases: dict[str, dict[str, Any]] = {}
        self._seen: dict[tuple[str, str], tuple[str, bytes, Any]] = {}
        self._jobs: dict[str, dict[str, Any]] = {}
        for title, text, pay in _LOADS:
            key = _ulid()
            self._jobs[key] = {
                "ID": key,
                "Title": title,
                "Spec": "uppercase Input, keep everything else",
                "Input": text,
                "Pay": pay,
                "State": "queued",
                "Posted": _rfc3339(-3600),
            }

    def texts(self) -> dict[str, str]:
        return {key: job["Input"] for key, job in self._jobs.items()}

    def _agent(self, request: Request) -> dict[str, Any]:
        if request.token not in self._agents:
            raise _HTTPError(401, "unauthorized")
        return self._agents[request.token]

    def _once(self, request: Request, act: Callable[[], Any]) -> Any:
        """Run an action, or repeat the answer that its Idempotency-Key already had."""
        self._agent(request)
        key = request.headers.get("Idempotency-Key") or ""
        if not key:
            raise _HTTPError(400, "missing Idempotency-Key header")
        seen = self._seen.get((request.token, key))
        if seen is not None:
            if seen[:2] != (request.path, request.raw):
                raise _HTTPError(
                    422, "Idempotency-Key was already used for a different request"
                )
            return Response(200, seen[2], {"Idempotent-Replayed": "true"})
        answer = act()
        self._seen[request.token, key] = (request.path, request.raw, answer)
        return answer

    @_handler
    def register(self, request: Request) -> Any:
        self.book.registrations += 1
        token, key = secrets.token_hex(24), _ulid()
        self._agents[token] = {"ID": key, "Balance": 100, "Lease": ""}
        return {"agent_id": key, "access_token": token, "credits": 100}

    @_handler
    def tasks(self, request: Request) -> Any:
        text, after = request.query.get("limit", "4"), request.query.get("after", "")
        if not re.fullmatch(r"[-+]?\d+", text):
            raise _HTTPError(
                400, f"limit: strconv.Atoi: parsing {json.dumps(text)}: invalid syntax"
            )
        limit = int(text)
        if not 1 <= limit <= 50:
            raise _HTTPError(400, "limit: must be in 1..50")
        keys = list(self._jobs)
        if after and after not in self._jobs:
            raise _HTTPError(400, "after: no such job")
        start = keys.index(after) + 1 if after else 0
        page = keys[start : start + limit]
        headers = {}
        if start + limit < len(keys):
            headers["Link"] = (
                f'<{request.path}?limit={limit}&after={page[-1]}>; rel="next"'
            )
        return Response(200, [self._jobs[key] for key in page], headers)

    marketplace = tasks

    @_handler
    def claim(self, request: Request) -> Any:
        def act() -> Any:
            agent = self._agent(request)
            body = _decode(request, "claimRequest", "JobID", "Hold")
            hold = _duration(body["Hold"])
            if not 60 <= hold <= 7200:
                raise _HTTPError(400, "Hold must be between 1m0s and 2h0m0s")
            job = self._jobs.get(body["JobID"])
            if job is None:
                raise _HTTPError(404, f"job {body['JobID']}: not found")
            if job["State"] != "queued":
                raise _HTTPError(409, f"job {job['ID']}: already {job['State']}")
            if agent["Lease"]:
                raise _HTTPError(
                    409,
                    f"agent holds lease {agent['Lease']}: complete it before the next claim",
                )
            key = secrets.token_hex(8)
            job["State"], agent["Lease"] = "leased", key
            self._leases[key] = {"Job": job, "Token": request.token, "Receipt": ""}
            self.book.claimed(job["ID"])
            return {"Lease": key, "JobID": job["ID"], "Until": _rfc3339(hold)}

        return self._once(request, act)

    def _lease(self, request: Request, key: str) -> dict[str, Any]:
        lease = self._leases.get(key)
        if lease is None or lease["Token"] != request.token:
            raise _HTTPError(404, f"lease {key}: not found")
        if lease["Job"]["State"] == "done":
            raise _HTTPError(409, f"lease {key}: job is done")
        return lease

    @_handler
    def submit(self, request: Request) -> Any:
        def act() -> Any:
            body = _decode(request, "submitRequest", "Lease", "Output")
            lease = self._lease(request, body["Lease"])
            if lease["Receipt"]:
                raise _HTTPError(409, f"lease {body['Lease']}: output already accepted")
            if body["Output"] != lease["Job"]["Input"].upper():
                raise _HTTPError(422, "Output does not meet the job's Spec")
            lease["Receipt"] = "rcpt-" + secrets.token_hex(6)
            return {"Accepted": True, "Receipt": lease["Receipt"]}

        return self._once(request, act)

    @_handler
    def complete(self, request: Request) -> Any:
        def act() -> Any:
            agent = self._agent(request)
            body = _decode(request, "completeRequest", "Lease", "Receipt")
            lease = self._lease(request, body["Lease"])
            if not lease["Receipt"]:
                raise _HTTPError(409, f"lease {body['Lease']}: no output submitted yet")
            if body["Receipt"] != lease["Receipt"]:
                raise _HTTPError(
                    400, "Receipt is not the one given for this lease's output"
                )
            job = lease["Job"]
            job["State"], agent["Lease"] = "done", ""
            agent["Balance"] += job["Pay"]
            self.book.pay(job["ID"], job["Pay"])
            return {
                "JobID": job["ID"],
                "State": "done",
                "Paid": job["Pay"],
                "Balance": agent["Balance"],
            }

        return self._once(request, act)
