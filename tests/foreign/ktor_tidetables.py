"""Kotlin Ktor with kotlinx.serialization: Tidevannstabell AS, remarks in printed tide tables.

public-marketplace (no token) and get-marketplace-tasks (token) list {"remarks": [...]} without the text;
the text of a remark is in the claim's answer (`remark.text`).
claim    {"remarkId": 31}                                                        -> claimId, remark
submit   {"claimId": "...", "typeset": {"edition": 2026, "text": "..."}}         -> status ACCEPTED, pays
complete {"claimId": "..."}                                                      -> status CLOSED
Json is the strict default of Ktor: unknown keys are refused. Refusals: 400 {"code", "message"} with the
message of the SerializationException; 401 without a body; 404/409/422 {"code", "message"}.
"""

import json
import secrets
import time
from collections.abc import Callable
from functools import wraps
from typing import Any, Never

from tests.foreign.backend import Backend, Request, Response

REMARKS = [
    # id, port code, port, text, edition, credits, status
    (
        31,
        "NOBGO",
        "Bergen",
        "heights are referred to the chart datum of the port",
        2026,
        24,
        "OPEN",
    ),
    (
        32,
        "NOSVG",
        "Stavanger",
        "strong westerly winds may raise the level by half a metre",
        2026,
        28,
        "OPEN",
    ),
    (33, "NOTOS", "Tromso", "times are given in local standard time", 2026, 16, "OPEN"),
    (
        34,
        "NOBOO",
        "Bodo",
        "the tidal stream turns one hour after high water",
        2026,
        22,
        "OPEN",
    ),
    (
        35,
        "NOHFT",
        "Hammerfest",
        "predictions for this port are provisional",
        2026,
        18,
        "CLOSED",
    ),
    (
        36,
        "NOAES",
        "Alesund",
        "the inner harbour dries at extreme low water",
        2026,
        20,
        "OPEN",
    ),
]
PACKAGE = "no.tidevann.api"


class StatusPageError(Exception):
    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.response = Response(status, {"code": code, "message": message})


def bad(message: str) -> Never:
    raise StatusPageError(400, "MALFORMED_BODY", message)


def route(
    method: Callable[[Any, Request], Response],
) -> Callable[[Any, Request], Response]:
    @wraps(method)
    def call(self: Any, request: Request) -> Response:
        try:
            return method(self, request)
        except StatusPageError as stop:
            return stop.response
        except PermissionError:
            return Response(401, b"", {"WWW-Authenticate": 'Bearer realm="tidevann"'})

    return call


CLASSES = {
    "ClaimRequest": {"remarkId": "Long"},
    "SubmitRequest": {"claimId": "String", "typeset": "TypesetRemark"},
    "TypesetRemark": {"edition": "Int", "text": "String"},
    "CompleteRequest": {"claimId": "String"},
}


def whole(item: Any) -> int | None:
    """The number of a literal, or None if it has none."""
    if isinstance(item, (bool, float)):
        return None
    try:
        return int(item)
    except ValueError:
        return None


def decode(name: str, value: Any, raw: str, path: str = "$") -> dict[str, Any]:
    """Json.decodeFromString of a @Serializable class."""
    if not isinstance(value, dict):
        bad(
            f"Unexpected JSON token at offset 0: Expected start of the object '{{', but had "
            f"'{json.dumps(value)[0]}' instead at path: {path}\nJSON input: {raw}"
        )
    fields = CLASSES[name]
    clean: dict[str, Any] = {}
    for key, item in value.items():
        if key not in fields:
            offset = max(raw.find(f'"{key}"'), 0)
            bad(
                f"Encountered an unknown key '{key}' at offset {offset} at path: {path}\n"
                "Use 'ignoreUnknownKeys = true' in 'Json {}' builder or '@JsonIgnoreUnknownKeys' annotation "
                f"to ignore unknown keys.\nJSON input: {raw}"
            )
        kind, here = fields[key], f"{path}.{key}"
        if kind in CLASSES:
            clean[key] = decode(kind, item, raw, here)
        elif item is None:
            bad(
                f"Unexpected JSON token at offset {raw.find('null')}: Expected string literal but 'null' literal "
                f"was found at path: {here}\nUse 'coerceInputValues = true' in 'Json {{}}' builder to coerce nulls "
                f"if property has a default value.\nJSON input: {raw}"
            )
        elif isinstance(item, (dict, list)):
            bad(
                f"Unexpected JSON token at offset {raw.find(key) + len(key) + 2}: Expected beginning of the string, "
                f"but got {'{' if isinstance(item, dict) else '['} at path: {here}\nJSON input: {raw}"
            )
        elif kind in ("Long", "Int"):
            number = whole(item)
            if number is None:
                bad(
                    f"Failed to parse literal '{item}' as {'a long' if kind == 'Long' else 'an int'} value "
                    f"at path: {here}\nJSON input: {raw}"
                )
            clean[key] = number
        else:
            clean[key] = (
                item if isinstance(item, str) else json.dumps(item)
            )  # isLenient
    lacking = [f for f in fields if f not in clean]
    if len(lacking) == 1:
        bad(
            f"Field '{lacking[0]}' is required for type with serial name '{PACKAGE}.{name}', "
            f"but it was missing at path: {path}"
        )
    if lacking:
        bad(
            f"Fields [{', '.join(lacking)}] are required for type with serial name '{PACKAGE}.{name}', "
            f"but they were missing at path: {path}"
        )
    return clean


