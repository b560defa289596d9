"""Northing Sheet Maps: the lettering room. A Fastify 5 service with a schema per route.

ajv with Fastify's defaults but for removeAdditional: false. So types are coerced, defaults
are filled in, the first fault ends the matter, and a member too many is a fault.
"""

import base64
import hashlib
import hmac
import json
import secrets
import time
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from tests.foreign.backend import Backend, Request, Response

_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"

_LETTERINGS = [
    # sheet, layer, name to letter, credits
    ("NH 80 Aviemore", "water", "Loch an Eilein", 9),
    ("NH 80 Aviemore", "relief", "Càrn Eilrig", 9),
    ("NH 80 Aviemore", "woodland", "Rothiemurchus Forest", 11),
    ("SX 57 Princetown", "antiquity", "Hut circles and cairn (remains of)", 14),
    ("SX 57 Princetown", "water", "Blackbrook River", 9),
    ("SX 57 Princetown", "settlement", "Two Bridges", 8),
    ("SH 65 Yr Wyddfa", "relief", "Crib Goch", 8),
    ("SH 65 Yr Wyddfa", "water", "Llyn Ffynnon-y-gwas", 12),
    ("SH 65 Yr Wyddfa", "settlement", "Rhyd-Ddu, tŷ capel", 12),
]

# --- schemas ---------------------------------------------------------------------------

_AGENT_BODY = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"contact": {"type": "string", "maxLength": 120}},
}
_LIST_QUERY = {
    "type": "object",
    "properties": {
        "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 20}
    },
}
_CLAIM_BODY = {
    "type": "object",
    "required": ["letteringId"],
    "additionalProperties": False,
    "properties": {"letteringId": {"type": "string", "minLength": 1}},
}
_SUBMIT_BODY = {
    "type": "object",
    "required": ["claimId", "proof"],
    "additionalProperties": False,
    "properties": {
        "claimId": {"type": "string", "minLength": 1},
        "proof": {
            "type": "object",
            "required": ["text"],
            "additionalProperties": False,
            "properties": {
                "text": {"type": "string", "minLength": 1, "maxLength": 200},
                "comment": {"type": "string", "maxLength": 500},
            },
        },
    },
}
_COMPLETE_BODY = {
    "type": "object",
    "required": ["claimId", "proofId"],
    "additionalProperties": False,
    "properties": {
        "claimId": {"type": "string", "minLength": 1},
        "proofId": {"type": "string", "minLength": 1},
    },
}

_NAMES = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    409: "Conflict",
    415: "Unsupported Media Type",
}


