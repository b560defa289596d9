"""A refusal, read in the light of the task: its record, and what answers gave for it.

What nobody can understand by itself may name a field that the record has, or quote a
value that an answer gave. Nothing of it is guessed: it has to be there.
"""

import json
import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain

from journeyman.domain import outcomes
from journeyman.domain.outcomes import Refusal
from journeyman.domain.tasks import JSON
from journeyman.network.service_model.meaning import (
    ENVELOPES,
    PRICES,
    RESULT_WORDS,
    is_version,
)
from journeyman.network.service_model.model import ServiceModel, without_method
from journeyman.network.service_model.naming import (
    ID_WORDS,
    speaks_of,
    value_at,
    words_of,
)
from journeyman.network.service_model.reading import (
    NAMES,
    as_exact_credits,
    spelling,
)
from journeyman.network.service_model.refusals.faults import Fault, FieldFault
from journeyman.network.service_model.refusals.refusal import (
    means_our_id,
    read_refusal,
    said_by_status,
)
from journeyman.network.service_model.refusals.sentences import seeks_a_function
from journeyman.network.service_model.refusals.words import (
    OF_A_VERSION,
    strings_in,
)
from journeyman.network.service_model.request import (
    GIVEN,
    RECORD,
    TASK_TAIL,
    WORDS,
    Placed,
    RequestShape,
    Values,
)

FORBIDDEN = 403


@dataclass(frozen=True, kw_only=True, slots=True)
class Sent:
    """A body that was refused, and what it was made of."""

    action: str
    shape: RequestShape
    body: JSON
    record: Mapping[str, JSON]
    """What the listing shows of the task."""
    known: Values
    """All that could have been said."""

    @property
    def values(self) -> Values:
        """What this shape may say of it."""
        if self.shape.reads_record:
            return self.known
        return {k: v for k, v in self.known.items() if not k.startswith(RECORD)}


def read_in_context(
    refused: outcomes.Refused, sent: Sent, model: ServiceModel
) -> tuple[FieldFault, ...]:
    """Return what a refusal says of a body, in the light of what is known."""
    findings = said_by_status(refused.status, refused.accepts) or read_refusal(
        refused.answer,
        refused.message,
        sent.body,
        phrases=model.phrases,
        is_of_body=refused.refusal in {Refusal.INVALID, Refusal.OTHER}
        or refused.status == FORBIDDEN
        or is_no_in_yes(refused),
    )
    findings = _by_value(findings, refused, sent, model)
    if model.begins_with_methods():
        findings = tuple(without_method(sent.action, one) for one in findings)
    around = model.wrappers_beside(sent.action)
    findings = tuple(_at_root(one, around, sent.body) for one in findings)
    findings = tuple(_or_at_root(one, sent) for one in findings)
    findings = _by_record(findings, refused, sent.record)
    if len(findings) == 1 and _shows_our_id(findings[0], refused, sent):
        return (replace(findings[0], means="agent_id", options=()),)
    if len(findings) == 1:
        means = "agent_id" if means_our_id(refused.answer or refused.message) else ""
        means = means or findings[0].means or _named_source(findings[0], refused, sent)
        found = replace(findings[0], means=means)
        return (_of_our_id(found, sent.shape),)
    return findings


def _shows_our_id(found: FieldFault, refused: outcomes.Refused, sent: Sent) -> bool:
    """Return whether a sentence has our id, which was not sent: that is meant.

    As in "This token is agent-7's, and not Done's".
    """
    ours = str(sent.known.get("agent_id", ""))
    is_sent = sent.shape.path_of("agent_id") is not None
    whole = re.compile(rf"(?<![\w-]){re.escape(ours)}(?![\w-])")
    told = (one for one in _texts(refused) if " " in one)
    is_shown = bool(ours) and not is_sent and any(map(whole.search, told))
    return is_shown and found.fault is Fault.VALUE


