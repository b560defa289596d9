"""What is known of a network's requests: one value, learned from facts, and pure.

Each fact makes another `ServiceModel`. The owner's word is not part of it, since it is
used as it is. Of what is, a shape that was accepted outranks a description, until it
is refused; a description outranks what was refused before it, until a refusal belies
it; and refusals outrank our guesses.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from itertools import chain, islice

from journeyman.domain.tasks import JSON
from journeyman.network.service_model.meaning import (
    ENVELOPES,
    GENERIC_NOUNS,
    MADE,
    NOUNS,
    RESULT_WORDS,
    TASK_NOUNS,
    VERBS,
    around_all,
    is_of_one_value,
    is_version,
)
from journeyman.network.service_model.naming import (
    FIRST,
    ID_WORDS,
    Path,
    case_of,
    walk,
    words_of,
)
from journeyman.network.service_model.openapi import (
    REFUSED,
    Schema,
    merged,
    object_in,
    required_in,
)
from journeyman.network.service_model.reading import spelling
from journeyman.network.service_model.refusals.faults import (
    AHEAD,
    Fault,
    FieldFault,
    below_method,
    in_common,
)
from journeyman.network.service_model.refusals.words import type_of_word
from journeyman.network.service_model.request import (
    ACTIONS,
    GIVEN,
    MOMENTS,
    OBJECT,
    RECORD,
    TASK_TAIL,
    WORDS,
    Placed,
    RequestShape,
    Values,
    is_header,
    is_outside,
)
from journeyman.network.service_model.revision import meanings, revised
from journeyman.network.service_model.writing import (
    Constraints,
    Style,
    Wanted,
    Writer,
    form_of,
)


@dataclass(frozen=True, slots=True)
class RefusedBody:
    """A body was refused for its shape."""

    shape: RequestShape
    findings: tuple[FieldFault, ...]
    is_strict: bool
    """The refusal says that the body has too much, and not what."""
    message: str
    status: int
    mentioned: tuple[str, ...] = ()
    """Words of it that may name what is missing, the likeliest first."""
    answer: str = ""
    """A digest of all that was answered."""
    beside: frozenset[Path] = frozenset()
    """Where bodies of other actions that were understood have their values."""

    def without(self, misread: frozenset[str]) -> "RefusedBody":
        """Return it without words that are no names."""
        told = tuple(one for one in self.findings if one.path[-1] not in misread)
        names = tuple(name for name in self.mentioned if name not in misread)
        return replace(self, findings=told, mentioned=names)

    @property
    def others(self) -> frozenset[str]:
        """What it mentions besides what it was read to say: no label of that."""
        told = [{*words_of(one.path[-1])} for one in self.findings if one.path]
        return frozenset(
            name
            for name in self.mentioned
            if not any({*words_of(name)} <= words for words in told)
        )

    @property
    def is_of_an_object_there(self) -> bool:
        """Whether it misses nothing but an object that was sent, with values inside.

        Rails does: of `submission` it keeps what it knows, and misses one left empty.
        Nothing is learned of what should be inside.
        """
        sourced = [one.path for one in self.shape.placed if one.source]
        return bool(self.findings) and all(
            (one.fault is Fault.MISSING or one.wants == "object")
            and any(
                len(p) > len(one.path) and p[: len(one.path)] == one.path
                for p in sourced
            )
            for one in self.findings
        )


@dataclass(frozen=True, slots=True)
class RefusedShape:
    """A shape that was refused, and why."""

    shape: RequestShape
    message: str
    status: int
    has_taught: bool
    """Something was known after it that was not known before."""
    hoped: str = ""
    """What it mentions that was tried as a name, where nothing in it was understood."""
    answer: str = ""
    """A digest of all that was answered."""
    findings: tuple[FieldFault, ...] = ()
    """What was said of it."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What a language model proposed about a refusal: the least of all evidence."""

    said: str
    """The words that it was shown."""
    findings: tuple[FieldFault, ...]


MOST_SUPPOSED = 2
"""Bodies that are tried on no more than suggestions, after each of them."""
MOST_PHRASES = 60
"""Of a network's own that are remembered."""
MOST_FINDINGS = 20
"""Of one refusal that are remembered."""
MOST_REFUSED = 60
"""Shapes of one action that are remembered as refused; the oldest are forgotten."""


@dataclass(frozen=True, slots=True)
class RequestModel:
    """What is known of one action's request."""

    proven: RequestShape | None = None
    """The shape that was understood last."""
    since: str = ""
    """When it was first understood."""
    constraints: Constraints = field(default_factory=Constraints)
    refused: tuple[RefusedShape, ...] = ()
    ways: tuple[Constraints, ...] = ()
    """The bodies that a description allows and that nothing has contradicted; the first
    is where the constraints began."""
    suggestions: tuple[Suggestion, ...] = ()
    """Tried while no body is proven, and never part of the constraints."""
    misread: tuple[str, ...] = ()
    """Words of refusals that were taken for names, and are none."""

    @property
    def marks(self) -> frozenset[str]:
        """The shapes that were refused."""
        return frozenset(one.shape.mark for one in self.refused)

    @property
    def asked(self) -> frozenset[str]:
        """The names that were asked for."""
        told = chain.from_iterable(one.findings for one in self.refused)
        return frozenset(o.path[-1] for o in told if o.fault is Fault.MISSING)

    @property
    def takes_unknown(self) -> bool:
        """Whether a body was understood that had one value under several names."""
        return bool(self.proven and self.proven.repeats_values)

    @property
    def got_further(self) -> RequestShape | None:
        """The first shape that was refused in other words than those before it.

        Where no words were understood, another answer says that it was looked into.
        """
        told = [one for one in self.refused if not one.has_taught]
        others = (one.shape for one in told if one.answer != told[0].answer)
        return next(others, None)

    @property
    def supposed(self) -> Constraints:
        """What would hold if the suggestions did, where no refusal belies them."""
        known = self.constraints
        for one in (f for told in self.suggestions for f in told.findings):
            if one.fault is Fault.UNKNOWN:
                wanted = tuple(o for o in known.wanted if o.path != one.path)
                unknown = _together(known.unknown, [one.path])
                known = replace(known, unknown=unknown, wanted=wanted)
            elif not self.constraints.is_unknown(one.path):
                # A value, of whatever type: the model names objects as such.
                known = _wanting(known, Wanted(one.path, wants="id"))
        return known

    def accept(self, shape: RequestShape, at: str) -> "RequestModel":
        """Return it with a shape that was understood; `at` is UTC, as ISO 8601."""
        since = self.since if self.proven == shape else at
        return replace(self, proven=shape, since=since)

    def refuse(self, action: str, fact: RefusedBody) -> "RequestModel":
        """Return it with a body that was refused for its shape."""
        belied = self._misread_in(fact)
        if belied:
            return self._without(belied).refuse(action, fact)
        fact = fact.without(frozenset(self.misread))
        hoped = "" if fact.findings else next(iter(fact.mentioned), "")
        if hoped:
            fact = replace(fact, findings=(self._guess(hoped, fact),))
        ways = self.ways[1:] if self._is_belied(fact) else self.ways
        is_left = ways != self.ways
        before = next(iter(ways), Constraints()) if is_left else self.constraints
        earlier = tuple(one.shape for one in self.refused)
        learning = _Learning(
            before,
            fact.shape,
            action,
            self.misread,
            earlier,
            fact.beside,
            fact.message,
            any(one.fault is Fault.MISSING for one in fact.findings),
            asked=self.asked,
        )
        known = learning.learned(fact)
        for one in self._unreadable(fact):
            known = learning.could_not_read(known, one)
        has_taught = known != self.constraints and not fact.is_of_an_object_there
        refused = RefusedShape(
            fact.shape,
            fact.message,
            fact.status,
            has_taught,
            hoped,
            fact.answer,
            fact.findings[:MOST_FINDINGS],
        )
        others = tuple(one for one in self.refused if one.shape.mark != fact.shape.mark)
        return replace(
            self,
            constraints=known,
            refused=(*others, refused)[-MOST_REFUSED:],
            proven=None if self.proven == fact.shape else self.proven,
            ways=ways,
        )

    def _guess(self, hoped: str, fact: RefusedBody) -> FieldFault:
        """Return that a name lacks: around all, where other actions have an object."""
        is_wrapped = any(len(path) > 1 for path in fact.beside)
        is_root = is_wrapped and len(fact.shape.envelope) == 1
        guess = FieldFault((hoped,), Fault.MISSING, is_exact=False)
        return replace(guess, is_root=True, wants="object") if is_root else guess

    def _misread_in(self, fact: RefusedBody) -> tuple[str, ...]:
        """Return names that were asked for, and with which a refusal is the same.

        Those that were read only where it mentions something else that may be meant.
        """
        alike = [one for one in self.refused if one.answer == fact.answer]
        if not alike:
            return ()
        others = [one for one in self.refused if one not in alike]
        # What was sent before, or changed what was said, is not in doubt.
        settled = {path[-1] for one in (alike[0], *others) for path in one.shape.paths}
        asked = {one.hoped for one in alike}
        if fact.others - {*self.misread}:
            # Where it stood elsewhere, it may have been right, and is looked for there.
            told = (one for one in fact.findings if one.fault is not Fault.ALLOWED)
            there = (one for one in told if len(one.path) == 1)
            # What is told as the place of a fault, and is no word, is surely a name.
            unsure = (
                o.path for o in there if not (o.is_exact and _CAMEL.search(o.path[0]))
            )
            asked |= {path[-1] for path in unsure if path in fact.shape.paths}
        sent = {path[-1] for path in fact.shape.paths}
        settled |= {name for name in asked if _told_in_words(name, fact.message)}
        return tuple(sorted(sent & asked - settled - {*self.misread}))

    def _without(self, names: tuple[str, ...]) -> "RequestModel":
        """Return it without names that nobody asked for after all."""
        known = self.constraints
        wanted = tuple(one for one in known.wanted if one.path[-1] not in names)
        known = replace(known, wanted=wanted)
        return replace(self, constraints=known, misread=(*self.misread, *names))

    def _unreadable(self, fact: RefusedBody) -> Iterator[Placed]:
        """Return what stood under a name that is asked for, and could not be read.

        With it a body was refused without a word, and had no other name than this one,
        which is understood as far as to be told that the name is missing.
        """
        there = {one.path for one in fact.shape.placed}
        asked = {f.path[-1] for f in fact.findings if f.fault is Fault.MISSING}
        for one in self.refused:
            more = [placed for placed in one.shape.placed if placed.path not in there]
            is_other = not one.has_taught and one.answer != fact.answer
            if is_other and len(more) == 1 and more[0].path[-1] in asked:
                yield more[0]

    def _is_belied(self, fact: RefusedBody) -> bool:
        """Return whether the network wants another body than its description says.

        Of several that it describes, each is left when it is refused without a reason.
        """
        named = {one.path[-1] for one in self.constraints.wanted}
        return (len(self.ways) > 1 and not fact.findings) or any(
            (one.fault is Fault.UNKNOWN and one.path[-1] in named)
            or (one.fault is Fault.MISSING and one.path[-1] not in named)
            for one in fact.findings
            if one.path
        )

    def describe(self, schema: JSON) -> "RequestModel":
        """Return it with a JSON schema, without references; refusals are forgotten."""
        ways = tuple(dict.fromkeys(_ways(schema)))
        if not ways:
            return self
        return replace(self, constraints=ways[0], refused=(), ways=ways)

    def suggest(self, suggestion: Suggestion) -> "RequestModel":
        """Return it with what a language model proposed about a refusal."""
        return replace(self, suggestions=(*self.suggestions, suggestion))

    def begin_again(self) -> "RequestModel":
        """Return it without what refusals have said, but not without their shapes."""
        return replace(self, constraints=next(iter(self.ways), Constraints()))

    def forgive(self, most: int) -> "RequestModel":
        """Return it without the shapes that were refused longest ago.

        They may be tried again. A round goes on to new ones, and what the network said
        last is still told.
        """
        forgotten = max(min(most, len(self.refused) - 1), 0)
        return replace(self, refused=self.refused[forgotten:])


