"""Which keys of a JSON object are names of fields, and which are data.

An object may be keyed by ids, e-mail addresses or words: its keys are then values of
the body, and must not be kept. Where it is not sure, a key counts as data: a lost name
costs less than a kept value.
"""

import re
from collections.abc import Iterable, Mapping

from journeyman.domain import JSON

LONGEST_NAME = 40
"""In characters."""
MOST_FIELDS = 40
"""With more keys than these, an object is a table of something."""

_NAME = re.compile(r"[$@_]{0,2}[A-Za-z]+(?:[_.:-][A-Za-z]+)*_?")
#: The few names with digits that are common; any other digit belongs to an id.
_WITH_DIGITS = re.compile(
    r"md5|sha(?:1|256|512)|base64|utf8|oauth2?|p(?:50|9[0-9])|(?:address|line)_?[12]",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_LONG = 12
"""From this many letters on, the words of a name are counted."""
_SHORTEST_MEAN_WORD = 2.6
"""In letters: `createdAt` has 4.5, a random string in both cases has about 2."""
_LONGEST_WORD = 24
_FEWEST_ALIKE = 4
"""So many objects of one form under one object make it a table."""
_FEWEST_NUMBERS = 8
_FEWEST_STRINGS = 16
_SHORTEST_SECRET = 4


def is_name(key: str, secrets: Iterable[str]) -> bool:
    """Tell whether a key is surely the name of a field.

    Names are ASCII words of letters, joined by case or by one of `_ - . :`. Keys that
    hold a secret, a digit, a space, an `@` inside, or random letters are data.
    """
    if not 0 < len(key) <= LONGEST_NAME:
        return False
    if any(len(s) >= _SHORTEST_SECRET and s in key for s in secrets):
        return False
    if not _NAME.fullmatch(key):
        return bool(_WITH_DIGITS.fullmatch(key))
    return not _is_random(key)


def are_alike(value: Mapping[str, JSON]) -> bool:
    """Tell whether what stands under all keys has one form, as rows of a table do."""
    kinds = {type(inner) for inner in value.values()}
    if kinds == {dict}:
        forms = {frozenset(row) for row in value.values() if isinstance(row, dict)}
        return (
            len(value) >= _FEWEST_ALIKE and len(forms) == 1 and forms != {frozenset()}
        )
    if kinds <= {int, float}:
        return len(value) >= _FEWEST_NUMBERS
    return kinds == {str} and len(value) >= _FEWEST_STRINGS


def _is_random(key: str) -> bool:
    words = _WORDS.findall(key)
    letters = sum(map(len, words))
    if max(map(len, words)) > _LONGEST_WORD:
        return True
    return letters >= _LONG and letters / len(words) < _SHORTEST_MEAN_WORD
