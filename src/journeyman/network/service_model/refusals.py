"""What a refusal says of the body it refuses: any style, read into the same findings.

The contract shows no errors. Whatever the style, a fault is a sentence about a place.
A structure (pydantic, zod, ajv, problem details, JSON:API, google.rpc, Rails, Laravel,
Django, ASP.NET) has the place in a field or a key beside the sentence, and a line of
text before it, as in `task.id: must be an integer`; how some frameworks write that
(fastify, Jackson, graphql-js) is rewritten so first. Else the names in the sentence
are the places. A few words tell what is wrong there. Where no word is understood, a
name that our body lacks is taken as missing, and a value that it has as wrong, wherever
they stand (decision 0113). Nothing here raises.
"""

import json
import re
from collections.abc import (
    Callable,
    Collection,
    Container,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from http import HTTPStatus
from itertools import chain, islice, product, takewhile
from types import MappingProxyType

from journeyman.domain.tasks import JSON
from journeyman.network.call import CONTENT_TYPE, FORM_TYPE
from journeyman.network.endpoints import ENDPOINTS
from journeyman.network.headers import OWN_HEADERS
from journeyman.network.json_text import UnreadableJSONError, parse
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
    NUMERAL,
    Path,
    in_order,
    type_of,
    value_at,
    walk,
    word_set,
    words_of,
)
from journeyman.network.service_model.notation import (
    MOST_LETTERS,
    NAME,
    from_python,
    in_json_types,
    in_short,
    rewritten,
)
from journeyman.network.service_model.reading import spelling
from journeyman.network.service_model.request import (
    HEADER,
    QUERY,
    WHOLE,
    is_day,
    is_outside,
    leaves_of,
)


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


MAX_TEXT = 600
"""In characters, of one sentence: searching it is what costs time."""
_MAX_FINDINGS = 60
_MAX_DEPTH = 10
_MAX_NODES = 400
"""Of sentences, in all: each may be searched for several things."""
_MAX_SAID = 2 * MAX_TEXT
"""Of one fault."""


# -- what is wrong ---------------------------------------------------------------

_TYPES: Mapping[str, str] = {
    word: kind
    for kind, words in {
        "string": "str string text varchar char",
        "integer": "int int16 int32 int64 integer long bigint whole short uint uint64"
        " u8 u16 u32 u64 i32 i64 usize",
        "number": "number float double decimal numeric float64 f64 f32",
        "object": "type internally adjacently tagged object dict dictionary map mapping"
        " struct structure hash record model jsonobject input",
        "array": "array list slice sequence iter",
        "boolean": "bool boolean true false",
        "duration": "duration",
        "uuid": "uuid guid",
        "datetime": "datetime date timestamp instant time offsetdatetime iso iso8601",
        "iri": "iri url uri hyperlink",
        "id": "pk id objectid mongodb ulid identifier primary",
    }.items()
    for word in words.split()
}
_UNKNOWN = any_case(
    r"unknown(?! (?:variant|value|enum))|unrecogni[sz]ed|unexpected(?! (?:json )?token)"
    r"|only defined|unpermitted"
    r"|unsupported|unspecified|disallowed|additional|\bextra\b|extra_forbidden|superfluous|prohibited"
    r"|not allowed|not be (?:allowed|sent|set\b(?! to))"
    r"|not (?:exist\b|defined)"
    r"|not (?:an? )?(?:permitted|recogni[sz]ed|supported|expected|have)|no such"
    r"|should not be present"
    r"|not found (?:in|on) (?:input )?type|does(?: not|n't) define"
    r"|must be (?:removed|omitted)|forbidden (?:field|key|propert|param)"
    r"|(?:did|does|do)(?: not|n't) (?:expect|allow|send)|wrong (?:field|key)|\brogue\b"
    r"|extraneous|not (?:part of|in) (?:the |its |this )?schema"
    r"|not part of (?:the|this) (?:request|body)|read[- ]?only(?! [\[{])|cannot set"
    r"|has no column|remove (?:it|this|them)\b"
    # In the languages of Laravel's and Symfony's translations that are used most
    r"|inconnu|unbekannt|desconoci|desconheci|sconosciut|onbekend|nieznan|неизвестн|未知"
    r"|not an? (?:valid|known) (?:field|key|propert|param)"
    r"|expected (?:a value of type )?`?never"
    r"|(?:could not|cannot) (?:find|be mapped)"
    r"|invalid (?:for|on) (?:the |this )?(?:entity|type|object|schema|resource)"
    r"|invalid (?:field|key|propert|param)\w*(?!:? expected)"
)
_MISSING = any_case(
    r"missing|required(?! to )|requires|undefined|mandatory|\bblank\b|not[_ -]?null"
    r"|\bmust exist\b"
    r"|\bneed(?:s|ed)?\b(?! (?:to|a|an) )"
    r"|null value|absent|(?:must not|should not|can ?not|can't|may not) be"
    r" (?:empty|null|blank|nil)|is (?:empty|null|nil)"
    r"|(?:not|n't) (?:provided|present|supplied|given|set\b)|null given"
    r"|must be (?:provided|present|set|specified|supplied|given)|received null"
    r"|(?:must|should|please|to)"
    r" (?:include|provide|contain|specify|have|send|supply|give)"
    r"|\bwanting\b|\b(?:key|field|property|parameter|member) \S+ (?:was |is )?not found"
    r"|erforderlich|fehlt|obligatoire|requis|manquant|obligatori[oa]|requerid[oa]|falta"
    r"|obrigatóri[oa]|obbligatori[oa]|verplicht|ontbreekt|wymagan|обязател|必須|必填"
    r"|at least (?:1|one) (?:rune|char|element|item)"
    r"|\bno \S+ (?:given|provided|supplied|specified)|expected an? \w+ (?:named|called)"
)
_ABSENT = any_case(
    r"(?:no such|(?:could not|cannot|can't|did not) find(?: the| an?| any)?)"
    r" (?:key|field|member|property|attribute|param)"
)
"""Of a name: one that is not there though it should be, or though it should not."""
_INVALID = any_case(r"invalid|not valid|malformed|incorrect|failed")
_TYPE_SAID = (
    any_case(
        r"\b(?:expect(?:ed|ing|s)|be|use|provide|valid|format|of type"
        r"|(?:converted?|deserialized?|cast) (?:in)?to|syntax for type)"
        r"(?=:?(?: an?| valid| type| of type| json)*[ ._:]"
        r"[`'\"]?(?:\w+\.)*(?P<type>\w+))"
    ),
    any_case(r"expected start of the (?P<type>object|array)\b"),
    # Python's schema and colander
    any_case(r"\binstance of '(?P<type>\w+)'"),
    any_case(r"\bis not (?P<type>iter)able\b"),
    # Google: Invalid value at 'result' (type.googleapis.com/v1.TaskResult), "..."
    any_case(r"invalid value at '[\w.]+' \((?:TYPE_)?(?P<type>[a-z0-9]+)"),
    # Of a type of the service's own, which is one of these.
    LazyPattern(r"\bvalid [A-Z]\w+ (?P<type>object|array|list|string)\b"),
    LazyPattern(r"required type \"\w*(?P<type>Input)!"),
    LazyPattern(r"(?P<type>[a-z]+)_(?:type|parsing|attributes_type)\b"),
    any_case(r"^(?P<type>string|integer|number|object|array|boolean|uuid)$"),
    # Stripe: Invalid integer: twelve
    any_case(
        r"\binvalid (?P<type>string|integer|object|array|boolean|iso|datetime"
        r"|hyperlink)"
        r"(?=:| - |\W*$)"
    ),
    any_case(
        r"\ba(?:n|\(n\))?"
        r" (?P<type>whole|integer|number|string|boolean|object|uuid|date)\b"
        r"(?= (?:number )?(?:of|in|from|between)\b|\W*$)"
    ),
    any_case(
        r"\b(?:is|be) not a(?:n|\(n\))? (?P<type>array|list|bool(?:ean)?|int(?:eger)?"
        r"|number|double|string|uuid|object|dictionary)\W*$"
    ),
    # Django REST, Joi, Go
    any_case(r"(?P<type>\w+) has wrong format\b"),
    LazyPattern(r"on the '(?P<type>[a-z]+)\d?' tag"),
    any_case(r"\bin (?P<type>iso) 8601"),
    any_case(r"parsing (?P<type>time) "),
    any_case(r"\bbe of (?P<type>\w+) type\b"),
    any_case(r"\b(?:invalid|wrong)[_ ]type[:=] ?(?P<type>\w+)"),
    any_case(r"\bas (?:an? )?(?P<type>object|array|list|string|number|integer)\b"),
    # As other languages say it: muss vom Typ object sein, doit être de type string
    any_case(
        r"\bt(?:yp|ype|ipo|ypu|ипа?)"
        r" (?P<type>string|integer|number|object|array|boolean)\b"
    ),
)
_DAY = LazyPattern(
    r"\b(?:YYYY-MM-DD|yyyy-(?:MM|mm)-dd|Y-m-d)\b(?![T ']*[Hh])|%Y-%m-%d(?![T ]*%)"
)
"""How a date without a time is written, as different languages say it."""
_DAY_OF_A_COUNTRY = LazyPattern(
    r"(?<![\w%])(([A-Za-z])\2(?:\2\2)?)([./-])(([A-Za-z])\5)\3(([A-Za-z])\7(?:\7\7)?)(?!\w)"
)
"""The same in another order and in any language, as in TT.MM.JJJJ and JJ/MM/AAAA."""
_TO_COME = any_case(
    r"\bin the (?:future|past)\b|\bfuture (?:date|time|moment|instant)\b"
    r"|\b(?:after|later than|greater than) (?:now|today|the current)\b"
)
"""Of a time: one that is still to come is wanted."""
_KEY_BUT_NO_TEXT = any_case(r"expected pk value, received str\b")
"""Django REST, of what refers to a record: a text that is none of its keys."""
_OF_A_RELATION = any_case(r"\bmust exist\b|object does not exist\b")
"""ActiveRecord and Django REST, of the key of another record."""
_ACCEPTED = any_case(r"must be (?:accepted|confirmed|agreed|acknowledged|checked)\b")
_OWN_TYPE = LazyPattern(
    r"(?:cannot unmarshal \w+ into .* of type|could not be converted to"
    r"|Cannot construct instance of) `?(?:\w+\.)+[A-Z]"
    r"|\bof type (?:\w+\\)+[A-Z]"
)
_BAD_TYPE = any_case(r"\b(?:invalid|wrong|bad)[ _]type\b")
_QUOTED_ITEM = (
    r"[`'\"\u201c\u2018\u00ab]"
    r"[^`'\"\u201c\u201d\u2019\u00bb]{1,80}[`'\"\u201d\u2019\u00bb]"
)
_BARE_ITEM = r"[\w.:+-]{1,40}"
_BETWEEN = r"\s*(?:,\s*(?:or |and )?|\||/|\bor\b|\boder\b|\bund\b)\s*"
_QUOTED_SET = LazyPattern(rf"{_QUOTED_ITEM}(?:(?:{_BETWEEN}|\s+and\s+){_QUOTED_ITEM})+")
_ALTERNATIVES = LazyPattern(
    rf"(?<=: ){_QUOTED_ITEM}(?:,\s*{_QUOTED_ITEM})*,? or {_QUOTED_ITEM}\W*$"
)
"""As in "accepted is required: 'yes' or 'no'": names that are missed have "and"."""
_PIPED = LazyPattern(rf"(?<![\w|]){_BARE_ITEM}(?:\|{_BARE_ITEM})+(?![\w|])")
_OPTIONS = any_case(
    r"(?:must|should|has to|needs to)"
    r" (?:be (?:one of|equal to|exactly|either)|equal"
    r"|match(?! (?:the )?(?:format|pattern)\b))"
    r"(?P<one>.{1,340})"
    r"|(?:must|should|has to|needs to) be"
    rf" (?P<set>{_BARE_ITEM}(?:{_BETWEEN}{_BARE_ITEM})+)"
    r"|(?:must|should|has to|needs to) be"
    r" (?P<literal>(?-i:[A-Z][A-Z0-9_]*|true|yes)|\d{1,4})\W*$"
    rf"|\bis not (?P<others>{_BARE_ITEM}(?:, {_BARE_ITEM})+,? or {_BARE_ITEM})\W*$"
    r"|one of:? (?P<capitals>(?-i:[A-Z][A-Z0-9_]+(?: [A-Z][A-Z0-9_]+)+))"
    rf"|^(?P<whole>{_BARE_ITEM}(?:{_BETWEEN}{_BARE_ITEM}){{1,9}})$"
    r"|(?:must|should) be (?P<quoted>[`'\"\u201c].{1,200})"
    r"|(?:one of|expected(?: the literal| tags)?|allowed values?(?: are)?"
    r"|options?(?: are)?|\bin):?\s*(?P<listed>[\[(]?[`'\"\u201c].{1,300})"
    r"|(?:one of|enum(?: class)?|set|list|values?|options?|choices?|valid|allowed"
    r"|accepted|known|supported|either|zulässig|erlaubt)(?: are| sind| ist)?:?\s*"
    rf"[\[({{]?(?P<bare>{_BARE_ITEM}(?:{_BETWEEN}{_BARE_ITEM}){{1,19}})(?:[\])}}]|\W*$)"
)
_OPTION = LazyPattern(r"[`'\"\u201c]([^`'\"\u201d]{1,80})[`'\"\u201d]")
_OF_ONE = LazyPattern(r"\bbe \[(?=\w)")
"""Joi, of the only value that it would take."""
_TAIL = LazyPattern(r":\s*([\w.:+/-]{1,40}(?:,\s*[\w.:+/-]{1,40})+)\W*$")
"""Where a sentence about a value ends in a list, in any language."""
_ONLY_ONE = any_case(
    r"(?:\b(?:allowed|valid|accepted|supported|possible|one of|only|from|sein|ser|être"
    r"|essere|zijn|być)(?: \w+){0,3}:|\bmust be(?= \S+ \(was)|\bbe in \(|\bone of"
    r"|expected \()\s*"
    rf"[\[({{]?[`'\"]?({_BARE_ITEM})[`'\"]?(?:[\])}}]{{0,2}}\W*$|\) but\b| \(was\b)"
)
"""Where but one is listed, as in "Cannot go from done to done. Allowed: closed."."""
_CHOICE = any_case(
    r"\b(?:choose|pick|select|(?:be|not) one of|be in"
    r"|(?:allowed|valid|accepted) values?|must be \S+ \(was)\b"
)
_RANGE = any_case(
    r"\b(?:between|from|in (?:the )?range(?: of)?|within)\W{1,2}"
    r"(?P<least>-?\d+(?:\.\d+)?s?)(?: and | to | ?\.\.\.? ?|, ?| ?[-\u2013] ?)"
    r"(?P<most>-?\d+(?:\.\d+)?s?)"
)
_STRICT = any_case(
    r"must not have additional|additional (?:properties|fields|keys) (?:are )?not"
    r"|(?:unknown|unexpected|extra|unrecognized) (?:fields|properties|keys)\W*$"
)


def type_of_word(word: str) -> str:
    """Return the JSON type that a word means in some language; empty if in none."""
    last = word.strip(".").rpartition(".")[2].lower().removeprefix("js")
    return _TYPES.get(last.rstrip("s"), "") or _TYPES.get(last, "")


_CODE = LazyPattern(
    r"(?<!\S)[A-Za-z]+(?:[_-][A-Za-z]+)+(?!\S)|^[a-z]+(?:[A-Z][a-z]+)+$"
)
"""As in `NOT_ALLOWED`, `unknown-field` and `notAllowed`."""


def fault_in(said: str) -> Fault | None:
    """Judge what is said of a value that is named elsewhere; None tells nothing."""
    said = said[:MAX_TEXT]
    said = _CODE.sub(lambda code: " ".join(words_of(code[0])), said)
    if _UNKNOWN.search(said):
        return Fault.UNKNOWN
    return Fault.MISSING if _MISSING.search(said) else None


