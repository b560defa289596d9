"""The contract's endpoints and documents as data (contract section 4)."""

from dataclasses import dataclass
from typing import Literal
from urllib.parse import SplitResult, urlsplit

from journeyman.domain.errors import ConfigurationError
from journeyman.network.dialect import ASSUMED

Method = Literal["GET", "POST"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One row of the contract's endpoint table."""

    number: int
    method: Method
    path: str
    """Relative to the base address."""
    name: str
    """Our word for it; the log and the dialect use it."""
    changes_state: bool
    """Whether a lost answer leaves it open if something happened."""

    @property
    def private(self) -> bool:
        """Whether it takes the bearer token: an assumption, see `dialect`."""
        return self.name in ASSUMED.private


REGISTER = Endpoint(
    number=1,
    method="POST",
    path="/functions/v1/create-free-agent-public",
    name="register",
    changes_state=True,
)
CREATE_CHECKOUT = Endpoint(
    number=2,
    method="POST",
    path="/functions/v1/create-checkout",
    name="create_checkout",
    changes_state=True,
)
PUBLIC_MARKETPLACE = Endpoint(
    number=3,
    method="GET",
    path="/functions/v1/public-marketplace",
    name="public_marketplace",
    changes_state=False,
)
PUBLIC_AGENTS = Endpoint(
    number=4,
    method="GET",
    path="/functions/v1/public-agents-directory",
    name="public_agents",
    changes_state=False,
)
AGENTS_DIRECTORY = Endpoint(
    number=5,
    method="GET",
    path="/functions/v1/agents-directory",
    name="agents_directory",
    changes_state=False,
)
MARKETPLACE_TASKS = Endpoint(
    number=6,
    method="GET",
    path="/functions/v1/get-marketplace-tasks",
    name="marketplace_tasks",
    changes_state=False,
)
CLAIM = Endpoint(
    number=7,
    method="POST",
    path="/functions/v1/claim-task-public",
    name="claim",
    changes_state=True,
)
SUBMIT = Endpoint(
    number=8,
    method="POST",
    path="/functions/v1/submit-task-result-public",
    name="submit",
    changes_state=True,
)
COMPLETE = Endpoint(
    number=9,
    method="POST",
    path="/functions/v1/complete-task-public",
    name="complete",
    changes_state=True,
)
POST_TASK = Endpoint(
    number=10,
    method="POST",
    path="/functions/v1/write-post-task-public",
    name="post_task",
    changes_state=True,
)

ENDPOINTS: tuple[Endpoint, ...] = (
    REGISTER,
    CREATE_CHECKOUT,
    PUBLIC_MARKETPLACE,
    PUBLIC_AGENTS,
    AGENTS_DIRECTORY,
    MARKETPLACE_TASKS,
    CLAIM,
    SUBMIT,
    COMPLETE,
    POST_TASK,
)

DISCOVERY_DOCUMENTS: tuple[str, ...] = (
    "/.well-known/agent.json",
    "/.well-known/open-registration.json",
    "/.well-known/agent-gateway.json",
    "/.well-known/ai-network.json",
    "/.well-known/agent-directory.json",
    "/.well-known/agents.json",
    "/.well-known/capabilities.json",
    "/.well-known/agent-protocol.json",
    "/llms.txt",
    "/for-ai-agents.html",
    "/robots.txt",
    "/sitemap.xml",
)
"""Read with GET from the portal (contract section 4, static discovery documents)."""


DEFAULT_PORTS = {"http": 80, "https": 443}


def checked_address(address: str, setting: str) -> str:
    """Return the address without a trailing slash.

    Raises:
        ConfigurationError: it is not an absolute http or https address with a
            host, or it carries a user, a query or a fragment. `setting` is the
            name that the message gives it.
    """
    problem = _problem_of(address)
    if problem:
        raise ConfigurationError(
            f"{setting} is {_without_user(address)!r}: {problem}",
            f"Set {setting} to the service's address, such as"
            " https://network.example or http://127.0.0.1:8080.",
        )
    return address.strip().rstrip("/")


def same_network(one: str, other: str) -> bool:
    """Return whether two addresses mean the same service."""
    return _identity_of(one) == _identity_of(other)


def _problem_of(address: str) -> str:
    try:
        parts = urlsplit(address.strip())
        _ = parts.port  # raises for a port that is no number, or too large
    except ValueError as error:
        return f"it is no valid address ({error})"
    has_host = bool(parts.hostname) and not any(c.isspace() for c in address.strip())
    checks = (
        (parts.scheme in DEFAULT_PORTS, "it must begin with http:// or https://"),
        ("@" not in parts.netloc, "it must not carry a user name or a password"),
        (has_host, "it has no usable host name"),
        (not parts.query, "it must not carry a query (?...)"),
        (not parts.fragment, "it must not carry a fragment (#...)"),
    )
    return next((problem for passed, problem in checks if not passed), "")


def _without_user(address: str) -> str:
    """Keep a password that was typed into an address out of the message."""
    scheme, mark, rest = address.partition("://")
    return f"{scheme}{mark}{rest.rpartition('@')[2]}"


def _identity_of(address: str) -> tuple[str, str | None, int | None, str]:
    parts: SplitResult = urlsplit(address.strip())
    port = parts.port or DEFAULT_PORTS.get(parts.scheme)
    return parts.scheme, parts.hostname, port, parts.path.rstrip("/")
