"""Tarmac: a bounty board as a start-up writes it in Go, with chi and encoding/json.

Requests are decoded into structs with DisallowUnknownFields and then checked by hand, one
check after the other; every refusal is {"error": "<sentence>"}. Completion pays.
"""
# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

TASKS = "/functions/v1/get-marketplace-tasks"
BOARD = [
    ("Gate sign B22", "boarding closes ten minutes before departure", 12),
    ("Baggage belt notice", "please check the tag on your bag", 8),
    ("Lounge door plate", "quiet room, no phone calls", 15),
    ("Shuttle timetable header", "every 20 minutes until midnight", 20),
    ("Apron warning board", "hearing protection required beyond this point", 9),
    ("Café menu strip", "crème brûlée & espresso", 25),
    ("Taxi rank panel", "queue here for all terminals", 11),
]


class _Refused(Exception):  # noqa: N818
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.response = Response(status, {"error": message})


def _handler(handler: Callable[..., Response]) -> Callable[..., Response]:
    @wraps(handler)
    def answer(self: "Tarmac", request: Request) -> Response:
        try:
            return handler(self, request, self._agent(request))
        except _Refused as no:
            return no.response

    return answer


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _kind(value: Any) -> str:
    """Return the word that encoding/json has for a value it cannot store."""
    words = {bool: "bool", str: "string", list: "array", dict: "object"}
    return words.get(type(value), "number")


def _decode(request: Request, struct: str, fields: dict[str, str]) -> dict[str, Any]:  # noqa: PLR0915
    """Decode a body into a struct as json.Decoder does: absent fields are zero values."""
    text = request.raw.decode(errors="replace")
    if not text.strip():
        raise _Refused(400, "invalid request body: EOF")
    try:
        body, _ = json.JSONDecoder().raw_decode(text.lstrip())
    except json.JSONDecodeError as bad:
        if bad.pos >= len(bad.doc.rstrip()) or bad.msg.startswith("Unterminated"):
            raise _Refused(400, "invalid request body: unexpected EOF") from None
        place = "looking for beginning of value"
        if "property name" in bad.msg:
            place = "looking for beginning of object key string"
        elif "':'" in bad.msg:
            place = "after object key"
        elif "','" in bad.msg:
            place = "after object key:value pair"
        raise _Refused(
            400, f"invalid request body: invalid character '{bad.doc[bad.pos]}' {place}"
        ) from None
    values: dict[str, Any] = {k: "" if v == "string" else 0 for k, v in fields.items()}
    if body is None:
        return values
    if not isinstance(body, dict):
        raise _Refused(
            400,
            f"invalid request body: json: cannot unmarshal {_kind(body)} "
            f"into Go value of type api.{struct}",
        )
    for key, value in body.items():
        name = key if key in fields else key.lower()
        if name not in fields:
            raise _Refused(400, f'invalid request body: json: unknown field "{key}"')
        if value is None:
            continue
        wanted = fields[name]
        fits = (
            isinstance(value, str)
            if wanted == "string"
            else isinstance(value, int) and not isinstance(value, bool)
        )
        if not fits:
            what = _kind(value)
            if what == "number" and wanted != "string":
                what = f"number {json.dumps(value)}"
            raise _Refused(
                400,
                f"invalid request body: json: cannot unmarshal {what} into Go struct "
                f"field {struct}.{name} of type {wanted}",
            )
        values[name] = value
    return values


