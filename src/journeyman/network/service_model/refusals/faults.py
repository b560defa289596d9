"""What a refusal may say of one value of the body that it refuses."""

import re
from dataclasses import dataclass
from enum import StrEnum

from journeyman.network.service_model.naming import Path


class Fault(StrEnum):
    """What is said of a value."""

    MISSING = "missing"
    UNKNOWN = "unknown"
    """Nothing may stand there."""
    TYPE = "wrong type"
    VALUE = "wrong value"
    ALLOWED = "allowed"
    """No fault: the network has just named it as one that it knows."""


AHEAD = "ahead"
"""What is wanted is a time that is still to come."""


@dataclass(frozen=True, slots=True)
class FieldFault:
    """One thing that a refusal says."""

    path: Path
    fault: Fault
    wants: str = ""
    """A JSON type, `uuid`, `id` or `AHEAD`, where it says so."""
    options: tuple[str, ...] = ()
    """The values that it would take, where it lists them."""
    is_exact: bool = True
    """False: a bare name, which may stand inside any object."""
    is_root: bool = False
    """It is around everything, and inside of nothing."""
    means: str = ""
    """Which of our values is meant, where words beside the name describe it."""
    phrase: str = ""
    """What is said of it, without names, where that was not understood."""
    form: str = ""
    """An expression that the value wanted matches, where its form is shown."""


_FEW_WORDS = 3
_LONE_NUMBER = re.compile(r"(?<=\w )\d+\b")


def in_common(phrase: str) -> str:
    """Return what a phrase has in common with that of another body.

    As in "missing field `#` at line 1 column 104". The number of a few words is a code.
    """
    is_code = len(phrase.split()) <= _FEW_WORDS
    return phrase if is_code else _LONE_NUMBER.sub("0", phrase)


_METHOD = ("method", "parameter")


def below_method(way: Path) -> Path:
    """Return a way without what frameworks of Java begin it with: `claim.command.id`.

    Empty where nothing is left.
    """
    return way[len(_METHOD) :]


MAX_TEXT = 600
"""In characters, of one sentence: searching it is what costs time."""
MAX_FINDINGS = 60
MAX_DEPTH = 10
MAX_NODES = 400
"""Of sentences, in all: each may be searched for several things."""
MAX_SAID = 2 * MAX_TEXT
"""Of one fault."""