_NOTHING_KNOWN = RequestModel()


@dataclass(frozen=True, slots=True)
class ServiceModel:
    """What is known of a network's requests."""

    requests: Mapping[str, RequestModel] = field(default_factory=dict)
    """By action."""
    noun: str = "task"
    """What listings call a task."""
    around: tuple[str, ...] = ()
    """The objects that are around tasks in a listing."""
    phrases: Mapping[str, Fault] = field(default_factory=dict)
    """What words mean that were not understood, by what they were said of."""

    def of(self, action: str) -> RequestModel:
        """Return what is known of an action's request."""
        return self.requests.get(action, _NOTHING_KNOWN)

    def know(self, action: str, request: RequestModel) -> "ServiceModel":
        """Return it with something else that is known of an action's request."""
        return replace(self, requests={**self.requests, action: request})

    def hear(self, action: str, fact: RefusedBody) -> "ServiceModel":
        """Return it with what the words of a refusal mean.

        Whatever language they are in: those that told of what was not sent mean the
        same when they are said again, unless they are said of a value, too.
        """
        told: dict[str, Fault] = {}
        for one in fact.findings:
            phrase = in_common(one.phrase)
            is_new = one.fault in {Fault.MISSING, Fault.UNKNOWN}
            is_new = is_new and phrase not in self.phrases
            is_of_value = one.fault is Fault.VALUE and phrase in self.phrases
            if phrase and (is_new or is_of_value):
                told[phrase] = one.fault
        return self._with_phrases({**self._meant(action, fact), **told})

    def _meant(self, action: str, fact: RefusedBody) -> Mapping[str, Fault]:
        """Return what the words of the last refusal meant, after this one."""
        last = next(reversed(self.of(action).refused), None)
        if last is None:
            return {}
        meant = meanings((last.shape, last.findings), fact.shape, fact.findings)
        known = self.phrases
        return {o: m for o, m in meant.items() if known.get(o) is not Fault.MISSING}

    def _with_phrases(self, more: Mapping[str, Fault]) -> "ServiceModel":
        phrases = {**self.phrases, **more}
        return replace(self, phrases=dict(islice(phrases.items(), MOST_PHRASES)))

    def accept(self, action: str, shape: RequestShape, at: str) -> "ServiceModel":
        """Return it with a shape that was understood; `at` is UTC, as ISO 8601."""
        taken = RefusedBody(shape, (), is_strict=False, message="", status=0)
        known = self._with_phrases(self._meant(action, taken))
        return known.know(action, self.of(action).accept(shape, at))

    def reconsider(self, action: str, fact: RefusedBody) -> RefusedBody:
        """Return a refusal as it is to be understood after those before it."""
        known = self.of(action)
        if known.ways:
            return fact  # what is described is not in doubt for words
        before = [(one.shape, one.findings) for one in known.refused]
        told = revised(fact.findings, fact.shape, before)
        meant = self._meant(action, fact)
        told = tuple(
            replace(one, fault=meant.get(in_common(one.phrase), one.fault))
            for one in told
        )
        return replace(fact, findings=told)

    def name(self, noun: str, around: tuple[str, ...]) -> "ServiceModel":
        """Return it with what a listing calls its tasks, and has around them."""
        return replace(self, noun=noun or self.noun, around=around)

    def next_shape(
        self, action: str, values: Values, listed: "Listed"
    ) -> RequestShape | None:
        """Return the likeliest shape that was not refused; None when there is none."""
        known = self.of(action)
        if known.proven and known.proven.fits(values):
            return known.proven
        constraints = known.constraints
        shown = () if constraints.wanted else (*examples_in(action, values),)
        before = (
            *self._named_before(action),
            *self._headers_before(action),
            *self._record_before(action),
        )
        named = {one.path: one for one in before}
        more = (*shown, *named.values(), *_forms_in(known, values))
        constraints = replace(constraints, wanted=(*constraints.wanted, *more))
        style = self.style_for(action, listed)
        if known.ways:
            style = style.without_constants_but(one.path for one in constraints.wanted)
        marks = known.marks
        last = known.refused[-1] if known.refused else None
        # Of a body with all names it told what lacks besides: the rest is understood.
        is_silent = bool(last and (not last.has_taught or last.shape.repeats_values))
        likely = Writer(action, constraints, values, style, is_silent).shapes()
        if (shape := known.got_further) is not None:
            # Each of those has the objects that the network has looked into.
            likely = _within_first(shape.envelope, likely)
        if known.suggestions:
            supposed = Writer(action, known.supposed, values, style).shapes()
            likely = chain(islice(supposed, MOST_SUPPOSED), likely)
        # What is made of other values may read the same, and is refused again.
        said = {_said(one.shape, values) for one in known.refused}
        return next(
            (
                one
                for one in likely
                if one.mark not in marks and _said(one, values) not in said
            ),
            None,
        )

    def _named_before(self, action: str) -> Iterator[Wanted]:
        """Return what a completion may name its claim by: what the submission did.

        Until something is said against that, or nothing is said at all; and where the
        submission had no other name of the task.
        """
        shape, so_far = self.of("submit").proven, self.of(action)
        is_silent = any(not one.has_taught for one in so_far.refused)
        if action != "complete" or shape is None or is_silent:
            return
        known = so_far.constraints
        around = shape.envelope
        if all(one.source != "task_id" for one in shape.placed):
            for one in shape.placed:
                # What stands beside the result, inside of an object, is about that.
                is_of_claim = one.source.startswith("claim.")
                is_of_claim = is_of_claim and not is_header(one.path)
                is_open = not known.get(one.path) and known.allows_at(one)
                if is_of_claim and one.path[:-1] == around and is_open:
                    yield Wanted(one.path, wants=one.kind)

    def _record_before(self, action: str) -> Iterator[Wanted]:
        """Return by what another action had to name a record that it changed.

        Its key and its version, as a database of documents wants them each time.
        """
        known = self.of(action).constraints
        placed: dict[Path, Placed] = {}
        for shape in self._beside(action):
            if any(is_version(one.path[-1]) for one in shape.placed):
                placed |= {one.path: one for one in shape.placed}
        for path, one in placed.items():
            is_told = is_version(path[-1]) or words_of(path[-1]) == ("id",)
            is_told = is_told and len(path) == 1 and not is_header(path)
            if is_told and known.get(path) is None and known.allows_at(one):
                yield Wanted(path)

    def _headers_before(self, action: str) -> Iterator[Wanted]:
        """Return the headers that other actions had to have, as of a gateway."""
        known = self.of(action).constraints
        asked = {
            one.path
            for request in self.requests.values()
            for one in request.constraints.wanted
            if is_header(one.path)
        }
        placed = (one for shape in self._beside(action) for one in shape.placed)
        for one in {one.path: one for one in placed if one.path in asked}.values():
            if known.get(one.path) is None and known.allows_at(one):
                yield Wanted(one.path)

    def _beside(self, action: str) -> list[RequestShape]:
        """Return the shapes that were understood of other actions."""
        others = (one for verb, one in self.requests.items() if verb != action)
        return [one.proven for one in others if one.proven]

    def task_paths_beside(self, action: str) -> frozenset[Path]:
        """Return where other actions have the task, by the whole way and the name."""
        shown = (one.path_of("task_id") for one in self._beside(action))
        paths = [path for path in shown if path]
        return frozenset([*paths, *(path[-1:] for path in paths if path[-1] != "id")])

    def wrappers_beside(self, action: str) -> frozenset[str]:
        """Return the objects that other actions have around everything."""
        around = (one.envelope for one in self._beside(action))
        return frozenset(path[0] for path in around if path)

    @property
    def misread(self) -> frozenset[str]:
        """Words of its refusals that were taken for names, and are none."""
        every = (known.misread for known in self.requests.values())
        return frozenset(chain.from_iterable(every))

    def paths_beside(self, action: str) -> frozenset[Path]:
        """Return where other actions have their values."""
        placed = (one for shape in self._beside(action) for one in shape.placed)
        return frozenset(one.path for one in placed if not is_outside(one.path))

    def begins_with_methods(self) -> bool:
        """Return whether ways to fields begin with a method and its parameter here.

        Another action was understood when they had been left out.
        """
        return any(
            _is_of_method(action, way) and below_method(way) in known.proven.paths
            for action, known in self.requests.items()
            if known.proven is not None
            for way in known.constraints.respelled
        )

    def names_in(self, message: str) -> Iterator[str]:
        """Return what stands in a refusal where an earlier one had a field's name.

        Or another word, where that is all they differ in.
        """
        for known in self.requests.values():
            yield from _apart(message, (one.message for one in known.refused))
            names = {one.path[-1] for one in known.constraints.wanted}
            for said in {one.message for one in known.refused}:
                for name in sorted(names):
                    before, *rest = re.split(rf"\b{re.escape(name)}\b", said)
                    frame = r"([A-Za-z_][\w-]*)".join(map(re.escape, [before, *rest]))
                    found = re.fullmatch(frame, message) if rest else None
                    if found and len({*found.groups()}) == 1:
                        yield found[1]

    def style_for(self, action: str, listed: "Listed") -> Style:
        """Return how this network seems to write the requests of an action."""
        named = [
            one.path[-1]
            for known in self.requests.values()
            for one in known.constraints.wanted
            if not is_outside(one.path)
        ]
        case = case_of(named) or case_of(listed.names)
        others = [verb for verb in ACTIONS if verb not in {action, "post_task"}]
        noun = listed.noun or self.noun
        id_name = listed.id_name.rpartition(".")[2]
        is_enforced = any(
            one.is_required and not known.ways and not is_outside(one.path)
            for known in self.requests.values()
            for one in known.constraints.wanted
        )
        style = Style(
            case or "snake",
            noun,
            id_name,
            (*self.around, *listed.around),
            is_enforced=is_enforced,
            empty=listed.empty,
            is_lenient=any(self.of(verb).takes_unknown for verb in others),
            is_picky=any(one.constraints.unknown for one in self.requests.values()),
            other_case="" if case else "camel",
        )
        for verb in others if action != "post_task" else ():
            shape = self.of(verb).proven
            if shape is not None:
                wanted = {one.path for one in self.of(action).constraints.wanted}
                style = _in_the_manner_of(style, verb, shape, action, wanted)
        style = _around_as_asked(style, self.of(action).constraints.wanted)
        told = (known.constraints for known in self.requests.values())
        return reduce(partial(_with_verbs, action=action), told, style)


