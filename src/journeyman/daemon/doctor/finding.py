"""What a check found: one row, with what to do about it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial


class Grade(StrEnum):
    """How bad it is."""

    #: As it must be.
    OK = "ok"
    #: It works, and an owner should know.
    WARN = "warn"
    #: Something does not work.
    FAIL = "fail"
    #: Not looked at; the message says why.
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    grade: Grade
    message: str
    """What was found."""
    fix: str = ""
    """What to do next; empty where nothing is to be done."""
    repair: Callable[[], str] | None = field(default=None, repr=False, compare=False)
    """Does it, and returns what was done; None where only a person can."""
    check: str = ""
    """What was looked at; set by the examination."""


ok = partial(Finding, Grade.OK)
warn = partial(Finding, Grade.WARN)
fail = partial(Finding, Grade.FAIL)
skip = partial(Finding, Grade.SKIP)
