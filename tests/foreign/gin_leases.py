"""A work queue in Go: gin, go-playground/validator, unknown fields disallowed.

A body fails first in encoding/json, one fault at a time in the order of the document and
without regard to the case of names; then in the validator, all faults at once, told with
the names of the Go fields. Identifiers are int64 with the option `,string`. A right
result is paid at once when it is submitted; completing only frees the lease's slot.
"""

import base64
import binascii
import json
import re
import secrets
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response


@dataclass(frozen=True)
class _Field:
    """One field of a Go struct with its tags."""

    go: str
    json: str
    kind: str  # "string", "int", "int64,string" or the name of a struct
    rules: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Struct:
    name: str
    fields: tuple[_Field, ...]
    inner: dict[str, "_Struct"] = field(default_factory=dict)


_CLAIM = _Struct(
    "ClaimRequest",
    (
        _Field("TaskID", "task_id", "int64,string", ("required",)),
        _Field("Worker", "worker", "WorkerRef"),
        _Field(
            "LeaseSeconds", "lease_seconds", "int", ("required", "min=30", "max=900")
        ),
    ),
    {
        "WorkerRef": _Struct(
            "WorkerRef",
            (
                _Field("AgentID", "agent_id", "string", ("required", "uuid4")),
                _Field("Version", "version", "string", ("omitempty", "max=32")),
            ),
        )
    },
)
_SUBMIT = _Struct(
    "SubmitRequest",
    (
        _Field("LeaseID", "lease_id", "int64,string", ("required",)),
        _Field("Attempt", "attempt", "int", ("required", "min=1")),
        _Field("Output", "output", "Output"),
    ),
    {
        "Output": _Struct(
            "Output",
            (
                _Field(
                    "Encoding", "encoding", "string", ("required", "oneof=plain base64")
                ),
                _Field("Value", "value", "string", ("required", "max=65536")),
            ),
        )
    },
)
_COMPLETE = _Struct(
    "CompleteRequest",
    (
        _Field("LeaseID", "lease_id", "int64,string", ("required",)),
        _Field("Receipt", "receipt", "string", ("required", "len=24", "hexadecimal")),
    ),
)

_UUID4 = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
_FIRST = 418207715533946880
_SLOTS = 2  # open leases of one worker
_QUEUE = [
    (0, "Frost is expected in the valleys tonight", 10, "ready"),
    (4096, "our new opening hours are on the door", 10, "ready"),
    (4097, "Apples (sweet), pears (ripe), plums (gone)", 13, "ready"),
    (12290, "Delivery was left with the neighbour", 9, "leased"),
    (12291, 'the sign reads "no entry" in five languages', 15, "ready"),
    (20480, "Årets første snø falt i går kveld", 17, "ready"),
    (20485, "Bring: tent, rope, stove & matches", 10, "ready"),
    (28672, "one\ttwo\tthree\nfour\tfive\tsix", 12, "ready"),
    (36865, "This row was migrated from the old queue", 5, "dead"),
    (36866, "Thirteen clocks, and none of them right", 11, "ready"),
]


class _BadError(Exception):
    """What Go's `err.Error()` says."""


def _json_kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    for kind, name in (
        (str, "string"),
        (int, "number"),
        (float, "number"),
        (list, "array"),
    ):
        if isinstance(value, kind):
            return name
    return "object"


def _parsed(raw: bytes) -> Any:
    """Parse the first JSON value of a body and complain as encoding/json does."""
    text = raw.decode(errors="replace").lstrip(" \t\r\n")
    if not text:
        raise _BadError("EOF")
    try:
        return json.JSONDecoder().raw_decode(text)[0]
    except json.JSONDecodeError as fault:
        if fault.pos >= len(text) or "Unterminated" in fault.msg:
            raise _BadError("unexpected EOF") from None
        where = "looking for beginning of value"
        if "property name" in fault.msg:
            where = "looking for beginning of object key string"
        elif "':'" in fault.msg:
            where = "after object key"
        elif "','" in fault.msg:
            where = "after object key:value pair"
        letter = text[fault.pos]
        shown = "'\\''" if letter == "'" else f"'{letter}'"
        raise _BadError(f"invalid character {shown} {where}") from None


