"""What a refusal says of the body that it refuses, in the light of that body."""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from types import MappingProxyType

from journeyman.domain.tasks import JSON
from journeyman.network.call import CONTENT_TYPE, FORM_TYPE
from journeyman.network.service_model.lazy_pattern import LazyPattern, any_case
from journeyman.network.service_model.meaning import AGENT_NOUNS
from journeyman.network.service_model.naming import (
    FIRST,
    Path,
    type_of,
    value_at,
    walk,
    words_of,
)
from journeyman.network.service_model.notation import in_plain_form
from journeyman.network.service_model.reading import spelling
from journeyman.network.service_model.refusals.bounds import (
    bounded_by_value,
    with_bound,
)
from journeyman.network.service_model.refusals.faults import (
    MAX_DEPTH,
    MAX_FINDINGS,
    MAX_NODES,
    MAX_TEXT,
    Fault,
    FieldFault,
    below_method,
    in_common,
)
from journeyman.network.service_model.refusals.firestore import typed_values
from journeyman.network.service_model.refusals.position import (
    named_by_position,
    placed_by_position,
)
from journeyman.network.service_model.refusals.rpc import (
    in_parameters,
    in_variables,
    wanted_operation,
)
from journeyman.network.service_model.refusals.structures import Walk, sent_outside
from journeyman.network.service_model.refusals.unclear import (
    in_phrases,
    in_unknown_words,
    mentions_in,
    missed_in_prose,
    named_beside,
    named_beside_its_value,
    named_besides,
    named_by_type,
    named_by_value,
    named_in_list,
    named_in_passing,
    named_on_the_way,
    placed_anyhow,
    prose_of,
    said_of_a_name,
    said_of_one,
    shown_in_brackets,
    tells_a_name,
    told_by_keys,
    typed_in_any_words,
    with_options,
)
from journeyman.network.service_model.refusals.words import (
    HUMPED,
    says_strict,
    strings_in,
)
from journeyman.network.service_model.request import (
    HEADER,
    WHOLE,
    is_outside,
    leaf_names,
)


def read_refusal(
    body: JSON,
    message: str,
    sent: JSON,
    *,
    is_prose_read: bool = True,
    is_of_body: bool = True,
    phrases: Mapping[str, Fault] = MappingProxyType({}),
) -> tuple[FieldFault, ...]:
    """Return what a refusal says of the body that was sent.

    `message` is what is left of an answer that is not JSON. Without `is_prose_read`, no
    plain word of a sentence is taken for a name, as in "You forgot the badge"; without
    `is_of_body`, nothing that is said in unknown words. What `phrases` mean is known,
    though not from their words.
    """
    body = in_plain_form(message if body is None else body)
    clear = _understood(body, message, sent, is_prose_read=is_prose_read)
    is_open = is_prose_read and is_of_body
    again = [*in_phrases(body, sent, phrases)] if is_open else []
    if again and leaf_names(sent).isdisjoint(one.path[-1] for one in clear):
        clear = again
    is_unclear = not clear or any(one.phrase and not one.options for one in clear)
    names = leaf_names(sent)
    is_foreign = not all(map(str.isascii, prose_of(body, sent)))
    is_of_words = is_foreign and all(_may_be_word(one, names) for one in clear)
    if is_open and (is_unclear or is_of_words):
        others = [
            *placed_anyhow(body, sent, phrases),
            *in_phrases(body, sent, phrases),
        ]
        kept = [] if is_of_words and others else clear
        clear = [*{one.path: one for one in (*others, *kept)}.values()]
        clear = [one for one in clear if not _is_around(one, clear)]
    told = [*prose_of(body, sent)]
    if is_open:
        keys = {way[-1] for way, _ in islice(walk(body), MAX_NODES) if way} - names
        clear = [
            o
            for o in clear
            if o.path[-1] not in keys or not tells_a_name(o, told, sent)
        ]
        clear = _or_on_the_way(clear, told, sent)
    clear = clear or named_in_passing(mentions_in(body, sent), sent)
    if again and all(one.fault is Fault.UNKNOWN for one in clear):
        clear += named_besides(clear, mentions_in(body, sent), sent)
    clear = _explained(clear, told)
    if is_open:
        clear = _without_listed(clear, named_in_list(told, sent))
    clear = clear or ([*said_of_one(body, sent)] if is_open else [])
    return tuple(_judged(clear, told, sent, phrases))


