"""The exported document: valid, the same each time, honest about what is learned."""

import json
from dataclasses import replace
from typing import Any

import pytest
from openapi_spec_validator import validate
from tests.network.service_model.test_evidence import record_after, seen

from journeyman.domain.tasks import JSON
from journeyman.network.endpoints import ENDPOINTS
from journeyman.network.service_model.evidence import EndpointRecord
from journeyman.network.service_model.model import Listed, RequestModel, ServiceModel
from journeyman.network.service_model.openapi import (
    described_requests,
    openapi_document,
)

ADDRESS = "https://network.example"


def document_after(records: dict[str, EndpointRecord]) -> dict[str, Any]:
    return openapi_document(records, ADDRESS)


def operation(document: dict[str, Any], name: str) -> dict[str, Any]:
    endpoint = next(one for one in ENDPOINTS if one.name == name)
    found: dict[str, Any] = document["paths"][endpoint.path][endpoint.method.lower()]
    return found


def schema_in(part: dict[str, Any], kind: str = "application/json") -> dict[str, Any]:
    found: dict[str, Any] = part["content"][kind]["schema"]
    return found


def lived() -> dict[str, EndpointRecord]:
    problem = {"content-type": "application/problem+json", "retry-after": "9"}
    return {
        "register": record_after(
            seen(
                {"agent_id": "a", "access_token": "t", "credits": "100", "plan": "x"},
                endpoint="register",
                sent={},
            ),
        ),
        "claim": record_after(
            seen({"ok": True}, endpoint="claim", sent={"task_id": "t"}),
            seen({"ok": False}, endpoint="claim", is_yes=False),
            seen(
                {"title": "x"},
                endpoint="claim",
                status=429,
                is_yes=False,
                headers=problem,
            ),
            seen(endpoint="claim", status=502, is_yes=False, problem="no JSON"),
        ),
        "marketplace_tasks": record_after(seen([{"id": "t"}])),
    }


def test_without_any_call_it_is_the_shown_half_and_valid() -> None:
    document = document_after({})

    validate(document)
    assert document["info"]["version"] == "2.1.0"
    assert len(document["paths"]) == 10
    assert "x-learned" not in json.dumps(document["paths"])
    assert operation(document, "claim")["responses"]["200"].keys() == {"description"}
    assert operation(document, "register")["security"] == []


def test_with_what_was_learned_it_is_valid_and_the_same_each_time() -> None:
    document = document_after(lived())

    validate(document)
    assert json.dumps(document) == json.dumps(document_after(lived()))


def test_what_the_contract_shows_stays_and_what_is_more_is_marked() -> None:
    register = operation(document_after(lived()), "register")

    answer = schema_in(register["responses"]["200"])
    assert answer["required"] == ["agent_id", "access_token", "credits"]
    assert answer["properties"]["agent_id"] == {"type": "string"}
    assert answer["properties"]["credits"] == {
        "type": "integer",
        "x-learned": {"type": "string"},
    }
    assert answer["properties"]["plan"] == {"type": "string", "x-learned": True}


def test_what_is_not_shown_is_filled_in_and_marked() -> None:
    claim = operation(document_after(lived()), "claim")

    assert claim["requestBody"]["x-learned"]
    assert list(schema_in(claim["requestBody"])["properties"]) == ["task_id"]
    assert [*claim["responses"]] == ["200", "429", "502"]
    assert all(one["x-learned"] for one in claim["responses"].values())
    throttled = schema_in(claim["responses"]["429"], "application/problem+json")
    assert [*throttled["properties"]] == ["title"]
    assert claim["x-learned"]["rate_limit_headers"]["retry-after"]["most"] == 9
    assert claim["security"] == [{"bearer_token": []}]


def test_a_status_with_two_meanings_has_two_schemas() -> None:
    calls = [
        seen({"task": {}}, endpoint="claim"),
        seen({"error": ""}, endpoint="claim", is_yes=False),
    ]

    claim = operation(document_after({"claim": record_after(*calls)}), "claim")

    both = schema_in(claim["responses"]["200"])["anyOf"]
    assert [[*one["properties"]] for one in both] == [["task"], ["error"]]


@pytest.mark.parametrize(
    "body", [{"t1": {"a": 1}}, [[1.5, 2]], None, "text", {"a": [None, {"b": []}]}]
)
def test_any_shape_gives_a_valid_schema(body: JSON) -> None:
    record = record_after(seen(body, endpoint="post_task", sent=body))

    validate(document_after({"post_task": record}))


def test_a_parameter_of_the_address_comes_back_from_an_export() -> None:
    call = seen({"ok": True}, endpoint="claim", sent={})
    asked = call._replace(call=replace(call.call, query={"job": "7"}))
    document = document_after({"claim": record_after(asked)})

    validate(document)
    model = RequestModel().describe(described_requests(document)["claim"])
    values = {"task_id": "8", "agent_id": "a-1"}
    shape = ServiceModel({"claim": model}).next_shape("claim", values, Listed())
    assert shape is not None
    assert shape.query_for(values) == {"job": "8"}
    assert shape.body(values) == {}
