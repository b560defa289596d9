"""Which names a sentence of a refusal is about, and what it says of them."""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice

from journeyman.domain.tasks import JSON
from journeyman.network.headers import OWN_HEADERS
from journeyman.network.json_text import UnreadableJSONError, parse
from journeyman.network.service_model.lazy_pattern import LazyPattern, any_case
from journeyman.network.service_model.meaning import RESULT_WORDS
from journeyman.network.service_model.naming import (
    FIRST,
    ID_WORDS,
    Path,
    type_of,
    value_at,
    walk,
    word_set,
    words_of,
)
from journeyman.network.service_model.notation import NAME, from_python, rewritten
from journeyman.network.service_model.reading import spelling
from journeyman.network.service_model.refusals.faults import MAX_TEXT, Fault, FieldFault
from journeyman.network.service_model.refusals.keys import NEVER_SHOWN, OF_THE_WHOLE
from journeyman.network.service_model.refusals.words import (
    ABSENT,
    HUMPED,
    INSTEAD,
    INTRODUCED,
    INVALID,
    NO_NAMES,
    OF_A_FIELD,
    ONLY_ONE,
    OPTION,
    PIPED,
    SHORTEST_ECHO,
    STRICT,
    WEAK_NAMES,
    fault_at,
    fault_in,
    items_in,
    options_in,
    strings_in,
    type_of_word,
    wanted_type,
    without_echo,
)
from journeyman.network.service_model.request import (
    HEADER,
    KEY_HEADER,
    QUERY,
    is_day,
    is_outside,
    leaf_names,
    leaves_of,
)
from journeyman.network.service_model.vocabulary import ASSUMED


def is_typed(body: JSON) -> bool:
    """Return whether a refusal is of a type of GraphQL, which takes no other names."""
    return any(_OF_GRAPHQL_TYPE.match(text) for text in strings_in(body))


def seeks_a_function(message: str) -> bool:
    """Return whether what is absent is a function of these names, as in PostgREST."""
    return bool(_SOUGHT.search(message[:MAX_TEXT]))


_QUOTE = r"[`'\"\u201c\u201d\u2018\u2019\u00ab\u00bb]?"
_QUOTED = rf"{_QUOTE}{NAME}{_QUOTE}"
_MARKED_NAME = rf"[`'\"\u201c\u2018]{NAME}[`'\"\u201d\u2019]"
_NAMES = (
    rf"(?P<names>{_QUOTED}(?:(?:,\s*(?:and\s+)?|\s+and\s+|\s+or\s+){_QUOTED}){{0,12}})"
)
_NOUN = (
    r"(?:keyword argument|field|propert(?:y|ie)|parameter|param|argument|key|column"
    r"|attribute|section|segment|input|keyword|item(?= ['\"`])|member|variable|element"
    r"|value|object"
    r"|name|campo|champ|feld|veld|pole)(?:\(s\)|s|(?!\(s\)))(?![a-z_])"
)
_NOUN_AFTER = LazyPattern(rf"(?<=[`'\"]) {_NOUN}$")
_OF_RAILS = LazyPattern(
    r"^([A-Z][a-z]+(?: [a-z]+){0,3}) (?:must exist$"
    r"|(?=can't be (?:blank|empty)$|is not included in the list$|is not a number$"
    r"|must be (?:accepted|an integer|(?:greater|less) than [\w. -]+)$"
    r"|is (?:too (?:long|short)|the wrong length) \([^()]+\)$))",
    re.MULTILINE,
)
"""ActiveModel tells of a relation, and of any attribute, as people call it."""