def _or_on_the_way(
    found: list[FieldFault], told: Iterable[str], sent: JSON
) -> list[FieldFault]:
    """Return findings, or what sentences tell with a whole way if none has one."""
    names = leaf_names(sent)
    found = [] if all(_tells_nothing(one, names) for one in found) else found
    is_exact = any(one.is_exact for one in found)
    return found if is_exact else named_on_the_way(told, sent) or found


def _judged(
    clear: Iterable[FieldFault],
    told: Sequence[str],
    sent: JSON,
    phrases: Mapping[str, Fault],
) -> Iterator[FieldFault]:
    """Return findings in the light of what was sent and of all that is told."""
    names = leaf_names(sent)
    placed = (sent_outside(one, sent) for one in clear)
    known = (in_unknown_words(one, sent) for one in placed if one is not None)
    known = (placed_by_position(one, told, sent) for one in known)
    seen = (typed_in_any_words(_in_light_of(one, sent)) for one in known)
    seen = (_without_names(one, names) for one in seen)
    judged = (_of_a_part(with_bound(one, told, sent)) for one in seen)
    meant = (_as_known(one, phrases) for one in judged)
    return (with_options(one, told) for one in meant)


def _is_around(found: FieldFault, others: Iterable[FieldFault]) -> bool:
    """Return whether what is said of an object is what is said of a name inside."""
    size = len(found.path)
    inside = (o for o in others if len(o.path) > size and o.path[:size] == found.path)
    is_vague = found.fault is Fault.VALUE and bool(found.phrase)
    return is_vague and any(one.fault is Fault.MISSING for one in inside)


def _as_known(found: FieldFault, phrases: Mapping[str, Fault]) -> FieldFault:
    meant = phrases.get(in_common(found.phrase), Fault.VALUE)
    return found if meant is Fault.VALUE else replace(found, fault=meant)


def _without_listed(
    found: Iterable[FieldFault], listed: Iterable[FieldFault]
) -> list[FieldFault]:
    """Return findings with what a sentence lists of our names as too much."""
    too_much = {one.path[-1] for one in listed if one.fault is Fault.UNKNOWN}
    return [
        replace(one, fault=Fault.UNKNOWN, wants="", options=())
        if one.path[-1] in too_much and one.fault in {Fault.VALUE, Fault.TYPE}
        else one
        for one in found
    ]


def _without_names(found: FieldFault, names: Container[str]) -> FieldFault:
    """Return a finding whose values are no names of ours: they are listed as such."""
    are_names = len(found.options) > 1 and all(one in names for one in found.options)
    return replace(found, options=()) if are_names else found


def _of_a_part(found: FieldFault) -> FieldFault:
    """Return what is said of a header, in whatever words: that it lacks."""
    is_lacking = is_outside(found.path) and found.fault is Fault.VALUE
    is_lacking = is_lacking and bool(found.phrase)
    return replace(found, fault=Fault.MISSING) if is_lacking else found


def _with_strokes(found: FieldFault, sent: JSON) -> FieldFault:
    """Return what is said of a name that has a stroke, as names of Clojure have.

    The one that was sent has one, too: elsewhere `claim/id` is an `id` in a `claim`. It
    is one of an object where that was sent.
    """
    first, *inside = found.path
    is_object = bool(inside) and isinstance(value_at(sent, (first,)), dict)
    name = "/".join(inside if is_object else found.path)
    return replace(found, path=(first, name) if is_object else (name,))


def _with_shown(found: FieldFault, other: FieldFault | None, sent: JSON) -> FieldFault:
    """Return a value that is wrong with the one that an example has there.

    Also one that has the type that is wanted: it is wrong otherwise, then.
    """
    is_wrong = found.fault is Fault.VALUE and not found.wants
    if found.fault is Fault.TYPE:
        is_wrong = type_of(value_at(sent, found.path)) == found.wants
    is_open = is_wrong and not found.options
    if other is None or other.fault is not Fault.ALLOWED or not is_open:
        return found
    return replace(found, fault=Fault.VALUE, wants="", options=other.options)