@dataclass(frozen=True, slots=True)
class Listed:
    """What the record of a task shows of how its network writes."""

    names: tuple[str, ...] = ()
    """Of its fields."""
    id_name: str = ""
    """What it calls its identifier."""
    empty: tuple[str, ...] = ()
    """Of its fields, those that have nothing."""
    around: Path = ()
    """The objects in it that its fields are in."""

    @property
    def noun(self) -> str:
        """What the network calls a task; empty when its identifier does not say."""
        words = words_of(self.id_name.rpartition(".")[2])
        return words[0] if len(words) > 1 else ""


_VERBS: Mapping[str, str] = {
    "claim": "claim|accept|take|assign|reserve",
    "submit": "submit|deliver|answer|respond",
    "complete": "complete|finish|finalize|close",
    "post_task": "post|create",
}
_BODIES = "body|payload|json|example|template|fields|request"


def examples_in(action: str, values: Values) -> Iterator[Wanted]:
    """Return the body that a record or an answer shows for an action.

    As in `{"links": {"claim": {"href": ..., "body": {"claim": {"task_id": 7}}}}}`.
    """
    shown = re.compile(
        rf"(?:.*\.)?(?:{_VERBS[action]})[\w-]*\.(?:{_BODIES})\.(?P<way>.+)"
    )
    for source, value in values.items():
        match = shown.fullmatch(source)
        if match:
            kind = "integer" if isinstance(value, int) else ""
            yield Wanted(tuple(match["way"].split(".")), wants=kind)


def _forms_in(known: RequestModel, values: Values) -> Iterator[Wanted]:
    """Return what is inside of what is wanted, where an answer shows that.

    `deliverables` may be wanted that a claim shows as `[{"position": 1, "content":
    null}]`: then so it is sent, with the result where nothing is. And a `receipt` that
    is to be an object, of which nothing else is told, is sent as the submission's
    answer had it. It is tried once, and again without what is too much of it.
    """
    tried = {path for one in known.refused for path in one.shape.paths}
    unknown = known.constraints.unknown
    told = {one.path[:-1] for one in known.constraints.wanted}
    for wanted in known.constraints.wanted:
        form = re.compile(
            rf"(?:{_OF_ANSWERS})(?:.*\.)?{re.escape(wanted.path[-1])}(\.0)?\.(\w+)"
        )
        shown = ((form.fullmatch(source), value) for source, value in values.items())
        inside = {
            (*wanted.path, *((FIRST,) if way[1] else ()), way[2]): value
            for way, value in shown
            if way
        }
        is_bare = wanted.wants == "object" and wanted.path not in told
        is_form = None in inside.values() or is_bare
        if is_form and (tried.isdisjoint(inside) or inside.keys() & {*unknown}):
            for path, value in inside.items():
                if not _is_prose(value) and known.constraints.get(path) is None:
                    yield Wanted(path)


