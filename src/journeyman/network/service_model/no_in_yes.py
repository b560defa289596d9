"""What a no looks like on a network that says it in a 2xx.

Many services answer 200 whatever they did, and say in words of their own what it was. A
no that is taken for a yes is worse than the other way round: it books what nobody paid.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice

from journeyman.domain.tasks import JSON
from journeyman.network.service_model.naming import walk
from journeyman.network.service_model.refusals.faults import MAX_NODES, Fault
from journeyman.network.service_model.refusals.refusal import read_refusal
from journeyman.network.service_model.refusals.words import fault_in
from journeyman.network.service_model.request import leaf_names

_SENTENCES = re.compile(r"(?<=[.;!?])\s+")
_MOST_NAMES, _LONGEST_WORD, _LONGEST_TEXT = 40, 40, 1_000
MOST_NOES = 20
"""Of one action that are remembered."""


class NoInYesError(Exception):
    """An answer in the 2xx is a no."""


@dataclass(frozen=True, slots=True)
class Top:
    """What stands at the top of an answer."""

    names: tuple[str, ...] = ()
    """In order, so that the same ones are saved alike."""
    words: Mapping[str, str] = field(default_factory=dict)
    """Under some of them a single word: no number, and no sentence."""


def top_of(answer: JSON) -> Top:
    """Return what stands at the top of an answer."""
    seen = answer if isinstance(answer, dict) else {}
    members = dict(islice(seen.items(), _MOST_NAMES))
    words = {
        name: value
        for name, value in members.items()
        if isinstance(value, str) and value.isalpha() and len(value) <= _LONGEST_WORD
    }
    return Top(tuple(sorted(members)), words)


def misses_names(answer: JSON, sent: JSON) -> bool:
    """Return whether an answer says that names were missing in the request.

    Not where it repeats a value that was sent, as a yes does.
    """
    shown = _values_in(answer)
    if not isinstance(answer, dict) or not shown.isdisjoint(_values_in(sent)):
        return False
    names = leaf_names(sent)
    said = [one for text in shown for one in _SENTENCES.split(text[:_LONGEST_TEXT])]
    is_said = any(fault_in(one) is Fault.MISSING for one in said)
    return any(
        one.fault is Fault.MISSING and one.path[-1] not in names
        for one in read_refusal(answer, "", sent, is_prose_read=False)
        if is_said or (one.is_exact and not _is_of_a_record(one.path[-1], answer))
    )


def _is_of_a_record(name: str, answer: JSON) -> bool:
    """Return whether a text stands in an answer beside what says nothing of a field.

    As the `text` of what is claimed does, beside a number or a flag.
    """
    return any(
        any(isinstance(other, int | float) for other in inner.values())
        for _, inner in islice(walk(answer), MAX_NODES)
        if isinstance(inner, dict) and isinstance(inner.get(name), str)
    )


def _values_in(body: JSON) -> set[str]:
    """Return the texts and numbers of a body, as many as are looked at."""
    values = (value for _, value in islice(walk(body), MAX_NODES))
    # No flags: a yes to one thing repeats no yes to another.
    return {str(value) for value in values if type(value) in {str, int}}