_LABELLED = LazyPattern(
    r"[^.:]*\bfields (?:are|is) (?:mandatory|required|missing): "
    r"((?:(?:, )?[A-Z][a-z]+(?: [a-z]+){0,3}){1,9})$"
)
"""ServiceNow: "The following fields are mandatory: Assigned to, Work notes"."""
_OF_GRAPHQL_TYPE = LazyPattern(r"Variable \"\$\w+\" (?:of|got invalid)")
_SIGNATURE = any_case(
    r"(?:perhaps you meant|did you mean|usage:|expected signature)[^()]{0,80}?"
    r"\b[\w.]+\((?P<names>\w*(?:, ?\w+)*)\)"
)
"""A function is named with all the arguments that it takes, as PostgREST does."""
_MARKED_NAMES = rf"{_MARKED_NAME}(?:(?:, ?(?:and )?| and ){_MARKED_NAME})*"
_WHOLE_SET = any_case(
    rf"(?P<names>{_MARKED_NAMES}),? and (?:nothing|no|none) (?:else|more|other)\b"
    rf"|\b(?:only|just) (?P<used>{_MARKED_NAMES}) (?:is|are)"
    r" (?:used|read|looked at|understood|known|taken|needed)\b"
)
"""As in "a claim has 'slug' and nothing else", "only 'slug' is read"."""
_SOUGHT = any_case(r"\b(?:could not find|searched for) the function .*")
"""What it says besides, of the arguments that were sent."""
CHAIN = LazyPattern(r"(.*)\(through reference chain: ([^)]{1,400}).*", re.DOTALL)
_LINK = LazyPattern(r"\[\"([^\"\]]{1,60})\"\]")
"""Jackson names the way to a value at the end of what it says of it."""
_PLACE_LAST = LazyPattern(
    r"^(.*\S)[\s,-]+(?:at|@) (?=[\"'`$])[\"'`]?\$?\.?([\w.\[\]]*)[\"'`]?\W*$"
)
"""As in `Required at "task.id"` of zod-validation-error, msgspec and cattrs."""
_CLAUSES = LazyPattern(
    r"(?:;(?! found)|\n)+\s*"
    r"|\.\s+(?!(?i:Expected|It|Must|Should|Allowed|Permitted|Accepted|Valid|One of"
    r"|Use|Choose|Possible)\b)"
    r"(?=[A-Z\"'`])"
    r"|(?:(?<= missing)|(?<= invalid)|(?<= required)|(?<= empty)|(?<= blank)),\s+"
)
_ADVICE = any_case(r"^(?:consider|see|learn|for more)\b")
"""A sentence that begins so says nothing of what was sent."""
OTHERS = any_case(
    r"(?:\b(?:type|relation|serial name|on field|on the)|(?<=column) of)"
    r" [`'\"][^'\"`]{1,80}[`'\"]|(?<!\w)\"[^\"]*\s[^\"]*\""
)
"""Quoted names of other things than fields, and values."""
_ALLOWED = any_case(
    r"(?<![a-z])(?:known propert(?:y|ies): "
    r"|(?:allowed|valid|accepted|supported|known|expected)"
    r" (?:fields|keys|properties|names)(?: are)?:? "
    r"|did you mean (?:to use )?"
    r"|(?:champs|campos|campi) (?:admis|autorisés|permitidos|admitidos|ammessi"
    r"|consentiti) ?: |(?:erlaubte|zulässige|bekannte) felder: |toegestane velden: "
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

_MISSING_ALONE = any_case(
    r"(?:missing|(?:please|(?:you )?(?:must|should|need to)) (?:supply|provide|send"
    r"|include|give))(?: required| the| an?)* [`'\"]?(?P<name>key|type|value|number"
    r"|role|message|record|resource|format|inputs?|data|payload|params|object)[`'\"]?\W*"
)
"""Words that are no names in longer sentences, and are here."""
NUMBERS = frozenset({"integer", "number", "boolean"})
JSON_TYPES = NUMBERS | {"string", "object", "array"}


def is_name(text: str) -> bool:
    """Return whether a text is nothing but the name of a field, or the way to one."""
    return bool(re.fullmatch(rf"{NAME}\??", text))  # Clojure asks in a name


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
    parts = parts[:1] + [part for part in parts[1:] if part not in OF_THE_WHOLE]
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
    r"|(?P<within>[A-Za-z][\w-]*)['\"`]? in (?:the )?(?:http |request )?headers?\b"
)


def path_of_header(name: str, wants: str) -> Path:
    """Return where a header stands; nowhere if it is the client's own.

    Of those nothing can be changed but the form of the key: some take only a UUID.
    """
    is_key = name.lower() == ASSUMED.idempotency_header.lower()
    if is_key and wants == "uuid":
        return (KEY_HEADER,)
    return () if is_key or name.lower() in OWN_HEADERS else (HEADER + name,)


def _of_header(said: str) -> FieldFault | None:
    """Return the header that a sentence asks for, or the values or type it may have.

    None where it is one of the client's own.
    """
    match = _OF_A_HEADER.search(said)
    name = (match["after"] or match["before"] or match["within"]) if match else ""
    wants = wanted_type(said)
    path = path_of_header(name, wants) if name else ()
    if not path:
        return None
    shown = re.search(rf"{name}: ([\w.=/;-]+)", said)
    options = shown.groups() if shown else options_in(said)
    if fault_in(said) is Fault.MISSING:
        return FieldFault(path, Fault.MISSING, options=options)
    if wants and not options:
        return FieldFault(path, Fault.TYPE, wants)
    return FieldFault(path, Fault.VALUE, options=options) if options else None


