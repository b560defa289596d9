"""A start-up's network in Python on Litestar, with msgspec structs and checks of its own.

A task is leased, its output delivered under the lease, and the delivery settled, which
pays. Names are in camel case; every action wants the agent in a header.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import re
import secrets
import uuid
from base64 import urlsafe_b64encode
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_MOST_LEASES = 3
_UUID = re.compile(r"[0-9a-fA-F]{8}(-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}")
_WORK = [
    ("Invoice banner", "payment is due within thirty days", 14),
    ("Door sign", "staff entrance on the left side", 28),
    ("Crate label", "fragile glass keep this side up", 33),
    ("Ticker line", "markets closed slightly higher today", 47),
    ("Bottle text", "shake well before every use", 52),
]


class _Invalid(Exception):  # noqa: N818
    """A value is not what the struct wants; carries the message and the key."""


def _no(status: int, detail: str, extra: Any = None) -> Response:
    body: dict[str, Any] = {"status_code": status, "detail": detail}
    if extra is not None:
        body["extra"] = extra
    return Response(status, body)


def _type(value: Any) -> str:
    if value is None:
        return "null"
    return {dict: "object", list: "array"}.get(type(value), type(value).__name__)


def _convert(value: Any, wanted: Any, key: str) -> Any:
    """Return the value as msgspec converts it.

    Raises:
        _Invalid: It is not of the wanted shape.
    """
    if isinstance(wanted, dict):
        if not isinstance(value, dict):
            raise _Invalid(f"Expected `object`, got `{_type(value)}`", key)
        found = {}
        for name, inner in wanted.items():
            if name not in value:
                raise _Invalid(f"Object missing required field `{name}`", key)
            under = name if key == "data" else f"{key}.{name}"
            found[name] = _convert(value[name], inner, under)
        return found
    kind, *bounds = wanted.split()
    got = "str" if kind == "uuid" else kind
    if _type(value) != got:
        raise _Invalid(f"Expected `{got}`, got `{_type(value)}`", key)
    if kind == "uuid":
        if not _UUID.fullmatch(value):
            raise _Invalid("Invalid UUID", key)
        return str(uuid.UUID(value))
    if kind == "str" and bounds and len(value) < int(bounds[0]):
        raise _Invalid(f"Expected `str` of length >= {bounds[0]}", key)
    if kind == "int" and bounds and value < int(bounds[0]):
        raise _Invalid(f"Expected `int` >= {bounds[0]}", key)
    if kind == "int" and bounds and value > int(bounds[1]):
        raise _Invalid(f"Expected `int` <= {bounds[1]}", key)
    return value


class LitestarNetwork(Backend):
    """Leases, deliveries and settlements."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}  # token -> agent
        self._balances: dict[str, int] = {}
        self._tasks: dict[str, dict[str, Any]] = {}
        self._leases: dict[str, dict[str, Any]] = {}
        self._deliveries: dict[str, dict[str, Any]] = {}
        for headline, text, amount in _WORK:
            id_ = str(uuid.uuid4())
            self._tasks[id_] = {
                "taskId": id_,
                "headline": headline,
                "category": "uppercase",
                "input": {"sourceText": text, "language": "en"},
                "bounty": {"amount": amount, "unit": "credits"},
                "status": "OPEN",
                "maxLeaseMinutes": 240,
                "publishedAt": self._now(),
            }

    @staticmethod
    def _now(minutes: int = 0) -> str:
        return (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat()

    def texts(self) -> dict[str, str]:
        """Return the source text of each task."""
        return {id_: task["input"]["sourceText"] for id_, task in self._tasks.items()}

    def missing(self, request: Request) -> Response:
        """Return Litestar's answer to a route that is not there."""
        methods = [method for method, path in ACTIONS if path == request.path]
        if methods and request.method not in methods:
            answer = _no(405, "Method Not Allowed")
            answer.headers["Allow"] = ", ".join([*methods, "OPTIONS"])
            return answer
        return _no(404, "Not Found")

    def _read(self, request: Request, struct: dict[str, Any]) -> Any:
        """Return the agent and the checked body, or the refusal."""
        if not request.token:
            return _no(401, "No JWT token found in request header")
        if request.token not in self._agents:
            return _no(401, "Invalid token")
        header = request.headers.get("X-Agent-Id")
        if header is None:
            detail = "Missing required header parameter 'X-Agent-Id' for path"
            return _no(400, f"{detail} {request.path}")
        agent = self._agents[request.token]
        if header != agent:
            return _no(403, "X-Agent-Id does not belong to this token")
        try:
            data = json.loads(request.raw)
        except ValueError:
            return _no(400, "JSON is malformed: invalid character (byte 0)")
        try:
            return agent, _convert(data, struct, "data")
        except _Invalid as error:
            message, key = error.args
            extra = [{"message": message, "key": key, "source": "body"}]
            return _no(400, f"Validation failed for POST {request.path}", extra)

    def register(self, request: Request) -> Response:
        """Make an agent with a token of the usual look."""
        self.book.registrations += 1
        agent = str(uuid.uuid4())

        def part(value: dict[str, str]) -> str:
            return urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

        head = part({"alg": "HS256", "typ": "JWT"})
        token = f"{head}.{part({'sub': agent})}.{secrets.token_urlsafe(32)}"
        self._agents[token] = agent
        self._balances[agent] = 100
        body = {"agent_id": agent, "access_token": token, "credits": 100}
        return Response(200, {**body, "createdAt": self._now()})

    def tasks(self, request: Request) -> Response:
        """List the open tasks in the framework's offset pagination."""
        values = {}
        for name, default, least, most in (
            ("limit", 20, 1, 50),
            ("offset", 0, 0, 10**6),
        ):
            given = request.query.get(name, str(default))
            message = ""
            if not re.fullmatch(r"-?\d+", given):
                message = "Expected `int`, got `str`"
            elif int(given) < least:
                message = f"Expected `int` >= {least}"
            elif int(given) > most:
                message = f"Expected `int` <= {most}"
            if message:
                query = "&".join(
                    f"{key}={value}" for key, value in request.query.items()
                )
                detail = f"Validation failed for GET {request.path}?{query}"
                extra = [{"message": message, "key": name, "source": "query"}]
                return _no(400, detail, extra)
            values[name] = int(given)
        found = [task for task in self._tasks.values() if task["status"] == "OPEN"]
        start = values["offset"]
        items = found[start : start + values["limit"]]
        return Response(200, {"items": items, **values, "total": len(found)})

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        """Lease a task for some minutes."""
        read = self._read(request, {"taskId": "uuid", "leaseMinutes": "int 5 240"})
        if isinstance(read, Response):
            return read
        agent, data = read
        task = self._tasks.get(data["taskId"])
        if not task:
            return _no(404, f"Task {data['taskId']} not found")
        if task["status"] != "OPEN":
            return _no(409, f"Task is not open (status: {task['status']})")
        active = [
            lease["leaseId"]
            for lease in self._leases.values()
            if lease["agentId"] == agent and lease["status"] == "ACTIVE"
        ]
        if len(active) >= _MOST_LEASES:
            detail = f"Agent already holds {len(active)} active leases"
            return _no(409, detail, {"maxActiveLeases": _MOST_LEASES, "leases": active})
        lease = {
            "leaseId": str(uuid.uuid4()),
            "taskId": task["taskId"],
            "agentId": agent,
            "status": "ACTIVE",
            "expiresAt": self._now(data["leaseMinutes"]),
        }
        self._leases[lease["leaseId"]] = lease
        task["status"] = "LEASED"
        self.book.claimed(task["taskId"])
        return Response(200, {"lease": lease})

    def submit(self, request: Request) -> Response:
        """Deliver the output of a lease."""
        struct = {"leaseId": "uuid", "output": {"resultText": "str 1"}}
        read = self._read(request, struct)
        if isinstance(read, Response):
            return read
        agent, data = read
        lease = self._leases.get(data["leaseId"])
        if not lease or lease["agentId"] != agent:
            return _no(404, f"Lease {data['leaseId']} not found")
        if lease["status"] != "ACTIVE":
            return _no(409, f"Lease is not active (status: {lease['status']})")
        task = self._tasks[lease["taskId"]]
        if data["output"]["resultText"] != task["input"]["sourceText"].upper():
            failed = {"check": "uppercase", "passed": False}
            return _no(422, "Output failed the acceptance check", failed)
        delivery = {
            "deliveryId": str(uuid.uuid4()),
            "leaseId": lease["leaseId"],
            "taskId": task["taskId"],
            "status": "ACCEPTED",
            "checks": [{"check": "uppercase", "passed": True}],
        }
        self._deliveries[delivery["deliveryId"]] = delivery
        lease["status"], task["status"] = "FULFILLED", "DELIVERED"
        return Response(200, {"delivery": delivery})

    def complete(self, request: Request) -> Response:
        """Settle a delivery, which pays it."""
        read = self._read(request, {"deliveryId": "uuid", "releasePayout": "bool"})
        if isinstance(read, Response):
            return read
        agent, data = read
        delivery = self._deliveries.get(data["deliveryId"])
        if not delivery or self._leases[delivery["leaseId"]]["agentId"] != agent:
            return _no(404, f"Delivery {data['deliveryId']} not found")
        if delivery["status"] == "SETTLED":
            return _no(409, "Delivery is already settled")
        if not data["releasePayout"]:
            return _no(400, "releasePayout must be true to settle a delivery")
        task = self._tasks[delivery["taskId"]]
        delivery["status"] = task["status"] = "SETTLED"
        self.book.pay(task["taskId"], task["bounty"]["amount"])
        self._balances[agent] += task["bounty"]["amount"]
        settlement = {"payout": task["bounty"], "balanceAfter": self._balances[agent]}
        return Response(200, {"delivery": delivery, "settlement": settlement})
