"""Shelfwise: Go, chi router and go-playground/validator; shelf tags of a supermarket chain.

Listing: {"tags": [{tag_id, sku, aisle, product, copy, credits}], "count"}. Claim wants {tag_id}
(int64) and answers a lease of fifteen minutes: {"lease", "expires_in", "tag"}; submit wants
{lease, print_text}; complete wants {lease} and an Idempotency-Key header, and pays.
Unknown fields are refused by the decoder.
Refusals: {"error": {"code", "message", "fields": {name: rule}}}.
"""

import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

TAGS = [
    (
        88101,
        "OAT-500",
        3,
        "Rolled oats",
        "whole grain oats from the northern valley",
        9,
    ),
    (88102, "HON-250", 3, "Forest honey", "dark honey gathered late in the season", 13),
    (88103, "TEA-040", 5, "Smoked tea", "dried slowly over a fire of pine wood", 11),
    (88104, "CHE-200", 8, "Goat cheese", "mild and creamy with a thin soft rind", 15),
    (88105, "OLI-750", 6, "Olive oil", "pressed within a day of the first harvest", 17),
    (88106, "SOA-100", 12, "Laundry soap", "gentle on wool and kind to the river", 10),
    (
        88107,
        "BRE-800",
        1,
        "Country loaf",
        "baked twice a day in the oven at the back",
        12,
    ),
    (88108, "PLU-400", 2, "Red plums", "ripe and ready to eat this very evening", 14),
]
LEASE_SECONDS = 900