def _explained(clear: list[FieldFault], told: Sequence[str]) -> list[FieldFault]:
    """Return what is said of a name, with our own word behind it as its meaning.

    As in "«Matricola» is missing: it is the agent_id that was given to you" and in
    "codice non valido: indicare l'agent_id".
    """
    names = {one.path[-1] for one in clear}
    meant = {
        name: word
        for name in names
        for spelled, word in _OUR_WORDS.items()
        if spelling(name) != spelled
        for text in told
        if spelled in spelling(_told_behind(name, text)) and f'"{word}"' not in text
    }
    explained = (
        replace(one, means=one.means or meant.get(one.path[-1], "")) for one in clear
    )
    words = {*meant.values()}
    return [o for o in explained if _OUR_WORDS.get(spelling(o.path[-1])) not in words]


_OUR_WORDS = {"agentid": "agent_id", "taskid": "task_id"}
_BEHIND_COLON = LazyPattern(r"['\"]?(?: [^\W\d]+){1,4}: ([^,;:.()]+)(?=[.]|$)")


def _told_behind(name: str, text: str) -> str:
    """Return what is behind a colon or in brackets: no other name, and no list."""
    for quoted, end in ((f'"{name}": ', "."), (f'"{name}" (', ")")):
        if quoted in text:
            return text.partition(quoted)[2].partition(end)[0]
    behind = text.partition(name)[2]
    match = _BEHIND_COLON.match(behind) if " " in behind else None
    return match[1] if match else ""


def _in_structure(
    body: JSON, sent: JSON, *, is_prose_read: bool
) -> dict[Path, FieldFault]:
    """Return what is said at its place, and of each place what is surest."""
    found: dict[Path, FieldFault] = {}
    findings = Walk(sent, is_prose_read=is_prose_read).findings(body)
    if isinstance(body, dict) and body.get("title") == _OF_QUARKUS:
        findings = map(_without_method, findings)
    has_strokes = any("/" in name for name in (sent if isinstance(sent, dict) else ()))
    if has_strokes:
        findings = (_with_strokes(one, sent) for one in findings)
    for one in findings:
        known = found.get(one.path)
        if known is None or _is_surer(one, known):
            found[one.path] = _with_shown(one, known, sent)
        elif one.fault is Fault.ALLOWED:
            found[one.path] = _with_shown(known, one, sent)
        elif known.fault is one.fault or one.fault in {Fault.TYPE, Fault.VALUE}:
            # class-validator tells one field's faults one by one.
            wants, options = known.wants or one.wants, known.options or one.options
            found[one.path] = replace(known, wants=wants, options=options)
        if len(found) >= MAX_FINDINGS:
            break
    return found


def _understood(
    body: JSON, message: str, sent: JSON, *, is_prose_read: bool
) -> list[FieldFault]:
    """Return what is said in words that are understood, or surely of a field."""
    if surely := wanted_operation(body, sent) or typed_values(body, sent):
        return surely
    found = _in_structure(body, sent, is_prose_read=is_prose_read)
    called = in_parameters(in_variables(found.values(), body, sent), body, sent)
    found = {one.path: one for one in called}
    names, ours = leaf_names(sent), {*strings_in(sent)}
    clear = [
        replace(one, phrase="") if one.phrase in ours else one  # no words of theirs
        for one in _without_guesses([*_without_echoes(found.values())], names)
        if not _is_of_a_key(one, found)
    ]
    if is_prose_read and all(map(_is_untold, clear)):
        about = said_of_a_name(prose_of(body, sent), sent)
        is_meant = about and all(
            one.path[-1:] == about.path
            # What is unknown may be the value, where others are listed.
            and (about.options or one.fault is not Fault.UNKNOWN)
            for one in clear
            if not (one.fault is Fault.VALUE and one.path[-1] in about.options)
        )
        clear = [about] if about and is_meant else clear
    told = [*prose_of(body, sent)]
    if not any(one.is_exact for one in clear):
        shown = bounded_by_value(told, sent) or named_by_position(told, sent)
        clear = shown or clear
    is_doubtful = all(_may_be_misread(one, names) for one in clear)
    if not is_doubtful or says_strict(body, message):
        return clear
    return (
        named_by_value(told, sent)
        or named_in_list(told, sent)
        or named_by_type(told, sent)
        or clear
        or named_beside(body, sent)
        or named_beside_its_value(told, sent)
        or shown_in_brackets(told, sent)
        or (told_by_keys(body, sent) if is_prose_read else [])
        or (missed_in_prose(told, sent) if is_prose_read else [])
    )


