"""What a run needs from the machine and the owner: `needs = Needs(hosts={"a.org"})`."""

import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeGuard

HOST = re.compile(r"(\*|(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?)(:[0-9]{1,5})?", re.ASCII)


class NeedsError(ValueError):
    """A need is declared with a value that makes no sense."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Needs:
    """What one run needs; what is not named here is not needed.

    The owner reads it in `journeyman strategies show`. The process runner enforces
    what the system can enforce; the other runners enforce `seconds` only.
    """

    hosts: Collection[str] = ()
    """The hosts that it contacts: `api.example.com`, `api.example.com:8443`,
    `*.example.com`; `*` is any host. Empty: it needs no network."""
    files: Collection[str] = ()
    """Paths outside its workspace that it reads."""
    seconds: float | None = None
    """How long one run may take; None: the owner's setting."""
    memory_mb: int | None = None
    """In MiB; None: the owner's setting."""
    credits: float = 0
    """The most that one run may cost, in credits."""

    def __post_init__(self) -> None:
        """Check the values where they are declared, so that the message names the line.

        Raises:
            NeedsError: a field has a value that makes no sense.
        """
        for name in ("hosts", "files"):
            object.__setattr__(self, name, _words(name, getattr(self, name)))
        for host in self.hosts:
            if not HOST.fullmatch(host):
                raise NeedsError(
                    f"needs: hosts has {host!r}; write a host without scheme or path, "
                    "such as 'api.example.com' or 'api.example.com:8443'"
                )
        if "" in self.files:
            raise NeedsError("needs: files has an empty path")
        _check("seconds", self.seconds, "a number of seconds above 0")
        _check("memory_mb", self.memory_mb, "a number of MiB above 0")
        if not _is_number(self.credits) or self.credits < 0:
            raise NeedsError(f"needs: credits = {self.credits!r}; give 0 or more")


def _words(name: str, value: object) -> tuple[str, ...]:
    # A plain string is a collection of strings too: the most common mistake.
    if not isinstance(value, set | frozenset | list | tuple):
        raise NeedsError(f'needs: {name} = {value!r}; write {name}={{"..."}}')
    strangers = [item for item in value if not isinstance(item, str)]
    if strangers:
        raise NeedsError(f"needs: {name} has {strangers[0]!r}, which is not a string")
    return tuple(sorted(value))


def _check(name: str, value: object, allowed: str) -> None:
    if value is not None and not (_is_number(value) and value > 0):
        raise NeedsError(f"needs: {name} = {value!r}; give {allowed}")


def _is_number(value: object) -> TypeGuard[int | float]:
    is_flag = isinstance(value, bool)
    return isinstance(value, int | float) and not is_flag and math.isfinite(value)
