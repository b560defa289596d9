"""Relay Jobs: a small team's service in Go on huma; the text comes with the lease."""
# Its author has typed it less strictly.
# mypy: ignore-errors

import re
import secrets
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any

from tests.foreign.backend import Backend, Request, Response

# name -> (type, required, least, most); a dict as the type is an object of its own
_WORD, _OPTION = ("string", True, 1, 64), ("string", False, 0, 200)
_CLAIM = {"job_ref": _WORD, "lease_minutes": ("integer", True, 5, 120)}
_COMPLETE = {"job_ref": _WORD, "lease_id": _WORD}
_RESULT = {"content": ("string", True, 1, 4000)}
_SUBMIT = {**_COMPLETE, "result": (_RESULT, True, None, None)}
_COUNT = ("integer", True, 1, 1000000)
_CHECKOUT = dict.fromkeys(("plan", "agent_id", "price_id"), _WORD)
_CHECKOUT |= dict.fromkeys(("requested_credits", "amount_cents"), _COUNT)
_CHECKOUT |= dict.fromkeys(("product_label", "source"), _OPTION)
_SEED = [
    ("job_4kx1", "send two spare pumps to dock seven", 30),
    ("job_9qm2", "call the harbour office before noon", 14),
    ("job_b7t3", "order 66 was cancelled by the buyer", 22),
    ("job_c2w4", "keep the blue crates out of the sun", 11),
    ("job_h8d5", "all lines clear, proceed to platform b", 40),
    ("job_n5z6", "replace filter no. 12 on friday", 8),
    ("job_t3f7", "meet the driver at the east gate", 17),
    ("job_y6v8", "please confirm receipt of this message", 26),
]