_OF_QUARKUS = "Constraint Violation"
"""The title above violations whose ways begin with a method and its parameter."""


def _without_method(found: FieldFault) -> FieldFault:
    return replace(found, path=below_method(found.path) or found.path)


def means_our_id(said: JSON) -> bool:
    """Return whether the words of a refusal describe our own identifier."""
    texts = (text[:MAX_TEXT] for text in islice(strings_in(said), MAX_FINDINGS))
    return any(map(_OUR_ID.search, texts))


_AGENT = f"(?:{'|'.join(sorted(AGENT_NOUNS - {'by', 'who'}))})"
_OUR_ID = any_case(
    rf"\b(?:your(?: own)?|own) {_AGENT}[ _-]?(?:id|identifier)\b"
    rf"|\b(?:authenticated|calling) {_AGENT}\b|\b{_AGENT} auth?enti[cf]\w+"
    r"|\b(?:the|your) agent[ _-]?id of\b"
    r"|\b(?:owner|holder|bearer|titular|titulaire|intestatario|inhaber|posiadacz)\w*"
    r" (?:\w+ ){0,2}(?:token|jeton)\b"
    r"|\b(?:given|issued|assigned) to you (?:on|at|when|with|by)\b"
    r"|\b(?:on|at|à l'|l'|alla|en el|bei der|bij|przy|при|no) ?(?:registration"
    r"|inscription|registrazione|registro|anmeldung|registrierung|(?:de )?registratie"
    r"|rejestracji|регистрации|cadastro)\b"
    r"|\b\w+ (?:of|behind|for|(?:issued )?with) (?:this|the|your) (?:access )?"
    r"(?:token|key|credentials?)\b"
)
"""As in "operator: give your own agent id"."""


def said_by_status(status: int, accepts: Iterable[str]) -> tuple[FieldFault, ...]:
    """Return what a status asks for without a word.

    A 428 wants the version that a change is about (RFC 6585, 3). A 415 may name which
    types of body it `accepts`; of them, those that can be written are meant.
    """
    if status == PRECONDITION_REQUIRED:
        return (FieldFault((f"{HEADER}If-Match",), Fault.MISSING),)
    named = [*accepts]
    kinds = tuple(one for one in named if one == FORM_TYPE or one.endswith("json"))
    texts = () if kinds else tuple(o for o in named if o.startswith("text/"))
    place = FieldFault((HEADER + CONTENT_TYPE,), Fault.MISSING, options=kinds or texts)
    whole = FieldFault((WHOLE,), Fault.MISSING, "string")
    return (place,) if kinds else (place, whole) if texts else ()


def _tells_nothing(one: FieldFault, names: Container[str]) -> bool:
    """Return whether it only says that a name may be there, which is: hapi's `keys`."""
    return one.fault is Fault.ALLOWED and one.is_exact and one.path[-1] in names


def _is_untold(one: FieldFault) -> bool:
    """Return whether nothing is told of a value but that it is wrong there."""
    is_clear = one.fault is Fault.ALLOWED or (
        one.fault is Fault.UNKNOWN and one.is_exact
    )
    return not (one.wants or one.options or is_clear)


def _may_be_misread(one: FieldFault, names: Container[str]) -> bool:
    """Return whether a word of a sentence about a value was taken for a name.

    Such as of "Unknown operation named 'Start'", where no `operation` was sent.
    """
    is_odd = one.fault is Fault.UNKNOWN and one.path[-1] not in names
    return not one.is_exact and (one.fault is Fault.VALUE or is_odd)


