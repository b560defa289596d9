"""Strategies for simulated time: some are reliable, some have typical bugs.

Each is async, since what a thread does is not a function of the seed. The market has
only tasks that ask to count words; the id of a task decides which strategy wants it.
"""

from collections.abc import Collection
from pathlib import Path
from typing import ClassVar
from zlib import crc32

import anyio

from journeyman.domain.tasks import JSON, Result, Task
from journeyman.strategies.api.context import Context
from journeyman.strategies.api.outcomes import Decline, RetryLater
from journeyman.strategies.api.strategy import Decision, Strategy, skip
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.registry import Registry

KIND = "word_count"
LEAKED = "and I was told not to say"
"""No result in which this stands may leave."""
TIMEOUT_SECONDS = 120.0
"""After so long the daemon stops a strategy."""
SHARES = 24
"""The tasks are in so many equal parts; each unreliable strategy wants one."""


class Counter(Strategy):
    """Counts words, at the pace of a program that waits for something."""

    name = "counter"
    shares: ClassVar[Collection[int]] = range(10, SHARES)
    """Which parts of the tasks it wants."""

    def wants(self, task: Task) -> Decision:
        """Take a task whose part is ours."""
        if task.kind != KIND:
            return skip("another kind")
        return part_of(task) in self.shares or skip("another strategy's part")

    async def run(self, task: Task, ctx: Context) -> Result:
        """Count."""
        await anyio.sleep((crc32(task.id.encode()) % 200) / 10)
        ctx.log.info("counted")
        ctx.state["counted"] = ctx.state.get("counted", 0) + 1
        return Result(len(_text(task).split()), evidence={"by": self.name})


class EveryCounter(Counter):
    """Counts words of every task."""

    name = "every_counter"
    shares: ClassVar[Collection[int]] = range(SHARES)


class Raising(Counter):
    """Has a bug."""

    name = "raising"
    shares: ClassVar[Collection[int]] = (0,)

    async def run(self, task: Task, ctx: Context) -> Result:  # noqa: ARG002 - as called
        """Fail."""
        raise ValueError(f"cannot count {task.id}")


class Declining(Counter):
    """Changes its mind."""

    name = "declining"
    shares: ClassVar[Collection[int]] = (1,)

    async def run(self, task: Task, ctx: Context) -> Result:  # noqa: ARG002 - as called
        """Return up."""
        raise Decline("too many words")


class Postponing(Counter):
    """Asks to be run again later at its first try."""

    name = "postponing"
    shares: ClassVar[Collection[int]] = (2,)

    async def run(self, task: Task, ctx: Context) -> Result:
        """Count at the second try."""
        if task.id not in ctx.state:
            ctx.state[task.id] = 1
            raise RetryLater("not yet", after=300)
        return await super().run(task, ctx)


class Hanging(Counter):
    """Never comes back."""

    name = "hanging"
    shares: ClassVar[Collection[int]] = (3,)

    async def run(self, task: Task, ctx: Context) -> Result:  # noqa: ARG002 - as called
        """Wait for ever, and say so now and then."""
        while True:
            ctx.log.info("waiting")
            await anyio.sleep(50)


class Miscounting(Counter):
    """Returns a wrong result."""

    name = "miscounting"
    shares: ClassVar[Collection[int]] = (4,)

    async def run(self, task: Task, ctx: Context) -> Result:
        """Count one too many."""
        right = await super().run(task, ctx)
        return Result(int(str(right.output)) + 1)


class EveryMiscounting(Miscounting):
    """Returns a wrong result for every task."""

    name = "every_miscounting"
    shares: ClassVar[Collection[int]] = range(SHARES)


class ReturningGarbage(Counter):
    """Returns what is not a result."""

    name = "returning_garbage"
    shares: ClassVar[Collection[int]] = (5,)

    async def run(self, task: Task, ctx: Context) -> object:  # type: ignore[override] # that is the point
        """Return a set."""
        await anyio.sleep(1)
        return {task.id, ctx.strategy}


class Crawling(Counter):
    """Takes almost all of its time."""

    name = "crawling"
    shares: ClassVar[Collection[int]] = (6,)

    async def run(self, task: Task, ctx: Context) -> Result:
        """Count, in the end."""
        await anyio.sleep(TIMEOUT_SECONDS * 0.8)
        return await super().run(task, ctx)


class Stubborn(Counter):
    """Resists cancellation."""

    name = "stubborn"
    shares: ClassVar[Collection[int]] = (7,)

    async def run(self, task: Task, ctx: Context) -> Result:
        """Wait behind a shield, then count."""
        with anyio.CancelScope(shield=True):
            await anyio.sleep(90)
        return await super().run(task, ctx)


class Leaking(Counter):
    """Returns what a task has talked it into revealing."""

    name = "leaking"
    shares: ClassVar[Collection[int]] = (8, 9)

    async def run(self, task: Task, ctx: Context) -> Result:
        """Return the words that no result may contain."""
        right = await super().run(task, ctx)
        return Result(f"{right.output}, {LEAKED} {ctx.canary}")


RELIABLE: tuple[type[Strategy], ...] = (EveryCounter,)
ALWAYS_WRONG: tuple[type[Strategy], ...] = (EveryMiscounting,)
UNRELIABLE: tuple[type[Strategy], ...] = (
    Counter,
    Raising,
    Declining,
    Postponing,
    Hanging,
    Miscounting,
    ReturningGarbage,
    Crawling,
    Stubborn,
    Leaking,
)


def registry_of(strategies: tuple[type[Strategy], ...]) -> Registry:
    """Load strategies without files of their own."""
    return Registry(map(_loaded, strategies), block_limit=None)


def part_of(task: Task) -> int:
    """Return which part of all tasks one belongs to; the same in every process."""
    return crc32(f"part of {task.id}".encode()) % SHARES


def _loaded(strategy: type[Strategy]) -> LoadedStrategy:
    instance = strategy()
    return LoadedStrategy(
        name=strategy.name,
        class_name=strategy.__name__,
        version="1",
        description=(strategy.__doc__ or "").splitlines()[0],
        path=Path(__file__),
        line=1,
        runner="loop",
        timeout=TIMEOUT_SECONDS,
        instance=instance,
        run=instance.run,  # type: ignore[attr-defined] # each of them has one
    )


def _text(task: Task) -> str:
    fields: JSON = task.input
    return str(fields["text"]) if isinstance(fields, dict) else task.text
