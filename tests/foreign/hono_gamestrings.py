"""Stringyard: bounties on interface strings of video games, on Cloudflare Workers.

Stack: Hono, @hono/zod-validator with its default hook and strict zod objects, D1. The listing
is `{"ok": true, "bounties": [{"id", "game", "strings": [{"key", "source"}], "payout", ...}],
"nextCursor"}` and is public; a bounty has one string, whose text stands in `source`.

Claim wants `bountyId` and `acceptRules: true`, answers `{"ok": true, "claim": {"claimId",
"expiresAt"}}`. Submit wants `claimId` and `strings: [{key, value}]`, checks and pays at once.
There is no complete: Hono's `404 Not Found`.

Errors: 400 `{"success": false, "error": {"issues": [...], "name": "ZodError"}}`; everything
else `{"ok": false, "code", "message"}`; unparseable JSON and bad tokens are plain text.
"""

import secrets
import time
import uuid
from dataclasses import dataclass, field
from typing import Any

from tests.foreign.backend import Backend, Request, Response

STRINGS = [
    ("Moss Kingdom", "hud.boss.warning", "Something old is waking below", 6),
    ("Moss Kingdom", "menu.quit.confirm", "Quit without saving your garden?", 8),
    ("Moss Kingdom", "toast.level", "You learned to talk to beetles", 5),
    ("Vector Rally '98", "race.final_lap", "Final lap, keep it on the road", 7),
    ("Vector Rally '98", "race.wrong_way", "Wrong way, turn the car around", 9),
    ("Vector Rally '98", "garage.locked", "Win three cups to open this garage", 10),
    ("Deep Post", "mail.delivered", "Parcel delivered to the lighthouse keeper", 12),
    ("Deep Post", "oxygen.low", "Oxygen low: swim up or find a vent", 11),
    ("Deep Post", "credits.thanks", "Thanks for playing, from all four of us", 4),
    ("Deep Post", "map.hidden", "This trench is not on the map", 6),
]


@dataclass
class Bounty:
    """A row of bounties."""

    game: str
    key: str
    source: str
    payout: int
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    claim: str = ""
    user: str = ""
    expires: int = 0
    paid: bool = False


def zod_type(value: Any) -> str:
    """Return zod's name of a value's type."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    names = {
        str: "string",
        int: "number",
        float: "number",
        list: "array",
        dict: "object",
    }
    return names[type(value)]


def wrong_type(expected: str, value: Any, path: list[Any]) -> dict[str, Any]:
    """Return zod's issue of a value of another type."""
    return {
        "code": "invalid_type",
        "expected": expected,
        "received": zod_type(value),
        "path": path,
        "message": f"Expected {expected}, received {zod_type(value)}",
    }


def strict_object(
    shape: dict[str, str], value: Any, path: list[Any]
) -> list[dict[str, Any]]:
    """Return zod's issues with `z.object(shape).strict()`."""
    if not isinstance(value, dict):
        return [wrong_type("object", value, path)]
    issues: list[dict[str, Any]] = []
    for name, kind in shape.items():
        here = [*path, name]
        expected = {"uuid": "string", "key": "string"}.get(kind, kind)
        if kind == "true":
            if value.get(name) is not True:
                issue = {"code": "invalid_literal", "expected": True, "path": here}
                if name in value:
                    issue["received"] = value[name]
                issue["message"] = "Invalid literal value, expected true"
                issues.append(issue)
        elif name not in value:
            issues.append(
                {
                    "code": "invalid_type",
                    "expected": expected,
                    "received": "undefined",
                    "path": here,
                    "message": "Required",
                }
            )
        elif zod_type(value[name]) != expected:
            issues.append(wrong_type(expected, value[name], here))
        elif kind == "uuid" and not is_uuid(value[name]):
            issues.append(
                {
                    "validation": "uuid",
                    "code": "invalid_string",
                    "message": "Invalid uuid",
                    "path": here,
                }
            )
        elif kind == "string" and not value[name]:
            issues.append(too_small("string", here))
    unknown = [name for name in value if name not in shape]
    if unknown:
        listed = ", ".join(f"'{name}'" for name in unknown)
        issues.append(
            {
                "code": "unrecognized_keys",
                "keys": unknown,
                "path": path,
                "message": f"Unrecognized key(s) in object: {listed}",
            }
        )
    return issues


def too_small(kind: str, path: list[Any]) -> dict[str, Any]:
    """Return zod's issue of an empty string or array."""
    what = "element(s)" if kind == "array" else "character(s)"
    return {
        "code": "too_small",
        "minimum": 1,
        "type": kind,
        "inclusive": True,
        "exact": False,
        "message": f"{kind.capitalize()} must contain at least 1 {what}",
        "path": path,
    }


def is_uuid(value: str) -> bool:
    """Return whether a string is a UUID in its usual form."""
    try:
        return str(uuid.UUID(value)) == value.lower()
    except ValueError:
        return False


def sorry(status: int, code: str, message: str) -> Response:
    """Return the team's own refusal."""
    return Response(status, {"ok": False, "code": code, "message": message})


