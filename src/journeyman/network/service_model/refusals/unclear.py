"""What is said without a clear name, or in words that nobody understands.

A value, a key or a name beside it may tell what is meant (decision 0113).
"""

import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from itertools import chain, islice, product, takewhile

from journeyman.domain.tasks import JSON
from journeyman.network.service_model.lazy_pattern import LazyPattern, any_case
from journeyman.network.service_model.meaning import (
    AGENT_NOUNS,
    EVIDENCE_WORDS,
    NOUNS,
    RESULT_WORDS,
    TASK_NOUNS,
)
from journeyman.network.service_model.naming import (
    FIRST,
    ID_WORDS,
    Path,
    speaks_of,
    type_of,
    value_at,
    walk,
    word_set,
    words_of,
)
from journeyman.network.service_model.notation import MOST_LETTERS, NAME
from journeyman.network.service_model.reading import spelling
from journeyman.network.service_model.refusals.faults import (
    MAX_FINDINGS,
    MAX_NODES,
    MAX_TEXT,
    Fault,
    FieldFault,
    in_common,
)
from journeyman.network.service_model.refusals.keys import (
    BODY_KEYS,
    CONTAINERS,
    FIELD_KEYS,
    KEYS,
    NEVER_SHOWN,
    OF_THE_WHOLE,
    OPTION_KEYS,
    PARTS,
    PROSE_KEYS,
    SAYING_KEYS,
    SHOWN,
)
from journeyman.network.service_model.refusals.sentences import (
    JSON_TYPES,
    NUMBERS,
    OTHERS,
    compared_with_example,
    is_class_name,
    is_name,
    likeness_to_a_result,
    path_of,
)
from journeyman.network.service_model.refusals.structures import (
    has_parts,
    is_of_words,
    is_verdict,
    place_in,
    sayings,
    texts_of,
    unpacked,
)
from journeyman.network.service_model.refusals.words import (
    BARE_ITEM,
    COMPARED,
    ERROR_CODE,
    HUMPED,
    MEDIA_TYPE,
    NO_NAMES,
    ONLY_ONE,
    OPTION,
    SHORTEST_ECHO,
    TYPES,
    VERDICTS,
    WEAK_NAMES,
    fault_at,
    items_in,
    listed_last,
    options_in,
    phrase_of,
    says_strict,
    strings_in,
    type_of_word,
    wanted_type,
    without_echo,
)
from journeyman.network.service_model.request import (
    HEADER,
    is_day,
    leaf_names,
    leaves_of,
)


def prose_of(body: JSON, sent: JSON) -> Iterator[str]:
    """Return the texts of a refusal without our body, as many as may be searched."""
    letters = MOST_LETTERS
    for text in strings_in(body):
        if letters <= 0:
            return
        letters -= min(len(text), MAX_TEXT)
        yield without_echo(text[: 2 * MAX_TEXT], sent)[:MAX_TEXT]


def named_by_value(told: Iterable[str], sent: JSON) -> list[FieldFault]:
    """Read what is wanted where a value of ours is quoted in place of its name."""
    named = []
    for text in told:
        quoted = {*OPTION.findall(text[:MAX_TEXT]), *_UNCLOSED.findall(text)}
        begun = tuple(one for one in quoted if len(one) >= SHORTEST_ECHO)
        leaves = [(path, str(value)) for path, value in leaves_of(sent) if path]
        # Words of ours repeat the result: as that, they are hardly wrong.
        places = [path for path, value in leaves if value in quoted]
        places = _likeliest_of(places, text)
        found = [_of_value(fault_at(path, text)) for path in places]
        if (last := _LAST.search(text)) and not any(one.options for one in found):
            found = [replace(one, options=items_in(last[1])) for one in found]
        if len(found) == 1 and (found[0].wants or found[0].options):
            named += found
        elif not found and begun:
            # A parser quotes no more than the beginning of what it cannot read.
            paths = [path for path, value in leaves if value.startswith(begun)]
            named += [FieldFault(path, Fault.VALUE) for path in paths[:1]]
    return named


def _likeliest_of(places: list[Path], text: str) -> list[Path]:
    """Return which of these places a sentence speaks of that quotes their value."""
    types = "".join(f"{spelling(one)} " for one in _TYPE_NAMED.findall(text))
    said = OPTION.sub(" ", text)

    def likeliness(path: Path) -> tuple[bool, bool, float]:
        is_of_type = f"{spelling(path[-1])} " in types
        return is_of_type, speaks_of(said, path[-1]), likeness_to_a_result(path)

    return sorted(places, key=likeliness)[-1:]


def named_beside_its_value(told: Iterable[str], sent: JSON) -> list[FieldFault]:
    """Read what is wrong where a value is shown beside the words of its name.

    As in "No booking with number 48113" and 'Language "en" does not match "de"'; and,
    where something is not there or should be another value, without ours: "Assignment
    not found", "It must be in the target_language ('en')".
    """
    leaves = [
        (path, f"{value}", noun)
        for path, value in leaves_of(sent)
        if path and (noun := _noun_in(path))
    ]
    for text in (one[:MAX_TEXT] for one in told if " " in one):
        words, shown = {*words_of(text)}, {*_SHOWN_VALUE.findall(text)}
        ours = {value for _, value, _ in leaves}
        quoted = (one[1] or one[2] for one in _QUOTED_VALUE.finditer(text))
        options = tuple(one for one in quoted if one not in ours)
        options = options if _NOT_AS.search(text) else ()
        is_told = bool(options) or bool(_NOT_THERE.match(text))
        named = [
            (value in shown, len(noun), path[-1] in ID_WORDS, path)
            for path, value, noun in leaves
            if noun <= words
            and f'"{path[-1]}"' not in text  # else it repeats our body
            and (is_told or (value[1:] and (value in shown or f'"{value}"' in text)))
        ]
        most = max((rank for *rank, _ in named), default=[])
        paths = [path for *rank, path in named if rank == most]
        if len(paths) == 1:
            return [FieldFault(paths[0], Fault.VALUE, "", options, is_exact=False)]
    return []


def _noun_in(path: Path) -> set[str]:
    """Return the words for what an identifier is of: (`job`, `id`), `job_id`: job."""
    noun = {*words_of(path[-1])} - ID_WORDS
    return noun or {*words_of(path[-2] if path[1:] else "")} - ID_WORDS


def shown_in_brackets(told: Iterable[str], sent: JSON) -> list[FieldFault]:
    """Read what is wrong where a value of ours stands in brackets.

    As in "The rows [22] do not exist".
    """
    leaves = [(path, str(value)) for path, value in leaves_of(sent) if path]
    for shown in (one for text in told for one in _IN_SQUARE.findall(text)):
        places = [path for path, value in leaves if value == shown]
        if len(places) == 1:
            return [FieldFault(places[0], Fault.VALUE, is_exact=False)]
    return []


_IN_SQUARE = LazyPattern(r"(?<= )\[([\w-]{1,80})\](?= )")
_NOT_THERE = any_case(
    r"(?:the |no such |unknown )?\w+(?: \w+)?"
    r" (?:(?:was |is |could )?not (?:be )?found|does(?: not|n't) exist)\W*$"
)
_SHOWN_VALUE = LazyPattern(r"(?<![\w-])[\w:-]{1,80}(?![\w-])")
_QUOTED_VALUE = LazyPattern(r"\"([^\"]{1,80})\"|(?<!\w)'([^']{1,80})'(?!\w)")
_NOT_AS = any_case(r"\b(?:not match|mismatch|expected|(?:must|should) be|instead of)\b")


