"""Relayyard: a platform team's work queue (Go, net/http; typed errors, leases and fences)."""

# Its author has typed it less strictly.
# mypy: ignore-errors

import hashlib
import json
import re
import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_JOBS = [
    ("amber-wren-1c", "nightly backup completed without warnings", 14),
    ("brisk-otter-4f", "certificate for the edge proxy expires soon", 21),
    ("calm-heron-72", "rotate the signing keys on the first monday", 11),
    ("dusty-finch-a0", "disk pressure on node seven has cleared", 35),
    ("eager-stoat-b9", "rollback of the billing service is finished", 17),
    ("faint-robin-d3", "all replicas are healthy again", 6),
]
_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}
_STATUS = {"INVALID_ARGUMENT": 400, "MALFORMED_BODY": 400, "UNAUTHENTICATED": 401}
_STATUS |= {
    "NOT_FOUND": 404,
    "LEASE_CONFLICT": 409,
    "STALE_FENCE": 409,
    "ALREADY_SETTLED": 409,
}
_STATUS |= {
    "IDEMPOTENCY_KEY_REUSED": 409,
    "NO_ARTIFACT": 412,
    "VERIFICATION_FAILED": 422,
}
_CLAIM = {"job": str, "leaseDuration": str}
_SUBMIT = {"leaseId": str, "fence": int, "artifact": {"mediaType": str, "content": str}}
_COMPLETE = {"leaseId": str, "artifactDigest": str}


class _Fault(Exception):  # noqa: N818
    def __init__(self, code: str, message: str, *violations: tuple[str, str]) -> None:
        self.code, self.message, self.violations = code, message, violations


