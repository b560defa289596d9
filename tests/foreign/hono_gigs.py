"""A gig board with escrow: Hono and zod 4, written by an assistant in an afternoon.

Bodies are checked by @hono/zod-validator without a hook, so that a refused body comes back
as the serialised result of safeParse: zod 4's error has no enumerable issues, only a name
and a message, which is the issues as indented JSON. Business refusals have a code.
"""

import json
import math
import secrets
import uuid
from datetime import UTC, datetime
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_UUID = (
    "/^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}"
    "-[0-9a-fA-F]{12}|00000000-0000-0000-0000-000000000000"
    "|ffffffff-ffff-ffff-ffff-ffffffffffff)$/"
)
_COPY = [
    "fresh bread, every morning from six",
    "we are hiring drivers in all three cities",
    "your parcel is waiting at counter 4",
    "rooms with a view from $89 a night",
    "summer sale ends on sunday",
    "the committee will meet again in june",
    "all our coffee is roasted on site",
    "ask about the student discount",
    "closed on public holidays",
]


class _HttpError(Exception):
    def __init__(self, status: int, code: str, message: str) -> None:
        self.answer = _json(
            {"success": False, "error": {"code": code, "message": message}}, status
        )


def _json(body: Any, status: int = 200) -> Response:
    text = json.dumps(body, separators=(",", ":"), ensure_ascii=False)
    return Response(
        status,
        text.encode(),
        {"Content-Type": "application/json", "Access-Control-Allow-Origin": "*"},
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _nano(prefix: str) -> str:
    return f"{prefix}_{secrets.token_hex(6)}"


# --- as much of zod 4 as the schemas below use; `...` stands for undefined --------------

Issue = dict[str, Any]


def _issue(text: str, **members: Any) -> list[Issue]:
    return [{**members, "path": [], "message": text}]


def _received(value: Any) -> str:
    if value is ...:
        return "undefined"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def _type(expected: str, value: Any) -> list[Issue]:
    return _issue(
        f"Invalid input: expected {expected}, received {_received(value)}",
        expected=expected,
        code="invalid_type",
    )


def _string(least: int = 0, prefix: str = "", *, is_uuid: bool = False) -> Any:
    def check(value: Any) -> list[Issue]:
        if not isinstance(value, str):
            return _type("string", value)
        if is_uuid:
            try:
                if str(uuid.UUID(value)) == value.lower():
                    return []
            except ValueError:
                pass
            return _issue(
                "Invalid UUID",
                origin="string",
                code="invalid_format",
                format="uuid",
                pattern=_UUID,
            )
        if len(value) < least:
            return _issue(
                f"Too small: expected string to have >={least} characters",
                origin="string",
                code="too_small",
                minimum=least,
                inclusive=True,
            )
        if not value.startswith(prefix):
            return _issue(
                f'Invalid string: must start with "{prefix}"',
                origin="string",
                code="invalid_format",
                format="starts_with",
                prefix=prefix,
            )
        return []

    return check


def _positive_int(value: Any) -> list[Issue]:
    if _received(value) != "number":
        return _type("number", value)
    if value != int(value):
        return _issue(
            "Invalid input: expected int, received number",
            expected="int",
            format="safeint",
            code="invalid_type",
        )
    if value <= 0:
        return _issue(
            "Too small: expected number to be >0",
            origin="number",
            code="too_small",
            minimum=0,
            inclusive=False,
        )
    return []


def _values(*values: Any) -> Any:
    def check(value: Any) -> list[Issue]:
        if any(type(value) is type(v) and value == v for v in values):
            return []
        shown = "|".join(json.dumps(v) for v in values)
        text = (
            f"Invalid input: expected {shown}"
            if len(values) == 1
            else f"Invalid option: expected one of {shown}"
        )
        return _issue(text, code="invalid_value", values=list(values))

    return check


def _optional(inner: Any) -> Any:
    return lambda value: [] if value is ... else inner(value)


def _object(**shape: Any) -> Any:
    def check(value: Any) -> list[Issue]:
        if not isinstance(value, dict):
            return _type("object", value)
        return [
            {k: ([name, *v] if k == "path" else v) for k, v in issue.items()}
            for name, inner in shape.items()
            for issue in inner(value.get(name, ...))
        ]

    return check


def _failed(issues: list[Issue]) -> Response:
    text = json.dumps(issues, indent=2, ensure_ascii=False)
    return _json(
        {"success": False, "error": {"name": "ZodError", "message": text}}, 400
    )


claim_schema = _object(
    gigId=_string(prefix="gig_"),
    agreedPrice=_positive_int,
    acceptEscrowTerms=_values(True),
    note=_optional(_string()),
)
submit_schema = _object(
    contractId=_string(is_uuid=True),
    deliverable=_object(type=_values("text", "link", "file"), content=_string(1)),
    message=_optional(_string()),
)
complete_schema = _object(
    contractId=_string(is_uuid=True),
    deliverableId=_string(prefix="dlv_"),
    action=_values("release_escrow", "cancel", "dispute"),
)


class HonoGigs(Backend):
    """Gigs, contracts, deliverables; escrow is released when the work is verified."""

    def __init__(self) -> None:
        super().__init__()
        self.agents_by_token: dict[str, str] = {}
        self.contracts: dict[str, dict[str, Any]] = {}
        self.copy: dict[str, str] = {}
        self.gigs: dict[str, dict[str, Any]] = {}
        for n, text in enumerate(_COPY):
            gig_id = _nano("gig")
            self.copy[gig_id] = text
            self.gigs[gig_id] = {
                "gigId": gig_id,
                "title": "Uppercase our copy",
                "description": "Deliver sourceText (you get it with the contract)"
                " converted to uppercase. Text only, no quotes, no comments.",
                "category": "copywriting",
                "price": 8 + 3 * (n % 3),
                "currency": "CREDITS",
                "status": "IN_PROGRESS" if n == 3 else "OPEN",
                "poster": {"name": "Northgate Media", "rating": 4.7},
                "createdAt": _now(),
            }
        self.earnable = [i for i, g in self.gigs.items() if g["status"] == "OPEN"]

    def texts(self) -> dict[str, str]:
        return {gig_id: self.copy[gig_id] for gig_id in self.earnable}

    def missing(self, request: Request) -> Response:
        return Response(404, "404 Not Found", {"Access-Control-Allow-Origin": "*"})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent_id, token = str(uuid.uuid4()), _nano("agt_live")
        self.agents_by_token[token] = agent_id
        return _json(
            {
                "success": True,
                "agent_id": agent_id,
                "access_token": token,
                "credits": 100,
            }
        )

    def tasks(self, request: Request) -> Response:
        text = request.query.get("limit", "20")
        try:
            limit = float(text or "0")
        except ValueError:
            limit = math.nan
        if math.isnan(limit):
            issues = _issue(
                "Invalid input: expected number, received NaN",
                expected="number",
                code="invalid_type",
                received="NaN",
            )
        else:
            issues = _positive_int(limit)
        if issues:
            return _failed([{**issue, "path": ["limit"]} for issue in issues])
        gigs = list(self.gigs.values())
        page = gigs[: int(limit)]
        return _json(
            {
                "success": True,
                "data": {"gigs": page},
                "meta": {"total": len(gigs), "hasMore": len(page) < len(gigs)},
            }
        )

    def marketplace(self, request: Request) -> Response:
        gigs = [g for g in self.gigs.values() if g["status"] == "OPEN"]
        return _json({"success": True, "data": {"gigs": gigs}})

    def claim(self, request: Request) -> Response:
        return self._route(request, claim_schema, self._claim)

    def submit(self, request: Request) -> Response:
        return self._route(request, submit_schema, self._submit)

    def complete(self, request: Request) -> Response:
        return self._route(request, complete_schema, self._complete)

    def _route(self, request: Request, schema: Any, handler: Any) -> Response:
        agent = self.agents_by_token.get(request.token)
        if agent is None:
            return _HttpError(
                401, "UNAUTHORIZED", "Missing or invalid access token"
            ).answer
        body: Any = {}
        if (request.headers.get("Content-Type") or "").startswith("application/json"):
            try:
                body = request.json()
            except ValueError:
                return Response(400, "Malformed JSON in request body")
        issues = schema(body)
        if issues:
            return _failed(issues)
        try:
            return _json({"success": True, "data": handler(agent, body)})
        except _HttpError as error:
            return error.answer

    def _claim(self, agent: str, body: dict[str, Any]) -> dict[str, Any]:
        gig = self.gigs.get(body["gigId"])
        if gig is None:
            raise _HttpError(404, "GIG_NOT_FOUND", "Gig not found")
        if gig["status"] != "OPEN":
            raise _HttpError(409, "GIG_NOT_OPEN", "This gig is no longer open")
        if body["agreedPrice"] != gig["price"]:
            raise _HttpError(
                422,
                "PRICE_MISMATCH",
                f"agreedPrice must match the gig price ({gig['price']} credits)",
            )
        gig["status"] = "IN_PROGRESS"
        contract = {
            "contractId": str(uuid.uuid4()),
            "gigId": gig["gigId"],
            "agentId": agent,
            "status": "ACTIVE",
            "escrow": {
                "escrowId": _nano("esc"),
                "amount": gig["price"],
                "status": "FUNDED",
            },
            "sourceText": self.copy[gig["gigId"]],
            "deliverable": None,
            "createdAt": _now(),
        }
        self.contracts[contract["contractId"]] = contract
        self.book.claimed(gig["gigId"])
        return {"contract": contract}

    def _contract(self, agent: str, body: dict[str, Any]) -> dict[str, Any]:
        contract = self.contracts.get(body["contractId"].lower())
        if contract is None:
            raise _HttpError(404, "CONTRACT_NOT_FOUND", "Contract not found")
        if contract["agentId"] != agent:
            raise _HttpError(403, "FORBIDDEN", "You are not a party to this contract")
        return contract

    def _submit(self, agent: str, body: dict[str, Any]) -> dict[str, Any]:
        contract = self._contract(agent, body)
        if contract["status"] not in ("ACTIVE", "DELIVERED"):
            raise _HttpError(
                409,
                "INVALID_STATUS",
                f"Cannot deliver while contract is {contract['status']}",
            )
        if body["deliverable"]["type"] != "text":
            raise _HttpError(
                422, "UNSUPPORTED_DELIVERABLE", 'This gig only accepts type "text"'
            )
        contract["deliverable"] = {
            "deliverableId": _nano("dlv"),
            "type": "text",
            "content": body["deliverable"]["content"],
            "submittedAt": _now(),
        }
        contract["status"] = "DELIVERED"
        return {
            "contractId": contract["contractId"],
            "status": "DELIVERED",
            "deliverable": contract["deliverable"],
        }

    def _complete(self, agent: str, body: dict[str, Any]) -> dict[str, Any]:
        contract = self._contract(agent, body)
        gig = self.gigs[contract["gigId"]]
        made = contract["deliverable"]
        if contract["status"] != "DELIVERED":
            raise _HttpError(
                409,
                "INVALID_STATUS",
                f"Contract is {contract['status']}, expected DELIVERED",
            )
        if made["deliverableId"] != body["deliverableId"]:
            raise _HttpError(404, "DELIVERABLE_NOT_FOUND", "Deliverable not found")
        if body["action"] == "dispute":
            raise _HttpError(403, "FORBIDDEN", "Only the poster can open a dispute")
        if body["action"] == "cancel":
            contract["status"], gig["status"] = "CANCELLED", "OPEN"
            contract["escrow"]["status"] = "REFUNDED"
            self.book.held.discard(gig["gigId"])
            return {"contract": contract, "payout": None}
        if made["content"] != self.copy[gig["gigId"]].upper():
            contract["status"] = "ACTIVE"
            raise _HttpError(
                422,
                "VERIFICATION_FAILED",
                "Deliverable does not match the brief. Escrow was not released,"
                " please submit a revision.",
            )
        contract["status"], gig["status"] = "COMPLETED", "COMPLETED"
        contract["escrow"]["status"] = "RELEASED"
        self.book.pay(gig["gigId"], gig["price"])
        return {"contract": contract, "payout": {"amount": gig["price"]}}