def named_by_type(told: Iterable[str], sent: JSON) -> list[FieldFault]:
    """Read what has to be an object of a type that is named, as Jackson has it.

    It is the field of that name, or the only text of several words.
    """
    leaves = [(path, value) for path, value in leaves_of(sent) if path]
    texts = [path for path, value in leaves if " " in str(value)]
    for text in told:
        if named := _INSTANCE_OF.search(text):
            stem = spelling(named["stem"])
            places = [path for path, _ in leaves if spelling(path[-1]) == stem]
        elif _ANY_TEXT.search(text):
            values = (path for path, value in leaves if isinstance(value, str))
            ends = ((one, words_of(one[-1])[-1:]) for one in values)
            places = [one for one, end in ends if ID_WORDS.isdisjoint(end)]
        elif _ANY_LIST.search(text):
            around = [path[:-1] or path for path in texts]
            return [FieldFault(one, Fault.TYPE, "array") for one in around[:1]]
        else:
            continue
        places = places if len(places) == 1 else texts
        if len(places) == 1:
            return [FieldFault(places[0], Fault.TYPE, "object")]
    return []


_ANY_TEXT = LazyPattern(
    r"^\[?instance type \(string\) .* primitive type \(\w+: \[\"object\"\]\)\]?$"
    r"|\bproto:.* syntax error \([^)]*\): unexpected token [#\"]"
    r"|^Expected structure or null$"
)
"""AWS and Protocol Buffers, which do not tell where."""
_ANY_LIST = LazyPattern(r"^Expected list or null$")
_INSTANCE_OF = LazyPattern(
    r"`(?:[a-z]\w*[.$])(?:[\w$]+[.$])*(?P<stem>[A-Z]\w*?)"
    r"(?:Dto|DTO|Model|Payload|Input|Body|Data|Object|Request|Type)?`"
)
"""The name of a class."""
_TYPE_NAMED = LazyPattern(r"\btype [`'\"]?(?:\w+\.)*(\w+)")
"""Of a type of the service's own, which often is called as the field is at its end."""


def _of_value(found: FieldFault) -> FieldFault:
    """Return what is said of a value: what is unknown is that, and not its name."""
    is_value = found.fault is Fault.UNKNOWN
    return replace(found, fault=Fault.VALUE) if is_value else found


_UNCLOSED = LazyPattern(r"['\"]([^'\"]{1,80})$")
_LAST = LazyPattern(rf":\s*({BARE_ITEM}(?:,\s*{BARE_ITEM})*)\W*$")
"""What a sentence about a value lists at its end, be it a single one."""
_LISTED_FOR = LazyPattern(rf"^(?P<what>[^:]{{1,60}}){_LAST.pattern}")


def with_options(found: FieldFault, told: Iterable[str]) -> FieldFault:
    """Return what is missed with the values that a sentence of its own lists for it.

    As in "Operations on this path: ClaimBounty." of an `operationName`.
    """
    if found.fault is not Fault.MISSING or found.options or found.wants:
        return found
    several = {f"{word}s" for word in words_of(found.path[-1])}
    for clause in (one for text in told for one in _SENTENCES.split(text)):
        listed = _LISTED_FOR.match(clause)
        if listed and several & {*re.findall(r"[a-z]+", listed["what"].lower())}:
            return replace(found, options=items_in(listed[2]))
    return found


def named_beside(body: JSON, sent: JSON) -> list[FieldFault]:
    """Take the name that stands beside each sentence of a list, in any language."""
    lists = (one for _, one in islice(walk(body), MAX_NODES) if isinstance(one, list))
    named = []
    for item in (one for listed in lists for one in listed if isinstance(one, dict)):
        texts = {key: one for key, one in item.items() if isinstance(one, str)}
        names = [
            path_of(one, sent if isinstance(sent, dict) else ())
            for key, one in texts.items()
            if is_name(one)
            and not (one.isupper() or is_verdict(one))
            and spelling(key) not in PROSE_KEYS
            and not is_of_words(key, one)
            and one not in PARTS
        ]
        said = " ".join(one for one in texts.values() if " " in one)
        if len(names) == 1 and names[0] and said:
            found = fault_at(names[0], said)
            if value_at(sent, names[0]) is None:
                found = FieldFault(names[0], Fault.MISSING, means=found.means)
            named.append(found)
    return named


_PLAIN_NAME = (
    r"(?:(?:the|an?|your|its|any|our|this|also|valid) )*"
    r"(?P<name>[^\W\d]\w{1,40})(?![\w-])"
)
_NOT_DONE = (
    r"(?:(?:filled|stated|there|told|named|entered|supplied|added|shown|included"
    r"|present)\b|(?:given|sent|set|known)\b(?! (?:to|up)\b)"
    r"|in (?:the|your) (?:body|form|request|message|note|order|slip|payload)\b|in\W*$)"
)
_DO_TELL = (
    r"(?:fill in|tell us|let us know|state|name|enter|add|write(?: down)?|say|give"
    r"|send|show|sign with|include|carry|contain|have|provide|supply|specify)"
)
_MISSED = tuple(
    any_case(frame)
    for frame in (
        # Which badge?
        (
            r"^(?:and )?(?:which|what is|what's|whose|who is|where (?:is|are)|what)"
            rf" {_PLAIN_NAME}\?"
        ),
        # You did not tell us the badge.
        (
            r"(?:\b(?:lacks|lacking|needs?|wants?|(?:need|want|have) to know|forgot"
            r"|forgotten|without|expect(?:s|ed)?"
            r"|(?:has|have|had|carries|contains|sent|gave|got|is|was|says|names|shows"
            r"|came with|comes with|saw|see|found) no"
            r"|(?:do|does|did|could|can|have|has)(?: not|n't)"
            rf" (?:{_DO_TELL}|told us|included|sent|given|get|got|received?|seen?|said"
            r"|named|stated|filled in|written)"
            rf"|(?:please|must|have to|has to|should) (?:also )?{_DO_TELL}"
            r"|left out|still missing|to be filled in"
            r"|incomplete(?: form| request| body)?|wanted|null|empty(?: value for)?)"
            rf"|^(?:no|fill in|{_DO_TELL})):? {_PLAIN_NAME}"
            r"(?=\W*$|[.,;:!?]| (?:in|on|to|for|with|we|from|is|was|at|so|by|only|and"
            r"|or|before|nothing|can ?not|cannot|are|too)\b)"
        ),
        # The badge has not been filled in
        (
            rf"^(?:(?:the )?field )?{_PLAIN_NAME}(?: field)?:? (?:"
            r"(?:(?:is|was|were|are|ha[sd](?: been)?|should have been) )?"
            rf"(?:left (?:out|blank|empty)|empty|nowhere|not (?:been )?{_NOT_DONE})"
            r"|(?:is|was|were|are) (?:expected|wanted|needed|compulsory|obligatory"
            r"|a must|none|unset)\b"
            r"|(?:must|should|has to|have to|needs? to|cannot|can't|can ?not|may not)"
            rf" (?:not )?be (?:left|none|{_NOT_DONE})"
            r"|(?:please )?(?:fill|tell)\b|nothing|expected\W*$|wanted\W*$)"
        ),
        # missing_badge, BADGE_REQUIRED
        r"^(?:missing|no|needs?|lacks)[_-](?P<name>[a-z]\w{1,40})$",
        r"^(?P<name>[a-z]\w{1,40}?)[_-](?:missing|required|absent|empty|blank|needed)$",
    )
)
"""Where a sentence, or a code, has the plain word for what it misses."""
_HARDLY_NAMED = word_set(
    "credits balance funds money time room space capacity quota slot slots access "
    "right rights luck idea reason reasons such more longer less one ones need way "
    "sense problem moment while minute minutes second seconds hour hours day days "
    "connection server service help it them him you us that what why how something "
    "anything nothing everything everybody anybody nobody attempts attempt retry "
    "retries tasks jobs agents workers others other another same yet now again later "
    "here there human person session match matching effect limit place places doubt "
    "thanks"
)
"""Words that stand there where no name is meant."""