def wanted_type(said: str) -> str:
    """Return the type that is asked for; empty when none is."""
    said = in_json_types(said[:MAX_TEXT])
    if _KEY_BUT_NO_TEXT.search(said):
        return "integer"
    if _TO_COME.search(said):
        return AHEAD
    if day := _day_in(said):
        return day
    words = (m["type"] for one in _TYPE_SAID for m in one.finditer(said))
    told = next(filter(None, map(type_of_word, words)), "")
    if not told and _ACCEPTED.search(said):
        return "boolean"
    # Go and .NET, of a type of the service's own.
    return told or ("object" if _OWN_TYPE.search(said) else "")


def _day_in(said: str) -> str:
    """Return how a date is to be written that a sentence shows; empty if it does not.

    As `date`, or as `date %d.%m.%Y`. The year has four letters, and a month begins with
    an M in more languages than a day or a year do.
    """
    if _DAY.search(said):
        return "date"
    shown = _DAY_OF_A_COUNTRY.search(said)
    parts = [part.upper() for part in shown.group(1, 4, 6)] if shown else []
    if not shown or sorted(map(len, parts)) != [2, 2, 4] or parts.count("MM") != 1:
        return ""
    codes = ("%Y" if len(one) > 2 else "%m" if one == "MM" else "%d" for one in parts)  # noqa: PLR2004 - letters
    return f"date {shown[3].join(codes)}"


def options_in(said: str, *, is_value: bool = True) -> tuple[str, ...]:
    """Return the values that a sentence would take; of a range, both ends.

    `is_value`: the sentence is about a value. Else a list in it may be one of names.
    """
    said = _OF_ONE.sub("be one of [", said[:MAX_TEXT])
    said = _PATTERN.sub(" ", said)
    plain = (_QUOTED_SET if is_value else _ALTERNATIVES).search(said)
    plain = plain or _PIPED.search(said)
    if plain is not None:
        return _items_in(plain[0])
    match = _OPTIONS.search(said)
    if match is None:
        within = _RANGE.search(said)
        return (within["least"], within["most"]) if within else ()
    text = next(filter(None, match.groups()), "")
    if match["literal"] or match["capitals"]:
        words = text.split()[:_MAX_OPTIONS]
        return tuple(w for w in words if not (type_of_word(w) or w in _KINDS))
    quoted = tuple(_OPTION.findall(text))
    if len(quoted) == 1 and ", " in quoted[0]:
        quoted = _items_in(quoted[0])  # all in one pair of quotes, as huma has them
    if quoted or match["quoted"] or match["listed"]:
        return quoted[:_MAX_OPTIONS]
    items = _items_in(text.rpartition(":")[2])
    is_code = bool(match["whole"]) and "/" in text and "." in text
    is_list = (
        (len(items) > 1 or text.lstrip()[:1] == "[")
        and not is_code
        and not _COUNTS.issuperset(items)
        and all(re.fullmatch(rf"{_BARE_ITEM}(?:/{_BARE_ITEM})?", one) for one in items)
    )
    is_either = not (match["set"] or match["whole"]) or re.search(r"\bor\b|[/|]", text)
    return items if is_list and is_either else ()


_MAX_OPTIONS = 20
_COUNTS = word_set("one two three four five six seven eight nine ten")
"""Such as "two or three letters"."""
_KINDS = frozenset({"JSON", "URL", "URI", "HTTPS", "ISO", "UTF", "PDF", "CSV", "HTML"})
"""In capitals, and no value."""
_OBJECTS = frozenset({"object", "array"})


def _items_in(listed: str) -> tuple[str, ...]:
    parts = re.split(r",|\||\b(?:or|and|oder|und)\b", listed)
    # A stroke is part of an item, as in `text/plain`, where something else is between.
    parts = parts if len(parts) > 1 else listed.split("/")
    items = (
        one.strip(" .[](){}`'\"\u201c\u201d\u2018\u2019\u00ab\u00bb") for one in parts
    )
    return tuple(filter(None, items))[:_MAX_OPTIONS]


_INTRODUCED = any_case(
    r"^(?:(?:invalid|error|bad|in|at|for|field|value|element|property|attribute) )+"
)
"""What may stand before a name and its colon."""
_OF_A_FIELD = any_case(r"\b(?:fields?|propert(?:y|ies)|attributes?|parameters?)\b")
_OF_A_DOCUMENT = any_case(r"\bdocument must (?:have|be|not have)\b")
"""CouchDB, whose rules for what may be written answer with 403."""
_OF_A_RIGHT = any_case(
    r"header|scope|permission|\brole|token|key|credential|log ?in|\bplan\b|subscri"
)


def names_a_field(message: str) -> bool:
    """Return whether words are about a field of the body, and not about a right."""
    said = message[:MAX_TEXT]
    is_of_field = _OF_A_FIELD.search(said) or _OF_A_DOCUMENT.search(said)
    return bool(is_of_field) and not _OF_A_RIGHT.search(said)


def says_strict(body: JSON, message: str) -> bool:
    """Return whether a refusal says, without names, that our body has too much."""
    texts = [message, *_strings(body)]
    return any(_STRICT.search(text[:MAX_TEXT]) for text in texts)


def is_typed(body: JSON) -> bool:
    """Return whether a refusal is of a type of GraphQL, which takes no other names."""
    return any(_OF_GRAPHQL_TYPE.match(text) for text in _strings(body))


def seeks_a_function(message: str) -> bool:
    """Return whether what is absent is a function of these names, as in PostgREST."""
    return bool(_SOUGHT.search(message[:MAX_TEXT]))


def without_echo(text: str, sent: JSON) -> str:
    """Return words without our body, which says nothing where it is repeated.

    Its end may be missing there.
    """
    inside = (one for _, one in walk(sent) if isinstance(one, dict) and one)
    for one, write in product([sent, *islice(inside, _MAX_DEPTH)], _NOTATIONS):
        echo = write(one)
        begins = text.find(echo[:_SHORTEST_ECHO])
        if begins >= 0 and len(echo) > _SHORTEST_ECHO:
            pairs = zip(text[begins:], echo, strict=False)
            length = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
            rest = text[begins + length :]
            # What goes on otherwise is a body that is shown as it should be.
            if length == len(echo) or rest.lstrip("\"'`) ")[:1] in {"", ".", "\u2026"}:
                text = text[:begins] + rest
    return text


_NOTATIONS: tuple[Callable[[JSON], str], ...] = (
    json.dumps,
    partial(json.dumps, separators=(",", ":")),
    repr,  # as frameworks of Python show a body
)
_SHORTEST_ECHO = 8


def _strings(body: JSON) -> Iterator[str]:
    values = (value for _, value in islice(walk(body), _MAX_NODES))
    return (value for value in values if isinstance(value, str))


def _fault_at(path: Path, said: str, *, is_exact: bool = True) -> FieldFault:
    """Return what is said of a value whose place is known."""
    path = _with_tag(path, said)
    # Its name is no type, as in `Expected "type"`.
    told = said.replace(f'"{path[-1]}"', "") if path else said
    fault, wants = fault_in(said), wanted_type(told)
    options = options_in(said, is_value=fault is None)
    is_no_choice = is_day(wants) or bool(path and path[-1] in options)
    options = () if is_no_choice else options  # the parts of a date, or its own name
    if _OBJECTS & {*options} and all(map(type_of_word, options)):
        wants, options = type_of_word(options[0]), ()  # as in "either object or array"
    listed = _TAIL.search(said) or _INSTEAD.search(said) or _ONLY_ONE.search(said)
    if (
        fault is None
        and not (options or wants)
        and listed
        and (path or _CHOICE.search(said))
    ):
        options = _items_in(listed[1])
    wants = _type_told(wants, options, said, is_missed=fault is Fault.MISSING)
    if fault is None and _BAD_TYPE.search(said):
        fault = Fault.TYPE
    elif fault is None or re.search(r"\b[Aa] valid \w+ is required", said):
        fault = Fault.TYPE if wants and not options else Fault.VALUE
    is_understood = fault is not Fault.VALUE or options or not path
    phrase = "" if is_understood else phrase_of(said, path)
    form = form_in(said)
    means = _meant_in(said, path)
    return FieldFault(
        path, fault, wants, options, is_exact, means=means, phrase=phrase, form=form
    )


def _meant_in(said: str, path: Path) -> str:
    """Return which of our values a sentence names that does not name its field.

    As "must be the agent_id of the worker" says beside `"field": "performer"`.
    """
    named = {spelling(word) for word in re.findall(NAME, said)}
    is_ours = "agentid" in named and path and spelling(path[-1]) not in named
    return "agent_id" if is_ours else ""


def _type_told(
    wants: str, options: tuple[str, ...], said: str, *, is_missed: bool
) -> str:
    """Return the type that is wanted, also as the options show it."""
    is_quoted = bool(options) and bool(
        re.search(rf"[`'\"]{re.escape(options[0])}", said)
    )
    if not wants and _OF_A_RELATION.search(said):
        wants = "id"
    if wants == AHEAD and is_missed:
        wants = "datetime"
    if options and not (wants or is_quoted) and all(map(NUMERAL.fullmatch, options)):
        wants = "number"
    if options and {one.lower() for one in options} <= {"true", "false"}:
        wants = "boolean"
    return wants


_TAG_FOUND = any_case(r"input tag '[^']{0,80}' found using '(?P<name>\w+)'")


def _with_tag(path: Path, said: str) -> Path:
    """Return the way to the member that pydantic calls the tag of an object."""
    tag = _TAG_FOUND.search(said) if path else None
    return (*path, tag["name"]) if tag else path


def form_in(said: str) -> str:
    """Return an expression for the form of a value that is shown; empty if none is.

    As in "award_no is required (V-...)" or "must be shelves/{shelf}/books/{book}".
    """
    if template := _TEMPLATE.search(said[:MAX_TEXT]):
        parts = (re.escape(one) for one in _BRACES.split(template[0]))
        return "[^/]+".join(parts)
    if (pattern := _PATTERN.search(said[:MAX_TEXT])) and _is_cheap(pattern["form"]):
        return pattern["form"]
    begun = {one[1] or one[2] for one in _FORM_SHOWN.finditer(said[:MAX_TEXT])}
    return f"{re.escape(begun.pop())}.+" if len(begun) == 1 else ""


def _is_cheap(pattern: str) -> bool:
    """Return whether an expression of a stranger's can be tried on a short text."""
    try:
        re.compile(pattern)
    except re.error:
        return False
    return len(_VARIABLE_PARTS.findall(pattern)) <= _MOST_VARIABLE_PARTS


_PATTERN = any_case(
    r"\bmatch\b[^`'\"/^]{0,40}[`'\"/]?\^?(?=[^`'\"/]{0,80}[\[\\+*?{])"
    r"(?P<form>(?:(?:[\w@:-]|\\[dw.-]|\[[\w\\^.:-]+\])"
    r"(?:[+*?]|\{\d{1,2}(?:,\d{0,2})?\})?){1,30})\$?[`'\"/](?![\w(])"
)
"""A pattern without groups or alternatives: matching it takes no time to speak of."""
_VARIABLE_PARTS = LazyPattern(r"[+*?]|\{\d+,")
_MOST_VARIABLE_PARTS = 2
"""Of any number of letters, or of several: each is one more power of the time."""
_TEMPLATE = LazyPattern(
    r"(?<![\w/])(?:[\w.-]{1,40}/\{[\w.=*-]{1,40}\}(?:/(?=\w))?){1,6}"
)
_BRACES = LazyPattern(r"\{[^}]*\}")
_FORM_SHOWN = LazyPattern(
    r"(?<![\w-])([A-Za-z]{1,8}[-_])(?:\.{2,}|\u2026|[xX#0*]{2,}(?!\w)|<)"
    r"|\^([A-Za-z]{1,8}[-_])[\[\\(.]"
)


def phrase_of(said: str, path: Path) -> str:
    """Return what is said of a place without its name."""
    names = sorted({".".join(path), "/".join(path), path[-1]}, key=len, reverse=True)
    any_name = "|".join(map(re.escape, names))
    return re.sub(rf"(?<![^\W_])(?:{any_name})(?![^\W_])", "#", said[:MAX_TEXT])


# -- sentences -------------------------------------------------------------------

_QUOTE = r"[`'\"\u201c\u201d\u2018\u2019\u00ab\u00bb]?"
_QUOTED = rf"{_QUOTE}{NAME}{_QUOTE}"
_NAMES = (
    rf"(?P<names>{_QUOTED}(?:(?:,\s*(?:and\s+)?|\s+and\s+|\s+or\s+){_QUOTED}){{0,12}})"
)
_NOUN = (
    r"(?:keyword argument|field|propert(?:y|ie)|parameter|param|argument|key|column"
    r"|attribute|input|keyword|item(?= ['\"`])|member|variable|element|value|object"
    r"|name|campo|champ|feld|veld|pole)(?:\(s\)|s|(?!\(s\)))(?![a-z_])"
)
_NOUN_AFTER = LazyPattern(rf"(?<=[`'\"]) {_NOUN}$")
_OF_RAILS = LazyPattern(
    r"^([A-Z][a-z]+(?: [a-z]+){0,3}) (?:must exist$"
    r"|(?=can't be blank$|is not included in the list$))",
    re.MULTILINE,
)
"""ActiveModel tells of a relation, and of any attribute, as people call it."""