def _may_be_word(one: FieldFault, names: Container[str]) -> bool:
    """Return whether what was taken for a name may be a word of another language.

    Such as in "Pole jest wymagane", beside the name that it is said of.
    """
    name = one.path[-1]
    return not (one.is_exact or name in names or HUMPED.search(name))


PRECONDITION_REQUIRED = 428


def _is_surer(one: FieldFault, known: FieldFault) -> bool:
    weak = {Fault.TYPE, Fault.VALUE, Fault.ALLOWED}
    if known.fault is Fault.UNKNOWN and not known.is_exact:
        # "Invalid parameter: task" may be about its value, which a structure tells.
        return one.is_exact and bool(one.wants)
    return known.fault in weak and one.fault not in weak


def _without_echoes(found: Iterable[FieldFault]) -> Iterator[FieldFault]:
    """Leave out names from sentences that a structure names as well."""
    everything = [*found]
    exact = ["".join(map(spelling, one.path)) for one in everything if one.is_exact]
    for one in everything:
        name = "".join(map(spelling, one.path))
        if one.is_exact or not any(known.endswith(name) for known in exact):
            yield one


def _without_guesses(
    found: Collection[FieldFault], names: Container[str]
) -> Iterator[FieldFault]:
    """Leave out words of sentences that may be names, where others surely are.

    Such as of "Input payload validation failed", beside a field and its fault.
    """
    is_clear = any(one.fault in {Fault.MISSING, Fault.UNKNOWN} for one in found)
    for one in found:
        is_vague = one.fault is Fault.VALUE and not (one.wants or one.options)
        if not (
            is_clear and is_vague and not one.is_exact and one.path[-1] not in names
        ):
            yield one


def _is_of_a_key(one: FieldFault, told: Container[Path]) -> bool:
    """Return whether a record is missed of which the key is spoken of as well.

    ActiveRecord says that `shelf` must exist beside `shelf_id`, which is blank.
    """
    *above, name = one.path or ("",)
    keys = ((*above, f"{name}{ending}") for ending in ("_id", "Id"))
    return one.wants == "id" and any(key in told for key in keys)


_OBJECT_ID = LazyPattern(r"[0-9a-f]{24}")


def _without_root(found: FieldFault, sent: JSON) -> FieldFault:
    """Return a finding whose way begins where the body does, not at `args` around it.

    What was sent tells: what is missing lacks there in an object that is, and what is
    wrong or too much is there.
    """
    is_twice = found.path[2:] and found.path[:2] == ("data", "data")
    inner = sent.get("data") if isinstance(sent, dict) else None
    if is_twice and isinstance(inner, dict) and "data" not in inner:
        return replace(found, path=found.path[1:])  # fastjsonschema's word for a body
    if not isinstance(sent, dict) or found.path[0] in sent:
        return found
    # Of two names around, said in words that nobody reads, the value lacks there.
    is_vague = found.fault is Fault.VALUE and not (found.wants or found.options)
    for i in range(1, min(len(found.path), 2 if is_vague else MAX_DEPTH)):
        rest = found.path[i:]
        above = value_at(sent, rest[:-1])
        is_there = value_at(sent, rest) is not None
        is_lacking = isinstance(above, dict) and not is_there
        if is_lacking if found.fault is Fault.MISSING else is_there:
            return replace(found, path=rest)
    return found


def _from_the_root(found: FieldFault, sent: JSON) -> FieldFault:
    """Return a finding whose way begins inside of the body with the way to there.

    graphql-js tells of `input`, which is inside of `variables`, and Rails of `answers`,
    which stand under `answers_attributes`.
    """
    if len(found.path) == 1 or not isinstance(sent, dict) or found.path[0] in sent:
        return found
    names = {found.path[0], f"{found.path[0]}_attributes"}
    inside = {
        way: isinstance(value, list)
        for way, value in reversed([*islice(walk(sent), MAX_NODES)])
        if way and way[-1] in names and isinstance(value, dict | list)
    }
    if len(inside) != 1:
        return found
    ((way, is_list),) = inside.items()
    rest = found.path[1:]
    item = (FIRST,) if is_list and rest[:1] != (FIRST,) else ()
    return replace(found, path=(*way, *item, *rest), is_exact=True)


