"""Tidewrack: a Hono + zod service on Cloudflare Workers with D1."""

import re
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

UUID = re.compile(
    r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$", re.IGNORECASE
)
LOGS = [
    (
        "Skerry Light, 3 March 1911",
        12,
        "Wind north-west, force seven. Lamp trimmed at dusk.",
    ),
    (
        "Skerry Light, 4 March 1911",
        9,
        "Schooner sighted at noon, two masts, no flag shown.",
    ),
    ("Gull Point, 19 June 1904", 15, "Fog bell rung from two until half past five."),
    ("Gull Point, 20 June 1904", 11, "Relief boat late; bread and paraffin received."),
    (
        "Outer Wrack, 1 January 1920",
        20,
        "Keeper ill. His wife kept the light through the night.",
    ),
    ("Outer Wrack, 2 January 1920", 8, "Doctor landed with difficulty. Swell easing."),
]


def now(minutes: int = 0) -> str:
    """Return an ISO date as JavaScript writes it."""
    at = datetime.now(UTC) + timedelta(minutes=minutes)
    return at.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def zod(*issues: dict[str, Any]) -> Response:
    """Return zod-validator's default answer (zod 3)."""
    return Response(
        400, {"success": False, "error": {"issues": list(issues), "name": "ZodError"}}
    )


def fail(status: int, code: str, message: str) -> Response:
    """Return the application's own error."""
    return Response(status, {"error": {"code": code, "message": message}})


