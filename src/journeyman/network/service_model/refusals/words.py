"""What words of a refusal mean: what is wrong, and which type or value is wanted."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice, product, takewhile

from journeyman.domain.tasks import JSON
from journeyman.network.service_model.lazy_pattern import LazyPattern, any_case
from journeyman.network.service_model.naming import (
    NUMERAL,
    Path,
    walk,
    word_set,
    words_of,
)
from journeyman.network.service_model.notation import NAME, in_json_types
from journeyman.network.service_model.reading import spelling
from journeyman.network.service_model.refusals.faults import (
    AHEAD,
    MAX_DEPTH,
    MAX_NODES,
    MAX_TEXT,
    Fault,
    FieldFault,
)
from journeyman.network.service_model.request import is_day

TYPES: Mapping[str, str] = {
    word: kind
    for kind, words in {
        "string": "str string text varchar char character texte texto testo tekst"
        " zeichenkette",
        "integer": "int int16 int32 int64 integer long bigint whole short uint uint64"
        " u8 u16 u32 u64 i32 i64 usize entier entero inteiro intero heltal ganzzahl",
        "number": "number float double decimal numeric float64 f64 f32 zahl getal",
        "object": "type internally adjacently tagged object dict dictionary map mapping"
        " struct structure hash record model json jsonobject input section segment"
        " root child",
        "array": "array list slice sequence iter",
        "boolean": "bool boolean true false whether",
        "duration": "duration timespan",
        "uuid": "uuid guid",
        "datetime": "datetime date timestamp instant time iso iso8601 dateonly"
        " localdate",
        "iri": "iri url uri hyperlink",
        "id": "pk id objectid mongodb ulid identifier primary",
    }.items()
    for word in words.split()
}
_AN_OBJECT = LazyPattern(r"obje[ck]?t|obiekt|oggett")
"""As objecte, objetos, objektum, obiekt and oggetto begin."""
_UNKNOWN = any_case(
    r"unknown(?! (?:variant|value|enum))|unrecogni[sz]ed"
    r"|unexpected(?! (?:json )?token| value)|only defined|unpermitted"
    r"|unsupported|unspecified|disallowed|additional|\bextra\b|extra_forbidden|superfluous|redundant|prohibited"
    r"|no use for|not allowed|not be (?:allowed|sent|set\b(?! to))"
    r"|not (?:exist\b|defined|declared)"
    r"|not (?:an? )?(?:permitted|recogni[sz]ed|supported|expected|known\b|have)|no such"
    r"|should not be present"
    r"|not (?:found|defined) (?:in|on|by) (?:input )?type|does(?: not|n't) define"
    r"|must be (?:removed|omitted)|forbidden (?:field|key|propert|param)"
    r"|(?:did|does|do)(?: not|n't) (?:expect|allow|send)|wrong (?:field|key)|\brogue\b"
    r"|extraneous|not (?:part of|in) (?:the |its |this )?schema"
    r"|not part of (?:the|this) (?:request|body)|read[- ]?only(?! [\[{])|cannot set"
    r"|has no column|remove (?:it|this|them)\b"
    # In the languages of Laravel's and Symfony's translations that are used most
    r"|inconnu|unbekannt|desconoci|desconheci|sconosciut|onbekend|nieznan|неизвестн|未知"
    r"|n'est pas (?:admis|autorisé|reconnu|prévu)|nicht (?:erlaubt|zulässig|vorgesehen)"
    r"|non (?:è )?(?:ammess|consentit|riconosciut|previst)|niet toegestaan"
    r"|no (?:está |es )?(?:admitid|permitid|reconocid)"
    r"|não (?:é )?(?:permitid|reconhecid)"
    r"|niedozwolon|nepovolen|neznám|inte tillåt|ikke tilla|okänd|ukendt|ukjent"
    r"|не (?:допуска|предусмотр)"
    r"|not an? (?:valid|known) (?:field|key|propert|param)"
    r"|expected (?:a value of type )?`?never"
    r"|(?:could not|cannot) (?:find|be mapped)"
    r"|invalid (?:for|on) (?:the |this )?(?:entity|type|object|schema|resource)"
    r"|invalid (?:field|key|propert|param)\w*\b"
    r"(?!:? expected|: [`'\"]?\w+[`'\"]? (?:must|should) be)"
)
_MISSING = any_case(
    r"missing|required(?! to )|requires|^require\b|undefined|mandatory|\bblank\b"
    r"|not[_ -]?null"
    r"|\bmust exist\b"
    r"|\bneed(?:s|ed)?\b(?! (?:to|a|an) )"
    r"|null value|absent|(?:must not|should not|can ?not|can't|may not) be"
    r" (?:empty|null|blank|nil)|is (?:empty|null|nil)"
    r"|(?:not|n't) (?:provided|present|supplied|given|set\b)|null given|found null"
    r"|must be (?:provided|present|set|specified|supplied|given)|received null"
    r"|(?:must|should|please|to)"
    r" (?:include|provide|contain|specify|have|send|supply|give)"
    r"(?! (?:at least|at most|a minimum of) (?:[2-9]|\d\d))"
    r"|\bwanting\b|\b(?:key|field|property|parameter|member|element|node|tag) \S+"
    r" (?:was |is )?not found"
    r"|erforderlich|fehlt|obligatoire|requis|manquant|obligatori[oa]|requerid[oa]|falta"
    r"|obrigatóri[oa]|obbligator|verplicht|ontbreek|ontbrek|wymagan|обязател|必須|必填"
    r"|mancant|manca\b|mancano|faltan|ausente|fehlen|saknas|mangler|puuttuu|hiányzik"
    r"|kötelező|povinn|chybí|zorunlu|eksik|заполнен|отсутству|υποχρεωτικ|λείπει"
    r"|at least (?:1|one) (?:rune|char|element|item)"
    r"|\bno \S+ (?:given|provided|supplied|specified)|expected an? \w+ (?:named|called)"
)
ABSENT = any_case(
    r"(?:no such|(?:could not|cannot|can't|did not) find(?: the| an?| any)?)"
    r" (?:key|field|member|property|attribute|param)"
)
"""Of a name: one that is not there though it should be, or though it should not."""
INVALID = any_case(r"invalid|not valid|malformed|incorrect|failed")
_TYPE_SAID = (
    any_case(r"\b(?P<type>true(?= \w{1,6} false)|(?<=\()true|(?<=\bstate )whether)\b"),
    any_case(
        r"\b(?:declared|answered|marked(?: as)?|set(?: to| as)?) ['\"]?(?P<type>true)\b"
    ),
    any_case(r"\b(?:decimal|numeric|numerical) (?P<type>string)\b"),
    any_case(r"\brequired type '(?:\w+\.)*(?P<type>\w+)'"),
    # Appwrite, of what it would also take as an object.
    any_case(r"\bvalid (?P<type>json) (?:string|object|text)\b"),
    any_case(r"\b(?:iso[ -]?8601|valid) (?P<type>duration)\b"),
    any_case(
        r"(?<!['\"`])\b(?:expect(?:ed|ing|s)|be|use|provide|valid|format|of type"
        r"|(?:converted?|deserialized?|cast) (?:in)?to|syntax for type)"
        r"(?=:?(?: an?| valid| type| of type| json)*[ ._:]"
        r"[`'\"]?(?:System\.Nullable`1\[)?(?:\w+\.)*(?P<type>\w+))"
    ),
    any_case(r"\binvalid (?:time |iso )?(?P<type>duration)\b"),
    any_case(r"\bvalid (?:\w+ ){1,3}(?P<type>ur[il])\b"),
    any_case(
        r"\b(?:standard|canonical|char(?:acter)?s?|rfc ?4122) (?P<type>[ug]uid)\b"
    ),
    any_case(
        r"(?:invalid |googleapis\.com/)google\.protobuf\.(?P<type>duration|timestamp)\b"
    ),
    any_case(r"expected start of the (?P<type>object|array)\b"),
    # JSON::Validator, of Perl
    any_case(r"\bdoes not match (?P<type>date|duration|uuid)(?:-time)? format\b"),
    any_case(
        r"\b(?P<type>section|segment|root) (?:element )?\S+ (?:(?:is|was) )?"
        r"(?:not|missing|required)"
    ),
    any_case(r"\bhas no (?P<type>child) ?(?:ren|elements|nodes)\b"),
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
    any_case(r"\bexpected an? RFC 3339 formatted (?P<type>date)"),
    any_case(r"parsing (?P<type>time) "),
    any_case(r"\bbe of (?P<type>\w+) type\b"),
    any_case(r"\b(?:invalid|wrong)[_ ]type[:=] ?(?P<type>\w+)"),
    any_case(
        r"\bas (?:an? )?(?:json )?(?P<type>object|array|list|string|number|integer)\b"
    ),
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
_MOMENT_OF_PHP = LazyPattern(
    r"\bformat\W{1,3}((?:Y-m-d|Y/m/d)[T ]H:i(?::s)?|(?:d[-/.]m[-/.]Y|m/d/Y)"
    r"(?:[T ]H:i(?::s)?)?)(?!\w)"
)
"""As Laravel has it: "must match the format Y-m-d H:i:s"."""
_OF_PHP = {one: f"%{one}" for one in "YmdH"} | {"i": "%M", "s": "%S"}
_CLOCK_BEHIND = LazyPattern(r" HH:mm(:ss)?(?!\w)")
_MOMENT_OF_C = LazyPattern(r"%Y[-/.]%m[-/.]%d[T ]%H:%M(?::%S)?(?![%\w])")
"""As in Python and C."""
_DAY_OF_A_COUNTRY = LazyPattern(
    r"(?<![\w%])(([^\W\d_])\2(?:\2\2)?)([./-]?)(([^\W\d_])\5)\3(([^\W\d_])\7(?:\7\7)?)(?!\w)"
)
"""The same in another order and in any language, as in TT.MM.JJJJ and JJ/MM/AAAA."""
_SCRIPT = r"[\u2e80-\u9fff\uac00-\ud7af]"
_NO_GAP = LazyPattern(rf"(?<={_SCRIPT})(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?={_SCRIPT})")
"""In Chinese, Japanese and Korean nothing parts a word from one of ours."""
_CLOCK = LazyPattern(
    r"(?<!\w)([^\W\d_])\1:[Mm\u041c\u043c\u039c\u03bc]{2}(?::\w\w)?(?!\w)"
)
"""How long something takes, or a time of day, in any language: HH:MM and UU:MM:SS."""
_OF_GO = r"\d{1,3}[hms](?:\d{1,2}[ms])?"
_TIME_SPAN = LazyPattern(rf"['\"](?:\d\d:\d\d:\d\d|{_OF_GO})['\"]")
"""As .NET and Go show one: "must be greater than '00:00:00'", "such as '10m'"."""
_YEAR = LazyPattern(r"([^\W\d_])\1{3}")
_TO_COME = any_case(
    r"\bin the (?:future|past)\b|\bfuture (?:date|time|moment|instant)\b"
    r"|\b(?:after|later than|greater than) (?:now|today|the current)\b"
)
"""Of a time: one that is still to come is wanted."""
_LATIN_M = str.maketrans("\u041c\u039c", "MM")
"""In Cyrillic and in Greek, a month begins with an M, too."""
_WHOLE_NUMBER = any_case(
    r"\b(?:(?:número|numero) (?:entero|inteiro|intero|enter)|nombre entier|ganze zahl"
    r"|geheel getal|liczb\w+ całkowit|cel[éouýá]\w* čísl|egész szám|kokonaisluku"
    r"|hel(?:t )?tall?|цел\w+ числ|tam say\w|număr întreg|cijeli broj)"
    r"|ακέραι|整数|整數|정수"
)
_KEY_BUT_NO_TEXT = any_case(r"expected pk value, received str\b")
"""Django REST, of what refers to a record: a text that is none of its keys."""
_OF_A_RELATION = any_case(r"\bmust exist\b|object does not exist\b")
"""ActiveRecord and Django REST, of the key of another record."""
_ACCEPTED = any_case(r"must be (?:accepted|confirmed|agreed|acknowledged|checked)\b")
_OWN_TYPE = LazyPattern(
    r"(?:cannot unmarshal \w+ into .* of type|could not be converted to"
    r"|Cannot construct instance of) `?(?:\w+\.)+[A-Z]"
    r"|\bof type (?:(?:\w+\\)+[A-Z]|[A-Z][a-z]\w+\W*$)"
)
BAD_TYPE = any_case(r"\b(?:invalid|wrong|bad)[ _]type\b")
_QUOTED_ITEM = (
    r"[`'\"\u201c\u2018\u00ab]"
    r"[^`'\"\u201c\u201d\u2019\u00bb]{1,80}[`'\"\u201d\u2019\u00bb]"
)
BARE_ITEM = r"[\w.:+-]{1,40}"
_BETWEEN = r"\s*(?:,\s*(?:or |and )?|\||/|\bor\b|\boder\b|\bund\b)\s*"
_QUOTED_SET = LazyPattern(rf"{_QUOTED_ITEM}(?:(?:{_BETWEEN}|\s+and\s+){_QUOTED_ITEM})+")
_ALTERNATIVES = LazyPattern(
    rf"(?<=: ){_QUOTED_ITEM}(?:,\s*{_QUOTED_ITEM})*,? or {_QUOTED_ITEM}\W*$"
)
"""As in "accepted is required: 'yes' or 'no'": names that are missed have "and"."""
PIPED = LazyPattern(rf"(?<![\w|]){BARE_ITEM}(?:\|{BARE_ITEM})+(?![\w|])")
_OPTIONS = any_case(
    r"(?:must|should|has to|needs to)"
    r" (?:be (?:one of|equal to|exactly|either)|equal"
    r"|match(?! (?:the )?(?:format|pattern)\b))"
    r"(?P<one>.{1,340})"
    r"|(?:must|should|has to|needs to) be"
    rf" (?P<set>{BARE_ITEM}(?:{_BETWEEN}{BARE_ITEM})+)"
    r"|(?:must|should|has to|needs to) be"
    r" (?P<literal>(?-i:[A-Z][A-Z0-9_]*|true|yes)|\d{1,4})\W*$"
    rf"|\bis not (?P<others>{BARE_ITEM}(?:, {BARE_ITEM})+,? or {BARE_ITEM})\W*$"
    r"|one of:? (?P<capitals>(?-i:[A-Z][A-Z0-9_]+(?: [A-Z][A-Z0-9_]+)+))"
    rf"|^(?P<whole>{BARE_ITEM}(?:{_BETWEEN}{BARE_ITEM}){{1,9}})$"
    r"|(?:must|should) be (?P<quoted>[`'\"\u201c].{1,200})"
    r"|(?:one of|expected(?: the literal| tags)?|allowed values?(?: are)?"
    r"|options?(?: are)?|\bin):?\s*(?P<listed>[\[(]?[`'\"\u201c].{1,300})"
    r"|(?:one of|enum(?: class)?|set|list|values?|options?|choices?|codes?:|valid"
    r"|allowed|accepted|permitted|known|supported|either|, use|zulässig|erlaubt)"
    r"(?: are| sind| ist)?:?\s*"
    rf"[\[({{]?(?P<bare>{BARE_ITEM}(?:{_BETWEEN}{BARE_ITEM}){{1,19}})(?:[\])}}]|\W*$)"
)
_IN_BRACKETS = LazyPattern(r"\W{0,3}(\[[^\[\]]+,[^\[\]]+\])")
OPTION = LazyPattern(r"[`'\"\u201c]([^`'\"\u201d]{1,80})[`'\"\u201d]")
_ENTERED = any_case(r"[. ]+you entered ['\"].*$")
"""What FluentValidation says last, of the value that was sent."""
COMPARED = any_case(r"\b(?:than|to) or equal(?: to)?\b")
"""As in "greater than or equal to 60": the one is no alternative to the other."""
_OF_ONE = LazyPattern(r"\bbe \[(?=\w)")
"""Joi, of the only value that it would take."""
_TAIL = LazyPattern(r":\s*([\w.:+/-]{1,40}(?:,\s*[\w.:+/-]{1,40})+)\W*$")
"""Where a sentence about a value ends in a list, in any language."""
ONLY_ONE = any_case(
    r"(?:\b(?:allowed|valid|accepted|supported|possible"
    r"|permitted|enum|one of|only|from|sein|ser|être|essere|zijn|być)(?: \w+){0,3}:"
    r"|\bmust be(?= \S+ \(was)|\bbe in \(|\bone of|expected \()\s*"
    rf"[\[({{]?[`'\"]?({BARE_ITEM})[`'\"]?(?:[\])}}]{{0,2}}\W*$|\) but\b| \(was\b)"
)
"""Where but one is listed, as in "Cannot go from done to done. Allowed: closed."."""
_CHOICE = any_case(
    r"\b(?:choose|pick|select|(?:be|not) one of|be in"
    r"|(?:allowed|valid|accepted) values?|must be \S+ \(was)\b"
)
_RANGE = any_case(
    r"\b(?:between|from|in (?:the )?range(?: of)?|within|in(?=\W{1,2}\d+\.\.))\W{1,2}"
    r"(?P<least>-?\d+(?:\.\d+)?s?)(?: and | to | ?\.\.[.=]? ?|, ?| ?[-\u2013] ?)"
    r"(?P<most>-?\d+(?:\.\d+)?s?)"
)
_SPAN_BOUND = any_case(
    r"\b(?:(?:less|shorter)(?: than)?|at (?:most|least)"
    r"|exceed|maximum(?: of| is)?|up to)\W{1,3}"
    r"(?P<span>\d{1,2}:\d\d:\d\d|(?:\d{1,3}[hms]){1,3}|PT(?:\d{1,3}[HMS]){1,3})(?!\w)"
)
"""As in "Ensure this value is less than or equal to 0:05:00", of a duration."""
STRICT = any_case(
    r"must not have additional|additional (?:properties|fields|keys) (?:are )?not"
    r"|(?:unknown|unexpected|extra|unrecognized) (?:fields|properties|keys)\W*$"
)


_OF_JAVA = LazyPattern(r"^(?:(?:linked|hash|tree|array)(?=[a-z]))+")
"""Before the words of collections, as in `LinkedHashMap` and `ArrayList`."""


def type_of_word(word: str) -> str:
    """Return the JSON type that a word means in some language; empty if in none."""
    last = word.strip(".").rpartition(".")[2].lower()
    bare = last.removeprefix("js")  # as in Play's JsObject
    bare = _OF_JAVA.sub("", bare)
    known = next(filter(None, map(TYPES.get, (bare.rstrip("s"), bare, last))), "")
    if not known and "datetime" in last:
        return "datetime"  # as in DateTimeOffset, LocalDateTime and NaiveDateTime
    return known or ("object" if _AN_OBJECT.match(last) else "")


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


_OF_WHAT_WAS_SENT = any_case(
    r"\b(?:set|sent|given) is of type \w+|\binvalid type: [^,]{1,80}, (?=expected )"
    r"|(?<=\bexpected )\w{1,40} to be (?=an? )"
)
"""As Freshdesk, serde and Shopify say before what they want."""


def wanted_type(said: str) -> str:
    """Return the type that is asked for; empty when none is."""
    said = in_json_types(_NO_GAP.sub(" ", _OF_WHAT_WAS_SENT.sub("", said[:MAX_TEXT])))
    if _KEY_BUT_NO_TEXT.search(said) or _WHOLE_NUMBER.search(said):
        return "integer"
    if _TO_COME.search(said):
        return AHEAD
    if time := _day_in(said) or _time_in(said):
        return time
    words = (m["type"] for one in _TYPE_SAID for m in one.finditer(said))
    told = next(filter(None, map(type_of_word, words)), "")
    if not told and _ACCEPTED.search(said):
        return "boolean"
    # Go and .NET, of a type of the service's own.
    return told or ("object" if _OWN_TYPE.search(said) else "")


def _time_in(said: str) -> str:
    """Return `duration` where a sentence shows hours and minutes, and no date."""
    is_shown = _CLOCK.search(said) or _TIME_SPAN.search(said)
    return "duration" if is_shown and not _YEAR.search(said) else ""


def _day_in(said: str) -> str:
    """Return how a date is to be written that a sentence shows; empty if it does not.

    As `date`, or as `date %d.%m.%Y`. The year has four letters, and a month begins with
    an M in more languages than a day or a year do.
    """
    if written := _MOMENT_OF_PHP.search(said):
        return f"date {''.join(_OF_PHP.get(one, one) for one in written[1])}"
    if written := _MOMENT_OF_C.search(said):
        return f"date {written[0]}"
    if _DAY.search(said):
        return "date"
    shown = _DAY_OF_A_COUNTRY.search(said.replace("CCYY", "YYYY"))
    groups = shown.group(1, 4, 6) if shown else ()
    parts = [part.upper().translate(_LATIN_M) for part in groups]
    if not shown or sorted(map(len, parts)) != [2, 2, 4] or parts.count("MM") != 1:
        return ""
    codes = ("%Y" if len(one) > 2 else "%m" if one == "MM" else "%d" for one in parts)  # noqa: PLR2004 - letters
    time = _CLOCK_BEHIND.match(said[shown.end() :])
    clock = f" %H:%M{':%S' * bool(time[1])}" if time else ""
    return f"date {shown[3].join(codes)}{clock}"


def options_in(said: str, *, is_value: bool = True) -> tuple[str, ...]:
    """Return the values that a sentence would take; of a range, both ends.

    `is_value`: the sentence is about a value. Else a list in it may be one of names.
    """
    said = _CHANGED.sub(r'must be one of ["\1"]', said)
    said = _NOT_AMONG.sub(r"must be one of [\1]", said)
    said = _LABELLED.sub(r"\1", _ENTERED.sub("", said)).replace(" a/an ", " an ")
    said = _CODED.sub(lambda one: "|".join(_CODE.findall(one[0])), said[:MAX_TEXT])
    said = COMPARED.sub("", _OF_ONE.sub("be one of [", said))
    if codes := _CODES_SHOWN.search(said):
        said = "|".join(re.findall(r"\b[A-Z]+\b", codes[1]))
    said = _EXPLAINED.sub("", _PATTERN.sub(" ", said))
    plain = (_QUOTED_SET if is_value else _ALTERNATIVES).search(said)
    plain = plain or PIPED.search(said)
    if plain is not None:
        return items_in(plain[0])
    match = _OPTIONS.search(said)
    if match is None:
        within, bound = _RANGE.search(said), _SPAN_BOUND.search(said)
        both = (within["least"], within["most"]) if within else ()
        return (bound["span"],) if bound and not both else both or _phrases_in(said)
    text = next(filter(None, match.groups()), "")
    if within := _IN_BRACKETS.match(text):
        text = within[1]  # without what was sent: "one of [a, b] but was 'c'"
    if match["literal"] or match["capitals"]:
        words = text.split()[:_MAX_OPTIONS]
        return tuple(w for w in words if not (type_of_word(w) or w in _KINDS))
    quoted = tuple(OPTION.findall(text))
    if len(quoted) == 1 and re.search(r", |\w,\w", quoted[0]):
        quoted = items_in(quoted[0])  # all in one pair of quotes, as huma has them
    if quoted or match["quoted"] or match["listed"]:
        return quoted[:_MAX_OPTIONS]
    items = items_in(text.rpartition(":")[2])
    is_code = bool(match["whole"]) and "/" in text and "." in text
    is_list = (
        (len(items) > 1 or text.lstrip()[:1] == "[")
        and not is_code
        and not _COUNTS.issuperset(items)
        and all(re.fullmatch(rf"{BARE_ITEM}(?:/{BARE_ITEM})?", one) for one in items)
    )
    is_either = not (match["set"] or match["whole"]) or re.search(r"\bor\b|[/|]", text)
    return items if is_list and is_either else _phrases_in(said)


def _phrases_in(said: str) -> tuple[str, ...]:
    """Return the values of several words that a sentence lists, be it one."""
    phrases = _PHRASES.search(said)
    return tuple(phrases[1].split(", ")) if phrases else ()


_CHANGED = any_case(
    r"\b(?:must|should|has to|needs? to|(?:can|may) only) (?:\w+ ){0,3}"
    r"from ['\"`][^'\"`]{1,40}['\"`] to ['\"`]([^'\"`]{1,40})['\"`]"
    r"(?:, not ['\"`][^'\"`]{1,40}['\"`])?"
)
"""As in `status must go from "open" to "taken"`."""
_NOT_AMONG = any_case(
    r"\b(?:not|invalid|unknown|unrecogni[sz]ed|unsupported)\b[^().;:]{0,60} "
    r"\(([\w.-]{1,40}(?:, [\w.-]{1,40}){1,19})\)\W*$"
)
"""As in "is not an event of a card (reserve, deliver, settle)"."""
_PHRASES = any_case(
    r"\b(?:choices|options|one of|values)(?: are)?: "
    r"([\w.+-]+(?: [\w.+-]+){0,3}(?:, [\w.+-]+(?: [\w.+-]+){0,3}){0,19})\W*$"
)
"""Items of several words, as in "choices: Successful, Successful with issues"."""
_EXPLAINED = any_case(r"(?<=[\w'\"`]) \([^()\[\]:|'\"`]{1,40}\)(?=,| or | and |\W*$)")
"""What an item of a list means, as in "M (manual), A (automated)"."""
_CODE = LazyPattern(r"\b([A-Z\d]{1,12}) ?= ?[A-Za-z]")
_CODED = LazyPattern(
    r"(?:\b[A-Z\d]{1,12} ?= ?[A-Za-z][^=;,()]{0,40}[;,] (?:or )?){1,19}"
    r"[A-Z\d]{1,12} ?= ?[A-Za-z][^=;,()]{0,40}"
)
"""As in "COMPL = work completed; NOACC = no access"."""
_CODES_SHOWN = LazyPattern(
    r"\((?:[^()]{1,80}, )?([A-Z]{1,12}(?:, [A-Z]{1,12}){0,9},?"
    r" (?:or|ou|oder|o|of|lub|eller|nebo|vagy|tai) [A-Z]{1,12})\)\W*$"
)
"""As in "own_work must be supplied (Y or N)"."""
_LABELLED = LazyPattern(r'label: "[^"]*"\nvalue: ("[^"]*")\n')
"""As HubSpot has it, which shows what it calls an option, too."""
_MAX_OPTIONS = 20
_COUNTS = word_set("one two three four five six seven eight nine ten")
"""Such as "two or three letters"."""
_KINDS = frozenset({"JSON", "URL", "URI", "HTTPS", "ISO", "UTF", "PDF", "CSV", "HTML"})
"""In capitals, and no value."""
_OBJECTS = frozenset({"object", "array"})
MEDIA_TYPE = LazyPattern(r"\b(?:application|audio|image|multipart|text|video)/")


def items_in(listed: str) -> tuple[str, ...]:
    """Return the items of a list that is written out, as in "red, green or blue"."""
    parts = re.split(r",|\||\b(?:or|and|oder|und|OR|AND)\b", listed)
    # A stroke is part of an item where something else is between, and of a media type.
    has_strokes = len(parts) == 1 and not MEDIA_TYPE.search(listed)
    parts = listed.split("/") if has_strokes else parts
    items = (
        one.strip(" .[](){}`'\"\u201c\u201d\u2018\u2019\u00ab\u00bb") for one in parts
    )
    return tuple(filter(None, items))[:_MAX_OPTIONS]


def listed_last(said: str) -> tuple[str, ...]:
    """Return the items of the list that a sentence ends in; none where it has none."""
    listed = _TAIL.search(said[:MAX_TEXT].translate(_MARKS))
    return items_in(listed[1]) if listed else ()


_MARKS = str.maketrans({"\uff1a": ":", "\uff0c": ",", "\u3001": ","})
"""The marks of Chinese and Japanese before and in a list."""
INTRODUCED = any_case(
    r"^(?:(?:invalid|error|bad|in|at|for|field|value|element|property|attribute) )+"
)
"""What may stand before a name and its colon."""
OF_A_FIELD = any_case(r"\b(?:fields?|propert(?:y|ies)|attributes?|parameters?)\b")
ERROR_CODE = LazyPattern(r"E(?:RR)?[-_]?\d{2,6}")
"""Where a whole text is one."""
OF_A_VERSION = any_case(
    r"(?:update|edit|write) conflict|\bconcurren|modified|changed since"
    r"|\b(?:version|revision|rev|etag|stale|outdated)\b"
)
"""In what is said of a conflict: what was sent is not what is there now."""
_OF_A_DOCUMENT = any_case(r"\bdocument must (?:have|be|not have)\b")
"""CouchDB, whose rules for what may be written answer with 403."""
_OF_A_RIGHT = any_case(
    r"header|scope|permission|\brole|token|key|credential|log ?in|\bplan\b|subscri"
)


def names_a_field(message: str) -> bool:
    """Return whether words are about a field of the body, and not about a right."""
    said = message[:MAX_TEXT]
    is_of_field = OF_A_FIELD.search(said) or _OF_A_DOCUMENT.search(said)
    return bool(is_of_field) and not _OF_A_RIGHT.search(said)


def says_strict(body: JSON, message: str) -> bool:
    """Return whether a refusal says, without names, that our body has too much."""
    texts = [message, *strings_in(body)]
    return any(STRICT.search(text[:MAX_TEXT]) for text in texts)


def without_echo(text: str, sent: JSON) -> str:
    """Return words without our body, which says nothing where it is repeated.

    Its end may be missing there.
    """
    inside = (one for _, one in walk(sent) if isinstance(one, dict) and one)
    for one, write in product([sent, *islice(inside, MAX_DEPTH)], _NOTATIONS):
        echo = write(one)
        begins = text.find(echo[:SHORTEST_ECHO])
        if begins >= 0 and len(echo) > SHORTEST_ECHO:
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
SHORTEST_ECHO = 8


def strings_in(body: JSON) -> Iterator[str]:
    """Return the texts of a body, as many as are looked at."""
    values = (value for _, value in islice(walk(body), MAX_NODES))
    return (value for value in values if isinstance(value, str))


def fault_at(path: Path, said: str, *, is_exact: bool = True) -> FieldFault:
    """Return what is said of a value whose place is known."""
    path = _with_tag(path, said)
    # Its name is no type, as in `Expected "type"`.
    told = said.replace(f'"{path[-1]}"', "") if path else said
    fault, wants = fault_in(said), wanted_type(told)
    options = options_in(said, is_value=fault is None)
    is_no_choice = is_day(wants) or bool(path and path[-1] in options)
    options = () if is_no_choice else options  # the parts of a date, or its own name
    if options and _is_of_types(path, options):
        wants, options = type_of_word(options[0]), ()  # as in "either object or array"
    listed = _TAIL.search(said) or INSTEAD.search(said) or ONLY_ONE.search(said)
    if (
        fault is None
        and not (options or wants)
        and listed
        and (path or _CHOICE.search(said))
    ):
        options = items_in(listed[1])
    wants = _type_told(wants, options, said, is_missed=fault is Fault.MISSING)
    if fault is None and BAD_TYPE.search(said):
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


def _is_of_types(path: Path, options: tuple[str, ...]) -> bool:
    """Return whether what a sentence lists are the types of a value."""
    is_a_type = bool(path) and not {"type", "kind"}.isdisjoint(words_of(path[-1]))
    if _OBJECTS & {*options} and all(map(type_of_word, options)):
        return True
    return not is_a_type and _TYPE_NAMES.issuperset(options)


_TYPE_NAMES = word_set(
    "string integer number boolean null bool int float array object iterable"
)


def _meant_in(said: str, path: Path) -> str:
    """Return which of our values a sentence names that does not name its field.

    As "must be the agent_id of the worker" says beside `"field": "performer"`.
    """
    named = {spelling(word) for word in re.findall(NAME, said)}
    is_described = bool(_OUR_ID_IN_BRACKETS.search(said[:MAX_TEXT]))
    is_alone = bool(path) and spelling(path[-1]) not in named
    is_ours = is_described or ("agentid" in named and is_alone)
    return "agent_id" if path and is_ours else ""


_OUR_ID_IN_BRACKETS = any_case(
    r"\([^()]{0,40}\b(?:agent_?id|(?:ident\w+|id) ?(?:d'|de |of )?agent\w{0,2}"
    r"|agent\w{0,2}[- ]?(?:id|ident\w+|kennung))\b[^()]{0,60}\)"
)
"""What a name means, in whatever language."""


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
    for duration, form in _DURATIONS.items():
        if duration.search(said[:MAX_TEXT]):
            return form
    if length := _LENGTH.search(said[:MAX_TEXT]):
        return f".{{{length[1]}}}"
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
    r"\bmatch\b[^`'\"/^]{0,40}[`'\"/]?\^?(?=[^`'\"]{0,80}[\[\\+*?{])"
    r"(?P<form>(?:(?:[\w@:/-]|\\[dw.-]|\[[\w\\^.:-]+\])"
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
_LENGTH = any_case(
    r"\blength(?: of| must be| =|:)? 0*([1-9]\d?)\b(?! ?(?:or|to|and|characters or|-))"
)
"""As in "must be character length 06"."""
_GO_SPAN = LazyPattern(rf"['\"]{_OF_GO}['\"]|time: invalid duration")
_JIRA_SPAN = LazyPattern(r"\*h \*m\b")
_DURATIONS = {
    LazyPattern(r"\bP(?:T?\d{1,3}[DHMSW]){1,4}\b"): "P.+",  # ISO 8601
    # Of .NET, and as it is written with letters.
    LazyPattern(r"\bTimeSpan\b|(?<!\w)\w\w:\w\w:\w\w(?!\w)"): r"\d\d:\d\d:\d\d",
    _CLOCK: r"\d\d:\d\d",
    _JIRA_SPAN: r"\d+[hm]",
    any_case(r"\bgoogle\.protobuf\.duration\b"): r"\d+s",
    # JSON Schema (RFC 3339, appendix A), and the class of Java's
    any_case(r"\bformat \"duration\"|\bto an? Duration\b|\bjava\.time\.Duration\b"): (
        "P.+"
    ),
    _GO_SPAN: _OF_GO,
}
"""The forms of durations, by what shows them."""
_FORM_SHOWN = LazyPattern(
    r"(?<![\w-])([A-Za-z][A-Za-z0-9]{0,7}[-_])(?:\.{2,}|\u2026|[xX#0*]{2,}(?!\w)|<)"
    r"|\^([A-Za-z]{1,8}[-_])[\[\\(.]"
)


def phrase_of(said: str, path: Path) -> str:
    """Return what is said of a place without its name."""
    names = sorted({".".join(path), "/".join(path), path[-1]}, key=len, reverse=True)
    any_name = "|".join(map(re.escape, names))
    return re.sub(rf"(?<![^\W_])(?:{any_name})(?![^\W_])", "#", said[:MAX_TEXT])


NO_NAMES = word_set(
    "a additional an and any are at be by cannot could did do each either following "
    "for from has have if in is it its least must no none not of one only or please "
    "property should some that the these this to was were we which with you your "
    "all illegal invalid argument arguments body form column data error errors field "
    "fields function header input inputs json key keys missing number object param "
    "parameter parameters params positional properties provided received requires "
    "request required string type undefined unknown value values array list "
    "boolean integer null nil empty authentication authorization content-type "
    "credentials login permission permissions role scope token bad true false "
    "expected format payload class called schema validation failed constraint got "
    "resource entity message valid one-of record but also member include extra there "
    "supplied length contains option dictionary dict never "
    "query querystring url variant unexpected encountered still access more us such "
    "into accepted been write unprocessable subschema offset server service syntax "
    "keyword keywords found give supply provide specify mandatory iso obligatorio use "
    "obbligatorio obligatoire obrigatório erforderlich mancante manquant faltante"
)
"""Words that stand where a name could, and are none of ours."""
INSTEAD = any_case(rf"(?:\bdid you mean|, (?:but )?only) ({_QUOTED_ITEM})")

WEAK_NAMES = word_set(
    "data input body form payload params request object value type key function "
    "argument message content list record resource format"
)
"""Words of sentences that are names when they are quoted."""

HUMPED = LazyPattern(r"[A-Za-z0-9]_[A-Za-z0-9]|[a-z0-9][A-Z]|(?<!\w)_[a-z]")
"""What looks like a name in any language: it has a `_` or a hump."""

VERDICTS = NO_NAMES | word_set(
    "absent blank code err exist exists fail failure found incorrect mandatory not "
    "unset wrong"
)
"""Words of a code such as TASK_ID_REQUIRED that are none of a name."""