_OF_GRAPHQL = LazyPattern(r"Variable \"\$(\w+)\" of (?=required|non-null)")
_OF_GRAPHQL_TYPE = LazyPattern(r"Variable \"\$\w+\" (?:of|got invalid)")
_SIGNATURE = any_case(
    r"(?:perhaps you meant|did you mean|usage:|expected signature)[^()]{0,80}?"
    r"\b[\w.]+\((?P<names>\w*(?:, ?\w+)*)\)"
)
"""A function is named with all the arguments that it takes, as PostgREST does."""
_SOUGHT = any_case(r"\b(?:could not find|searched for) the function .*")
"""What it says besides, of the arguments that were sent."""
_CHAIN = LazyPattern(r"(.*)\(through reference chain: ([^)]{1,400}).*", re.DOTALL)
_LINK = LazyPattern(r"\[\"([^\"\]]{1,60})\"\]")
"""Jackson names the way to a value at the end of what it says of it."""
_PLACE_LAST = LazyPattern(
    r"^(.*\S)[\s,-]+(?:at|@) (?=[\"'`$])[\"'`]?\$?\.?([\w.\[\]]*)[\"'`]?\W*$"
)
"""As in `Required at "task.id"` of zod-validation-error, msgspec and cattrs."""
_CLAUSES = LazyPattern(
    r"(?:;(?! found)|\n)+\s*"
    r"|\.\s+(?!(?:Expected|It|Must|Should|Allowed|Valid|One of|Use|Choose|Possible)\b)"
    r"(?=[A-Z\"'`])"
    r"|(?:(?<= missing)|(?<= invalid)|(?<= required)|(?<= empty)|(?<= blank)),\s+"
)
_ADVICE = any_case(r"^(?:consider|see|learn|for more)\b")
"""A sentence that begins so says nothing of what was sent."""
_OTHERS = any_case(
    r"(?:\b(?:type|relation|serial name|on field|on the)|(?<=column) of)"
    r" [`'\"][^'\"`]{1,80}[`'\"]|(?<!\w)\"[^\"]*\s[^\"]*\""
)
"""Quoted names of other things than fields, and values."""
_ALLOWED = any_case(
    r"(?<![a-z])(?:known propert(?:y|ies): "
    r"|(?:allowed|valid|accepted|supported|known|expected)"
    r" (?:fields|keys|properties|names)(?: are)?:? "
    r"|did you mean (?:to use )?"
    # serde: unknown field `task_id`, expected `gig_id` or `worker`
    rf"|(?<=, )expected (?:one of )?(?=`))\W{{0,3}}?{_NAMES}"
)
_VERB = (
    r"(?:(?:is|are|was|were)(?:n't)?(?! missing (?!from|in|or|but)\w| not allowed to)"
    r"|(?:must|should)(?! (?:not )?(?:have|include|contain))|has to|needs to|can ?not"
    r"|can't|could|may not|missing|required|(?<=['\"`] )failed)\b"
)
_SUBJECT = LazyPattern(rf"[`'\"]?({NAME})[`'\"]? {_VERB}")
_PREDICATE = LazyPattern(rf"{_VERB} \w|(?:does|did|has|have) not ")
"""What is said without its subject, which then stands before it."""
_OF_TWO_WORDS = any_case(
    r"(?<![\w`'\"])([a-z]+ (?:id|identifier|reference|ref|number|token|code)"
    rf"(?= {_VERB})"
    r"|(?-i:(?:(?<=^The )|(?<=^The selected ))(?!selected |field )[a-z]+"
    r"(?:(?: (?!field\b)[a-z0-9]+){0,3}(?= field )|(?: [a-z0-9]+){1,3})"
    r"(?=(?: field)? (?:is|must|has|may|can|does|should)\b)))"
)
"""What a name of several words is called in prose, as in "Task reference must be
supplied", and in Laravel's "The final answer field is required."."""
_GLUE = r"(?: in (?:the )?\w+\b)?(?: named| called| including|;? found)?[\s:=(]{0,4}"
_LEAD = (
    r"\b(?:missing|required|requires?|needs?|include|provide|contain|specify"
    r"|have|send|supply|give|unknown|unexpected|unsupported"
    r"|invalid(?! type (?:of|for))|no|type (?:of|for)|set)\b"
    r"(?:[:;,.]? (?:please )?(?:give|send|supply|provide|specify)\b)?"
    r"(?: (?:the|an?)\b)?(?: (?:required|mandatory)\b)?\s*:?\s*"
)
_FRAMES = tuple(
    any_case(frame)
    for frame in (
        rf"{_NAMES}(?: {_NOUN})?(?: in (?:the )?(?:request )?body)? {_VERB}",
        rf"\bthe (?=['\"`]){_NAMES} {_NOUN}",
        rf"\b{_NOUN}{_GLUE}{_NAMES}",
        rf"{_LEAD}{_NAMES}",
        rf"\bexpected {_NAMES} to be\b",
        rf"\b(?:choose|pick|select) {_NAMES} (?:from|out of|among)\b",
        rf"\b(?:you )?sent {_NAMES}, (?:which|but|and)\b",
        rf":\s+{_NAMES}\W*$",
    )
)
"""Where a sentence has the names that it is about; the first that matches tells."""
_NO_NAMES = word_set(
    "a additional an and any are at be by cannot could did do each either following "
    "for from has have if in is it its least must no none not of one only or please "
    "property should some that the these this to was were which with you your "
    "all invalid argument arguments body column data error errors field fields "
    "function header input inputs json key keys missing number object param "
    "parameter parameters params positional properties provided received requires "
    "request required string type undefined unknown value values array list "
    "boolean integer null nil empty authentication authorization content-type "
    "credentials login permission permissions role scope token bad true false "
    "expected format payload class called schema validation failed constraint got "
    "resource entity message valid one-of record but also member include extra there "
    "supplied length contains option dictionary dict never "
    "query querystring url variant unexpected encountered still access more us such "
    "into accepted been write unprocessable subschema offset server service syntax "
    "keyword keywords found give supply provide specify"
)
"""Words that stand where a name could, and are none of ours."""
_INSTEAD = any_case(rf"\bdid you mean ({_QUOTED_ITEM})")
_MISSING_ALONE = any_case(
    r"(?:missing|(?:please|(?:you )?(?:must|should|need to)) (?:supply|provide|send"
    r"|include|give))(?: required| the| an?)* [`'\"]?(?P<name>key|type|value|number"
    r"|role|message|record|resource|format|inputs?|data|payload|params|object)[`'\"]?\W*"
)
"""Words that are no names in longer sentences, and are here."""
_NUMBERS = frozenset({"integer", "number", "boolean"})
_JSON_TYPES = _NUMBERS | {"string", "object", "array"}
_WEAK_NAMES = word_set(
    "data input body payload params request object value type key function "
    "argument message content list record resource format"
)
"""Words of sentences that are names when they are quoted."""


def is_name(text: str) -> bool:
    """Return whether a text is nothing but the name of a field, or the way to one."""
    return bool(re.fullmatch(NAME, text))


_INDEX = LazyPattern(r"\[['\"]?([^\]'\"]*)['\"]?\]")
_VARIABLE = LazyPattern(r"(data|input|payload|params|values|doc|document)\[['\"]")
"""What a body is called in code that says `data['task']`."""
_ROOTS = ("body", "request", "json", "instance", "(root)", "root", "obj")
"""What a way may begin with that is the body itself, and no field of it."""
_PARAMETERS = (["body"], ["request"], ["dto"], ["arg0"])
"""What Java calls the body behind the name of a method."""


def path_of(named: str, sent: Container[str] = ()) -> Path:
    """Read `#/task/id`, `$.task.id`, `body.task.id` and `task['id']`.

    Of the words for a body, those that were sent as names are names.
    """
    plain = named[:MAX_TEXT].removeprefix("$input.")  # typia's word for the body
    plain = _INDEX.sub(r".\1", plain).replace("~1", "/").replace("/", ".")
    parts = [part.strip("`'\"\u201c\u201d* ").lstrip("$") for part in plain.split(".")]
    parts = [part for part in parts if part]
    for root in () if named.startswith("$.") else ("req", "#", *_ROOTS):
        if len(parts) > 1 and parts[0].lower() == root and parts[0] not in sent:
            parts.pop(0)
            if root != "req":
                break
    parts = parts[:1] + [part for part in parts[1:] if part not in _OF_THE_WHOLE]
    variable = _VARIABLE.match(named)
    if variable and variable[1] not in sent and parts[1:]:
        parts.pop(0)
    of_code = parts[:2]  # perhaps a method and its parameter
    if of_code[1:] in _PARAMETERS and parts[2:] and not any(p in sent for p in of_code):
        parts = parts[2:]
    while parts and parts[0].isdigit():
        parts.pop(0)
    is_model = parts[:1] and parts[0][:1].isupper() and parts[0] not in sent
    if is_model and parts[1:] and parts[1][:1].islower():
        parts.pop(0)  # as in "Claim.ref cannot be null"
    return tuple(FIRST if part.isdigit() else part for part in parts)


_HEADER_NAME = r"(?P<{}>[A-Za-z]\w*(?:-\w+)+)"
_OF_A_HEADER = any_case(
    rf"\bheaders?\b\W{{1,4}}{_HEADER_NAME.format('after')}"
    rf"|{_HEADER_NAME.format('before')}\W{{1,2}}(?:http |request )?header\b"
)


def _missing_header(said: str) -> FieldFault | None:
    """Return the header that a sentence asks for, if it is none of the client's own."""
    match = _OF_A_HEADER.search(said)
    name = (match["after"] or match["before"]) if match else ""
    if not name or name.lower() in OWN_HEADERS or fault_in(said) is not Fault.MISSING:
        return None
    return FieldFault((HEADER + name,), Fault.MISSING)


_OF_THE_ADDRESS = any_case(
    r"\b(?:query ?string|query param(?:eter)?|url param(?:eter)?)s?\b"
)
_OF_NAMES = frozenset({Fault.MISSING, Fault.UNKNOWN, Fault.ALLOWED})


def _in_address(found: FieldFault) -> FieldFault:
    """Return what is said of a name as said of a parameter of the address."""
    is_alone = len(found.path) == 1 and not is_outside(found.path)
    return replace(found, path=(QUERY + found.path[0],)) if is_alone else found


_MOST_PLACES = 6
"""Before colons of one sentence, each of which has to be searched."""
_EXAMPLE = LazyPattern(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}")
"""A body that is shown in a sentence, with one object in it at most."""
_OF_A_TYPE = (
    (LazyPattern(r"\breadonly |[`\n]"), ""),
    (LazyPattern(r";\s*"), ", "),
    (LazyPattern(rf"(?<=[{{,])\s*['\"]?({NAME})['\"]?\??\s*:"), r'"\1":'),
    (LazyPattern(r":\s*([A-Za-z_<][^,{}\"]*?)\s*(?=[,}])"), r':"\1"'),
    (LazyPattern(r",\s*(?=\})"), ""),
)
"""How a type, as TypeScript writes it, is written as JSON."""
_SHOWN_FOR = any_case(
    rf"({NAME})[`'\"]? (?:must|should|has to|needs to) (?:be|have|contain|look like)"
    r"(?: an object)?(?: (?:like|of|with))?\W*$"
)


def _place_before(text: str, shown: re.Match[str], above: Path) -> Path:
    """Return where a body stands that is shown: `pod must be {content, result}`."""
    told = _SHOWN_FOR.search(text[: shown.start()])
    return (*above, *path_of(told[1])) if told else above


def _of_example(shown: JSON, sent: JSON, above: Path) -> Iterator[FieldFault]:
    """Compare what was sent with a body that a refusal shows, whole or as names."""
    example = _example_in(shown) if isinstance(shown, str) else shown
    if not isinstance(example, dict) or not _NEVER_SHOWN.isdisjoint(
        map(spelling, example)
    ):
        return
    shown_values, names = [*leaves_of(example, above)], leaf_names(sent)
    ours = {str(value) for _, value in leaves_of(sent) if value not in ("", None)}
    if any(str(value).strip("\"'") in ours for _, value in shown_values):
        return  # what we have sent
    for way, value in shown_values:
        if not is_name(".".join(way)):
            return
        there = value_at(sent, way)
        if there is None and len(way) == 1 and way[0] in names:
            continue  # it stands inside of another object
        wants, options = _of_placeholder(value)
        is_wrong = (options and there not in options) or (
            wants and there is not None and type_of(there) != wants
        )
        fault = Fault.MISSING if there is None else Fault.ALLOWED
        fault = Fault.VALUE if is_wrong and there is not None else fault
        yield FieldFault(way, fault, wants, options, is_exact=len(way) > 1)


def _example_in(text: str) -> JSON:
    """Return the object that a text shows: JSON, a type, or nothing but names."""
    written = text
    for notation, plain in _OF_A_TYPE:
        written = notation.sub(plain, written)
    for one in (text, written):
        with suppress(UnreadableJSONError):
            return parse(one)
    names = [one.strip(" `'\"?") for one in text[1:-1].split(",")]
    return dict.fromkeys(names) if all(map(is_name, names)) else None


def _of_placeholder(value: JSON) -> tuple[str, tuple[str, ...]]:
    """Return the type, and the values, that stand for one in a body that is shown."""
    if not isinstance(value, str):
        return ("" if value is None else type_of(value)), ()
    if _PIPED.fullmatch(value.strip("<>` ")):
        return "", _items_in(value.strip("<>` "))
    kind = type_of_word(value.strip("<>` "))
    return kind if kind in _PLAIN_TYPES else "", ()


_PLAIN_TYPES = frozenset({"string", "integer", "number", "boolean", "array", "object"})


_ITEM = LazyPattern(rf"(?:\b(?:an?|the|its|one) )?{_QUOTE}({NAME}){_QUOTE}")
_EACH = any_case(
    rf"\b(?:each|every)\b(?P<list>(?: (?:of|in|the|item|entry|element|one|row)\b)*"
    rf"(?: {NAME})?)"
    r" (?:needs|must have|should have|must include|must contain|with|requires|has)"
    rf" (?P<names>{_ITEM.pattern}(?:(?:,| and|, and) {_ITEM.pattern}){{0,5}})"
)
"""As in "Each of labels needs a card and a label"."""


_PUT = any_case(
    r"(?:^|[.!?:;]\s+|\bplease )(?:put|enter|write|place|fill)\b[^.!?]{1,80}"
    r" (?:in|into|under)"
    rf" (?P<quote>[`'\"]?)(?P<name>{NAME})[`'\"]?\W*$"
)
"""As in "Put the hours worked in hours."."""
_NO_PLACES = word_set(
    "capitals capital caps uppercase upper lowercase lower full short writing words "
    "figures numbers english block letters place order time advance brackets quotes "
    "credits seconds minutes hand pencil ink"
)
"""Words in which something is written, and under which it is not."""
_OBJECT_WITH = any_case(
    rf"[`'\"]?(?P<place>{NAME})[`'\"]? {_VERB} be an? (?:\w+ )?"
    r"(?:object|hash|dict(?:ionary)?|map|record) (?:with|containing|having|that has)"
    rf"(?: (?:the|an?))?(?: (?:key|field|property|member|attribute)s?:?)? {_NAMES}"
)
"""As in "Proof must be an object with the wording"."""