_OF_ANSWERS = "|".join(map(re.escape, GIVEN))


def _respelled_as(known: Constraints, path: Path, told: str) -> Constraints:
    """Return constraints with a name in a case that was not refused.

    A framework may say `RequestId`, as its language has it, of what the body has as
    `requestId`, where we have sent `request_id`.
    """
    cases = (Style(case).write(told) for case in ("camel", "snake", "kebab", "pascal"))
    refused = _together(known.unknown, [path])
    ways = ((*path[:-1], name) for name in (*cases, told))
    other = next((way for way in ways if way not in refused), path)
    known = _rerooted(_wanting(known, Wanted(path)), path, other)
    return replace(known, unknown=refused)


def _within_first(
    around: Path, shapes: Iterable[RequestShape]
) -> Iterator[RequestShape]:
    """Return the shapes that have these objects around everything, then the others."""
    others = []
    for shape in shapes:
        if shape.envelope == around:
            yield shape
        else:
            others.append(shape)
    yield from others


def _said(shape: RequestShape, values: Values) -> str:
    """Return what a request with these values says; its mark where some lack."""
    if not shape.fits(values):
        return shape.mark
    outside = shape.headers_for(values), shape.query_for(values), shape.key_kind
    return json.dumps((shape.body(values), outside), sort_keys=True)


def _is_prose(value: JSON) -> bool:
    return isinstance(value, str) and " " in value


def named_in_listing(answer: JSON) -> tuple[str, tuple[str, ...]]:
    """Return what a listing calls its tasks, and the objects around them."""
    way = next((way for way, value in walk(answer) if _is_of_objects(value)), ())
    noun = next(filter(None, map(_noun_in, reversed(way))), "")
    around = tuple(name for name in way[:-1] if {*words_of(name)} <= ENVELOPES)
    return noun, around


def _is_of_objects(value: JSON) -> bool:
    return isinstance(value, list) and any(isinstance(one, dict) for one in value)


def _noun_in(name: str) -> str:
    """Return the task's noun in the name of a list, such as `job` in `openJobs`."""
    plurals = (word for word in words_of(name) if word.endswith("s"))
    nouns = TASK_NOUNS - GENERIC_NOUNS
    return next((one[:-1] for one in plurals if one[:-1] in nouns), "")


def _is_of_method(action: str, way: Path) -> bool:
    """Return whether a way may begin with an action's method: `claim.command.id`."""
    is_named = words_of(way[0])[:1] == words_of(action)[:1]
    return is_named and bool(below_method(way))


def _shorter(action: str, way: Path) -> list[Path]:
    """Return a way without what stands before it, the likeliest first."""
    outer = [way[i:] for i in range(1, len(way))]
    return [below_method(way), *outer] if _is_of_method(action, way) else outer


def without_method(action: str, found: FieldFault) -> FieldFault:
    """Return a fault at its place in the body, without a method and its parameter."""
    is_of_method = _is_of_method(action, found.path)
    return replace(found, path=below_method(found.path)) if is_of_method else found


_DEEPEST = 7


def _is_shared(source: str) -> bool:
    """Return whether actions have a value in the same place: not what each is about."""
    is_ours = source in {"task_id", TASK_TAIL, "agent_id", "key"}
    return is_ours or source.startswith(RECORD)


def _called_by(action: str, wanted: Iterable[Path]) -> str:
    """Return what a network calls what an action makes; empty where it has not said."""
    tops = (path[0] for path in sorted(wanted) if len(path) == 1)
    told = [name for name in tops if {*words_of(name)} & NOUNS[action]]
    return told[0] if len(told) == 1 else ""


def _renamed(word: str, *, verb: str, action: str, wanted: set[Path]) -> str:
    """Turn `claim` and `claims` into `submission` and `submissions`."""
    words = words_of(word)
    is_made = len(words) == 1 and words[0] in NOUNS[verb] and words[0] != "work"
    if not is_made or (word,) in wanted:
        return word
    ours = MADE[action] + ("s" if words[0].endswith("s") else "")
    ours = ours.capitalize() if word[:1].isupper() else ours
    return _called_by(action, wanted) or ours


def _in_the_manner_of(
    style: Style, verb: str, shape: RequestShape, action: str, wanted: set[Path]
) -> Style:
    """Return a style with what a proven shape of another action shows.

    What is `wanted` of this action is called so here, too: where a task is called an
    assignment, a submission has the assignment's id, and no submission's.
    """
    renamed = partial(_renamed, verb=verb, action=action, wanted=wanted)

    def there(path: Path) -> Path:
        return path if path in wanted else (*map(renamed, path[:-1]), path[-1])

    paths, kinds, constants = {}, {}, {}
    for one in shape.placed:
        if not one.source:
            value = one.constant
            constants[there(one.path)] = (
                renamed(value) if isinstance(value, str) else value
            )
        elif one.source not in paths and _is_shared(one.source):
            paths[one.source], kinds[one.source] = there(one.path), one.kind
    given = {o.path: o.source for o in shape.placed if o.source.startswith(GIVEN)}
    # What is said inside of an object that another action does not have goes with it.
    inside = {path[:i] for path in paths.values() for i in range(len(path))}
    constants = {path: v for path, v in constants.items() if path[:-1] in inside}
    core = ACTIONS[verb].optional
    omits = {name for name in core if name not in paths and name == "agent_id"}
    if verb == "submit" and "task_id" not in paths:
        omits.add("task_id")
    return replace(
        style,
        paths={**style.paths, **paths},
        work=shape.path_of("result") or style.work,
        kinds={**style.kinds, **kinds},
        constants={**style.constants, **constants},
        omits=frozenset(omits),
        given={**style.given, **given},
        wrappers=style.wrappers | {*shape.envelope},
    )


def _around_as_asked(style: Style, wanted: Iterable[Wanted]) -> Style:
    """Return a style with the only object that an action asks for around everything.

    Where each action has one of its own, as `booking` and `proof`, or where ours was
    made up after another action's.
    """
    roots = {one.path[0]: one.wants for one in wanted if len(one.path) == 1}
    asked = {name for name, wants in roots.items() if wants == "object"}
    around = {path[0] for path in style.paths.values() if path[1:]} - roots.keys()
    is_own = len(style.wrappers) > 1 or around.isdisjoint(style.wrappers)
    if len(asked - style.wrappers) != 1 or not is_own:
        return style

    def there(path: Path) -> Path:
        is_around = bool(path[1:]) and path[0] in around
        return (*(asked - style.wrappers), *path[1:]) if is_around else path

    paths = {source: there(path) for source, path in style.paths.items()}
    constants = {there(path): value for path, value in style.constants.items()}
    return replace(style, paths=paths, constants=constants)


def _with_verbs(style: Style, known: Constraints, *, action: str) -> Style:
    """Return a style with what an action is called, of those that another chose from.

    Such as `deliver`, where a claim was told of "reserve, deliver, settle".
    """
    called = {
        one.path: [o for o in one.options if not VERBS[action].isdisjoint(words_of(o))]
        for one in known.wanted
        if one.path in style.constants
    }
    chosen = {path: options[0] for path, options in called.items() if options}
    return replace(style, constants={**style.constants, **chosen})


