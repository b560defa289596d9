"""What the portal offers for sale: a catalogue for the owner, never trusted."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from journeyman.domain.tasks import JSON
from journeyman.network.discovery.statements import Found, objects_in
from journeyman.network.wording import safe_line

CENTS_PER_CREDIT = 1
"""1 USD = 100 credits (contract section 1)."""
MOST_PRODUCTS = 100

_PRICE_ID = ("priceid", "stripepriceid", "stripeprice", "price")
_PLAN = ("plan", "planid")
_LABEL = ("name", "label", "title", "productlabel", "productname")
_CREDITS = ("credits", "creditamount", "creditsamount", "includedcredits")
_DOLLARS = ("priceusd", "usd", "amountusd", "pricedollars", "costusd", "price")
_CENTS = ("amountcents", "pricecents", "usdcents", "unitamount", "cents")
_CHECKOUT = ("checkouturl", "checkout", "paymentlink", "buyurl", "purchaseurl")
_NAME = re.compile(r"[A-Za-z0-9][\w.:-]{0,99}", re.ASCII)
"""What may stand on a command line that somebody copies."""
_MONEY = re.compile(r"(?:USD|US\$|\$)?\s*([0-9]{1,9}(?:\.[0-9]{1,4})?)\s*(?:USD)?")


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
    checkout: str
    """The address where it is bought; may be anywhere."""
    path: str
    """The document that describes it."""

    @property
    def problem(self) -> str:
        """Why it should not be bought; empty when it may be."""
        if self.credits is None or self.cents is None:
            return ""
        if self.cents == self.credits * CENTS_PER_CREDIT:
            return ""
        fair = self.credits * CENTS_PER_CREDIT
        return (
            f"USD {self.cents / 100:.2f} for {self.credits} credits breaks "
            f"1 USD = 100 credits; that would be USD {fair / 100:.2f}"
        )


def products_in(path: str, document: JSON) -> Iterator[Product]:
    """Find what looks like a product: a price id, or credits with a price."""
    for number, found in enumerate(filter(_is_product, objects_in(document))):
        if number == MOST_PRODUCTS:
            return
        yield _product(path, found)


def _is_product(found: Found) -> bool:
    fields = found.fields
    priced = fields.pick(_DOLLARS, _as_cents) or fields.pick(_CENTS, _as_count)
    sold = fields.pick(_CREDITS, _as_count)
    return bool(fields.pick(_PRICE_ID[:-1], _as_name) or (priced and sold))


def _product(path: str, found: Found) -> Product:
    fields = found.fields
    cents = fields.pick(_CENTS, _as_count)
    dollars = fields.pick(_DOLLARS, _as_cents)
    return Product(
        label=fields.pick(_LABEL, _as_text) or "",
        price_id=fields.pick(_PRICE_ID, _as_name) or "",
        plan=fields.pick(_PLAN, _as_name) or "",
        credits=fields.pick(_CREDITS, _as_count),
        cents=dollars if cents is None else cents,
        checkout=fields.pick(_CHECKOUT, _as_text) or "",
        path=path,
    )


def _as_name(value: JSON) -> str | None:
    fits = isinstance(value, str) and _NAME.fullmatch(value)
    if not fits or not isinstance(value, str) or _MONEY.fullmatch(value):
        return None
    return value


def _as_text(value: JSON) -> str | None:
    return safe_line(value) if isinstance(value, str) and value.strip() else None


def _as_count(value: JSON) -> int | None:
    text = str(value).replace(",", "").strip()
    is_whole = not isinstance(value, bool) and re.fullmatch(r"[0-9]{1,12}", text)
    return int(text) if is_whole else None


def _as_cents(value: JSON) -> int | None:
    """Read dollars: 5, 4.99, "$5", "5.00 USD"; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    money = _MONEY.fullmatch(str(value).strip())
    if not money:
        return None
    try:
        cents = Decimal(money[1]) * 100
    except InvalidOperation:
        return None
    return int(cents) if cents == cents.to_integral_value() else None