class _Prose:
    """Reads sentences."""

    def __init__(self, sent: JSON, *, is_prose_read: bool) -> None:
        """`sent` is the body that was refused; see `read_refusal`."""
        self._is_prose_read = is_prose_read
        self._sent = leaf_names(sent)
        self._top = sent
        self._values = {one for _, one in leaves_of(sent) if isinstance(one, str)}

    def _of_signature(self, names: list[str]) -> Iterator[FieldFault]:
        """Compare what was sent with all that may be, and has to be."""
        sent = self._top if isinstance(self._top, dict) else {}
        for name in names:
            if name and name not in sent:
                yield FieldFault((name,), Fault.MISSING)
        yield from (FieldFault((n,), Fault.UNKNOWN) for n in sent if n not in names)

    def _in_each(self, text: str, above: Path) -> Iterator[FieldFault]:
        """Read what each item of a list has to have, where a list was sent."""
        told = _EACH.search(text)
        sent = self._top if isinstance(self._top, dict) else {}
        before = re.findall(NAME, text[: told.end("list")]) if told else ()
        lists = [one for one in (*before, *above) if isinstance(sent.get(one), list)]
        for name in _ITEM.findall(told["names"]) if told and lists else ():
            if not {name.lower(), type_of_word(name)} & (_PLAIN_TYPES | _NO_NAMES):
                yield FieldFault((lists[-1], FIRST, name), Fault.MISSING)

    def _in_plain_words(self, text: str, above: Path) -> Iterator[FieldFault]:
        yield from self._in_object_with(text, above)
        yield from self._put_under(text)

    def _put_under(self, text: str) -> Iterator[FieldFault]:
        """Read under which name something has to be put that was not sent."""
        told = _PUT.search(text)
        name = told["name"] if told else ""
        is_name = name not in self._sent and bool(told and told["quote"])
        known = _NO_NAMES | _NO_PLACES | {*self._sent}
        if is_name or (name and name.lower() not in known and not type_of_word(name)):
            yield FieldFault((name,), Fault.MISSING, is_exact=False)

    def _in_object_with(self, text: str, above: Path) -> Iterator[FieldFault]:
        """Read what an object has to have, where something else was sent for it."""
        if (told := _OBJECT_WITH.search(text)) is None:
            return
        sent = self._top if isinstance(self._top, dict) else {}
        place = spelling(told["place"])
        around = next((name for name in sent if spelling(name) == place), None)
        for path in self._named(told["names"]) if around else ():
            yield FieldFault((*above, str(around), *path), Fault.MISSING)

    def findings(self, text: str, above: Path = ()) -> Iterator[FieldFault]:
        """Return what each clause of a text says."""
        text = self._with_name_for_value(text[:MAX_TEXT])
        text = _SOUGHT.sub("", without_echo(text, self._top))
        for shown in [*_EXAMPLE.finditer(text)]:
            place = _place_before(text, shown, above)
            found = [*_of_example(shown[0], self._top, place)]
            yield from found
            text = text.replace(shown[0], " ") if found else text
        called = _SIGNATURE.search(text)
        if called and isinstance(self._top, dict):
            yield from self._of_signature(called["names"].replace(" ", "").split(","))
            return
        inside = [
            *self._in_place_of(text),
            *self._in_each(text, above),
            *(self._in_plain_words(text, above) if self._is_prose_read else ()),
        ]
        if inside:
            yield from inside
            return
        text = _OF_RAILS.sub(self._of_rails, rewritten(text))
        text = self._in_our_words(self._in_variables(text))
        chain = _CHAIN.fullmatch(text)
        if chain:
            text = f"{'.'.join(_LINK.findall(chain[2]))}: {chain[1]}"
        for said in _CLAUSES.split(text):
            clause = _PLACE_LAST.sub(_place_first, said)
            if not _ADVICE.match(clause):
                told = self._in_clause(clause, above)
                is_address = bool(_OF_THE_ADDRESS.search(clause))
                yield from map(_in_address, told) if is_address else told

    def _with_name_for_value(self, text: str) -> str:
        """Return a text that begins with one of our values with its name in front.

        Python's jsonschema says "'Forty-one' is not of type 'array'".
        """
        told = _OF_A_VALUE.match(text)
        if told is None:
            return _INVALID_IRI.sub(self._name_of_iri, text)
        shown = from_python(told[1])
        ways = [way for way, value in walk(self._top) if way and value == shown]
        if not ways:
            return text
        # Words of ours may stand under several names: the result's is the likeliest.
        way = min(ways, key=_likeness_to_a_result)
        return f"{'.'.join(way)}: {text[told.end(1) :].lstrip()}"

    def _name_of_iri(self, told: re.Match[str]) -> str:
        """Return what API Platform says of a value as said of its name."""
        ways = [way for way, value in walk(self._top) if way and value == told[1]]
        way = max(ways, key=_likeness_to_a_result, default=())
        return f'"{".".join(way)}": expected an IRI' if way else told[0]

    def _in_variables(self, text: str) -> str:
        """Return a text with a variable of GraphQL where it has not been sent yet.

        Some take the body for the variables; what names an operation has them inside.
        """
        told = _OF_GRAPHQL.match(text)
        is_operation = told is not None and {"operationName", "query"} & self._sent
        if told is None or not (is_operation or told[1] in self._sent):
            return text
        return text.replace(f'"${told[1]}"', f'"variables.{told[1]}"', 1)

    def _in_our_words(self, text: str) -> str:
        """Return a text with `Result Type` written as the name that was sent for it."""
        for name in self._sent:
            words = [*map(re.escape, words_of(name))]
            if len(words) > 1:
                label = rf"(?<![\w-]){'[ _-]'.join(words)}(?![\w-])"
                text = re.sub(label, name, text, flags=re.IGNORECASE)
            if len(words) == 1 or {*words[-1:]} & ID_WORDS:
                named = words[:-1] or words
                thing = rf"^{'[ _-]'.join(named)} (?:\S+ )?(?:was )?not found\.?$"
                place = ".".join((name, *self._id_in(name)))
                text = re.sub(thing, f"{place} is invalid", text, flags=re.IGNORECASE)
        return text

    def _id_in(self, name: str) -> Path:
        """Return the name of the identifier in an object that was sent."""
        inside = value_at(self._top, (name,))
        members = inside if isinstance(inside, dict) else ()
        return next(((one,) for one in members if one in ID_WORDS), ())

    def _in_clause(
        self, clause: str, above: Path, depth: int = 0
    ) -> Iterator[FieldFault]:
        """Read `place: what is said`; without a place, the sentence."""
        if header := _missing_header(clause):
            yield header
            return
        for colon in islice(re.finditer(": ", clause), _MOST_PLACES - depth):
            before, said = clause[: colon.start()], clause[colon.end() :]
            name, is_quoted = _name_before(before, said)
            is_class = name.endswith(("Error", "Exception"))
            is_told = self._is_told_of(name, said, is_quoted=is_quoted)
            if is_name(name) and not is_class and is_told:
                path = path_of(name, self._sent)
                path = above if above[-len(path) :] == path else (*above, *path)
                yield from self._said_at(path, said, above, depth)
                return
            subject = _SUBJECT.match(said)
            if subject and " " in name and subject[1].lower() not in _NO_NAMES:
                # Such as "The text is not certified" before "certify must be Y".
                yield from self._in_clause(said, above, depth + 1)
                return
        yield from self._in_sentence(clause, above)

    def _said_at(
        self, path: Path, said: str, above: Path, depth: int
    ) -> Iterator[FieldFault]:
        """Read what is said of a place, or of members of the object that is there."""
        # serde tells of a field again after the way to it.
        is_again = re.search(rf"[`'\"]{re.escape(path[-1])}[`'\"]", said)
        own = {spelling(path[-1])}
        is_object = isinstance(value_at(self._top, path), dict)
        if is_object and fault_in(said) is Fault.MISSING:
            is_again, own = None, set()  # it may lack a member of its name
        is_around = path[-1] in self._sent and not is_again
        inside = path if is_around else path[:-1] if is_again else above
        found = self._in_clause(said, inside, depth + 1)
        named = [one for one in found if one.fault in _OF_NAMES]
        others = {
            spelling(one.path[-1])
            for one in named
            if _is_marked(one.path[-1], said) and one.path[-1] not in self._values
        }
        is_value = not re.search(r"[`'\"]value[`'\"]", said)
        if others - own - {"value" if is_value else ""}:
            yield from named  # as in `output: missing field "kind"`
        elif not self._has_too_much(path, said):
            yield _fault_at(path, said, is_exact=len(path) > 1 or is_around)

    def _has_too_much(self, path: Path, said: str) -> bool:
        """Return whether an object that was sent has too much inside, and is not it."""
        is_object = isinstance(value_at(self._top, path), dict)
        return is_object and bool(_STRICT.search(said))

    def _is_told_of(self, name: str, said: str, *, is_quoted: bool) -> bool:
        """Return whether what is said is about a name that stands before it."""
        if _ERROR_NUMBER.fullmatch(name):
            return False
        fault = fault_in(said)
        if name.lower() in _WEAK_NAMES:
            is_judged = bool(wanted_type(said) or options_in(said))
            is_marked = is_quoted or name in self._sent
            return fault is not None or (is_marked and is_judged)
        is_sentence = name.rpartition(".")[2] in self._sent and " " in said
        is_sentence = is_sentence or bool(_PREDICATE.match(said))
        is_sentence = is_sentence or bool(_ONLY_ONE.search(said))
        is_told = fault or is_sentence or wanted_type(said) or options_in(said)
        is_name = is_quoted or name in self._sent or name.lower() not in _NO_NAMES
        return bool(is_told) and is_name

    def _in_place_of(self, text: str) -> Iterator[FieldFault]:
        """Read what was rather meant by a value that a sentence quotes."""
        instead = _INSTEAD.search(text)
        quoted = {*_OPTION.findall(text)} if instead else set()
        for path, value in leaves_of(self._top) if instead else ():
            if instead and str(value) in quoted:
                yield FieldFault(path, Fault.VALUE, "", _items_in(instead[1]))

    def _in_sentence(self, text: str, above: Path) -> Iterator[FieldFault]:
        if alone := _MISSING_ALONE.fullmatch(text):
            yield FieldFault((*above, alone["name"]), Fault.MISSING, is_exact=False)
            return
        if "variant" not in text:
            for match in _ALLOWED.finditer(text):
                names = self._named(match["names"])
                yield from _each(names, above, FieldFault((), Fault.ALLOWED))
            text = _ALLOWED.sub(" ", text)
        if not self._has_names(text):
            text = _OF_TWO_WORDS.sub(self._in_one_word, text)
        told = _fault_at((), text)
        subject = _SUBJECT.match(text)
        is_sent = subject is not None and subject[1] in self._sent
        if told != FieldFault((), Fault.VALUE) or is_sent or _INVALID.search(text):
            yield from self._about_names(_OTHERS.sub(" ", text), above, told)

    def _has_names(self, text: str) -> bool:
        """Return whether a sentence has a name that is written as one.

        As in "Docket number is missing: give docket_no."
        """
        words = (one for one in re.findall(NAME, text) if _HUMPED.search(one))
        return any(one not in self._values for one in words)

    def _of_rails(self, match: re.Match[str]) -> str:
        """Return an attribute's name, from what Rails calls it to people."""
        words = match[1].lower().split()
        if match[0].endswith("must exist"):
            return f"{self._written([*words, 'id'])}: required"
        return f"{self._written(words)}: "

    def _in_one_word(self, match: re.Match[str]) -> str:
        """Write a name of several words as one."""
        words = match[1].lower().split()
        is_field = match.string[match.end() :].startswith(" field ")
        if not (is_field or _NO_NAMES.isdisjoint(words[:-1])):
            return match[0]
        quote = '"' if is_field else ""
        return f"{quote}{self._written(words)}{quote}"

    def _written(self, words: list[str]) -> str:
        """Return a name of some words as the names are written that were sent."""
        if self._sent and all(name[:1].isupper() for name in self._sent):
            return "".join(map(str.capitalize, words))
        is_camel = any(re.search("[a-z][A-Z]", name) for name in self._sent)
        is_camel = is_camel and not any("_" in name for name in self._sent)
        first, *more = words
        return (
            "".join((first, *map(str.capitalize, more)))
            if is_camel
            else "_".join(words)
        )

    def _about_names(
        self, text: str, above: Path, told: FieldFault
    ) -> Iterator[FieldFault]:
        options = () if self._sent & {*told.options} else told.options
        paths = self._subjects(text, options)
        if _ABSENT.search(text) and not any(p[-1] in self._sent for p in paths):
            told = replace(told, fault=Fault.MISSING)
        lacking = [one for one in paths if one[-1] not in self._sent]
        if told.fault is Fault.MISSING and lacking:
            # Of all that is needed, what was sent is there.
            others = [one for one in paths if one not in lacking]
            yield from _each(others, above, FieldFault((), Fault.ALLOWED))
            paths = lacking
        is_value = bool(options) and not (lacking or _OF_A_FIELD.search(text))
        if told.fault is Fault.UNKNOWN and is_value:
            told = replace(told, fault=Fault.VALUE)  # "Bad mode (supported: auto)"
        yield from _each(paths, above, told)

    def _subjects(self, text: str, options: Container[str]) -> list[Path]:
        """Return the names that a sentence is about, rather those written as names."""
        first: list[Path] = []
        for match in chain.from_iterable(frame.finditer(text) for frame in _FRAMES):
            named = self._named(match["names"], weak=self._is_told(match))
            paths = [one for one in named if one[-1] not in options]
            if any(len(one) > 1 or _HUMPED.search(one[-1]) for one in paths):
                return paths
            first = first or paths
        return first

    def _is_told(self, match: re.Match[str]) -> bool:
        """Return whether a word such as "data" stands where only a name does.

        We never send an empty body, so that "data is required" is about a field of it.
        """
        begins, text = match.start("names"), match.string
        is_capital = bool(self._sent) and all(name[:1].isupper() for name in self._sent)
        is_code = begins == 0 and (text[:1].islower() or is_capital)
        is_after_noun = any_case(
            rf"(?:{_NOUN}|\btype (?:for|of)|\b(?:body|request) (?:is )?missing"
            r"|\byou sent|\bremove)\W*$"
        )
        return is_code or bool(is_after_noun.search(text[:begins]))

    def _named(self, names: str, *, weak: bool = False) -> Iterator[Path]:
        for match in re.finditer(rf"(?P<quote>{_QUOTE})(?P<name>{NAME})", names):
            name = match["name"]
            is_weak = weak and (name.lower() in _WEAK_NAMES or name in self._sent)
            is_type = type_of_word(name) in _NUMBERS or name == "UUID"
            is_word = name.lower() in _NO_NAMES or is_type
            if match["quote"] and name in self._values and name not in self._sent:
                continue  # a value of ours
            if (is_word and not (match["quote"] or is_weak)) or _is_type(name):
                continue
            path = path_of(name, self._sent)
            if path:
                yield path


_ERROR_NUMBER = LazyPattern(r"[A-Z]{1,8}[-_]?\d{2,}")
"""As in "HAPI-1820: Found incorrect type for element owner"."""
_INVALID_IRI = LazyPattern(r"^Invalid IRI \"(.*)\"\.?$", re.DOTALL)
_OF_A_VALUE = LazyPattern(
    r"^(['\"\[{\d].*?) (?:is not (?:of type|one of|valid)|is too|does not match"
    r"|should be non-empty)\b",
    re.DOTALL,
)


def _place_first(told: re.Match[str]) -> str:
    return f"{told[2]}: {told[1]}" if told[2] else told[1]


def _name_before(before: str, said: str) -> tuple[str, bool]:
    """Return the name that stands last before a colon, and whether it is marked."""
    name = before.rpartition(": ")[2].strip()
    is_quoted = name.endswith(("`", "'", '"'))
    # A word alone, such as `format`, is a name where it has values.
    is_quoted |= before == name and name.islower() and bool(options_in(said))
    name = name.strip("`'\" ")
    _, is_way, way = name.rpartition("$.")
    name = way if is_way else _INTRODUCED.sub("", name)
    return _NOUN_AFTER.sub("", name).strip("`'\" "), is_quoted


def _is_type(name: str) -> bool:
    """Return whether a name is that of a type of Java or .NET, with its package."""
    return name.count(".") > 1 and name.rpartition(".")[2][:1].isupper()


def _is_marked(name: str, said: str) -> bool:
    """Return whether a word is written as a name, and no word of the sentence."""
    is_named = rf"(?:{_NOUN}\s|[`'\"\u201c\[(]|^(?=\w+:)){re.escape(name)}(?!\w)"
    return bool(_HUMPED.search(name) or any_case(is_named).search(said))


def _each(names: Iterable[Path], above: Path, told: FieldFault) -> Iterator[FieldFault]:
    """Yield the same fault for each of some names."""
    for path in names:
        is_exact = bool(above) or len(path) > 1
        options = () if path[-1] in told.options else told.options
        yield replace(told, path=(*above, *path), options=options, is_exact=is_exact)


# -- structures ------------------------------------------------------------------