_TYPE_IN_PROSE = any_case(
    r"\b(?:be|been|as|an?|takes?|wants?|expects?|expected|is|are|not|no|in|only|give)"
    r" (?:(?:an?|the|only|plain|single|whole|in) )*"
    r"(?P<type>numbers?|numeric|digits?|integers?|text|words?|strings?|lists?|arrays?"
    r"|objects?|flag|boolean|true or false)\b"
    r"|\b(?P<before>number|integer|text|string|list|array|object|boolean)"
    r" (?:is |was )?expected"
    r"|(?P<alone>true or false)\b"
)
_TYPES_IN_PROSE: Mapping[str, str] = {
    **dict.fromkeys(("numeric", "digit"), "number"),
    **dict.fromkeys(("flag", "true or false"), "boolean"),
    "word": "string",
}
_NEGATED = any_case(r"\b(?:not|no)(?: an?)?(?: whole)? $")
_ITEM_IN_PROSE = r"[`'\"\u201c]?[\w.:+-]{1,40}[`'\"\u201d]?"
_ITEM_OF_LIST = r"[`'\"\u201c]?[\w.:+/-]{0,39}[\w+-][`'\"\u201d]?"
_OPTIONS_IN_PROSE = any_case(
    rf"(?<![\w'])(?:{_ITEM_OF_LIST}(?:, {_ITEM_OF_LIST})+"
    rf"(?:,? (?:or|and) {_ITEM_IN_PROSE})?"
    rf"|{_ITEM_IN_PROSE}(?: or {_ITEM_IN_PROSE})+"
    rf"|{_ITEM_IN_PROSE}(?:[/|]{_ITEM_IN_PROSE})+)(?![\w':])"
)

_POINTER = LazyPattern(
    r"#(?:/[\w$.-]+)+|\bapplication/[\w.+-]+|\bline \d+(?:,? \w+ \d+)?"
)
"""What has strokes in it, and is no choice."""


def said_of_a_name(told: Iterable[str], sent: JSON) -> FieldFault | None:
    """Return what sentences say of the only name of ours in them: a type, or options.

    As in "The badge has to be a number" and "No such voice. We have alto or tenor."
    """
    leaves = {path[-1]: value for path, value in leaves_of(sent) if path}
    for text in (one[:MAX_TEXT] for one in told if " " in one):
        words = {one.lower() for one in re.findall(NAME, text)}
        named = [one for one in leaves if one.lower() in words]
        named = [one for one in named if one not in TYPES] or named
        if len(named) != 1:
            continue
        (name,) = named
        there, path = leaves[name], (name,)
        others = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", text)
        told_type = wanted_type(others)
        options = () if is_day(told_type) else _options_in_prose(others, there)
        if options:
            return FieldFault(path, Fault.VALUE, "", options, is_exact=False)
        wants = _type_in_prose(others) or told_type
        if wants and type_of(there) not in {wants, "integer" if "num" in wants else ""}:
            return FieldFault(path, Fault.TYPE, wants, is_exact=False)
    return None


_ASKED_TO_CHOOSE = any_case(r"\b(?:options?|choices?|enum)\b")


def _options_in_prose(text: str, there: JSON) -> tuple[str, ...]:
    """Return values that a sentence lists, where the one sent is none of them.

    None for a text of several words: such a value is the work, and not a choice
    unless that is said.
    """
    listed = _OPTIONS_IN_PROSE.search(COMPARED.sub("", _POINTER.sub(" ", text)))
    alone = ONLY_ONE.search(text)
    told = listed[0] if listed else alone[1] if alone else ""
    if not told or (" " in str(there) and not _ASKED_TO_CHOOSE.search(text)):
        return ()
    items = items_in(told)
    words = {one.lower() for one in items}
    is_choice = words.isdisjoint(NO_NAMES) and words != {"true", "false"}
    is_choice = is_choice and str(there) not in (told.strip("\"'`"), *items)
    return items if is_choice else ()


def _type_in_prose(text: str) -> str:
    """Return the JSON type that a sentence asks for; of two, what is not denied."""
    told: dict[str, bool] = {}
    for one in _TYPE_IN_PROSE.finditer(text):
        group = one.lastgroup or "type"
        word = one[group].lower()
        word = word.removesuffix("s") if word != "words" else "word"
        kind = _TYPES_IN_PROSE.get(word) or type_of_word(word)
        told[kind] = bool(_NEGATED.search(text[: one.start(group)]))
    asked = [kind for kind, is_denied in told.items() if not is_denied] or [*told]
    return asked[0] if len(asked) == 1 else ""


_MISSED_WORDS = word_set(
    "missing lack lacks lacking need needs needed wanted absent blank empty forgot "
    "forgotten incomplete unfilled"
)
"""Of a key under which there is what is missed, as in `{"still_needed": ["badge"]}`."""
_SHOWN_WORDS = word_set("required requires expects expected send needs missing wants")
"""Of a key under which an object has the names that are asked for."""
_LACKING = any_case(
    r"^(?:it |this )?(?:is |was |has been )?(?:please )?(?:missing|required|absent"
    r"|blank|empty|nothing|needed|incomplete|unset|none|null|no value|must not be|left "
    rf"|not (?:been )?{_NOT_DONE}|fill|tell us|we need|must be {_NOT_DONE})"
)
"""What is said of a name that stands beside it or above it."""


def told_by_keys(body: JSON, sent: JSON) -> list[FieldFault]:
    """Read structures in words of a network's own, by what stands beside what.

    `{"still_needed": ["badge"]}`, `{"badge": "please fill in"}`, `{"badge": false}` and
    `{"what": "badge", "why": "missing"}` all miss the badge.
    """
    found: dict[Path, FieldFault] = {}
    around: set[str] = set()
    for way, value in islice(walk(body), MAX_NODES):
        if isinstance(value, dict):
            told = [*_under_keys(value, sent), *_in_pair(value, sent)]
            around |= {*way} if told else set()
            found = {**{one.path: one for one in told}, **found}
    return [one for path, one in found.items() if path[-1] not in around]


def _under_keys(value: Mapping[str, JSON], sent: JSON) -> Iterator[FieldFault]:
    """Read the names under keys that miss them, and what stands under names."""
    names = leaf_names(sent)
    for key, inner in value.items():
        words = {*words_of(key)}
        if isinstance(inner, dict) and words & _SHOWN_WORDS:
            yield from compared_with_example(inner, sent, ())
        elif (
            words & _MISSED_WORDS or words >= {"left", "out"} or words >= {"fill", "in"}
        ):
            yield from _missing_of(_named_plainly(inner), names)
        elif is_name(key) and spelling(key) not in KEYS | BODY_KEYS:
            yield from _under_name(key, inner, value, sent)


def _under_name(
    name: str, inner: JSON, value: Mapping[str, JSON], sent: JSON
) -> Iterator[FieldFault]:
    """Read what stands under a name: a sentence, a flag, or an object with either."""
    names = leaf_names(sent)
    layer = [*inner.values()] if isinstance(inner, dict) else inner
    texts = [one[:MAX_TEXT] for one in texts_of(layer)]
    if isinstance(inner, dict) and inner.get("required") is True:
        texts.append("required")
    is_flag = inner is False and any(one is True for one in value.values())
    if is_flag or any(map(_LACKING.search, texts)):
        yield from _missing_of([name], names)
    elif name in names and (told := [o for o in texts if wanted_type(o)]):
        yield fault_at((name,), told[0])