class GoShelfTags(Backend):
    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.tags: dict[Any, dict[str, Any]] = {
            number: {
                "tag_id": number,
                "sku": sku,
                "aisle": aisle,
                "product": product,
                "copy": copy,
                "credits": credits_,
            }
            for number, sku, aisle, product, copy, credits_ in TAGS
        }
        self.leases: dict[str, dict[str, Any]] = {}
        self.answers: dict[
            tuple[str, str], Response
        ] = {}  # by token and idempotency key

    def texts(self) -> dict[str, str]:
        return {str(t[0]): t[4] for t in TAGS}

    def fail(self, status: int, code: str, message: str, **more: Any) -> Response:
        return Response(status, {"error": {"code": code, "message": message, **more}})

    def agent(self, request: Request) -> dict[str, Any] | None:
        return self.agents.get(request.token)

    def unauthorized(self) -> Response:
        return self.fail(401, "unauthorized", "missing or unknown bearer token")

    def decode(
        self, request: Request, name: str, fields: dict[str, type]
    ) -> tuple[dict[str, Any], Response | None]:
        """json.Decoder with DisallowUnknownFields, then validate.Struct."""
        try:
            body = request.json()
        except ValueError:
            message = "invalid character in JSON body" if request.raw.strip() else "EOF"
            return {}, self.fail(400, "bad_json", message)
        if not isinstance(body, dict):
            kind = {list: "array", str: "string", bool: "bool"}.get(
                type(body), "number"
            )
            message = f"json: cannot unmarshal {kind} into Go value of type api.{name}"
            return {}, self.fail(400, "bad_json", message)
        for key, value in body.items():
            if key not in fields:
                return {}, self.fail(400, "bad_json", f'json: unknown field "{key}"')
            wanted = fields[key]
            if value is None:
                continue
            if not isinstance(value, wanted) or isinstance(value, bool):
                kind = {
                    dict[str, Any]: "object",
                    list[Any]: "array",
                    str: "string",
                    bool: "bool",
                }.get(type(value), "number")
                go = "int64" if wanted is int else "string"
                return {}, self.fail(
                    400,
                    "bad_json",
                    f"json: cannot unmarshal {kind} into Go struct field "
                    f"{name}.{key} of type {go}",
                )
        absent = [key for key in fields if not body.get(key)]
        if absent:
            message = "\n".join(
                f"Key: '{name}.{key}' Error:Field validation for '{key}' "
                "failed on the 'required' tag"
                for key in absent
            )
            return {}, self.fail(
                400,
                "validation_failed",
                message,
                fields=dict.fromkeys(absent, "required"),
            )
        return body, None

    def holder(self, tag_id: int) -> dict[str, Any] | None:
        """Return the lease that now holds the tag, if any."""
        for lease in self.leases.values():
            if lease["tag_id"] == tag_id and (
                lease["status"] != "active" or lease["expires"] > time.monotonic()
            ):
                return lease
        return None

    def register(self, request: Request) -> Response:
        token = "sw_live_" + secrets.token_hex(20)
        agent = {"agent_id": "agt_" + secrets.token_hex(8), "credits": 100}
        self.agents[token] = agent
        self.book.registrations += 1
        return Response(200, {**agent, "access_token": token})

    def listing(self, request: Request) -> Response:
        text = request.query.get("limit", "50")
        if not text.isdigit() or not 1 <= int(text) <= 200:
            return self.fail(400, "bad_query", "limit must be between 1 and 200")
        free = [tag for tag in self.tags.values() if not self.holder(tag["tag_id"])]
        return Response(
            200,
            {
                "guideline": "tag copy is printed in upper case",
                "tags": free[: int(text)],
                "count": len(free),
            },
        )

    def tasks(self, request: Request) -> Response:
        return self.listing(request) if self.agent(request) else self.unauthorized()

    def marketplace(self, request: Request) -> Response:
        return self.listing(request)

    def claim(self, request: Request) -> Response:
        agent = self.agent(request)
        if agent is None:
            return self.unauthorized()
        body, no = self.decode(request, "claimRequest", {"tag_id": int})
        if no:
            return no
        tag = self.tags.get(body["tag_id"])
        if tag is None:
            return self.fail(404, "tag_not_found", f"tag {body['tag_id']} not found")
        lease = self.holder(tag["tag_id"])
        if lease and (
            lease["agent_id"] != agent["agent_id"] or lease["status"] != "active"
        ):
            return self.fail(409, "tag_taken", f"tag {tag['tag_id']} is not available")
        if not lease:
            lease = {
                "lease": "ls_" + secrets.token_hex(10),
                "tag_id": tag["tag_id"],
                "agent_id": agent["agent_id"],
                "status": "active",
                "expires": time.monotonic() + LEASE_SECONDS,
            }
            self.leases[lease["lease"]] = lease
            self.book.claimed(str(tag["tag_id"]))
        left = int(lease["expires"] - time.monotonic())
        return Response(200, {"lease": lease["lease"], "expires_in": left, "tag": tag})

    def find(
        self, agent: dict[str, Any], body: dict[str, Any]
    ) -> tuple[Any, Response | None]:
        lease = self.leases.get(body["lease"])
        if lease is None or lease["agent_id"] != agent["agent_id"]:
            return None, self.fail(404, "lease_not_found", "lease not found")
        if lease["status"] == "active" and lease["expires"] <= time.monotonic():
            return None, self.fail(
                410, "lease_expired", "lease has expired, claim the tag again"
            )
        return lease, None

    def submit(self, request: Request) -> Response:
        agent = self.agent(request)
        if agent is None:
            return self.unauthorized()
        body, no = self.decode(
            request, "submitRequest", {"lease": str, "print_text": str}
        )
        if no:
            return no
        lease, no = self.find(agent, body)
        if no:
            return no
        if lease["status"] == "completed":
            return self.fail(409, "lease_completed", "lease is already completed")
        if body["print_text"] != self.tags[lease["tag_id"]]["copy"].upper():
            return self.fail(
                422,
                "text_mismatch",
                "print_text must be the copy of the tag in upper case",
            )
        lease["status"] = "submitted"
        return Response(200, {"lease": lease["lease"], "status": "submitted"})

    def complete(self, request: Request) -> Response:
        agent = self.agent(request)
        if agent is None:
            return self.unauthorized()
        key = request.headers.get("Idempotency-Key") or ""
        if not key:
            return self.fail(
                400, "idempotency_key_missing", "Idempotency-Key header is required"
            )
        if (request.token, key) in self.answers:
            return self.answers[request.token, key]
        body, no = self.decode(request, "completeRequest", {"lease": str})
        if no:
            return no
        lease, no = self.find(agent, body)
        if no:
            return no
        if lease["status"] == "active":
            return self.fail(
                409, "nothing_submitted", "no print_text submitted for this lease"
            )
        if lease["status"] == "completed":
            return self.fail(409, "lease_completed", "lease is already completed")
        tag = self.tags[lease["tag_id"]]
        lease["status"] = "completed"
        agent["credits"] += tag["credits"]
        self.book.pay(str(tag["tag_id"]), tag["credits"])
        answer = Response(
            200,
            {
                "lease": lease["lease"],
                "status": "completed",
                "credits_earned": tag["credits"],
                "credits": agent["credits"],
            },
        )
        self.answers[request.token, key] = answer
        return answer