def _by_value(
    findings: tuple[FieldFault, ...],
    refused: outcomes.Refused,
    sent: Sent,
    model: ServiceModel,
) -> tuple[FieldFault, ...]:
    """Return findings with what the values tell that it quotes, or could have had."""
    shape, message = sent.shape, refused.message
    if refused.refusal is Refusal.ABSENT and not seeks_a_function(message):
        # Where it stands elsewhere, too, the task itself is not there.
        beside = model.task_paths_beside(sent.action)
        findings = tuple(
            one
            for one in findings
            if one.path not in beside or is_of_another(one, shape)
        )
        findings = _of_words(refused, shape, sent.values) or findings
        findings = findings or _of_quoted(refused, shape, sent.values)
    if refused.status == FORBIDDEN:
        findings = findings or _of_our_name(message, shape)
    if any(contradicts(one, shape) for one in findings):
        return findings
    lacking = _of_given(refused, shape, sent.known)
    is_open = refused.refusal is Refusal.CONFLICT and not lacking
    is_open = is_open and not any(meant_by(one, shape) for one in findings)
    stale = _of_version(message, shape, sent.known) if is_open else ()
    return lacking or stale or findings


def _named_source(found: FieldFault, refused: outcomes.Refused, sent: Sent) -> str:
    """Return which value is meant where a sentence has its name, as in an answer.

    As in "signed_by: must be the scribe_name of the engagement".
    """
    if found.fault is not Fault.VALUE:
        return ""
    words = {word for text in _texts(refused) for word in _WORDS.findall(text)}
    named = [
        source
        for source, value in sent.known.items()
        if source.startswith((*GIVEN, RECORD))
        and len(words_of(name := source.rpartition(".")[2])) > 1
        and name in words
        and name != found.path[-1]
    ]
    # The last answer knows better, and any answer better than the listing.
    told = (RECORD, *GIVEN)
    return max(
        named, key=lambda one: told.index(f"{one.partition('.')[0]}."), default=""
    )


def _by_record(
    findings: tuple[FieldFault, ...],
    refused: outcomes.Refused,
    record: Mapping[str, JSON],
) -> tuple[FieldFault, ...]:
    """Return findings with the names that the task's record has for what is meant."""
    said = json.dumps(refused.answer) + refused.message
    dotted = (_with_dots(one, record) for one in findings)
    listed = (_as_listed(one, record, said) for one in dotted)
    return tuple(chain.from_iterable(_as_shown(one, record) for one in listed))


def _at_root(found: FieldFault, around: Container[str], body: JSON) -> FieldFault:
    """Return what is missed as an object around everything, if others have it so."""
    is_lone = not found.is_exact and len(found.path) == 1
    is_lacking = found.fault is Fault.MISSING and is_lone
    names = [*body] if isinstance(body, dict) else []
    # Each action has an object of its own where all was sent in another one's.
    is_in_others = found.wants == "object" and len(names) == 1 and names[0] in around
    is_of_others = found.path[0] in around or is_in_others
    is_root = is_lacking and is_of_others and found.path[0] not in names
    return replace(found, is_root=True) if is_root else found


def _or_at_root(found: FieldFault, sent: Sent) -> FieldFault:
    """Return what is missed at the root, where what is inside is what is wanted.

    As in "CharacterCount must be equal to 29" of an `engraving.characterCount` of 29.
    """
    name = spelling(found.path[-1])
    inside = [one.path for one in sent.shape.placed if spelling(one.path[-1]) == name]
    is_lone = len(found.path) == 1 and len(inside) == 1 and len(inside[0]) > 1
    if is_lone and found.options == (f"{value_at(sent.body, inside[0])}",):
        return FieldFault(inside[0][-1:], Fault.MISSING, is_root=True)
    return found


def _as_listed(found: FieldFault, record: Mapping[str, JSON], said: str) -> FieldFault:
    """Return what is missed under the name that a record has for it.

    ServiceNow asks for "Result" where the owner's own field is called `u_result`, and
    CouchDB for a "document id" that is called `_id`.
    """
    *above, name = found.path
    if above or found.fault is not Fault.MISSING or name in record:
        return found
    *noun, last = words_of(name) or ("",)
    if last == "id" and noun and {*noun} <= _RECORDS and name not in said:
        inner = [*_inner_records(record)]
        own = [one for one in inner[-1] if words_of(one) == ("id",)]
        return replace(found, path=(own[0],)) if own else found
    parts = {one: words_of(one) for one in record}
    own = [one for one, words in parts.items() if len("".join(words[:1])) == 1]
    alike = [one for one in own if parts[one][1:] == words_of(name)]
    return replace(found, path=(alike[0],)) if len(alike) == 1 else found


_RECORDS = frozenset({"document", "doc", "record", "row", "object", "entity"})
"""What any record is called by who keeps it."""