def _in_pair(value: Mapping[str, JSON], sent: JSON) -> Iterator[FieldFault]:
    """Read a name beside a word that says that it is missing, whatever the keys."""
    texts = [one for one in value.values() if isinstance(one, str)]
    is_missing = any(_LACKING.search(one[:MAX_TEXT]) for one in texts)
    named = [
        name
        for key, one in value.items()
        if not isinstance(one, str) or not _LACKING.search(one[:MAX_TEXT])
        for name in _named_plainly(one)
        if spelling(key) not in OPTION_KEYS
    ]
    if is_missing and len(named) == 1:
        yield from _missing_of(named, leaf_names(sent))


def _named_plainly(value: JSON) -> list[str]:
    """Return the names in a value that has nothing else: one, or a list of them."""
    listed = value.split(", ") if isinstance(value, str) else value
    if not isinstance(listed, list):
        return []
    named = [one for one in listed if isinstance(one, str) and is_name(one)]
    return named if len(named) == len(listed) else []


def _missing_of(named: Iterable[str], sent: Container[str]) -> Iterator[FieldFault]:
    for name in named:
        words = {*words_of(name)}
        is_ours = not words - _MEANT
        if not is_ours and name not in sent and not words & (_HARDLY_NAMED | NO_NAMES):
            yield FieldFault((name,), Fault.MISSING, is_exact=False)


def missed_in_prose(told: Iterable[str], sent: JSON) -> list[FieldFault]:
    """Take a plain word for the name of what is missed, where a sentence has it so.

    None of our own words: of a claim, a task or an agent much is said that is not about
    the body.
    """
    clauses = (one for text in told for one in _SENTENCES.split(text[:MAX_TEXT]))
    is_kebab = any("-" in name for name in leaf_names(sent))
    found = [
        name
        for clause in clauses
        for name in _all_missed_in(clause.strip(), sent, is_kebab=is_kebab)
    ]
    paths = dict.fromkeys((name,) for name in found)
    return [FieldFault(path, Fault.MISSING, is_exact=False) for path in paths]


def _all_missed_in(clause: str, sent: JSON, *, is_kebab: bool) -> Iterator[str]:
    """Return the word that is missed in a clause, and what is listed behind it.

    As in "Your slip has no docket, finished-copy and filed-on", where hyphens join.
    """
    clause = _HYPHEN.sub("_", clause) if is_kebab else clause
    first = _missed_in(clause, sent)
    behind = clause.partition(first)[2] if first else ""
    listed = _LISTED_BEHIND.match(behind)
    more = _OF_LIST.findall(listed[0]) if listed else []
    is_of_names = all(map(HUMPED.search, more))
    for name in (first, *(more if is_of_names else ())):
        if name:
            yield name.replace("_", "-") if is_kebab else name


_HYPHEN = LazyPattern(r"(?<=[^\W\d_])-(?=[^\W\d_])")
_LISTED_BEHIND = LazyPattern(r"(?:(?:,| and|, and) [^\W\d]\w{1,40}){1,9}(?=\W*$)")
_OF_LIST = LazyPattern(r"(?:,| and) ([^\W\d]\w{1,40})(?!\w)(?<! and)")


def _missed_in(clause: str, sent: JSON) -> str:
    """Return the plain word that is missed in a clause; empty when none is."""
    names = leaf_names(sent)
    known = names | {str(value) for _, value in leaves_of(sent)}
    is_lower = not any(name[:1].isupper() for name in names)
    for match in filter(None, (frame.search(clause) for frame in _MISSED)):
        told = match["name"]
        is_odd = told.isupper() or not HUMPED.search(told)
        name = told.lower() if is_lower and is_odd else told
        words = {*words_of(name), name.lower()}
        is_other = not words & (_HARDLY_NAMED | NO_NAMES)
        if is_other and words - _MEANT and name not in known:
            return name
    return ""


def placed_anyhow(
    body: JSON, sent: JSON, phrases: Container[str]
) -> Iterator[FieldFault]:
    """Take the places that a structure has, where nothing that it says is understood.

    As in `[{"path": "job", "message": "E17"}]`, `{"errors": {"job": ["E17"]}}`
    and "job: E17; agent_id: E18".
    Something is wrong there; what nobody sent is missing.
    """
    letters = MOST_LETTERS
    for way, value in islice(walk(body), MAX_NODES):
        letters -= len(value) if isinstance(value, str) else 0
        if letters < 0:
            return
        if _NOT_SAID.isdisjoint(map(spelling, way)):
            yield from _placed_in(way, value, sent, phrases)


def _placed_in(
    way: Path, value: JSON, sent: JSON, phrases: Container[str]
) -> Iterator[FieldFault]:
    if isinstance(value, str):
        yield from _before_colons(value[:MAX_TEXT], sent, phrases)
    elif isinstance(value, list):
        yield from _in_table(value, sent, phrases)
        yield from _listed_below(way[-1:], value, sent)
    elif isinstance(value, dict) and not has_parts(value):
        place, said = place_in(value, sent), [*sayings(value)]
        if place is None:
            yield from _under_containers(way, value, sent, phrases)
        elif inner := _named_inside(place, value, sent):
            yield FieldFault(inner, Fault.MISSING)
        elif said and not (
            all(spelling(one) in _STATUSES for one in said)
            # An object with too much inside is not itself too much.
            or (isinstance(value_at(sent, place), dict) and says_strict(value, ""))
        ):
            yield fault_at(place, " ".join(said))


def _listed_below(name: Path, listed: list[JSON], sent: JSON) -> Iterator[FieldFault]:
    """Return what an object of ours lacks that is listed under its name.

    As in HubSpot's `{"context": {"properties": ["hs_timestamp"]}}`.
    """
    there = value_at(sent, name) if name else None
    names = [one for one in listed if isinstance(one, str)]
    if not isinstance(there, dict) or len(names) < len(listed):
        return
    if all(_is_surely_name(one, sent) and one not in there for one in names):
        yield from (FieldFault((*name, one), Fault.MISSING) for one in names)


_NOT_SAID = SHOWN | word_set("found received schema")
"""Under these stands what would do, what was sent, or a rule of JSON Schema."""


def _named_inside(place: Path, value: Mapping[str, JSON], sent: JSON) -> Path:
    """Return the name that is told beside the way to an object of ours.

    As in `{"error": "E17", "data": "media_type", "path": ["output"]}`.
    """
    there = value_at(sent, place)
    if not isinstance(there, dict):
        return ()
    names = [
        one
        for key, one in value.items()
        if isinstance(one, str) and spelling(key) not in {*SAYING_KEYS, *FIELD_KEYS}
        if _is_surely_name(one, sent) and one not in there and one not in place
    ]
    return (*place, names[0]) if len(names) == 1 else ()