def _quoted_int(value: Any) -> int:
    """Decode an int64 with the option `,string`."""
    start = "json: invalid use of ,string struct tag, trying to unmarshal"
    if not isinstance(value, str):
        raise _BadError(f"{start} unquoted value into int64")
    if not re.fullmatch(r"-?(0|[1-9][0-9]*)", value):
        raise _BadError(f"{start} {json.dumps(value, ensure_ascii=False)} into int64")
    if not -(2**63) <= int(value) < 2**63:
        raise _BadError(
            f"json: cannot unmarshal number {value} into Go value of type int64"
        )
    return int(value)


def _decoded(struct: _Struct, value: Any, root: str, path: str = "") -> dict[str, Any]:
    """Decode an object into a struct, by Go names; missing ones have their zero value."""
    read: dict[str, Any] = {}
    for each in struct.fields:
        if each.kind in struct.inner:
            read[each.go] = _decoded(struct.inner[each.kind], {}, root)
        else:
            read[each.go] = "" if each.kind == "string" else 0
    by_name = {each.json: each for each in struct.fields}
    folded = {each.json.lower(): each for each in struct.fields}
    for name, item in value.items():
        target = by_name.get(name) or folded.get(name.lower())
        if target is None:
            raise _BadError(
                f"json: unknown field {json.dumps(name, ensure_ascii=False)}"
            )
        if item is None:
            continue
        here = f"{path}{target.json}"
        kind, wanted = _json_kind(item), target.kind
        if wanted == "int64,string":
            read[target.go] = _quoted_int(item)
            continue
        fits = {"string": "string", "int": "number"}.get(wanted, "object")
        if kind == fits and not (wanted == "int" and isinstance(item, float)):
            read[target.go] = (
                _decoded(struct.inner[wanted], item, root, here + ".")
                if wanted in struct.inner
                else item
            )
            continue
        if kind == "number" and wanted == "int":
            kind = f"number {json.dumps(item)}"
        shown = f"api.{wanted}" if wanted in struct.inner else wanted
        raise _BadError(
            f"json: cannot unmarshal {kind} into Go struct field {root}.{here} of type {shown}"
        )
    return read


def _fails(rule: str, value: Any) -> bool:
    """Return whether a value fails a rule of the validator."""
    name, _, argument = rule.partition("=")
    size = len(value) if isinstance(value, str) else value
    rules: dict[str, Any] = {
        "required": lambda: not value,
        "min": lambda: size < int(argument),
        "max": lambda: size > int(argument),
        "len": lambda: size != int(argument),
        "oneof": lambda: value not in argument.split(),
        "uuid4": lambda: not re.fullmatch(_UUID4, value),
        "hexadecimal": lambda: not re.fullmatch("(0[xX])?[0-9a-fA-F]+", value),
    }
    return bool(rules[name]())


def _faults(struct: _Struct, read: dict[str, Any], path: str) -> list[str]:
    """Return every field's first fault as `validator.ValidationErrors` words it."""
    faults = []
    for each in struct.fields:
        value = read[each.go]
        if each.kind in struct.inner:
            faults += _faults(struct.inner[each.kind], value, f"{path}.{each.go}")
            continue
        for rule in each.rules:
            if rule == "omitempty":
                if not value:
                    break
            elif _fails(rule, value):
                faults.append(
                    f"Key: '{path}.{each.go}' Error:Field validation for '{each.go}' "
                    f"failed on the '{rule.partition('=')[0]}' tag"
                )
                break
    return faults


