"""What single libraries write, in a plainer form that all refusals are read in.

`rewritten` turns a sentence into `place: what is said`, and `in_short` takes out what
some show besides: types, schemas, and the body that was sent. A library is named where
its words are; whoever reads another one's adds a line here and nothing elsewhere.

What is read may be of any length and was made by somebody else: `in_short`, which reads
it whole, looks at its first letters alone, and takes no longer than these have letters.
"""

import json
import re
import warnings
from ast import literal_eval
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from itertools import islice

from journeyman.domain.tasks import JSON
from journeyman.network.json_text import parse
from journeyman.network.service_model.lazy_pattern import LazyPattern, any_case
from journeyman.network.service_model.meaning import EVIDENCE_WORDS, MADE, RESULT_WORDS
from journeyman.network.service_model.naming import ID_WORDS, word_set, words_of

MOST_LETTERS = 12_000
"""Of a text that is read at all."""
NAME = (
    r"\$?[^\W\d][\w-]{0,60}"
    r"(?:[./][^\W\d][\w-]{0,60}|[./]\d{1,3}(?![\w-])|\[['\"]?[A-Za-z_]?[\w-]{0,60}['\"]?\]){0,6}"
)
"""A name, or the way to one."""


_SINGLE = (ID_WORDS | {*RESULT_WORDS} | EVIDENCE_WORDS) - {*MADE.values()}
"""Last words in names of what is no record."""


def _model_of_rails(told: re.Match[str]) -> str:
    """Return what is wanted around the attributes of a record, which is an object."""
    is_single = {*words_of(told[1])[-1:]} & _SINGLE
    return told[0] if is_single else f"{told[1]}: expected an object, which is required"


def _key_of_model(told: re.Match[str]) -> str:
    """Return the key of a record of Rails, where it stands in what is about it."""
    return f"{'_'.join(words_of(told[1]))}.id: required"


_NAMES_OF_GRAPE = (
    r"(?<![\w\[])((?:(?!(?:missing|empty|invalid),)[\w\[\]]+, )+[\w\[\]]+)"
)
_ANOTHER_FORM = word_set("url uri link href file path image attachment upload id key")
"""Words in names of what stands in for a text, as a `scan_url` does."""


def _likeliest(names: list[str]) -> str:
    """Return which of several names to send, of which one is enough: that of a text."""
    texts = [one for one in names if _ANOTHER_FORM.isdisjoint(words_of(one))]
    return (texts or names)[0]


def _one_of_grape(told: re.Match[str]) -> str:
    """Return which of several parameters is wanted where all of them are missing."""
    return f"{_likeliest(told[1].split(', '))} is missing"


def _others_of_grape(told: re.Match[str]) -> str:
    """Return which of several parameters are too much where one may be sent."""
    names = told[1].split(", ")
    others = [one for one in names if one != _likeliest(names)]
    return ", ".join(f"{one} is not allowed" for one in others)


_RULE_OF_CHECK = LazyPattern(
    r"(\w+?)_((?:must|should|has|have|needs?|is|not|cannot|may)_\w+)"
)


def _checked_by_postgres(told: re.Match[str]) -> str:
    """Return what the name of a constraint says of a column, where it says something.

    Such as `result_must_be_object`, or `claims_state_check` of the table `claims`.
    """
    name = told[2].removeprefix(f"{told[1]}_")
    if rule := _RULE_OF_CHECK.fullmatch(name):
        return f"{rule[1]}: {rule[2].replace('_', ' ')}"
    column = name.removesuffix("_check")
    is_by_default = name != told[2] and name != column
    return f"{column}: is invalid" if is_by_default else told[0]


def _missed_below(told: re.Match[str]) -> str:
    """Return the ways to the names that something is said to lack."""
    names = re.findall(r"\b(?!and\b)\w+", told[2])
    return "missing fields " + ", ".join(f"{told[1]}.{name}" for name in names)


def _way_of_keys(told: re.Match[str]) -> str:
    way = ".".join(re.findall(r"Key .(\w+)", told[1]))
    return f'"{way}": '


_SCALARS_OF_GRAPHQL = frozenset({"ID", "String", "Int", "Float", "Boolean"})


def _variables_of(told: re.Match[str]) -> str:
    """Return what the signature of an operation of GraphQL wants."""
    said = [
        f'"variables.{name}": '
        + ("" if kind in _SCALARS_OF_GRAPHQL else "expected an object, which is ")
        + "required"
        for name, kind in re.findall(r"\$(\w+): ?(\w+)!", told[1])
    ]
    return "\n".join(said) or told[0]


