"""OpenAPI, in and out: what a network's description says, and ours of a network."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import takewhile
from urllib.parse import unquote

from journeyman.domain.tasks import JSON
from journeyman.network import endpoints
from journeyman.network.endpoints import ENDPOINTS, Endpoint
from journeyman.network.headers import OWN_HEADERS
from journeyman.network.service_model.evidence import (
    AnswerRecord,
    EndpointRecord,
    Shape,
)
from journeyman.network.service_model.request import HEADER, QUERY

DEEPEST = 24
"""Levels of a schema that are read; below, anything is allowed."""
MOST_SCHEMAS = 4_000
"""That one description may unfold into: a few references can name each other often."""
ACTIONS = (endpoints.CLAIM, endpoints.SUBMIT, endpoints.COMPLETE, endpoints.POST_TASK)

Schema = dict[str, JSON]


def is_description(document: JSON) -> bool:
    """Return whether this is an OpenAPI 3 or Swagger 2 description."""
    return (
        isinstance(document, dict)
        and isinstance(document.get("paths"), dict)
        and bool({"openapi", "swagger"} & document.keys())
    )


def described_requests(document: JSON) -> dict[str, JSON]:
    """Return the JSON schema of each action's request body, by the action's name.

    References are resolved within the document, and `allOf` is merged. Parameters of
    the address and headers are among the properties, named as places of a request are.
    An action that is not described, or wants nothing, is left out.
    """
    if not isinstance(document, dict) or not is_description(document):
        return {}
    unfolding = _Unfolding(document)
    schemas = {
        endpoint.name: unfolding.request_of(operation)
        for endpoint in ACTIONS
        if (operation := _operation_in(unfolding, endpoint)) is not None
    }
    return {name: schema for name, schema in schemas.items() if schema}


def _operation_in(unfolding: "_Unfolding", endpoint: Endpoint) -> Schema | None:
    """Find an endpoint's operation by the end of its path: servers name the rest."""
    paths = object_in(unfolding.document, "paths")
    wanted = endpoint.path.strip("/").split("/")
    alike = {path: _common_end(path.strip("/").split("/"), wanted) for path in paths}
    for path in sorted(alike, key=lambda path: -alike[path]):
        item = unfolding.resolved(paths[path])
        operation = item.get(endpoint.method.lower())
        if alike[path] and isinstance(operation, dict):
            shared = [*_listed(item, "parameters"), *_listed(operation, "parameters")]
            return operation | {"parameters": shared}
    return None


def _common_end(one: list[str], other: list[str]) -> int:
    pairs = zip(reversed(one), reversed(other), strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))


def object_in(value: Schema, name: str) -> Schema:
    """Return the object that a schema has under a name; empty without one."""
    inner = value.get(name)
    return inner if isinstance(inner, dict) else {}


def _listed(value: Schema, name: str) -> list[JSON]:
    inner = value.get(name)
    return inner if isinstance(inner, list) else []


