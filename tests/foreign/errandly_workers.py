"""Errandly: a start-up's marketplace on Cloudflare Workers: Hono, zod, D1.

zValidator (zod 4) and bearerAuth answer by default. Completion pays.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import re
import secrets
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_JOBS = [
    ("Normalise ticker names", "acme holdings, north sea division", 30),
    ("Label the spare parts", "bolt m8, washer, left bracket", 18),
    ("Ship names for the register", "the grey heron of rotterdam", 42),
    ("Street sign", "mill lane leads to the old harbour", 25),
    ("Book spine", "a short history of long walks", 55),
    ("Certificate line", "awarded for ten years of good service", 64),
]
_HEX = "[0-9a-fA-F]"
_UUID = f"({_HEX}{{8}}-{_HEX}{{4}}-[1-8]{_HEX}{{3}}-[89abAB]{_HEX}{{3}}-{_HEX}{{12}})"
_TIME = (
    r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
    r"T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:Z)"
)
_PATTERNS = {
    "uuid": (_UUID, "Invalid UUID"),
    "datetime": (_TIME, "Invalid ISO datetime"),
}
_BEARER = re.compile(r"Bearer +([A-Za-z0-9._~+/-]+=*) *")
_ABSENT = object()
_NAMES = {bool: "boolean", str: "string", list: "array", dict: "object"}
_NAMES |= {type(None): "null", object: "undefined"}


class _HTTPException(Exception):  # noqa: N818
    """Thrown with a response."""


def _fail(status: int, code: str, message: str) -> _HTTPException:
    return _HTTPException(
        Response(status, {"error": {"code": code, "message": message}})
    )


def _text(status: int, text: str, **headers: str) -> _HTTPException:
    headers["Content-Type"] = "text/plain;charset=UTF-8"
    return _HTTPException(Response(status, text, headers))


def _now(minutes: int = 0) -> str:
    at = datetime.now(UTC) + timedelta(minutes=minutes)
    return at.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _parse(schema: Any, value: Any, path: list[str]) -> list[dict[str, Any]]:
    """Return zod's issues with a value."""
    want = "object" if isinstance(schema, dict) else "string"
    if isinstance(schema, list) and value in schema:
        return []
    if isinstance(schema, list):
        options = "|".join(f'"{option}"' for option in schema)
        message = f"Invalid option: expected one of {options}"
        issue = {"code": "invalid_value", "values": schema}
        return [{**issue, "path": path, "message": message}]
    if (got := _NAMES.get(type(value), "number")) != want:
        message = f"Invalid input: expected {want}, received {got}"
        issue = {"expected": want, "code": "invalid_type"}
        return [{**issue, "path": path, "message": message}]
    if isinstance(schema, dict):
        have = [
            (inner, value.get(n, _ABSENT), [*path, n]) for n, inner in schema.items()
        ]
        return [issue for one in have for issue in _parse(*one)]
    pattern, message = _PATTERNS.get(schema, (r"[\s\S]+", ""))
    if re.fullmatch(pattern, value, re.ASCII):
        return []
    issue = {"origin": "string", "code": "too_small", "minimum": 1, "inclusive": True}
    if message:
        issue = {"origin": "string", "code": "invalid_format", "format": schema}
        issue["pattern"] = f"/^{pattern}$/"
    message = message or "Too small: expected string to have >=1 characters"
    return [{**issue, "path": path, "message": message}]


def _invalid(issues: list[dict[str, Any]]) -> _HTTPException:
    error = {"name": "ZodError", "message": json.dumps(issues, indent=2)}
    return _HTTPException(Response(400, {"success": False, "error": error}))


def _body(request: Request, schema: dict[str, Any]) -> dict[str, Any]:
    """Do what zValidator('json', schema) does."""
    value: Any = {}
    if "json" in (request.headers.get("Content-Type") or "").lower():
        try:
            value = request.json()
        except ValueError:
            raise _text(400, "Malformed JSON in request body") from None
    if issues := _parse(schema, value, []):
        raise _invalid(issues)
    return value


def _whole(query: dict[str, str], name: str, default: int, low: int, high: int) -> int:
    """Do what z.coerce.number().min(low).max(high).default(default) does."""
    text = query.get(name, str(default))
    if not re.fullmatch(r"-?\d{1,15}", text, re.ASCII):
        issue = {"expected": "number", "code": "invalid_type", "received": "NaN"}
        says = "Invalid input: expected number, received NaN"
    elif low <= int(text) <= high:
        return int(text)
    elif int(text) < low:
        issue = {
            "origin": "number",
            "code": "too_small",
            "minimum": low,
            "inclusive": True,
        }
        says = f"Too small: expected number to be >={low}"
    else:
        issue = {
            "origin": "number",
            "code": "too_big",
            "maximum": high,
            "inclusive": True,
        }
        says = f"Too big: expected number to be <={high}"
    raise _invalid([{**issue, "path": [name], "message": says}])


def _route(schema: Any, handler: Any = None) -> Any:
    """Do what app.post(path, bearerAuth(...), zValidator('json', schema), handler) does."""

    def answer(self: Any, request: Request) -> Response:
        try:
            agent = self._agent(request)
            return handler(self, agent, _body(request, schema) if schema else request)
        except _HTTPException as error:
            return error.args[0]

    return answer if handler else lambda handler: _route(schema, handler)


