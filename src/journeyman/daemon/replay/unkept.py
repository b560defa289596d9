"""The record of a task as the network sent it, which the tape does not keep."""

from collections.abc import Iterator, Mapping
from typing import Never

from journeyman.domain import JSON


class Unkept(Mapping[str, JSON]):
    """Empty, and it notes whether somebody looked."""

    def __init__(self) -> None:
        self.was_read = False

    def __getitem__(self, name: str) -> Never:
        self.was_read = True
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        self.was_read = True
        return iter(())

    def __len__(self) -> int:
        self.was_read = True
        return 0
