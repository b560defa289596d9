"""A Rust service: axum 0.7 with serde, ULIDs, thiserror.

Lists a bare array whose `state` is an externally tagged enum: the string "open", or an
object {"leased": {...}} for one that is taken. Bodies are deserialized with
`deny_unknown_fields`, so a refusal is one line of plain text from serde naming one
missing or unknown field, or the variants of an enum; the service's own errors are
{"error": ...}. A claim may be repeated (the lease is renewed). Submit answers 204;
complete answers with the settlement, "queued" for a second and then {"paid": {...}}.
"""

import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_QUESTS = {
    "01JQ8Z5V3M7T4X9K2N6B8C0D1E": ("the lighthouse keeper went home", 30),
    "01JQ8Z5V3N2R8Y4W6P1S3F5G7H": ("seven swans a-swimming", 12),
    "01JQ8Z5V3P9A6B2C4D8E0F1G3H": ("commit early, commit often", 18),
    "01JQ8Z5V3Q4J7K1M3N5P9R2S6T": ("borrowed value does not live long enough", 44),
    "01JQ8Z5V3R0V2W4X6Y8Z1A3B5C": ("north by north-west", 9),
    "01JQ8Z5V3S5D7E9F1G3H5J7K9M": ("zürich main station, platform 7", 27),
}
_LEASED = {"01JQ8Z5V3T6N8P0R2S4T6V8W0X": ("who watches the watchmen", 33)}
_PREFIX = "Failed to deserialize the JSON body into the target type: "


def _fault(
    name: str, value: Any, fields: tuple[str, ...], variants: dict[str, str]
) -> str:
    """Return what serde has against one field of a body, or ""."""
    if name not in fields:
        ticked = [f"`{field}`" for field in fields]
        expected = ticked[0] if len(ticked) == 1 else "one of " + ", ".join(ticked)
        return f"unknown field `{name}`, expected {expected}"
    if not isinstance(value, str):
        kinds = {bool: "boolean", int: "integer", float: "floating point"}
        kinds |= {dict: "map", list: "sequence", type(None): "null"}
        kind = kinds[type(value)]
        bare = kind in ("map", "sequence", "null")
        shown = "" if bare else f" `{str(value).lower()}`"
        return f"invalid type: {kind}{shown}, expected a string"
    if name in variants and value not in variants[name].split():
        names = ", ".join(f"`{known}`" for known in variants[name].split())
        return f"unknown variant `{value}`, expected one of {names}"
    return ""