def _inside_of_ozzo(told: re.Match[str]) -> str:
    return "; ".join(f"{told[1]}.{one}" for one in told[2].split("; "))


def _quoted(told: re.Match[str]) -> str:
    return ", ".join(f'"{one}"' for one in told[1].split(", "))


def _set_on(told: re.Match[str]) -> str:
    around = [] if told[2] == "request" else [told[2]]
    way = [words.replace(" ", "_") for words in (*around, told[1])]
    return f'"{".".join(map(_begun_small, way))}" is required'


def _begun_small(name: str) -> str:
    first, *rest = words_of(name)
    return first + "".join(map(str.capitalize, rest))


def _terms_of_erlang(told: re.Match[str]) -> str:
    terms = re.findall(r"\{(\w+),\W*(\w+)\W*?\}", told[0])
    return "\n".join(f'"{name}": {" ".join(words_of(said))}' for said, name in terms)


def _below_properties(told: re.Match[str]) -> str:
    way = [one for one in told[1].split("/") if one != "properties"]
    wanted = told[2].replace("member of", "one of")
    return f'"{".".join(way)}": expected {wanted}'


_REASONS = "|".join(
    ["Unprocessable Content", *(one.phrase for one in HTTPStatus if 400 <= one < 500)]  # noqa: PLR2004 - a client's errors
)
_REWRITTEN: tuple[tuple[LazyPattern, str | Callable[[re.Match[str]], str]], ...] = (
    # Parse Server
    (
        LazyPattern(r"\bschema mismatch for (?:\w+\.)?(\w+); expected (\w+) but got"),
        r'"\1": expected \2, not',
    ),
    # Java, which writes a list of names in brackets
    (LazyPattern(r"(?<=: )\[([A-Za-z]\w*(?:, [A-Za-z]\w*)*)\](?=\W*$)"), _quoted),
    # Temporal, of messages of protobuf, whose names begin with a capital in Go
    (
        LazyPattern(
            r"^([A-Z]\w*(?: (?!is\b)[a-z]\w*)?) (?:is )?not set on (request|[A-Z]\w*)\."
        ),
        _set_on,
    ),
    # By hand
    (
        any_case(
            r"\b(?:send|give|put|pass|write|enter) (?:it|them|that|this)"
            r" (?:as|in|into|under) (?=['\"`])"
        ),
        "missing field ",
    ),
    # By hand, of a value that is not taken, in one of some languages
    (
        any_case(
            r"\b(?:valor|valeur|valore|wert|waarde|wartość|hodnota|value)"
            r" (?:[^\W\d]+ ){1,3}(?:en|in|para|pour|per|für|voor|dla|pro|for)"
            rf" (?:el |campo |(?:the )?field )?['\"`]({NAME})['\"`]"
            r"(?:\.(?= [^\W\d]+ [^\W\d]+: ))?"
        ),
        r'"\1" is invalid',
    ),
    # GitHub, of a JSON schema, with the value that was sent
    (
        LazyPattern(
            r"\bFor '([\w/]+)', .* is not an? (\w+(?: of \[.*\])?)\.", re.DOTALL
        ),
        _below_properties,
    ),
    # AWS, of a value that it does not name
    (any_case(r"^unexpected field type$"), ""),
    # HubSpot
    (any_case(r"\brequired (\w+) (?:was|were) not set\b"), r"missing required \1"),
    # Jackson, of java.time: what follows tells the value again, as a "Text"
    (LazyPattern(r": Failed to deserialize java\.time\.\w+: .*"), ""),
    # The status line's words (RFC 9110, 15.5) before what is said
    (any_case(rf"^(?:HTTP )?(?:\d{{3}} )?(?:{_REASONS})\b *[:,-]+ *"), ""),
    # A gateway that shows the operation of GraphQL that it would call
    (
        LazyPattern(
            r".*\b(?:mutation|query) \w+ ?\(((?:\$\w+: ?[\w!\[\]]+,? ?){1,9})\).*",
            re.DOTALL,
        ),
        _variables_of,
    ),
    # Jackson
    (LazyPattern(r"(?<=`) from \w+ value\b"), ""),
    (
        LazyPattern(
            r" \(although at least one Creator exists\): no \S+-argument"
            r" constructor/factory method to deserialize from \w+ value"
        ),
        "",
    ),
    # Elasticsearch
    (any_case(r"^((?:required|missing)(?: \w+)?) \[([\w., ]+)\]$"), r"\1: \2"),
    # What only says that the request is refused
    (
        any_case(
            r"^(?:invalid|bad|malformed|incorrect) (?:request|body|payload|call)"
            r"(?: (?:body|payload|data))?: +(?=\w+ \w)"
        ),
        "",
    ),
    (LazyPattern(r" \| LineNumber.*|\(class [^)]*\)|(?<=struct field )\w+\."), ""),
    (LazyPattern(r"(?<=constraint failed: )\w+\."), ""),
    # Mongoose, which joins what each path said
    (
        LazyPattern(r"(?:^\w+ validation failed: |, )?[\w.]+: Path `([\w.]+)` (?=is )"),
        r"\n\1: ",
    ),
    (
        LazyPattern(r".*`[^`]*` is not a valid enum value for path `([\w.]+)`"),
        r"\n\1: not one of the values",
    ),
    (
        LazyPattern(r"Tried to set nested object field `([\w.]+)` to primitive value"),
        r"\n\1: expected an object,",
    ),
    (
        LazyPattern(
            r"^(.*) at path:? ['\"]([\w.]{1,200})['\"](?: (?:because|for) .*|\W*)$"
        ),
        r"\2: \1",
    ),
    # ASP.NET's minimal APIs, before what is wrong in the body
    (
        any_case(
            r"^Failed to read parameter \"[^\"]*\" from the request body as JSON\. "
        ),
        "",
    ),
    # What Python shows of an error that is inside of another
    (LazyPattern(r"<\w+Error: (['\"])(.*?)\1>"), r"\n\2\n"),
    # Sequelize, Hibernate, and a validator of Go, of a model's attribute
    (LazyPattern(r"\b(?:notNull|string) Violation: \w+\.(\w+)"), r"\n\1: it"),
    (
        LazyPattern(r".*\bnull or transient value ?: ?(?:\w+\.)*([a-z]\w*)"),
        r"\1: required",
    ),
    (LazyPattern(r"^(?:\w+: )?'/([\w/]+)' does not validate with \S+: "), r"\1: "),
    # What Python looks into for a value that was not sent
    (LazyPattern(r"'NoneType' object "), ""),
    # ozzo, of what is inside of an object
    (LazyPattern(r"(?<!\S)(\w+): \((\w+: [^()]*?)\.?\)\.?"), _inside_of_ozzo),
    # zod 4
    (any_case(r"^invalid (?:input|option): (?=expected)"), ""),
    # Swift's decoder
    (LazyPattern(r"^No such key '(\w+)' at path '([\w.]*)'.*"), r"missing key '\1'"),
    (LazyPattern(r"^Value required for key at path '([\w.]+)'.*"), r'"\1": required'),
    # protovalidate, which makes a list of what it says and adds the rule
    (LazyPattern(r"(?m:^) ?- (?=[\w.\[\]]+: )"), ""),
    (LazyPattern(r"(?<=\w) \[(?:required|\w+(?:\.\w+)+)\](?=\n|$)"), ""),
    # ArkType
    (
        LazyPattern(r"^([\w.]+) must be (.*) \(was missing\)$"),
        r'"\1": required, expected \2',
    ),
    # ASP.NET
    (LazyPattern(r"^The ([A-Z]\w*) field (?=is |must )"), r'The "\1" field '),
    # Names and what is said of them, joined otherwise
    (LazyPattern(r"^([`'\"]?[\w.]+[`'\"]?) [\u2013\u2014] "), r"\1: "),
    (LazyPattern(r";\s+(?=[A-Za-z_][\w.]*(?:;|\W*$))"), ", "),
    (
        LazyPattern(
            r", (?=(?!which|that|it|this)[`'\"]?\w+[`'\"]?"
            r" is (?:an?|not|required|missing|invalid)\b)"
        ),
        "\n",
    ),
    # pydantic, as text
    (LazyPattern(r"^\d+ validation errors? for \w+(?=\n)"), ""),
    (
        LazyPattern(r"\n([\w.]+)\n  (.*?) [\[(]type=[^\n]*(?:\n    For .*)?"),
        r"\n\1: \2",
    ),
    # PHP, of what is handed to a function
    (LazyPattern(r"[\w\\]+(?:::\w+)?\(\): Argument #\d+ \(\$(\w+)\)"), r"\1"),
    # Circe and ZIO
    (LazyPattern(r"^\w+Failure at \.?(?=\w)"), ""),
    (LazyPattern(r"^\.([\w.]+)\(([^()]+)\)$"), r"\1: \2"),
    # Ajv, which joins what it says
    (LazyPattern(r", (?=(?:body|data|request|payload)\S* must )"), "\n"),
    # What is called, or points to a schema, is no field.
    (LazyPattern(r"`?\b[\w.]+\(\)`?"), ""),
    (LazyPattern(r"(?:doesn't match schema )?#/(?:[\w$]+/)+[A-Z]\w*:? ?"), ""),
    # The type of what is named, as in "ref (string) is required"
    (any_case(r"(?<=\w) \((?:string|text|number|integer|boolean|array)\)(?= \w)"), ""),
    # Voluptuous
    (
        LazyPattern(r"^(.*?)(?: for dictionary value)? @ data(\[[^@]{1,200}\])$"),
        r"instance\2: \1",
    ),
    # fastjsonschema
    (
        LazyPattern(r"^data\.(\S+) must contain \[(.*)\] properties$"),
        r"\1: missing fields \2",
    ),
    (
        LazyPattern(r"^data\.(\S+) must not contain \[(.*)\] properties$"),
        r"\1: unknown fields \2",
    ),
    (
        LazyPattern(r"^data must not contain \[(.*)\] properties$"),
        r"unknown fields \1",
    ),
    # Python's schema, from the outermost name to the value
    (LazyPattern(r"^((?:Key '\w+' error:\n)+)"), _way_of_keys),
    # What was sent, behind what was expected
    (
        LazyPattern(
            r"(?<!never)(?:,| but) (?:received|got|actual):? [`'\"][^`'\"]*[`'\"]+\W*$"
        ),
        "",
    ),
    # zod's prettifyError
    (
        LazyPattern(r"\u2716 ([^\n]*)\n\s*\u2192 at ([\w.\[\]]+)"),
        r'\n"\2": \1',
    ),
    # PostgreSQL, of the key of another record
    (LazyPattern(r"^insert or update on table .* violates foreign key .*"), ""),
    (
        LazyPattern(r"^Key \((\w+)\)=\(.*\) is not present in table .*"),
        r"\1 is invalid",
    ),
    # Symbols of Ruby
    (LazyPattern(r"(?<=\s):(?=[a-z_]\w)"), ""),
    # ActiveRecord, which joins what each attribute lacks
    (LazyPattern(r"^Validation failed: (?=[A-Z])"), ""),
    # Rails, of what is around the attributes of a record
    (
        LazyPattern(r"param is missing or the value is empty(?: or invalid)?: (\w+)$"),
        _model_of_rails,
    ),
    # By hand, of what a member lacks: "outputs[0] has no name, value"
    (
        LazyPattern(
            r"^(\w[\w.]*(?:\[\d+\])+|\w+(?:\.\w+)+)"
            r" (?:has no|lacks|misses|is missing|needs|is without):? (?!an? |the )"
            r"(\w+(?:(?:, and|,| and) \w+)*)\W*$"
        ),
        _missed_below,
    ),
    # PostgreSQL, of what a row has to be
    (
        LazyPattern(
            r"^new row for relation \"(\w+)\" violates check constraint \"(\w+)\"$"
        ),
        _checked_by_postgres,
    ),
    # Grape, of parameters of which one is enough
    (
        LazyPattern(
            rf"{_NAMES_OF_GRAPE} are missing,"
            r" (?:exactly|at least) one parameter (?:must|can) be provided"
        ),
        _one_of_grape,
    ),
    (LazyPattern(rf"{_NAMES_OF_GRAPE} are mutually exclusive"), _others_of_grape),
    # Phoenix, of the same as Rails
    (
        LazyPattern(r"expected key \"(\w+)\" to be present in params\b.*"),
        r"\1: expected an object, which is required",
    ),
    # ActiveRecord, of a key that was not sent
    (LazyPattern(r"Couldn't find ([A-Z]\w*) without an ID$"), _key_of_model),
    # Python's KeyError, as a text and as its code
    (
        LazyPattern(r"^(?:KeyError(?:\(|: ))?(['\"])([A-Za-z_]\w*)\1\)?$"),
        r"missing key '\2'",
    ),
    # OData for .NET
    (
        any_case(
            r"One or more parameters of the operation '\w+' are missing from [^.]*\."
        ),
        "",
    ),
    (
        any_case(
            r"An unexpected '\w+' node was found for property named '([\w.]+)'"
            r" when reading from the JSON reader\."
            r" A '(?:Start)?(\w+?)(?:Value)?' node was expected\.?"
        ),
        r"'\1': expected \2",
    ),
    # Notion, of what it received
    (any_case(r", instead was (?![`\"']?(?:undefined|null))[`\"'][^`\"']*[`\"']"), ""),
    # AWS counts the members of a list from one.
    (LazyPattern(r"(?<=\.)1\.member(?=[.'])"), "0"),
    # Jira
    (any_case(r"Missing '(\w+)' identifier"), r"'\1.id' is required"),
    (any_case(r"expected object containing '(\w+)'"), r"missing key '\1'"),
    # .NET, of an argument
    (
        any_case(r"Value cannot be null\. ?\(Parameter '([\w.]+)'\)"),
        r"'\1' is required",
    ),
    # Firebase, as its guides write it
    (
        LazyPattern(r"must be called with ((?:[\w-]+ ){0,5})\"(\w+)\".*"),
        r'must have the field "\2" (\1)',
    ),
    # huma
    (
        LazyPattern(r"required property ([\w.-]+) to be present"),
        r"required property '\1' to be present",
    ),
    # pydantic
    (any_case(r"unable to extract tag using discriminator (?=')"), "missing field "),
    # Jackson
    (LazyPattern(r"\n at \[Source: .*?line: \d+, column: \d+\]", re.DOTALL), ""),
    (
        LazyPattern(
            r"Cannot construct instance of `.*no \S+-argument constructor.*?\(.*?'\)",
            re.DOTALL,
        ),
        "expected an object",
    ),
    # Of a value that it does not name: see `_named_by_type`.
    (LazyPattern(r"Cannot construct instance of `[^`(]*`[^(]*$"), ""),
    # API Platform, of what refers to a record
    (
        LazyPattern(r'must be "array" \(nested document\) or "string" \(IRI\)'),
        "must be an IRI",
    ),
    # Valibot
    (
        any_case(r"^invalid key: expected (?=\")(.*) but received.*"),
        r"missing field \1",
    ),
    (any_case(r"^invalid key: expected never but received "), "unknown field "),
    (any_case(rf"^invalid \w+ at ({NAME}): "), r'"\1": '),
    # At path: result.type -- Expected ...
    (
        any_case(
            r"^(?:at )?(?:path|field|param(?:eter)?|property|location|pointer)[:=] ?"
            rf"(?:[`'\"])?({NAME})(?:[`'\"])?[\s,;:.-]+(?=[a-z])"
        ),
        r'"\1": ',
    ),
    # AWS API Gateway, of a JSON schema
    (LazyPattern(r"^\[(?=(?:object|instance|/))(.*)\]$", re.DOTALL), r"\1"),
    (
        LazyPattern(r"object instance has properties .*? by the schema: \[(.*?)\]"),
        r"unknown fields \1",
    ),
    (
        LazyPattern(r"object has missing required properties \(\[(.*?)\]\)"),
        r"missing fields \1",
    ),
    (
        LazyPattern(
            r"instance type .*? any allowed primitive type \(allowed: \[(.*?)\]\)"
        ),
        r"expected type \1",
    ),
    (LazyPattern(r"instance value .*? not found in enum \(possible values"), "one of"),
    (LazyPattern(r"(?:(?<=; )|^)/([\w./-]{1,200}): "), r"\1: "),
    # serde, of a variant that has more to it than its name
    (
        any_case(r"\btype: unit variant, expected (?:newtype|struct|tuple) variant"),
        "is required",
    ),
    # kotlinx.serialization
    (
        LazyPattern(
            r"^[\w.]+ does not contain element with name '[^']*' at path \$\.(\S+)$"
        ),
        r'"\1": not one of the values',
    ),
    (any_case(r"unexpected symbol '.*?' in numeric literal"), "expected a number"),
    # Its name for the key that tells a class, unless a service has changed it
    (
        LazyPattern(r"\bClass discriminator was missing\b.*", re.DOTALL),
        "missing field 'type'",
    ),
    (
        LazyPattern(r"\bFields \[([\w, ]+)\] are required for .*they were missing"),
        r"missing fields \1",
    ),
    (
        LazyPattern(r"^(.*?) at path: \$\.([\w.]+)(?:\n.*)?$", re.DOTALL),
        r"\2: \1",
    ),
    # .NET
    (LazyPattern(r"^(.*?)[.;,]? Path: \$\.([\w.]*\w)\W*$", re.DOTALL), r"\2: \1"),
    # A way in brackets at the end, such as a JSON pointer's.
    (
        LazyPattern(
            r"^(.*\S)\s*[\[(](?:[\w-]+: ?|at |in )?"
            r"(?:[#$]?/|\$\.)([\w./-]{1,200})[\])]\W*$",
            re.DOTALL,
        ),
        r"\2: \1",
    ),
    # go-playground/validator: the type, the way, and its end again
    (
        LazyPattern(
            r"\bKey: '(?:\w{1,80}\.)?([^']{1,200})' Error:"
            r"(?:Field validation for '\w{1,80}' )?"
        ),
        r"\1: ",
    ),
    # graphql-js
    (
        LazyPattern(r"Value \"\w+\" does not exist in \"\w+\" enum"),
        "not one of the values",
    ),
    (LazyPattern(r"field \"\w+\" (?=argument \")", re.IGNORECASE), ""),
    (
        LazyPattern(
            r"Variable [\"']\$(\w+)[\"'] got invalid value .*? at [\"']([\w.]+)[\"']; ",
            re.DOTALL,
        ),
        r"\2: ",
    ),
    (
        LazyPattern(
            r"Variable [\"']\$(\w+)[\"'] got invalid value .*?; (?=Field|Exp|Unk)"
        ),
        r"\1: ",
    ),
    # Ajv, of what is inside of an object: perhaps with the object's own name
    (
        any_case(
            r"(?m:^)(?:request/body|body|data|request|payload)?/([\w./-]+)"
            r" (?:must|should) have required property '([^']+)'"
        ),
        r'"\1/\2": required',
    ),
    # fastify
    (
        any_case(
            r"(?m:^)(?:request/body|body|data|request|payload)?/(?!body )([\w./-]+)"
            r" (?=must|should)"
        ),
        r"\1: ",
    ),
    # R, of an argument that has to be one of some texts
    (
        LazyPattern(r"match\.arg\(([\w.]{1,60}), c\(([^()]{1,200})\)\): .*", re.DOTALL),
        r"'\1' must be one of \2",
    ),
    # Rules that are written by hand, of a document
    (
        LazyPattern(r"^([a-z]\w{1,30}) must be (?:the|your) agent_id\b.*$"),
        r"'\1' is required (the agent_id)",
    ),
    (
        LazyPattern(
            r"^([a-z]\w{1,30}) of (?:an?|the|this|your) (?:\w+ ){0,4}?"
            r"(?:document|record|task|item|row|entry)(?: with an? \w+)?"
            r" must be (?=['\"])"
        ),
        r"'\1' must be one of ",
    ),
    # Django REST with JSON:API
    (
        any_case(
            r"the resource object's type \([^()]*\) is not the type that constitutes?"
            r" the collection represented by the endpoint \(([\w-]+)\)"
        ),
        r"'type' must be one of '\1'",
    ),
    (
        any_case(r"incorrect relation type. expected ([\w-]+), received [\w-]+"),
        r"'type' must be one of '\1'",
    ),
    # express-openapi-validator, of the whole
    (LazyPattern(r"^request/body (?=must)"), ""),
    # Prism, behind a code such as "required"
    (
        any_case(r"\brequest body property ([\w./-]+) (?=must|should)"),
        r"\n\1: ",
    ),
    (
        any_case(
            r"^.*\b(?:(?:column|field|property) [`'\"]|(?:type|value) for [`'\"]?)"
            r"([\w.]{1,80})[`'\"]?: "
        ),
        r"\1: ",
    ),
)
"""How frameworks write `place: what is said`, and what they say besides."""