_OF_THE_ADDRESS = any_case(
    r"\b(?:query ?string|query param(?:eter)?|url param(?:eter)?)s?\b"
)
OF_NAMES = frozenset({Fault.MISSING, Fault.UNKNOWN, Fault.ALLOWED})


def _in_address(found: FieldFault) -> FieldFault:
    """Return what is said of a name as said of a parameter of the address."""
    is_alone = len(found.path) == 1 and not is_outside(found.path)
    return replace(found, path=(QUERY + found.path[0],)) if is_alone else found


_MOST_PLACES = 6
"""Before colons of one sentence, each of which has to be searched."""
_EXAMPLE = LazyPattern(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}")
"""A body that is shown in a sentence, with one object in it at most."""
_PLACEHOLDER = LazyPattern(r"<(\w+)>")
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


def compared_with_example(shown: JSON, sent: JSON, above: Path) -> Iterator[FieldFault]:
    """Compare what was sent with a body that a refusal shows, whole or as names."""
    example = _example_in(shown) if isinstance(shown, str) else shown
    if not isinstance(example, dict):
        return
    told = {*map(spelling, example)}
    if told & NEVER_SHOWN and told != {"json"}:  # superjson has one around everything
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
        if fault is Fault.ALLOWED and isinstance(value, str) and value.strip():
            options = options or (value,)  # in case that ours is said to be wrong
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
    if PIPED.fullmatch(value.strip("<>` ")):
        return "", items_in(value.strip("<>` "))
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
    r"(?:(?:^|[.!?:;]\s+|\bplease )(?:put|enter|write|place|fill)\b[^.!?]{1,80}"
    r"|\b(?:goes|go|belongs?)(?: themselves)?)"
    r" (?:in|into|under)"
    rf" (?P<quote>[`'\"]?)(?P<name>{NAME})[`'\"]?"
    r"(?:,? as an? (?:string|text|number|integer))?\W*$"
)
"""As in "Put the hours worked in hours.", "The words go in result.text"."""
_ALL_UNDER = any_case(
    r"\b(?:(?:request )?body|payload|param(?:eter)?s|attributes|arguments)\b"
    r"(?: \w+){0,4}? (?:inside|under|within|(?:wrapped|nested) in)"
    r"(?: (?:an?|the))?(?: (?:root )?(?:object|key|name|envelope))?"
    rf"(?: (?:called|named))? [`'\"](?P<name>{NAME})[`'\"]"
)
"""As in `expected the parameters under "engagement"`."""
_OF_PARSE = LazyPattern(
    r"\bmismatch for (?:\w+\.)?(?P<name>\w+); expected"
    r" (?P<kind>Pointer|Date)(?:<(?P<of>\w+)>)? but\b"
)
_SET = any_case(
    rf"\b(?:set|pass|send|needs?) [`'\"]?(?P<name>{NAME})[`'\"]?"
    r"(?: to| as| set to|:| ?=) ?(?:(?P<quote>[`'\"])(?=[^`'\"]+(?P=quote))"
    r"|(?=(?:true|false|(?-i:[A-Z_]{2,}))\b))(?P<value>[\w-]{1,40})"
    r"(?P<others>(?:[`'\"],? (?:or )?[`'\"][\w-]{1,40}(?=[`'\"]))*)"
)
_OF_AN_ACTION = LazyPattern(
    r"(claim|reserve|accept|submit|submission|deliver|delivery|complete|completion|finish"
    r"|settle|close): (?=\w)"
)
_NO_PLACES = word_set(
    "capitals capital caps uppercase upper lowercase lower full short writing words "
    "figures numbers english block letters place order time advance brackets quotes "
    "credits seconds minutes hand pencil ink"
)
"""Words in which something is written, and under which it is not."""
OBJECT_WITH = any_case(
    rf"[`'\"]?(?P<place>{NAME})[`'\"]? (?:{_VERB} be an? (?:\w+ )?"
    r"|(?:is )?(?:mandatory|required|missing)[ :,\u2013-]{1,4}(?:an? )?)"
    r"(?:object|hash|dict(?:ionary)?|map|record) (?:with|containing|having|that has)"
    rf"(?: (?:the|an?))?(?: (?:key|field|property|member|attribute)s?:?)? {_NAMES}"
)
"""As in "Proof must be an object with the wording"."""
_OBJECTS_WITH = any_case(
    r"(?:array|list) of objects (?:with|having|containing|that have)(?: (?:the|an?))?"
    rf"(?: {_NOUN})?:? (?=[`'\"]){_NAMES}"
)
"""As in "Array of objects with the property 'id' expected", of a field."""
_OBJECT_UNDER = any_case(
    r"\bobject (?:under|named|called|in|at)(?: the)?(?: (?:heading|key|name|field"
    rf"|property|member))? [`'\"](?P<place>{NAME})[`'\"],? (?:that )?(?:stat|giv|hav"
    rf"|hold|contain|nam)(?:ing|es?|s) {_NAMES}"
)
"""As in "an object under 'loan' that names 'slip' and 'reader'"."""