@dataclass(frozen=True, slots=True)
class _Learning:
    """What one refusal of one shape adds to what is known."""

    known: Constraints
    shape: RequestShape
    action: str
    misread: tuple[str, ...] = ()
    """Names in the shape that nobody asked for after all."""
    earlier: tuple[RequestShape, ...] = ()
    """Those that were refused before."""
    beside: frozenset[Path] = frozenset()
    """Where other actions of this network have their values."""
    said: str = ""
    """What the network has said of it."""
    is_missing: bool = False
    """It was said that a name is missing."""
    asked: frozenset[str] = frozenset()
    """Names that were asked for before."""
    is_flat: bool = False
    """What is missed is around nothing, as another action has it."""

    @property
    def _around(self) -> Path:
        """The objects that are around everything in the body."""
        if self.is_flat:
            return ()
        sources = {one.source for one in self.shape.placed if one.source}
        around = self.shape.envelope
        if not {*self.misread}.isdisjoint(around):
            return ()
        return around_all(around, self.action, sources)

    def learned(self, fact: RefusedBody) -> Constraints:
        known = self.known
        lacking = {one.path for one in fact.findings if one.fault is Fault.MISSING}
        if not (self.is_flat or lacking.isdisjoint(self.beside)):
            return replace(self, is_flat=True).learned(fact)
        # What is missing does not belong into an object that is too much.
        told = sorted(fact.findings, key=lambda one: one.fault is not Fault.UNKNOWN)
        rest = list(told)
        for missed, path in self._in_other_case(told):
            known = _respelled_as(known, path, missed.path[-1])
            told_of = {missed.path[-1], path[-1]}
            rest = [one for one in rest if told_of.isdisjoint(one.path[-1:])]
        rest += self._left_out(rest)
        tells_ways = known.tells_ways or any(map(self._tells_way, told))
        known = replace(known, tells_ways=tells_ways)
        for finding in rest:
            for path in replace(self, known=known)._places(finding):
                known = self._with(known, finding, path)
        is_first = {one.fault for one in told} == {Fault.UNKNOWN}
        is_first = is_first and not self._was_passed_over(told)
        at_fault = {one.path for one in told if one.fault is not Fault.ALLOWED}
        several = self.known.tells_several or len(at_fault) > 1
        fitting = self._unmentioned(told) if several else self._named_well(told)
        return replace(
            known,
            tells_several=several,
            fitting=tuple(fitting),
            is_strict=known.is_strict or fact.is_strict,
            stops_at_unknown=known.stops_at_unknown or is_first,
        )

    def _left_out(self, told: Sequence[FieldFault]) -> Iterator[FieldFault]:
        """Return what was sent and is too much, where all that may be there is listed.

        All is, where nothing is known to be wanted there that is not in the list, and
        something is or nothing that was sent is in it: what is only suggested in place
        of a name has no more than that.
        """
        listed = [one for one in told if one.fault is Fault.ALLOWED]
        allowed = {path for one in listed for path in self._places(one)}
        wanted = {one.path for one in self.known.wanted if one.is_required}
        for above in {path[:-1] for path in allowed} if len(allowed) > 1 else ():
            is_told = bool(wanted) or allowed.isdisjoint(self.shape.paths)
            if is_told and all(one in allowed for one in wanted if one[:-1] == above):
                for path in self.shape.paths:
                    if path[:-1] == above and path not in allowed:
                        yield FieldFault(path, Fault.UNKNOWN)

    def _named_well(self, told: Iterable[FieldFault]) -> Iterator[tuple[Path, str]]:
        """Return the values under names of ours that the network knows.

        It does, where it has refused a name before and comes to a value now. The work
        stays under a name that was asked for, where it comes to the next one.
        """
        told = [*told]
        faults = {one.fault for one in told} - {Fault.ALLOWED}
        if faults == {Fault.MISSING}:
            for path, source in self._unmentioned(told):
                if source == "result" and self.known.get(path):
                    yield path, source
        if self.known.unknown and faults <= {Fault.TYPE, Fault.VALUE}:
            for path, source in self._unmentioned(told):
                if self.known.get(path) is None:
                    yield path, source

    def _in_other_case(
        self, told: Iterable[FieldFault]
    ) -> Iterator[tuple[FieldFault, Path]]:
        """Return what is missing and was sent, and unknown, in another case."""
        unknown = {one.path[-1] for one in told if one.fault is Fault.UNKNOWN}
        lacking = [one for one in told if one.fault is Fault.MISSING and one.path]
        for one in lacking:
            alike = [
                path
                for path in self.shape.paths
                if spelling(path[-1]) == spelling(one.path[-1])
            ]
            if len(alike) == 1 and alike[0][-1] in unknown:
                yield one, alike[0]

    def _was_passed_over(self, told: Iterable[FieldFault]) -> bool:
        """Return whether something was missing first while these stood there, too.

        Then a network that comes to what it does not know misses nothing.
        """
        has_missed = any(one.is_required for one in self.known.wanted)
        before = {path for shape in self.earlier for path in shape.paths}
        return has_missed and any(one.path in before for one in told)

    def _unmentioned(self, told: Iterable[FieldFault]) -> Iterator[tuple[Path, str]]:
        """Return the values of which nothing is said, and where they stand."""
        places = [path for one in told for path in self._places(one)]
        for one in self.shape.placed:
            is_told = any(
                path[: len(one.path)] == one.path[: len(path)] for path in places
            )
            if one.source and not is_told:
                yield one.path, one.source

    def _tells_way(self, finding: FieldFault) -> bool:
        """Return whether a finding has the whole way to a value in an object."""
        is_inside = len(finding.path) > 1 and self._is_object(finding.path[:1])
        # Rails tells of the `id` of an object without its way.
        is_whole = bool(finding.phrase) or finding.path[-1] != "id"
        return finding.is_exact and is_inside and is_whole

    def _places(self, finding: FieldFault) -> Iterator[Path]:
        """Return where in the body a finding is about: a bare name may be inside."""
        path = self._rooted(finding)
        if finding.fault is Fault.VALUE and path[-1:] == (FIRST,):
            path = path[:-1]
        if not path:
            return
        is_sent = self.shape.at(path) is not None
        is_whole = self.known.tells_ways and finding.is_exact
        is_whole = is_whole and finding.fault is Fault.MISSING and not is_sent
        is_whole = is_whole and not self._is_allowed_inside(path)
        if is_outside(path) or finding.is_root or is_whole:
            yield path
            return
        ends = [
            one.path[:i]
            for one in self.shape.placed
            for i in range(1, len(one.path) + 1)
            if one.path[i - len(path) if i >= len(path) else 0 : i] == path
        ]
        if finding.fault is Fault.UNKNOWN:
            exact = path if finding.is_exact and path in ends else None
            yield from [exact] if exact else dict.fromkeys(ends)
            return
        if path in ends or (finding.is_exact and len(path) > 1):
            yield path
            return
        around = self._around_what(finding)
        if ends and finding.fault is not Fault.ALLOWED:
            sent = [*dict.fromkeys(ends)]
            if finding.fault is not Fault.MISSING or len(path) > 1:
                yield sent[0]
                return
        yield self._missing_place(path, around)

    def _around_what(self, finding: FieldFault) -> Path:
        """Return the objects around what is missed: none if it is one in place of them.

        Nothing has told then that those of ours are around everything here.
        """
        around = self._around
        is_known = any(one[: len(around)] == around for one in self.beside)
        is_guess = not is_known and self.known.get(around) is None
        return () if finding.wants == "object" and is_guess else around

    def _is_allowed_inside(self, path: Path) -> bool:
        """Return whether a name was listed for an object, and not outside of it."""
        ends = (o.path[-len(path) :] for o in self.known.wanted if not o.is_required)
        return self.known.get(path) is None and path in ends

    def _rooted(self, finding: FieldFault) -> Path:
        """Return a way without what is no part of the body, as its names are written.

        Some frameworks begin with the name of a method or of a type, and write names as
        their language does, and not as the body has them.
        """
        path = finding.path
        paths = [*(one.path for one in self.shape.placed), *self.known.unknown]
        written = {name for path in paths for name in path}
        case = case_of(written) or case_of(one[-1] for one in self.beside)
        is_lower = bool(written) and all(map(str.islower, written))
        case = case or ("snake" if is_lower else "")
        if (written or case) and case != "pascal":
            path = path[1:] if path[1:] and _TYPE_NAME.fullmatch(path[0]) else path
            if case and all(one == FIRST or _PASCAL.fullmatch(one) for one in path):
                ours = tuple(map(Style(case).write, path))
                is_missed = finding.fault is Fault.MISSING and self._is_object(ours)
                inner = (*self._around, *ours)
                path = path if is_missed or self.known.is_unknown(inner) else ours
        return path

    def _is_object(self, path: Path) -> bool:
        """Return whether an object was sent there that has values inside."""
        below = len(path)
        inside = (p for p in self.shape.paths if len(p) > below)
        return any(p[:below] == path for p in inside)

    def _missing_place(self, path: Path, around: Path) -> Path:
        """Return where a name should stand that the body does not have."""
        inner = (*around, *path)
        if spelling(".".join(around)) == spelling(path[0]) and around != path[:1]:
            return path  # it is what was sent around everything, written otherwise
        elsewhere = [
            one
            for one in self.beside
            if one[-len(path) :] == path and one[:1] in {path, around[:1]}
        ]
        if len(elsewhere) == 1 and not self.known.is_unknown(elsewhere[0]):
            return elsewhere[0]
        for one in self.known.wanted:
            is_meant = one.path[-len(path) :] == path
            if is_meant and one.path != around and one.path not in self.shape.paths:
                return one.path
        above = next(self._objects_missing(path, around), None)
        if above is not None:
            return (*above, *path)
        # Frameworks name a field by its model, which may be the object around it.
        was_tried = inner in self.shape.paths or self.known.is_unknown(inner)
        return path if was_tried and inner != path else inner

    def _objects_missing(self, path: Path, around: Path) -> Iterator[Path]:
        """Return the objects that were asked for, and may lack a name."""
        guessed = [o for o in self._guessed_inside() if self._may_be_in(o, path)]
        is_inside = len(guessed) == 1
        is_again = is_inside and guessed[0][-1:] == path  # which may be that object
        if is_inside and not (is_again and path not in self._tried):
            yield guessed[0]
        likely = self._empty_beside(around) if around else self._shared_objects()
        for above in likely:
            is_told = path[: len(above)] == above  # the way to it begins there
            if not (is_told or self.known.is_unknown((*above, *path))):
                yield above

    def _empty_beside(self, around: Path) -> list[Path]:
        """Return the objects that were sent empty beside what is around the values.

        What is missed is rather there, as where each action has a section of its own.
        """
        empty = {one.path for one in self.shape.placed if one.constant == {}}
        wanted = [one for one in self._wanted_objects() if one in empty]
        return [one for one in wanted if one[: len(around)] != around]

    @property
    def _tried(self) -> set[Path]:
        """Where there was something in what was sent so far."""
        return {p for shape in (*self.earlier, self.shape) for p in shape.paths}

    def _may_be_in(self, above: Path, path: Path) -> bool:
        """Return whether a name may be missed in an object that is asked for.

        A part of the result in the result, and an id in what is the task.
        """
        words = words_of(path[-1])
        is_id = len(words) == 1 and words[0] in ID_WORDS
        is_of_task = is_id and is_of_one_value(above[-1:], self.action, ())
        return is_of_task or not {*words}.isdisjoint(RESULT_WORDS)

    def _guessed_inside(self) -> list[Path]:
        """Return the objects that are asked for, and have our guesses in them."""
        wanted = [one for one in self.known.wanted if one.wants in {"", "object"}]
        told = {one.path for one in wanted if one.wants}
        asked = told or {one.path for one in wanted}
        empty = {one.path for one in self.shape.placed if one.constant == {}}
        guesses = (one for one in self.shape.placed if not self.known.get(one.path))
        return sorted(({one.path[:-1] for one in guesses} | empty) & asked)

    def _shared_objects(self) -> list[Path]:
        """Return of these objects those that are not the task's or the agent's own."""
        return [
            one
            for one in self._wanted_objects()
            if not self._sources_in(one) <= {"task_id", TASK_TAIL, "agent_id"}
            or not is_of_one_value(one, self.action, ())
        ]

    def _sources_in(self, above: Path) -> set[str]:
        inside = (o for o in self.shape.placed if o.path[: len(above)] == above)
        return {one.source for one in inside if one.source}

    def _wanted_objects(self) -> list[Path]:
        """Return the objects in the body that are there to be around its values."""
        empty = {one.path for one in self.shape.placed if one.constant == {}}
        values = (o.path for o in self.shape.placed if o.source or o.constant != {})
        around = {path[:-1] for path in values if path[-1] != FIRST} - {()}
        wanted = {one.path for one in self.known.wanted if one.is_required}
        return sorted(
            path
            for path in empty | around
            if path in wanted or {*words_of(path[-1])} <= ENVELOPES
        )

    def _with(self, known: Constraints, finding: FieldFault, path: Path) -> Constraints:
        match self._fault(finding, path):
            case Fault.UNKNOWN:
                asked = known.get(path)
                is_asked = asked is not None and asked.wants == "object"
                is_asked = is_asked and path[-1] in self.asked
                unknown = _together(known.unknown, [path])
                if is_asked and len(path) == 1 and path not in known.unknown:
                    # GraphQL asks for a variable, which is inside of `variables`.
                    inside = ("variables", *path)
                    known = _rerooted(known, path, inside)
                if asked is not None and asked.is_required:
                    # It is missed, and we put it into an object where it is not.
                    known = self._elsewhere(known, path)
                wanted = tuple(o for o in known.wanted if o.path[: len(path)] != path)
                return replace(known, unknown=unknown, wanted=wanted)
            case Fault.MISSING:
                return self._missing(known, finding, path)
            case Fault.ALLOWED:
                is_known = known.get(path) or known.is_unknown(path)
                wanted_here = Wanted(path, is_required=False)
                return known if is_known else _wanting(known, wanted_here)
            case _:
                return self._valued(known, finding, path)

    def _elsewhere(self, known: Constraints, path: Path) -> Constraints:
        """Return constraints with a name in the next object that may lack it."""
        size = -3 if path[-2:-1] == (FIRST,) else -2
        outer = [(*path[:size], path[-1])] if len(path) > 1 else []
        asked = [one.path for one in known.wanted if one.wants == "object"]
        inner = [(*above, path[-1]) for above in asked if self._is_object(above)]
        tried = {path, *self._tried}
        places = (p for p in (*outer, *inner) if p not in tried)
        place = next((p for p in places if not known.is_unknown(p)), None)
        return _rerooted(known, path, place) if place else known

    def _fault(self, finding: FieldFault, path: Path) -> Fault:
        """Return what is said; of a value that nobody asked for, it is too much."""
        sent = self.shape.at(path)
        is_wrong = finding.fault in {Fault.TYPE, Fault.VALUE}
        if not (sent and is_wrong) or self.known.get(path):
            return finding.fault
        is_optional = sent.source in ACTIONS[self.action].optional
        # If it is needed, the network will say so.
        is_tried = sent.source != "result" or self._is_repeated(sent)
        is_guess = bool(finding.phrase) and is_tried
        return Fault.UNKNOWN if is_optional or is_guess else finding.fault

    def _is_repeated(self, sent: Placed) -> bool:
        """Return whether a value stands where it is asked for, too, or shall."""
        others = (one for one in self.shape.placed if one.path != sent.path)
        is_there = any(
            one.source == sent.source and self.known.get(one.path) for one in others
        )
        return is_there or self.is_missing

    def _missing(
        self, known: Constraints, finding: FieldFault, path: Path
    ) -> Constraints:
        if path[-2:-1] == ("relationships",):
            # JSON:API 1.1, resource linkage: a resource is named by its type and id.
            known = _wanting(known, Wanted((*path, "data", "type")))
            path = (*path, "data", "id")
        wanted = self._of_what_stood_there(_wanted_by(finding, path))
        inner = (*self._around, *path)
        sent = self.shape.at(path) or self.shape.at(inner)
        if sent is None and path in known.respelled:
            # What we have moved out of there is still missed, and looked for there.
            shorter = (self.shape.at(path[i:]) for i in range(1, len(path)))
            sent = next(filter(None, shorter), None)
        if sent is None:
            revived = tuple(p for p in known.unknown if path[: len(p)] != p)
            known = replace(known, unknown=revived)
            there = next((p for p in (path, inner) if self._has_lost(known, p)), None)
            if there is not None:
                return _wanting(known, replace(wanted, path=(*there, there[-1])))
            return _wanting(self._moved_into(path, known), wanted)
        if self._was_at_root(known, sent, finding):
            return _wanting(known, replace(wanted, path=finding.path))
        respelled = self._respelled(known, sent, finding)
        if respelled is None:
            return self._misfit(_wanting(known, wanted), sent)
        others = tuple(one for one in known.wanted if one.path != sent.path)
        known = replace(
            known,
            wanted=others,
            respelled=_together(known.respelled, [sent.path, respelled]),
        )
        return _wanting(known, replace(wanted, path=respelled))

    def _of_what_stood_there(self, wanted: Wanted) -> Wanted:
        """Return the id in an object that is wanted for a value: it is that value."""
        stood = self.shape.at(wanted.path[:-1])
        is_id = not ID_WORDS.isdisjoint(words_of(wanted.path[-1])[-1:])
        if stood is None or not (is_id and stood.source) or wanted.means:
            return wanted
        return replace(wanted, means=stood.source)

    def _has_lost(self, known: Constraints, path: Path) -> bool:
        """Return whether a value was seen there, and an object is not.

        Since it is not missing, it rather lacks a member that has its name.
        """
        asked = known.get(path)
        was_seen = any(one.at(path) for one in self.earlier)
        is_asked = asked is not None and asked.wants == "object"
        return is_asked and was_seen and self._is_object(path)

    def _moved_into(self, path: Path, known: Constraints) -> Constraints:
        """Return constraints with an object that was sent where it is missed now."""
        tops = {p[0] for p in self.shape.paths if spelling(p[0]) == spelling(path[0])}
        alike = [(name,) for name in sorted(tops) if len(path) == 1]
        told = {one.path for one in known.wanted if self.known.get(one.path) is None}
        for before in (path[1:], (*self._around, *path), *alike):
            is_there = before in self.shape.paths and not self.shape.at(before)
            # Where it lacks a name as well, it stands where it should.
            is_there &= not any(one[: len(before)] == before for one in told)
            if path[: len(before)] != before and is_there:
                return _rerooted(known, before, path)
        return known

    def _was_at_root(
        self, known: Constraints, sent: Placed, finding: FieldFault
    ) -> bool:
        """Return whether a name is missed since we moved it into an object.

        That object was a guess, then, and is none, or is around something else.
        """
        is_bare = not finding.is_exact and len(finding.path) == 1
        inside = known.get(sent.path[:-1])
        is_guessed = inside is not None and inside.wants != "object"
        is_moved = is_bare and is_guessed and sent.path[-1:] == finding.path
        return is_moved and any(one.at(finding.path) for one in self.earlier)

    def _respelled(
        self, known: Constraints, sent: Placed, finding: FieldFault
    ) -> Path | None:
        """Return how else a name may be written that is missed though it was sent.

        Frameworks name a relation for its key (`submission` for `submission_id`), a
        property for its member (`TaskId` for `taskId`), or leave out what is around it.
        """
        named = finding.path
        *around, name = sent.path
        is_pascal = case_of(p[-1] for p in self.shape.paths) == "pascal"
        lower = (*around, name[:1].lower() + name[1:])
        ways: list[Path] = [
            *self._further_out(finding, (*around,)),
            *(() if is_pascal or name.isupper() else (lower,)),
        ]
        if spelling(named[-1]) == spelling(name):
            ways.append((*around, named[-1]))  # as it was told
        ways = self._or_as_in_json([*ways, *_shorter(self.action, named)], sent.path)
        is_id = sent.source in {"task_id", "agent_id"} or sent.source.endswith("id")
        # What an action makes has no key yet: it is an object rather than a relation.
        is_made = words_of(name)[-1] in NOUNS[self.action] and finding.wants != "id"
        if is_id and not is_made and words_of(name)[-1:] != ("id",):
            case = case_of([one.path[-1] for one in known.wanted]) or "snake"
            keyed: Path = (*around, Style(case).write(f"{name}_id"))
            is_key = finding.wants == "id" or (finding.is_exact and finding.phrase)
            ways.insert(0 if is_key else len(ways), keyed)
        if finding.is_exact and not around:
            ways = self._in_an_object(name, ways, is_told=named == sent.path)
        ways += [named, (*self._around, *named)]
        inside = [*self._inside(sent.path, named, is_id=is_id)]
        ways = [*inside, *ways] if around else [*ways, *inside]
        if name[:1].islower() and self._begins_with_capitals(known):
            # AWS tells of a `WorkerId` as of a `workerId`.
            ways.insert(0, (*around, name[:1].upper() + name[1:]))
        if _told_in_words(name, self.said):
            ways.insert(0, (*around, Style("camel").write(name)))
        if name[:1].isupper():  # as the server's language has it, perhaps
            ways += [(*around, Style(case).write(name)) for case in ("camel", "snake")]
        tried = {sent.path, *known.respelled}
        return next((way for way in ways if way not in tried), None)

    def _or_as_in_json(self, ways: list[Path], sent: Path) -> list[Path]:
        """Return ways to a name, and the one with it in snake case.

        Java's validators tell of its properties, whatever they are called in JSON.
        """
        if case_of(sent[-1:]) != "camel":
            return ways
        snake = (*sent[:-1], Style("snake").write(sent[-1]))
        is_usual = case_of(one[-1] for one in self.beside) == "snake"
        return [snake, *ways] if is_usual else [*ways, snake]

    def _in_an_object(
        self, name: str, ways: list[Path], *, is_told: bool
    ) -> list[Path]:
        """Return ways to a name, and those into the object that names the task."""
        objects = (o.path[:1] for o in self.shape.placed if len(o.path) > 1)
        insides = [(*above, name) for above in dict.fromkeys(objects)]
        # It was understood as it is written, where that is told again.
        is_elsewhere = is_told and len(insides) == 1
        return [*insides, *ways] if is_elsewhere else [*ways, *insides]

    def _inside(self, sent: Path, named: Path, *, is_id: bool) -> Iterator[Path]:
        """Return ways to a name in the objects that are there.

        A key may stand in any that has something; a whole way in none that it begins
        with.
        """
        inside = {one.path[:-1] for one in self.shape.placed if one.source} - {()}
        others = sorted(inside) if is_id else []
        for above in dict.fromkeys((*self._wanted_objects(), *others)):
            if len(sent) == 1:
                yield (*above, *sent)
            elif len(named) > 1 and above[:1] != named[:1]:
                yield (*above, *named)

    def _begins_with_capitals(self, known: Constraints) -> bool:
        """Return whether all names do that stand there and were not asked for."""
        there = [one.path for one in self.shape.placed if not known.get(one.path)]
        names = [path[-1] for path in there]
        return bool(names) and all(
            one[:1].isupper() and not one.isupper() for one in names
        )

    def _further_out(self, finding: FieldFault, around: Path) -> list[Path]:
        """Return where a bare name stands that is in fewer objects than we put it into.

        The nearest first; an item of a list is no object to leave.
        """
        if len(finding.path) > 1:
            return []
        sizes = [i for i, one in enumerate(around) if one != FIRST]
        return [(*around[:i], *self._rooted(finding)) for i in reversed(sizes)]

    def _valued(
        self, known: Constraints, finding: FieldFault, path: Path
    ) -> Constraints:
        """Learn from a value that is wrong, by its type or otherwise."""
        sent = self.shape.at(path)
        if finding.wants == AHEAD:
            if sent is not None and sent.source == "now":
                return replace(known, misfits=(*known.misfits, (path, "now")))
            finding = replace(finding, wants="datetime")
        is_text = sent is not None and sent.kind == "string"
        # As in "must be a string with a minimum length of 10", of a text.
        is_value = finding.fault is Fault.VALUE or (
            is_text and finding.wants == "string"
        )
        inner = (*path, FIRST)
        inside = any(one.path[: len(path)] == path for one in self.shape.placed)
        if finding.wants == "array" and inner in self.shape.paths:
            return _as_object(known, path)  # such as PHP has an array
        if finding.wants == "array" and inside and sent is None:
            known = _moved(known, path, inner)
            known = replace(
                known, unknown=_together(known.unknown, self._beside_items(path))
            )
        if sent is not None or finding.options or finding.wants or not is_value:
            wanted = _wanted_by(finding, path)
            if sent and sent.source == "result" and finding.wants == "array":
                wanted = replace(wanted, means="result")  # only its form was wrong
            known = _wanting(known, wanted)
        if sent is None:
            misfits = (*known.misfits, (path, OBJECT))
            return replace(known, misfits=misfits) if inside and is_value else known
        # Of another type than any that we have: rather an object, if it is no id.
        is_id = not ID_WORDS.isdisjoint(words_of(path[-1])[-1:])
        # Or a moment that should be told otherwise, as a date alone.
        is_untold = is_value or not (finding.wants or is_id) or sent.source in MOMENTS
        is_other = is_untold and not finding.options
        return self._misfit(known, sent) if is_other else known

    def _beside_items(self, path: Path) -> Iterator[Path]:
        """Return what was sent in an object that has to be an array."""
        below = len(path) + 1
        for one in self.shape.placed:
            if one.path[: below - 1] == path and one.path[below - 1 : below] != (
                FIRST,
            ):
                yield one.path[:below]

    def could_not_read(self, known: Constraints, sent: Placed) -> Constraints:
        """Learn from a value that could not be read: in place of a text, an object."""
        if sent.source == "result":
            return _wanting(known, Wanted(sent.path, wants="object"))
        return self._misfit(known, sent)

    def _misfit(self, known: Constraints, sent: Placed) -> Constraints:
        # A constant may be another one, and work in another form: it is never banned.
        is_form = sent.source in {"", "result", *MOMENTS}
        form = form_of(sent) if is_form else sent.source
        # Words are the result, too, where there is one.
        wrong = (form, "result") if form == WORDS else (form,)
        misfits = dict.fromkeys((*known.misfits, *((sent.path, w) for w in wrong)))
        return replace(known, misfits=tuple(misfits))


