"""A start-up's service in Rust: axum 0.8, serde, and the validator crate behind `Json`."""
# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import re
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from .backend import Backend, Request, Response  # noqa: TID252

JOBS = [
    ("morning tide at pier nine", 12),
    ("send the blue crates first", 30),
    ("quarterly notes, second draft", 18),
    ("green light for the night shift", 45),
    ("spare keys are with marta", 9),
    ("new hinges for the west gate", 26),
]
Fields = list[tuple[str, Any]]
CLAIM: Fields = [("job_id", "uuid"), ("lease_secs", "u32")]
SUBMIT: Fields = [("lease_id", "uuid"), ("output", ("Output", [("text", "string")]))]
COMPLETE: Fields = [("submission_id", "uuid"), ("outcome", ["succeeded", "failed"])]


class _Refusal(Exception):  # noqa: N818
    def __init__(self, status: int, body: Any) -> None:
        super().__init__(status)
        self.response = Response(status, body)


def _app(status: int, message: str) -> _Refusal:
    return _Refusal(status, {"error": message})


def _unexpected(value: Any) -> str:
    if value is None:
        return "null"
    for type_, name in ((bool, "boolean"), (int, "integer"), (float, "floating point")):
        if isinstance(value, type_):
            return f"{name} `{str(value).lower()}`"
    if isinstance(value, str):
        return f"string {json.dumps(value, ensure_ascii=False)}"
    return "sequence" if isinstance(value, list) else "map"


def _handler(method: Any) -> Any:
    def answer(self: Any, request: Request) -> Response:
        try:
            return Response(200, method(self, request))
        except _Refusal as refusal:
            return refusal.response

    return answer