def _said_as(words: str, pattern: str, text: str) -> str:
    """Return a text with words in place of a pattern; a network may send any name."""
    return re.sub(pattern, lambda _: words, text, flags=re.IGNORECASE)


class Prose:
    """Reads sentences."""

    def __init__(self, sent: JSON, *, is_prose_read: bool) -> None:
        """`sent` is the body that was refused; see `read_refusal`."""
        self._is_prose_read = is_prose_read
        self._sent = leaf_names(sent)
        self._top = sent
        self._values = {one for _, one in leaves_of(sent) if isinstance(one, str)}

    def _of_all(self, told: re.Match[str]) -> Iterator[FieldFault]:
        """Compare all names that an object may have, or a function has, with ours.

        It is the object that has what the sentence quotes besides, or the whole body.
        """
        listed = next(filter(None, told.groups()), "")
        words = (one for one in re.findall(NAME, listed) if one.lower() != "and")
        names = [path_of(one, self._sent) for one in words]
        around = names[0][:-1] if names else ()
        quoted = {one[1:-1] for one in re.findall(_MARKED_NAME, told.string)}
        objects = [(way, o) for way, o in walk(self._top) if isinstance(o, dict)]
        way, there = next(
            (one for one in objects if quoted & {*one[1]} or around == one[0] != ()),
            ((), self._top if isinstance(self._top, dict) else {}),
        )
        ways = [(*way, *one) if one[:-1] != way else one for one in names]
        yield from (FieldFault(o, Fault.MISSING) for o in ways if o[-1] not in there)
        others = ((*way, one) for one in there if (*way, one) not in ways)
        yield from (FieldFault(one, Fault.UNKNOWN) for one in others)

    def _in_each(self, text: str, above: Path) -> Iterator[FieldFault]:
        """Read what each item of a list has to have, where a list was sent."""
        told = _EACH.search(text)
        sent = self._top if isinstance(self._top, dict) else {}
        before = re.findall(NAME, text[: told.end("list")]) if told else ()
        lists = [one for one in (*before, *above) if isinstance(sent.get(one), list)]
        for name in _ITEM.findall(told["names"]) if told and lists else ():
            if not {name.lower(), type_of_word(name)} & (_PLAIN_TYPES | NO_NAMES):
                yield FieldFault((lists[-1], FIRST, name), Fault.MISSING)

    def _in_plain_words(self, text: str, above: Path) -> Iterator[FieldFault]:
        yield from self.in_object_with(text, above)
        yield from self._around_all(text)
        yield from self._put_under(text)
        yield from self._set_to(text)
        yield from self._of_parse(text)

    def _of_parse(self, text: str) -> Iterator[FieldFault]:
        """Read which of its own kinds of objects Parse Server wants under a name."""
        told = _OF_PARSE.search(text)
        if told is None:
            return
        name, of = told["name"], told["of"]
        yield FieldFault((name, "__type"), Fault.MISSING, options=(told["kind"],))
        if of:
            yield FieldFault((name, "className"), Fault.MISSING, options=(of,))
            yield FieldFault((name, "objectId"), Fault.MISSING)
        else:
            yield FieldFault((name, "iso"), Fault.MISSING, "datetime")

    def _set_to(self, text: str) -> Iterator[FieldFault]:
        """Read which name has to have which value: "set confirm to true"."""
        for told in _SET.finditer(text):
            name, value = told["name"], told["value"]
            if name.lower() in NO_NAMES:
                continue  # as in "send it as"
            is_flag = value.lower() in {"true", "false"}
            path = path_of(name, self._sent)
            there = path[-1] in self._sent
            others = re.findall(r"[\w-]+", told["others"])
            yield FieldFault(
                path,
                Fault.VALUE if there else Fault.MISSING,
                "boolean" if is_flag else "",
                () if is_flag else (value, *(one for one in others if one != "or")),
                is_exact=len(path) > 1,
            )

    def _around_all(self, text: str) -> Iterator[FieldFault]:
        """Read in which object everything has to be."""
        told = _ALL_UNDER.search(text)
        there = value_at(self._top, (told["name"],)) if told else None
        if told and not isinstance(there, dict):
            fault = Fault.MISSING if there is None else Fault.TYPE
            yield FieldFault((told["name"],), fault, "object", is_root=there is None)

    def _put_under(self, text: str) -> Iterator[FieldFault]:
        """Read under which name something has to be put that was not sent."""
        told = _PUT.search(text)
        name = told["name"] if told else ""
        is_marked = bool(told and told["quote"]) or "." in name
        is_name = name not in self._sent and is_marked
        known = NO_NAMES | _NO_PLACES | {*self._sent}
        if is_name or (name and name.lower() not in known and not type_of_word(name)):
            path = path_of(name, self._sent)
            yield FieldFault(path, Fault.MISSING, is_exact=len(path) > 1)

    def in_object_with(self, text: str, above: Path) -> Iterator[FieldFault]:
        """Read what an object has to have, where something else was sent for it."""
        told, under = OBJECT_WITH.search(text), _OBJECT_UNDER.search(text)
        items = _OBJECTS_WITH.search(text) if above and not told else None
        for path in self._named(items["names"]) if items else ():
            yield FieldFault((*above, FIRST, *path), Fault.MISSING)
        if under is not None:
            for path in self._named(under["names"]):
                yield FieldFault((*above, under["place"], *path), Fault.MISSING)
        if told is None:
            return
        sent = self._top if isinstance(self._top, dict) else {}
        place = spelling(told["place"])
        around = next((name for name in sent if spelling(name) == place), None)
        if around is None and fault_in(told[0]) is Fault.MISSING:
            around = told["place"]
        if around is None and (way := path_of(told["place"]))[1:]:
            above, around = way, way[-1]  # as in "items[0] must be an object with"
        within = above if above[-1:] == (around,) else (*above, str(around))
        for path in self._named(told["names"]) if around else ():
            yield FieldFault((*within, *path), Fault.MISSING)

    def findings(self, text: str, above: Path = ()) -> Iterator[FieldFault]:
        """Return what each clause of a text says."""
        text = self._without_action(self._with_name_for_value(text[:MAX_TEXT]))
        text = _SOUGHT.sub("", without_echo(text, self._top))
        text = self._without_work(text)
        shown = [*self._shown_in(text, above)]
        yield from (one for _, found in shown for one in found)
        for example, _ in shown:  # `{"json": <input>}`: no `input` is a name beside it
            text = text.replace(example, " ")
            for name in _PLACEHOLDER.findall(example):
                text = re.sub(rf"\b{name}\b", "\u2026", text)
        if told := _SIGNATURE.search(text) or _WHOLE_SET.search(text):
            yield from self._of_all(told)
            return
        # Without our body, which GraphQL shows in a notation of its own.
        inside = [
            *self._in_place_of(rewritten(text)),
            *self._in_each(text, above),
            *(self._in_plain_words(text, above) if self._is_prose_read else ()),
        ]
        if inside:
            yield from inside
            return
        yield from self._by_clause(rewritten(text), above)

    def _shown_in(
        self, text: str, above: Path
    ) -> Iterator[tuple[str, list[FieldFault]]]:
        """Yield each body that a text shows, with what that says of ours."""
        for shown in _EXAMPLE.finditer(text):
            place = _place_before(text, shown, above)
            if found := [*compared_with_example(shown[0], self._top, place)]:
                yield shown[0], found

    def _by_clause(self, text: str, above: Path) -> Iterator[FieldFault]:
        """Return what each clause of a text says, in forms that were rewritten."""
        text = _OF_RAILS.sub(self._of_rails, text)
        text = _LABELLED.sub(self._of_labels, text)
        text = self._in_our_words(text)
        chain = CHAIN.fullmatch(text)
        if chain:
            text = f"{'.'.join(_LINK.findall(chain[2]))}: {chain[1]}"
        for said in _CLAUSES.split(text):
            clause = _PLACE_LAST.sub(_place_first, said)
            if not _ADVICE.match(clause):
                told = self._in_clause(clause, above)
                is_address = bool(_OF_THE_ADDRESS.search(clause))
                yield from map(_in_address, told) if is_address else told

    def _without_action(self, text: str) -> str:
        """Return a sentence without what was asked for, which Go puts before it.

        As in "claim: Ref is empty", where no `claim` was sent and `Ref` is a name.
        """
        told = _OF_AN_ACTION.match(text)
        rest = text[told.end() :] if told else ""
        subject = _SUBJECT.match(rest)
        known = NO_NAMES | {told[1] if told else ""}
        is_name = subject is not None and subject[1].lower() not in known
        is_asked = told is not None and told[1] not in self._sent and is_name
        return rest if is_asked else text

    def _without_work(self, text: str) -> str:
        """Return a text without ours, of which no word says what they want."""
        for one in self._values:
            if one.count(" ") > 1 and len(one) >= SHORTEST_ECHO:
                text = text.replace(one, "\u2026")
        return text

    def _with_name_for_value(self, text: str) -> str:
        """Return a text that begins with one of our values with its name in front.

        Python's jsonschema says "'Forty-one' is not of type 'array'".
        """
        told = _OF_A_VALUE.match(text)
        if span := _OF_A_SPAN.search(text):
            ways = [way for way, value in leaves_of(self._top) if value == span[1]]
            named = f"{'.'.join(ways[0])}: invalid duration" if len(ways) == 1 else ""
            return text.replace(span[0], named) if named else text
        if told is None:
            return _INVALID_IRI.sub(self._name_of_iri, text)
        shown = from_python(told[1])
        ways = [way for way, value in walk(self._top) if way and value == shown]
        if not ways:
            return text
        # Words of ours may stand under several names: the result's is the likeliest.
        way = min(ways, key=likeness_to_a_result)
        return f"{'.'.join(way)}: {text[told.end(1) :].lstrip()}"

    def _name_of_iri(self, told: re.Match[str]) -> str:
        """Return what API Platform says of a value as said of its name."""
        ways = [way for way, value in walk(self._top) if way and value == told[1]]
        way = max(ways, key=likeness_to_a_result, default=())
        return f'"{".".join(way)}": expected an IRI' if way else told[0]

    def _in_our_words(self, text: str) -> str:
        """Return a text with `Result Type` written as the name that was sent for it."""
        for name in self._sent:
            words = [*map(re.escape, words_of(name))]
            if len(words) > 1:
                label = rf"(?<![\w-]){'[ _-]'.join(words)}(?![\w-])"
                text = _said_as(name, label, text)
            if len(words) == 1 or {*words[-1:]} & ID_WORDS:
                named = words[:-1] or words
                thing = rf"^{'[ _-]'.join(named)} (?:\S+ )?(?:was )?not found\.?$"
                place = ".".join((name, *self._id_in(name)))
                text = _said_as(f"{place} is invalid", thing, text)
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
        if header := _of_header(clause):
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
            if " " in name and _is_of_its_own(said):
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
        is_lacking = is_object and fault_in(said) is Fault.MISSING
        if is_lacking:
            is_again, own = None, set()  # it may lack a member of its name
        is_around = path[-1] in self._sent and not is_again
        inside = path if is_around else path[:-1] if is_again else above
        found = self._in_clause(said, inside, depth + 1)
        named = [one for one in found if one.fault in OF_NAMES]
        others = {
            spelling(one.path[-1])
            for one in named
            if _is_marked(one.path[-1], said)
            and (is_lacking or one.path[-1] not in self._values)
        }
        is_value = not re.search(r"[`'\"]value[`'\"]", said)
        if others - own - {"value" if is_value else ""}:
            yield from named  # as in `output: missing field "kind"`
        elif not self._has_too_much(path, said):
            yield fault_at(path, said, is_exact=len(path) > 1 or is_around)

    def _has_too_much(self, path: Path, said: str) -> bool:
        """Return whether an object that was sent has too much inside, and is not it."""
        is_object = isinstance(value_at(self._top, path), dict)
        return is_object and bool(STRICT.search(said))

    def _is_told_of(self, name: str, said: str, *, is_quoted: bool) -> bool:
        """Return whether what is said is about a name that stands before it."""
        if _ERROR_NUMBER.fullmatch(name):
            return False
        fault = fault_in(said)
        if name.lower() in WEAK_NAMES:
            is_judged = bool(wanted_type(said) or options_in(said))
            is_marked = is_quoted or name in self._sent
            return fault is not None or (is_marked and is_judged)
        is_sentence = name.rpartition(".")[2] in self._sent and " " in said
        is_sentence = is_sentence or bool(_PREDICATE.match(said))
        is_sentence = is_sentence or bool(ONLY_ONE.search(said))
        is_told = fault or is_sentence or wanted_type(said) or options_in(said)
        is_name = is_quoted or name in self._sent or name.lower() not in NO_NAMES
        return bool(is_told) and is_name

    def _in_place_of(self, text: str) -> Iterator[FieldFault]:
        """Read what was rather meant by a value that a sentence quotes."""
        instead = INSTEAD.search(text)
        quoted = {*OPTION.findall(text)} if instead else set()
        for path, value in leaves_of(self._top) if instead else ():
            if instead and str(value) in quoted:
                yield FieldFault(path, Fault.VALUE, "", items_in(instead[1]))

    def _in_sentence(self, text: str, above: Path) -> Iterator[FieldFault]:
        if alone := _MISSING_ALONE.fullmatch(text):
            yield FieldFault((*above, alone["name"]), Fault.MISSING, is_exact=False)
            return
        if "variant" not in text:
            for match in _ALLOWED.finditer(text):
                is_of_names = bool(OF_A_FIELD.search(text))
                names = [*self._named(match["names"], is_field=is_of_names)]
                yield from _each(names, above, FieldFault((), Fault.ALLOWED))
                if is_of_names and not match[0].startswith("did"):
                    others = self._not_listed(names, above)
                    yield from _each(others, above, FieldFault((), Fault.UNKNOWN))
            text = _ALLOWED.sub(" ", text)
        if not self._has_names(text):
            text = _OF_TWO_WORDS.sub(self._in_one_word, text)
        told = fault_at((), text)
        subject = _SUBJECT.match(text)
        is_sent = subject is not None and subject[1] in self._sent
        if told != FieldFault((), Fault.VALUE) or is_sent or INVALID.search(text):
            yield from self._about_names(OTHERS.sub(" ", text), above, told)

    def _not_listed(self, names: Sequence[Path], above: Path) -> Iterator[Path]:
        """Return what was sent besides all that may be there, of several names."""
        there = value_at(self._top, above) if above else self._top
        if (
            isinstance(there, dict)
            and len(names) > 1
            and {(o,) for o in there} & {*names}
        ):
            yield from ((one,) for one in there if (one,) not in names)

    def _has_names(self, text: str) -> bool:
        """Return whether a sentence has a name that is written as one.

        As in "Docket number is missing: give docket_no."
        """
        words = (one for one in re.findall(NAME, text) if HUMPED.search(one))
        return any(one not in self._values for one in words)

    def _of_rails(self, match: re.Match[str]) -> str:
        """Return an attribute's name, from what Rails calls it to people."""
        words = match[1].lower().split()
        if match[0].endswith("must exist"):
            return f"{self._written([*words, 'id'])}: required"
        return f"{self._written(words)}: "

    def _of_labels(self, match: re.Match[str]) -> str:
        """Return the names of fields that are told as forms show them to people."""
        labels = (one.lower().split() for one in match[1].split(", "))
        return "".join(f'\n"{self._written(words)}": required' for words in labels)

    def _in_one_word(self, match: re.Match[str]) -> str:
        """Write a name of several words as one."""
        words = match[1].lower().split()
        is_field = match.string[match.end() :].startswith(" field ")
        if not (is_field or NO_NAMES.isdisjoint(words[:-1])):
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
        paths = self._without_types(self._subjects(text, options), text, told)
        if ABSENT.search(text) and not any(p[-1] in self._sent for p in paths):
            told = replace(told, fault=Fault.MISSING)
        lacking = [one for one in paths if one[-1] not in self._sent]
        if told.fault is Fault.MISSING and lacking:
            # Of all that is needed, what was sent is there.
            others = [one for one in paths if one not in lacking]
            yield from _each(others, above, FieldFault((), Fault.ALLOWED))
            paths = [*self._asked_before(lacking, text)] or lacking
        is_value = bool(options) and not (lacking or OF_A_FIELD.search(text))
        if told.fault is Fault.UNKNOWN and is_value:
            told = replace(told, fault=Fault.VALUE)  # "Bad mode (supported: auto)"
        yield from _each(paths, above, told)

    def _without_types(
        self, paths: list[Path], text: str, told: FieldFault
    ) -> list[Path]:
        """Return what a sentence is about, without the words for a type that it wants.

        As in "WORK_DT INVALID DATE, YYYYMMDD".
        """
        words: list[str] = re.findall(NAME, text)
        ours: list[Path] = [(o,) for o in words if o in self._sent and "_" in o]
        types = [
            one
            for one in paths
            if one[-1] not in self._sent
            and (type_of_word(one[-1]) or is_day(wanted_type(one[-1])))
        ]
        is_typed = bool(told.wants and ours and types) and len(types) == len(paths)
        return ours[:1] if is_typed else paths

    def _asked_before(self, lacking: list[Path], text: str) -> Iterator[Path]:
        """Return the name that a sentence quotes before one that has only plain words.

        As in "How many 'minutes' will you need? A guess is fine."
        """
        words = {one[-1] for one in lacking}
        if len(words) == 1 and not any(map(HUMPED.search, words)):
            first, _, rest = text.partition("? ")
            quoted = {*OPTION.findall(first)} - self._sent - self._values
            if rest and len(quoted) == 1 and words.isdisjoint(re.findall(NAME, first)):
                yield from map(path_of, filter(is_name, quoted))

    def _subjects(self, text: str, options: Container[str]) -> list[Path]:
        """Return the names that a sentence is about, rather those written as names."""
        first: list[Path] = []
        for match in chain.from_iterable(frame.finditer(text) for frame in _FRAMES):
            before = match.string[: match.start("names")]
            named = self._named(
                match["names"],
                weak=self._is_told(match),
                is_field=bool(_FIELD_BEFORE.search(before)),
            )
            paths = [
                one
                for one in named
                if one[-1] not in options and "/".join(one) not in options
            ]
            if any(len(one) > 1 or HUMPED.search(one[-1]) for one in paths):
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

    def _named(
        self, names: str, *, weak: bool = False, is_field: bool = False
    ) -> Iterator[Path]:
        for match in re.finditer(rf"(?P<quote>{_QUOTE})(?P<name>{NAME})", names):
            name = match["name"]
            is_weak = weak and (name.lower() in WEAK_NAMES or name in self._sent)
            is_type = type_of_word(name) in NUMBERS or name == "UUID"
            is_word = name.lower() in NO_NAMES or is_type or is_day(wanted_type(name))
            is_word |= name.lower().startswith("non-")
            is_value = name in self._values and name not in self._sent
            if match["quote"] and is_value and not is_field:
                continue
            if (is_word and not (match["quote"] or is_weak)) or is_class_name(name):
                continue
            path = path_of(name, self._sent)
            if path:
                yield path


