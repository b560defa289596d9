"""Everything that a process has started, and what those have started, from /proc.

The supervisor is a "child subreaper" (man 2 prctl): what loses its parent becomes the
supervisor's own child. So a process cannot leave the tree, whatever sessions and
groups it makes.
"""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

PROC: Final = "/proc"
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


def children_of(process: int) -> list[int]:
    """Give the direct children of a process; none where /proc does not tell."""
    found: list[int] = []
    with suppress(OSError):  # it has just ended, or there is no /proc
        for thread in Path(f"{PROC}/{process}/task").iterdir():
            found += map(int, (thread / "children").read_bytes().split())
    return found


def descendants_of(process: int) -> Iterator[int]:
    """Give all that a process has started, parents before their children."""
    waiting = children_of(process)
    seen: set[int] = set()
    while waiting:
        child = waiting.pop(0)
        if child not in seen:
            seen.add(child)
            yield child
            waiting += children_of(child)


def own_bytes(process: int) -> int:
    """Give how much memory a process holds, with its share of what others hold too.

    Slower than `resident_bytes`, which counts what a fork shares once for each.
    """
    with suppress(OSError, ValueError):
        text = Path(PROC, str(process), "smaps_rollup").read_text()
        words = re.search(r"^Pss:\s+(\d+) kB$", text, re.MULTILINE)
        return int(words[1]) * 1024 if words else 0
    return resident_bytes(process)


def resident_bytes(process: int) -> int:
    """Give how much memory a process holds now; 0 when it has ended."""
    with suppress(OSError, ValueError, IndexError):
        # statm (man 5 proc): pages of its size, resident, of files and shared, ...
        return int(Path(PROC, str(process), "statm").read_text().split()[1]) * _PAGE
    return 0