def rewritten(text: str) -> str:
    """Return a sentence with what single libraries write in the plainer form."""
    for notation, plain in _REWRITTEN:
        text = notation.sub(plain, text)
    return text


def in_short(text: str) -> str:
    """Return a text without the types, schemas and bodies that some libraries show."""
    text = text[:MOST_LETTERS]
    for shorten in (_without_set, _of_colander, _of_io_ts, _without_schema):
        text = shorten(text)
    return _from_branches(text)


def _without_set(text: str) -> str:
    """Return what fastjsonschema says with its set, which is no body, as a list."""
    before, _, shown = text.removesuffix("} properties").rpartition("{")
    is_set = text.endswith("} properties") and bool(before) and ":" not in shown
    return f"{before}[{shown}] properties" if is_set else text


def _of_colander(text: str) -> str:
    """Return the names of a mapping of which colander shows the whole content."""
    begin = 'Unrecognized keys in mapping: "'
    if not text.startswith(begin):
        return text
    shown = from_python(text.removeprefix(begin).removesuffix('"'))
    names = ", ".join(f"'{name}'" for name in shown) if isinstance(shown, dict) else ""
    return f"unknown fields {names}"


def _of_io_ts(text: str) -> str:
    """Return the place, and what was expected there, behind types of a whole body."""
    begin = "Invalid value "
    value, told, rest = text.removeprefix(begin).partition(" supplied to : ")
    if not (text.startswith(begin) and told):
        return text
    steps = [step.partition(": ") for step in rest.split("/")[1:]]
    # A number before the first name is a member of an intersection.
    way = ".".join(name for name, _, _ in steps).lstrip("0123456789.")
    kind = steps[-1][2] if steps else ""
    kind = "array" if kind.startswith("Array<") else "object" if "{" in kind else kind
    return f'"{way}": ' + ("required" if value == "undefined" else f"expected {kind}")