@dataclass(eq=False)
class _Unfolding:
    """Replaces references by what they name, within bounds."""

    document: Schema
    left: int = MOST_SCHEMAS

    def request_of(self, operation: Schema) -> Schema:
        """Return the schema of all that a request says; empty when that is nothing."""
        body, required, outside = self.body_of(operation), list[JSON](), Schema()
        for one in _listed(operation, "parameters"):
            parameter = self.resolved(one)
            prefix = {"query": QUERY, "header": HEADER}.get(str(parameter.get("in")))
            name = str(parameter.get("name"))
            is_needed = parameter.get("required") is True
            is_asked = is_needed and name.lower() not in OWN_HEADERS
            if prefix and (is_asked or prefix == QUERY):
                schema = object_in(parameter, "schema") or parameter  # Swagger 2
                outside[prefix + name] = self.schema(schema)
                required += [prefix + name] if is_needed else []
        if not outside:
            return body
        return (body or {"type": "object", "additionalProperties": False}) | {
            "properties": {**object_in(body, "properties"), **outside},
            "required": [*required_in(body), *required],
        }

    def body_of(self, operation: Schema) -> Schema:
        """Return the schema of an operation's body; empty when it has none."""
        request = self.resolved(operation.get("requestBody"))
        content = object_in(request, "content")
        kinds = sorted(content, key=lambda kind: ("json" not in kind, kind))
        if kinds:
            schema = self.schema(object_in(self.resolved(content[kinds[0]]), "schema"))
            refused = {REFUSED: request[REFUSED]} if REFUSED in request else {}
            return schema | (refused if schema else {})
        for one in _listed(operation, "parameters"):
            parameter = self.resolved(one)
            if parameter.get("in") == "body":  # Swagger 2
                return self.schema(object_in(parameter, "schema"))
        return {}

    def schema(self, schema: Schema, above: tuple[str, ...] = ()) -> Schema:
        """Return a schema without references; a cycle is cut where it closes."""
        reference = schema.get("$ref")
        if isinstance(reference, str):
            if reference in above:
                return {}
            above = (*above, reference)
        self.left -= 1
        if self.left < 0 or len(above) > DEEPEST:
            return {}
        whole = self.resolved(schema)
        found = {name: self._part(name, part, above) for name, part in whole.items()}
        return merged(found)

    def resolved(self, value: JSON) -> Schema:
        """Follow references until there is none; what stands beside one wins."""
        seen: list[str] = []
        while isinstance(value, dict):
            reference = value.get("$ref")
            if not isinstance(reference, str) or reference in seen:
                return {name: one for name, one in value.items() if name != "$ref"}
            seen.append(reference)
            target = self._at(reference)
            beside = {name: one for name, one in value.items() if name != "$ref"}
            value = target | beside if isinstance(target, dict) else beside
        return {}

    def _part(self, name: str, part: JSON, above: tuple[str, ...]) -> JSON:
        deeper = (*above, "")
        if name in _NAMED_SCHEMAS and isinstance(part, dict):
            return {
                key: self.schema(one, deeper) if isinstance(one, dict) else one
                for key, one in part.items()
            }
        if name in _SCHEMA_LISTS and isinstance(part, list):
            return [self.schema(one, deeper) for one in part if isinstance(one, dict)]
        if name in _SCHEMAS and isinstance(part, dict):
            return self.schema(part, deeper)
        return part

    def _at(self, reference: str) -> JSON:
        """Return what a reference within the document names (RFC 6901)."""
        where, _, pointer = reference.partition("#")
        value: JSON = None if where else self.document
        for step in unquote(pointer).split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(value, list) and name.isdecimal():
                value = value[int(name)] if int(name) < len(value) else None
            else:
                value = value.get(name) if isinstance(value, dict) else None
        return value


_NAMED_SCHEMAS = frozenset({"properties", "patternProperties", "$defs", "definitions"})
_SCHEMA_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_SCHEMAS = frozenset({"items", "additionalProperties", "not"})


def merged(schema: Schema) -> Schema:
    """Return a schema with the parts of its `allOf` merged into it."""
    parts = schema.pop("allOf", None)
    for part in reversed(parts) if isinstance(parts, list) else ():
        if not isinstance(part, dict):
            continue
        properties = object_in(part, "properties") | object_in(schema, "properties")
        required = [*required_in(part), *required_in(schema)]
        schema = part | schema
        schema |= {"properties": properties} if properties else {}
        schema |= {"required": list(dict.fromkeys(required))} if required else {}
    return schema


def required_in(schema: Schema) -> list[str]:
    """Return the names that a schema requires."""
    required = schema.get("required")
    names = required if isinstance(required, list) else []
    return [name for name in names if isinstance(name, str)]


VERSION = "2.1.0"
"""Of the interface description (contract section 9)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """One row of the endpoint table, with the tables that it refers to."""

    purpose: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    """The JSON type of each query parameter; none is required."""
    request: Schema | None = None
    """None: not shown."""
    answer: Schema | None = None
    """Of a 200; None: not shown."""
    needs_token: bool | None = None
    """None: not shown (contract section 5.5)."""


def _object(required: str, optional: str = "") -> Schema:
    """Return the schema of an object; a name without a type is that of a string."""
    types = dict(f"{one}:string".split(":")[:2] for one in required.split())
    more = dict(f"{one}:string".split(":")[:2] for one in optional.split())
    schema: Schema = {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in (types | more).items()},
    }
    return schema | ({"required": [*types]} if types else {})


SHOWN: Mapping[str, Shown] = {
    "register": Shown(
        purpose="Create a free agent with starter credits and a bearer token",
        request={"type": "object"},
        answer=_object("agent_id access_token credits:integer"),
        needs_token=False,
    ),
    "create_checkout": Shown(
        purpose="Create a paid checkout session for a subscription or a credit pack",
        request=_object(
            "plan agent_id price_id requested_credits:integer amount_cents:integer",
            "product_label source",
        ),
        answer=_object("", "ok:boolean sessionId url mode agentId plan"),
    ),
    "public_marketplace": Shown(purpose="List publicly visible available tasks"),
    "public_agents": Shown(purpose="List public active agents"),
    "agents_directory": Shown(
        purpose="Return the live agents directory; when slug is given, resolve the "
        "manifest of that agent",
        parameters={"slug": "string"},
    ),
    "marketplace_tasks": Shown(
        purpose="Discover tasks", parameters={"limit": "integer"}
    ),
    "claim": Shown(purpose="Claim a task"),
    "submit": Shown(purpose="Submit the result of a task"),
    "complete": Shown(purpose="Complete a task"),
    "post_task": Shown(purpose="Create (post) a task"),
}
"""By the endpoint's name."""