_FIELD_BEFORE = any_case(r"\b(?:field|property|member|attribute)\W{0,3}$")
_ERROR_NUMBER = LazyPattern(r"[A-Z]{1,8}[-_]?\d{2,}")
"""As in "HAPI-1820: Found incorrect type for element owner"."""
_OF_A_SPAN = LazyPattern(
    r"\btime: (?:invalid|missing unit in|unknown unit \"[^\"]{0,20}\" in) duration"
    r" \"([^\"]{1,200})\""
)
"""Go, which names its own package: "time: invalid duration \"soon\""."""
_INVALID_IRI = LazyPattern(r"^Invalid IRI \"(.*)\"\.?$", re.DOTALL)
_OF_A_VALUE = LazyPattern(
    r"^(['\"\[{\d].*?) (?:is not (?:of type|one of|valid)|is too|does not match"
    r"|should be non-empty)\b",
    re.DOTALL,
)


def _is_of_its_own(said: str) -> bool:
    """Return whether a part of a sentence says by itself what is wrong with a name."""
    subject = _SUBJECT.match(said)
    is_judged = fault_in(said) is not None and _MARKED.search(said)
    return bool(is_judged) or (
        subject is not None and subject[1].lower() not in NO_NAMES
    )


_MARKED = LazyPattern(rf"[`'\"\u201c]{NAME}[`'\"\u201d]")


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
    name = way if is_way else INTRODUCED.sub("", name)
    return _NOUN_AFTER.sub("", name).strip("`'\" "), is_quoted


def is_class_name(name: str) -> bool:
    """Return whether a name is that of a type of Java or .NET, with its package."""
    return name.count(".") > 1 and name.rpartition(".")[2][:1].isupper()


def _is_marked(name: str, said: str) -> bool:
    """Return whether a word is written as a name, and no word of the sentence."""
    is_named = rf"(?:{_NOUN}\s|[`'\"\u201c\[(]|^(?=\w+:)){re.escape(name)}(?!\w)"
    return bool(HUMPED.search(name) or any_case(is_named).search(said))


def _each(names: Iterable[Path], above: Path, told: FieldFault) -> Iterator[FieldFault]:
    """Yield the same fault for each of some names."""
    for path in names:
        is_exact = bool(above) or len(path) > 1
        options = () if path[-1] in told.options else told.options
        yield replace(told, path=(*above, *path), options=options, is_exact=is_exact)


def likeness_to_a_result(path: Path) -> int:
    """Return a rank, of which less is likelier."""
    name = path[-1].lower()
    return RESULT_WORDS.index(name) if name in RESULT_WORDS else len(RESULT_WORDS)
