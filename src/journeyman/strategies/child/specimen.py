"""The smallest strategies: the template loads them, so that its children find it done.

What a process does for the first time it does slowly, and on memory of its own.
"""

from collections.abc import Collection, Mapping
from typing import ClassVar

from journeyman import Context, Result, Strategy, Task, param, strategy


class Asynchronous(Strategy):
    """Does nothing."""

    tags: ClassVar[Collection[str]] = frozenset({"nothing"})
    inputs: ClassVar[Mapping[str, type]] = {"text": str}
    size: int = param(1, ge=1)

    async def run(self, task: Task, ctx: Context) -> Result:
        """Return an empty text."""
        ctx.log.info("nothing", size=len(task.text))
        return Result("")


@strategy(tags={"nothing"})
def plain(task: Task) -> str:
    """Return the text."""
    return task.text