def _without_schema(text: str) -> str:
    """Return an error of Python's jsonschema without the schema and our body."""
    said, told, rest = text.partition("\n\nFailed validating ")
    if not told:
        return text
    _, _, there = rest.rpartition("\n\nOn instance")
    way = there.partition(":\n")[0]
    return f"instance{way}: {said}" if way.startswith("[") else said


_BRANCH = LazyPattern(r"^([\u2502 ]*)[\u251c\u2514]\u2500 ?(.*)$", re.MULTILINE)
"""A line of a tree that is drawn with the characters for boxes."""
_KEY_IN_BRANCH = LazyPattern(r"\[\"?(\w+)\"?\]")
_MOST_BRANCHES = 200
_DEEPEST_BRANCH = 60
"""In letters before it."""


def _from_branches(text: str) -> str:
    """Return a tree that is drawn in lines, as Effect does, as `way: what is said`."""
    found = islice(_BRANCH.finditer(text), _MOST_BRANCHES)
    branches = [(len(one[1]), one[2].strip()) for one in found]
    branches = [one for one in branches if one[0] <= _DEEPEST_BRANCH]
    ways: dict[int, str] = {}
    told: list[str] = []
    for i, (depth, label) in enumerate(branches):
        ways = {at: way for at, way in ways.items() if at < depth}
        is_last = i + 1 == len(branches) or branches[i + 1][0] <= depth
        if key := _KEY_IN_BRANCH.fullmatch(label):
            ways[depth] = key[1]
        elif is_last and ways:
            told.append(f'"{".".join(ways.values())}": {in_json_types(label)}')
    return "\n".join(told) if branches else text


