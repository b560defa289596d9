"""The contract's endpoints and documents (contract section 4), and addresses."""

from dataclasses import dataclass
from typing import Literal
from urllib.parse import SplitResult, urlsplit

from journeyman.domain.errors import ConfigurationError

Method = Literal["GET", "POST"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One row of the contract's endpoint table."""

    number: int
    name: str
    """Our word for it; the log and the vocabulary use it."""
    method: Method
    path: str
    """Relative to the base address."""

    @property
    def changes_state(self) -> bool:
        """Whether it is unknown, without an answer, if something has happened."""
        return self.method == "POST"


REGISTER = Endpoint(1, "register", "POST", "/functions/v1/create-free-agent-public")
CREATE_CHECKOUT = Endpoint(
    2, "create_checkout", "POST", "/functions/v1/create-checkout"
)
PUBLIC_MARKETPLACE = Endpoint(
    3, "public_marketplace", "GET", "/functions/v1/public-marketplace"
)
PUBLIC_AGENTS = Endpoint(
    4, "public_agents", "GET", "/functions/v1/public-agents-directory"
)
AGENTS_DIRECTORY = Endpoint(
    5, "agents_directory", "GET", "/functions/v1/agents-directory"
)
MARKETPLACE_TASKS = Endpoint(
    6, "marketplace_tasks", "GET", "/functions/v1/get-marketplace-tasks"
)
CLAIM = Endpoint(7, "claim", "POST", "/functions/v1/claim-task-public")
SUBMIT = Endpoint(8, "submit", "POST", "/functions/v1/submit-task-result-public")
COMPLETE = Endpoint(9, "complete", "POST", "/functions/v1/complete-task-public")
STEPS = frozenset({CLAIM.name, SUBMIT.name, COMPLETE.name})
"""What is done with a task that somebody else posted."""
POST_TASK = Endpoint(10, "post_task", "POST", "/functions/v1/write-post-task-public")

ENDPOINTS: tuple[Endpoint, ...] = (
    *(REGISTER, CREATE_CHECKOUT, PUBLIC_MARKETPLACE, PUBLIC_AGENTS, AGENTS_DIRECTORY),
    *(MARKETPLACE_TASKS, CLAIM, SUBMIT, COMPLETE, POST_TASK),
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
    """Return whether two addresses are of the same service."""
    return _identity_of(one) == _identity_of(other)


def _problem_of(address: str) -> str:
    try:
        parts = urlsplit(address.strip())
        _ = parts.port  # raises for a port that is not a number, or too large
    except ValueError as error:
        return f"it is not a valid address ({error})"
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
    """Return an address without the password that may have been typed into it."""
    scheme, mark, rest = address.partition("://")
    return f"{scheme}{mark}{rest.rpartition('@')[2]}"


def _identity_of(address: str) -> tuple[object, ...]:
    parts = urlsplit(address.strip())
    return *origin_of(parts), parts.path.rstrip("/")


def origin_of(parts: SplitResult) -> tuple[str, str | None, int | None]:
    """Return an address's scheme, host and port (RFC 6454, section 4)."""
    return parts.scheme, parts.hostname, parts.port or DEFAULT_PORTS.get(parts.scheme)
