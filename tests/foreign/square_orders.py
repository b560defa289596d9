"""A payments product in the manner of Square's Orders and Payments API.

A task is an order with one fulfillment: PROPOSED, RESERVED (claimed), PREPARED
(submitted), COMPLETED (paid). Every write carries an idempotency key and the version of
the order that the client has seen; paying the order pays the credits.
"""

import json
import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_JOBS = [
    ("Window sign, morning shift", "open daily from seven to noon", 40),
    ("Receipt footer", "thank you for shopping with us", 15),
    ("Gift card caption", "a little something for Zoë", 25),
    ("Shelf label", "organic oats, 500 g bag", 10),
    ("Banner line", "winter sale ends on sunday!", 60),
    ("Menu heading", "soups & small plates", 20),
]


class _Refused(Exception):  # noqa: N818
    def __init__(self, status: int, *errors: dict[str, str]) -> None:
        self.status = status
        self.errors = list(errors)


def _error(
    code: str, detail: str, field: str = "", category: str = "INVALID_REQUEST_ERROR"
) -> dict[str, str]:
    error = {"category": category, "code": code, "detail": detail}
    return {**error, "field": field} if field else error


def _check(body: dict[str, Any], wanted: dict[str, type]) -> None:
    """Refuse a body that lacks a field, or has one of another type; name every one."""
    errors = []
    for path, kind in wanted.items():
        value: Any = body
        for name in path.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        if value is None or value == "":
            errors.append(
                _error("MISSING_REQUIRED_PARAMETER", "Field must be set", path)
            )
        elif kind is str and not isinstance(value, str):
            errors.append(_error("EXPECTED_STRING", "Expected a string value.", path))
        elif kind is int and (not isinstance(value, int) or isinstance(value, bool)):
            errors.append(
                _error("EXPECTED_INTEGER", "Expected an integer value.", path)
            )
        elif kind is list and not isinstance(value, list):
            errors.append(
                _error("EXPECTED_ARRAY", "Expected an array of values.", path)
            )
        elif kind is dict and not isinstance(value, dict):
            errors.append(_error("EXPECTED_OBJECT", "Expected an object value.", path))
    if errors:
        raise _Refused(400, *errors)


