"""Go, gin's ShouldBindJSON over go-playground/validator v10, no tag name function.

Lists `items` with an opaque `next_cursor`; claimed items stay with another state. Claim
wants `work_item_id` and a uuid `idempotency_key`, and leases; submit wants the
`lease_token` and a nested `output` (`content_type`, `content`); complete wants the lease
and `declared_credits`, which must be the item's reward. Refuses with encoding/json's and
the validator's own text in `error` (struct field names, snake_case in JSON). Complete is
answered 202; the review is over after 1.5 s and the listing then says `settled`.
"""

import base64
import json
import re
import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

ITEMS = [
    ("wi_7Qm2aK", "Fleet notice", "Check the tyre pressure before every long trip", 5),
    ("wi_7Qm2bX", "Dock safety", "Keep clear of the yellow line while loading", 4),
    ("wi_7Qm2cT", "Gate memo", "Visitors sign in at the north gate", 6),
    ("wi_7Qm2dP", "Depot poster", "Lost keys are kept in the dispatch room", 3),
    ("wi_7Qm2eR", "Cold chain", "Close the cold store door behind you", 7),
    ("wi_7Qm2fH", "Crew text", "The night crew starts at ten fifteen", 2),
    ("wi_7Qm2gL", "Forklift rule", "Sound the horn at each blind corner", 4),
]
ELSEWHERE = {"wi_7Qm2bX", "wi_7Qm2fH"}
UUID = re.compile(r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
GO_TYPES = {str: "string", int: "int", dict: "api.OutputPayload"}
# JSON name -> (Go name, type, further validator tags)
CLAIM = {
    "work_item_id": ("WorkItemID", str),
    "idempotency_key": ("IdempotencyKey", str),
}
SUBMIT = {"lease_token": ("LeaseToken", str), "output": ("Output", dict)}
OUTPUT = {"content_type": ("ContentType", str), "content": ("Content", str)}
NO_TOKEN = "missing or invalid bearer token"
COMPLETE = {
    "lease_token": ("LeaseToken", str),
    "declared_credits": ("DeclaredCredits", int),
}


def go_kind(value: Any) -> str:
    """Name a JSON value as encoding/json's UnmarshalTypeError does."""
    names = {int: "number", str: "string", list: "array", dict: "object", bool: "bool"}
    return names.get(type(value), f"number {value}")


class GinWorkItems(Backend):
    """Work items, leases and a reward that has to be declared."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, str] = {}
        self.state = {i[0]: "available" for i in ITEMS} | dict.fromkeys(
            ELSEWHERE, "leased"
        )
        self.reward = {i[0]: i[3] for i in ITEMS}
        self.leases: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {i[0]: i[2] for i in ITEMS if i[0] not in ELSEWHERE}

    def handle(self, request: Request) -> Response:
        with self._lock:
            for lease in self.leases.values():
                if lease["due"] and time.monotonic() >= lease["due"]:
                    lease["due"], item = 0.0, lease["item"]
                    self.state[item] = "settled"
                    self.book.pay(item, self.reward[item])
        return super().handle(request)

    @staticmethod
    def _no(status: int, text: str) -> Response:
        return Response(status, {"error": text})

    def _bind(self, request: Request, struct: str, fields: Any) -> Any:
        """Return the bound body, or the text of the error."""
        if request.token not in self.agents:
            return NO_TOKEN
        if not request.raw.strip():
            return "EOF"
        try:
            body = request.json()
        except ValueError:
            first = request.raw.decode(errors="replace").strip()[0]
            return f"invalid character '{first}' looking for beginning of value"
        if not isinstance(body, dict):
            return f"json: cannot unmarshal {go_kind(body)} into Go value of type api.{struct}"
        output: Any = body.get("output") if "output" in fields else None
        for where, names, values in (
            (struct, fields, body),
            (f"{struct}.output", OUTPUT, output),
        ):
            for name, (_, kind) in names.items() if isinstance(values, dict) else ():
                value = values.get(name)
                if value is None:
                    continue
                if not isinstance(value, kind) or isinstance(value, bool):
                    said = (
                        f"json: cannot unmarshal {go_kind(value)} into Go struct field"
                    )
                    return f"{said} {where}.{name} of type {GO_TYPES[kind]}"
        return self._validate(body, struct, fields) or body

    def _validate(self, body: Any, struct: str, fields: Any) -> str:
        said = []

        def fail(path: str, name: str, tag: str) -> None:
            text = f"Error:Field validation for '{name}' failed on the '{tag}' tag"
            said.append(f"Key: '{path}.{name}' {text}")

        for name, (go, kind) in fields.items():
            if kind is dict:
                inner = body.get(name) or {}
                for key, (inner_go, _) in OUTPUT.items():
                    if not inner.get(key):
                        fail(f"{struct}.{go}", inner_go, "required")
                kinds = ("text/plain", "application/json")
                if inner.get("content_type") and inner["content_type"] not in kinds:
                    fail(f"{struct}.{go}", "ContentType", "oneof")
            elif not body.get(name):
                fail(struct, go, "required")
            elif go == "IdempotencyKey" and not UUID.match(body[name]):
                fail(struct, go, "uuid")
        return "\n".join(said)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"ag_{secrets.token_hex(5)}", secrets.token_urlsafe(32)
        self.agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        if request.token not in self.agents:
            return self._no(401, NO_TOKEN)
        return self.marketplace(request)

    def marketplace(self, request: Request) -> Response:
        limit = request.query.get("limit", "4")
        if not limit.isdigit():
            return self._no(400, f'strconv.Atoi: parsing "{limit}": invalid syntax')
        start = 0
        if cursor := request.query.get("cursor"):
            try:
                start = json.loads(base64.urlsafe_b64decode(cursor))["o"]
            except (ValueError, KeyError, TypeError):
                return self._no(400, "malformed cursor")
        end = start + max(1, min(int(limit), 5))
        items = [
            {
                "id": key,
                "headline": headline,
                "instructions": text,
                "reward_credits": reward,
                "output_content_type": "text/plain",
                "state": self.state[key],
            }
            for key, headline, text, reward in ITEMS[start:end]
        ]
        after = base64.urlsafe_b64encode(json.dumps({"o": end}).encode()).decode()
        cursor = after if end < len(ITEMS) else ""
        return Response(200, {"items": items, "next_cursor": cursor})

    def claim(self, request: Request) -> Response:
        body = self._bind(request, "ClaimRequest", CLAIM)
        if isinstance(body, str):
            return self._no(401 if body == NO_TOKEN else 400, body)
        item = body["work_item_id"]
        if item not in self.state:
            return self._no(404, "work item not found")
        for token, lease in self.leases.items():
            if lease["item"] == item and lease["agent"] == request.token:
                return Response(200, {"lease_token": token, "work_item_id": item})
        if self.state[item] != "available":
            return self._no(409, f"work item is {self.state[item]}")
        token = f"ls_{secrets.token_hex(12)}"
        self.leases[token] = {
            "item": item,
            "agent": request.token,
            "output": None,
            "due": 0.0,
        }
        self.state[item] = "leased"
        self.book.claimed(item)
        return Response(
            201, {"lease_token": token, "work_item_id": item, "lease_seconds": 900}
        )

    def _lease(self, request: Request, body: Any) -> Any:
        lease = self.leases.get(body["lease_token"])
        return lease if lease and lease["agent"] == request.token else None

    def submit(self, request: Request) -> Response:
        body = self._bind(request, "SubmitRequest", SUBMIT)
        if isinstance(body, str):
            return self._no(401 if body == NO_TOKEN else 400, body)
        if not (lease := self._lease(request, body)):
            return self._no(404, "lease not found")
        if self.state[lease["item"]] not in ("leased", "submitted"):
            return self._no(409, f"work item is {self.state[lease['item']]}")
        lease["output"] = body["output"]["content"]
        self.state[lease["item"]] = "submitted"
        return Response(200, {"work_item_id": lease["item"], "state": "submitted"})

    def complete(self, request: Request) -> Response:
        body = self._bind(request, "CompleteRequest", COMPLETE)
        if isinstance(body, str):
            return self._no(401 if body == NO_TOKEN else 400, body)
        if not (lease := self._lease(request, body)):
            return self._no(404, "lease not found")
        item = lease["item"]
        if self.state[item] == "leased":
            return self._no(409, "no output submitted for this lease")
        if body["declared_credits"] != self.reward[item]:
            return self._no(
                422, "declared_credits does not match reward_credits of the item"
            )
        if self.state[item] == "submitted":
            if lease["output"] != {i[0]: i[2] for i in ITEMS}[item].upper():
                self.state[item] = "rejected"
            else:
                self.state[item] = "in_review"
                lease["due"] = time.monotonic() + 1.5
        if self.state[item] == "rejected":
            return self._no(422, "output rejected by reviewer")
        answer = {"work_item_id": item, "state": self.state[item]}
        if self.state[item] == "settled":
            return Response(200, answer | {"paid_credits": self.reward[item]})
        return Response(202, answer | {"poll_after_ms": 1500})