class Stringyard(Backend):
    """The worker."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = {row.id: row for row in (Bounty(*one) for one in STRINGS)}
        self.users: dict[str, str] = {}
        self.balance: dict[str, int] = {}

    def texts(self) -> dict[str, str]:
        """Return each bounty's text."""
        return {row.id: row.source for row in self.rows.values()}

    def missing(self, request: Request) -> Response:
        """Answer as Hono's notFound does."""
        return Response(
            404, "404 Not Found", {"Content-Type": "text/plain;charset=UTF-8"}
        )

    def register(self, request: Request) -> Response:
        """Create a user."""
        self.book.registrations += 1
        user, token = str(uuid.uuid4()), f"sy_live_{secrets.token_hex(20)}"
        self.users[token] = user
        self.balance[user] = 100
        return Response(
            200, {"ok": True, "agent_id": user, "access_token": token, "credits": 100}
        )

    def tasks(self, request: Request) -> Response:
        """List open bounties."""
        limit = request.query.get("limit", "50")
        if not limit.isdecimal() or not 1 <= int(limit) <= 100:
            issue = {
                "code": "custom",
                "path": ["limit"],
                "message": "limit must be 1 to 100",
            }
            return self._zod([issue])
        rows = [row for row in self.rows.values() if not row.user][: int(limit)]
        bounties = [
            {
                "id": row.id,
                "game": row.game,
                "title": f"{row.game}: {row.key}",
                "strings": [{"key": row.key, "source": row.source}],
                "rules": "Pixel font has capitals only. Value = source in UPPERCASE, "
                "no other edits.",
                "payout": row.payout,
                "payoutUnit": "credits",
            }
            for row in rows
        ]
        return Response(200, {"ok": True, "bounties": bounties, "nextCursor": None})

    marketplace = tasks

    def _zod(self, issues: list[dict[str, Any]]) -> Response:
        return Response(
            400, {"success": False, "error": {"issues": issues, "name": "ZodError"}}
        )

    def _enter(self, request: Request) -> tuple[str, Any, Response | None]:
        """Return the user, the body and perhaps the refusal."""
        if not request.token:
            headers = {"WWW-Authenticate": 'Bearer realm=""'}
            return "", None, Response(401, "Unauthorized", headers)
        user = self.users.get(request.token, "")
        if not user:
            headers = {"WWW-Authenticate": 'Bearer error="invalid_token"'}
            return "", None, Response(401, "Unauthorized", headers)
        if "json" not in (request.headers.get("Content-Type") or ""):
            return user, {}, None  # the validator sees no JSON and gives zod nothing
        try:
            return user, request.json(), None
        except ValueError:
            return "", None, Response(400, "Malformed JSON in request body")

    def claim(self, request: Request) -> Response:
        """Claim a bounty."""
        user, body, refusal = self._enter(request)
        if refusal:
            return refusal
        issues = strict_object({"bountyId": "uuid", "acceptRules": "true"}, body, [])
        if issues:
            return self._zod(issues)
        row = self.rows.get(body["bountyId"].lower())
        if row is None:
            return sorry(404, "BOUNTY_NOT_FOUND", "No such bounty.")
        if row.paid or (row.user and row.user != user):
            return sorry(409, "BOUNTY_TAKEN", "Somebody got there first.")
        if not row.user:
            row.user, row.claim = user, str(uuid.uuid4())
            self.book.claimed(row.id)
        row.expires = int(time.time() * 1000) + 900_000
        claim = {"claimId": row.claim, "bountyId": row.id, "expiresAt": row.expires}
        return Response(200, {"ok": True, "claim": claim})

    def submit(self, request: Request) -> Response:
        """Check the strings and pay."""
        user, body, refusal = self._enter(request)
        if refusal:
            return refusal
        issues = strict_object({"claimId": "uuid", "strings": "array"}, body, [])
        strings = body.get("strings") if isinstance(body, dict) else None
        if isinstance(strings, list):
            if not strings:
                issues.append(too_small("array", ["strings"]))
            for n, one in enumerate(strings):
                shape = {"key": "string", "value": "string"}
                issues += strict_object(shape, one, ["strings", n])
        if issues:
            return self._zod(issues)
        wanted = body["claimId"].lower()
        row = next((one for one in self.rows.values() if one.claim == wanted), None)
        if row is None or row.user != user:
            return sorry(404, "CLAIM_NOT_FOUND", "You hold no such claim.")
        if row.paid:
            return sorry(409, "ALREADY_PAID", "This claim was delivered and paid.")
        if [one["key"] for one in strings or []] != [row.key]:
            return sorry(
                422, "KEYS_MISMATCH", f"strings must have exactly these keys: {row.key}"
            )
        if (strings or [{}])[0]["value"] != row.source.upper():
            return sorry(
                422, "STRING_REJECTED", f"{row.key}: not the source in UPPERCASE."
            )
        row.paid = True
        self.balance[user] += row.payout
        self.book.pay(row.id, row.payout)
        return Response(
            200,
            {
                "ok": True,
                "status": "paid",
                "payout": row.payout,
                "balance": self.balance[user],
            },
        )

    complete = missing