_TAGS = ("type", "kind")


def _of_a_tag(found: FieldFault, there: Mapping[str, JSON]) -> FieldFault:
    """Return what is said of an object of several kinds: it has to say of which."""
    wrong = (o for o in _TAGS if o in there and there[o] not in found.options)
    absent = (o for o in _TAGS if o not in there)
    path = (*found.path, next(chain(wrong, absent), _TAGS[0]))
    return replace(found, path=path, fault=Fault.VALUE)


def _without_tag(path: Path, sent: JSON) -> Path:
    """Return a way without the kind of an object, which some have in it (pydantic)."""
    for i in range(1, len(path)):
        there = value_at(sent, path[:i])
        inner = there.get(path[i]) if isinstance(there, dict) else None
        if isinstance(there, dict) and not isinstance(inner, dict):
            told = [one for name, one in there.items() if name != path[i]]
            is_tag = path[i] in told and i + 1 < len(path)
            return (*path[:i], *path[i + 1 :]) if is_tag else path
    return path


def _in_an_object_of(found: FieldFault, sent: JSON) -> FieldFault:
    """Return what is said of a name that has the name of an object in front of it.

    Rails says "Proof wording can't be blank" of the `wording` of a `proof`.
    """
    is_bare = not found.is_exact and len(found.path) == 1 and "_" in found.path[0]
    if not (is_bare and isinstance(sent, dict)) or found.path[0] in leaf_names(sent):
        return found
    words = words_of(found.path[0])
    if isinstance(sent.get(name := "_".join(words[:-1])), list) and words[-1] == "0":
        # Laravel, which tells names as words: "The answers 0 field must be ...".
        return replace(found, path=(name, FIRST), is_exact=True)
    objects = {words_of(name): name for name in sent if isinstance(sent[name], dict)}
    for i in range(1, len(words)):
        inner = "_".join(words[i:])
        around = objects.get(words[:i])
        is_there = around is not None and value_at(sent, (around, inner)) is not None
        is_missed = found.fault is Fault.MISSING and is_there
        # The `id` of a thing is rather the key of another record.
        if inner != "id" and around and not is_missed:
            return replace(found, path=(around, inner), is_exact=True)
    return found


def _in_linkage(found: FieldFault, sent: JSON) -> FieldFault:
    """Return what lacks in a relationship of JSON:API as lacking in what it refers to.

    Its `data` has the `type` and the `id` (JSON:API 1.1, "Resource Linkage").
    """
    *above, name = found.path
    there = value_at(sent, tuple(above)) if "relationships" in above[:-1] else None
    if isinstance(there, dict) and isinstance(there.get("data"), dict):
        return replace(found, path=(*above, "data", name))
    return found


def _within(sent: JSON, name: str) -> JSON:
    """Return what was sent under a name, in whatever object."""
    return next((v for way, v in walk(sent) if way[-1:] == (name,)), None)


def _of_its_only_member(found: FieldFault, sent: JSON) -> FieldFault:
    """Return what is said of an object as said of its only value, which is quoted."""
    there = value_at(sent, found.path)
    is_vague = found.fault is Fault.VALUE and not (found.options or found.wants)
    if not is_vague or not isinstance(there, dict) or len(there) != 1:
        return found
    ((name, value),) = there.items()
    is_quoted = isinstance(value, str) and value in found.phrase
    return replace(found, path=(*found.path, name)) if is_quoted else found


