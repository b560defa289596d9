"""Phoenix 1.7 JSON API with Ecto changesets: Hohe Route, a maker of engraved trail signs.

public-marketplace (no token) and get-marketplace-tasks (token) list signs as {"data": [...]} with `wording`.
claim    {"sign_id": uuid}                                                  -> 201 data: work order, lock_version 1
submit   {"work_order_id": uuid, "lettering": "...", "lock_version": 1}     -> 200 data: lock_version 2
complete {"work_order_id": uuid, "lock_version": 2}                         -> 200 data: state "completed", pays
Refusals: 422 {"errors": {"field": ["can't be blank"]}}; 401/404 {"errors": {"detail": "..."}};
409 {"errors": {"lock_version": ["is stale"]}} when the order was changed meanwhile.
"""

import secrets
import time
import uuid
from collections.abc import Callable
from functools import wraps
from typing import Any

from tests.foreign.backend import Backend, Request, Response

SIGNS = [
    # trail, post, wording, reward, state
    ("Gamsgrat", 3, "summit in two hours on the marked path", 21, "open"),
    ("Gamsgrat", 7, "danger of falling stones in the upper gully", 19, "open"),
    ("Seeweg", 1, "please keep dogs on the lead near the cattle", 13, "open"),
    ("Seeweg", 4, "last spring before the hut with drinking water", 17, "open"),
    ("Klamm", 2, "bridge closed from november until the snow melts", 23, "open"),
    ("Klamm", 5, "narrow steps hold the rope on the left side", 18, "engraved"),
    ("Almrunde", 6, "close the gate behind you and mind the calves", 15, "open"),
    ("Almrunde", 9, "round tour back to the valley station", 12, "open"),
]
NAMESPACE = uuid.UUID("5f0c7f0a-6a3b-4f3c-9d53-0e6a1f9c2b11")


class FallbackError(Exception):
    """What the action fallback controller renders."""

    def __init__(self, status: int, errors: dict[str, Any]) -> None:
        super().__init__(str(errors))
        self.response = Response(status, {"errors": errors})


def action(
    method: Callable[[Any, Request], Response],
) -> Callable[[Any, Request], Response]:
    @wraps(method)
    def call(self: Any, request: Request) -> Response:
        try:
            return method(self, request)
        except FallbackError as stop:
            return stop.response

    return call


def changeset(params: dict[str, Any], fields: dict[str, str]) -> dict[str, Any]:
    """cast/4 and validate_required/2; types are "binary_id", "string" and "integer"."""
    errors: dict[str, list[str]] = {}
    changes: dict[str, Any] = {}
    for name, kind in fields.items():
        value = params.get(name)
        if isinstance(value, str) and not value.strip():
            value = None
        if value is None:
            errors[name] = ["can't be blank"]
            continue
        if kind == "binary_id":
            try:
                changes[name] = str(uuid.UUID(value))
            except (ValueError, AttributeError, TypeError):
                errors[name] = ["is invalid"]
        elif kind == "integer":
            if isinstance(value, str) and value.isdigit():
                value = int(value)
            if isinstance(value, int) and not isinstance(value, bool):
                changes[name] = value
            else:
                errors[name] = ["is invalid"]
        elif isinstance(value, str):
            changes[name] = value
            if len(value) > 160:
                errors[name] = ["should be at most 160 character(s)"]
        else:
            errors[name] = ["is invalid"]
    if errors:
        raise FallbackError(422, errors)
    return changes


