"""What an OpenAPI description says of the bodies of our actions."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.network.service_model.test_evidence import ANY_JSON

from journeyman.domain.tasks import JSON
from journeyman.network.service_model.openapi import described_requests

CLAIM = "/functions/v1/claim-task-public"
SCHEMAS = "#/components/schemas"
BODIES = "#/components/requestBodies"
JOB: JSON = {
    "type": "object",
    "required": ["jobId"],
    "properties": {"jobId": {"type": "integer"}},
}


def body(schema: JSON, kind: str = "application/json") -> JSON:
    return {"requestBody": {"content": {kind: {"schema": schema}}}}


def described(paths: JSON, **more: JSON) -> JSON:
    return {"openapi": "3.1.0", "paths": paths, **more}


@pytest.mark.parametrize(
    "path",
    [
        CLAIM,
        f"{CLAIM}/",
        "/claim-task-public",
        "claim-task-public",
        "/api/v2/claim-task-public",
    ],
)
def test_an_action_is_found_by_the_end_of_its_path(path: str) -> None:
    document = described({"/other": {}, path: {"post": body(JOB)}})

    assert described_requests(document) == {"claim": JOB}


def test_of_several_paths_the_likest_is_taken() -> None:
    old = body({"type": "object"})
    document = described(
        {"/v0/claim-task-public": {"post": old}, CLAIM: {"post": body(JOB)}}
    )

    assert described_requests(document) == {"claim": JOB}


def test_references_are_followed_wherever_they_stand() -> None:
    document = described(
        {CLAIM: {"$ref": "#/components/pathItems/a~1b"}},
        components={
            "pathItems": {"a/b": {"post": {"requestBody": {"$ref": f"{BODIES}/C"}}}},
            "requestBodies": {
                "C": {
                    "content": {
                        "text/plain": {"schema": {"type": "string"}},
                        "application/json": {"schema": {"$ref": f"{SCHEMAS}/J"}},
                    }
                }
            },
            "schemas": {
                "J": {"allOf": [{"$ref": f"{SCHEMAS}/Base"}, JOB]},
                "Base": {
                    "type": "object",
                    "required": ["agent"],
                    "properties": {"agent": {"$ref": f"{SCHEMAS}/Name"}},
                },
                "Name": {"type": "string"},
            },
        },
    )

    assert described_requests(document) == {
        "claim": {
            "type": "object",
            "required": ["agent", "jobId"],
            "properties": {
                "agent": {"type": "string"},
                "jobId": {"type": "integer"},
            },
        }
    }


def test_a_swagger_2_description_is_understood_too() -> None:
    parameters: JSON = [
        {"in": "header", "name": "x"},
        {"in": "body", "name": "b", "schema": {"$ref": "#/definitions/Job"}},
    ]
    document: JSON = {
        "swagger": "2.0",
        "basePath": "/functions/v1",
        "paths": {"/claim-task-public": {"post": {"parameters": parameters}}},
        "definitions": {"Job": JOB},
    }

    assert described_requests(document) == {"claim": JOB}


def test_what_goes_into_the_address_or_a_header_is_described_as_such() -> None:
    def parameter(name: str, where: str, *, required: bool) -> JSON:
        schema: JSON = {"type": "string"}
        return {"name": name, "in": where, "required": required, "schema": schema}

    own = parameter("Authorization", "header", required=True)
    shared: JSON = [parameter("job", "query", required=True)]
    operation: JSON = {
        "parameters": [
            {"$ref": "#/components/parameters/lang"},
            parameter("X-Agent", "header", required=True),
            parameter("X-Trace", "header", required=False),
            own,
        ],
    }
    document = described(
        {CLAIM: {"parameters": shared, "post": operation}},
        components={"parameters": {"lang": parameter("lang", "query", required=False)}},
    )

    text: JSON = {"type": "string"}
    places = ["query:job", "query:lang", "header:X-Agent"]
    assert described_requests(document) == {
        "claim": {
            "type": "object",
            "properties": dict.fromkeys(places, text),
            "required": ["query:job", "header:X-Agent"],
            "additionalProperties": False,
        }
    }


def test_a_schema_that_contains_itself_is_cut() -> None:
    node: JSON = {
        "type": "object",
        "properties": {"next": {"$ref": f"{SCHEMAS}/N"}, "id": {}},
    }
    document = described(
        {CLAIM: {"post": body({"$ref": f"{SCHEMAS}/N"})}},
        components={"schemas": {"N": node}},
    )

    assert described_requests(document) == {
        "claim": {"type": "object", "properties": {"next": {}, "id": {}}}
    }


def test_references_that_double_at_each_step_stay_small() -> None:
    schemas: dict[str, JSON] = {
        f"S{level}": {
            "properties": {side: {"$ref": f"{SCHEMAS}/S{level + 1}"} for side in "ab"}
        }
        for level in range(20)
    }
    document = described(
        {CLAIM: {"post": body({"$ref": f"{SCHEMAS}/S0"})}},
        components={"schemas": schemas},
    )

    assert len(json.dumps(described_requests(document))) < 300_000


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {},
        {"paths": {}},
        described([]),
        described({CLAIM: {"get": body(JOB)}}),
        described({CLAIM: {"post": {"requestBody": {"$ref": "other.json#/x"}}}}),
        described({CLAIM: {"post": {"requestBody": {"$ref": "#/paths"}}}}),
    ],
)
def test_what_describes_no_body_teaches_nothing(document: JSON) -> None:
    assert described_requests(document) == {}


@settings(max_examples=60, deadline=None)
@given(ANY_JSON, st.sampled_from(["$ref", "allOf", "properties", "items", "content"]))
def test_no_description_can_do_harm(content: JSON, name: str) -> None:
    references: JSON = {"$ref": "#/paths", name: content}
    for path_item in (content, {"post": body({name: content})}, {"post": references}):
        described_requests(described({CLAIM: path_item, "components": references}))