class Tidewrack(Backend):
    """Lighthouse logs to transcribe, behind Hono with zod validators.

    The listing ({items, nextCursor}; limit 1-25, default 4; cursor) has no texts. Claim
    wants {entryId} and answers {lease: {id}, entry: {source: {body}}}; submit wants {leaseId,
    transcript}, complete {leaseId}, which pays at once: {payout: {credits, balance}}. Bodies
    that do not fit get zod's issues with 400; the rest {error: {code, message}}.
    """

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.leases: dict[str, dict[str, Any]] = {}
        self.entries: dict[str, dict[str, Any]] = {}
        for number, (title, reward, body) in enumerate(LOGS):
            key = str(uuid.uuid4())
            self.entries[key] = {
                "title": title,
                "reward": reward,
                "body": body,
                "lease": "",
                "done": False,
            }
            if number == 2:
                self.entries[str(uuid.uuid4())] = {
                    "title": "Gull Point, 18 June 1904",
                    "reward": 10,
                    "body": "Calm.",
                    "lease": "gone",
                    "done": True,
                }
        self.doable = {k: e["body"] for k, e in self.entries.items() if not e["done"]}

    def texts(self) -> dict[str, str]:
        """Return the logs by entry."""
        return dict(self.doable)

    def register(self, request: Request) -> Response:
        """Make an agent."""
        self.book.registrations += 1
        token = "tw_" + uuid.uuid4().hex
        agent = {"agent_id": str(uuid.uuid4()), "credits": 100}
        self.agents[token] = agent
        return Response(
            200, {"agent_id": agent["agent_id"], "access_token": token, "credits": 100}
        )

    def parsed(
        self, request: Request, **fields: str
    ) -> tuple[Any, dict[str, str], Any]:
        """Return the agent and the body's fields, or a refusal as third."""
        agent = self.agents.get(request.token)
        if agent is None:
            return None, {}, Response(401, "Unauthorized")
        if "json" not in (request.headers.get("Content-Type") or ""):
            body: Any = {}
        else:
            try:
                body = request.json()
            except ValueError:
                return None, {}, Response(400, "Malformed JSON in request body")
        kind = {list: "array", str: "string", type(None): "null"}
        if not isinstance(body, dict):
            got = kind.get(type(body), "number")
            return (
                None,
                {},
                zod(
                    {
                        "code": "invalid_type",
                        "expected": "object",
                        "received": got,
                        "path": [],
                        "message": f"Expected object, received {got}",
                    }
                ),
            )
        issues: list[dict[str, Any]] = []
        for name, rule in fields.items():
            value = body.get(name)
            if name not in body:
                issues.append(
                    {
                        "code": "invalid_type",
                        "expected": "string",
                        "received": "undefined",
                        "path": [name],
                        "message": "Required",
                    }
                )
            elif not isinstance(value, str):
                got = {dict: "object", bool: "boolean", **kind}.get(
                    type(value), "number"
                )
                issues.append(
                    {
                        "code": "invalid_type",
                        "expected": "string",
                        "received": got,
                        "path": [name],
                        "message": f"Expected string, received {got}",
                    }
                )
            elif rule == "uuid" and not UUID.match(value):
                issues.append(
                    {
                        "validation": "uuid",
                        "code": "invalid_string",
                        "message": "Invalid uuid",
                        "path": [name],
                    }
                )
            elif not value:
                issues.append(
                    {
                        "code": "too_small",
                        "minimum": 1,
                        "type": "string",
                        "inclusive": True,
                        "exact": False,
                        "path": [name],
                        "message": "String must contain at least 1 character(s)",
                    }
                )
        return agent, body, zod(*issues) if issues else None

    def shown(self, key: str) -> dict[str, Any]:
        """Return an entry as the listing shows it."""
        entry = self.entries[key]
        state = "done" if entry["done"] else "leased" if entry["lease"] else "open"
        return {
            "id": key,
            "title": entry["title"],
            "kind": "transcription",
            "rewardCredits": entry["reward"],
            "state": state,
        }

    def tasks(self, request: Request) -> Response:
        """List entries by cursor."""
        raw = request.query.get("limit", "4")
        if not raw.isdigit():
            return zod(
                {
                    "code": "invalid_type",
                    "expected": "number",
                    "received": "nan",
                    "path": ["limit"],
                    "message": "Expected number, received nan",
                }
            )
        limit = int(raw)
        if limit > 25 or limit < 1:
            side, bound, word = (
                ("too_big", "maximum", "less than or equal to 25")
                if limit > 25
                else ("too_small", "minimum", "greater than or equal to 1")
            )
            return zod(
                {
                    "code": side,
                    bound: 25 if limit > 25 else 1,
                    "type": "number",
                    "inclusive": True,
                    "exact": False,
                    "path": ["limit"],
                    "message": f"Number must be {word}",
                }
            )
        keys = list(self.entries)
        cursor = request.query.get("cursor", "")
        start = keys.index(cursor) + 1 if cursor in keys else 0
        page = keys[start : start + limit]
        more = start + limit < len(keys)
        return Response(
            200,
            {
                "items": [self.shown(k) for k in page],
                "nextCursor": page[-1] if more else None,
            },
        )

    marketplace = tasks

    def claim(self, request: Request) -> Any:
        """Lease an entry."""
        agent, body, no = self.parsed(request, entryId="uuid")
        if no:
            return no
        key = body["entryId"].lower()
        entry = self.entries.get(key)
        if entry is None:
            return fail(404, "ENTRY_NOT_FOUND", "No entry with this id")
        lease = self.leases.get(entry["lease"])
        if entry["lease"] and (lease is None or lease["agent"] is not agent):
            return fail(409, "ENTRY_LEASED", "This entry is leased to another agent")
        if lease is None:
            entry["lease"] = str(uuid.uuid4())
            lease = {"agent": agent, "entry": key, "state": "active", "until": now(30)}
            self.leases[entry["lease"]] = lease
            self.book.claimed(key)
        return Response(
            200,
            {
                "lease": {
                    "id": entry["lease"],
                    "entryId": key,
                    "state": lease["state"],
                    "expiresAt": lease["until"],
                },
                "entry": {
                    **self.shown(key),
                    "source": {"language": "en", "body": entry["body"]},
                },
            },
        )

    def lease(self, request: Request, **fields: str) -> tuple[Any, dict[str, Any], Any]:
        """Return the caller's lease and the body, or a refusal as third."""
        agent, body, no = self.parsed(request, leaseId="uuid", **fields)
        if no:
            return None, {}, no
        lease = self.leases.get(body["leaseId"].lower())
        if lease is None or lease["agent"] is not agent:
            return None, {}, fail(404, "LEASE_NOT_FOUND", "No lease with this id")
        return lease, body, None

    def submit(self, request: Request) -> Any:
        """Take a transcript."""
        lease, body, no = self.lease(request, transcript="text")
        if no:
            return no
        if lease["state"] == "completed":
            return fail(409, "LEASE_COMPLETED", "This lease is completed")
        if body["transcript"] != self.entries[lease["entry"]]["body"].upper():
            return fail(
                422, "TRANSCRIPT_MISMATCH", "The transcript did not pass verification"
            )
        lease["state"] = "submitted"
        return Response(
            200,
            {
                "lease": {"id": body["leaseId"], "state": "submitted"},
                "verdict": "accepted",
            },
        )

    def complete(self, request: Request) -> Any:
        """Close the lease and pay."""
        lease, body, no = self.lease(request)
        if no:
            return no
        entry = self.entries[lease["entry"]]
        if lease["state"] == "active":
            return fail(409, "NOTHING_SUBMITTED", "Submit a transcript first")
        if lease["state"] == "submitted":
            lease["state"], entry["done"] = "completed", True
            lease["agent"]["credits"] += entry["reward"]
            self.book.pay(lease["entry"], entry["reward"])
        return Response(
            200,
            {
                "lease": {"id": body["leaseId"], "state": "completed"},
                "payout": {
                    "credits": entry["reward"],
                    "balance": lease["agent"]["credits"],
                },
            },
        )
