"""Headings for seed packets, from a TypeScript service: Hono on an edge runtime, zod 3.

@hono/zod-validator answers 400 with safeParse's result as it is; all schemas are strict. The
output is a discriminated union. The reward has to be named in the claim, so that nobody works
for another one than he saw. The team's own errors are an object with a code and a message.
"""

import re
import secrets
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_PACKETS = [
    ("Lettuce", "crisp hearts in eight weeks", 9),
    ("Runner bean", "sow two to a hole, one for the crow", 16),
    ("Beetroot", "sweet, round and slow to bolt", 12),
    ("Poppy", "scatter on bare ground in march", 8),
    ("Leek", "stands through the hardest frost", 13),
    ("Sunflower", "taller than the garden gate", 19),
    ("Parsnip", "be patient: three weeks to sprout", 11),
    ("Sweet pea", "pick often and they keep coming", 22),
    ("Kale", "better after the first snow", 7),
    ("Marrow", "give it the sunny end of the heap", 15),
    ("Radish", "ready before you remember it", 5),
    ("Chard", "stems in five bright colours", 10),
]
_PAGE = 4
_AT_ONCE = 3
_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"

Issue = dict[str, Any]


def _nano(prefix: str) -> str:
    return prefix + "".join(secrets.choice(_ALPHABET) for _ in range(12))


class _HTTPException(Exception):  # noqa: N818
    def __init__(self, status: int, code: str, message: str, **more: Any) -> None:
        super().__init__(message)
        error = {"code": code, "message": message, **more}
        self.response = Response(status, {"error": error})


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    names = {str: "string", int: "number", float: "number", list: "array"}
    return names.get(type(value), "object")


def _mistyped(expected: str, path: list[Any], value: Any, missing: bool) -> list[Issue]:
    received = "undefined" if missing else _kind(value)
    message = "Required" if missing else f"Expected {expected}, received {received}"
    return [
        {
            "code": "invalid_type",
            "expected": expected,
            "received": received,
            "path": path,
            "message": message,
        }
    ]


def _prefixed(prefix: str) -> Any:
    """z.string().regex(/^pkt_[a-z0-9]{12}$/, "...")"""

    def parse(value: Any, path: list[Any], missing: bool) -> list[Issue]:
        if missing or not isinstance(value, str):
            return _mistyped("string", path, value, missing)
        if re.fullmatch(prefix + "[a-z0-9]{12}", value):
            return []
        message = f"Must be an id that starts with {prefix}"
        return [
            {
                "validation": "regex",
                "code": "invalid_string",
                "message": message,
                "path": path,
            }
        ]

    return parse


def _whole(value: Any, path: list[Any], missing: bool) -> list[Issue]:
    """z.number().int().positive()"""
    if missing or isinstance(value, bool) or not isinstance(value, int | float):
        return _mistyped("number", path, value, missing)
    found: list[Issue] = []
    if value != int(value):
        found.append(
            {
                "code": "invalid_type",
                "expected": "integer",
                "received": "float",
                "message": "Expected integer, received float",
                "path": path,
            }
        )
    if value <= 0:
        found.append(
            {
                "code": "too_small",
                "minimum": 0,
                "type": "number",
                "inclusive": False,
                "exact": False,
                "message": "Number must be greater than 0",
                "path": path,
            }
        )
    return found


def _filled(value: Any, path: list[Any], missing: bool) -> list[Issue]:
    """z.string().min(1)"""
    if missing or not isinstance(value, str):
        return _mistyped("string", path, value, missing)
    if value:
        return []
    return [
        {
            "code": "too_small",
            "minimum": 1,
            "type": "string",
            "inclusive": True,
            "exact": False,
            "message": "String must contain at least 1 character(s)",
            "path": path,
        }
    ]


def _enum(*options: str) -> Any:
    """z.enum([...])"""
    shown = " | ".join(f"'{option}'" for option in options)

    def parse(value: Any, path: list[Any], missing: bool) -> list[Issue]:
        if missing or not isinstance(value, str):
            return _mistyped(shown, path, value, missing)
        if value in options:
            return []
        return [
            {
                "received": value,
                "code": "invalid_enum_value",
                "options": list(options),
                "path": path,
                "message": f"Invalid enum value. Expected {shown}, received '{value}'",
            }
        ]

    return parse