_TYPE_NAME = re.compile(r"(?:[A-Z][a-z0-9]*)+(?:Request|Input|Dto|DTO|Command|Params)")
"""As in Go, Java and C#."""
_CAMEL = re.compile(r"[a-z][A-Z]")
_PASCAL = re.compile(r"(?![A-Z]{4})[A-Z][A-Za-z0-9]*")


def _apart(message: str, others: Iterable[str]) -> Iterator[str]:
    """Return the only word that a message has in place of another one's."""
    words = message.split()
    for other in map(str.split, others):
        new = [a for a, b in zip(words, other, strict=False) if a != b]
        if len(other) == len(words) and len(new) == 1:
            name = new[0].strip("'\"`.,;:!()")
            if _A_WORD.fullmatch(name):
                yield name


_A_WORD = re.compile(r"[A-Za-z_.-]+")
"""With a digit in it, it is rather the number of a request, and differs each time."""


def _told_in_words(name: str, said: str) -> bool:
    """Return whether a name was told in words, which do not show how it is written."""
    words = " ".join(words_of(name))
    return "_" in name and name not in said and words in said.lower()


def _rerooted(known: Constraints, before: Path, after: Path) -> Constraints:
    """Return constraints with an object, and what is in it, at another place."""
    size = len(before)
    wanted = tuple(
        replace(one, path=after + one.path[size:]) if one.path[:size] == before else one
        for one in known.wanted
    )
    return replace(known, wanted=wanted)


