"""What a refusal means, in the light of what has changed since the ones before.

Words that nobody understands are understood by what helps against them. If another
value does not help a name of ours, nothing may stand there; if leaving it out has
helped, the same words say so of the next name. And what is listed for a value may be
names, if it does not help as a value. (Decision 0120.)
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from journeyman.domain.tasks import JSON
from journeyman.network.service_model.meaning import NOUNS, TASK_NOUNS
from journeyman.network.service_model.naming import Path, words_of
from journeyman.network.service_model.refusals.faults import (
    Fault,
    FieldFault,
    in_common,
)
from journeyman.network.service_model.request import Placed, RequestShape

Told: TypeAlias = tuple[RequestShape, tuple[FieldFault, ...]]
"""A body, and what was said of it; of one that was accepted nothing."""

_WRONG = frozenset({Fault.TYPE, Fault.VALUE})


def revised(
    told: Sequence[FieldFault], shape: RequestShape, before: Sequence[Told]
) -> tuple[FieldFault, ...]:
    """Return what a refusal says of a shape, where it repeats itself of other values.

    Of a name that was asked for it is said of its values still.
    """
    asked = {
        one.path[-1:]
        for _, findings in before
        for one in findings
        if one.fault is Fault.MISSING
    }
    revised: list[FieldFault] = []
    for one in (_of_a_value(o, shape, before) for o in told):
        is_open = one.fault in _WRONG and one.path[-1:] not in asked
        is_open = is_open and not any(_is_inside(o, one) for o in told)
        known = next(_same_of_others(one, shape, before), None) if is_open else None
        revised += [one] if known is None else _too_much(one, known)
    words = {one.phrase for one in revised if one.fault is Fault.UNKNOWN} - {""}
    return tuple(
        replace(one, fault=Fault.UNKNOWN) if one.phrase in words else one
        for one in revised
    )


def _of_a_value(
    found: FieldFault, shape: RequestShape, before: Sequence[Told]
) -> FieldFault:
    """Return what was said of a name that lacked, and is said again with a value there.

    Then the words are about what should stand there; unless it may not be there, where
    no other name has helped that lacked.
    """
    path = found.path
    is_again = found.fault is Fault.MISSING and bool(found.phrase)
    if not (is_again and found.is_exact and len(path) == 1) or _is_of_record(path):
        return found
    for other, findings in before:
        is_alike = any(o.path == path and o.phrase == found.phrase for o in findings)
        if is_alike and not _values_at(other, path):
            asked = {one.path for one in findings if one.fault is Fault.MISSING}
            above = {o.path[: -len(path)] for o in shape.placed if _ends(o, path)}
            beside = {(*way, *one) for way in above for one in asked - {path}}
            if () in above or beside & shape.paths:
                return replace(found, fault=Fault.VALUE)
    return found


def _is_inside(one: FieldFault, other: FieldFault) -> bool:
    """Return whether something lacks in what another thing is said of, which stays."""
    size = len(other.path)
    is_below = len(one.path) > size and one.path[:size] == other.path
    return is_below and one.fault is Fault.MISSING


def _is_of_record(path: Path) -> bool:
    """Return whether a name is that of a record, of which the key may be wanted."""
    words = words_of(path[-1])
    return len(words) == 1 and words[0] in TASK_NOUNS.union(*NOUNS.values())


def _ends(placed: Placed, path: Path) -> bool:
    return placed.path[-len(path) :] == path


def _same_of_others(
    found: FieldFault, shape: RequestShape, before: Sequence[Told]
) -> Iterator[FieldFault]:
    """Yield what was said alike of another value at the same place."""
    now = _values_at(shape, found.path)
    for other, findings in reversed(before):
        then = _values_at(other, found.path)
        if now and then and now != then:
            yield from (
                one
                for one in findings
                if one.path == found.path and _is_alike(one, found, now)
            )


def _is_alike(one: FieldFault, other: FieldFault, now: "_Values") -> bool:
    """Return whether nothing has helped: the words are the same, or the list is."""
    if one.options or other.options:
        tried = [str(value) for _, _, _, value in now]
        was_listed = not {*one.options}.isdisjoint(tried)
        return was_listed and {*other.options} <= {*one.options}
    if one.wants or other.wants:
        is_met = one.wants == "object" and any(way for way, *_ in now)
        return is_met and other.wants == one.wants
    return bool(one.phrase) and in_common(one.phrase) == in_common(other.phrase)


def _too_much(found: FieldFault, known: FieldFault) -> Iterator[FieldFault]:
    """Yield that a name is not known, and that those listed beside it are."""
    yield replace(found, fault=Fault.UNKNOWN, wants="", options=())
    for name in known.options:
        path = (*found.path[:-1], name)
        yield FieldFault(path, Fault.ALLOWED, is_exact=found.is_exact)


def meanings(
    before: Told, shape: RequestShape, told: Sequence[FieldFault]
) -> Mapping[str, Fault]:
    """Return what the words of a refusal have meant, now that what helps is known."""
    learned: dict[str, Fault] = {}
    for one in before[1]:
        was_there = bool(_values_at(before[0], one.path))
        is_gone = was_there and not _values_at(shape, one.path)
        if one.phrase and is_gone and one.fault is not Fault.MISSING:
            faults = {o.fault for o in told if o.path[-1:] == one.path[-1:]}
            if Fault.MISSING in faults:
                learned[in_common(one.phrase)] = Fault.VALUE
            elif not faults:
                learned[in_common(one.phrase)] = Fault.UNKNOWN
    return learned


_Values: TypeAlias = list[tuple[Path, str, str, JSON]]


def _values_at(shape: RequestShape, path: Path) -> _Values:
    """Return what a shape has at a place, or inside of it, in whatever object."""
    return [one for placed in shape.placed for one in _value_at(placed, path)]


def _value_at(placed: Placed, path: Path) -> _Values:
    size = len(path)
    return [
        (placed.path[i + size :], placed.source, placed.kind, placed.constant)
        for i in range(len(placed.path) - size + 1)
        if placed.path[i : i + size] == path
    ][:1]