def _strict(**shape: Any) -> Any:
    """z.object({...}).strict()"""

    def parse(value: Any, path: list[Any], missing: bool) -> list[Issue]:
        if missing or not isinstance(value, dict):
            return _mistyped("object", path, value, missing)
        found: list[Issue] = []
        for name, inner in shape.items():
            found += inner(value.get(name), [*path, name], name not in value)
        if unknown := [name for name in value if name not in shape]:
            names = ", ".join(f"'{name}'" for name in unknown)
            found.append(
                {
                    "code": "unrecognized_keys",
                    "keys": unknown,
                    "path": path,
                    "message": f"Unrecognized key(s) in object: {names}",
                }
            )
        return found

    return parse


def _union(key: str, **variants: dict[str, Any]) -> Any:
    """z.discriminatedUnion(key, [...])"""
    shown = " | ".join(f"'{name}'" for name in variants)

    def parse(value: Any, path: list[Any], missing: bool) -> list[Issue]:
        if missing or not isinstance(value, dict):
            return _mistyped("object", path, value, missing)
        chosen = value.get(key)
        if not isinstance(chosen, str) or chosen not in variants:
            return [
                {
                    "code": "invalid_union_discriminator",
                    "options": list(variants),
                    "path": [*path, key],
                    "message": f"Invalid discriminator value. Expected {shown}",
                }
            ]
        shape = {key: lambda *_: [], **variants[chosen]}
        found: list[Issue] = _strict(**shape)(value, path, False)
        return found

    return parse


_CLAIM = _strict(packetId=_prefixed("pkt_"), expectedReward=_whole)
_SUBMIT = _strict(
    reservationId=_prefixed("rsv_"),
    output=_union("kind", text={"value": _filled}, image={"url": _filled}),
)
_COMPLETE = _strict(outputId=_prefixed("out_"), outcome=_enum("printed", "withdrawn"))