def _as_object(known: Constraints, path: Path) -> Constraints:
    """Return constraints with an object where a list was sent, and refused."""
    size = len(path) + 1
    kept = (
        one for one in known.wanted if one.path[:size] not in {path, (*path, FIRST)}
    )
    return replace(known, wanted=(*kept, Wanted(path, wants="object")))


def _moved(known: Constraints, path: Path, inner: Path) -> Constraints:
    """Return constraints with what is inside of an object inside of another one."""
    wanted = tuple(
        replace(one, path=(*inner, *one.path[len(path) :]))
        if one.path[: len(path)] == path
        and one.path[len(path) : len(inner)] not in {(), (FIRST,)}
        else one
        for one in known.wanted
    )
    return _wanting(replace(known, wanted=wanted), Wanted(inner, wants="object"))


def _wanted_by(finding: FieldFault, path: Path) -> Wanted:
    return Wanted(
        path,
        wants=finding.wants,
        options=finding.options,
        means=finding.means,
        form=finding.form,
    )


def _wanting(known: Constraints, wanted: Wanted) -> Constraints:
    """Return constraints with a name that is wanted, or more about it."""
    before = known.get(wanted.path)
    if before is None:
        return replace(known, wanted=(*known.wanted, wanted))
    merged = Wanted(
        wanted.path,
        is_required=before.is_required or wanted.is_required,
        wants=wanted.wants or before.wants,
        # What is told to be ours is not chosen.
        options=wanted.options or (() if wanted.means else before.options),
        example=before.example,
        means=wanted.means or before.means,
        form=wanted.form or before.form,
    )
    return replace(
        known,
        wanted=tuple(
            merged if one.path == wanted.path else one for one in known.wanted
        ),
    )


