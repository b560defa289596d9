"""Time and secrets: all that the sandbox takes from the machine it runs on."""

import secrets  # noqa: TID251 - the sandbox's only source of secrets
from datetime import UTC, datetime
from random import Random
from typing import Protocol

import anyio


class Ambient(Protocol):
    """What a test or a simulation replaces."""

    def now(self) -> datetime:
        """The wall clock, in UTC."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""
        ...

    def new_token(self) -> str:
        """An unguessable text of 64 hexadecimal digits."""
        ...


class Machine:
    """The real thing."""

    def now(self) -> datetime:
        """Read the wall clock."""
        return datetime.now(UTC)  # noqa: TID251 - the sandbox's only clock

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await anyio.sleep(seconds)

    def new_token(self) -> str:
        """Draw from the operating system's generator."""
        return secrets.token_hex(32)


def seeded(*parts: object) -> Random:
    """Make a generator that the same parts make again."""
    text = "/".join(map(str, parts))
    return Random(text)  # noqa: S311 - repeatable on purpose, and nothing secret