class _Problem(Exception):  # noqa: N818
    def __init__(self, status: int, detail: str, errors: Any = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.errors = status, detail, errors

    def response(self, base: str) -> Response:
        title = HTTPStatus(self.status).phrase
        body = {"$schema": f"{base}/schemas/ErrorModel.json", "title": title}
        body |= {"status": self.status, "detail": self.detail}
        if self.errors:
            body["errors"] = self.errors
        link = '</schemas/ErrorModel.json>; rel="describedBy"'
        kind = "application/problem+json"
        return Response(self.status, body, {"Content-Type": kind, "Link": link})


def _operation(method: Any) -> Any:
    def run(self: Any, request: Request) -> Response:
        try:
            body = method(self, request)
        except _Problem as problem:
            return problem.response(request.base)
        schema = f"/schemas/{method.__name__.title()}OutputBody.json"
        link = {"Link": f'<{schema}>; rel="describedBy"'}
        return Response(200, {"$schema": request.base + schema, **body}, link)

    return run


def _validate(value: Any, schema: Any, at: str, errors: list[dict[str, Any]]) -> None:
    def add(message: str, place: str, what: Any) -> None:
        errors.append({"message": message, "location": place, "value": what})

    if not isinstance(value, dict):
        add("expected object", at, value)
        return
    for name, (type_, required, least, most) in schema.items():
        place = f"{at}.{name}"
        if name not in value:
            if required:
                add(f"expected required property {name} to be present", at, value)
            continue
        given = value[name]
        if isinstance(type_, dict):
            _validate(given, type_, place, errors)
        elif type_ == "string":
            if not isinstance(given, str):
                add("expected string", place, given)
            elif not least <= len(given) <= most:
                edge = f">= {least}" if len(given) < least else f"<= {most}"
                add(f"expected length {edge}", place, given)
        elif isinstance(given, bool) or not isinstance(given, (int, float)):
            add("expected number", place, given)
        elif given % 1:
            add("expected integer", place, given)
        elif not least <= given <= most:
            edge = f">= {least}" if given < least else f"<= {most}"
            add(f"expected number {edge}", place, given)
    for name in value:
        if name not in schema:
            add("unexpected property", f"{at}.{name}", value)


def _body(request: Request, schema: Any) -> Any:
    if not request.raw:
        raise _Problem(400, "request body is required")
    kind = (request.headers.get("Content-Type") or "application/json").split(";")[0]
    if kind.strip().lower() != "application/json":
        wrong = {"message": f"unknown content type: {kind}", "location": "body"}
        raise _Problem(415, "validation failed", [wrong])
    try:
        body = request.json()
    except ValueError as error:
        text = request.raw.decode(errors="replace")
        at = text[getattr(error, "pos", 0) :][:1]
        said = f"invalid character '{at}' looking for beginning of value"
        said = said if at else "unexpected end of JSON input"
        wrong = {"message": said, "location": "body", "value": text}
        raise _Problem(400, "validation failed", [wrong]) from None
    errors: list[dict[str, Any]] = []
    _validate(body, schema, "body", errors)
    if errors:
        raise _Problem(422, "validation failed", errors)
    return body


class RelayJobs(Backend):
    """The huma API."""

    def __init__(self) -> None:
        super().__init__()
        self._workers: dict[str, dict[str, Any]] = {}  # by token
        self._leases: dict[str, dict[str, Any]] = {}
        keys = ("ref", "text", "amount", "state")
        self._jobs = {
            row[0]: dict(zip(keys, (*row, "available"), strict=False)) for row in _SEED
        }

    def texts(self) -> dict[str, str]:
        return {ref: job["text"] for ref, job in self._jobs.items()}

    def _worker(self, request: Request) -> dict[str, Any]:
        if request.token not in self._workers:
            raise _Problem(401, "missing or invalid bearer token")
        return self._workers[request.token]

    def _job(self, ref: str) -> dict[str, Any]:
        if ref not in self._jobs:
            raise _Problem(404, f"job {ref} not found")
        return self._jobs[ref]

    def _lease(self, worker: dict[str, Any], body: Any) -> tuple[Any, Any]:
        job = self._job(body["job_ref"])
        lease = self._leases.get(body["lease_id"])
        if not lease or lease["job"] != job["ref"] or lease["worker"] != worker["id"]:
            raise _Problem(404, f"no lease {body['lease_id']} on job {job['ref']}")
        if job["state"] == "settled":
            raise _Problem(409, f"job {job['ref']} is already settled")
        if datetime.now(UTC) > lease["until"]:
            raise _Problem(410, f"lease {lease['id']} has expired")
        return job, lease

    @_operation
    def tasks(self, request: Request) -> Any:
        errors, refs = [], list(self._jobs)
        given = request.query.get("limit", "4")
        limit = int(given) if re.fullmatch(r"[+-]?\d{1,9}", given) else None
        if limit is None:
            errors.append(("invalid integer", "query.limit", given))
        elif not 1 <= limit <= 50:
            edge = ">= 1" if limit < 1 else "<= 50"
            errors.append((f"expected number {edge}", "query.limit", limit))
        cursor = request.query.get("cursor") or refs[0]
        if cursor not in refs:
            errors.append(("unknown cursor", "query.cursor", cursor))
        if errors:
            listed = [{"message": m, "location": at, "value": v} for m, at, v in errors]
            raise _Problem(422, "validation failed", listed)
        start = refs.index(cursor)
        items = []
        for job in (self._jobs[ref] for ref in refs[start : start + limit]):
            bounty = {"amount": job["amount"], "unit": "credits"}
            summary = "Upper-case the content that comes with the lease."
            listed = {"job_ref": job["ref"], "kind": "uppercase", "summary": summary}
            items.append({**listed, "state": job["state"], "bounty": bounty})
        answer: dict[str, Any] = {"items": items}
        if start + limit < len(refs):
            answer["next_cursor"] = refs[start + limit]
        return answer

    @_operation
    def register(self, request: Request) -> Any:
        id_, token = f"wrk_{secrets.token_hex(5)}", f"rj_{secrets.token_hex(20)}"
        self._workers[token] = {"id": id_, "balance": 100}
        self.book.registrations += 1
        return {"agent_id": id_, "access_token": token, "credits": 100, "tier": "free"}

    marketplace = tasks

    @_operation
    def agents(self, request: Request) -> Any:
        slug = request.query.get("slug")
        found = [w["id"] for w in self._workers.values() if slug in (None, "", w["id"])]
        if slug and not found:
            raise _Problem(404, f"agent {slug} not found")
        return {"items": [{"agent_id": id_} for id_ in found]}

    directory = agents

    @_operation
    def claim(self, request: Request) -> Any:
        worker, body = self._worker(request), _body(request, _CLAIM)
        job = self._job(body["job_ref"])
        if job["state"] != "available":
            raise _Problem(409, f"job {job['ref']} is {job['state']}")
        until = datetime.now(UTC) + timedelta(minutes=body["lease_minutes"])
        id_ = f"lse_{secrets.token_hex(6)}"
        self._leases[id_] = {"id": id_, "job": job["ref"], "worker": worker["id"]}
        self._leases[id_]["until"] = until
        job["state"] = "leased"
        self.book.claimed(job["ref"])
        given = {"id": id_, "job_ref": job["ref"]}
        given["expires_at"] = until.strftime("%Y-%m-%dT%H:%M:%SZ")
        return {"lease": given, "input": {"content": job["text"]}}

    @_operation
    def submit(self, request: Request) -> Any:
        worker, body = self._worker(request), _body(request, _SUBMIT)
        job, lease = self._lease(worker, body)
        lease["content"] = body["result"]["content"]
        job["state"] = "submitted"
        return {"job_ref": job["ref"], "lease_id": lease["id"], "state": job["state"]}

    @_operation
    def complete(self, request: Request) -> Any:
        worker, body = self._worker(request), _body(request, _COMPLETE)
        job, lease = self._lease(worker, body)
        if job["state"] != "submitted":
            raise _Problem(409, f"no result has been submitted for job {job['ref']}")
        if lease["content"] != job["text"].upper():
            job["state"] = "leased"
            said = "rejected: content is not the upper-cased input; submit again"
            raise _Problem(409, f"result of job {job['ref']} {said}")
        job["state"] = "settled"
        self.book.pay(job["ref"], job["amount"])
        worker["balance"] += job["amount"]
        settled = {"job_ref": job["ref"], "state": "settled", "payout": job["amount"]}
        return {**settled, "balance": worker["balance"]}

    @_operation
    def post(self, request: Request) -> Any:
        self._worker(request)
        raise _Problem(403, "posting jobs is not available on the free tier")

    @_operation
    def checkout(self, request: Request) -> Any:
        _body(request, _CHECKOUT)
        raise _Problem(503, "payments are not configured")