def _inner_records(record: Mapping[str, JSON]) -> Iterator[Mapping[str, JSON]]:
    """Yield a record, and what is one in it: `{"id": ..., "doc": {"_id": ...}}`."""
    yield record
    for name, value in record.items():
        if name in _RECORDS and isinstance(value, dict):
            yield value


def _with_dots(found: FieldFault, record: Mapping[str, JSON]) -> FieldFault:
    """Return what is said of a name that has dots, as names of R have in a record."""
    dotted = [one for one in record if re.fullmatch(r"\w+(?:\.\w+)+", one)]
    return replace(found, path=(".".join(found.path),)) if dotted[1:] else found


def _as_shown(found: FieldFault, record: Mapping[str, JSON]) -> tuple[FieldFault, ...]:
    """Return what is missed, or of another type, as the members that a record shows.

    Temporal asks for a `taskQueue` whose `name` it has listed. What has prose in it is
    around a record, or is its work, and goes back with other things in it. A `price` is
    what the task pays, whatever the record calls that.
    """
    words = {*words_of(found.path[-1])}
    money = _money_in(record) if words <= PRICES else {}
    # An `amount` that is one of its members is asked for by itself.
    price = money if found.path[-1] not in money else None
    there = record.get(found.path[-1], price)
    is_lacking = found.fault in {Fault.MISSING, Fault.TYPE}
    is_object = is_lacking and found.wants in {"", "object"}
    is_ours = not words.isdisjoint((*ENVELOPES, *RESULT_WORDS))
    members = there if isinstance(there, dict) and is_object and not is_ours else {}
    if any(" " in str(one) or one in (None, "") for one in members.values()):
        return (found,)
    shown = (FieldFault((*found.path, name), Fault.MISSING) for name in members)
    return tuple(shown) or (found,)


