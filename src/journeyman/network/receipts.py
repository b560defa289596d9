"""What each call hands back: the parts of an answer that we could read."""

from dataclasses import dataclass, field
from datetime import datetime

from journeyman.domain.tasks import JSON, AccessToken, AgentId, Task, TaskId


@dataclass(frozen=True, slots=True)
class Registration:
    """A new agent (contract section 2, Agent)."""

    agent_id: AgentId
    access_token: AccessToken
    credits: int | None
    """The starting balance; None when the answer does not show it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckoutRequest:
    """The body of create-checkout (contract section 2, Checkout request)."""

    plan: str
    agent_id: AgentId
    price_id: str
    requested_credits: int
    amount_cents: int
    """In cents of a US dollar."""
    product_label: str | None = None
    source: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckoutSession:
    """The answer of create-checkout: all fields optional (contract section 2)."""

    ok: bool | None = None
    session_id: str | None = None
    url: str | None = None
    """The hosted payment page."""
    mode: str | None = None
    agent_id: str | None = None
    plan: str | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """What a marketplace shows."""

    tasks: tuple[Task, ...]
    """In the network's order, each id once."""
    unreadable: int
    """How many records have no usable id."""
    total: int
    """How many records there were."""
    problem: str
    """Why something could not be read; empty when all was well."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """A task is ours."""

    task: Task | None
    """As the answer describes it, when it does."""
    ours_already: bool
    """The network says that it was ours before this request."""
    balance: int | None
    """In credits, when the answer shows it; so in all receipts below."""
    lease_until: datetime | None = None
    """When the claim ends by itself, in UTC, when the answer shows it."""


@dataclass(frozen=True, slots=True)
class Submitted:
    """A result was accepted."""

    balance: int | None


@dataclass(frozen=True, slots=True)
class Completed:
    """A task is done."""

    credits_earned: int | None
    """In credits, when the answer says so."""
    balance: int | None


@dataclass(frozen=True, slots=True)
class Posted:
    """A task was published."""

    task_id: TaskId | None = None
    """The network's name for it; None when the answer does not tell."""
    balance: int | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A discovery document."""

    path: str
    content_type: str
    """As the portal sent it; empty when it sent none."""
    text: str = field(repr=False)
    json: JSON = field(repr=False)
    """The parsed text where the path ends in `.json`, else None."""
    problem: str
    """What is odd about it though it could be read; empty when nothing is."""
