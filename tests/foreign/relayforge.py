"""Relayforge, a job relay: Fastify with JSON Schema (Ajv) and @fastify/jwt.

camelCase bodies, values coerced as Ajv does, unknown ones dropped; the text comes with the
lease, the submission pays, and the completion only gives the lease back.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import base64
import functools
import json
import secrets
import time
from http import HTTPStatus
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_JOBS = [
    ("Relay subtitle 14", "meanwhile, on the far side of the moon", 15),
    ("Relay subtitle 22", "nobody told the lighthouse keeper", 22),
    ("Shop window text", "half price umbrellas, whole price rain", 8),
    ("Stencil for crate 7", "fragile: handle like a sleeping cat", 35),
    ("Train display", "platform 9 is closed for repainting", 11),
    ("Error plate", "call the operator; do not reset", 27),
    ("Scoreboard name", "northern owls versus river foxes", 50),
]
_MOST_LEASES = 3
_STRING = {"type": "string", "minLength": 1}
_CLAIM = {"jobId": _STRING, "agentId": _STRING}
_SUBMIT = {
    "leaseId": _STRING,
    "output": {"type": "object", "properties": {"text": _STRING}},
    "durationMs": {"type": "integer", "minimum": 1},
}
_COMPLETE = {"leaseId": _STRING, "receiptId": _STRING}
_LIST = {"limit": {"type": "integer", "minimum": 1, "maximum": 50}, "cursor": _STRING}


class _Reply(Exception):  # noqa: N818
    """An error thrown in a hook or a handler."""

    def __init__(self, status: int, message: str, code: str = "") -> None:
        body = {"statusCode": status, "code": code, "error": HTTPStatus(status).phrase}
        body |= {"message": message}
        super().__init__(Response(status, {k: v for k, v in body.items() if v}))


class _Invalid(_Reply):
    def __init__(self, message: str) -> None:
        super().__init__(400, message, "FST_ERR_VALIDATION")


def _thrown(handler: Any) -> Any:
    """Answer with what a handler throws."""

    @functools.wraps(handler)
    def wrapped(self: Any, request: Request) -> Response:
        try:
            return handler(self, request)
        except _Reply as e:
            return e.args[0]

    return wrapped


def _value(value: Any, schema: dict, at: str) -> Any:
    """Return the value as Ajv coerces it."""
    if "properties" in schema:
        return _object(value, schema["properties"], at)
    if schema["type"] == "string":
        if value is None or isinstance(value, int | float):
            value = "" if value is None else json.dumps(value)
        if not isinstance(value, str):
            raise _Invalid(f"{at} must be string")
        if len(value) < schema["minLength"]:
            raise _Invalid(f"{at} must NOT have fewer than 1 characters")
        return value
    try:
        number = float(value or 0)
    except (TypeError, ValueError, OverflowError):
        number = 0.5
    if number % 1:  # of an infinity too: it is not a number
        raise _Invalid(f"{at} must be integer")
    if number < schema["minimum"]:
        raise _Invalid(f"{at} must be >= {schema['minimum']}")
    if "maximum" in schema and number > schema["maximum"]:
        raise _Invalid(f"{at} must be <= {schema['maximum']}")
    return int(number)


def _object(value: Any, fields: dict, at: str, required: bool = True) -> dict:  # noqa: FBT001, FBT002
    if not isinstance(value, dict):
        raise _Invalid(f"{at} must be object")
    for name in fields if required else ():
        if name not in value:
            raise _Invalid(f"{at} must have required property '{name}'")
    return {
        name: _value(value[name], schema, f"{at}/{name}")
        for name, schema in fields.items()
        if name in value
    }


def _b64(part: dict) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()


class Relayforge(Backend):
    """The relay; a lease is what an agent holds of a job."""

    def __init__(self) -> None:
        super().__init__()
        self._tokens: dict[str, str] = {}
        self._leases: dict[str, dict] = {}
        self._jobs = {
            secrets.token_urlsafe(9): {"name": name, "text": text, "pay": pay}
            for name, text, pay in _JOBS
        }
        self._taken: set[str] = set()

    def texts(self) -> dict[str, str]:
        """Return the text of every job by its jobId."""
        return {job_id: job["text"] for job_id, job in self._jobs.items()}

    def missing(self, request: Request) -> Response:
        """Return Fastify's answer to a route it does not have."""
        message = f"Route {request.method}:{request.path} not found"
        return Response(
            404, {"message": message, "error": "Not Found", "statusCode": 404}
        )

    def _auth(self, request: Request) -> str:
        header = request.headers.get("Authorization")
        if not header:
            message = "No Authorization was found in request.headers"
            raise _Reply(401, message, "FST_JWT_NO_AUTHORIZATION_IN_HEADER")
        if not request.token:
            raise _Reply(
                400, "Format is Authorization: Bearer [token]", "FST_JWT_BAD_REQUEST"
            )
        if request.token not in self._tokens:
            why = (
                "signature is invalid"
                if request.token.count(".") == 2
                else "is malformed"
            )
            message = f"Authorization token is invalid: The token {why}."
            raise _Reply(401, message, "FST_JWT_AUTHORIZATION_TOKEN_INVALID")
        return self._tokens[request.token]

    def _body(self, request: Request) -> Any:
        media = request.headers.get("Content-Type")
        if not request.raw and not media:
            return None
        if (media or "").split(";")[0].strip().lower() != "application/json":
            message = f"Unsupported Media Type: {media or 'undefined'}"
            raise _Reply(415, message, "FST_ERR_CTP_INVALID_MEDIA_TYPE")
        if not request.raw:
            message = (
                "Body cannot be empty when content-type is set to 'application/json'"
            )
            raise _Reply(400, message, "FST_ERR_CTP_EMPTY_JSON_BODY")
        try:
            return request.json()
        except ValueError:
            message = (
                "Body is not valid JSON but content-type is set to 'application/json'"
            )
            raise _Reply(400, message, "FST_ERR_CTP_INVALID_JSON_BODY") from None

    def _parsed(self, request: Request, schema: dict) -> tuple[str, dict]:
        return self._auth(request), _object(self._body(request), schema, "body")

    def _lease(self, agent: str, lease_id: str) -> dict:
        lease = self._leases.get(lease_id)
        if lease is None or lease["agent"] != agent:
            raise _Reply(404, f"No lease {lease_id} for this agent")
        return lease

    @_thrown
    def register(self, request: Request) -> Response:
        """Sign up an agent; its token is a JWT."""
        self._body(request)
        self.book.registrations += 1
        agent = f"agt-{secrets.token_hex(6)}"
        parts = {"alg": "HS256", "typ": "JWT"}, {"sub": agent, "iat": int(time.time())}
        token = ".".join([*map(_b64, parts), secrets.token_urlsafe(32)])
        self._tokens[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def _listing(self, query: dict) -> Response:
        brief = "The lease gives input.text; deliver it in upper case."
        jobs = [
            {
                "jobId": i,
                "displayName": j["name"],
                "brief": brief,
                "payout": {"credits": j["pay"]},
            }
            for i, j in self._jobs.items()
        ]
        ids = ["", *self._jobs]
        if query.get("cursor", "") not in ids:
            raise _Reply(400, "Unknown cursor")
        start = ids.index(query.get("cursor", ""))
        left = [job for job in jobs[start:] if job["jobId"] not in self._taken]
        page = left[: query.get("limit", 4)]
        more = len(left) > len(page)
        info = {"hasNextPage": more, "nextCursor": page[-1]["jobId"] if more else None}
        return Response(200, {"jobs": page, "pageInfo": info})

    def marketplace(self, request: Request) -> Response:
        """List the first free jobs for anybody."""
        return self._listing({})

    @_thrown
    def tasks(self, request: Request) -> Response:
        """List the free jobs, a page after a cursor."""
        self._auth(request)
        return self._listing(_object(request.query, _LIST, "querystring", False))

    @_thrown
    def claim(self, request: Request) -> Response:
        """Lease a job to the agent and show its text."""
        agent, body = self._parsed(request, _CLAIM)
        if body["agentId"] != agent:
            raise _Reply(
                403, "agentId must be the agent_id that the token was issued to"
            )
        if body["jobId"] not in self._jobs:
            raise _Reply(404, f"Job {body['jobId']} does not exist")
        if body["jobId"] in self._taken:
            raise _Reply(409, f"Job {body['jobId']} is already leased")
        mine = [x for x in self._leases.values() if x["agent"] == agent]
        if sum(x["state"] != "RELEASED" for x in mine) >= _MOST_LEASES:
            raise _Reply(
                429, f"Complete one of your {_MOST_LEASES} leases first", "LEASE_LIMIT"
            )
        self._taken.add(body["jobId"])
        self.book.claimed(body["jobId"])
        lease_id = f"lease-{secrets.token_hex(5)}"
        self._leases[lease_id] = {
            "agent": agent,
            "job": body["jobId"],
            "state": "ACTIVE",
        }
        lease = {"leaseId": lease_id, "state": "ACTIVE", "ttlSeconds": 3600}
        return Response(
            200, {"lease": lease, "input": {"text": self.texts()[body["jobId"]]}}
        )

    @_thrown
    def submit(self, request: Request) -> Response:
        """Check the output and pay for it at once."""
        agent, body = self._parsed(request, _SUBMIT)
        lease = self._lease(agent, body["leaseId"])
        if lease["state"] != "ACTIVE":
            raise _Reply(409, f"Lease is {lease['state']}, expected ACTIVE")
        job = self._jobs[lease["job"]]
        if body["output"]["text"] != job["text"].upper():
            raise _Reply(
                422, "output.text is not input.text in upper case", "OUTPUT_REJECTED"
            )
        lease["state"], lease["receipt"] = "PAID", f"rcpt-{secrets.token_hex(5)}"
        self.book.pay(lease["job"], job["pay"])
        receipt = {"receiptId": lease["receipt"], "creditsPaid": job["pay"]}
        return Response(200, {"accepted": True, "receipt": receipt})

    @_thrown
    def complete(self, request: Request) -> Response:
        """Give the lease of a paid job back."""
        agent, body = self._parsed(request, _COMPLETE)
        lease = self._lease(agent, body["leaseId"])
        if lease["state"] != "PAID":
            raise _Reply(409, f"Lease is {lease['state']}, expected PAID")
        if body["receiptId"] != lease["receipt"]:
            raise _Reply(400, "receiptId is not the receipt of this lease")
        lease["state"] = "RELEASED"
        return Response(200, {"leaseId": body["leaseId"], "released": True})