class PhoenixTrailsigns(Backend):
    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}
        self.orders: dict[str, dict[str, Any]] = {}
        self.signs: dict[str, dict[str, Any]] = {}
        for trail, post, wording, reward, state in SIGNS:
            id_ = str(uuid.uuid5(NAMESPACE, f"{trail}/{post}"))
            self.signs[id_] = {
                "id": id_,
                "trail": trail,
                "post": post,
                "wording": wording,
                "reward_credits": reward,
                "state": state,
                "inserted_at": f"2025-03-{post + 10:02d}T08:00:00Z",
            }
        self.earnable = {
            s["id"]: s["wording"] for s in self.signs.values() if s["state"] == "open"
        }

    def texts(self) -> dict[str, str]:
        return dict(self.earnable)

    def missing(self, request: Request) -> Response:
        return Response(404, {"errors": {"detail": "Not Found"}})

    # --- plugs ----------------------------------------------------------------------------

    def current_agent(self, request: Request) -> dict[str, Any]:
        agent = self.agents.get(request.token)
        if agent is None:
            raise FallbackError(401, {"detail": "Unauthorized"})
        return agent

    def params(self, request: Request) -> dict[str, Any]:
        if not request.raw:
            return {}
        try:
            params = request.json()
        except ValueError:
            raise FallbackError(400, {"detail": "Bad Request"}) from None
        return params if isinstance(params, dict) else {"_json": params}

    def work_order(self, agent: dict[str, Any], id_: str) -> dict[str, Any]:
        order = self.orders.get(id_)
        if order is None or order["agent"] is not agent:
            raise FallbackError(404, {"detail": "Work order not found"})
        return order

    @staticmethod
    def check_lock(order: dict[str, Any], version: int) -> None:
        if version != order["lock_version"]:
            raise FallbackError(409, {"lock_version": ["is stale"]})

    # --- views ----------------------------------------------------------------------------

    @staticmethod
    def render(order: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": order["id"],
            "state": order["state"],
            "lock_version": order["lock_version"],
            "lettering": order["lettering"],
            "reward_credits": order["sign"]["reward_credits"],
            "sign": {k: order["sign"][k] for k in ("id", "trail", "post", "wording")},
            "inserted_at": order["inserted_at"],
        }

    # --- controllers ----------------------------------------------------------------------

    @action
    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent = {"id": str(uuid.uuid4()), "credits": 100}
        token = "SFMyNTY." + secrets.token_urlsafe(36)
        self.agents[token] = agent
        return Response(
            201, {"agent_id": agent["id"], "access_token": token, "credits": 100}
        )

    def index(self, request: Request) -> Response:
        limit = request.query.get("limit", "25")
        if not limit.isdigit() or not 0 < int(limit) <= 100:
            raise FallbackError(422, {"limit": ["is invalid"]})
        signs = list(self.signs.values())
        return Response(
            200,
            {
                "data": signs[: int(limit)],
                "meta": {
                    "count": len(signs),
                    "note": "Signs are engraved in capital letters: the lettering is the wording in upper case.",
                },
            },
        )

    @action
    def marketplace(self, request: Request) -> Response:
        return self.index(request)

    @action
    def tasks(self, request: Request) -> Response:
        self.current_agent(request)
        return self.index(request)

    @action
    def claim(self, request: Request) -> Response:
        agent = self.current_agent(request)
        changes = changeset(self.params(request), {"sign_id": "binary_id"})
        sign = self.signs.get(changes["sign_id"])
        if sign is None:
            raise FallbackError(422, {"sign_id": ["does not exist"]})
        for order in self.orders.values():
            if order["sign"] is sign and order["agent"] is agent:
                return Response(200, {"data": self.render(order)})
        if sign["state"] != "open":
            raise FallbackError(422, {"sign_id": ["has already been taken"]})
        order = {
            "id": str(uuid.uuid4()),
            "agent": agent,
            "sign": sign,
            "state": "claimed",
            "lock_version": 1,
            "lettering": None,
            "inserted_at": time.strftime(
                "%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time())
            ),
        }
        self.orders[order["id"]] = order
        sign["state"] = "claimed"
        self.book.claimed(sign["id"])
        return Response(201, {"data": self.render(order)})

    @action
    def submit(self, request: Request) -> Response:
        agent = self.current_agent(request)
        changes = changeset(
            self.params(request),
            {
                "work_order_id": "binary_id",
                "lettering": "string",
                "lock_version": "integer",
            },
        )
        order = self.work_order(agent, changes["work_order_id"])
        if order["state"] == "completed":
            raise FallbackError(
                422, {"state": ["cannot be changed from completed to submitted"]}
            )
        if order["state"] == "submitted" and order["lettering"] == changes["lettering"]:
            return Response(200, {"data": self.render(order)})
        self.check_lock(order, changes["lock_version"])
        if changes["lettering"] != order["sign"]["wording"].upper():
            raise FallbackError(
                422,
                {"lettering": ["must be the wording of the sign in capital letters"]},
            )
        order.update(
            state="submitted",
            lettering=changes["lettering"],
            lock_version=order["lock_version"] + 1,
        )
        return Response(200, {"data": self.render(order)})

    @action
    def complete(self, request: Request) -> Response:
        agent = self.current_agent(request)
        changes = changeset(
            self.params(request),
            {"work_order_id": "binary_id", "lock_version": "integer"},
        )
        order = self.work_order(agent, changes["work_order_id"])
        if order["state"] == "claimed":
            raise FallbackError(422, {"lettering": ["can't be blank"]})
        if order["state"] == "submitted":
            self.check_lock(order, changes["lock_version"])
            order.update(state="completed", lock_version=order["lock_version"] + 1)
            order["sign"]["state"] = "engraved"
            agent["credits"] += order["sign"]["reward_credits"]
            self.book.pay(order["sign"]["id"], order["sign"]["reward_credits"])
        return Response(
            200, {"data": {**self.render(order), "agent_credits": agent["credits"]}}
        )