def _money_in(record: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the object with what a task pays and in which currency, or nothing."""
    objects = (one for one in record.values() if isinstance(one, dict))
    money = [
        one
        for one in objects
        if as_exact_credits(one) is not None
        and not {*map(spelling, one)}.isdisjoint(NAMES["reward_unit"])
    ]
    return money[0] if len(money) == 1 else {}


def _of_words(
    refused: outcomes.Refused, shape: RequestShape, values: Values
) -> tuple[FieldFault, ...]:
    """Return what is said of words for which nothing was found: an id is wanted.

    As in "no docket 'Claimed by an agent'", where words stood for what nobody knew, and
    in "Couldn't find that run" of a `run`.
    """
    words = str(values.get(WORDS, ""))
    placed = [one for one in shape.placed if one.source == WORDS]
    is_quoted = bool(words) and f"{words}'" in refused.message.replace('"', "'")
    names = [one.path[-1] for one in placed if refused.is_there]
    is_named = any(speaks_of(refused.message, name) for name in names)
    faulty = placed if (is_quoted or is_named) and len(placed) == 1 else []
    return tuple(FieldFault(one.path, Fault.VALUE, "id") for one in faulty)


def _of_quoted(
    refused: outcomes.Refused, shape: RequestShape, values: Values
) -> tuple[FieldFault, ...]:
    """Return what a 404 says of an id that an answer gave: it is of something else.

    As in `{"details": {"type": "Entry", "id": "T-pMOU"}}` of the id of a claim.
    """
    said = [*_texts(refused)]
    given = (one for one in shape.placed if one.source.startswith(GIVEN))
    wrong = [one for one in given if values.get(one.source) in said]
    return tuple(FieldFault(one.path, Fault.VALUE, "id") for one in wrong[:1])


def _texts(refused: outcomes.Refused) -> Iterator[str]:
    return strings_in(refused.answer or refused.message)


def _of_our_name(said: str, shape: RequestShape) -> tuple[FieldFault, ...]:
    """Return what a 403 says of words that stood for our id, which nobody had named.

    As in "L'identifiant de l'intervenant ne correspond pas au jeton", which has all
    words of an `identifiantIntervenant`.
    """
    told = {*re.findall(r"\w+", said.lower())}
    return tuple(
        FieldFault(one.path, Fault.VALUE, means="agent_id")
        for one in shape.placed
        if one.source == WORDS
        and len(words := words_of(one.path[-1])) > 1
        and told.issuperset(words)
    )


def _of_version(
    said: str, shape: RequestShape, values: Values
) -> tuple[FieldFault, ...]:
    """Return what a conflict may be about: a version that is shown and was not sent.

    CouchDB says "Document update conflict." to a body without the `_rev` that it shows.
    Or one that was sent, where others are shown.
    """
    shown = {
        source: str(value)
        for source, value in values.items()
        if source.startswith((*GIVEN, RECORD)) and is_version(source)
    }
    if not OF_A_VERSION.search(said):
        return ()
    sent = {str(values.get(one.source)) for one in shape.placed if one.source}
    told = [one for one in shape.placed if one.source and is_version(one.path[-1])]
    if told:
        is_other = {*shown.values()} - {str(values.get(told[0].source))}
        return (FieldFault(told[0].path, Fault.VALUE),) if is_other else ()
    if sent & {*shown.values()}:
        return ()
    names = {source.rpartition(".")[2] for source in shown}
    written = sorted(names, key=lambda one: (one[:1].isalpha(), one))
    return tuple(FieldFault((one,), Fault.MISSING) for one in written[:1])


def _of_given(
    refused: outcomes.Refused, shape: RequestShape, values: Values
) -> tuple[FieldFault, ...]:
    """Return what lacks of what answers gave, where a sentence has its name and value.

    As in "fence: got 0, lease ls_18 was granted with 70315", of which a claim told.
    """
    sent = {str(values.get(one.source)) for one in shape.placed if one.source}
    named = {one.path[-1] for one in shape.placed}
    told = [{*_WORDS.findall(one)} - named for one in _texts(refused)]
    names = {
        source.rpartition(".")[2]: str(value)
        for source, value in values.items()
        if source.startswith(GIVEN) and isinstance(value, str | int)
    }
    lacking = {
        name
        for name, value in names.items()
        if value not in sent and len(value) > 1
        if any({name, value} <= words for words in told)
    }
    return tuple(FieldFault((name,), Fault.MISSING) for name in lacking)


_WORDS = re.compile(r"[\w-]+")


def _of_our_id(found: FieldFault, shape: RequestShape) -> FieldFault:
    """Return what a sentence says of `agent_id` as said of words beside our id.

    As in "the reader is not who the token is of: give the agent_id".
    """
    is_sent = shape.path_of("agent_id") is not None
    words = [one.path for one in shape.placed if one.source == WORDS]
    is_ours = spelling(found.path[-1]) == "agentid"
    is_wrong = found.fault in {Fault.MISSING, Fault.VALUE} and not found.is_exact
    if words and is_sent and is_ours and is_wrong:
        return FieldFault(words[0], Fault.VALUE, means="agent_id")
    return found


def meant_by(finding: FieldFault, shape: RequestShape) -> list[Placed]:
    """Return the values that a finding may be about: a bare name may be inside."""
    path = finding.path
    return [one for one in shape.placed if one.path[-len(path) :] == path]


def contradicts(finding: FieldFault, shape: RequestShape) -> bool:
    """Return whether a finding can be about this shape: it lacks or has the name."""
    ends = {
        one.path[i - len(finding.path) : i]
        for one in shape.placed
        for i in range(len(finding.path), len(one.path) + 1)
    }
    match finding.fault:
        case Fault.MISSING:
            return finding.path not in ends
        case Fault.UNKNOWN:
            return finding.path in ends
        case Fault.TYPE:
            return True
        case _:
            return False


def is_task(placed: Placed) -> bool:
    """Return whether a value names the task."""
    is_listed = placed.source.startswith(RECORD)
    is_id = is_listed and not ID_WORDS.isdisjoint(words_of(placed.source)[-1:])
    return is_id or placed.source in {"task_id", TASK_TAIL}


def is_of_another(finding: FieldFault, shape: RequestShape) -> bool:
    """Return whether a value is not to be found that is no name of the task.

    As in "bounty: not found" where what the task pays was taken for its name.
    """
    meant = meant_by(finding, shape)
    return finding.fault is Fault.VALUE and bool(meant) and not any(map(is_task, meant))


def is_no_in_yes(refused: outcomes.Refused) -> bool:
    """Return whether a 2xx says no, and not how far the task has come."""
    in_yes = 200 <= refused.status < 300  # noqa: PLR2004  # the class of a status
    may_be = refused.refusal in {Refusal.INVALID, Refusal.REJECTED}
    return in_yes and may_be and refused.progress is None
