"""What the portal offers for sale: a catalogue for the owner, never trusted."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from decimal import Decimal

from journeyman.domain.tasks import JSON
from journeyman.network.service_model.reading import Fields, spelling
from journeyman.network.wording import safe_line

CENTS_PER_CREDIT = 1
"""1 USD = 100 credits (contract section 1)."""
MOST_PRODUCTS = 100
DEEPEST = 12
"""Levels of objects and arrays."""

_PRICE_ID = ("priceid", "stripepriceid", "stripeprice", "price")
_OTHER_IDS = ("sku", "lookupkey", "productid", "packid", "id", "code")
_PLAN = ("plan", "planid", "tier")
_LABEL = ("name", "label", "title", "productlabel", "productname", "nickname")
_CREDITS = ("credits", "creditamount", "creditsamount", "includedcredits")
_NOT_FOR_SALE = ("starter", "starting", "free", "welcome", "initial", "bonus")
"""Beginnings of `...credits` that are a gift."""
_CURRENCY = ("currency", "currencycode")
_CHECKOUT = ("checkouturl", "checkout", "paymentlink", "buyurl", "purchaseurl")
_NAME = re.compile(r"[A-Za-z0-9][\w.:-]{0,99}", re.ASCII)
"""What may stand on a command line that somebody copies."""
_MONEY = re.compile(
    r"(?P<sign>USD|US\$|\$)?\s*(?P<number>[0-9]{1,9}(?:\.[0-9]{1,4})?)\s*(?:USD)?"
    r"(?:\s*(?:/|per|a)\s*(?P<period>[a-z]{2,8}))?",
    re.IGNORECASE,
)
_PERIODS = {
    **dict.fromkeys(("day", "daily", "p1d"), "day"),
    **dict.fromkeys(("week", "weekly", "wk", "p1w", "p7d"), "week"),
    **dict.fromkeys(("month", "monthly", "mo", "mth", "p1m", "p30d"), "month"),
    **dict.fromkeys(("quarter", "quarterly", "p3m"), "quarter"),
    **dict.fromkeys(("year", "yearly", "annual", "annually", "yr", "p1y"), "year"),
}
_RECURRING = frozenset({"subscription", "recurring", "subscribe"})
"""Keys with a true value, or values of a mode, that say so; also without a period."""
_MODES = ("mode", "type", "kind", "billing", "pricetype", "producttype", "checkoutmode")
UNKNOWN_PERIOD = "unknown period"


@dataclass(frozen=True, kw_only=True, slots=True)
class Product:
    """Something for sale, as a document describes it."""

    label: str
    price_id: str
    """Empty where the document names none that could be used."""
    plan: str
    credits: int | None
    """None: as many as the buyer asks for, or not said."""
    cents: int | None
    """The price in cents of a US dollar; None: not said."""
    period: str
    """Of a subscription, such as `month`; empty for what is paid once."""
    checkout: str
    """The address where it is bought; may be anywhere."""
    path: str
    """The document that describes it."""

    @property
    def problem(self) -> str:
        """Why it should not be bought as a top-up; empty when it may be."""
        if self.period:
            return f"a subscription (each {self.period}), not a single payment"
        if self.credits is None or self.cents is None:
            return ""
        if self.cents == self.credits * CENTS_PER_CREDIT:
            return ""
        fair = self.credits * CENTS_PER_CREDIT
        return (
            f"USD {self.cents / 100:.2f} for {self.credits} credits breaks "
            f"1 USD = 100 credits; that would be USD {fair / 100:.2f}"
        )


def products_in(path: str, document: JSON) -> list[Product]:
    """Find what looks like a product: with a price id, or credits and a price."""
    return _found(path, document, 0)[:MOST_PRODUCTS]


def each_once(products: Iterable[Product]) -> list[Product]:
    """Return one row for each product: documents repeat each other's catalogue."""
    rows: dict[object, Product] = {}
    for one in products:
        key = one.price_id or (one.label, one.plan, one.credits, one.cents, one.period)
        rows[key] = _filled(rows[key], one) if key in rows else one
    return list(rows.values())


def _filled(known: Product, other: Product) -> Product:
    """Return a product with what only another description of it says."""
    names = [field.name for field in fields(Product)]
    gaps = (name for name in names if getattr(known, name) in ("", None))
    return replace(known, **{name: getattr(other, name) for name in gaps})


def _found(path: str, value: JSON, depth: int) -> list[Product]:
    """Return the products in a value; those listed inside of one are its prices."""
    if depth > DEEPEST or not isinstance(value, dict | list):
        return []
    if isinstance(value, list):
        return [one for inner in value for one in _found(path, inner, depth + 1)]
    # An object in it, such as its price or metadata, says more about the same thing.
    objects = [
        one
        for name, one in value.items()
        if isinstance(one, dict) and "credit" not in spelling(name)
    ]
    seen = Fields(value, *objects)
    whole = _product(path, seen)
    is_one = seen.pick(_PRICE_ID, _as_name) is not None or (
        bool(whole.cents) and (whole.credits is not None or bool(whole.period))
    )
    inside = [
        product
        for inner in value.values()
        if isinstance(inner, list) or not is_one
        for product in _found(path, inner, depth + 1)
    ]
    if not inside:
        return [whole] if is_one else []
    own = Fields(value)
    if own.has(_OTHER_IDS) and own.has(_LABEL):
        return [_filled(one, replace(whole, price_id="")) for one in inside]
    return inside