def _under_containers(
    way: Path, value: Mapping[str, JSON], sent: JSON, phrases: Container[str]
) -> Iterator[FieldFault]:
    """Read the names in an object that has what is said of each, in a container."""
    inside = [*takewhile(lambda name: not _is_container(name), reversed(way))]
    is_around_all = len(inside) == len(way) and not (way and _names_one(value, sent))
    while inside and inside[-1] not in (sent if isinstance(sent, dict) else ()):
        inside.pop()  # it is a container, whatever it is called
    ours = leaf_names(sent) | {*strings_in(sent)}
    is_of_lists = bool(value) and all(isinstance(one, list) for one in value.values())
    known = NEVER_SHOWN | BODY_KEYS | {*FIELD_KEYS, *SAYING_KEYS}
    told = {str(one) for name, one in value.items() if spelling(name) not in known}
    # A `message` may be a name, too, of which the same is said as of others.
    is_of_texts = not (is_around_all or _is_verdict_with_code(told)) and all(
        isinstance(one, str) and one in told for one in value.values()
    )
    is_of_texts = is_of_texts and not any(map(_OF_ONE_ANSWER.fullmatch, told))
    is_of_texts |= bool(way and value) and all(
        isinstance(one, str) and one in phrases for one in value.values()
    )
    is_item = bool(way) and ("." in way[-1] or _is_surely_name(way[-1], sent))
    for name, inner in value.items():
        is_name_of_ours = "." in name or _is_surely_name(name, sent)
        said = texts_of(inner) or [*(_said_in_items(inner) if is_name_of_ours else ())]
        is_around = _is_container(name) and (is_around_all or name.lower() != "data")
        is_around &= not (said and all(one in phrases for one in said))
        is_around |= is_item and spelling(name) in SAYING_KEYS
        is_place = is_name(name) and not (is_around or name in OF_THE_WHOLE)
        is_said = bool(said) and not ours.issuperset(said)
        if is_place and is_said and (is_of_lists or is_of_texts):
            around = (*reversed(inside),)
            is_list = bool(around) and isinstance(value_at(sent, around), list)
            path = (*around, *((FIRST,) if is_list else ()), *path_of(name))
            yield fault_at(path, " ".join(said))


def tells_a_name(found: FieldFault, told: Iterable[str], sent: JSON) -> bool:
    """Return whether a sentence tells itself which field it is about, and not its key.

    As in `{"reasons": ["typist_id is required"]}`.
    """
    key = found.path[-1]
    said = " ".join(one for one in told if " " in one and one in found.phrase)
    quoted = {*OPTION.findall(said)} & leaf_names(sent)
    formed = {one for one in re.findall(NAME, said) if HUMPED.search(one)}
    formed = {o for o in formed if spelling(o) not in _OUR_WORDS and not o.isupper()}
    named = quoted | formed
    return bool(named) and not any(key in one or one in key for one in named)


_OUR_WORDS = frozenset({"agentid", "taskid"})
"""They may explain another name."""


def _said_in_items(inner: JSON) -> Iterator[str]:
    """Return what is said in a list of objects, as Play has under each name."""
    for one in inner if isinstance(inner, list) else ():
        if isinstance(one, dict):
            yield from islice(sayings(one), 1)


_OF_ONE_ANSWER = LazyPattern(
    r"(?=.*\d)(?![A-Z]+[-_]?\d+$)[\w:.+-]{8,}|\d{1,4}([-/.])\d{1,2}\1\d{1,4}[T ].+"
)
"""A time, or an identifier, which says nothing of the name that it stands under."""


def _is_verdict_with_code(told: Collection[str]) -> bool:
    """Return whether texts are a sentence and the code of an error: `E101`."""
    has_code = any(map(ERROR_CODE.fullmatch, told))
    return has_code and any(" " in one for one in told)


def _names_one(value: Mapping[str, JSON], sent: JSON) -> bool:
    """Return whether a key is surely a name of a body."""
    return any(_is_surely_name(name, sent) for name in value)


def _is_surely_name(text: str, sent: JSON) -> bool:
    names = leaf_names(sent)
    is_ours = bool({*re.split(r"[./]", text)} & names)
    is_ours = is_ours or _MEANT.issuperset({*words_of(text)} - ID_WORDS)
    return is_name(text) and (is_ours or bool(HUMPED.search(text)))


def _in_table(
    rows: list[JSON], sent: JSON, phrases: Container[str]
) -> Iterator[FieldFault]:
    """Read a list whose items each have a name, and what is said of it, anywhere.

    As in `[{"florp": "task_id", "snark": "E17"}]` and `[["task_id", "E17"]]`.
    """
    ours = {*strings_in(sent)}
    cells = [
        row if isinstance(row, dict) else dict(zip("0123456789", row, strict=False))
        for row in rows
        if isinstance(row, dict | list)
    ]
    is_known = any(spelling(key) in FIELD_KEYS for row in cells for key in row)
    is_table = bool(cells) and len(cells) == len(rows) and not is_known
    keys = [*cells[0]] if is_table else []
    # A code in capitals looks like a name, too: what does not is it rather.
    for key in sorted(keys, key=lambda one: str(cells[0][one]).isupper()):
        ways = [_way_in(row.get(key)) for row in cells]
        said = [_said_beside(key, row) for row in cells]
        is_of_names = all(way and way not in ours for way in ways) and all(said)
        if (
            is_of_names
            and spelling(key) not in {*SAYING_KEYS}
            and "code" not in spelling(key)
            and (
                any(_is_surely_name(way, sent) for way in ways)
                or any(one in phrases for one in said)
            )
        ):
            for named, told in zip(ways, said, strict=True):
                yield fault_at(path_of(named, leaf_names(sent)), told)
            return


def _way_in(cell: JSON) -> str:
    """Return a name, or the way to one, that is all there is; empty where it is not."""
    parts = cell if isinstance(cell, list) else [cell]
    way = ".".join(map(str, parts))
    return way if isinstance(cell, str | list) and parts and is_name(way) else ""


def _said_beside(key: str, row: Mapping[str, JSON]) -> str:
    others = (one for name, one in row.items() if name != key)
    return " ".join(one for one in others if isinstance(one, str))


def _unexplained(said: str) -> str:
    return _IN_BRACKETS.sub("", said)


def in_phrases(
    body: JSON, sent: JSON, phrases: Mapping[str, Fault]
) -> Iterator[FieldFault]:
    """Read the names that stand where a phrase has one, be they plain words.

    What stands in brackets explains a name, and is another text for each. Before it may
    stand which object is meant, as in "output: missing field `format`".
    """
    frames = [
        (_frame_of(phrase), fault)
        for phrase, fault in phrases.items()
        if _unexplained(phrase).count("#") == 1
    ]
    objects, names = [*_objects_in(sent)] if frames else [], leaf_names(sent)
    for text, (frame, fault) in product(prose_of(body, sent), frames):
        for around, said in _within_objects(_unexplained(text), objects):
            if match := frame.fullmatch(said):
                path = (*around, *path_of(match[1]))
                is_lacking = fault is Fault.VALUE and path[-1] not in names
                told = Fault.MISSING if is_lacking else fault
                yield FieldFault(path, told, is_exact=len(path) > 1)
                break


def _frame_of(phrase: str) -> LazyPattern:
    parts = map(re.escape, in_common(_unexplained(phrase)).split("#", 1))
    frame = rf"({NAME})".join(re.sub(r"(?<=\w\\ )0", r"\\d+", one) for one in parts)
    return LazyPattern(frame)


def _objects_in(sent: JSON) -> Iterator[Path]:
    for way, value in islice(walk(sent), MAX_NODES):
        if way and isinstance(value, dict):
            yield way


