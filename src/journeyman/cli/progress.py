"""A bar that shows how far a long command is."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

Tell: TypeAlias = Callable[[float], None]
"""Takes how much is done by now."""


@contextmanager
def progress(title: str, total: int, *, shown: bool) -> Iterator[Tell]:
    """Draw a bar on the standard error until the end of the block.

    Only where that is a terminal, and `shown`: a command that prints JSON draws none.
    """
    if not (shown and sys.stderr.isatty()):
        yield lambda _done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as drawn:
        task = drawn.add_task(title, total=total)
        yield lambda done: drawn.update(task, completed=done)