REFUSED = "x-refused"
"""Fields, as JSON pointers, of bodies that were not understood, and of no other."""
LEARNED = "x-learned"
"""Marks what the contract does not say; OpenAPI leaves names with `x-` to us."""


def schema_of(shape: Shape) -> Schema:
    """Describe the values that stood at one place; of them only words for states.

    A field is required when it was in every object; an empty schema allows anything.
    """
    kinds = _kinds(shape)
    if not kinds:
        return {}
    schema: Schema = {"type": list(kinds) if len(kinds) > 1 else kinds[0]}
    if shape.words:
        schema |= {"enum": list(shape.words), LEARNED: True}
    if shape.fields:
        schema["properties"] = {
            name: schema_of(inner) for name, inner in sorted(shape.fields.items())
        }
        schema |= {"required": list(shape.required)} if shape.required else {}
    if shape.entries is not None:
        schema["additionalProperties"] = schema_of(shape.entries)
    if shape.items is not None:
        schema["items"] = schema_of(shape.items)
    return schema


def filled(shown: Schema, learned: Schema) -> Schema:
    """Return what the contract shows, with the fields that were seen beyond it.

    What is shown stays as it is. Where something else was seen, the mark says what.
    """
    if not learned:
        return shown
    known, seen = _properties(shown), _properties(learned)
    properties: dict[str, JSON] = {}
    for name in [*known, *(name for name in seen if name not in known)]:
        if name not in known:
            properties[name] = {**seen[name], LEARNED: True}
        elif name in seen and seen[name].get("type") != known[name].get("type"):
            properties[name] = {**known[name], LEARNED: seen[name]}
        else:
            properties[name] = known[name]
    merged = shown | ({"properties": properties} if properties else {})
    is_other = learned.get("type") != shown.get("type")
    return merged | ({LEARNED: {"type": learned.get("type")}} if is_other else {})


def _kinds(shape: Shape) -> list[str]:
    kinds = sorted(shape.kinds)
    # In JSON Schema every integer is a number, too.
    return [k for k in kinds if k != "integer"] if "number" in kinds else kinds


def _properties(schema: Schema) -> dict[str, Schema]:
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return {}
    return {name: one for name, one in properties.items() if isinstance(one, dict)}


JSON_TYPE = "application/json"
QUANTILES: Mapping[str, float] = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
_SCHEME = "bearer_token"
"""The authentication method's name (contract section 5.3)."""
_ABOUT = (
    "The Agent Network Service. What is marked `x-learned` is not shown by the "
    "contract: it was seen in the answers of this network, and may be incomplete. "
    "Statuses, names of fields, kinds of values and words for states were kept; other "
    "values were not. `x-refused` are fields of bodies that were not understood."
)


def openapi_document(
    records: Mapping[str, EndpointRecord],
    base_url: str,
) -> dict[str, JSON]:
    """Describe a network: the contract, filled in with what was seen of it.

    `records` are by endpoint name. The same records give the same document.
    """
    paths: dict[str, JSON] = {
        endpoint.path: {
            endpoint.method.lower(): _operation(
                endpoint, records.get(endpoint.name, EndpointRecord())
            ),
        }
        for endpoint in ENDPOINTS
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Agent Network Service",
            "version": VERSION,
            "description": _ABOUT,
        },
        "servers": [{"url": base_url}],
        "paths": paths,
        "components": {
            "securitySchemes": {_SCHEME: {"type": "http", "scheme": "bearer"}},
        },
    }


def learned_facts(record: EndpointRecord) -> dict[str, JSON]:
    """Return what is not part of a schema: counts, times, limits."""
    return {
        "calls": record.seen,
        "first_at": record.first_at,
        "last_at": record.last_at,
        "outcomes": dict(sorted(record.outcomes.items())),
        "requests_that_worked": record.request.worked,
        "of_them_with_token": record.request.with_token,
        "latency_seconds": {
            name: record.latency.quantile(part) for name, part in QUANTILES.items()
        },
        "rate_limit_headers": {
            name: asdict(header) for name, header in sorted(record.headers.items())
        },
        "is_cut": record.is_cut,
    }


