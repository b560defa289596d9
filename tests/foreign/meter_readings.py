"""A Go connect-rpc service with protovalidate: an energy meter readings service.

Refusals are Connect errors; JSON is protojson, so camelCase, and unknown fields are dropped.
"""

import base64
import json
import re
import secrets
from dataclasses import dataclass
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_JOBS: list[tuple[str, str, str, str, int]] = [
    ("rj_7k2m9", "E10Z-55021", "ELECTRICITY", "Transcribe the day and night registers of meter E10Z-55021.", 9),
    ("rj_7k2p4", "E10Z-55108", "ELECTRICITY", "Summarise the half hourly export of meter E10Z-55108 for March.", 16),
    ("rj_7k3a1", "G4-880173", "GAS", "Transcribe the five dials of gas meter G4-880173, red dial left out.", 8),
    ("rj_7k3d8", "G4-880911", "GAS", "Explain the jump between the last two readings of gas meter G4-880911.", 20),
    ("rj_7k4c6", "H2-00417", "HEAT", "Write the tenant note for heat meter H2-00417 being replaced.", 12),
    ("rj_7k4f3", "H2-00422", "HEAT", "Transcribe flow and return temperature of heat meter H2-00422.", 7),
    ("rj_7k5b0", "W9-310", "WATER", "Check water meter W9-310 for a leak over night.", 11),
    ("rj_7k5g5", "W9-318", "WATER", "Transcribe the serial plate of water meter W9-318.", 6),
    ("rj_7k6e2", "E11C-7204", "ELECTRICITY", "Describe the fault code E-14 shown by meter E11C-7204.", 14),
    ("rj_7k6h7", "E11C-7290", "ELECTRICITY", "Reconcile the opening reading of meter E11C-7290 after the move on 3 May.", 18),
]  # fmt: skip

_STATUS = {
    "invalid_argument": 400,
    "failed_precondition": 400,
    "unauthenticated": 401,
    "permission_denied": 403,
    "not_found": 404,
    "already_exists": 409,
    "resource_exhausted": 429,
}
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_TYPES = {"bool": 8, "uint64": 4, "int32": 5, "string": 9, "message": 11}
_DECODER = json.JSONDecoder()
_MAX_LEASES = 3

_Path = tuple[tuple[int, str, str], ...]
_STRING: tuple[int, str, str] = (14, "string", "message")
_INT32: tuple[int, str, str] = (3, "int32", "message")


@dataclass(frozen=True)
class _Field:
    """One field of a message, with its protovalidate rules."""

    number: int
    name: str  # as in the .proto file
    required: bool = False
    min_len: int = 0
    uuid: bool = False
    one_of: tuple[str, ...] = ()
    message: "tuple[_Field, ...]" = ()

    @property
    def json_name(self) -> str:
        head, *rest = self.name.split("_")
        return head + "".join(word.capitalize() for word in rest)

    @property
    def kind(self) -> str:
        return "message" if self.message else "string"


@dataclass(frozen=True)
class _Violation:
    """One broken rule."""

    field: _Path
    rule: _Path
    rule_id: str
    message: str


_CLAIM = (
    _Field(1, "job_id", required=True),
    _Field(2, "request_id", uuid=True),
)
_SUBMIT = (
    _Field(1, "lease_id", required=True),
    _Field(
        2,
        "reading",
        required=True,
        message=(
            _Field(1, "transcript", min_len=1),
            _Field(2, "quality", one_of=("ACTUAL", "ESTIMATED")),
            _Field(3, "remark"),
        ),
    ),
)
_COMPLETE = (_Field(1, "submission_id", required=True),)


class _WireError(Exception):
    """What protojson says of a body that it cannot read."""


def _place(text: str, at: int) -> str:
    line = text.count("\n", 0, at) + 1
    return f"(line {line}:{at - text.rfind(chr(10), 0, at)})"


def _blank(text: str, at: int) -> int:
    while text[at] in " \t\r\n":
        at += 1
    return at


def _token(text: str, at: int) -> str:
    if text[at] in "{[":
        return text[at]
    return text[at : _DECODER.raw_decode(text, at)[1]]