class LeaseQueue(Backend):
    """The queue: a lease, attempts, a receipt."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        self._credits: dict[str, int] = {}
        self._leases: dict[int, dict[str, Any]] = {}
        start = datetime(2026, 3, 4, 6, 45, 2, 318204, tzinfo=UTC)
        self._queue: dict[int, dict[str, Any]] = {}
        for index, (step, text, bounty, state) in enumerate(_QUEUE):
            self._queue[_FIRST + step] = {
                "id": str(_FIRST + step),
                "topic": "text.upper",
                "instruction": "Answer with input.body in upper case, every other "
                "character unchanged.",
                "input": {"body": text, "encoding": "plain"},
                "output": {"encodings": ["plain", "base64"], "max_bytes": 65536},
                "lease": {"min_seconds": 30, "max_seconds": 900},
                "bounty": bounty,
                "max_attempts": 5,
                "labels": None,
                "state": state,
                "enqueued_at": self._date(start + timedelta(seconds=index * 4219.71)),
                "settled_at": "0001-01-01T00:00:00Z",
            }

    @staticmethod
    def _date(moment: datetime) -> str:
        """Return RFC 3339 with nanoseconds, trailing zeros off."""
        return f"{moment:%Y-%m-%dT%H:%M:%S.%f}417Z"

    @staticmethod
    def _json(body: Any, status: int = 200) -> Response:
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
        for letter in "<>&\u2028\u2029":  # encoding/json escapes these
            text = text.replace(letter, f"\\u{ord(letter):04x}")
        return Response(
            status, text, {"Content-Type": "application/json; charset=utf-8"}
        )

    def _error(self, status: int, message: str, **more: Any) -> Response:
        # A gin.H is a map, and Go writes a map's keys in order.
        return self._json(dict(sorted(({"error": message} | more).items())), status)

    def missing(self, request: Request) -> Response:
        """Answer as gin does, for a wrong method too."""
        return Response(404, "404 page not found", {"Content-Type": "text/plain"})

    def texts(self) -> dict[str, str]:
        """Return the texts of the tasks that are ready from the start."""
        return {
            str(_FIRST + n): text for n, text, _, state in _QUEUE if state == "ready"
        }

    def _bound(self, request: Request, struct: _Struct) -> tuple[Any, Response | None]:
        """Authenticate, then ShouldBindJSON."""
        if not request.token:
            return None, self._error(401, "missing bearer token")
        if request.token not in self._agents:
            return None, self._error(401, "invalid token")
        try:
            value = _parsed(request.raw)
            if value is not None and not isinstance(value, dict):
                raise _BadError(
                    f"json: cannot unmarshal {_json_kind(value)} into Go value of type "
                    f"api.{struct.name}"
                )
            read = _decoded(struct, value or {}, struct.name)
        except _BadError as fault:
            return None, self._error(400, str(fault))
        if faults := _faults(struct, read, struct.name):
            return None, self._error(400, "\n".join(faults))
        return read, None

    def register(self, request: Request) -> Response:
        """Create an agent."""
        self.book.registrations += 1
        agent, token = str(uuid.uuid4()), secrets.token_hex(24)
        self._agents[token] = agent
        self._credits[agent] = 100
        return self._json({"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        """List what is not settled; the limit is bound with `omitempty,min=1,max=100`."""
        given = request.query.get("limit") or "0"
        if not re.fullmatch(r"[+-]?\d+", given):
            return self._error(
                400, f'strconv.ParseInt: parsing "{given}": invalid syntax'
            )
        limit = int(given)
        if limit and not 1 <= limit <= 100:
            tag = "min" if limit < 1 else "max"
            return self._error(
                400,
                "Key: 'ListQuery.Limit' Error:Field validation for 'Limit' failed on the "
                f"'{tag}' tag",
            )
        shown = [t for t in self._queue.values() if t["state"] != "settled"]
        limit = limit or 50
        return self._json({"data": shown[:limit] or None, "total": len(shown)})

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        """Lease a ready task to a worker that has a slot free."""
        read, refusal = self._bound(request, _CLAIM)
        if refusal:
            return refusal
        agent = self._agents[request.token]
        if read["Worker"]["AgentID"] != agent:
            return self._error(403, "worker.agent_id does not match token")
        task = self._queue.get(read["TaskID"])
        if task is None:
            return self._error(404, f"task {read['TaskID']} not found")
        if task["state"] != "ready":
            return self._error(409, f"task {task['id']} is not ready: {task['state']}")
        taken = [
            lease
            for lease in self._leases.values()
            if lease["agent"] == agent and lease["state"] in ("active", "settled")
        ]
        if len(taken) >= _SLOTS:
            return self._error(
                429, f"worker holds {len(taken)} of {_SLOTS} leases, complete one first"
            )
        task["state"] = "leased"
        number = _FIRST + 7_340_032 + 4096 * len(self._leases)
        expires = datetime.now(UTC) + timedelta(seconds=read["LeaseSeconds"])
        self._leases[number] = {
            "agent": agent,
            "task": read["TaskID"],
            "attempt": 1,
            "state": "active",
            "receipt": "",
        }
        self.book.claimed(task["id"])
        return self._json(
            {
                "data": {
                    "lease_id": str(number),
                    "task_id": task["id"],
                    "attempt": 1,
                    "expires_at": self._date(expires),
                }
            }
        )

    def _lease(self, request: Request, read: Any) -> tuple[Any, Response | None]:
        lease = self._leases.get(read["LeaseID"])
        if lease is None or lease["agent"] != self._agents[request.token]:
            return None, self._error(404, f"lease {read['LeaseID']} not found")
        if lease["state"] in ("closed", "failed"):
            return None, self._error(
                410, f"lease {read['LeaseID']} is {lease['state']}"
            )
        return lease, None

    def submit(self, request: Request) -> Response:
        """Judge an attempt and pay it at once; a wrong one raises the attempt."""
        read, refusal = self._bound(request, _SUBMIT)
        if refusal:
            return refusal
        lease, refusal = self._lease(request, read)
        if refusal:
            return refusal
        if lease["state"] == "settled":
            return self._error(
                409, "lease is already settled", receipt=lease["receipt"]
            )
        if read["Attempt"] != lease["attempt"]:
            return self._error(
                409, f"attempt mismatch: got {read['Attempt']}, want {lease['attempt']}"
            )
        task, value = self._queue[lease["task"]], read["Output"]["Value"]
        if read["Output"]["Encoding"] == "base64":
            try:
                value = base64.b64decode(value, validate=True).decode()
            except (binascii.Error, UnicodeDecodeError):
                return self._error(400, "output.value: illegal base64 data")
        if value != task["input"]["body"].upper():
            lease["attempt"] += 1
            if lease["attempt"] > task["max_attempts"]:
                lease["state"], task["state"] = "failed", "dead"
                return self._error(422, "output rejected: no attempts left")
            return self._error(
                422,
                "output rejected: value is not the expected text",
                next_attempt=lease["attempt"],
                attempts_left=task["max_attempts"] - lease["attempt"] + 1,
            )
        lease["state"], task["state"] = "settled", "settled"
        task["settled_at"] = self._date(datetime.now(UTC))
        lease["receipt"] = secrets.token_hex(12)
        self._credits[lease["agent"]] += task["bounty"]
        self.book.pay(task["id"], task["bounty"])
        return self._json(
            {
                "data": {
                    "lease_id": str(read["LeaseID"]),
                    "state": "settled",
                    "receipt": lease["receipt"],
                    "bounty": task["bounty"],
                    "balance": self._credits[lease["agent"]],
                }
            }
        )

    def complete(self, request: Request) -> Response:
        """Close a settled lease, which frees its slot."""
        read, refusal = self._bound(request, _COMPLETE)
        if refusal:
            return refusal
        lease, refusal = self._lease(request, read)
        if refusal:
            return refusal
        if lease["state"] != "settled":
            return self._error(409, f"lease is not settled: {lease['state']}")
        if lease["receipt"] != read["Receipt"]:
            return self._error(403, "receipt does not belong to this lease")
        lease["state"] = "closed"
        return self._json(
            {
                "data": {
                    "lease_id": str(read["LeaseID"]),
                    "task_id": str(lease["task"]),
                    "state": "closed",
                    "balance": self._credits[lease["agent"]],
                }
            }
        )