_OF_LANGUAGES = (
    (LazyPattern(r"^Expected (?:readonly \[|ReadonlyArray<).*"), "expected an array"),
    (LazyPattern(r"^Expected \{.*"), "expected an object"),
    (LazyPattern(r"\bof type \[\](?=[\w*])"), "of type array, each "),  # Go's
)


def in_json_types(said: str) -> str:
    """Return what Effect and Go say with JSON's type in place of their own."""
    for notation, plain in _OF_LANGUAGES:
        said = notation.sub(plain, said)
    return said


def from_python(text: str) -> JSON:
    """Return what Python shows of a dictionary or a list; None where it is none."""
    refused = (ValueError, SyntaxError, TypeError, RecursionError, MemoryError)
    with suppress(*refused), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a text that is not ours
        return parse(json.dumps(literal_eval(text[:MOST_LETTERS])))
    return None


def in_plain_form(body: JSON, depth: int = 0) -> JSON:
    """Return a body with its texts in a form that all of the reading understands.

    Quotes of other languages, as in »name«, are English ones: what closes in one
    of them opens in another, so that each pair is replaced, and of two pairs around
    each other, as Notion has them, one is left. What Jackson quotes of its own is no
    name.
    """
    if isinstance(body, str):
        for pattern, plain in _PLAIN_FORMS:
            body = pattern.sub(plain, body)
        return body
    if depth > _DEEPEST or not isinstance(body, dict | list):
        return body
    if isinstance(body, list):
        return [in_plain_form(one, depth + 1) for one in body]
    body = _of_mongodb(body)
    return {
        name: in_plain_form(one, depth + 1)
        for name, one in body.items()
        if not (isinstance(one, str) and one in _OF_NO_FIELD)
    }