def _decode(
    text: str, at: int, fields: tuple[_Field, ...]
) -> tuple[dict[str, Any], int]:
    if text[at] != "{":
        raise _WireError(
            f"syntax error {_place(text, at)}: unexpected token {_token(text, at)}"
        )
    message: dict[str, Any] = {}
    seen: set[str] = set()
    known = {name: field for field in fields for name in (field.name, field.json_name)}
    at = _blank(text, at + 1)
    while text[at] != "}":
        key_at = at
        name, at = _DECODER.raw_decode(text, at)
        at = _blank(text, _blank(text, at) + 1)
        value, end = _DECODER.raw_decode(text, at)
        field = known.get(name)
        if field is not None and value is not None:
            if field.name in seen:
                raise _WireError(
                    f"{_place(text, key_at)}: duplicate field {json.dumps(name)}"
                )
            seen.add(field.name)
            if field.message:
                message[field.name], _ = _decode(text, at, field.message)
            elif isinstance(value, str):
                message[field.name] = value
            else:
                raise _WireError(
                    f"{_place(text, at)}: invalid value for string field "
                    f"{field.json_name}: {_token(text, at)}"
                )
        at = _blank(text, end)
        if text[at] == ",":
            at = _blank(text, at + 1)
    return message, at + 1


def _unmarshal(raw: bytes, fields: tuple[_Field, ...]) -> dict[str, Any]:
    if not raw:
        raise _WireError("zero-length payload is not a valid JSON object")
    text = raw.decode(errors="replace")
    try:
        json.loads(raw.decode())
    except UnicodeDecodeError as error:
        raise _WireError("proto: syntax error (line 1:1): invalid UTF-8") from error
    except json.JSONDecodeError as error:
        rest = text[error.pos :].split()
        if not rest:
            raise _WireError("proto: unexpected EOF") from error
        raise _WireError(
            f"proto: syntax error {_place(text, error.pos)}: invalid value {rest[0]}"
        ) from error
    try:
        return _decode(text, _blank(text, 0), fields)[0]
    except _WireError as error:
        raise _WireError(f"proto: {error}") from error


def _check(
    message: dict[str, Any], fields: tuple[_Field, ...], above: _Path = ()
) -> list[_Violation]:
    found: list[_Violation] = []
    for field in fields:
        value = message.get(field.name)
        path = (*above, (field.number, field.name, field.kind))
        if field.required and not value and value != {}:
            rule: _Path = ((25, "required", "bool"),)
            found.append(_Violation(path, rule, "required", "value is required"))
            continue
        if field.message:
            if value is not None:
                found += _check(value, field.message, path)
            continue
        text: str = value or ""
        if len(text) < field.min_len:
            found.append(
                _Violation(
                    path,
                    (_STRING, (2, "min_len", "uint64")),
                    "string.min_len",
                    f"value length must be at least {field.min_len} characters",
                )
            )
        if field.uuid and not _UUID.fullmatch(text):
            rule_id, says = (
                ("string.uuid", "value must be a valid UUID")
                if text
                else ("string.uuid_empty", "value is empty, which is not a valid UUID")
            )
            found.append(
                _Violation(path, (_STRING, (22, "uuid", "bool")), rule_id, says)
            )
        if field.one_of and text not in field.one_of:
            listed = ", ".join(json.dumps(value) for value in field.one_of)
            found.append(
                _Violation(
                    path,
                    (_STRING, (10, "in", "string")),
                    "string.in",
                    f"value must be in list [{listed}]",
                )
            )
    return found


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _block(number: int, body: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(body)) + body


def _wire_path(path: _Path) -> bytes:
    return b"".join(
        _block(
            1,
            b"\x08"
            + _varint(number)
            + _block(2, name.encode())
            + b"\x18"
            + _varint(_TYPES[kind]),
        )
        for number, name, kind in path
    )


def _json_path(path: _Path) -> dict[str, Any]:
    return {
        "elements": [
            {
                "fieldNumber": number,
                "fieldName": name,
                "fieldType": f"TYPE_{kind.upper()}",
            }
            for number, name, kind in path
        ]
    }