def _operation(endpoint: Endpoint, record: EndpointRecord) -> dict[str, JSON]:
    shown = SHOWN[endpoint.name]
    operation: dict[str, JSON] = {
        "operationId": endpoint.name,
        "summary": shown.purpose,
        "parameters": _parameters(shown, record),
        "responses": _responses(shown, record),
    }
    if endpoint.method == "POST":
        operation["requestBody"] = _request(shown, record)
    security = _security(shown, record)
    if security is not None:
        operation["security"] = security
    if record.seen:
        operation[LEARNED] = learned_facts(record)
    return operation


def _parameters(shown: Shown, record: EndpointRecord) -> list[JSON]:
    listed: list[JSON] = [
        {"name": name, "in": "query", "schema": {"type": kind}}
        for name, kind in shown.parameters.items()
    ]
    listed += [
        {
            "name": name,
            "in": "query",
            "required": count == record.request.worked,
            "schema": {},
            LEARNED: True,
        }
        for name, count in sorted(record.request.query.items())
        if name not in shown.parameters
    ]
    return listed


def _request(shown: Shown, record: EndpointRecord) -> dict[str, JSON]:
    learned = schema_of(record.request.body)
    schema = learned if shown.request is None else filled(shown.request, learned)
    body: dict[str, JSON] = {"content": {JSON_TYPE: {"schema": schema}}}
    if shown.request is None and learned:
        body[LEARNED] = True
    if refused := list(_refused(record.request.refused, record.request.body, "")):
        body[REFUSED] = list(refused)
    return body | {"required": True}


def _refused(refused: Shape, worked: Shape, above: str) -> Iterator[str]:
    """Yield where bodies that were not understood had what none that worked has."""
    for name, inner in sorted(refused.fields.items()):
        path = f"{above}/{name}"
        if name in worked.fields:
            yield from _refused(inner, worked.fields[name], path)
        else:
            yield path


def _responses(shown: Shown, record: EndpointRecord) -> dict[str, JSON]:
    by_status: dict[int, list[AnswerRecord]] = {200: []}
    for answer in sorted(record.answers.values(), key=lambda a: (a.status, a.key)):
        by_status.setdefault(answer.status, []).append(answer)
    return {
        str(status): _response(shown if status == 200 else None, answers)  # noqa: PLR2004 - the contract's only status
        for status, answers in sorted(by_status.items())
    }


def _response(shown: Shown | None, answers: list[AnswerRecord]) -> dict[str, JSON]:
    seen = sum(answer.seen for answer in answers)
    response: dict[str, JSON] = {"description": _told(shown, seen)}
    schemas = _schemas(answers, shown.answer if shown else None)
    if schemas:
        whole: Schema = schemas[0] if len(schemas) == 1 else {"anyOf": list(schemas)}
        response["content"] = {kind: {"schema": whole} for kind in _types(answers)}
    if seen and not (shown and shown.answer):
        response[LEARNED] = True
    return response


def _told(shown: Shown | None, seen: int) -> str:
    times = "once" if seen == 1 else f"{seen} times"
    if shown is None:
        return f"Seen {times}; the contract shows no other status than 200."
    if shown.answer is not None:
        return "Success, as the contract shows it."
    return f"Success; the contract does not show the body. Seen {times}."


def _schemas(answers: list[AnswerRecord], shown: Schema | None) -> list[Schema]:
    """Return a schema for each meaning of a status: first the yes, then the no."""
    read = [answer for answer in answers if answer.seen > answer.unreadable]
    yes = [schema_of(answer.body) for answer in read if answer.is_yes]
    no = [schema_of(answer.body) for answer in read if not answer.is_yes]
    if shown is not None:
        yes = [filled(shown, yes[0] if yes else {})]
    return [*yes, *(schema for schema in no if schema not in yes)]


def _types(answers: list[AnswerRecord]) -> list[str]:
    named = {kind for answer in answers for kind in answer.media_types}
    return sorted(kind for kind in named if "json" in kind) or [JSON_TYPE]


def _security(shown: Shown, record: EndpointRecord) -> list[JSON] | None:
    """Return whether the token is needed: as shown, else as worked, else nothing."""
    if shown.needs_token is not None:
        return [{_SCHEME: []}] if shown.needs_token else []
    worked, with_token = record.request.worked, record.request.with_token
    if not worked:
        return None
    ways: list[JSON] = [{}] if worked > with_token else []
    return [*ways, {_SCHEME: []}] if with_token else ways
