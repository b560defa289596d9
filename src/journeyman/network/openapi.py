"""The OpenAPI 3.1 document of one network."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from journeyman.domain.tasks import JSON
from journeyman.network import endpoints
from journeyman.network.endpoints import ENDPOINTS, Endpoint
from journeyman.network.observation import AnswerRecord, EndpointRecord
from journeyman.network.observed_shape import Shape

VERSION = "2.1.0"
"""Of the interface description (contract section 9)."""

JsonSchema = dict[str, JSON]


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """One row of the endpoint table, with the tables that it refers to."""

    purpose: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    """The JSON type of each query parameter; none is required."""
    request: JsonSchema | None = None
    """None: not shown."""
    answer: JsonSchema | None = None
    """Of a 200; None: not shown."""
    needs_token: bool | None = None
    """None: not shown (contract section 5.5)."""


def _object(required: tuple[str, ...], **types: str) -> JsonSchema:
    schema: JsonSchema = {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in types.items()},
    }
    return schema | ({"required": list(required)} if required else {})


_CHECKOUT = ("plan", "agent_id", "price_id", "requested_credits", "amount_cents")

SHOWN: Mapping[str, Shown] = {
    endpoints.REGISTER.name: Shown(
        purpose="Create a free agent with starter credits and a bearer token",
        request={"type": "object"},
        answer=_object(
            ("agent_id", "access_token", "credits"),
            agent_id="string",
            access_token="string",  # noqa: S106 - a type, not a token
            credits="integer",
        ),
        needs_token=False,
    ),
    endpoints.CREATE_CHECKOUT.name: Shown(
        purpose="Create a paid checkout session for a subscription or a credit pack",
        request=_object(
            _CHECKOUT,
            plan="string",
            agent_id="string",
            price_id="string",
            requested_credits="integer",
            amount_cents="integer",
            product_label="string",
            source="string",
        ),
        answer=_object(
            (),
            ok="boolean",
            sessionId="string",
            url="string",
            mode="string",
            agentId="string",
            plan="string",
        ),
    ),
    endpoints.PUBLIC_MARKETPLACE.name: Shown(
        purpose="List publicly visible available tasks",
    ),
    endpoints.PUBLIC_AGENTS.name: Shown(purpose="List public active agents"),
    endpoints.AGENTS_DIRECTORY.name: Shown(
        purpose="Return the live agents directory; when slug is given, resolve the "
        "manifest of that agent",
        parameters={"slug": "string"},
    ),
    endpoints.MARKETPLACE_TASKS.name: Shown(
        purpose="Discover tasks",
        parameters={"limit": "integer"},
    ),
    endpoints.CLAIM.name: Shown(purpose="Claim a task"),
    endpoints.SUBMIT.name: Shown(purpose="Submit the result of a task"),
    endpoints.COMPLETE.name: Shown(purpose="Complete a task"),
    endpoints.POST_TASK.name: Shown(purpose="Create (post) a task"),
}
"""By the endpoint's name."""


LEARNED = "x-learned"
"""Marks what the contract does not say; OpenAPI leaves names with `x-` to us."""

Schema = dict[str, JSON]


def schema_of(shape: Shape) -> Schema:
    """Describe the values that stood at one place; no value is in it.

    A field is required when it was in every object; an empty schema allows anything.
    """
    kinds = _kinds(shape)
    if not kinds:
        return {}
    schema: Schema = {"type": list(kinds) if len(kinds) > 1 else kinds[0]}
    if shape.fields:
        schema["properties"] = {
            name: schema_of(inner) for name, inner in sorted(shape.fields.items())
        }
        required = [n for n in sorted(shape.fields) if not shape.is_optional(n)]
        schema |= {"required": list(required)} if required else {}
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
    "Statuses, names of fields and kinds of values were kept; values were not."
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
            name: header.to_json() for name, header in sorted(record.headers.items())
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
        {"name": name, "in": "query", "schema": {}, LEARNED: True}
        for name in sorted(record.request.query)
        if name not in shown.parameters
    ]
    return listed


def _request(shown: Shown, record: EndpointRecord) -> dict[str, JSON]:
    learned = schema_of(record.request.body)
    schema = learned if shown.request is None else filled(shown.request, learned)
    body: dict[str, JSON] = {"content": {JSON_TYPE: {"schema": schema}}}
    if shown.request is None and learned:
        body[LEARNED] = True
    return body | {"required": True}


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
        whole: JsonSchema = (
            schemas[0] if len(schemas) == 1 else {"anyOf": list(schemas)}
        )
        response["content"] = {kind: {"schema": whole} for kind in _types(answers)}
    if seen and not (shown and shown.answer):
        response[LEARNED] = True
    return response


def _told(shown: Shown | None, seen: int) -> str:
    if shown is None:
        return f"Seen {seen} times; the contract shows no other status than 200."
    if shown.answer is not None:
        return "Success, as the contract shows it."
    return f"Success; the contract does not show the body. Seen {seen} times."


def _schemas(answers: list[AnswerRecord], shown: JsonSchema | None) -> list[JsonSchema]:
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
