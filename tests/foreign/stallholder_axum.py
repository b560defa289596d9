"""A marketplace with offers and orders, in Rust: axum, serde with deny_unknown_fields.

Claiming is an offer on a listing: a price and a lead time. An offer at the asking price is
taken at once and becomes an order, and only the order carries the brief. Submitting is a
delivery on the order (a tagged enum); completing asks for the payout of a delivery, which
waits for the buyer's inspection: 202 until that is over, then 200. Money is minor units
with a currency. What serde cannot read is axum's plain-text rejection, what the market
does not want is {"error": {"code", "message"}}.
"""

import json
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import wraps
from typing import Any

from tests.foreign.backend import Backend, Request, Response

LISTINGS = (
    ("lst_8Qm2Va", "Chalkboard", "Café Amsel", 14, "soup of the day: leek and potato"),
    ("lst_8Qm3Kd", "Awning", "Fisch & Sohn", 22, "smoked eel until it is gone"),
    ("lst_8Qn0Xe", "Price tag", "Hof Lindner", 5, "pears, unwashed, by the crate"),
    ("lst_8Qp7Rt", "Banner", "Bike Doctor", 18, "we true wheels while you wait"),
    ("lst_8Qr1Zu", "Door sign", "Studio Nord", 9, "back in ten minutes, or twenty"),
    ("lst_8Qs5Lb", "Label", "Imkerei Voss", 12, "lime blossom honey, second harvest"),
    ("lst_8Qv9Wc", "Poster", "Kino Babel", 25, "late show: the lighthouse keeper"),
    ("lst_8Qw4Hg", "Chalkboard", "Café Amsel", 16, "ask us about the walnut cake"),
    ("lst_8Qx6Nf", "Stamp", "Papier Ott", 7, "handle with dry hands"),
    ("lst_8Qz2Tj", "Window", "Hof Lindner", 11, "eggs from the hens next door"),
)
LEAD_TIME = 48  # hours that a buyer waits at most
ORDERS_AT_ONCE = 3
PLACES = 100  # minor units of one credit
SPACES = " \t\r\n"
DATA = "Failed to deserialize the JSON body into the target type: "
SYNTAX = "Failed to parse the request body as JSON: "


@dataclass
class Struct:
    """A struct with deny_unknown_fields: its name and the type of each field."""

    name: str
    fields: dict[str, Any]


MONEY = Struct("Money", {"amount_minor": "i64", "currency": "string"})
OFFER = Struct(
    "OfferRequest", {"listing_id": "string", "price": MONEY, "lead_time_hours": "u32"}
)
# enum Delivery, internally tagged by `kind`
DELIVERY = {
    "text": Struct("Delivery", {"text": "string"}),
    "link": Struct("Delivery", {"url": "string"}),
}
DELIVER = Struct("DeliverRequest", {"order_id": "string", "delivery": DELIVERY})
PAYOUT = Struct("PayoutRequest", {"order_id": "string", "delivery_id": "string"})


class Rejection(Exception):
    def __init__(self, response: Response) -> None:
        super().__init__(response.body)
        self.response = response


def refuse(status: int, code: str, message: str, **more: Any) -> Rejection:
    error = {"code": code, "message": message, **more}
    return Rejection(Response(status, {"error": error}))


def place(text: str, at: int) -> str:
    """Say where the reader stood after `at` characters."""
    before = text[:at]
    column = len(before.rpartition("\n")[2].encode())
    return f"line {before.count(chr(10)) + 1} column {column}"