def _as_sent(found: FieldFault, sent: JSON) -> FieldFault:
    """Return what is said of a way in the names that were sent, if these have capitals.

    AWS tells of `answers.1.member.freeText` what `Answers` lacks. A name that is missed
    and was sent with a capital is asked for without it. Google tells the type of a
    `lease_duration` that it takes as `leaseDuration`, too.
    """
    is_name_asked = found.fault is Fault.MISSING
    alike = [n for n in leaf_names(sent) if spelling(n) == spelling(found.path[0])]
    is_lone = found.fault is Fault.TYPE and len(found.path) == len(alike) == 1
    if is_lone and type_of(_within(sent, alike[0])) != found.wants:
        return replace(found, path=(alike[0],))
    way: Path = ()
    for name in found.path if len(found.path) > 1 else ():
        around = value_at(sent, way) if way else sent
        ours = around if isinstance(around, dict) else {}
        alike = [one for one in ours if spelling(one) == spelling(name)]
        is_other = name not in ours and [one[:1].isupper() for one in alike] == [True]
        is_asked = is_name_asked and len(way) + 1 == len(found.path)
        way = (*way, alike[0] if is_other and not is_asked else name)
    return replace(found, path=way or found.path)


def _but_for(found: FieldFault, there: JSON) -> FieldFault:
    """Return what may be chosen but for what was sent, which a refusal repeats.

    Of numbers it was one of another type, rather.
    """
    is_numbered = not found.wants and "".join(found.options).isdigit()
    if is_numbered and (type_of(there) == "integer" or there in found.options):
        return replace(found, wants="integer")
    return replace(found, options=tuple(o for o in found.options if o != there))


def _in_light_of(found: FieldFault, sent: JSON) -> FieldFault:
    """Judge a finding by what was sent."""
    found = _without_root(_from_the_root(_as_sent(found, sent), sent), sent)
    found = _in_linkage(_in_an_object_of(found, sent), sent)
    found = replace(found, path=_without_tag(found.path, sent))
    found = _of_its_only_member(found, sent)
    there = value_at(sent, found.path)
    is_of_kinds = bool(found.options) and found.wants != "boolean"
    if isinstance(there, dict) and there and is_of_kinds:
        found = _of_a_tag(found, there)
        there = value_at(sent, found.path)
    found = _but_for(found, there)
    is_object_id = isinstance(there, str) and bool(_OBJECT_ID.fullmatch(there))
    if found.fault is Fault.TYPE and found.wants == "id" and is_object_id:
        return replace(found, wants="objectid")  # as its extended JSON writes one
    if found.fault is Fault.TYPE and not found.wants and found.path[-1] == FIRST:
        return replace(found, wants="object")
    if found.fault is Fault.TYPE and found.wants == "string" and isinstance(there, str):
        return replace(found, fault=Fault.VALUE)  # as in "a string of 10 and more"
    # Another spelling of a name that was sent is that of the server's language.
    name, names = found.path[-1], leaf_names(sent)
    is_spelled = name not in names and spelling(name) in map(spelling, names)
    # What nobody sent lacks, whatever is said of it.
    is_new = len(found.path) == 1 and name not in names and bool(HUMPED.search(name))
    is_told = found.is_exact or found.fault is Fault.TYPE or is_new
    is_told |= bool(found.options) and name.islower()
    is_told = is_told and not is_spelled
    is_unsaid = there is None and is_told and not is_outside(found.path)
    if name in names and (not found.is_exact or len(found.path) == 1):
        is_unsaid = False  # a bare name may be inside of what is around everything
    is_moot = found.fault is Fault.UNKNOWN and is_new and not found.is_exact
    if (found.fault in {Fault.TYPE, Fault.VALUE} or is_moot) and is_unsaid:
        return replace(found, fault=Fault.MISSING)
    return _of_another_type(found, sent)


def _of_another_type(found: FieldFault, sent: JSON) -> FieldFault:
    """Return what is said to be required, as in "A valid integer is required".

    Where something was sent, it is of another type.
    """
    there = value_at(sent, found.path)
    is_elsewhere = there is None and len(found.path) == 1 and not found.is_exact
    there = _within(sent, found.path[0]) if is_elsewhere else there
    is_typed = found.fault is Fault.MISSING and found.wants not in {"", "id"}
    if not is_typed or there is None:
        return found
    is_other = found.wants != type_of(there)
    if is_elsewhere and not is_other:
        return found  # of the right type, in the wrong object
    return replace(found, fault=Fault.TYPE if is_other else Fault.VALUE)