def _product(path: str, seen: Fields) -> Product:
    sold = [
        name
        for name in seen
        if name.endswith("credits") and not name.startswith(_NOT_FOR_SALE)
    ]
    count = seen.pick((*_CREDITS, *sold), _as_count)
    cents, period = _price(seen, count)
    return Product(
        label=seen.pick(_LABEL, _as_text) or "",
        price_id=seen.pick((*_PRICE_ID, *_OTHER_IDS), _as_name) or "",
        plan=seen.pick(_PLAN, _as_name) or "",
        credits=count,
        cents=cents if seen.pick(_CURRENCY, _as_text) in _DOLLARS else None,
        period=period or _period(seen),
        checkout=seen.pick(_CHECKOUT, _as_text) or "",
        path=path,
    )


def _price(seen: Fields, credit_count: int | None) -> tuple[int | None, str]:
    """Return a price in cents, and the period that it is for where it says one.

    A bare number may count dollars or cents. Where the credits are known, the exchange
    rate tells; else an `amount` beside a currency counts cents, as with Stripe.
    """
    has_currency = seen.has(_CURRENCY)
    usable = [name for name in seen if not ("credit" in name or "per" in name)]
    clear = [one for one in usable if any(word in one for word in _MINOR + _MAJOR)]
    for name in (*clear, *(one for one in usable if one in _BARE)):
        if money := _as_money(seen[name]):
            number, in_dollars, period = money
            found = _cents_of(
                name, number, in_dollars=in_dollars, has_currency=has_currency
            )
            if found:
                return credit_count if credit_count in found else found[0], period
    return None, ""


_MINOR, _MAJOR = ("cents", "minor", "unitamount"), ("usd", "dollar")
"""Parts of the names of a price that tell its unit."""
_BARE = ("price", "amount", "cost", "value", "total", "pricing", "priceamount")


def _cents_of(
    name: str,
    number: Decimal,
    *,
    in_dollars: bool,
    has_currency: bool,
) -> list[int]:
    """Return what a number may mean in cents, the likeliest first."""
    major, minor = number * 100, number
    if "decimal" not in name and any(word in name for word in _MINOR):
        readings = [minor]
    elif in_dollars or any(word in name for word in _MAJOR):
        readings = [major]
    else:
        is_minor = has_currency and name != "price"
        readings = [minor, major] if is_minor else [major, minor]
    return [int(cents) for cents in readings if cents == cents.to_integral_value()]


def _as_money(value: JSON) -> tuple[Decimal, bool, str] | None:
    """Read an amount, whether its notation says that it is dollars, and its period."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    text = str(value).replace(",", "").strip()
    money = _MONEY.fullmatch(text)
    period = (money["period"] or "").lower() if money else ""
    if not money or (period and period not in _PERIODS):
        return None
    in_dollars = bool(money["sign"]) or text != money["number"] or "." in text
    return Decimal(money["number"]), in_dollars, _PERIODS.get(period, "")


def _period(seen: Fields) -> str:
    """Return the period of a subscription; empty for what is paid once."""
    for name, value in seen.items():
        word = value.strip().lower() if isinstance(value, str) else ""
        is_about_time = name in _EACH or any(part in name for part in _OF_TIME)
        if word in _PERIODS and is_about_time:
            return _PERIODS[word]
    modes = {spelling(str(seen[name])) for name in _MODES if name in seen}
    flags = {one for one in seen if seen[one] is True or isinstance(seen[one], dict)}
    return UNKNOWN_PERIOD if _RECURRING & (modes | flags) else ""


_EACH = ("per", "every", "term")
_OF_TIME = ("interval", "period", "cycle", "frequency", "billing", "recurr", "renew")
_DOLLARS = (None, "usd", "USD", "Usd", "US$", "$")
"""What a currency may be; None: not said."""


def _as_name(value: JSON) -> str | None:
    if not isinstance(value, str) or _MONEY.fullmatch(value):
        return None
    is_word = value.lower() in ("free", "custom", "usd")
    return value if _NAME.fullmatch(value) and not is_word else None


def _as_text(value: JSON) -> str | None:
    return safe_line(value) if isinstance(value, str) and value.strip() else None


def _as_count(value: JSON) -> int | None:
    if isinstance(value, dict):
        return Fields(value).pick(("amount", "included", "count", "value"), _as_count)
    text = str(value).replace(",", "").strip()
    is_whole = not isinstance(value, bool) and re.fullmatch(r"[0-9]{1,12}", text)
    return int(text) if is_whole else None