class Errandly(Backend):
    """The network."""

    def __init__(self) -> None:
        super().__init__()
        self._tokens: dict[str, str] = {}
        self._jobs: dict[str, Any] = {}
        self._claims: dict[str, Any] = {}
        self._submissions: dict[str, Any] = {}
        for row, (title, text, reward) in enumerate(_JOBS, 1):
            key = str(uuid.uuid4())
            self._jobs[key] = {
                "id": key,
                "seq": row,
                "title": title,
                "instructions": "Put source_text into capital letters.",
                "source_text": text,
                "reward": {"amount": reward, "unit": "credits"},
                "status": "open",
                "created_at": _now(-60 + row),
            }

    def texts(self) -> dict[str, str]:
        """Return the text of every job."""
        return {key: job["source_text"] for key, job in self._jobs.items()}

    def missing(self, request: Request) -> Response:
        """Answer as Hono does without a route."""
        return Response(404, "404 Not Found")

    def _agent(self, request: Request) -> str:
        """Do what bearerAuth({ verifyToken }) does."""
        header = request.headers.get("Authorization")
        match = _BEARER.fullmatch(header or "")
        if match and match[1] in self._tokens:
            return self._tokens[match[1]]
        if header and not match:
            raise _text(400, "Bad Request")
        says = 'error="invalid_token"' if header else 'realm=""'
        raise _text(401, "Unauthorized", **{"WWW-Authenticate": f"Bearer {says}"})

    def register(self, request: Request) -> Response:
        """Make an agent."""
        self.book.registrations += 1
        agent, token = str(uuid.uuid4()), f"erd_live_{secrets.token_urlsafe(24)}"
        self._tokens[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def marketplace(self, request: Request) -> Response:
        """Show the titles of all jobs to the public."""
        return Response(200, {"data": [job["title"] for job in self._jobs.values()]})

    @_route({})
    def tasks(self, agent: str, request: Request) -> Response:
        """List the open jobs, a page at a time."""
        limit = _whole(request.query, "limit", 5, 1, 50)
        cursor = _whole(request.query, "cursor", 0, 0, 10**9)
        jobs = [job for job in self._jobs.values() if job["status"] == "open"]
        rows = [job for job in jobs if job["seq"] > cursor]
        last = rows[limit - 1]["seq"] if len(rows) > limit else None
        page = {"limit": limit, "has_more": last is not None, "next_cursor": last}
        return Response(200, {"data": rows[:limit], "page": page})

    @_route({"job_id": "uuid"})
    def claim(self, agent: str, body: dict[str, Any]) -> Response:
        """Give a job to an agent."""
        if not (job := self._jobs.get(body["job_id"])):
            raise _fail(404, "JOB_NOT_FOUND", "No job with this job_id exists.")
        if job["status"] != "open":
            raise _fail(409, "JOB_UNAVAILABLE", f"This job is {job['status']}.")
        mine = [c["status"] for c in self._claims.values() if c["agent_id"] == agent]
        if len(mine) - mine.count("settled") >= 3:
            says = "You can hold 3 claims at a time. Complete one first."
            raise _fail(429, "CLAIM_LIMIT_REACHED", says)
        job["status"] = "claimed"
        claim = {"id": str(uuid.uuid4()), "job_id": job["id"], "agent_id": agent}
        claim |= {"status": "active", "expires_at": _now(60)}
        self._claims[claim["id"]] = claim
        self.book.claimed(job["id"])
        return Response(200, {"data": {"claim": claim}})

    def _own(self, agent: str, key: str) -> dict[str, Any]:
        claim = self._claims.get(key)
        if not claim or claim["agent_id"] != agent:
            raise _fail(404, "CLAIM_NOT_FOUND", "You have no claim with this claim_id.")
        if claim["status"] != "settled":
            return claim
        raise _fail(409, "CLAIM_SETTLED", "This claim is settled already.")

    @_route(
        {"claim_id": "uuid", "output": {"format": ["text", "markdown"], "content": ""}}
    )
    def submit(self, agent: str, body: dict[str, Any]) -> Response:
        """Review an output."""
        claim = self._own(agent, body["claim_id"])
        if claim["status"] != "active":
            raise _fail(409, "ALREADY_SUBMITTED", "An output was accepted already.")
        text = self._jobs[claim["job_id"]]["source_text"]
        right = body["output"]["content"] == text.upper()
        says = None if right else "The content does not follow the job's instructions."
        review = {"verdict": "accepted" if right else "rejected", "reason": says}
        made = {"id": str(uuid.uuid4()), "claim_id": claim["id"], "review": review}
        self._submissions[made["id"]] = made
        if right:
            claim["status"] = "submitted"
        made["created_at"] = _now()
        return Response(200, {"data": {"submission": made}}, refused=not right)

    @_route({"claim_id": "uuid", "submission_id": "uuid", "finished_at": "datetime"})
    def complete(self, agent: str, body: dict[str, Any]) -> Response:
        """Settle a claim."""
        claim = self._own(agent, body["claim_id"])
        made = self._submissions.get(body["submission_id"])
        if not made or made["claim_id"] != claim["id"]:
            raise _fail(404, "SUBMISSION_NOT_FOUND", "Not a submission of this claim.")
        if made["review"]["verdict"] != "accepted":
            raise _fail(409, "SUBMISSION_REJECTED", "Submit an accepted output first.")
        job = self._jobs[claim["job_id"]]
        claim["status"] = job["status"] = "settled"
        self.book.pay(job["id"], job["reward"]["amount"])
        return Response(200, {"data": {"claim": claim, "payout": job["reward"]}})
