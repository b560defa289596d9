"""Buying credits: the catalogue, and checkout sessions (contract endpoint 2)."""

from datetime import timedelta
from http import HTTPStatus
from typing import Any, NamedTuple

from journeyman.sandbox import agents, ledger
from journeyman.sandbox.errors import RefusalError
from journeyman.sandbox.store import State

CREDITS_PER_USD = 100
"""The contract's exchange rate; one credit is one cent."""
CUSTOM_PRICE = "price_custom"
_LARGEST = 10_000_000
"""In credits; more would surely be a mistake."""


class Product(NamedTuple):
    """Something that the sandbox sells."""

    price_id: str
    plan: str
    label: str
    credits: int | None
    """None: any number that the buyer asks for."""


class Order(NamedTuple):
    """What a checkout request asks for."""

    agent_id: str
    plan: str
    price_id: str
    requested_credits: int
    amount_cents: int
    product_label: str


CATALOGUE = (
    Product("price_credits_500", "credit_pack", "500 credits", 500),
    Product("price_credits_2000", "credit_pack", "2,000 credits", 2000),
    Product("price_credits_10000", "credit_pack", "10,000 credits", 10_000),
    Product(CUSTOM_PRICE, "credit_pack", "Credits", None),
    Product("price_monthly_3000", "subscription", "3,000 credits a month", 3000),
)
_MODES = {"credit_pack": "payment", "subscription": "subscription"}


def create(state: State, order: Order) -> dict[str, Any]:
    """Open a session; nothing is bought until it is paid on its page."""
    if not agents.exists(state, order.agent_id):
        raise RefusalError(
            HTTPStatus.NOT_FOUND,
            "unknown_agent",
            f"there is no agent {order.agent_id[:80]!r}",
        )
    product = _product(order)
    _require_price(order, product)
    session = state.new_id("cs")
    _insert(state, session, order, product)
    return {
        "ok": True,
        "sessionId": session,
        "url": f"{state.options.origin}/checkout/{session}",
        "mode": _MODES[order.plan],
        "agentId": order.agent_id,
        "plan": order.plan,
    }


def find(state: State, session: str) -> dict[str, Any] | None:
    """Look a session up, with the name of its agent; an open one may have expired."""
    query = "SELECT * FROM checkouts JOIN agents USING (agent_id) WHERE session = ?"
    row = state.db.execute(query, (session,)).fetchone()
    if row is None:
        return None
    is_over = row["status"] == "open" and row["created_at"] <= _oldest_open(state)
    return {**row, "status": "expired" if is_over else row["status"]}


def _oldest_open(state: State) -> str:
    """Return since when a session has expired that was created then."""
    ago = timedelta(hours=state.options.checkout_hours)
    return state.written(state.environment.now() - ago)


def pay(state: State, session: str) -> bool:
    """Pay an open session; False, and no change, when it is no longer open."""
    if not _close(state, session, "paid"):
        return False
    checkout = find(state, session)
    if checkout is None:
        return False
    ledger.move(
        state.db,
        reason="checkout",
        reference=session,
        source=ledger.PAID_CHECKOUTS,
        target=checkout["agent_id"],
        amount=checkout["credits"],
        at=state.now(),
    )
    return True


def cancel(state: State, session: str) -> bool:
    """Cancel an open session; False, and no change, when it is no longer open."""
    return _close(state, session, "cancelled")


def _close(state: State, session: str, status: str) -> bool:
    done = state.db.execute(
        "UPDATE checkouts SET status = ? "
        "WHERE session = ? AND status = 'open' AND created_at > ?",
        (status, session, _oldest_open(state)),
    )
    return done.rowcount == 1


def _product(order: Order) -> Product:
    for product in CATALOGUE:
        if product.price_id == order.price_id:
            break
    else:
        known = ", ".join(product.price_id for product in CATALOGUE)
        raise _unprocessable(
            "unknown_price",
            f"there is no price_id {order.price_id[:80]!r}; use one of {known}",
        )
    if product.plan != order.plan:
        raise _unprocessable(
            "wrong_plan",
            f"{product.price_id} belongs to the plan {product.plan!r}; "
            f"the plan asked for is {order.plan[:80]!r}",
        )
    return product


def _require_price(order: Order, product: Product) -> None:
    if not 1 <= order.requested_credits <= _LARGEST:
        raise _unprocessable(
            "wrong_amount",
            f"requested_credits must be from 1 to {_LARGEST}",
        )
    if product.credits not in (None, order.requested_credits):
        raise _unprocessable(
            "wrong_amount",
            f"{product.price_id} is {product.credits} credits, "
            f"and requested_credits is {order.requested_credits}",
        )
    if order.amount_cents != order.requested_credits:
        raise _unprocessable(
            "wrong_amount",
            f"1 USD is {CREDITS_PER_USD} credits, so {order.requested_credits} credits "
            f"cost {order.requested_credits} cents",
        )


def _insert(state: State, session: str, order: Order, product: Product) -> None:
    *details, label = order
    state.db.execute(
        "INSERT INTO checkouts (session, agent_id, plan, price_id, credits, cents,"
        " label, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (session, *details, label or product.label, state.now()),
    )


def _unprocessable(error: str, message: str) -> RefusalError:
    return RefusalError(HTTPStatus.UNPROCESSABLE_ENTITY, error, message)