def seen(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"boolean `{str(value).lower()}`"
    if isinstance(value, int):
        return f"integer `{value}`"
    if isinstance(value, float):
        return f"floating point `{value}`"
    if isinstance(value, str):
        return f"string {json.dumps(value, ensure_ascii=False)}"
    return "map" if isinstance(value, dict) else "sequence"


class Serde:
    """Reads a well-formed text into a struct as serde_json and serde_path_to_error do."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.decoder = json.JSONDecoder()

    def fail(self, path: str, words: str, at: int) -> Rejection:
        lead = f"{path}: " if path else ""
        where = place(self.text, at)
        return Rejection(Response(422, f"{DATA}{lead}{words} at {where}"))

    def skip(self, at: int, more: str = "") -> int:
        while self.text[at] in SPACES + more:
            at += 1
        return at

    def value(self, kind: Any, at: int, path: str) -> tuple[Any, int]:
        if isinstance(kind, Struct):
            return self.struct(kind, at, path)
        value, end = self.decoder.raw_decode(self.text, at)
        after = at if isinstance(value, (dict, list)) else end
        if isinstance(kind, dict):
            return self.tagged(kind, value, after, end, path), end
        words = f"invalid type: {seen(value)}, expected "
        if kind == "string":
            if not isinstance(value, str):
                raise self.fail(path, f"{words}a string", after)
            return value, end
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.fail(path, words + kind, after)
        if not (-(2**63) <= value < 2**63 if kind == "i64" else 0 <= value < 2**32):
            raise self.fail(
                path, f"invalid value: {seen(value)}, expected {kind}", after
            )
        return value, end

    def unknown(self, kind: Struct, key: str) -> str:
        names = [f"`{name}`" for name in kind.fields]
        if len(names) == 1:
            expected = f"expected {names[0]}"
        elif len(names) == 2:
            expected = f"expected {names[0]} or {names[1]}"
        else:
            expected = f"expected one of {', '.join(names)}"
        return f"unknown field `{key}`, {expected}"

    def struct(self, kind: Struct, at: int, path: str) -> tuple[dict[str, Any], int]:
        if self.text[at] != "{":
            value, end = self.decoder.raw_decode(self.text, at)
            words = f"invalid type: {seen(value)}, expected struct {kind.name}"
            if isinstance(value, list):  # a sequence would do if it were long enough
                words = f"invalid length {len(value)}, expected struct {kind.name}"
                words += f" with {len(kind.fields)} elements"
            raise self.fail(path, words, end)
        found: dict[str, Any] = {}
        at = self.skip(at + 1)
        while self.text[at] != "}":
            key, at = self.decoder.raw_decode(self.text, at)
            inner = f"{path}.{key}" if path else key
            if key not in kind.fields:
                raise self.fail(inner, self.unknown(kind, key), at)
            if key in found:
                raise self.fail(path, f"duplicate field `{key}`", at)
            at = self.skip(at, ":")
            found[key], at = self.value(kind.fields[key], at, inner)
            at = self.skip(at, ",")
        for name in kind.fields:
            if name not in found:
                raise self.fail(path, f"missing field `{name}`", at + 1)
        return found, at + 1

    def tagged(
        self, kinds: dict[str, Struct], value: Any, after: int, end: int, path: str
    ) -> dict[str, Any]:
        """Read an internally tagged enum; it is buffered, so all places are its end."""
        if not isinstance(value, dict):
            words = f"invalid type: {seen(value)}, expected internally tagged enum"
            raise self.fail(path, f"{words} Delivery", after)
        if "kind" not in value:
            raise self.fail(path, "missing field `kind`", end)
        tag = value["kind"]
        if not isinstance(tag, str):
            words = f"invalid type: {seen(tag)}, expected variant identifier"
            raise self.fail(path, words, end)
        if tag not in kinds:
            names = " or ".join(f"`{name}`" for name in kinds)
            raise self.fail(path, f"unknown variant `{tag}`, expected {names}", end)
        kind = kinds[tag]
        for key, part in value.items():
            if key == "kind":
                continue
            if key not in kind.fields:
                raise self.fail(path, self.unknown(kind, key), end)
            if not isinstance(part, str):
                words = f"invalid type: {seen(part)}, expected a string"
                raise self.fail(path, words, end)
        for name in kind.fields:
            if name not in value:
                raise self.fail(path, f"missing field `{name}`", end)
        return value


def extract(request: Request, kind: Struct) -> dict[str, Any]:
    """Do as axum's Json extractor."""
    media = (
        (request.headers.get("Content-Type") or "").partition(";")[0].strip().lower()
    )
    if media != "application/json" and not media.endswith("+json"):
        words = "Expected request with `Content-Type: application/json`"
        raise Rejection(Response(415, words))
    text = request.raw.decode(errors="replace")
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        words = "expected value"
        if error.pos >= len(text.rstrip()):
            words = "EOF while parsing a value"
        elif "property name" in error.msg:
            words = "key must be a string"
        elif "','" in error.msg:
            words = "expected `,` or `}`"
        elif "':'" in error.msg:
            words = "expected `:`"
        elif "Extra" in error.msg:
            words = "trailing characters"
        where = place(text, min(error.pos + 1, len(text)))
        raise Rejection(Response(400, f"{SYNTAX}{words} at {where}")) from None
    reader = Serde(text)
    return reader.struct(kind, reader.skip(0), "")[0]


def money(credits_: int) -> dict[str, Any]:
    return {"amount_minor": credits_ * PLACES, "currency": "CRD"}


def stamp(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def handler(inner: Callable[..., Response]) -> Callable[..., Response]:
    @wraps(inner)
    def outer(self: "StallholderAxum", request: Request) -> Response:
        try:
            self.settle()
            return inner(self, request)
        except Rejection as rejection:
            return rejection.response

    return outer


class StallholderAxum(Backend):
    """Ten listings of seven buyers; the buyer inspects for a moment before money moves."""

    inspection_seconds = 2.0

    def __init__(self) -> None:
        super().__init__()
        self.sellers: dict[str, dict[str, Any]] = {}
        self.orders: dict[str, dict[str, Any]] = {}
        self.taken: dict[str, str] = {}  # listing -> order
        self.listings = {
            number: {
                "id": number,
                "headline": f"{what} for {buyer}",
                "category": "lettering/uppercase",
                "buyer": {"name": buyer},
                "asking": money(price),
                "asking_display": f"{price}.00 credits",
                "max_lead_time_hours": LEAD_TIME,
                "status": "listed",
            }
            for number, what, buyer, price, _ in LISTINGS
        }
        self.credits = {number: price for number, _, _, price, _ in LISTINGS}

    def texts(self) -> dict[str, str]:
        return {number: text for number, _, _, _, text in LISTINGS}

    def missing(self, request: Request) -> Response:
        return Response(404, "")

    def settle(self) -> None:
        """Pay the orders whose inspection is over."""
        for order in self.orders.values():
            if order["state"] == "in_inspection" and order["until"] <= time.time():
                order["state"] = "settled"
                order["payout"] = f"pay_{secrets.token_hex(5)}"
                credits_ = self.credits[order["listing_id"]]
                order["seller"]["credits"] += credits_
                self.book.pay(order["listing_id"], credits_)

    def seller(self, request: Request) -> dict[str, Any]:
        if request.token not in self.sellers:
            raise refuse(401, "unauthenticated", "missing or unknown bearer token")
        return self.sellers[request.token]

    @handler
    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        seller, token = (
            f"slr_{secrets.token_hex(5)}",
            f"tok_{secrets.token_urlsafe(24)}",
        )
        self.sellers[token] = {"agent_id": seller, "credits": 100}
        return Response(
            200, {"agent_id": seller, "access_token": token, "credits": 100}
        )

    def page(self, request: Request) -> Response:
        asked = request.query.get("limit", "6")
        if not re.fullmatch(r"\+?\d{1,9}", asked):
            words = "invalid digit found in string"
            if not asked:
                words = "cannot parse integer from empty string"
            raise Rejection(
                Response(400, f"Failed to deserialize query string: limit: {words}")
            )
        limit = max(1, min(int(asked), 30))
        after = request.query.get("cursor", "")
        rest = [
            dict(row)
            for number, row in self.listings.items()
            if row["status"] == "listed" and number > after
        ]
        cursor = rest[limit - 1]["id"] if len(rest) > limit else None
        return Response(200, {"listings": rest[:limit], "next_cursor": cursor})

    @handler
    def marketplace(self, request: Request) -> Response:
        return self.page(request)

    @handler
    def tasks(self, request: Request) -> Response:
        self.seller(request)
        return self.page(request)

    @handler
    def claim(self, request: Request) -> Response:
        """Make an offer; one at the asking price is accepted at once."""
        seller = self.seller(request)
        given = extract(request, OFFER)
        listing = self.listings.get(given["listing_id"])
        if listing is None:
            words = f"no listing `{given['listing_id']}`"
            raise refuse(404, "listing_not_found", words)
        if listing["status"] != "listed":
            words = f"listing `{listing['id']}` is {listing['status']}"
            raise refuse(409, "listing_unavailable", words)
        price, asking = given["price"], listing["asking"]
        if price["currency"] != asking["currency"]:  # type: ignore[index]
            words = f"`{price['currency']}` is not traded here, listing is in"
            raise refuse(422, "currency_mismatch", f"{words} `{asking['currency']}`")  # type: ignore[index]
        if price["amount_minor"] != asking["amount_minor"]:  # type: ignore[index]
            words = "buyer takes offers at the asking price only"
            raise refuse(422, "offer_declined", words, asking=asking, offered=price)
        if not 1 <= given["lead_time_hours"] <= LEAD_TIME:
            words = f"buyer wants delivery within 1 to {LEAD_TIME} hours"
            raise refuse(422, "lead_time_out_of_range", words)
        mine = [o for o in self.orders.values() if o["seller"] is seller]
        if (
            sum(order["state"] in ("placed", "delivered") for order in mine)
            >= ORDERS_AT_ONCE
        ):
            words = f"you have {ORDERS_AT_ONCE} undelivered or unclosed orders"
            raise refuse(409, "order_limit_reached", words)
        order = {
            "id": f"ord_{secrets.token_hex(6)}",
            "listing_id": listing["id"],
            "seller": seller,
            "state": "placed",
            "due": time.time() + 3600 * given["lead_time_hours"],
            "delivery": None,
        }
        self.orders[order["id"]] = order
        listing["status"] = "sold"
        self.book.claimed(listing["id"])  # type: ignore[arg-type]
        return Response(
            200,
            {
                "offer": {"id": f"off_{secrets.token_hex(6)}", "state": "accepted"},
                "order": self.shown(order),
                "brief": {
                    "instructions": "Set the copy in capital letters.",
                    "copy": self.texts()[listing["id"]],  # type: ignore[index]
                },
            },
        )

    def shown(self, order: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": order["id"],
            "listing_id": order["listing_id"],
            "state": order["state"],
            "total": self.listings[order["listing_id"]]["asking"],
            "due_at": stamp(order["due"]),
        }

    def order_of(self, seller: dict[str, Any], number: str) -> dict[str, Any]:
        order = self.orders.get(number)
        if order is None or order["seller"] is not seller:
            raise refuse(404, "order_not_found", f"no order `{number}`")
        return order

    @handler
    def submit(self, request: Request) -> Response:
        """Deliver on an order; the market's own check comes before the buyer's."""
        seller = self.seller(request)
        given = extract(request, DELIVER)
        order = self.order_of(seller, given["order_id"])
        if order["state"] != "placed":
            words = f"order `{order['id']}` is already {order['state']}"
            raise refuse(409, "order_not_open_for_delivery", words)
        delivery = given["delivery"]
        if delivery["kind"] != "text":
            words = "category lettering/uppercase takes `text` deliveries"
            raise refuse(422, "delivery_kind_not_accepted", words)
        if delivery["text"].strip() != self.texts()[order["listing_id"]].upper():
            words = "the text is not the copy of the brief in capital letters"
            raise refuse(422, "delivery_rejected", words)
        order["state"] = "delivered"
        order["delivery"] = f"dlv_{secrets.token_hex(6)}"
        return Response(
            200, {"delivery": {"id": order["delivery"]}, "order": self.shown(order)}
        )

    @handler
    def complete(self, request: Request) -> Response:
        """Ask for the payout; it is there when the buyer's inspection is over."""
        seller = self.seller(request)
        given = extract(request, PAYOUT)
        order = self.order_of(seller, given["order_id"])
        if order["state"] == "placed":
            words = f"order `{order['id']}` has no delivery yet"
            raise refuse(409, "nothing_delivered", words)
        if given["delivery_id"] != order["delivery"]:
            words = f"order `{order['id']}` has no delivery `{given['delivery_id']}`"
            raise refuse(404, "delivery_not_found", words)
        if order["state"] == "delivered":
            order["state"] = "in_inspection"
            order["until"] = time.time() + self.inspection_seconds
        body: dict[str, Any] = {"order": self.shown(order), "payout": None}
        if order["state"] == "in_inspection":
            left = max(1, -int(-(order["until"] - time.time()) // 1))
            body["inspection"] = {
                "ends_at": stamp(order["until"]),
                "note": "payout follows once the buyer's inspection is over",
            }
            return Response(202, body, {"Retry-After": str(left)})
        body["payout"] = {
            "id": order["payout"],
            "amount": self.listings[order["listing_id"]]["asking"],
            "balance": money(seller["credits"]),
        }
        return Response(200, body)