def _within_objects(text: str, objects: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """Return a text as it is, and without the way to an object before what is said."""
    yield (), text
    for way in objects:
        named = re.escape(".".join(way))
        yield way, re.sub(rf"(?<![\w.]){named}(?:: |\.)", "", text, count=1)


def _chosen_in(phrase: str, there: JSON) -> str:
    """Return the value that a few words about a choice end with, as in "E20 closed"."""
    _, *words = re.findall(r"[^\s'\"`]+", phrase.rstrip(" .!"))[: _FEW_WORDS + 1]
    last = words[-1] if 0 < len(words) < _FEW_WORDS else ""
    is_value = last[:1].isalpha() and not type_of_word(last)
    is_value = is_value and VERDICTS.isdisjoint(words_of(last))
    return last if is_value and last != str(there) else ""


_FEW_WORDS = 3
_CHOICES = word_set("status state action type kind format mode outcome decision")
"""Last words of names under which there is one of a few values."""


def _before_colons(
    text: str, sent: JSON, phrases: Container[str]
) -> Iterator[FieldFault]:
    """Read a text of nothing but names with what is said of each."""
    clauses = [_NAMED_LINE.fullmatch(one) for one in _LINES.split(text.strip(" ."))]
    told = [one for one in clauses if one and not is_verdict(one["name"])]
    names = leaf_names(sent)
    is_of_names = any(
        one["said"] in phrases
        or one["name"] in _AROUND
        or _is_surely_name(one["name"], sent)
        for one in told
    )
    if len(told) == len(clauses) and is_of_names:
        yield from (fault_at(path_of(one["name"], names), one["said"]) for one in told)


_AROUND = frozenset({"data", "input", "payload"})
"""What is around a body, and hardly begins a sentence."""
_LINES = LazyPattern(r"[;\n]\s*")
_NAMED_LINE = LazyPattern(rf"[`'\"]?(?P<name>{NAME})[`'\"]?: (?P<said>\S.*)")
_STATUSES = frozenset(spelling(one.phrase) for one in HTTPStatus)


_WORD_BEFORE_NAME = LazyPattern(r"([^\W\d_]+) ?[`'\"]#")
"""As in "l'oggetto «Richiesta»", with a sign for the name."""
_IN_BRACKETS = LazyPattern(r"\(([^()]{1,80})\)")
_LETTERS_AND_DIGITS = LazyPattern(r"\b[A-Za-z]{1,8}-?\d{2,}\b")
_RANGE_OF_NUMBERS = LazyPattern(r"(-?\d+)[^\d()]{1,7}?(-?\d+)")


def typed_in_any_words(found: FieldFault) -> FieldFault:
    """Return what is missed with the type that is told before its name, or in brackets.

    As in "l'oggetto «Richiesta»" and in "«Giorni» (intero da 1 a 15)", with its range.
    """
    if found.fault is not Fault.MISSING or found.wants or found.options:
        return found
    named = _WORD_BEFORE_NAME.search(found.phrase)
    wants = type_of_word(named[1]) if named else ""
    inside = _IN_BRACKETS.search(found.phrase)
    told = {*map(type_of_word, re.findall(r"[^\W\d_]+", inside[1] if inside else ""))}
    if inside and _LETTERS_AND_DIGITS.search(inside[1]):
        told -= NUMBERS  # as in "(the ticket number, like T-301)"
    kinds = {wants} & JSON_TYPES or told & JSON_TYPES
    if not kinds and (day := day_shown_in(found.phrase)):
        return replace(found, wants=day)
    if not kinds and (shown := _only_value_in(found)):
        return replace(found, options=shown)
    if len(kinds) != 1:
        return found
    span = _RANGE_OF_NUMBERS.search(inside[1]) if inside and kinds <= NUMBERS else None
    return replace(found, wants=kinds.pop(), options=span.groups() if span else ())


_ENDS_IN_QUOTES = LazyPattern(r"([`'\"]{1,2})([^`'\"#]{1,40})\1\W*$")


_EXPLAINED = LazyPattern(r"['\"`]#['\"`] \([^()]*[`'\"]([^`'\"#]{1,40})[`'\"]\)\W*$")


def _only_value_in(found: FieldFault) -> tuple[str, ...]:
    """Return the value that is quoted last, and alone, in what is said of a place.

    It never stands for the work.
    """
    said = found.phrase.removeprefix("#")
    if explained := _EXPLAINED.search(said):
        return (explained[1],)
    last = _ENDS_IN_QUOTES.search(said)
    is_alone = found.is_exact and "#" not in said and len(OPTION.findall(said)) == 1
    is_work = not {*RESULT_WORDS}.isdisjoint(words_of(found.path[-1]))
    return (last[2],) if last and is_alone and not is_work else ()


_EXAMPLE = any_case(
    r"\b(?:e\. ?g\.|for (?:example|instance)|ad es(?:empio|\.)|z\. ?b\.|p\. ?ex\."
    r"|par exemple|p\. ?ej\.|por (?:ejemplo|exemplo)|bijv\.|np\.|např\."
    r"|f\. ?eks\.|t\. ?ex\.|pl\.)"
    r"[:,]? ?['\"]?(\d{1,6}(?:[.,]\d{1,3})?)['\"]?(?![\w/:-])"
)
"""A number that would be right, as in "un numero di ore, ad es. 1,5"."""
_LENGTHS = frozenset({"long", "short"})
"""A text is that, too, and not only a number of Java's."""
_OF_BODIES = word_set("json record root segment section model struct type")
"""What is said of any body, as in `json: unknown field`, and not only of a type."""


def day_shown_in(said: str) -> str:
    """Return the type of a day that is shown as an example: "like 2026-12-10"."""
    return "date %Y-%m-%d" if _A_DAY.search(said) else ""


_A_DAY = LazyPattern(r"(?<![\w-])\d{4}-[01]\d-[0-3]\d(?![\w-])")


def _shown_in(found: FieldFault) -> FieldFault | None:
    """Return what is said of a value with the day, or the example, that is shown."""
    if is_day(wants := wanted_type(found.phrase) or day_shown_in(found.phrase)):
        return replace(found, fault=Fault.TYPE, wants=wants, phrase="")
    example = _EXAMPLE.search(found.phrase)
    if example and (ID_WORDS | _MEANT).isdisjoint(words_of(found.path[-1])):
        return replace(found, options=(example[1],), phrase="")
    return None


def in_unknown_words(found: FieldFault, sent: JSON) -> FieldFault:
    """Return what is said of a value that is there, in words that are not understood.

    What they list may stand there instead, and so may what is of the type they name.
    """
    there = value_at(sent, found.path)
    if not found.phrase or there is None:
        return found
    return _shown_in(found) or _of_a_choice(found, there)


def _of_a_choice(found: FieldFault, there: JSON) -> FieldFault:
    """Return what is said of a value with those that are listed, or their type."""
    options = _listed_in(found, there)
    if options and _is_of_types(options):
        return replace(found, fault=Fault.TYPE, wants=type_of_word(options[0]))
    if options and type_of(there) not in map(type_of_word, options):
        return replace(found, options=options, phrase="")
    is_choice = not _CHOICES.isdisjoint(words_of(found.path[-1])[-1:])
    if is_choice and (chosen := _chosen_in(found.phrase, there)):
        return replace(found, options=(chosen,))
    return _of_type_in_words(found, there)


def _is_of_types(options: Iterable[str]) -> bool:
    return _TYPES_OF_VALUES.issuperset(map(type_of_word, options))


def _listed_in(found: FieldFault, there: JSON) -> tuple[str, ...]:
    """Return the values that are listed, or quoted at the end, in unknown words."""
    is_choice = not _CHOICES.isdisjoint(words_of(found.path[-1])[-1:])
    last = tuple(o for o in _only_value_in(found) if o != str(there))
    last = () if " " in str(there) and not is_choice else last
    listed = last or _options_in_prose(found.phrase, "" if is_choice else there)
    # The brackets of a pattern hold letters, and no values.
    squared = () if found.form else _in_square(found.phrase)
    return listed or listed_last(found.phrase) or squared


_SQUARE = LazyPattern(rf"\[['\"]?({BARE_ITEM})['\"]?\]")


def _in_square(said: str) -> tuple[str, ...]:
    """Return what stands in the only brackets that lists have, be it a single value."""
    listed = _SQUARE.findall(said)
    return items_in(listed[0]) if len(listed) == 1 else ()


def _of_type_in_words(found: FieldFault, there: JSON) -> FieldFault:
    """Return what is said of a value with the only type that a sentence names."""
    words = {*re.findall(r"[A-Za-z]+\d*", found.phrase)} - _LENGTHS - _OF_BODIES
    kinds = {*map(type_of_word, words)}
    is_number = type_of(there) in NUMBERS
    others = (kinds & _TYPES_OF_VALUES) - {type_of(there)}
    others -= NUMBERS if is_number else frozenset()
    if len(others) == 1:
        return replace(found, fault=Fault.TYPE, wants=others.pop(), phrase="")
    return found


_TYPES_OF_VALUES = JSON_TYPES | {"boolean", "uuid", "duration"}


def _is_container(name: str) -> bool:
    return spelling(name) in CONTAINERS | {"fields"}


_SENTENCES = LazyPattern(r"(?<=[.!?;])\s+")
_TOKEN = LazyPattern(
    rf"(?P<quote>(?<!\w)[`'\"\u201c\u2018]|\u00ab\s?|)(?P<name>{NAME})(?![^\W_])"
)
_ASCII_TOKEN = LazyPattern(_TOKEN.pattern, re.ASCII)

_FOREIGN = LazyPattern(r"[^\W\d_\u0000-\u036f]")
"""In a sentence of another script, what is written in this one is a name."""


@dataclass(frozen=True, slots=True)
class _Mention:
    """A word of a refusal that may be a name, whatever is said of it."""

    path: Path
    form: int
    """How much it is written as a name in a sentence: 2 in quotes, 1 with a `_`."""
    text: str
    """Where it stands."""


def mentioned(body: JSON, sent: JSON) -> tuple[str, ...]:
    """Return words of a refusal that may name what is missing, the likeliest first.

    They are no findings: only a trial tells. Of a page, whose words are mostly about
    itself, there are none.
    """
    names = leaf_names(sent)
    found = mentions_in(body, sent)
    found.sort(key=lambda one: -one.form)
    told = [one.path[-1] for one in found]
    return tuple(one for one in told if one not in names)


def perhaps_mentioned(body: JSON, sent: JSON) -> tuple[str, ...]:
    """Return words that stand where a name would, and may be any words."""
    told = [*_told_alone(body), *_plain_words(prose_of(body, sent))]
    names = leaf_names(sent)
    return tuple(one for one in dict.fromkeys(told) if one not in names)


def _told_alone(body: JSON) -> Iterator[str]:
    """Return the words that stand alone in a value, and in a sentence beside it.

    As in `{"refused": "The transcription is missing.", "see": "transcription"}`.
    """
    texts = [*islice(strings_in(body), MAX_FINDINGS)]
    words = {word for one in texts if " " in one for word in words_of(one)}
    for one in texts:
        if is_name(one) and one.islower() and words.issuperset(words_of(one)):
            yield one


def _plain_words(told: Iterable[str]) -> Iterator[str]:
    """Return the plain words that stand where a name would, in any language.

    What is listed behind a colon, as in "missing: loan, entry", and with what a text
    begins that does not begin as a sentence does: "brewer is required".
    """
    for clause in (c for text in told for c in _LINES.split(text)):
        listed = _BEHIND_A_COLON.search(clause)
        first = _FIRST_WORD.match(clause)
        words = items_in(listed[1]) if listed else (first[1],) if first else ()
        yield from (one for one in words if one.lower() not in NO_NAMES)


_BEHIND_A_COLON = LazyPattern(r"^[^:,]{1,100}: ([a-z]\w*(?:, ?[a-z]\w*){0,5})\W*$")
_FIRST_WORD = LazyPattern(r"([a-z]\w*) \S")


def mentions_in(body: JSON, sent: JSON) -> list[_Mention]:
    """Return what a refusal mentions that may be a name."""
    values = {one for one in strings_in(sent) if one}
    found: dict[Path, _Mention] = {}
    letters = MOST_LETTERS
    for way, value in islice(walk(body), MAX_NODES):
        if not isinstance(value, str) or value in values or letters <= 0:
            continue
        text = without_echo(value[:MAX_TEXT], sent)
        letters -= len(text)
        if text.lstrip()[:1] in {"[", "{"} and unpacked(text) is not None:
            continue  # it was read as a structure
        is_lone = text.isascii() and " " not in text.strip()
        key = spelling(way[-1]) if way else ""
        if is_lone and (key in BODY_KEYS or value[:1] == "/" or "://" in value):
            continue  # an address
        is_code = is_lone and (not way or key in PROSE_KEYS)
        read = partial(_mentioned_in, is_lone=is_lone, is_code=is_code)
        for one in chain.from_iterable(map(read, _LINES.split(text))):
            is_value = one.path[-1] in values
            is_better = one.path not in found or one.form > found[one.path].form
            if is_better and not is_value:
                found[one.path] = one
    return [*found.values()]


def _mentioned_in(text: str, *, is_lone: bool, is_code: bool) -> Iterator[_Mention]:
    is_foreign = bool(_FOREIGN.search(text))
    clean = OTHERS.sub(" ", text)
    # Some scripts have no space between a name and the word after it.
    more = _ASCII_TOKEN.finditer(clean) if is_foreign else ()
    for match in chain(_TOKEN.finditer(clean), more):
        name, is_quoted = match["name"], bool(match["quote"])
        if (is_foreign and not is_quoted and not name.isascii()) or is_class_name(name):
            continue
        if is_day(wanted_type(name)) or MEDIA_TYPE.match(name):
            continue  # the form of a date, as in "YYYY-MM-DD"; "text/plain"
        if _EXTRA_HEADER.match(name):
            yield _Mention((HEADER + name,), 2, text)
            continue
        words = [one for one in words_of(name) if not is_code or one not in VERDICTS]
        is_type = name.endswith(("Error", "Exception")) or name.isupper()
        known = NO_NAMES - WEAK_NAMES if is_quoted else NO_NAMES
        if not words or known.issuperset(words) or (is_type and not is_code):
            continue
        is_like_one = is_foreign or "[" in name or bool(HUMPED.search(name))
        is_like_one |= bool(_FROM_THE_BODY.match(name))
        form = 0 if is_lone else 2 if is_quoted else int(is_like_one)
        path = path_of("_".join(words) if is_code else name)
        if path and (form or not _MEANT.isdisjoint(words)):
            yield _Mention(path, form, text)


_FROM_THE_BODY = LazyPattern(r"(?:body|payload|\$)[./]\w")
"""A whole way, as in `body.confirmed`, of which the last word may be plain."""
_EXTRA_HEADER = LazyPattern(r"[Xx]-[A-Za-z]")
_MEANT = TASK_NOUNS.union(AGENT_NOUNS, RESULT_WORDS, EVIDENCE_WORDS, *NOUNS.values())
_MEANT -= NO_NAMES | {"by", "who"}


def named_in_passing(mentions: Iterable[_Mention], sent: JSON) -> list[FieldFault]:
    """Take names out of sentences that nobody understands."""
    names = leaf_names(sent)
    formed = [one for one in mentions if one.form]
    outside = [one for one in formed if not _is_in_brackets(one)]
    formed = outside or formed
    missed = [one for one in formed if one.path[-1] not in names]
    if len(missed) < len(formed):  # it may say which action has a name of ours
        missed = [one for one in missed if one.path[-1] not in _VERBS]
    # "Give your own agent_id as 'operator'" tells one name, and what it means.
    called = [one for one in missed if _is_called(one)]
    missed = called or missed
    if missed:
        return [
            FieldFault(
                one.path,
                Fault.MISSING,
                *_told_behind(one),
                is_exact=len(one.path) > 1,
                phrase=phrase_of(one.text, one.path),
            )
            for one in missed
        ]
    most = max((one.form for one in formed), default=0)
    clear = [one for one in formed if one.form == most]
    return [fault_at(one.path, one.text, is_exact=False) for one in clear]


def _told_behind(one: _Mention) -> tuple[str, tuple[str, ...]]:
    """Return the form of a day, or the codes, that stand in brackets behind a name."""
    behind = _BRACKETS_BEHIND.match(one.text.partition(one.path[-1])[2])
    wants = wanted_type(behind[0]) if behind else ""
    codes = options_in(behind[0]) if behind else ()
    return (wants, ()) if is_day(wants) else ("", codes)


_BRACKETS_BEHIND = LazyPattern(r"[`'\"\u201d\u00bb]? ?\(([^()]{1,120})\)")


def _is_in_brackets(one: _Mention) -> bool:
    """Return whether a word explains a name that stands before it in quotes."""
    shown = re.escape(one.path[-1])
    return bool(re.search(rf"[`'\"] ?\([^()]*[`'\"]{shown}[`'\"]\)", one.text))


def named_besides(
    found: Iterable[FieldFault], mentions: Iterable[_Mention], sent: JSON
) -> list[FieldFault]:
    """Take the names out of the other sentences, where some are understood."""
    names = {one.path[-1] for one in found} | leaf_names(sent)
    others = [o for o in mentions if o.form and not names & {*re.findall(NAME, o.text)}]
    return named_in_passing(others, sent)


def said_of_one(body: JSON, sent: JSON) -> Iterator[FieldFault]:
    """Take what is said of the only name of ours in a clause that nobody understands.

    Or of the only whole way, as in `body/results/0`. A plain word of the trade, such as
    `result`, is a name where a type or values follow.
    """
    ours = [path for path, _ in leaves_of(sent) if path]
    ways = {path[-1]: path for path in ours} | {".".join(path): path for path in ours}
    alone = {*strings_in(body)}
    for clause in (c for text in prose_of(body, sent) for c in _LINES.split(text)):
        named = {word: ways[word] for word in re.findall(NAME, clause) if word in ways}
        named = named or _whole_ways(clause, sent)
        # As in `{"note": "labels must be a list of props", "about": "labels"}`.
        named = {one: named[one] for one in named if one in alone} or named
        if len(named) == 1 and (" " in clause or not clause.isascii()):
            ((name, path),) = named.items()
            said = clause.replace(name, ".".join(path))
            found = in_unknown_words(fault_at(path, said), sent)
            is_plain = found.phrase and _MEANT.issuperset(words_of(name))
            if found.fault in {Fault.TYPE, Fault.VALUE} and not is_plain:
                yield found


_WAY = LazyPattern(r"[\w$]+(?:(?:/|\.|\[)[\w$]+\]?)+")


def _whole_ways(clause: str, sent: JSON) -> dict[str, Path]:
    """Return the ways into our body that a clause has, or that end what it has."""
    there = {way for way, _ in islice(walk(sent), MAX_NODES) if way}
    found = {}
    for word in _WAY.findall(clause):
        parts = tuple(re.findall(r"[\w$]+", word))
        ends = (parts[i:] for i in range(min(len(parts), 3)))
        if way := next((one for one in ends if one in there), None):
            found[word] = way
    return found


def named_on_the_way(told: Iterable[str], sent: JSON) -> list[FieldFault]:
    """Take the new name at the end of a way into an object of ours, whatever is said.

    As in `At path: result.type`; the only value that is quoted there is what is wanted.
    """
    objects = {*_objects_in(sent)}
    found: dict[Path, FieldFault] = {}
    for clause in (one for text in told for one in _LINES.split(text)):
        for word in _WAY.findall(clause):
            parts = tuple(re.findall(r"[\w$]+", word))
            ways = (parts[i:] for i in range(min(len(parts) - 1, 3)))
            way = next((one for one in ways if one[:-1] in objects), None)
            if way and value_at(sent, way) is None:
                shown = {*OPTION.findall(clause.replace(word, ""))}
                options = tuple(shown) if len(shown) == 1 else ()
                found[way] = FieldFault(way, Fault.MISSING, options=options)
    return [*found.values()]


def named_in_list(told: Iterable[str], sent: JSON) -> list[FieldFault]:
    """Take the names of a list, whatever is said of them.

    What is listed with names of ours lacks: "send json with: item_id, annotation". In a
    list as JSON has it they lack, too, if none is ours, and are too much if all are.
    """
    clauses = (one for text in told for one in _LINES.split(text))
    return [found for one in clauses for found in _named_in(one, sent)]


def _named_in(clause: str, sent: JSON) -> Iterator[FieldFault]:
    names, ours = leaf_names(sent), {*strings_in(sent)}
    whole = _JSON_LIST.search(clause)
    listed = whole or _LISTED.search(clause)
    items = items_in(next(filter(None, listed.groups()))) if listed else ()
    known = [one for one in items if one in names]
    others = [one for one in items if one not in names]
    are_names = bool(items) and all(map(is_name, items)) and ours.isdisjoint(items)
    quoted = (f"{mark}{one}{mark}" for one in ours for mark in "\"'`")
    are_names &= not any(one in clause for one in quoted)  # it is of a value
    are_names &= len({*items}) == len(items)
    are_names &= _TYPES_OF_VALUES.isdisjoint(map(type_of_word, others))
    rest = clause.replace(listed[0], "") if listed else ""
    outside = names.intersection(OPTION.findall(rest)) - {*items}
    if are_names and known and len(items) > 1 and len(outside) == 1:
        # As in: the field "agentId" is new here (2 are known: "taskId", "version").
        yield FieldFault((*outside,), Fault.UNKNOWN, is_exact=False)
        for name in items:
            yield FieldFault((name,), Fault.ALLOWED, is_exact=False)
    elif are_names and others and (known or whole):
        for name in others:
            yield FieldFault((name,), Fault.MISSING, is_exact=False)
    elif are_names and (len(known) > 1 or (known and _is_listed(clause))):
        for name in known:
            yield FieldFault((name,), Fault.UNKNOWN, is_exact=False)


_HUMPED_NAME = r"[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+(?:__c)?"
_JSON_LIST = LazyPattern(
    r"(?<![^\s(:=])\[ ?(\"[\w.-]{1,40}\"(?:, ?\"[\w.-]{1,40}\")*"
    rf"|{_HUMPED_NAME}(?:, ?{_HUMPED_NAME})+) ?\]"
)


def _is_listed(clause: str) -> bool:
    """Return whether a list stands where one ends a sentence, be it of one name."""
    return bool(_LIST_OF_ONE.search(clause))


_LIST_OF_ONE = LazyPattern(r"[(:=] ?\[ ?\"")
_QUOTED_NAME = r"[`'\"][\w.-]{1,40}[`'\"]"
_LISTED = LazyPattern(
    rf"({_QUOTED_NAME}(?:, ?{_QUOTED_NAME})+)"
    rf"|: ({BARE_ITEM}(?:, ?(?:and )?{BARE_ITEM})+)\W*$"
)


_VERBS = word_set("claim submit complete")


def _is_called(one: _Mention) -> bool:
    """Return whether a sentence says that something is to be called so."""
    name = re.escape(one.path[-1])
    return one.form > 1 and bool(
        re.search(rf"\bas [`'\"\u201c\u2018]{name}\b", one.text)
    )