_FIELD_KEYS = in_order(
    "loc path pointer instancepath datapath propertyname propertypath param parameter "
    "field property attribute attr name key fieldname failedfield member members "
    "location argument target element expression entry concerning where"
)
"""Where a vocabulary says which field it speaks about; the first that is there.

These, and the keys below, are written as `spelling` reduces them.
"""
_BODY_KEYS = word_set("loc path pointer instancepath location")
"""Of them, those that begin with the part of the request."""
_SAYING_KEYS = in_order(
    "type code keyword tag rule reason msg message detail error title description "
    "messages defaultmessage received constraints errormessage expected diagnostics "
    "say refused fault explanation problem issue"
)
"""Where it says what is wrong with it."""
_OPTION_KEYS = in_order(
    "options enum allowedvalue allowedvalues allowed accepted acceptedvalues permitted "
    "values const "
    "choices validvalues oneof expectedvalues supported"
)
_QUOTED_LIST = LazyPattern(r'"[^"]{1,80}"(?:, ?"[^"]{1,80}")+')
"""Symfony has the values in one text, as `"text", "html"`."""
_LISTS: Mapping[str, Fault] = {
    name: fault
    for fault, names in {
        Fault.MISSING: "missing missingfields missingproperty missingproperties "
        "required requiredfields",
        Fault.UNKNOWN: "unknown unknownfields unexpected unexpectedfields extra "
        "unrecognized unrecognizedkeys additionalproperty additionalproperties keys",
        Fault.ALLOWED: "allowedfields knownfields didyoumean permitted"
        " permittedfields permittedparameters validfields acceptedfields",
    }.items()
    for name in names.split()
}
"""Where whole lists of names are, as `spelling` reduces it."""
_OF_RULE = frozenset({"required", "requiredfields"})
"""Of them, those that may list all that a rule asks for, and not what is missing."""
_ASKED_TYPE_KEYS = word_set("bsontype expectedtype expected")
"""Where a structure has the type that is wanted, perhaps below what it says of it."""
_CONTAINERS = word_set(
    "errors error detail details issues violations invalidparams validation "
    "validationerrors fielderrors fieldviolations messages json fields params "
    "invalid problems failures causes body data extensions exception properties nested "
    "fullmessages"
)
"""Keys, as `spelling` reduces them, under which findings are, and no field of ours."""
_SHOWN = word_set(
    "example examples sample template usage shape expectedbody expectedformat "
    "expectedshape requiredbody expected"
)
"""Keys, as `spelling` reduces them, under which a body is shown that would do."""
_OF_THE_WHOLE = word_set(
    "errors _errors non_field_errors nonFieldErrors __all__ _schema"
)
"""Under these is what is said of the object around them, and of no field of it."""
_TREE_KEYS = frozenset({"errors", "properties", "items"})
_NO_SUBJECT = any_case(
    r"(?:(?:this )?(?:field|value|property) )?"
    r"(?:is|was|must|should|can ?not|can't|may not|has to|needs to) \w"
)
"""A sentence that begins so is about the key that it stands under."""
_OF_ITS_FIELD = any_case(
    r"^(?:this |a )?(?:required |unknown |missing )?field\b|required field"
    r"|^required\W*$"
)
_OF_FIELDS = word_set("fields fielderrors invalidfields")
"""Below these there is nothing but names of ours."""
_CODE_KEYS = word_set("status type code summary title description reason hint")
"""Under these is a sentence only where they are names."""
_LANGUAGE_KEYS = word_set("lang locale language")
_PROSE_KEYS = word_set(
    "message messages msg errormessage errordescription detail details error "
    "errors title hint reason description code status type exception say "
    "summary fullmessages"
)
_KEYS = _PROSE_KEYS | (_CONTAINERS - _WEAK_NAMES)
"""Of these, those that are hardly names in a request."""
_NEVER_SHOWN = _KEYS | {"ok", "success"}
_PARTS = frozenset({"body", "query", "params", "headers", "cookies"})
"""Of a request."""


class _Walk:
    """Goes through a body, within limits."""

    def __init__(self, sent: JSON, *, is_prose_read: bool) -> None:
        self._is_prose_read = is_prose_read
        self._sent = sent
        self._nodes = _MAX_NODES
        self._letters = MOST_LETTERS
        self._prose = _Prose(sent, is_prose_read=is_prose_read)
        self._names = leaf_names(sent)
        self._ours = {*_strings(sent)}

    def findings(
        self, value: JSON, above: Path = (), *, fields: bool = False, depth: int = 0
    ) -> Iterator[FieldFault]:
        """Return what is said below a value.

        `fields` says that the names in an object are fields of ours.
        """
        self._nodes -= 1
        if depth > _MAX_DEPTH or self._nodes < 0 or self._letters <= 0:
            return
        if isinstance(value, str):
            inner = _unpacked(value)
            if inner is not None:
                yield from self.findings(inner, above, fields=fields, depth=depth + 1)
            else:
                yield from self._in_text(value, above)
        elif isinstance(value, list):
            for item in value:
                yield from self.findings(item, above, fields=fields, depth=depth + 1)
        elif isinstance(value, dict):
            yield from self._in_any_object(value, above, fields=fields, depth=depth)

    def _in_text(self, value: str, above: Path) -> Iterator[FieldFault]:
        is_code = value.isupper() and " " not in value
        if is_code or (" " in value and value in self._ours):
            return  # neither is what we have written a word of theirs
        text = in_short(value)
        text = text[: min(MAX_TEXT, self._letters)]
        self._letters -= len(text)
        found = [*self._prose.findings(text, above)]
        is_judged = above[-1:] == (FIRST,) and _INVALID.search(text)
        yield from found or ([_fault_at(above, text)] if is_judged else [])

    def _in_any_object(
        self, value: dict[str, JSON], above: Path, *, fields: bool, depth: int
    ) -> Iterator[FieldFault]:
        for name in [one for one in value if spelling(one) in _OF_FIELDS]:
            if isinstance(inner := value[name], dict):
                yield from self._by_field(inner, above, depth=depth)
                value = {key: one for key, one in value.items() if key != name}
        whole = value.get("_errors")
        if isinstance(whole, list) and len(_texts(whole)) == len(whole):
            value = _as_tree(value)
        if _is_tree(value):
            yield from self._in_tree(value, above)
        elif fields and _is_of_codes(value):
            said = {(*above, *path_of(one)): str(value[one]) for one in value}
            yield from (_fault_at(path, code) for path, code in said.items())
        else:
            yield from self._in_object(value, above, fields=fields, depth=depth)

    def _in_object(
        self, value: dict[str, JSON], above: Path, *, fields: bool, depth: int
    ) -> Iterator[FieldFault]:
        value = _filled_in(value)
        fields = fields or self._is_by_name(value)
        # A text beside its language, as OData has it, is no field.
        fields = fields and not _has_language(value)
        said = " ".join(_sayings(value))[:_MAX_SAID]
        self._letters -= len(said)
        is_judged = fault_in(said) or _BAD_TYPE.search(said)
        is_told = is_judged or wanted_type(said) or _points(value)
        tells = " " in said or not said.isascii() or is_told
        tells = tells and not (fields and _is_of_lists_alone(value))
        is_around = _has_parts(value)
        place = self._place_of(value) if tells and not is_around else None
        if tells and above and fields and place is None:
            place = ()  # it is said of the name above it
        scope = value.get("scope")  # Rails names the object whose names it lists
        within = path_of(scope) if isinstance(scope, str) and is_name(scope) else ()
        listed = [*_listed(value, (*above, *(place or within)), said, self._sent)]
        yield from listed
        if place is not None and not listed:
            told = self._at((*above, *place), said, value)
            yield from map(_at_root, told) if _is_rooted(value) else told
        if place is not None or any(one.fault is not Fault.ALLOWED for one in listed):
            return
        if not tells:
            below = _place_in(value, self._sent)
            above = (*above, *below) if below and _has_parts(value) else above
        wants = _asked_type(value) if above else ""
        if wants and said:
            # MongoDB says below a name what is wrong with its value.
            yield FieldFault(above, Fault.TYPE, wants)
            return
        rest = {
            name: inner
            for name, inner in value.items()
            if not (listed and spelling(name) in _LISTS)
            and not self._repeats(inner, above)
        }
        yield from self._in_members(rest, above, fields=fields, depth=depth)

    def _in_members(
        self, members: Mapping[str, JSON], above: Path, *, fields: bool, depth: int
    ) -> Iterator[FieldFault]:
        # ASP.NET tells of its method's own parameter besides the body's `$.task_id`.
        by_way = any(name == "$" or name.startswith("$.") for name in members)
        for name, inner in members.items():
            if name.startswith("$") or not by_way:
                yield from self._in_member(
                    name, inner, above, fields=fields, depth=depth
                )

    def _is_by_name(self, value: Mapping[str, JSON]) -> bool:
        """Return whether all that an object has are lists of what is said of names.

        One that was sent tells, so that a `status` beside it is a name, too.
        """
        is_of_lists = all(isinstance(one, list) and one for one in value.values())
        if not is_of_lists or any(value_at(self._sent, (one,)) for one in value):
            return is_of_lists
        said = [text for one in value.values() for text in _texts(one)]
        is_of_fields = any(spelling(one) not in _KEYS | _BODY_KEYS for one in value)
        return is_of_fields and bool(said) and all(map(self._is_of_its_field, said))

    def _is_of_its_field(self, said: str) -> bool:
        """Return whether a sentence judges what it stands under, and names nothing."""
        is_judged = " " in said and bool(fault_in(said))
        return is_judged and not any(self._prose.findings(said))

    def _repeats(self, inner: JSON, above: Path) -> bool:
        """Return whether it is what was sent there, or a list of names that were."""
        listed = inner if isinstance(inner, list) else []
        is_ours = bool(above and inner) and inner == value_at(self._sent, above)
        return is_ours or (bool(listed) and self._names.issuperset(map(str, listed)))

    def _place_of(self, value: Mapping[str, JSON]) -> Path | None:
        """Find which field an object speaks about, in structure or in words."""
        place = _place_in(value, self._sent)
        is_read = place is None and self._is_prose_read
        return _named_in_words(value) if is_read else place

    def _in_tree(self, tree: JSON, above: Path) -> Iterator[FieldFault]:
        """Read one of zod's trees, in which every name is a field, even `type`."""
        self._nodes -= 1
        if self._nodes < 0 or len(above) > _MAX_DEPTH or not isinstance(tree, dict):
            return
        for said in _texts(tree.get("errors")):
            prose = [*self._prose.findings(said, above)]
            inside = [one for one in prose if not above or _is_in(above, one, said)]
            yield from inside or ([_fault_at(above, said)] if above else [])
        members = tree.get("properties")
        for name, inner in members.items() if isinstance(members, dict) else ():
            yield from self._in_tree(inner, (*above, name))
        items = tree.get("items")
        for inner in items if isinstance(items, list) else ():
            yield from self._in_tree(inner, (*above, FIRST))

    def _at(
        self, path: Path, said: str, value: Mapping[str, JSON]
    ) -> Iterator[FieldFault]:
        """Read an object that says something of a field, or of members inside of it."""
        prose = (
            one
            for sentence in _sayings(value)
            if " " in sentence  # else a code, or a value that was received
            for one in self._prose.findings(sentence, path)
        )
        is_object = isinstance(value_at(self._sent, path), dict)
        inside = [one for one in prose if _is_in(path, one, said, is_object=is_object)]
        if is_object and not inside and fault_in(said) is Fault.MISSING:
            # An object that is there lacks what is named beside it.
            names = filter(is_name, map(str, _unsaid(value)))
            inside = [FieldFault((*path, one), Fault.MISSING) for one in names]
        yield from inside
        # An object with too much inside is not itself too much.
        if inside or (is_object and _STRICT.search(said)):
            return
        found = self._judged(_fault_at(path, said), said)
        wants = _asked_type(value) or found.wants
        each = (_fault_at(path, sentence).options for sentence in _sayings(value))
        options = tuple(_listed_options(value, path[-1])) or found.options
        options = options or next(filter(None, each), ())
        fault = found.fault
        if fault in {Fault.TYPE, Fault.VALUE}:
            fault = Fault.TYPE if wants and not options else Fault.VALUE
        phrase = "" if options or fault is not Fault.VALUE else found.phrase
        place, form = found.path, found.form
        yield FieldFault(place, fault, wants, options, phrase=phrase, form=form)

    def _judged(self, found: FieldFault, said: str) -> FieldFault:
        """Return what is said of a field as said of its value, where that is quoted.

        As in "No such offer: 'of_12'".
        """
        value = value_at(self._sent, found.path)
        is_quoted = isinstance(value, str | int) and len(f"{value}") > 1
        is_echo = "received" in said
        if (
            found.fault is Fault.UNKNOWN
            and is_quoted
            and not is_echo
            and f"{value}" in said
        ):
            return replace(found, fault=Fault.VALUE)
        return found

    def _in_member(
        self, name: str, inner: JSON, above: Path, *, fields: bool, depth: int
    ) -> Iterator[FieldFault]:
        spelled = spelling(name)
        if spelled in _SHOWN and isinstance(inner, dict):
            yield from _of_example(inner, self._sent, ())
            return
        texts = inner if isinstance(inner, list) else [inner]
        is_said = bool(texts) and all(isinstance(text, str) for text in texts)
        said = " ".join(map(str, texts))[:_MAX_SAID] if is_said else ""
        self._letters -= len(said)
        if is_said and above and name in _OF_THE_WHOLE:
            yield _fault_at(above, said)
            return
        if above and name.isdigit():
            yield from self._in_item(inner, (*above, FIRST), said, depth=depth)
            return
        if is_said and self._is_field(name, inner, said, fields=fields):
            yield from self._said_of((*above, *path_of(name)), map(str, texts), said)
            return
        if fields and isinstance(inner, dict) and _is_of_rules(inner):
            yield _fault_at(
                (*above, *path_of(name)), " ".join(map(str, inner.values()))
            )
            return
        there = value_at(self._sent, (*above, name))
        is_container = self._is_container(name, inner, there)
        is_sent = isinstance(there, dict) or (there is not None and _is_of_lists(inner))
        is_object = isinstance(inner, dict)
        if fields and isinstance(inner, list):
            is_nested = _is_nested(inner)
            is_object = is_nested or (bool(inner) and all(map(self._is_saying, inner)))
            # Cerberus has a list around the faults of an object, too.
            is_listed = not isinstance(there, dict) and not _is_numbered(inner)
            name = f"{name}.0" if is_nested and is_listed else name
        if is_object and (fields or is_sent) and not is_container and is_name(name):
            above, fields = (*above, *path_of(name)), True
        else:
            fields = is_object and (fields or is_container or _is_of_lists(inner))
        yield from self.findings(inner, above, fields=fields, depth=depth + 1)

    def _in_item(
        self, told: JSON, path: Path, said: str, *, depth: int
    ) -> Iterator[FieldFault]:
        """Read what is said of an item of a list, or of its members."""
        if said:
            yield from self._said_of(path, _texts(told), said)
        else:
            yield from self.findings(told, path, fields=True, depth=depth + 1)

    def _is_container(self, name: str, inner: JSON, there: JSON) -> bool:
        """Return whether findings are below a member, which is no field of ours."""
        if isinstance(inner, list) and len(inner) == 1:
            (inner,) = inner  # as Cerberus has around the faults of an object
        if there is not None and isinstance(inner, dict) and {*inner} <= _OF_THE_WHOLE:
            return False
        if not (isinstance(there, dict) and isinstance(inner, dict)):
            spelled = spelling(name)
            return spelled in _CONTAINERS | _PROSE_KEYS or "error" in spelled
        # Where it repeats our body, a word such as "data" is a field of it.
        told = inner.keys() - _OF_THE_WHOLE
        is_again = any(one.startswith(f"{name}.") for one in told)
        return is_again or any(
            spelling(one) in _KEYS
            and (isinstance(inner[one], str) or spelling(one) in _CONTAINERS)
            for one in told
        )

    def _by_field(
        self, told: Mapping[str, JSON], above: Path, *, depth: int
    ) -> Iterator[FieldFault]:
        """Read an object that has nothing but names of ours, even a `message`."""
        for name, inner in told.items():
            said = _texts(inner)
            if said and is_name(name):
                self._letters -= sum(map(len, said))
                whole = " ".join(said)[:_MAX_SAID]
                yield from self._said_of((*above, *path_of(name)), said, whole)
            else:
                inside = {name: inner}
                yield from self.findings(inside, above, fields=True, depth=depth + 1)

    def _said_of(
        self, path: Path, texts: Iterable[str], said: str
    ) -> Iterator[FieldFault]:
        """Read what is said of a field, or of members inside of the object it is."""
        is_object = isinstance(value_at(self._sent, path), dict)
        again = (*path, path[-1])  # some tell of `pod.text` under `pod`, some of `text`
        inside = [
            replace(one, path=path + one.path[len(again) :])
            if one.path[: len(again)] == again and len(one.path) > len(again)
            else one
            for text in (map(in_short, texts) if is_object else ())
            for one in self._prose.findings(text, path)
            if one.fault in _OF_NAMES and len(one.path) > len(path)
        ]
        yield from inside or [self._judged(_fault_at(path, said), said)]

    def _is_saying(self, item: JSON) -> bool:
        """Return whether an object says something, of a field named elsewhere."""
        if not isinstance(item, dict) or _is_of_lists_alone(item):
            return False
        return any(_sayings(item)) and _place_in(item, self._sent) is None

    def _is_field(self, name: str, inner: JSON, said: str, *, fields: bool) -> bool:
        """Return whether a member says something of the field of ours that it names."""
        spelled = spelling(name)
        is_odd = "error" in spelled or spelled == "fullmessages"
        is_odd = is_odd or not is_name(".".join(path_of(name)))
        is_listed = isinstance(inner, list) and all(
            map(_NO_SUBJECT.match, _texts(inner))
        )
        is_open = fields or is_listed or spelled not in _KEYS | _BODY_KEYS
        if is_odd or not is_open:
            return False
        if isinstance(inner, str):
            # A sentence: codes and names, such as "ZodError", say nothing of a field.
            is_coded = name in self._names and fault_in(said) and not said.isupper()
            is_sentence = " " in said.strip() or bool(is_coded)
            is_told = fault_in(said) or options_in(said) or _ONLY_ONE.search(said)
            is_alone = is_told and not any(self._prose.findings(said))
            is_judged = bool(spelled in _CODE_KEYS and is_alone)
            is_judged = is_judged or bool(_NO_SUBJECT.match(said))
            # What is said of a field stands under its name, even if that is `message`.
            is_judged = is_judged or bool(is_alone and _OF_ITS_FIELD.search(said))
            is_word = spelled in _PROSE_KEYS and not is_judged
            return fields and is_sentence and not is_word
        if fields:
            is_word = spelled in _PROSE_KEYS | _CONTAINERS and name not in self._names
            return not is_word or fault_in(said) is not None
        told = [one.path[-1] for one in self._prose.findings(said)]
        told += [word for word in re.findall(NAME, said) if word in self._names]
        named = {*map(spelling, told)}
        if value_at(self._sent, (name,)) is not None:
            named &= {*map(spelling, self._names)}  # no other word is a name then
        is_of_others = bool(named - {spelled})  # the sentences say of which
        # Words that are no sentences say nothing.
        is_said = spelled not in _CONTAINERS and any(
            " " in one for one in _texts(inner)
        )
        return not is_of_others and (is_said or fault_in(said) is not None)