class SeedPackets(Backend):
    """Reserve at the reward shown, hand in a text output, have it printed."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.reservations: dict[str, dict[str, Any]] = {}
        self.outputs: dict[str, dict[str, Any]] = {}
        self.packets = {}
        for variety, heading, reward in _PACKETS:
            key = "pkt_" + sha256(variety.encode()).hexdigest()[:12]
            self.packets[key] = {
                "id": key,
                "variety": variety,
                "prompt": {"kind": "text", "heading": heading, "case": "upper"},
                "reward": reward,
                "state": "open",
                "createdAt": int(datetime.now(UTC).timestamp() * 1000),
            }

    def texts(self) -> dict[str, str]:
        return {key: p["prompt"]["heading"] for key, p in self.packets.items()}  # type: ignore[index]

    def missing(self, request: Request) -> Response:
        return Response(404, "404 Not Found")

    def agent(self, request: Request) -> Response | dict[str, Any]:
        """hono/bearer-auth: 401 without a token, 400 for a bad header, 401 for a bad one."""
        given = request.headers.get("Authorization")
        realm = 'Bearer realm=""'
        if not given:
            return Response(401, "Unauthorized", {"WWW-Authenticate": realm})
        if not re.fullmatch(r"Bearer +[A-Za-z0-9._~+/-]+=*", given):
            challenge = 'Bearer error="invalid_request"'
            return Response(400, "Bad Request", {"WWW-Authenticate": challenge})
        if request.token not in self.agents:
            challenge = 'Bearer error="invalid_token"'
            return Response(401, "Unauthorized", {"WWW-Authenticate": challenge})
        return self.agents[request.token]

    def routed(self, request: Request, schema: Any, handler: Any) -> Response:
        agent = self.agent(request)
        if isinstance(agent, Response):
            return agent
        body: Any = {}
        media = request.headers.get("Content-Type") or ""
        if re.match(r"application/([a-z-.]+\+)?json(;|$)", media):
            try:
                body = request.json()
            except ValueError:
                return Response(400, "Malformed JSON in request body")
        if issues := schema(body, [], False):
            error = {"issues": issues, "name": "ZodError"}
            return Response(400, {"success": False, "error": error})
        try:
            answer: Response = handler(body, agent)
        except _HTTPException as exception:
            return exception.response
        return answer

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_urlsafe(30)
        self.agents[token] = {"agent_id": _nano("agt_"), "credits": 100}
        return Response(200, {**self.agents[token], "access_token": token})

    def marketplace(self, request: Request) -> Response:
        """List open packets; the query is z.coerce.number(), the cursor is an id."""
        text = request.query.get("limit", str(_PAGE))
        if not re.fullmatch(r"\d{1,6}", text):
            issues = _mistyped("number", ["limit"], text, False)
            issues[0] |= {"received": "nan", "message": "Expected number, received nan"}
            error = {"issues": issues, "name": "ZodError"}
            return Response(400, {"success": False, "error": error})
        size = max(1, min(int(text), _PAGE))
        keys = list(self.packets)
        cursor = request.query.get("cursor", "")
        if cursor and cursor not in self.packets:
            words = f"No packet {cursor} to go on from"
            return _HTTPException(400, "BAD_CURSOR", words).response
        rest = keys[keys.index(cursor) + 1 :] if cursor else keys
        every = [self.packets[k] for k in rest if self.packets[k]["state"] == "open"]
        shown = every[:size]
        following = shown[-1]["id"] if len(every) > size else None
        return Response(200, {"packets": shown, "nextCursor": following})

    def tasks(self, request: Request) -> Response:
        agent = self.agent(request)
        return agent if isinstance(agent, Response) else self.marketplace(request)

    def claim(self, request: Request) -> Response:
        return self.routed(request, _CLAIM, self.on_claim)

    def on_claim(self, body: dict[str, Any], agent: dict[str, Any]) -> Response:
        packet = self.packets.get(body["packetId"])
        if packet is None:
            words = f"No packet with id {body['packetId']}"
            raise _HTTPException(404, "PACKET_NOT_FOUND", words)
        if packet["state"] != "open":
            words = f"Packet {packet['id']} is {packet['state']}"
            raise _HTTPException(409, "PACKET_NOT_OPEN", words, state=packet["state"])
        if body["expectedReward"] != packet["reward"]:
            words = (
                f"expectedReward is {body['expectedReward']:g}, "
                f"but the packet's reward is {packet['reward']}"
            )
            raise _HTTPException(409, "REWARD_MISMATCH", words)
        mine = [r for r in self.reservations.values() if r["agent"] is agent]
        if sum(r["state"] in ("reserved", "delivered") for r in mine) >= _AT_ONCE:
            words = f"You hold {_AT_ONCE} reservations already; finish one first"
            raise _HTTPException(409, "TOO_MANY_RESERVATIONS", words, max=_AT_ONCE)
        packet["state"] = "reserved"
        self.book.claimed(packet["id"])  # type: ignore[arg-type]
        key = _nano("rsv_")
        self.reservations[key] = {"agent": agent, "packet": packet, "state": "reserved"}
        return Response(200, {"reservation": {"id": key, "packet": dict(packet)}})

    def submit(self, request: Request) -> Response:
        return self.routed(request, _SUBMIT, self.on_submit)

    def on_submit(self, body: dict[str, Any], agent: dict[str, Any]) -> Response:
        key, output = body["reservationId"], body["output"]
        reservation = self.reservations.get(key)
        if reservation is None or reservation["agent"] is not agent:
            words = f"You have no reservation with id {key}"
            raise _HTTPException(404, "RESERVATION_NOT_FOUND", words)
        if reservation["state"] != "reserved":
            words = f"Reservation {key} is {reservation['state']}"
            raise _HTTPException(409, "RESERVATION_NOT_ACTIVE", words)
        packet = reservation["packet"]
        if output["kind"] != packet["prompt"]["kind"]:
            words = f"This packet wants an output of kind {packet['prompt']['kind']}"
            raise _HTTPException(422, "OUTPUT_KIND_MISMATCH", words)
        if output["value"].strip() != packet["prompt"]["heading"].upper():
            words = "The output is not the heading in upper case"
            raise _HTTPException(422, "OUTPUT_REJECTED", words)
        reservation["state"] = packet["state"] = "delivered"
        made = _nano("out_")
        self.outputs[made] = reservation
        return Response(200, {"output": {"id": made, "reservationId": key, **output}})

    def complete(self, request: Request) -> Response:
        return self.routed(request, _COMPLETE, self.on_complete)

    def on_complete(self, body: dict[str, Any], agent: dict[str, Any]) -> Response:
        reservation = self.outputs.get(body["outputId"])
        if reservation is None or reservation["agent"] is not agent:
            words = f"You have no output with id {body['outputId']}"
            raise _HTTPException(404, "OUTPUT_NOT_FOUND", words)
        if reservation["state"] != "delivered":
            words = f"Output {body['outputId']} is already {reservation['state']}"
            raise _HTTPException(409, "ALREADY_COMPLETED", words)
        packet = reservation["packet"]
        reservation["state"] = body["outcome"]
        if body["outcome"] == "withdrawn":
            packet["state"] = "open"
            self.book.held.discard(packet["id"])
            return Response(200, {"packet": dict(packet), "paid": 0})
        packet["state"] = "printed"
        self.book.pay(packet["id"], packet["reward"])
        agent["credits"] += packet["reward"]
        credits_ = {"paid": packet["reward"], "credits": agent["credits"]}
        return Response(200, {"packet": dict(packet), **credits_})
