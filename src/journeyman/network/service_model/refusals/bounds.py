"""How large a number has to be, as a refusal tells it in any language."""

from collections.abc import Iterable
from dataclasses import replace

from journeyman.domain.tasks import JSON
from journeyman.network.service_model.lazy_pattern import LazyPattern, any_case
from journeyman.network.service_model.naming import ID_WORDS, value_at, words_of
from journeyman.network.service_model.refusals.faults import (
    MAX_TEXT,
    Fault,
    FieldFault,
)
from journeyman.network.service_model.request import leaves_of

_NUMBER = LazyPattern(r"(?<![\w.-])-?\d{1,9}(?:\.\d{1,6})?(?![\w.-]*\w)")
_WORDED = LazyPattern(r"[^\W\d_]|[<>=\u2264\u2265]")
"""A number alone is the code of an error."""
_MORE_THAN = any_case(
    r"(?<!not )(?<!not be )(?:(?:greater|more|larger|higher|bigger)(?: than)?|above)"
    r"[ '\"]{0,2}$|> ?$"
)
_LESS_THAN = any_case(
    r"(?<!not )(?<!not be )(?:(?:less|fewer|smaller|lower)(?: than)?|below|under)"
    r"[ '\"]{0,2}$|< ?$"
)
"""Before a number that is itself not allowed any more."""
_BOUNDED = LazyPattern(r"[<>]=? ?-?\d")
"""As zod has it: "expected number to be >=60"."""
_FOUND = any_case(
    r"\b(?:found|got|received|actual|given|was|instance|value)\b\W{1,3}"
    rf"({_NUMBER.pattern})"
)
"""As in "(minimum: 60, found: 1)"."""


def with_bound(found: FieldFault, told: Iterable[str], sent: JSON) -> FieldFault:
    """Return what is said of a number with the number that would do.

    Whatever the words, the bound is the one other number in them: "must be >= 60" is
    met by 60 itself, and "mindestens 60" is, too.
    """
    value = value_at(sent, found.path)
    if found.options or not is_count(value, found.path[-1]):
        return found
    said = found.phrase
    if found.fault is Fault.VALUE and not said:
        name = {*words_of(found.path[-1])}
        said = next((one for one in told if name <= {*words_of(one)}), "")
    elif found.fault is Fault.TYPE and found.wants == "number":
        said = next((one for one in told if _BOUNDED.search(one)), "")
    bound = _bound_in(said, value)
    if not bound:
        return found
    return replace(found, fault=Fault.VALUE, options=(bound,), phrase="")


def bounded_by_value(told: Iterable[str], sent: JSON) -> list[FieldFault]:
    """Read which number is out of bounds where it is shown in place of its name."""
    for text in told:
        shown = _FOUND.search(text[:MAX_TEXT])
        paths = [
            path
            for path, value in leaves_of(sent)
            if shown and is_count(value, path[-1]) and str(value) == shown[1]
        ]
        bound = _bound_in(text, value_at(sent, paths[0])) if len(paths) == 1 else ""
        if bound:
            return [FieldFault(paths[0], Fault.VALUE, "number", (bound,))]
    return []


def is_count(value: JSON, name: str) -> bool:
    """Return whether a value is a number that identifies nothing."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and ID_WORDS.isdisjoint(words_of(name)[-1:])


def _bound_in(said: str, value: JSON) -> str:
    """Return the only number that a sentence names beside ours; empty for none."""
    others = [one for one in _NUMBER.finditer(said[:MAX_TEXT]) if one[0] != str(value)]
    is_code = not _WORDED.search(said)
    if is_code or len({one[0] for one in others}) != 1:
        return ""
    before, bound = said[: others[0].start()], others[0][0]
    step = bool(_MORE_THAN.search(before)) - bool(_LESS_THAN.search(before))
    return str(int(bound) + step) if step and bound.lstrip("-").isdigit() else bound
