"""What a check found: one row, with what to do about it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum


class Grade(StrEnum):
    """How bad it is."""

    #: As it must be.
    OK = "ok"
    #: It works, and an owner should know.
    WARN = "warn"
    #: Something does not work.
    FAIL = "fail"
    #: Not looked at, for the reason that is told.
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    grade: Grade
    told: str
    """What was found."""
    fix: str = ""
    """What to do next; empty where nothing is to be done."""
    repair: Callable[[], str] | None = field(default=None, repr=False, compare=False)
    """Does it, and tells what was done; None where only a person can."""
    check: str = ""
    """What was looked at; set by the examination."""


def ok(told: str) -> Finding:
    """Say that all is well."""
    return Finding(Grade.OK, told)


def warn(
    told: str,
    fix: str = "",
    repair: Callable[[], str] | None = None,
) -> Finding:
    """Say what an owner should know."""
    return Finding(Grade.WARN, told, fix, repair)


def fail(
    told: str,
    fix: str = "",
    repair: Callable[[], str] | None = None,
) -> Finding:
    """Say what does not work."""
    return Finding(Grade.FAIL, told, fix, repair)


def skip(why: str) -> Finding:
    """Say why nothing was looked at."""
    return Finding(Grade.SKIP, why)