def _goname(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    kinds = {
        str: "string",
        int: "number",
        float: "number",
        list: "array",
        dict: "object",
    }
    return kinds[type(value)]


def _decode(value: Any, shape: dict, struct: str, path: str = "") -> dict:
    """Return the value as encoding/json fills a struct: nulls and absences are zero."""
    if not isinstance(value, dict):
        where = f"Go struct field {struct}.{path[:-1]}" if path else "Go value"
        kind = "api.Artifact" if path else f"api.{struct}"
        message = f"json: cannot unmarshal {_goname(value)} into {where} of type {kind}"
        raise _Fault("MALFORMED_BODY", message)
    filled = {}
    for name, got in value.items():
        if name not in shape:
            raise _Fault("MALFORMED_BODY", f'json: unknown field "{name}"')
        want = shape[name]
        if got is None:
            continue
        if isinstance(want, dict):
            filled[name] = _decode(got, want, struct, f"{path}{name}.")
        elif type(got) is not want:
            kind, field = {str: "string", int: "int64"}[want], f"{struct}.{path}{name}"
            message = (
                f"json: cannot unmarshal {_goname(got)} into Go struct field {field}"
            )
            raise _Fault("MALFORMED_BODY", f"{message} of type {kind}")
        else:
            filled[name] = got
    return filled


def _absent(value: dict, shape: dict, path: str = "") -> list[tuple[str, str]]:
    out = []
    for name, want in shape.items():
        if isinstance(want, dict):
            out += _absent(value.get(name, {}), want, f"{path}{name}.")
        elif not value.get(name):
            out.append((path + name, "is required"))
    return out


def _seconds(text: str) -> float:
    """Return a Go duration in seconds, or complain as time.ParseDuration does."""
    parts = re.findall(r"(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)", text)
    if not parts or "".join(n + u for n, u in parts) != text:
        why = "missing unit in" if re.fullmatch(r"\d+(\.\d+)?", text) else "invalid"
        said = f'time: {why} duration "{text}" (want a duration such as "90s" or "15m")'
        raise _bad("leaseDuration", said)
    return sum(float(n) * _UNITS[u] for n, u in parts)


def _bad(field: str, said: str) -> _Fault:
    return _Fault("INVALID_ARGUMENT", "request validation failed", (field, said))


class Relayyard(Backend):
    """Jobs, leases and artifacts; the text comes with the lease, completion verifies and pays."""

    def __init__(self) -> None:
        super().__init__()
        self._jobs = {j[0]: j for j in _JOBS}
        self._agents: dict[str, str] = {}
        self._leases: dict[str, dict] = {}
        self._leased: set[str] = set()
        self._fence = 1040
        self._replays: dict[tuple[str, str], tuple[str, dict]] = {}

    def texts(self) -> dict[str, str]:
        return {j[0]: j[1] for j in _JOBS}

    def handle(self, request: Request) -> Response:
        """Give every answer a request id, in the header and in an error's body."""
        answer = super().handle(request)
        number = request.headers.get("X-Request-Id") or f"req-{secrets.token_hex(8)}"
        answer.headers["X-Request-Id"] = number
        if isinstance(answer.body, dict) and "error" in answer.body:
            answer.body["error"]["requestId"] = number
        return answer

    def missing(self, request: Request) -> Response:
        return self._fault(
            _Fault("NOT_FOUND", f"no route for {request.method} {request.path}")
        )

    def _fault(self, fault: _Fault) -> Response:
        error: dict[str, Any] = {"code": fault.code, "message": fault.message}
        if fault.violations:
            error["violations"] = [
                {"field": f, "description": d} for f, d in fault.violations
            ]
        return Response(_STATUS[fault.code], {"error": error})

    def _agent(self, request: Request) -> str:
        if not request.token:
            raise _Fault(
                "UNAUTHENTICATED", "missing bearer token in Authorization header"
            )
        if request.token not in self._agents:
            raise _Fault("UNAUTHENTICATED", "bearer token is not known to this cluster")
        return self._agents[request.token]

    def _run(self, request: Request, struct: str, shape: dict, action: Any) -> Response:
        try:
            agent = self._agent(request)
            try:
                body = json.loads(request.raw or b"")
            except ValueError:
                said = "invalid JSON in request body" if request.raw else "EOF"
                raise _Fault("MALFORMED_BODY", said) from None
            body = _decode({} if body is None else body, shape, struct)
            if absent := _absent(body, shape):
                raise _Fault("INVALID_ARGUMENT", "request validation failed", *absent)
            return Response(200, action(agent, body))
        except _Fault as fault:
            return self._fault(fault)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"ag-{secrets.token_hex(5)}", f"ryt.{secrets.token_hex(24)}"
        self._agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def marketplace(self, request: Request) -> Response:
        text = request.query.get("limit", "4")
        if not re.fullmatch(r"[+-]?\d+", text):
            said = f'strconv.Atoi: parsing "{text}": invalid syntax'
            return self._fault(_bad("limit", said))
        size = min(max(int(text), 1), 50)
        after = request.query.get("pageToken", "")
        names = [n for n in sorted(self._jobs) if n not in self._leased and n > after]
        summary = "Uppercase the input handed out with the lease."
        output = {"mediaType": "text/plain"}
        items = [
            {
                "metadata": {"name": name, "queue": "text-transform", "generation": 1},
                "spec": {
                    "summary": summary,
                    "output": output,
                    "rewardCredits": self._jobs[name][2],
                },
                "status": {"phase": "Queued"},
            }
            for name in names[:size]
        ]
        body: dict[str, Any] = {"kind": "JobList", "items": items}
        if len(names) > size:
            body["nextPageToken"] = names[size - 1]
        return Response(200, body)

    def tasks(self, request: Request) -> Response:
        try:
            self._agent(request)
            return self.marketplace(request)
        except _Fault as fault:
            return self._fault(fault)

    def claim(self, request: Request) -> Response:
        def action(agent: str, body: dict) -> dict:
            name, span = body["job"], _seconds(body["leaseDuration"])
            if not 30 <= span <= 3600:
                raise _bad("leaseDuration", "must be between 30s and 1h0m0s")
            if name not in self._jobs:
                raise _Fault("NOT_FOUND", f'job "{name}" not found')
            if name in self._leased:
                raise _Fault("LEASE_CONFLICT", f'job "{name}" is held by another lease')
            self._fence += 1
            key = f"ls-{secrets.token_hex(6)}"
            self._leases[key] = {"agent": agent, "job": name, "fence": self._fence}
            self._leased.add(name)
            self.book.claimed(name)
            until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + span))
            lease = {"leaseId": key, "fence": self._fence, "expiresAt": until}
            return {
                "lease": lease,
                "job": name,
                "input": self._jobs[name][1],
                "phase": "Leased",
            }

        return self._run(request, "ClaimRequest", _CLAIM, action)

    def _lease(self, agent: str, key: str) -> dict:
        lease = self._leases.get(key)
        if lease is None or lease["agent"] != agent:
            raise _Fault("NOT_FOUND", f'lease "{key}" not found')
        if lease["job"] in self.book.paid:
            raise _Fault("ALREADY_SETTLED", f'job "{lease["job"]}" is already settled')
        return lease

    def submit(self, request: Request) -> Response:
        def action(agent: str, body: dict) -> dict:
            lease = self._lease(agent, body["leaseId"])
            if body["fence"] != lease["fence"]:
                said = f"fence {body['fence']} does not match the lease's fence {lease['fence']}"
                raise _Fault("STALE_FENCE", said)
            if body["artifact"]["mediaType"].split(";")[0] != "text/plain":
                raise _bad("artifact.mediaType", 'must be one of ["text/plain"]')
            lease["content"] = content = body["artifact"]["content"]
            lease["digest"] = "sha256:" + hashlib.sha256(content.encode()).hexdigest()
            return {
                "artifact": {"digest": lease["digest"]},
                "phase": "AwaitingCompletion",
            }

        return self._run(request, "SubmitRequest", _SUBMIT, action)

    def complete(self, request: Request) -> Response:
        def action(agent: str, body: dict) -> dict:
            key = request.headers.get("Idempotency-Key", "")
            if not key:
                said = "is required on requests that move credits"
                raise _bad("header Idempotency-Key", said)
            whole = json.dumps(body, sort_keys=True)
            if (agent, key) in self._replays:
                if self._replays[agent, key][0] == whole:
                    return self._replays[agent, key][1]
                said = f'Idempotency-Key "{key}" was already used with a different body'
                raise _Fault("IDEMPOTENCY_KEY_REUSED", said)
            lease = self._lease(agent, body["leaseId"])
            if "digest" not in lease:
                raise _Fault(
                    "NO_ARTIFACT", "no artifact has been submitted under this lease"
                )
            if body["artifactDigest"] != lease["digest"]:
                raise _Fault(
                    "NOT_FOUND", f'artifact "{body["artifactDigest"]}" not found'
                )
            name, text, reward = self._jobs[lease["job"]]
            if lease["content"] != text.upper():
                said = "artifact is not the uppercased input; submit a new artifact"
                raise _Fault("VERIFICATION_FAILED", said)
            self.book.pay(name, reward)
            answer = {
                "job": name,
                "phase": "Settled",
                "settlement": {"credits": reward},
            }
            self._replays[agent, key] = (whole, answer)
            return answer

        return self._run(request, "CompleteRequest", _COMPLETE, action)