def _of_mongodb(told: dict[str, JSON]) -> dict[str, JSON]:
    """Return what MongoDB's schema says of a property with plain keys.

    It says under `details` which operator was not satisfied, as it was specified.
    """
    name, details = told.get("propertyName"), told.get("details")
    first = details[0] if isinstance(details, list) and details else None
    specified = first.get("specifiedAs") if isinstance(first, dict) else None
    if not (name and isinstance(first, dict) and isinstance(specified, dict)):
        return told
    kind, options = specified.get("bsonType"), specified.get("enum")
    said = {"field": name, "message": first.get("reason", "")}
    more = {"expectedType": kind, "enum": options}
    return said | {key: one for key, one in more.items() if one is not None}


_DEEPEST = 10
_OF_NO_FIELD = frozenset({"non_field_errors", "nonFieldErrors", "__all__", "_schema"})
"""What Django and marshmallow have in place of a field, where a handler has made a list
of their faults: it is none."""
_PLAIN_FORMS: tuple[tuple[LazyPattern, str | Callable[[re.Match[str]], str]], ...] = (
    (LazyPattern(r"(?<=\w)\.Index (\d+)\b"), r".\1"),  # Vapor, of an item of a list
    (
        LazyPattern(
            r"\u00bb([^\u00ab\u00bb\n]{1,60})\u00ab"
            r"|\u00ab\s?([^\u00ab\u00bb\n]{1,60}?)\s?\u00bb"
            r"|\u201e([^\u201c-\u201e\n]{1,60})[\u201c\u201d]"
            r'|`"([^`"\n]{1,60})"`'
        ),
        lambda one: f'"{"".join(filter(None, one.groups()))}"',
    ),
    # jsonapi-resources: "The required parameter, data, is missing", and what JSON:API
    # calls the `id` of a resource object (JSON:API 1.1, section 7.2)
    (any_case(r"\b(parameter|field|property), ([\w.-]+), (?=is|was)"), r"\1 \2 "),
    (
        LazyPattern(r"^The resource object does not contain a key\.?$"),
        'missing field "data.id"',
    ),
    # MongoDB, whose ways to a field begin with the name of the command
    (LazyPattern(r"^BSON field '\w+\."), "BSON field '"),
    # Elasticsearch: the place in our bytes, its own name of the object, and a field
    (LazyPattern(r"^\[\d+:\d+\] \[\w+\] "), ""),
    (LazyPattern(r"(?<= field )\[([\w.]+)\]"), r'"\1"'),
    (
        LazyPattern(r"^([\w.]+) doesn't support values of type: VALUE_\w+"),
        r'"\1": expected an object',
    ),
    # Java, of what should be a number
    (LazyPattern(r'^For input string: (?=")'), "expected an integer, not "),
    # By hand, of a field by its name, in one of some languages
    (
        LazyPattern(
            r"^[^\W\d_a-z][^\W\d_]+ ([a-z][a-z0-9_]+) (saknas|mangler|puuttuu|fehlt"
            r"|ontbreekt|manca|falta|chybí|hiányzik)(?=\.|$)"
        ),
        r'"\1" \2',
    ),
    (
        LazyPattern(
            r"^[^\W\d_a-z][^\W\d_]+ ([a-z][a-z0-9_]+) (?:måste vara|skal være|muss"
            r"|debe ser|doit être|deve essere|deve ser|moet|musi być) (true|false)\b"
        ),
        r'"\1" must be \2',
    ),
    # Jackson
    (LazyPattern(r" \(token `JsonToken\.\w+`\)"), ""),
    # RabbitMQ, in Erlang
    (
        LazyPattern(r'^\[?(?:\{[a-z_]+,(?:<<)?"?\w+"?(?:>>)?\},?){1,30}\]?$'),
        _terms_of_erlang,
    ),
)