def _has_language(value: Mapping[str, JSON]) -> bool:
    """Return whether an object says in which language its text is (RFC 5646)."""
    told = (str(value.get(name, "")) for name in _LANGUAGE_KEYS)
    return any(map(_LANGUAGE.fullmatch, told))


_LANGUAGE = LazyPattern(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,3}")
_BLANK = LazyPattern(r"%(\w+)|\{\{? ?(\w+) ?\}?\}")
"""Where a sentence that is translated has room for a name, as Magento's have."""


def _filled_in(value: dict[str, JSON]) -> dict[str, JSON]:
    """Return an object whose sentences have the names that stand beside them."""
    inside = [one for one in value.values() if isinstance(one, dict)]
    named = {name: one for layer in inside for name, one in layer.items()}

    def fill(blank: re.Match[str]) -> str:
        name = named.get(blank[1] or blank[2])
        return name if isinstance(name, str) else blank[0]

    return {
        key: _BLANK.sub(fill, one[:MAX_TEXT]) if named and isinstance(one, str) else one
        for key, one in value.items()
    }


def _texts(value: JSON) -> list[str]:
    """Return the texts of a list of them."""
    listed = value if isinstance(value, list) else [value]
    return [one for one in listed if isinstance(one, str)]


def _as_tree(formatted: Mapping[str, JSON], depth: int = 0) -> dict[str, JSON]:
    """Return what zod 3's `format` made as the tree that zod 4 makes."""
    inside: dict[str, JSON] = {
        FIRST if name.isdigit() else name: _as_tree(inner, depth + 1)
        for name, inner in formatted.items()
        if isinstance(inner, dict) and depth < _MAX_DEPTH
    }
    return {"errors": formatted.get("_errors"), "properties": inside}


def _is_tree(value: Mapping[str, JSON]) -> bool:
    """Return whether it is what zod's treeifyError makes of an object's issues."""
    return isinstance(value.get("properties"), dict) and value.keys() <= _TREE_KEYS


def _is_of_lists(value: JSON) -> bool:
    """Return whether an object has nothing but lists, as of what is said of fields."""
    if not isinstance(value, dict) or not _KEYS.isdisjoint(map(spelling, value)):
        return False
    return all(isinstance(one, list) and one for one in value.values())


def _is_nested(told: list[JSON]) -> bool:
    """Return whether a list has what is said of the items of a list."""
    return bool(told) and all(
        isinstance(one, list) or _is_of_lists(one) for one in told
    )


def _is_numbered(told: list[JSON]) -> bool:
    """Return whether a list has objects whose members are named by their places."""
    return all(isinstance(one, dict) and all(map(str.isdigit, one)) for one in told)


def _is_of_lists_alone(value: Mapping[str, JSON]) -> bool:
    """Return whether all members are lists or objects: fields, whatever their names.

    Lists of sentences, that is: Play has `{"msg": ["error.path.missing"]}`.
    """
    is_of_lists = all(isinstance(one, list | dict) for one in value.values())
    said = (text for one in value.values() for text in _texts(one))
    return bool(value) and is_of_lists and all(" " in text for text in said)


def _is_of_rules(value: Mapping[str, JSON]) -> bool:
    """Return whether an object says by rule what is wrong with a field.

    As CakePHP does: `{"_required": "This field is required"}`.
    """
    is_said = all(isinstance(one, str) and " " in one for one in value.values())
    is_named = any(one[:1] == "_" or spelling(one) in _RULES for one in value)
    return is_said and is_named


def _is_of_codes(value: Mapping[str, JSON]) -> bool:
    """Return whether an object has a word under each name for what is wrong there.

    As in `{"task": "missing-required-key", "note": "disallowed-key"}`.
    """
    known = _KEYS | _BODY_KEYS | {*_FIELD_KEYS, *_SAYING_KEYS}
    return bool(value) and all(
        isinstance(said, str)
        and " " not in said
        and is_name(name)
        and spelling(name) not in known
        and fault_in(said) is not None
        for name, said in value.items()
    )


_RULES = word_set(
    "required integer string numeric boolean array inlist enum minlength maxlength "
    "notempty notempty isunique presence inclusion"
)


def _is_in(
    path: Path, found: FieldFault, said: str, *, is_object: bool = False
) -> bool:
    """Return whether a sentence about an object names a member of it.

    Perhaps one of the same name, if an object was sent there.
    """
    name = found.path[-1]
    is_quoted = re.search(rf"[`'\"\u201c]{re.escape(name)}[`'\"\u201d]", said)
    is_new = is_object or spelling(name) != spelling(path[-1])
    is_other = len(found.path) > len(path) and is_new
    return (
        found.fault in {Fault.MISSING, Fault.UNKNOWN} and is_other and bool(is_quoted)
    )


_LIST_AT_END = LazyPattern(r"^[^\[{]{0,120}: (\[\s*\{.*\}\s*\])\W*$", re.DOTALL)


def _unpacked(text: str) -> JSON:
    """Return the JSON that a text holds: some services encode their faults twice."""
    listed = _LIST_AT_END.search(text)
    if text.lstrip()[:1] not in {"[", "{"} and not listed:
        return None
    packed = (listed[1] if listed else text)[:MOST_LETTERS]
    try:
        return parse(packed)
    except UnreadableJSONError:
        return from_python(packed)


def _layers(value: Mapping[str, JSON], name: str) -> Iterator[Mapping[str, JSON]]:
    """Return an object that may be inside, and what is around it."""
    inner = value.get(name)
    if isinstance(inner, dict):
        yield inner
    yield value


def _listed(
    value: Mapping[str, JSON], above: Path, said: str, sent: JSON
) -> Iterator[FieldFault]:
    """Read lists of names: `{"missing": ["task_id"]}`, and ajv's `params`."""
    is_object = isinstance(value_at(sent, above), dict)
    worded = {"fields", "keys"} if said else set[str]()
    told = [inner for key, inner in value.items() if key in worded]
    named = [
        ".".join(_place_in(name, None) or ()) if isinstance(name, dict) else str(name)
        for one in told
        if isinstance(one, list)
        for name in one
    ]
    for name in filter(is_name, named):
        yield _fault_at((*above, *path_of(name)), said)
    for layer in _layers(value, "params"):
        for key, inner in layer.items():
            is_worded = layer is value and key in worded
            fault = None if is_worded else _LISTS.get(spelling(key))
            if spelling(key) == "keys" and not said:
                fault = Fault.ALLOWED  # hapi: what is wrong with them is told elsewhere
            if fault and spelling(key) in _OF_RULE and not said:
                fault = Fault.ALLOWED
            names = inner if isinstance(inner, list) else [inner]
            if fault is not None and all(isinstance(name, str) for name in names):
                for name in filter(is_name, map(str, names)):
                    path = path_of(name)
                    is_again = not is_object and fault is Fault.MISSING
                    is_again = is_again and above[-len(path) :] == path
                    yield FieldFault(above if is_again else (*above, *path), fault)


def _listed_options(value: Mapping[str, JSON], name: str) -> Iterator[str]:
    """Return the values that stand beside what is said of a name, whatever their key.

    Spring lists its own codes for a fault there, which have the name in them.
    """
    inside = [one for one in value.values() if isinstance(one, dict)]
    for key, inner in (pair for layer in (*inside, value) for pair in layer.items()):
        listed: Sequence[JSON] = inner if isinstance(inner, list) else [inner]
        if isinstance(inner, str) and _QUOTED_LIST.fullmatch(inner):
            listed = _OPTION.findall(inner)
        is_listed = spelling(key) in _OPTION_KEYS or len(listed) > 1
        if (
            is_listed
            and spelling(key) not in _FIELD_KEYS
            and spelling(key) not in _LISTS
        ):
            texts = [one for one in listed if isinstance(one, str) and one]
            if len(texts) == len(listed) and not any(name in one for one in texts):
                yield from texts


def _by_spelling(value: Mapping[str, JSON]) -> dict[str, JSON]:
    # `_tag` names a type of Effect, and says nothing.
    return {spelling(key): inner for key, inner in value.items() if key != "_tag"}


def _sayings(value: Mapping[str, JSON]) -> Iterator[str]:
    told = _by_spelling(value)
    for key in _SAYING_KEYS:
        said = told.get(key)
        if isinstance(said, list):
            said = " ".join(one for one in said if isinstance(one, str))
        if isinstance(said, str):
            yield said
        elif isinstance(said, dict):
            yield " ".join([*said, *(v for v in said.values() if isinstance(v, str))])


def _unsaid(value: Mapping[str, JSON]) -> Iterator[JSON]:
    """Return what stands in an object that is neither words nor a place."""
    for key, inner in value.items():
        if spelling(key) not in {*_SAYING_KEYS, *_FIELD_KEYS} and not isinstance(
            inner, dict
        ):
            yield inner


def _has_parts(value: Mapping[str, JSON]) -> bool:
    """Return whether an object has lists of what is wrong, which say where."""
    lists = [one for one in value.values() if isinstance(one, list)]
    inside = islice(chain.from_iterable(lists), _MAX_FINDINGS)
    return any(_says(o) or _says_inside(o) for o in inside if isinstance(o, dict))


def _says_inside(value: Mapping[str, JSON]) -> bool:
    """Return whether an item has parts of its own, as class-validator's `children`."""
    lists = (one for one in value.values() if isinstance(one, list))
    inside = islice(chain.from_iterable(lists), _MAX_FINDINGS)
    return any(isinstance(one, dict) and _says(one) for one in inside)


def _says(value: Mapping[str, JSON]) -> bool:
    return any(" " in said for said in _sayings(value))


def _asked_type(value: Mapping[str, JSON]) -> str:
    """Return the type that an object says it wanted, itself or one below."""
    inside = [one for one in value.values() if isinstance(one, dict)]
    layers = [_by_spelling(layer) for layer in (value, *inside)]
    named = [layer.get(key) for layer in layers for key in _ASKED_TYPE_KEYS]
    named += [layer.get("type") for layer in _layers(value, "params")][:-1]  # ajv
    told = (one for one in named if isinstance(one, str) and '"' not in one)
    return next(filter(None, map(type_of_word, told)), "")


_POINTERS = in_order("instancepath datapath pointer loc")


def _points(value: Mapping[str, JSON]) -> bool:
    """Return whether an object points to a place, and so is about nothing else."""
    return any(
        _by_spelling(layer).get(key)
        for layer in _layers(value, "source")
        for key in _POINTERS
    )


def _place_in(value: Mapping[str, JSON], sent: JSON) -> Path | None:
    """Find which field an object speaks about; None when it names none."""
    # GraphQL says with `path` where in its answer, Spring which address it was, and
    # Micronaut which argument, where Jackson tells the whole way.
    no_path = not {"extensions", "locations", "timestamp"}.isdisjoint(value)
    no_path = no_path or any(map(_CHAIN.fullmatch, _texts([*value.values()])))
    names = sent if isinstance(sent, dict) else {}
    for layer in map(_by_spelling, _layers(value, "source")):
        for key in _FIELD_KEYS:
            named = layer.get(key)
            if not _may_be_place(key, named, names, is_answer=no_path):
                continue
            is_part = key in {"loc", "location"} and named in (["body"], "body")
            is_body = value.get("source") == "body" and "data" not in names
            is_litestars = named == "data" and is_body
            is_whole = named == "/request" and "request" not in names  # Micronaut's
            if named == "/body" or is_part or is_litestars or is_whole:
                return None  # the body as a whole
            named = _joined(key, named)
            if not isinstance(named, str) or _is_verdict(named):
                continue
            if key == "property" and named.isdigit():
                return (FIRST,)  # class-validator, of an item of a list
            path = path_of(named, names)
            part = next(filter(_OUTSIDE.get, map(str, map(value.get, _PART_KEYS))), "")
            path = (part, *path) if part and len(path) == 1 else path
            if is_name(".".join(path)) and not (key == "location" and named in _PARTS):
                return path
    return None


_ADDRESSES = frozenset(one.path for one in ENDPOINTS)
"""Which stand under `path`, too, where an answer tells what was asked."""


def _joined(key: str, named: JSON) -> JSON:
    """Return a way that is a list of names as a text."""
    elements = named.get("elements") if isinstance(named, dict) else None
    if isinstance(elements, list):  # protovalidate's
        named = [one.get("fieldName") for one in elements if isinstance(one, dict)]
    if not isinstance(named, list):
        return named
    begins = key == "loc" and named[:1] == ["body"]
    return ".".join(map(_part, named[begins:_MAX_DEPTH]))


def _is_verdict(named: str) -> bool:
    """Return whether a name is one of an error, such as `missing_field` of goa."""
    words = words_of(named)
    is_bare = len(words) > 1 and not {".", "/"} & {*named}
    is_of_verdicts = is_bare and _VERDICTS.issuperset(words)
    return is_of_verdicts or named.endswith(("Error", "Exception"))


def _may_be_place(
    key: str, named: JSON, names: Container[str], *, is_answer: bool
) -> bool:
    """Return whether what stands under a key may be a way in our body.

    `is_answer`: a `path` is one in an answer, or an address, unless it begins with a
    name that was sent. And `where` something went wrong may be a part of the service.
    """
    if isinstance(named, str) and named in _ADDRESSES:
        return False
    if key == "path" and is_answer:
        return isinstance(named, list) and bool(named) and named[0] in names
    is_way = isinstance(named, str) and (named in names or "." in named)
    return key != "where" or is_way


def _named_in_words(value: Mapping[str, JSON]) -> Path | None:
    """Return a name of several words, under any key, that is told in plain ones, too.

    As in "Give the loan number first." beside `"at": "loan_number"`.
    """
    told = [word for said in _sayings(value) for word in words_of(said)]
    for key, named in value.items():
        words = words_of(named) if isinstance(named, str) and is_name(named) else ()
        is_told = f" {' '.join(words)} " in f" {' '.join(told)} "
        if len(words) > 1 and is_told and spelling(key) not in _PROSE_KEYS:
            return (str(named),)
    return None


