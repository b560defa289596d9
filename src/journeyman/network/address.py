"""The addresses of a network: checked once, compared as origins."""

from urllib.parse import SplitResult, urlsplit

from journeyman.domain.errors import ConfigurationError

DEFAULT_PORTS = {"http": 80, "https": 443}


def checked_address(address: str, setting: str) -> str:
    """Give the address without a trailing slash.

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
    """Tell whether two addresses mean the same service."""
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