class _Json:
    """axum's `Json<T>` extractor."""

    def __init__(self, request: Request) -> None:
        media = (request.headers.get("Content-Type") or "").partition(";")[0].strip()
        if media.lower() != "application/json":
            raise _Refusal(
                415, "Expected request with `Content-Type: application/json`"
            )
        self.text = request.raw.decode(errors="replace")
        if not self.text.strip():
            self.syntax("EOF while parsing a value", len(self.text))
        try:
            self.value = json.loads(self.text)
        except json.JSONDecodeError as error:
            if error.pos >= len(self.text):
                self.syntax("EOF while parsing an object", len(self.text))
            known = {
                "Expecting ',' delimiter": "expected `,` or `}`",
                "Extra data": "trailing characters",
            }
            self.syntax(known.get(error.msg, "expected value"), error.pos + 1)

    def _refuse(
        self, status: int, start: str, path: str, why: str, offset: int
    ) -> None:
        lines = self.text[:offset].split("\n")
        at = f"at line {len(lines)} column {len(lines[-1].encode())}"
        raise _Refusal(status, f"Failed to {start}: {path and path + ': '}{why} {at}")

    def syntax(self, why: str, offset: int, path: str = "") -> None:
        self._refuse(400, "parse the request body as JSON", path, why, offset)

    def data(self, path: str, why: str, offset: int) -> None:
        self._refuse(
            422, "deserialize the JSON body into the target type", path, why, offset
        )

    def into(self, name: str, fields: Fields) -> dict[str, Any]:
        return self._struct("", name, fields, self.value, 0)

    def _struct(
        self, path: str, name: str, fields: Fields, value: Any, start: int
    ) -> Any:
        start += len(self.text[start:]) - len(self.text[start:].lstrip())
        end = json.JSONDecoder().raw_decode(self.text, start)[1]
        if not isinstance(value, dict):
            self.data(
                path, f"invalid type: {_unexpected(value)}, expected struct {name}", end
            )
        kinds = dict(fields)
        for key in [key for key in value if key in kinds]:
            found = re.compile(rf'"{key}"\s*:\s*').search(self.text, start)
            inner = f"{path}.{key}" if path else key
            self._field(inner, kinds[key], value[key], found.end() if found else start)
        for key in [key for key in kinds if key not in value]:
            self.data(path, f"missing field `{key}`", end)
        return value

    def _field(self, path: str, kind: Any, value: Any, start: int) -> None:
        end = json.JSONDecoder().raw_decode(self.text, start)[1]
        end = start if isinstance(value, (dict, list)) else end
        if isinstance(kind, tuple):
            self._struct(path, kind[0], kind[1], value, start)
        elif isinstance(kind, list):
            if not isinstance(value, str):
                self.syntax("expected value", start + 1, path)
            if value not in kind:
                names = " or ".join(f"`{name}`" for name in kind)
                self.data(path, f"unknown variant `{value}`, expected {names}", end)
        elif kind == "u32":
            what = "value" if type(value) is int else "type"
            if what == "type" or not 0 <= value < 2**32:
                self.data(
                    path, f"invalid {what}: {_unexpected(value)}, expected u32", end
                )
        elif not isinstance(value, str):
            what = "a UUID string" if kind == "uuid" else "a string"
            self.data(path, f"invalid type: {_unexpected(value)}, expected {what}", end)
        elif kind == "uuid":
            self._uuid(path, value, end)

    def _uuid(self, path: str, value: str, end: int) -> None:
        bad = re.search(r"[^0-9a-fA-F-]", value)
        sizes = [len(part) for part in value.split("-")]
        if not bad and sizes in ([32], [8, 4, 4, 4, 12]):
            return
        if bad:
            why = (
                "invalid character: expected an optional prefix of `urn:uuid:` followed by "
                f"[0-9a-fA-F-], found `{bad.group()}` at {bad.start() + 1}"
            )
        elif len(sizes) == 1:
            why = f"invalid length: expected length 32 for simple format, found {len(value)}"
        elif len(sizes) != 5:
            why = f"invalid group count: expected 5, found {len(sizes)}"
        else:
            pairs = enumerate(zip((8, 4, 4, 4, 12), sizes))  # noqa: B905
            group, (size, found) = next(
                pair for pair in pairs if pair[1][0] != pair[1][1]
            )
            why = (
                f"invalid group length in group {group}: expected {size}, found {found}"
            )
        self.data(path, f"UUID parsing failed: {why}", end)


def _invalid(path: str, rule: str, **params: Any) -> _Refusal:
    shown = ", ".join(
        f'"{key}": {"String" if value == "" else "Number"}({json.dumps(value)})'
        for key, value in params.items()
    )
    said = f"{path}: Validation error: {rule} [{{{shown}}}]"
    return _Refusal(400, f"Input validation error: [{said}]")


def _stamp(seconds: int) -> str:
    at = datetime.now(UTC) + timedelta(seconds=seconds)
    return at.isoformat().replace("+00:00", "Z")


