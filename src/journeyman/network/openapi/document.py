"""The OpenAPI 3.1 document of one network."""

from collections.abc import Mapping

from journeyman.domain import JSON
from journeyman.network.endpoints import ENDPOINTS, Endpoint
from journeyman.network.observation import AnswerRecord, EndpointRecord
from journeyman.network.openapi.schema import LEARNED, filled, schema_of
from journeyman.network.openapi.shown import SHOWN, VERSION, Schema, Shown

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
    """Give what is no part of a schema: counts, times, limits."""
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
        whole: Schema = schemas[0] if len(schemas) == 1 else {"anyOf": list(schemas)}
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


def _schemas(answers: list[AnswerRecord], shown: Schema | None) -> list[Schema]:
    """Give a schema for each meaning of a status: first the yes, then the no."""
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
    """Say whether the token is needed: as shown, else as worked, else nothing."""
    if shown.needs_token is not None:
        return [{_SCHEME: []}] if shown.needs_token else []
    worked, with_token = record.request.worked, record.request.with_token
    if not worked:
        return None
    ways: list[JSON] = [{}] if worked > with_token else []
    return [*ways, {_SCHEME: []}] if with_token else ways