class SquareOrders(Backend):
    """Square's manner: versions, idempotency keys, money objects, a list of errors."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}  # token -> merchant
        self._owner: dict[str, str] = {}  # order -> merchant
        self._payments: dict[str, dict[str, Any]] = {}  # order -> payment
        self._seen: dict[tuple[str, str, str], tuple[bytes, Any]] = {}
        self._orders: dict[str, dict[str, Any]] = {}
        for name, text, credits_ in _JOBS:
            order = secrets.token_hex(11).upper()
            item = {"name": name, "quantity": "1", "note": text}
            item["variation_name"] = "Set the note in capital letters"
            fulfillment = {"type": "DIGITAL", "state": "PROPOSED"}
            self._orders[order] = {
                "id": order,
                "location_id": "L88917AVBK2S5",
                "state": "OPEN",
                "version": 1,
                "created_at": "2025-03-04T08:15:00.000Z",
                "updated_at": "2025-03-04T08:15:00.000Z",
                "line_items": [{**item, "uid": secrets.token_urlsafe(9)}],
                "fulfillments": [{**fulfillment, "uid": secrets.token_urlsafe(9)}],
                "total_money": {"amount": credits_, "currency": "CREDITS"},
            }

    def texts(self) -> dict[str, str]:
        return {k: o["line_items"][0]["note"] for k, o in self._orders.items()}

    def missing(self, request: Request) -> Response:
        detail = (
            f"API endpoint for URL path `{request.path}` and HTTP method "
            f"`{request.method}` is not found."
        )
        return Response(404, {"errors": [_error("NOT_FOUND", detail)]})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        merchant = "ML" + secrets.token_hex(6).upper()
        token = "EAAA" + secrets.token_urlsafe(32)
        self._agents[token] = merchant
        answer = {"agent_id": merchant, "access_token": token, "credits": 100}
        return Response(200, {**answer, "token_type": "bearer"})

    def agents(self, request: Request) -> Response:
        found = [{"id": m, "status": "ACTIVE"} for m in self._agents.values()]
        return Response(200, {"merchant": found})

    directory = agents

    def marketplace(self, request: Request) -> Response:
        try:
            return Response(200, self._list(request))
        except _Refused as no:
            return Response(no.status, {"errors": no.errors})

    def tasks(self, request: Request) -> Response:
        if request.token not in self._agents:
            return self._unauthorized()
        return self.marketplace(request)

    def _list(self, request: Request) -> dict[str, Any]:
        limit, cursor = request.query.get("limit", "50"), request.query.get("cursor")
        if not limit.isdecimal():
            raise _Refused(
                400, _error("EXPECTED_INTEGER", "Expected an integer value.", "limit")
            )
        if not 1 <= int(limit) <= 500:
            detail = f"`limit` must be between 1 and 500. Received {limit}."
            code = "VALUE_TOO_LOW" if int(limit) < 1 else "VALUE_TOO_HIGH"
            raise _Refused(400, _error(code, detail, "limit"))
        names = list(self._orders)
        if cursor and cursor not in names:
            detail = "The provided cursor is invalid."
            raise _Refused(400, _error("INVALID_CURSOR", detail, "cursor"))
        rest = names[names.index(cursor) if cursor else 0 :]
        found = [n for n in rest if self._orders[n]["state"] == "OPEN"]
        answer: dict[str, Any] = {
            "orders": [self._orders[n] for n in found[: int(limit)]]
        }
        if found[int(limit) :]:
            answer["cursor"] = found[int(limit)]
        return answer

    def claim(self, request: Request) -> Response:
        return self._write(request, self._claim)

    def submit(self, request: Request) -> Response:
        return self._write(request, self._submit)

    def complete(self, request: Request) -> Response:
        return self._write(request, self._complete)

    def _unauthorized(self) -> Response:
        detail = "This request could not be authorized."
        error = _error("UNAUTHORIZED", detail, category="AUTHENTICATION_ERROR")
        return Response(401, {"errors": [error]})

    def _write(self, request: Request, act: Any) -> Response:
        """Answer a write; the same key with the same body has the same answer again."""
        merchant = self._agents.get(request.token)
        if not merchant:
            return self._unauthorized()
        try:
            body = request.json()
        except ValueError:
            body = None
        try:
            if not isinstance(body, dict):
                raise _Refused(
                    400,
                    _error("EXPECTED_JSON_BODY", "Expected a JSON object as the body."),
                )
            key = (merchant, request.path, str(body.get("idempotency_key")))
            if key in self._seen and body.get("idempotency_key"):
                raw, answer = self._seen[key]
                if raw != request.raw:
                    detail = "The idempotency key can only be retried with the same request data."
                    code = "IDEMPOTENCY_KEY_REUSED"
                    raise _Refused(400, _error(code, detail, "idempotency_key"))
                return Response(200, answer)
            answer = json.loads(json.dumps(act(merchant, body)))
            self._seen[key] = (request.raw, answer)
            return Response(200, answer)
        except _Refused as no:
            return Response(no.status, {"errors": no.errors})

    def _order(
        self, body: dict[str, Any], merchant: str, field: str, state: str
    ) -> Any:
        order = self._orders.get(body["order_id"])
        if not order:
            detail = f"Order not found for id {body['order_id']}"
            raise _Refused(404, _error("NOT_FOUND", detail, "order_id"))
        if self._owner.get(order["id"], merchant) != merchant:
            detail = "The order is reserved by another merchant."
            raise _Refused(403, _error("FORBIDDEN", detail, "order_id"))
        if order["version"] != body[field]:
            detail = (
                f"Order version {body[field]} does not match the current version "
                f"{order['version']}."
            )
            raise _Refused(409, _error("VERSION_MISMATCH", detail, field))
        now = order["fulfillments"][0]["state"]
        if now != state:
            detail = f"Fulfillment is in state {now}; this request needs state {state}."
            raise _Refused(400, _error("BAD_REQUEST", detail))
        return order

    def _claim(self, merchant: str, body: dict[str, Any]) -> Any:
        _check(body, {"idempotency_key": str, "order_id": str, "version": int})
        order = self._order(body, merchant, "version", "PROPOSED")
        self._owner[order["id"]] = merchant
        self.book.claimed(order["id"])
        order["fulfillments"][0]["state"] = "RESERVED"
        order["version"] += 1
        return {"order": order}

    def _submit(self, merchant: str, body: dict[str, Any]) -> Any:
        _check(
            body,
            {
                "idempotency_key": str,
                "order_id": str,
                "version": int,
                "fulfillment": dict,
            },
        )
        _check(body, {"fulfillment.uid": str, "fulfillment.result_text": str})
        order = self._order(body, merchant, "version", "RESERVED")
        fulfillment = order["fulfillments"][0]
        if body["fulfillment"]["uid"] != fulfillment["uid"]:
            detail = f"Order {order['id']} has no fulfillment with this uid."
            raise _Refused(400, _error("INVALID_VALUE", detail, "fulfillment.uid"))
        if body["fulfillment"]["result_text"] != order["line_items"][0]["note"].upper():
            detail = (
                "The result text is not the note of the line item in capital letters."
            )
            raise _Refused(
                400, _error("INVALID_VALUE", detail, "fulfillment.result_text")
            )
        fulfillment["state"] = "PREPARED"
        order["version"] += 1
        payment = {
            "id": secrets.token_urlsafe(16),
            "order_id": order["id"],
            "status": "APPROVED",
        }
        self._payments[order["id"]] = {**payment, "amount_money": order["total_money"]}
        return {"order": order, "payment": self._payments[order["id"]]}

    def _complete(self, merchant: str, body: dict[str, Any]) -> Any:
        wanted = {"idempotency_key": str, "order_id": str, "order_version": int}
        _check(body, {**wanted, "payment_ids": list})
        order = self._order(body, merchant, "order_version", "PREPARED")
        payment = self._payments[order["id"]]
        if body["payment_ids"] != [payment["id"]]:
            detail = (
                "The payment ids are not those of the approved payments of this order."
            )
            raise _Refused(400, _error("INVALID_VALUE", detail, "payment_ids"))
        order["fulfillments"][0]["state"] = order["state"] = "COMPLETED"
        order["version"] += 1
        payment["status"] = "COMPLETED"
        self.book.pay(order["id"], order["total_money"]["amount"])
        return {"order": order, "payment": payment}