def _is_rooted(value: Mapping[str, JSON]) -> bool:
    """Return whether a structure has the whole way to a field, as FastAPI has."""
    named = value.get("loc")
    return isinstance(named, list) and named[:1] == ["body"]


def _at_root(found: FieldFault) -> FieldFault:
    return replace(found, is_root=True)


_PART_KEYS = ("in", "location", "source")
"""Where a structure has the part of the request that it speaks about."""
_OUTSIDE = {"header": HEADER, "headers": HEADER, "query": QUERY, "querystring": QUERY}


def _sent_outside(found: FieldFault, sent: JSON) -> FieldFault | None:
    """Return what is said of a part of the request that is not its body as said there.

    None: of a header that is the client's own.
    """
    part, *name = found.path
    prefix = _OUTSIDE.get(part.lower())
    if prefix is None or len(name) != 1 or (isinstance(sent, dict) and part in sent):
        return found
    if prefix == HEADER and name[0].lower() in OWN_HEADERS:
        return None
    return replace(found, path=(prefix + name[0],))


def _part(part: JSON) -> str:
    return str(part.get("key") if isinstance(part, dict) else part)


# -- all that is said ------------------------------------------------------------


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
    body = message if body is None else body
    clear = _understood(body, message, sent, is_prose_read=is_prose_read)
    is_open = is_prose_read and is_of_body
    is_unclear = not clear or any(one.phrase and not one.options for one in clear)
    if is_open and is_unclear:
        others = [
            *_placed_anyhow(body, sent, phrases),
            *_in_phrases(body, sent, phrases),
        ]
        clear = [*{one.path: one for one in (*others, *clear)}.values()]
    clear = clear or _named_in_passing(_mentions(body, sent), sent)
    clear = clear or ([*_said_of_one(body, sent)] if is_open else [])
    placed = (_sent_outside(one, sent) for one in clear)
    known = (_in_unknown_words(one, sent) for one in placed if one is not None)
    judged = (_in_light_of(one, sent) for one in known)
    meant = (replace(one, fault=phrases.get(one.phrase, one.fault)) for one in judged)
    return tuple(_with_options(one, _prose_of(body, sent)) for one in meant)


def _understood(
    body: JSON, message: str, sent: JSON, *, is_prose_read: bool
) -> list[FieldFault]:
    """Return what is said in words that are understood, or surely of a field."""
    found: dict[Path, FieldFault] = {}
    findings = _Walk(sent, is_prose_read=is_prose_read).findings(body)
    if isinstance(body, dict) and body.get("title") == _OF_QUARKUS:
        findings = map(_without_method, findings)
    for one in findings:
        known = found.get(one.path)
        if known is None or _is_surer(one, known):
            found[one.path] = one
        elif known.fault is one.fault or one.fault in {Fault.TYPE, Fault.VALUE}:
            # class-validator tells one field's faults one by one.
            wants, options = known.wants or one.wants, known.options or one.options
            found[one.path] = replace(known, wants=wants, options=options)
        if len(found) >= _MAX_FINDINGS:
            break
    names, ours = leaf_names(sent), {*_strings(sent)}
    clear = [
        replace(one, phrase="") if one.phrase in ours else one  # no words of theirs
        for one in _without_guesses([*_without_echoes(found.values())], names)
        if not _is_of_a_key(one, found)
    ]
    if is_prose_read and all(map(_is_untold, clear)):
        about = _said_of_a_name(_prose_of(body, sent), sent)
        is_meant = about and all(
            one.path[-1:] == about.path
            # What is unknown may be the value, where others are listed.
            and (about.options or one.fault is not Fault.UNKNOWN)
            for one in clear
        )
        clear = [about] if about and is_meant else clear
    is_of_words = bool(clear) and all(_may_be_word(one, names) for one in clear)
    clear = (is_of_words and _named_beside(body, sent)) or clear
    is_doubtful = all(_may_be_misread(one, names) for one in clear)
    if not is_doubtful or says_strict(body, message):
        return clear
    told = [*_prose_of(body, sent)]
    return (
        _named_by_value(told, sent)
        or _named_by_type(told, sent)
        or clear
        or _named_beside(body, sent)
        or _named_beside_its_value(told, sent)
        or (_told_by_keys(body, sent) if is_prose_read else [])
        or (_missed_in_prose(told, sent) if is_prose_read else [])
    )


_OF_QUARKUS = "Constraint Violation"
"""The title above violations whose ways begin with a method and its parameter."""


def _without_method(found: FieldFault) -> FieldFault:
    method_and_parameter = 2
    is_in_both = len(found.path) > method_and_parameter
    return (
        replace(found, path=found.path[method_and_parameter:]) if is_in_both else found
    )


def means_our_id(said: JSON) -> bool:
    """Return whether the words of a refusal describe our own identifier."""
    texts = (text[:MAX_TEXT] for text in islice(_strings(said), _MAX_FINDINGS))
    return any(map(_OUR_ID.search, texts))