class AxumQuests(Backend):
    """Quests behind axum extractors."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.quests: dict[str, dict[str, Any]] = {}
        for key, (text, credits_) in (_LEASED | _QUESTS).items():
            lease = {"leased": {"by": "ag_7hq2m9", "until": 1999999999}}
            self.quests[key] = {
                "id": key,
                "prompt": text,
                "bounty_credits": credits_,
                "state": lease if key in _LEASED else "open",
                "tags": ["text", "short"],
            }
        self.output: dict[str, str] = {}
        self.due: dict[str, float] = {}

    def texts(self) -> dict[str, str]:
        """Return the open quests' texts."""
        return {key: text for key, (text, _) in _QUESTS.items()}

    def handle(self, request: Request) -> Response:
        """Settle what is due, then answer."""
        with self._lock:
            for key, due in [*self.due.items()]:
                if time.monotonic() < due:
                    continue
                del self.due[key]
                quest = self.quests[key]
                agent = self._owner(quest)
                agent["credits"] += quest["bounty_credits"]
                quest["state"] = {"done": {"by": agent["agent_id"]}}
                self.book.pay(key, quest["bounty_credits"])
        return super().handle(request)

    def _owner(self, quest: dict[str, Any]) -> dict[str, Any]:
        ident = quest["state"]["leased"]["by"]
        return next(a for a in self.agents.values() if a["agent_id"] == ident)

    def missing(self, request: Request) -> Response:
        """Return axum's fallback, which has no body."""
        return Response(404, "")

    def register(self, request: Request) -> Response:
        """Create an agent."""
        self.book.registrations += 1
        token = secrets.token_hex(24)
        agent = {"agent_id": "ag_" + secrets.token_hex(3), "credits": 100}
        self.agents[token] = agent
        return Response(200, {**agent, "access_token": token})

    def marketplace(self, request: Request) -> Response:
        """List the quests that are not done."""
        limit = request.query.get("limit", "50")
        if not limit.isdigit():
            fault = "limit: invalid digit found in string"
            return Response(400, f"Failed to deserialize query string: {fault}")
        rows = [
            quest
            for quest in self.quests.values()
            if quest["state"] == "open" or "leased" in quest["state"]
        ]
        return Response(200, rows[: int(limit)])

    def tasks(self, request: Request) -> Response:
        """List the quests to an agent."""
        if request.token not in self.agents:
            return self._unauthorized()
        return self.marketplace(request)

    def _unauthorized(self) -> Response:
        return Response(401, {"error": "missing or invalid bearer token"})

    def _extract(self, request: Request, *fields: str, **variants: str) -> Any:
        """Return what `Json<T>` extracts, or its rejection, in serde's words."""
        if request.token not in self.agents:
            return self._unauthorized()
        media = request.headers.get("Content-Type") or ""
        if not media.startswith("application/json"):
            text = "Expected request with `Content-Type: application/json`"
            return Response(415, text)
        raw = request.raw.decode(errors="replace")
        try:
            body = request.json()
        except ValueError as error:
            line = getattr(error, "lineno", 1)
            column = getattr(error, "colno", 1) if raw else 0
            what = "expected value" if raw else "EOF while parsing a value"
            where = f"at line {line} column {column}"
            return Response(
                400, f"Failed to parse the request body as JSON: {what} {where}"
            )
        end = f" at line 1 column {len(raw)}"
        if not isinstance(body, dict):
            return Response(422, f"{_PREFIX}invalid type: expected struct{end}")
        for name, value in body.items():
            if fault := _fault(name, value, fields, variants):
                column = raw.find(f'"{name}"') + len(name) + 2
                at = f" at line 1 column {column}"
                return Response(422, f"{_PREFIX}{name}: {fault}{at}")
        for name in fields:
            if name not in body:
                return Response(422, f"{_PREFIX}missing field `{name}`{end}")
        quest = self.quests.get(body["quest_id"])
        if not quest:
            return Response(404, {"error": "quest not found"})
        body["quest"] = quest
        return body

    def claim(self, request: Request) -> Response:
        """Lease a quest, or renew the lease."""
        body = self._extract(request, "quest_id")
        if isinstance(body, Response):
            return body
        quest, mine = body["quest"], self.agents[request.token]["agent_id"]
        lease = quest["state"].get("leased") if quest["state"] != "open" else {}
        if lease is None or lease.get("by", mine) != mine:
            return Response(409, {"error": "quest is not open"})
        until = int(time.time()) + 900
        if not lease:
            self.book.claimed(quest["id"])
        quest["state"] = {"leased": {"by": mine, "until": until}}
        return Response(200, {"quest_id": quest["id"], "lease": {"until": until}})

    def _mine(self, request: Request, quest: dict[str, Any]) -> bool:
        mine = self.agents[request.token]["agent_id"]
        state = quest["state"]
        return bool(state != "open" and next(iter(state.values()))["by"] == mine)

    def submit(self, request: Request) -> Response:
        """Keep the output of a quest."""
        known = "success partial failure"
        body = self._extract(request, "quest_id", "outcome", "output", outcome=known)
        if isinstance(body, Response):
            return body
        quest = body["quest"]
        if not self._mine(request, quest):
            return Response(403, {"error": "quest is not leased to this agent"})
        if quest["id"] in self.due or "done" in quest["state"]:
            return Response(409, {"error": "quest is already settled"})
        self.output[quest["id"]] = (
            body["output"] if body["outcome"] == "success" else ""
        )
        return Response(204, "")

    def complete(self, request: Request) -> Response:
        """Settle a quest."""
        body = self._extract(request, "quest_id")
        if isinstance(body, Response):
            return body
        quest, key = body["quest"], body["quest"]["id"]
        if not self._mine(request, quest):
            return Response(403, {"error": "quest is not leased to this agent"})
        if "done" in quest["state"]:
            agent = self.agents[request.token]
            paid = {"credits": quest["bounty_credits"], "balance": agent["credits"]}
            return Response(200, {"quest_id": key, "settlement": {"paid": paid}})
        if key not in self.output:
            return Response(409, {"error": "no output has been submitted"})
        if self.output[key] != quest["prompt"].upper():
            return Response(422, {"error": "output did not pass verification"})
        self.due.setdefault(key, time.monotonic() + 1.0)
        return Response(202, {"quest_id": key, "settlement": "queued"})
