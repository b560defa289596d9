"""What a no looks like on a network that says it in a 2xx.

Many services answer 200 whatever they did, and say in words of their own what it was. A
no that is taken for a yes is worse than the other way round: it books what nobody paid.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

from journeyman.domain.tasks import JSON
from journeyman.network.service_model.naming import walk
from journeyman.network.service_model.refusals.faults import Fault
from journeyman.network.service_model.refusals.refusal import read_refusal
from journeyman.network.service_model.refusals.words import fault_in
from journeyman.network.service_model.request import leaf_names

_MOST_NAMES, _MOST_NOES, _LONGEST_WORD, _LONGEST_TEXT = 40, 20, 40, 1_000


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


@dataclass(frozen=True, slots=True)
class AnswersTold:
    """What is known of the answers to one action."""

    has_yes: bool = False
    """One of them was a yes."""
    noes: tuple[Top, ...] = ()
    """What those had that were a no."""

    def with_yes(self) -> "AnswersTold":
        """Return it with an answer that was a yes."""
        return replace(self, has_yes=True)

    def with_no(self, answer: JSON) -> "AnswersTold":
        """Return it with an answer that was a no."""
        top = top_of(answer)
        is_new = bool(top.words) and top not in self.noes
        return replace(self, noes=(*self.noes, top)[-_MOST_NOES:]) if is_new else self

    def denies(self, answer: JSON) -> bool:
        """Return whether an answer has the names and words that a no had."""
        return bool(self.noes) and top_of(answer) in self.noes


def misses_names(answer: JSON, sent: JSON) -> bool:
    """Return whether an answer says that names were missing in the request.

    Not where it repeats a value that was sent, as a yes does.
    """
    values = {str(value) for _, value in walk(sent) if isinstance(value, str | int)}
    is_echo = any(str(value) in values for _, value in walk(answer))
    if is_echo or not isinstance(answer, dict):
        return False
    names = leaf_names(sent)
    texts = (value for _, value in walk(answer) if isinstance(value, str))
    is_said = any(fault_in(text[:_LONGEST_TEXT]) is Fault.MISSING for text in texts)
    return any(
        one.fault is Fault.MISSING and one.path[-1] not in names
        for one in read_refusal(answer, "", sent, is_prose_read=False)
        if is_said or one.is_exact
    )