def _error(code: str, message: str, **more: Any) -> Response:
    return Response(_STATUS[code], {"code": code, "message": message, **more})


def _invalid(violations: list[_Violation]) -> Response:
    lines = [
        f"\n - {'.'.join(name for _, name, _ in v.field)}: {v.message} [{v.rule_id}]"
        for v in violations
    ]
    wire = b"".join(
        _block(
            1,
            _block(2, v.rule_id.encode())
            + _block(3, v.message.encode())
            + _block(5, _wire_path(v.field))
            + _block(6, _wire_path(v.rule)),
        )
        for v in violations
    )
    debug = [
        {
            "field": _json_path(v.field),
            "rule": _json_path(v.rule),
            "ruleId": v.rule_id,
            "message": v.message,
        }
        for v in violations
    ]
    return _error(
        "invalid_argument",
        "validation error:" + "".join(lines),
        details=[
            {
                "type": "buf.validate.Violations",
                "value": base64.b64encode(wire).decode().rstrip("="),
                "debug": {"violations": debug},
            }
        ],
    )


class MeterReadings(Backend):
    """A utility's service that pays readers for meter reading jobs."""

    def __init__(self) -> None:
        super().__init__()
        self._readers: dict[str, dict[str, Any]] = {}
        self._leases: dict[str, dict[str, Any]] = {}
        self._requests: dict[tuple[str, str], str] = {}
        self._submissions: dict[str, dict[str, Any]] = {}
        self._rewards = {job: reward for job, _, _, _, reward in _JOBS}
        self._jobs: dict[str, dict[str, Any]] = {
            job: {
                "jobId": job,
                "meterPoint": {"serialNumber": serial, "utility": f"UTILITY_{utility}"},
                "instructions": text,
                "rewardCredits": str(reward),
                "state": "READING_JOB_STATE_OPEN",
                "createTime": f"2025-05-{number:02d}T06:30:00Z",
            }
            for number, (job, serial, utility, text, reward) in enumerate(_JOBS, 1)
        }

    def texts(self) -> dict[str, str]:
        return {key: job["instructions"] for key, job in self._jobs.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, "404 page not found\n")

    def register(self, request: Request) -> Response:
        _, _, refusal = self._enter(request, (), private=False)
        if refusal:
            return refusal
        self.book.registrations += 1
        token = "mrs_" + secrets.token_urlsafe(24)
        reader = f"rdr_{secrets.token_hex(6)}"
        self._readers[token] = {"id": reader, "balance": 100}
        return Response(
            200, {"agent_id": reader, "access_token": token, "credits": 100}
        )

    def tasks(self, request: Request) -> Response:
        if request.token not in self._readers:
            return _error("unauthenticated", "missing or invalid bearer token")
        return self.marketplace(request)

    def marketplace(self, request: Request) -> Response:
        limit = request.query.get("limit", "50")
        if not re.fullmatch(r"-?\d{1,9}", limit):
            return _error(
                "invalid_argument",
                f'invalid parameter "limit": invalid value for int32: {json.dumps(limit)}',
            )
        if not 1 <= int(limit) <= 100:
            says = (
                "value must be greater than or equal to 1 and less than or equal to 100"
            )
            return _invalid(
                [
                    _Violation(
                        ((1, "limit", "int32"),),
                        (_INT32, (5, "gte", "int32")),
                        "int32.gte_lte",
                        says,
                    )
                ]
            )
        waiting = [job for job in self._jobs.values() if job["state"].endswith("_OPEN")]
        shown = waiting[: int(limit)]
        # protojson leaves out what is empty.
        return Response(
            200,
            {"readingJobs": shown, "totalSize": len(waiting)} if waiting else {},
        )

    def _enter(
        self, request: Request, fields: tuple[_Field, ...], *, private: bool = True
    ) -> tuple[dict[str, Any], dict[str, Any], Response | None]:
        media_type = (request.headers.get("Content-Type") or "").partition(";")[0]
        if media_type.strip().lower() != "application/json":
            return {}, {}, Response(415, b"", {"Accept-Post": "application/json"})
        reader = self._readers.get(request.token, {})
        if private and not reader:
            no = _error("unauthenticated", "missing or invalid bearer token")
            return {}, {}, no
        try:
            message = _unmarshal(request.raw, fields)
        except _WireError as error:
            no = _error("invalid_argument", f"unmarshal message: {error}")
            return reader, {}, no
        violations = _check(message, fields)
        return reader, message, _invalid(violations) if violations else None

    def claim(self, request: Request) -> Response:
        reader, message, refusal = self._enter(request, _CLAIM)
        if refusal:
            return refusal
        job = self._jobs.get(message["job_id"])
        if job is None:
            return _error(
                "not_found", f"reading job {json.dumps(message['job_id'])} not found"
            )
        once = (reader["id"], message["request_id"].lower())
        if once in self._requests:
            lease = self._leases[self._requests[once]]
            if lease["jobId"] == job["jobId"]:
                return Response(200, {"lease": lease})
            return _error(
                "already_exists", "request_id was already used for another reading job"
            )
        if not job["state"].endswith("_OPEN"):
            return _error(
                "failed_precondition", f"reading job {job['jobId']} is not open"
            )
        active = [
            lease
            for lease in self._leases.values()
            if lease["readerId"] == reader["id"] and lease["state"].endswith("_ACTIVE")
        ]
        if len(active) >= _MAX_LEASES:
            return _error(
                "resource_exhausted",
                f"reader already holds {_MAX_LEASES} active leases",
            )
        job["state"] = "READING_JOB_STATE_LEASED"
        lease = {
            "leaseId": f"ls_{secrets.token_hex(6)}",
            "jobId": job["jobId"],
            "readerId": reader["id"],
            "state": "LEASE_STATE_ACTIVE",
        }
        self._leases[lease["leaseId"]] = lease
        self._requests[once] = lease["leaseId"]
        self.book.claimed(job["jobId"])
        return Response(200, {"lease": lease})

    def submit(self, request: Request) -> Response:
        reader, message, refusal = self._enter(request, _SUBMIT)
        if refusal:
            return refusal
        lease = self._leases.get(message["lease_id"])
        if lease is None or lease["readerId"] != reader["id"]:
            return _error(
                "not_found", f"lease {json.dumps(message['lease_id'])} not found"
            )
        if not lease["state"].endswith("_ACTIVE"):
            return _error(
                "failed_precondition", f"lease {lease['leaseId']} is not active"
            )
        submission = {
            "submissionId": f"sub_{secrets.token_hex(6)}",
            "leaseId": lease["leaseId"],
            "reading": message["reading"],
            "state": "SUBMISSION_STATE_RECEIVED",
        }
        self._submissions[submission["submissionId"]] = submission
        return Response(200, {"submission": submission})

    def complete(self, request: Request) -> Response:
        reader, message, refusal = self._enter(request, _COMPLETE)
        if refusal:
            return refusal
        key = message["submission_id"]
        submission = self._submissions.get(key)
        lease = self._leases[submission["leaseId"]] if submission else {}
        if submission is None or lease["readerId"] != reader["id"]:
            return _error("not_found", f"submission {json.dumps(key)} not found")
        if not lease["state"].endswith("_ACTIVE"):
            return _error(
                "failed_precondition", f"lease {lease['leaseId']} is not active"
            )
        job = self._jobs[lease["jobId"]]
        if submission["reading"]["transcript"] != job["instructions"].upper():
            submission["state"] = "SUBMISSION_STATE_REJECTED"
            return _error(
                "failed_precondition",
                f"submission {key} was rejected by plausibility check, "
                f"lease {lease['leaseId']} stays active",
            )
        submission["state"] = "SUBMISSION_STATE_SETTLED"
        lease["state"] = "LEASE_STATE_CLOSED"
        job["state"] = "READING_JOB_STATE_DONE"
        reward = self._rewards[job["jobId"]]
        reader["balance"] += reward
        self.book.pay(job["jobId"], reward)
        return Response(
            200,
            {
                "submission": submission,
                "creditedAmount": str(reward),
                "balance": str(reader["balance"]),
            },
        )