class HandoffAxum(Backend):
    """Jobs are leased, an output is sent under the lease, and completing settles it."""

    def __init__(self) -> None:
        super().__init__()
        self.workers: dict[str, dict[str, Any]] = {}
        self.leases: dict[str, dict[str, Any]] = {}
        self.submissions: dict[str, dict[str, Any]] = {}  # the leases, by submission
        self.jobs = {
            key: {
                "id": key,
                "kind": "uppercase",
                "instructions": "Return `input` in upper case.",
                "input": text,
                "bounty": bounty,
                "status": "open",
                "created_at": _stamp(0),
            }
            for key, text, bounty in [(str(uuid.uuid4()), *job) for job in JOBS]
        }

    def texts(self) -> dict[str, str]:
        return {key: job["input"] for key, job in self.jobs.items()}

    def missing(self, request: Request) -> Response:
        return Response(404)

    def _worker(self, request: Request) -> dict[str, Any]:
        if request.token not in self.workers:
            raise _app(401, "Invalid token" if request.token else "Missing credentials")
        return self.workers[request.token]

    @_handler
    def register(self, request: Request) -> Any:
        _Json(request).into("NewAgent", [])
        self.book.registrations += 1
        token = uuid.uuid4().hex + uuid.uuid4().hex
        worker = {"agent_id": str(uuid.uuid4()), "access_token": token, "credits": 100}
        return dict(self.workers.setdefault(token, worker))

    @_handler
    def tasks(self, request: Request) -> Any:
        limit = request.query.get("limit", "4")
        if not re.fullmatch(r"\+?[0-9]+", limit):
            why = (
                "invalid digit found in" if limit else "cannot parse integer from empty"
            )
            raise _Refusal(
                400, f"Failed to deserialize query string: limit: {why} string"
            )
        if not 1 <= int(limit) <= 20:
            raise _invalid("limit", "range", min=1, max=20, value=int(limit))
        jobs, cursor = list(self.jobs.values()), request.query.get("cursor")
        if cursor not in (None, *self.jobs):
            raise _app(400, "invalid cursor")
        start = list(self.jobs).index(cursor) + 1 if cursor else 0
        jobs = [job for job in jobs[start:] if job["status"] == "open"]
        page = jobs[: int(limit)]
        return {"jobs": page, "next_cursor": page[-1]["id"] if page != jobs else None}

    marketplace = tasks

    @_handler
    def claim(self, request: Request) -> Any:
        worker, body = self._worker(request), _Json(request).into("ClaimRequest", CLAIM)
        if not 60 <= (seconds := body["lease_secs"]) <= 3600:
            raise _invalid("lease_secs", "range", min=60, max=3600, value=seconds)
        job = self.jobs.get(str(uuid.UUID(body["job_id"])))
        if job is None:
            raise _app(404, "job not found")
        if job["status"] != "open":
            raise _app(409, f"job is not open (status: {job['status']})")
        job["status"], key = "leased", str(uuid.uuid4())
        self.leases[key] = {"job_id": job["id"], "worker": worker, "state": "active"}
        self.book.claimed(job["id"])
        return {"lease_id": key, "job": job, "expires_at": _stamp(seconds)}

    @_handler
    def submit(self, request: Request) -> Any:
        worker, body = (
            self._worker(request),
            _Json(request).into("SubmitRequest", SUBMIT),
        )
        if not (text := body["output"]["text"]):
            raise _invalid("output.text", "length", min=1, value="")
        lease = self.leases.get(str(uuid.UUID(body["lease_id"])))
        if lease is None or lease["worker"] is not worker:
            raise _app(404, "lease not found")
        if lease["state"] != "active":
            raise _app(409, f"lease is not active (state: {lease['state']})")
        if text != self.jobs[lease["job_id"]]["input"].upper():
            raise _app(422, "output rejected: text is not the input in upper case")
        lease["state"] = self.jobs[lease["job_id"]]["status"] = "submitted"
        self.submissions[key := str(uuid.uuid4())] = lease
        return {"submission_id": key, "job_id": lease["job_id"], "status": "submitted"}

    @_handler
    def complete(self, request: Request) -> Any:
        worker, body = (
            self._worker(request),
            _Json(request).into("CompleteRequest", COMPLETE),
        )
        lease = self.submissions.get(str(uuid.UUID(body["submission_id"])))
        if lease is None or lease["worker"] is not worker:
            raise _app(404, "submission not found")
        if (state := lease["state"]) != "submitted":
            raise _app(409, f"submission is already {state}")
        job = self.jobs[lease["job_id"]]
        if body["outcome"] == "failed":
            lease["state"], job["status"] = "released", "open"
            self.book.held.discard(job["id"])
            return {"job_id": job["id"], "status": "open", "credited": 0}
        lease["state"] = job["status"] = "settled"
        worker["credits"] += job["bounty"]
        self.book.pay(job["id"], job["bounty"])
        return {
            "job_id": job["id"],
            "credited": job["bounty"],
            "balance": worker["credits"],
        }