class KtorTidetables(Backend):
    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.claims: dict[str, dict[str, Any]] = {}
        self.remarks: dict[int, dict[str, Any]] = {
            id_: {
                "remarkId": id_,
                "portCode": code,
                "portName": port,
                "edition": edition,
                "length": len(text),
                "credits": credits_,
                "status": status,
                "text": text,
            }
            for id_, code, port, text, edition, credits_, status in REMARKS
        }
        self.earnable = {
            str(i): r["text"] for i, r in self.remarks.items() if r["status"] == "OPEN"
        }

    def texts(self) -> dict[str, str]:
        return dict(self.earnable)

    def missing(self, request: Request) -> Response:
        return Response(404, b"")

    def principal(self, request: Request) -> dict[str, Any]:
        if request.token not in self.agents:
            raise PermissionError
        return self.agents[request.token]

    def receive(self, request: Request, name: str) -> dict[str, Any]:
        raw = request.raw.decode(errors="replace")
        if not raw.strip():
            bad(f"Cannot transform this request's content to {PACKAGE}.{name}")
        try:
            value = request.json()
        except ValueError:
            bad(f"Failed to convert request body to class {PACKAGE}.{name}")
        return decode(name, value, raw)

    def own(self, agent: dict[str, Any], claim_id: str) -> dict[str, Any]:
        claim = self.claims.get(claim_id)
        if claim is None:
            raise StatusPageError(404, "CLAIM_NOT_FOUND", f"No claim {claim_id}")
        if claim["agent"] is not agent:
            raise StatusPageError(
                403, "NOT_YOUR_CLAIM", f"Claim {claim_id} belongs to another agent"
            )
        return claim

    @route
    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent = {"id": f"agent-{self.book.registrations:04d}", "credits": 100}
        token = secrets.token_urlsafe(24)
        self.agents[token] = agent
        return Response(
            200, {"agent_id": agent["id"], "access_token": token, "credits": 100}
        )

    def listing(self, request: Request) -> Response:
        limit = request.query.get("limit", "20")
        if not limit.isdigit() or not 1 <= int(limit) <= 200:
            raise StatusPageError(
                400,
                "BAD_PARAMETER",
                "Request parameter limit couldn't be parsed/converted to Int in 1..200",
            )
        remarks = [
            {k: v for k, v in r.items() if k != "text"} for r in self.remarks.values()
        ]
        return Response(200, {"remarks": remarks[: int(limit)], "total": len(remarks)})

    @route
    def marketplace(self, request: Request) -> Response:
        return self.listing(request)

    @route
    def tasks(self, request: Request) -> Response:
        self.principal(request)
        return self.listing(request)

    @route
    def claim(self, request: Request) -> Response:
        agent = self.principal(request)
        body = self.receive(request, "ClaimRequest")
        remark = self.remarks.get(body["remarkId"])
        if remark is None:
            raise StatusPageError(
                404, "REMARK_NOT_FOUND", f"No remark {body['remarkId']}"
            )
        claim = next((c for c in self.claims.values() if c["remark"] is remark), None)
        if claim is None:
            if remark["status"] != "OPEN":
                raise StatusPageError(
                    409,
                    "REMARK_NOT_OPEN",
                    f"Remark {remark['remarkId']} is {remark['status']}",
                )
            claim = {
                "claimId": "c" + secrets.token_hex(6),
                "agent": agent,
                "remark": remark,
                "status": "ASSIGNED",
                "assignedAt": int(time.time() * 1000),
            }
            self.claims[claim["claimId"]] = claim
            remark["status"] = "ASSIGNED"
            self.book.claimed(str(remark["remarkId"]))
        elif claim["agent"] is not agent:
            raise StatusPageError(
                409,
                "REMARK_NOT_OPEN",
                f"Remark {remark['remarkId']} is {remark['status']}",
            )
        return Response(
            200,
            {
                "claimId": claim["claimId"],
                "status": claim["status"],
                "assignedAt": claim["assignedAt"],
                "guideline": "Remarks are typeset in capitals. Return the text in upper case.",
                "remark": {
                    k: remark[k]
                    for k in (
                        "remarkId",
                        "portCode",
                        "portName",
                        "edition",
                        "text",
                        "credits",
                    )
                },
            },
        )

    @route
    def submit(self, request: Request) -> Response:
        agent = self.principal(request)
        body = self.receive(request, "SubmitRequest")
        claim = self.own(agent, body["claimId"])
        remark, typeset = claim["remark"], body["typeset"]
        if typeset["edition"] != remark["edition"]:
            raise StatusPageError(
                422,
                "WRONG_EDITION",
                f"Remark {remark['remarkId']} is for edition {remark['edition']}",
            )
        if typeset["text"] != remark["text"].upper():
            raise StatusPageError(
                422,
                "TEXT_MISMATCH",
                "typeset.text is not the text of the remark in upper case",
            )
        if claim["status"] == "ASSIGNED":
            claim["status"] = remark["status"] = "ACCEPTED"
            agent["credits"] += remark["credits"]
            self.book.pay(str(remark["remarkId"]), remark["credits"])
        return Response(
            200,
            {
                "claimId": claim["claimId"],
                "status": claim["status"],
                "creditsPaid": remark["credits"],
                "balance": agent["credits"],
            },
        )

    @route
    def complete(self, request: Request) -> Response:
        agent = self.principal(request)
        claim = self.own(agent, self.receive(request, "CompleteRequest")["claimId"])
        if claim["status"] == "ASSIGNED":
            raise StatusPageError(
                409, "NOT_SUBMITTED", f"Claim {claim['claimId']} has no accepted text"
            )
        claim["status"] = claim["remark"]["status"] = "CLOSED"
        return Response(
            200,
            {
                "claimId": claim["claimId"],
                "status": "CLOSED",
                "balance": agent["credits"],
            },
        )
