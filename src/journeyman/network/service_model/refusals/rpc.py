"""What refusals of remote procedure calls say: of GraphQL and JSON-RPC.

There the body names what is called, and has the arguments inside of an object.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from journeyman.domain.tasks import JSON
from journeyman.network.service_model.lazy_pattern import LazyPattern, any_case
from journeyman.network.service_model.naming import walk, words_of
from journeyman.network.service_model.refusals.faults import (
    MAX_NODES,
    MAX_TEXT,
    Fault,
    FieldFault,
)
from journeyman.network.service_model.refusals.words import OPTION, strings_in
from journeyman.network.service_model.request import leaf_names

_NAME = "operationName"
_OPERATIONS = (_NAME, "operation", "query")
"""Where GraphQL, and what is made like it, has the name of what is called."""
_SIGNATURE = LazyPattern(
    r"(?<!mutation )(?<!query )\b(\w+)\(\$\w+: ?[^()]{1,200}\)(?! ?\{)"
)
"""As in `claimTask($input: ClaimTaskInput!)`."""
_NAME_IN_WORDS = any_case(r"\boperation ?name\b")
_VARIABLE = LazyPattern(r"Variable \"\$?(\w+)\"|value \$(\w+)")
_VARIABLES = "variables"
_INVALID_PARAMETERS = -32602
"""JSON-RPC 2.0, section 5.1: the method was found, and its parameters are wrong."""
_PARAMETERS = "params"
_OF_A_CALL = frozenset({"method", "jsonrpc", _PARAMETERS})


def wanted_operation(body: JSON, sent: JSON) -> list[FieldFault]:
    """Return under which name which operation is wanted; nothing where none is told."""
    texts = [text[:MAX_TEXT] for text in islice(strings_in(body), MAX_NODES)]
    options = tuple(dict.fromkeys(_operations_in(body, texts)))
    ours = leaf_names(sent)
    told = {word for text in texts for word in OPTION.findall(text)}
    is_in_words = any(map(_NAME_IN_WORDS.search, texts))
    names = [one for one in _OPERATIONS if one in ours]
    names += [_NAME] if is_in_words else [one for one in _OPERATIONS if one in told]
    if not names or not options or not ours.isdisjoint(options):
        return []
    name, *_ = names
    fault = Fault.VALUE if name in ours else Fault.MISSING
    return [FieldFault((name,), fault, options=options)]


def _operations_in(body: JSON, texts: list[str]) -> Iterator[str]:
    """Yield the operations that are told with their variables, or listed as such."""
    for text in texts:
        yield from _SIGNATURE.findall(text)
    for way, value in islice(walk(body), MAX_NODES):
        is_listed = way and words_of(way[-1])[-1:] == ("operations",)
        if is_listed and isinstance(value, list):
            yield from (one for one in value if isinstance(one, str))


def in_variables(
    found: Iterable[FieldFault], body: JSON, sent: JSON
) -> Iterator[FieldFault]:
    """Yield what is said of GraphQL's variables as said of where they are sent.

    What names an operation has them inside of an object, and so has a body that still
    lacks one that stands in it.
    """
    texts = islice(strings_in(body), MAX_NODES)
    named = {name for text in texts for one in _VARIABLE.findall(text) for name in one}
    ours = leaf_names(sent)
    is_operation = not ours.isdisjoint(_OPERATIONS)
    for one in found:
        is_lacking = one.fault is Fault.MISSING and one.path[-1] in ours
        is_variable = one.path[0] in named and (is_operation or is_lacking)
        way = (_VARIABLES, *one.path)
        yield replace(one, path=way, is_exact=True) if is_variable else one


def in_parameters(
    found: Iterable[FieldFault], body: JSON, sent: JSON
) -> Iterator[FieldFault]:
    """Yield what JSON-RPC says of parameters as said of where a call has them."""
    error = body.get("error") if isinstance(body, dict) else None
    is_told = isinstance(error, dict) and error.get("code") == _INVALID_PARAMETERS
    is_call = isinstance(sent, dict) and not sent.keys().isdisjoint(_OF_A_CALL)
    for one in found:
        is_beside = is_told and is_call and one.path[0] != _PARAMETERS
        way = (_PARAMETERS, *one.path)
        yield replace(one, path=way, is_exact=True) if is_beside else one