def _together(one: tuple[Path, ...], more: Iterable[Path]) -> tuple[Path, ...]:
    return tuple(dict.fromkeys((*one, *more)))


_MAX_DESCRIBED = 60
_MAX_WAYS = 6
"""Alternatives of a description that are tried."""


def _ways(schema: JSON) -> Iterator[Constraints]:
    """Return what a JSON schema asks for, with each of its alternatives in turn.

    What it does not name is not asked for, and may be refused: surely so where it
    allows nothing more, and of what an export lists as refused.
    """
    for way in range(_MAX_WAYS):
        whole = _in_one_way(schema, way)
        wanted = tuple(_described(whole, ()))
        listed = whole.get(REFUSED)
        refused = map(str, listed if isinstance(listed, list) else ())
        unknown = (tuple(one.strip("/").split("/")) for one in refused)
        if wanted:
            closed = tuple(_closed(whole, ()))
            yield Constraints(wanted, tuple(unknown), closed=closed, is_strict=True)


def _in_one_way(schema: JSON, way: int, depth: int = 0) -> dict[str, JSON]:
    """Return a schema with one of the alternatives that it has at each place."""
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return {}
    whole = dict(schema)
    for key in ("oneOf", "anyOf"):
        listed = whole.pop(key, None)
        listed = listed if isinstance(listed, list) else []
        ways = [one for one in listed if one != {"type": "null"}]
        if ways:
            parts = whole.get("allOf")
            parts = parts if isinstance(parts, list) else []
            whole["allOf"] = [*parts, ways[min(way, len(ways) - 1)]]
            whole = _in_one_way(merged(whole), way, depth + 1)
    properties = dict(object_in(whole, "properties"))
    for name, one in properties.items():
        properties[name] = _in_one_way(one, way, depth + 1)
    return whole | ({"properties": properties} if properties else {})


def _closed(schema: Schema, above: Path) -> Iterator[Path]:
    """Return the objects in which nothing may stand that is not described."""
    properties = object_in(schema, "properties")
    if properties and schema.get("additionalProperties") is False:
        yield above
    for name in properties:
        yield from _closed(object_in(properties, name), (*above, name))


def _described(
    schema: Schema, above: Path, *, is_needed: bool = True
) -> Iterator[Wanted]:
    """Return the names that a JSON schema has; what may be left out needs nothing."""
    names, properties = required_in(schema), object_in(schema, "properties")
    for name in [*properties][:_MAX_DESCRIBED]:
        inside = object_in(properties, name)
        path, is_required = (*above, name), is_needed and name in names
        kind, options = _schema_type(inside), _schema_options(inside)
        yield Wanted(path, is_required, kind, options, _schema_example(inside))
        yield from _described(inside, path, is_needed=is_required)


def _schema_type(schema: Mapping[str, JSON]) -> str:
    kind = schema.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    told = [one for one in kinds if isinstance(one, str) and one != "null"]
    if schema.get("format") in {"uuid", "guid"}:
        return "uuid"
    if not told and "properties" in schema:
        return "object"
    return type_of_word(told[0]) if told else ""


def _schema_options(schema: Mapping[str, JSON]) -> tuple[str, ...]:
    listed = schema.get("enum")
    const = schema.get("const")
    values = listed if isinstance(listed, list) else [const]
    return tuple(str(one) for one in values if isinstance(one, str | int) and one != "")


def _schema_example(schema: Mapping[str, JSON]) -> JSON:
    """Return a scalar that may stand there; None when none is shown."""
    several = schema.get("examples")
    examples = several if isinstance(several, list) else []
    shown = [schema.get("default"), schema.get("example"), *examples]
    return next((one for one in shown if isinstance(one, str | int | float)), None)