class _HttpError(Exception):
    def __init__(self, status: int, message: str, code: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.body: dict[str, Any] = {"statusCode": status}
        if code:
            self.body["code"] = code
        self.body["error"] = _NAMES[status]
        self.body["message"] = message


# --- ajv, as much of it as the schemas use ---------------------------------------------


def _is(kind: str, value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return {
        "object": isinstance(value, dict),
        "string": isinstance(value, str),
        "integer": number and value % 1 == 0,
    }[kind]


def _js_string(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value % 1 == 0:
        return str(int(value))
    return str(value)


def _coerce(kind: str, value: Any) -> Any:
    """Return the value as coerceTypes: "array" leaves it."""
    if _is(kind, value):
        return value
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
        if _is(kind, value):
            return value
    if kind == "string":
        if isinstance(value, bool | int | float):
            return _js_string(value)
        if value is None:
            return ""
    if kind == "integer":
        if value is None or isinstance(value, bool):
            return int(value or 0)
        if isinstance(value, str) and value:
            try:
                number = float(value.strip() or "0")
            except ValueError:
                return value
            if number % 1 == 0:
                return int(number)
    return value


class _InvalidError(Exception):
    pass


def _check(schema: dict[str, Any], value: Any, path: str) -> Any:
    """Return the value, coerced; raise at the first fault, in ajv's order."""
    kind = schema["type"]
    value = _coerce(kind, value)
    if not _is(kind, value):
        raise _InvalidError(f"{path} must be {kind}")
    if kind == "integer":
        if value > schema.get("maximum", value):
            raise _InvalidError(f"{path} must be <= {schema['maximum']}")
        if value < schema.get("minimum", value):
            raise _InvalidError(f"{path} must be >= {schema['minimum']}")
    if kind == "string":
        if len(value) > schema.get("maxLength", len(value)):
            raise _InvalidError(
                f"{path} must NOT have more than {schema['maxLength']} characters"
            )
        if len(value) < schema.get("minLength", 0):
            raise _InvalidError(
                f"{path} must NOT have fewer than {schema['minLength']} characters"
            )
    if kind == "object":
        members = schema["properties"]
        value = {
            **{k: s["default"] for k, s in members.items() if "default" in s},
            **value,
        }
        for name in schema.get("required", []):
            if name not in value:
                raise _InvalidError(f"{path} must have required property '{name}'")
        if schema.get("additionalProperties") is False:
            for name in value:
                if name not in members:
                    raise _InvalidError(f"{path} must NOT have additional properties")
        for name, member in members.items():
            if name in value:
                value[name] = _check(member, value[name], f"{path}/{name}")
    return value


def _validated(schema: dict[str, Any], value: Any, part: str) -> Any:
    try:
        return _check(schema, value, part)
    except _InvalidError as fault:
        raise _HttpError(400, str(fault), "FST_ERR_VALIDATION") from None


def _not_a_number(constant: str) -> Any:
    raise ValueError(constant)


def _body(request: Request, schema: dict[str, Any]) -> Any:
    """Parse the body by its content type, then validate it."""
    header = request.headers.get("Content-Type")
    media = (header or "").split(";")[0].strip().lower()
    value: Any = None
    if media == "application/json":
        if not request.raw:
            raise _HttpError(
                400,
                "Body cannot be empty when content-type is set to 'application/json'",
                "FST_ERR_CTP_EMPTY_JSON_BODY",
            )
        try:
            value = json.loads(request.raw, parse_constant=_not_a_number)
        except ValueError:
            raise _HttpError(
                400,
                "Body is not valid JSON but content-type is set to 'application/json'",
                "FST_ERR_CTP_INVALID_JSON_BODY",
            ) from None
    elif media == "text/plain":
        value = request.raw.decode(errors="replace")
    elif header is not None or request.raw:
        raise _HttpError(
            415, "Unsupported Media Type", "FST_ERR_CTP_INVALID_MEDIA_TYPE"
        )
    return _validated(schema, value, "body")


# --- the service -----------------------------------------------------------------------


def _send(body: Any, status: int = 200, *, refused: bool = False) -> Response:
    return Response(
        status,
        json.dumps(body, ensure_ascii=False, separators=(",", ":")),
        {"Content-Type": "application/json; charset=utf-8"},
        refused,
    )


def _route(function: Any) -> Any:
    def answer(self: Any, request: Request) -> Response:
        try:
            answered: Response = function(self, request)
        except _HttpError as error:
            return _send(error.body, error.status)
        return answered

    return answer


def _id(prefix: str) -> str:
    return f"{prefix}_" + "".join(secrets.choice(_ALPHABET) for _ in range(10))


def _iso(minutes: int = 0) -> str:
    moment = datetime.now(UTC) + timedelta(minutes=minutes)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _b64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


class MapMaker(Backend):
    """The lettering room of a map maker: names are set in capitals for the plate."""

    def __init__(self) -> None:
        super().__init__()
        self._secret = secrets.token_bytes(32)
        self._agents: dict[str, dict[str, Any]] = {}
        self._names: dict[str, str] = {}
        self._letterings: dict[str, dict[str, Any]] = {}
        self._claims: dict[str, dict[str, Any]] = {}
        self._owners: dict[str, str] = {}  # claim -> agent
        self._proofs: dict[str, dict[str, Any]] = {}
        for sheet, layer, name, credits_ in _LETTERINGS:
            key = _id("let")
            self._names[key] = name
            self._letterings[key] = {
                "id": key,
                "sheet": sheet,
                "layer": layer,
                "scale": "1:25000",
                "brief": "Set the name in capitals",
                "rewardCredits": credits_,
                "state": "open",
                "createdAt": _iso(-600),
            }

    def texts(self) -> dict[str, str]:
        return dict(self._names)

    def missing(self, request: Request) -> Response:
        url = request.path + ("?" + urlencode(request.query) if request.query else "")
        return _send(
            {
                "message": f"Route {request.method}:{url} not found",
                "error": "Not Found",
                "statusCode": 404,
            },
            404,
        )

    def _sign(self, agent_id: str) -> str:
        parts = [
            {"alg": "HS256", "typ": "JWT"},
            {"sub": agent_id, "iat": int(time.time()), "jti": secrets.token_hex(6)},
        ]
        signed = ".".join(
            _b64url(json.dumps(p, separators=(",", ":")).encode()) for p in parts
        )
        mac = hmac.new(self._secret, signed.encode(), hashlib.sha256).digest()
        return f"{signed}.{_b64url(mac)}"

    def _verify(self, request: Request) -> dict[str, Any]:
        """Do as @fastify/jwt's request.jwtVerify does, in an onRequest hook."""
        header = request.headers.get("Authorization")
        if not header:
            raise _HttpError(
                401,
                "No Authorization was found in request.headers",
                "FST_JWT_NO_AUTHORIZATION_IN_HEADER",
            )
        if not request.token:
            raise _HttpError(
                400,
                "Format is Authorization: Bearer [token]",
                "FST_JWT_BAD_REQUEST",
            )
        agent = self._agents.get(request.token)
        if agent is None:
            why = (
                "The token signature is invalid."
                if request.token.count(".") == 2
                else "The token is malformed."
            )
            raise _HttpError(
                401,
                f"Authorization token is invalid: {why}",
                "FST_JWT_AUTHORIZATION_TOKEN_INVALID",
            )
        return agent

    def _claim(self, agent: dict[str, Any], wanted: str) -> dict[str, Any]:
        claim = self._claims.get(wanted)
        if claim is None:
            raise _HttpError(404, f"Claim {wanted} not found")
        if self._owners[wanted] != agent["id"]:
            raise _HttpError(403, f"Claim {wanted} is held by another agent")
        return claim

    @_route
    def register(self, request: Request) -> Response:
        _body(request, _AGENT_BODY)
        self.book.registrations += 1
        agent = {"id": _id("agt"), "credits": 100}
        token = self._sign(str(agent["id"]))
        self._agents[token] = agent
        return _send(
            {
                "agent_id": agent["id"],
                "access_token": token,
                "credits": 100,
                "createdAt": _iso(),
            }
        )

    @_route
    def tasks(self, request: Request) -> Response:
        self._verify(request)
        query = _validated(_LIST_QUERY, dict(request.query), "querystring")
        every = list(self._letterings.values())
        return _send(
            {
                "data": every[: query["limit"]],
                "page": {"limit": query["limit"], "total": len(every)},
            }
        )

    @_route
    def claim(self, request: Request) -> Response:
        agent = self._verify(request)
        body = _body(request, _CLAIM_BODY)
        key = body["letteringId"]
        lettering = self._letterings.get(key)
        if lettering is None:
            raise _HttpError(404, f"Lettering {key} not found")
        if lettering["state"] != "open":
            raise _HttpError(409, f"Lettering {key} is {lettering['state']}")
        lettering["state"] = "claimed"
        claim = {
            "id": _id("clm"),
            "letteringId": key,
            "state": "active",
            "expiresAt": _iso(120),
        }
        self._claims[claim["id"]] = claim
        self._owners[claim["id"]] = agent["id"]
        self.book.claimed(key)
        return _send(
            {"claim": claim, "lettering": {**lettering, "name": self._names[key]}}
        )

    @_route
    def submit(self, request: Request) -> Response:
        agent = self._verify(request)
        body = _body(request, _SUBMIT_BODY)
        claim = self._claim(agent, body["claimId"])
        if claim["state"] != "active":
            raise _HttpError(409, f"Claim {claim['id']} is {claim['state']}")
        right = body["proof"]["text"] == self._names[claim["letteringId"]].upper()
        proof = {
            "id": _id("prf"),
            "claimId": claim["id"],
            "text": body["proof"]["text"],
            "state": "approved" if right else "rejected",
            "remark": None if right else "Text is not the name in capitals",
        }
        self._proofs[proof["id"]] = proof
        if right:
            claim["state"] = "proofed"
            self._letterings[claim["letteringId"]]["state"] = "proofed"
        return _send({"proof": proof, "claim": claim}, refused=not right)

    @_route
    def complete(self, request: Request) -> Response:
        agent = self._verify(request)
        body = _body(request, _COMPLETE_BODY)
        claim = self._claim(agent, body["claimId"])
        proof = self._proofs.get(body["proofId"])
        if proof is None or proof["claimId"] != claim["id"]:
            raise _HttpError(404, f"Proof {body['proofId']} not found")
        if proof["state"] != "approved":
            raise _HttpError(409, f"Proof {proof['id']} is {proof['state']}")
        if claim["state"] != "proofed":
            raise _HttpError(409, f"Claim {claim['id']} is {claim['state']}")
        lettering = self._letterings[claim["letteringId"]]
        claim["state"] = "completed"
        lettering["state"] = "engraved"
        self.book.pay(lettering["id"], lettering["rewardCredits"])
        agent["credits"] += lettering["rewardCredits"]
        return _send(
            {
                "claim": claim,
                "payment": {
                    "creditsPaid": lettering["rewardCredits"],
                    "balance": agent["credits"],
                    "paidAt": _iso(),
                },
            }
        )