class Tarmac(Backend):
    """Bounties with whole numbers for ids, claims and deliveries with prefixed ones."""

    def __init__(self) -> None:
        super().__init__()
        now = datetime.now(UTC)
        self._bounties: dict[int, dict[str, Any]] = {
            1041 + n: {
                "id": 1041 + n,
                "headline": headline,
                "brief": "Set the source text in capital letters, nothing else changed.",
                "source_text": text,
                "reward": {"amount": reward, "unit": "credits"},
                "state": "open",
                "posted_at": _stamp(now - timedelta(hours=20 - n)),
            }
            for n, (headline, text, reward) in enumerate(BOARD)
        }
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._claims: dict[str, dict[str, Any]] = {}
        self._deliveries: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {str(key): b["source_text"] for key, b in self._bounties.items()}

    def missing(self, request: Request) -> Response:
        allowed = next(
            (m for m, path in ACTIONS if path == request.path), request.method
        )
        if allowed != request.method:
            return Response(405, "", {"Allow": allowed})
        return super().missing(request)

    def _agent(self, request: Request) -> dict[str, Any]:
        if not request.headers.get("Authorization"):
            raise _Refused(401, "missing Authorization header")
        if not request.token:
            raise _Refused(401, "Authorization header must be: Bearer <access_token>")
        if request.token not in self._agents:
            raise _Refused(401, "invalid access token")
        return self._agents[request.token]

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent = {"agent_id": f"agt_{secrets.token_hex(8)}", "credits": 100}
        token = f"tmk_{secrets.token_urlsafe(24)}"
        self._agents[token] = agent
        return Response(200, {**agent, "access_token": token})

    def agents(self, request: Request) -> Response:
        return Response(200, {"agents": [a["agent_id"] for a in self._agents.values()]})

    directory = agents

    def tasks(self, request: Request) -> Response:
        limit, after = (
            request.query.get("limit") or "3",
            request.query.get("after") or "0",
        )
        if not limit.isdecimal() or not 1 <= int(limit) <= 50:
            return Response(400, {"error": "limit must be between 1 and 50"})
        if not after.isdecimal():
            return Response(400, {"error": "after must be a bounty id"})
        rows = self._bounties.values()
        found = [b for b in rows if b["state"] == "open" and b["id"] > int(after)]
        shown = found[: int(limit)]
        body: dict[str, Any] = {"bounties": shown or None}  # a nil slice
        if len(found) > len(shown):
            body["next"] = f"{TASKS}?limit={limit}&after={shown[-1]['id']}"
        return Response(200, body)

    marketplace = tasks

    @_handler
    def claim(self, request: Request, agent: dict[str, Any]) -> Response:
        fields = {"bounty_id": "int64", "eta_minutes": "int"}
        asked = _decode(request, "claimRequest", fields)
        number, eta = asked["bounty_id"], asked["eta_minutes"]
        if number == 0:
            raise _Refused(400, "bounty_id is required")
        if not 5 <= eta <= 240:
            raise _Refused(400, "eta_minutes must be between 5 and 240")
        bounty = self._bounties.get(number)
        if bounty is None:
            raise _Refused(404, f"bounty {number} not found")
        if bounty["state"] != "open":
            raise _Refused(409, f"bounty {number} is {bounty['state']}, not open")
        bounty["state"] = "held"
        self.book.claimed(str(number))
        claim = {
            "id": f"clm_{secrets.token_hex(6)}",
            "bounty_id": number,
            "agent_id": agent["agent_id"],
            "status": "held",
            "expires_at": _stamp(datetime.now(UTC) + timedelta(minutes=eta)),
        }
        self._claims[claim["id"]] = claim
        return Response(200, {"claim": claim})

    @_handler
    def submit(self, request: Request, agent: dict[str, Any]) -> Response:
        fields = {"claim_id": "string", "output": "string"}
        asked = _decode(request, "deliverRequest", fields)
        if not asked["claim_id"]:
            raise _Refused(400, "claim_id is required")
        if not asked["output"]:
            raise _Refused(400, "output must not be empty")
        claim = self._claims.get(asked["claim_id"])
        if claim is None or claim["agent_id"] != agent["agent_id"]:
            raise _Refused(404, f"claim {json.dumps(asked['claim_id'])} not found")
        if claim["status"] != "held":
            raise _Refused(409, f"claim {claim['id']} is already {claim['status']}")
        bounty = self._bounties[claim["bounty_id"]]
        if asked["output"] != bounty["source_text"].upper():
            raise _Refused(
                422, f"output was not accepted for bounty {bounty['id']}, try again"
            )
        claim["status"] = bounty["state"] = "delivered"
        delivery = {
            "id": f"dlv_{secrets.token_hex(6)}",
            "claim_id": claim["id"],
            "status": "accepted",
        }
        self._deliveries[delivery["id"]] = delivery
        return Response(200, {"delivery": delivery})

    @_handler
    def complete(self, request: Request, agent: dict[str, Any]) -> Response:
        fields = {"delivery_id": "string", "minutes_spent": "int"}
        asked = _decode(request, "settleRequest", fields)
        if not asked["delivery_id"]:
            raise _Refused(400, "delivery_id is required")
        if asked["minutes_spent"] < 1:
            raise _Refused(400, "minutes_spent must be at least 1")
        delivery = self._deliveries.get(asked["delivery_id"])
        claim = self._claims[delivery["claim_id"]] if delivery else None
        if claim is None or claim["agent_id"] != agent["agent_id"]:
            raise _Refused(
                404, f"delivery {json.dumps(asked['delivery_id'])} not found"
            )
        if delivery["status"] == "settled":
            raise _Refused(409, f"delivery {delivery['id']} is already settled")
        bounty = self._bounties[claim["bounty_id"]]
        delivery["status"], claim["status"], bounty["state"] = (
            "settled",
            "settled",
            "closed",
        )
        amount = bounty["reward"]["amount"]
        agent["credits"] += amount
        self.book.pay(str(bounty["id"]), amount)
        return Response(
            200, {"delivery": delivery, "paid": amount, "balance": agent["credits"]}
        )