_AGENT = f"(?:{'|'.join(sorted(AGENT_NOUNS - {'by', 'who'}))})"
_OUR_ID = any_case(
    rf"\b(?:your(?: own)?|own) {_AGENT}[ _-]?(?:id|identifier)\b"
    rf"|\b(?:authenticated|calling) {_AGENT}\b"
    r"|\b(?:the|your) agent[ _-]?id of\b"
    r"|\b\w+ (?:of|behind|for) (?:this|the|your) (?:access )?"
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


def _prose_of(body: JSON, sent: JSON) -> Iterator[str]:
    """Return the texts of a refusal without our body, as many as may be searched."""
    letters = MOST_LETTERS
    for text in _strings(body):
        if letters <= 0:
            return
        letters -= min(len(text), MAX_TEXT)
        yield without_echo(text[: 2 * MAX_TEXT], sent)[:MAX_TEXT]


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
    return not (one.is_exact or name in names or _HUMPED.search(name))


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


def _named_by_value(told: Iterable[str], sent: JSON) -> list[FieldFault]:
    """Read what is wanted where a value of ours is quoted in place of its name."""
    named = []
    for text in told:
        quoted = {*_OPTION.findall(text[:MAX_TEXT]), *_UNCLOSED.findall(text)}
        begun = tuple(one for one in quoted if len(one) >= _SHORTEST_ECHO)
        leaves = [(path, str(value)) for path, value in leaves_of(sent)]
        # Words of ours repeat the result: as that, they are hardly wrong.
        places = [path for path, value in leaves if value in quoted]
        types = "".join(f"{spelling(one)} " for one in _TYPE_NAMED.findall(text))
        places.sort(
            key=lambda path: (
                f"{spelling(path[-1])} " in types,
                _likeness_to_a_result(path),
            )
        )
        places = places[-1:]
        found = [_of_value(_fault_at(path, text)) for path in places]
        if (last := _LAST.search(text)) and not any(one.options for one in found):
            found = [replace(one, options=_items_in(last[1])) for one in found]
        if len(found) == 1 and (found[0].wants or found[0].options):
            named += found
        elif not found and begun:
            # A parser quotes no more than the beginning of what it cannot read.
            paths = [path for path, value in leaves if value.startswith(begun)]
            named += [FieldFault(path, Fault.VALUE) for path in paths[:1]]
    return named


def _named_beside_its_value(told: Iterable[str], sent: JSON) -> list[FieldFault]:
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


_NOT_THERE = any_case(
    r"(?:the |no such |unknown )?\w+(?: \w+)?"
    r" (?:(?:was |is |could )?not (?:be )?found|does(?: not|n't) exist)\W*$"
)
_SHOWN_VALUE = LazyPattern(r"(?<![\w-])[\w:-]{1,80}(?![\w-])")
_QUOTED_VALUE = LazyPattern(r"\"([^\"]{1,80})\"|(?<!\w)'([^']{1,80})'(?!\w)")
_NOT_AS = any_case(r"\b(?:not match|mismatch|expected|(?:must|should) be|instead of)\b")


def _named_by_type(told: Iterable[str], sent: JSON) -> list[FieldFault]:
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
        else:
            continue
        places = places if len(places) == 1 else texts
        if len(places) == 1:
            return [FieldFault(places[0], Fault.TYPE, "object")]
    return []


_ANY_TEXT = LazyPattern(
    r"^\[?instance type \(string\) .* primitive type \(allowed: \[\"object\"\]\)\]?$"
    r"|\bproto:.* syntax error \([^)]*\): unexpected token [#\"]"
)
"""AWS API Gateway and Protocol Buffers, which do not tell where."""
_INSTANCE_OF = LazyPattern(
    r"Cannot construct instance of `(?:[\w$]+\.)*(?P<stem>\w+?)(?:Dto|DTO|Model)?`"
)
_TYPE_NAMED = LazyPattern(r"\btype [`'\"]?(?:\w+\.)*(\w+)")
"""Of a type of the service's own, which often is called as the field is at its end."""


def _likeness_to_a_result(path: Path) -> int:
    """Return a rank, of which less is likelier."""
    name = path[-1].lower()
    return RESULT_WORDS.index(name) if name in RESULT_WORDS else len(RESULT_WORDS)


def _of_value(found: FieldFault) -> FieldFault:
    """Return what is said of a value: what is unknown is that, and not its name."""
    is_value = found.fault is Fault.UNKNOWN
    return replace(found, fault=Fault.VALUE) if is_value else found


_UNCLOSED = LazyPattern(r"['\"]([^'\"]{1,80})$")
_LAST = LazyPattern(rf":\s*({_BARE_ITEM}(?:,\s*{_BARE_ITEM})*)\W*$")
"""What a sentence about a value lists at its end, be it a single one."""
_LISTED_FOR = LazyPattern(rf"^(?P<what>[^:]{{1,60}}){_LAST.pattern}")


def _with_options(found: FieldFault, told: Iterable[str]) -> FieldFault:
    """Return what is missed with the values that a sentence of its own lists for it.

    As in "Operations on this path: ClaimBounty." of an `operationName`.
    """
    if found.fault is not Fault.MISSING or found.options or found.wants:
        return found
    several = {f"{word}s" for word in words_of(found.path[-1])}
    for clause in (one for text in told for one in _SENTENCES.split(text)):
        listed = _LISTED_FOR.match(clause)
        if listed and several & {*re.findall(r"[a-z]+", listed["what"].lower())}:
            return replace(found, options=_items_in(listed[2]))
    return found


def _named_beside(body: JSON, sent: JSON) -> list[FieldFault]:
    """Take the name that stands beside each sentence of a list, in any language."""
    lists = (one for _, one in islice(walk(body), _MAX_NODES) if isinstance(one, list))
    named = []
    for item in (one for listed in lists for one in listed if isinstance(one, dict)):
        texts = {key: one for key, one in item.items() if isinstance(one, str)}
        names = [
            path_of(one, sent if isinstance(sent, dict) else ())
            for key, one in texts.items()
            if is_name(one)
            and not (one.isupper() or _is_verdict(one))
            and spelling(key) not in _PROSE_KEYS
            and one not in _PARTS
        ]
        said = " ".join(one for one in texts.values() if " " in one)
        if len(names) == 1 and names[0] and said:
            found = _fault_at(names[0], said)
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


def _said_of_a_name(told: Iterable[str], sent: JSON) -> FieldFault | None:
    """Return what sentences say of the only name of ours in them: a type, or options.

    As in "The badge has to be a number" and "No such voice. We have alto or tenor."
    """
    leaves = {path[-1]: value for path, value in leaves_of(sent) if path}
    for text in (one[:MAX_TEXT] for one in told if " " in one):
        words = {one.lower() for one in re.findall(NAME, text)}
        named = [one for one in leaves if one.lower() in words]
        named = [one for one in named if one not in _TYPES] or named
        if len(named) != 1:
            continue
        (name,) = named
        there, path = leaves[name], (name,)
        others = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", text)
        options = _options_in_prose(others, there)
        if options:
            return FieldFault(path, Fault.VALUE, "", options, is_exact=False)
        wants = _type_in_prose(others) or wanted_type(others)
        if wants and type_of(there) not in {wants, "integer" if "num" in wants else ""}:
            return FieldFault(path, Fault.TYPE, wants, is_exact=False)
    return None


def _options_in_prose(text: str, there: JSON) -> tuple[str, ...]:
    """Return values that a sentence lists, where the one sent is none of them.

    None for a text of several words: such a value is the work, and not a choice.
    """
    listed = _OPTIONS_IN_PROSE.search(_POINTER.sub(" ", text))
    alone = _ONLY_ONE.search(text)
    told = listed[0] if listed else alone[1] if alone else ""
    if not told or " " in str(there):
        return ()
    items = _items_in(told)
    words = {one.lower() for one in items}
    is_choice = words.isdisjoint(_NO_NAMES) and words != {"true", "false"}
    return items if is_choice and str(there) not in items else ()


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


def _told_by_keys(body: JSON, sent: JSON) -> list[FieldFault]:
    """Read structures in words of a network's own, by what stands beside what.

    `{"still_needed": ["badge"]}`, `{"badge": "please fill in"}`, `{"badge": false}` and
    `{"what": "badge", "why": "missing"}` all miss the badge.
    """
    found: dict[Path, FieldFault] = {}
    around: set[str] = set()
    for way, value in islice(walk(body), _MAX_NODES):
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
            yield from _of_example(inner, sent, ())
        elif (
            words & _MISSED_WORDS or words >= {"left", "out"} or words >= {"fill", "in"}
        ):
            yield from _missing_of(_named_plainly(inner), names)
        elif is_name(key) and spelling(key) not in _KEYS | _BODY_KEYS:
            yield from _under_name(key, inner, value, sent)


def _under_name(
    name: str, inner: JSON, value: Mapping[str, JSON], sent: JSON
) -> Iterator[FieldFault]:
    """Read what stands under a name: a sentence, a flag, or an object with either."""
    names = leaf_names(sent)
    layer = [*inner.values()] if isinstance(inner, dict) else inner
    texts = [one[:MAX_TEXT] for one in _texts(layer)]
    if isinstance(inner, dict) and inner.get("required") is True:
        texts.append("required")
    is_flag = inner is False and any(one is True for one in value.values())
    if is_flag or any(map(_LACKING.search, texts)):
        yield from _missing_of([name], names)
    elif name in names and (told := [o for o in texts if wanted_type(o)]):
        yield _fault_at((name,), told[0])


def _in_pair(value: Mapping[str, JSON], sent: JSON) -> Iterator[FieldFault]:
    """Read a name beside a word that says that it is missing, whatever the keys."""
    texts = [one for one in value.values() if isinstance(one, str)]
    is_missing = any(_LACKING.search(one[:MAX_TEXT]) for one in texts)
    named = [
        name
        for key, one in value.items()
        if not isinstance(one, str) or not _LACKING.search(one[:MAX_TEXT])
        for name in _named_plainly(one)
        if spelling(key) not in _OPTION_KEYS
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
        if not is_ours and name not in sent and not words & (_HARDLY_NAMED | _NO_NAMES):
            yield FieldFault((name,), Fault.MISSING, is_exact=False)


def _missed_in_prose(told: Iterable[str], sent: JSON) -> list[FieldFault]:
    """Take a plain word for the name of what is missed, where a sentence has it so.

    None of our own words: of a claim, a task or an agent much is said that is not about
    the body.
    """
    clauses = (one for text in told for one in _SENTENCES.split(text[:MAX_TEXT]))
    found = (_missed_in(clause.strip(), sent) for clause in clauses)
    paths = dict.fromkeys((name,) for name in found if name)
    return [FieldFault(path, Fault.MISSING, is_exact=False) for path in paths]


def _missed_in(clause: str, sent: JSON) -> str:
    """Return the plain word that is missed in a clause; empty when none is."""
    names = leaf_names(sent)
    known = names | {str(value) for _, value in leaves_of(sent)}
    is_lower = not any(name[:1].isupper() for name in names)
    for match in filter(None, (frame.search(clause) for frame in _MISSED)):
        told = match["name"]
        is_odd = told.isupper() or not _HUMPED.search(told)
        name = told.lower() if is_lower and is_odd else told
        words = {*words_of(name), name.lower()}
        is_other = not words & (_HARDLY_NAMED | _NO_NAMES)
        if is_other and words - _MEANT and name not in known:
            return name
    return ""


def _placed_anyhow(
    body: JSON, sent: JSON, phrases: Container[str]
) -> Iterator[FieldFault]:
    """Take the places that a structure has, where nothing that it says is understood.

    As in `[{"path": "job", "message": "E17"}]`, `{"errors": {"job": ["E17"]}}`
    and "job: E17; agent_id: E18".
    Something is wrong there; what nobody sent is missing.
    """
    letters = MOST_LETTERS
    for way, value in islice(walk(body), _MAX_NODES):
        letters -= len(value) if isinstance(value, str) else 0
        if letters < 0:
            return
        if isinstance(value, str):
            yield from _before_colons(value[:MAX_TEXT], sent, phrases)
        if isinstance(value, list):
            yield from _in_table(value, sent, phrases)
        if not isinstance(value, dict) or _has_parts(value):
            continue
        place, said = _place_in(value, sent), [*_sayings(value)]
        if place is None:
            yield from _under_containers(way, value, sent)
        elif said and not (
            all(spelling(one) in _STATUSES for one in said)
            # An object with too much inside is not itself too much.
            or (isinstance(value_at(sent, place), dict) and says_strict(value, ""))
        ):
            yield _fault_at(place, " ".join(said))


def _under_containers(
    way: Path, value: Mapping[str, JSON], sent: JSON
) -> Iterator[FieldFault]:
    """Read the names in an object that has what is said of each, in a container."""
    inside = [*takewhile(lambda name: not _is_container(name), reversed(way))]
    is_around_all = len(inside) == len(way) and not (way and _names_one(value, sent))
    while inside and inside[-1] not in (sent if isinstance(sent, dict) else ()):
        inside.pop()  # it is a container, whatever it is called
    ours = leaf_names(sent) | {*_strings(sent)}
    is_of_lists = bool(value) and all(isinstance(one, list) for one in value.values())
    known = _NEVER_SHOWN | _BODY_KEYS | {*_FIELD_KEYS, *_SAYING_KEYS}
    told = {str(one) for name, one in value.items() if spelling(name) not in known}
    # A `message` may be a name, too, of which the same is said as of others.
    is_of_texts = not is_around_all and all(
        isinstance(one, str) and one in told for one in value.values()
    )
    for name, inner in value.items():
        said = _texts(inner)
        is_around = _is_container(name) and (is_around_all or name.lower() != "data")
        is_place = is_name(name) and not (is_around or name in _OF_THE_WHOLE)
        is_said = bool(said) and not ours.issuperset(said)
        if is_place and is_said and (is_of_lists or is_of_texts):
            path = (*reversed(inside), *path_of(name))
            yield _fault_at(path, " ".join(said))


def _names_one(value: Mapping[str, JSON], sent: JSON) -> bool:
    """Return whether a key is surely a name of a body."""
    return any(_is_surely_name(name, sent) for name in value)


def _is_surely_name(text: str, sent: JSON) -> bool:
    names = leaf_names(sent)
    is_ours = bool({*re.split(r"[./]", text)} & names)
    is_ours = is_ours or _MEANT.issuperset({*words_of(text)} - ID_WORDS)
    return is_name(text) and (is_ours or bool(_HUMPED.search(text)))


def _in_table(
    rows: list[JSON], sent: JSON, phrases: Container[str]
) -> Iterator[FieldFault]:
    """Read a list whose items each have a name, and what is said of it, anywhere.

    As in `[{"florp": "task_id", "snark": "E17"}]` and `[["task_id", "E17"]]`.
    """
    ours = {*_strings(sent)}
    cells = [
        row if isinstance(row, dict) else dict(zip("0123456789", row, strict=False))
        for row in rows
        if isinstance(row, dict | list)
    ]
    is_known = any(spelling(key) in _FIELD_KEYS for row in cells for key in row)
    is_table = bool(cells) and len(cells) == len(rows) and not is_known
    for key in cells[0] if is_table else ():
        ways = [_way_in(row.get(key)) for row in cells]
        said = [_said_beside(key, row) for row in cells]
        is_of_names = all(way and way not in ours for way in ways) and all(said)
        if (
            is_of_names
            and spelling(key) not in {*_SAYING_KEYS}
            and "code" not in spelling(key)
            and (
                any(_is_surely_name(way, sent) for way in ways)
                or any(one in phrases for one in said)
            )
        ):
            for named, told in zip(ways, said, strict=True):
                yield _fault_at(path_of(named), told)
            return


def _way_in(cell: JSON) -> str:
    """Return a name, or the way to one, that is all there is; empty where it is not."""
    parts = cell if isinstance(cell, list) else [cell]
    way = ".".join(map(str, parts))
    return way if isinstance(cell, str | list) and parts and is_name(way) else ""


def _said_beside(key: str, row: Mapping[str, JSON]) -> str:
    others = (one for name, one in row.items() if name != key)
    return " ".join(one for one in others if isinstance(one, str))


def _in_phrases(
    body: JSON, sent: JSON, phrases: Mapping[str, Fault]
) -> Iterator[FieldFault]:
    """Read the names that stand where a phrase has one, be they plain words."""
    frames = [
        (LazyPattern(rf"({NAME})".join(map(re.escape, phrase.split("#", 1)))), fault)
        for phrase, fault in phrases.items()
        if phrase.count("#") == 1
    ]
    for text, (frame, fault) in product(_prose_of(body, sent), frames):
        if match := frame.fullmatch(text):
            path = path_of(match[1])
            yield FieldFault(path, fault, is_exact=len(path) > 1)


def _chosen_in(phrase: str, there: JSON) -> str:
    """Return the value that a few words about a choice end with, as in "E20 closed"."""
    _, *words = re.findall(r"[^\s'\"`]+", phrase.rstrip(" .!"))[: _FEW_WORDS + 1]
    last = words[-1] if 0 < len(words) < _FEW_WORDS else ""
    is_value = last[:1].isalpha() and not type_of_word(last)
    is_value = is_value and _VERDICTS.isdisjoint(words_of(last))
    return last if is_value and last != str(there) else ""


_FEW_WORDS = 3
_CHOICES = word_set("status state action type kind format mode outcome decision")
"""Last words of names under which there is one of a few values."""


def _before_colons(
    text: str, sent: JSON, phrases: Container[str]
) -> Iterator[FieldFault]:
    """Read a text of nothing but names with what is said of each."""
    clauses = [_NAMED_LINE.fullmatch(one) for one in _LINES.split(text.strip(" ."))]
    told = [one for one in clauses if one and not _is_verdict(one["name"])]
    names = leaf_names(sent)
    is_of_names = any(
        one["said"] in phrases
        or one["name"] in _AROUND
        or _is_surely_name(one["name"], sent)
        for one in told
    )
    if len(told) == len(clauses) and is_of_names:
        yield from (_fault_at(path_of(one["name"], names), one["said"]) for one in told)


_AROUND = frozenset({"data", "input", "payload"})
"""What is around a body, and hardly begins a sentence."""
_LINES = LazyPattern(r"[;\n]\s*")
_NAMED_LINE = LazyPattern(rf"[`'\"]?(?P<name>{NAME})[`'\"]?: (?P<said>\S.*)")
_STATUSES = frozenset(spelling(one.phrase) for one in HTTPStatus)


def _in_unknown_words(found: FieldFault, sent: JSON) -> FieldFault:
    """Return what is said of a value that is there, in words that are not understood.

    What they list may stand there instead, and so may what is of the type they name.
    """
    there = value_at(sent, found.path)
    if not found.phrase or there is None:
        return found
    is_choice = not _CHOICES.isdisjoint(words_of(found.path[-1])[-1:])
    if options := _options_in_prose(found.phrase, "" if is_choice else there):
        return replace(found, options=options, phrase="")
    if is_choice and (chosen := _chosen_in(found.phrase, there)):
        return replace(found, options=(chosen,))
    kinds = {type_of_word(word) for word in re.findall(r"[A-Za-z]+", found.phrase)}
    is_number = type_of(there) in _NUMBERS
    others = (kinds & _JSON_TYPES) - {type_of(there)}
    others -= _NUMBERS if is_number else frozenset()
    if len(others) == 1:
        return replace(found, fault=Fault.TYPE, wants=others.pop(), phrase="")
    return found


def _is_container(name: str) -> bool:
    return spelling(name) in _CONTAINERS | {"fields"}


_SENTENCES = LazyPattern(r"(?<=[.!?;])\s+")
_TOKEN = LazyPattern(
    rf"(?P<quote>(?<!\w)[`'\"\u201c\u2018]|\u00ab\s?|)(?P<name>{NAME})(?![^\W_])"
)
_ASCII_TOKEN = LazyPattern(_TOKEN.pattern, re.ASCII)
_HUMPED = LazyPattern(r"[A-Za-z0-9]_[A-Za-z0-9]|[a-z0-9][A-Z]")
"""What looks like a name in any language: it has a `_` or a hump."""
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
    found = _mentions(body, sent)
    found.sort(key=lambda one: -one.form)
    return tuple(one.path[-1] for one in found if one.path[-1] not in names)


def _mentions(body: JSON, sent: JSON) -> list[_Mention]:
    """Return what a refusal mentions that may be a name."""
    values = {one for one in _strings(sent) if one}
    found: dict[Path, _Mention] = {}
    letters = MOST_LETTERS
    for way, value in islice(walk(body), _MAX_NODES):
        if not isinstance(value, str) or value in values or letters <= 0:
            continue
        text = without_echo(value[:MAX_TEXT], sent)
        letters -= len(text)
        if text.lstrip()[:1] in {"[", "{"} and _unpacked(text) is not None:
            continue  # it was read as a structure
        is_lone = text.isascii() and " " not in text.strip()
        key = spelling(way[-1]) if way else ""
        if is_lone and (key in _BODY_KEYS or value[:1] == "/" or "://" in value):
            continue  # an address
        is_code = is_lone and (not way or key in _PROSE_KEYS)
        read = partial(_mentioned_in, is_lone=is_lone, is_code=is_code)
        for one in chain.from_iterable(map(read, _LINES.split(text))):
            is_value = one.path[-1] in values
            is_better = one.path not in found or one.form > found[one.path].form
            if is_better and not is_value:
                found[one.path] = one
    return [*found.values()]


def _mentioned_in(text: str, *, is_lone: bool, is_code: bool) -> Iterator[_Mention]:
    is_foreign = bool(_FOREIGN.search(text))
    clean = _OTHERS.sub(" ", text)
    # Some scripts have no space between a name and the word after it.
    more = _ASCII_TOKEN.finditer(clean) if is_foreign else ()
    for match in chain(_TOKEN.finditer(clean), more):
        name, is_quoted = match["name"], bool(match["quote"])
        if (is_foreign and not is_quoted and not name.isascii()) or _is_type(name):
            continue
        words = [one for one in words_of(name) if not is_code or one not in _VERDICTS]
        is_type = name.endswith(("Error", "Exception")) or name.isupper()
        known = _NO_NAMES - _WEAK_NAMES if is_quoted else _NO_NAMES
        if not words or known.issuperset(words) or (is_type and not is_code):
            continue
        is_like_one = is_foreign or "[" in name or bool(_HUMPED.search(name))
        form = 0 if is_lone else 2 if is_quoted else int(is_like_one)
        if form or not _MEANT.isdisjoint(words):
            yield _Mention(path_of("_".join(words) if is_code else name), form, text)


_VERDICTS = _NO_NAMES | word_set(
    "absent blank code err exist exists fail failure found incorrect mandatory not "
    "unset wrong"
)
"""Words of a code such as TASK_ID_REQUIRED that are none of a name."""
_MEANT = TASK_NOUNS.union(AGENT_NOUNS, RESULT_WORDS, EVIDENCE_WORDS, *NOUNS.values())
_MEANT -= _NO_NAMES | {"by", "who"}


def _named_in_passing(mentions: Iterable[_Mention], sent: JSON) -> list[FieldFault]:
    """Take names out of sentences that nobody understands."""
    names = leaf_names(sent)
    formed = [one for one in mentions if one.form]
    missed = [one for one in formed if one.path[-1] not in names]
    # "Give your own agent_id as 'operator'" tells one name, and what it means.
    called = [one for one in missed if _is_called(one)]
    missed = called or missed
    if missed:
        return [
            FieldFault(
                one.path,
                Fault.MISSING,
                is_exact=len(one.path) > 1,
                phrase=phrase_of(one.text, one.path),
            )
            for one in missed
        ]
    most = max((one.form for one in formed), default=0)
    clear = [one for one in formed if one.form == most]
    return [_fault_at(one.path, one.text, is_exact=False) for one in clear]


def _said_of_one(body: JSON, sent: JSON) -> Iterator[FieldFault]:
    """Take what is said of the only name of ours in a clause that nobody understands.

    A plain word of the trade, such as `result`, is one where a type or values follow.
    """
    ways = {path[-1]: path for path, _ in leaves_of(sent) if path}
    for clause in (c for text in _prose_of(body, sent) for c in _LINES.split(text)):
        named = [word for word in re.findall(NAME, clause) if word in ways]
        if len(named) == 1 and " " in clause:
            found = _in_unknown_words(_fault_at(ways[named[0]], clause), sent)
            is_plain = found.phrase and _MEANT.issuperset(words_of(named[0]))
            if found.fault in {Fault.TYPE, Fault.VALUE} and not is_plain:
                yield found


def _is_called(one: _Mention) -> bool:
    """Return whether a sentence says that something is to be called so."""
    name = re.escape(one.path[-1])
    return one.form > 1 and bool(
        re.search(rf"\bas [`'\"\u201c\u2018]{name}\b", one.text)
    )


def leaf_names(body: JSON) -> set[str]:
    """Return every name in a body."""
    return {name for path, _ in leaves_of(body) for name in path}


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
    for i in range(1, min(len(found.path), 2 if is_vague else _MAX_DEPTH)):
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
        for way, value in reversed([*islice(walk(sent), _MAX_NODES)])
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


def _within(sent: JSON, name: str) -> JSON:
    """Return what was sent under a name, in whatever object."""
    return next((v for way, v in walk(sent) if way[-1:] == (name,)), None)


def _in_light_of(found: FieldFault, sent: JSON) -> FieldFault:
    """Judge a finding by what was sent."""
    found = _without_root(_from_the_root(found, sent), sent)
    found = _in_an_object_of(found, sent)
    found = replace(found, path=_without_tag(found.path, sent))
    there = value_at(sent, found.path)
    if isinstance(there, dict) and there and found.options:
        found = _of_a_tag(found, there)
        there = value_at(sent, found.path)
    if there in found.options:  # what was found, after what is allowed
        found = replace(found, options=tuple(o for o in found.options if o != there))
    is_object_id = isinstance(there, str) and bool(_OBJECT_ID.fullmatch(there))
    if found.fault is Fault.TYPE and found.wants == "id" and is_object_id:
        return replace(found, wants="objectid")  # as its extended JSON writes one
    if found.fault is Fault.TYPE and not found.wants and found.path[-1] == FIRST:
        return replace(found, wants="object")
    # Another spelling of a name that was sent is that of the server's language.
    name, names = found.path[-1], leaf_names(sent)
    is_spelled = name not in names and spelling(name) in map(spelling, names)
    # What nobody sent lacks, whatever is said of it.
    is_new = len(found.path) == 1 and name not in names and bool(_HUMPED.search(name))
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
