"""For descriptions drawn at random, the first body that is sent validates."""

import json
from collections.abc import Iterator, Mapping
from random import Random

from jsonschema import Draft202012Validator, FormatChecker  # type: ignore[import-untyped]  # ships no types
from tests.network.service_model.drawn import ACTIONS, Field, draw_network

from journeyman.domain.tasks import JSON
from journeyman.network.service_model.model import (
    Listed,
    RefusedBody,
    RequestModel,
    ServiceModel,
)
from journeyman.network.service_model.openapi import described_requests

PATHS = {
    "claim": "/functions/v1/claim-task-public",
    "submit": "/functions/v1/submit-task-result-public",
    "complete": "/functions/v1/complete-task-public",
}
DESCRIPTIONS = 300
UUID = "0e9f6c0a-52a7-4a0f-8a2e-3d4b1c9f7e55"
CONSTANTS: Mapping[str, JSON] = {
    "type": {"type": "string", "const": "agent_action"},
    "channel": {"type": "string", "enum": ["api", "web"]},
    "confirmed": {"type": "boolean"},
    "schemaVersion": {"type": "integer", "enum": [2]},
}
"""Required, and none of our values."""
OPTIONAL: Mapping[str, JSON] = {
    "comment": {"type": "string", "minLength": 1},
    "metadata": {"type": "object"},
    "priority": {"type": "string", "enum": ["low", "high"]},
    "callbackUrl": {"type": ["string", "null"], "format": "uri"},
    "durationSeconds": {"type": "number", "exclusiveMinimum": 0},
}


class Drawing:
    """A description of a network, and what its requests may say."""

    def __init__(self, seed: int) -> None:
        self.network = draw_network(seed)
        self.chance = Random(seed)  # noqa: S311 - repeatable on purpose
        self.parts: dict[str, JSON] = {}
        self.is_closed = self.chance.random() < 0.6
        self.task: JSON = self.chance.choice(("tk-8137", "8137", 8137, UUID))
        kinds: dict[str, JSON] = {"type": "string"}
        if self.task in {"8137", 8137}:
            kinds = {"type": self.chance.choice(("integer", "string"))}
        elif self.task == UUID:
            kinds = {"type": "string", "format": "uuid"}
        self.task_schema: JSON = kinds

    def values(self, action: str) -> dict[str, JSON]:
        known = self.network.values[action]
        task = known["task_id"]
        return {name: self.task if v == task else v for name, v in known.items()}

    def schema(self, action: str) -> dict[str, JSON]:
        """Return the schema of an action's body."""
        return self.object_of([*self.network.schemas[action].fields], 0, action)

    def object_of(self, fields: list[Field], depth: int, name: str) -> dict[str, JSON]:
        properties: dict[str, JSON] = {}
        required: list[JSON] = []
        for member in dict.fromkeys(one.path[depth] for one in fields):
            below = [one for one in fields if one.path[depth] == member]
            if len(below[0].path) > depth + 1:
                inside = self.object_of(below, depth + 1, f"{name}{member}")
                properties[member] = self.perhaps_named(inside, f"{name}{member}")
            else:
                properties[member] = self.leaf(below[0])
            if any(one.is_required for one in below):
                required.append(member)
        self.add_more(properties, required)
        whole: dict[str, JSON] = {
            "type": "object",
            "properties": properties,
            "required": required,
        }
        return whole | ({"additionalProperties": False} if self.is_closed else {})

    def leaf(self, field: Field) -> JSON:
        if field.source == "task_id":
            return self.task_schema
        return {"type": "string", "description": f"The {field.path[-1]}."}

    def add_more(self, properties: dict[str, JSON], required: list[JSON]) -> None:
        for more, chance in ((CONSTANTS, 0.15), (OPTIONAL, 0.25)):
            for name, schema in more.items():
                if name not in properties and self.chance.random() < chance:
                    properties[name] = schema
                    required += [name] if more is CONSTANTS else []

    def perhaps_named(self, schema: JSON, name: str) -> JSON:
        if self.chance.random() < 0.5:
            return schema
        self.parts[name] = schema
        return {"$ref": f"#/components/schemas/{name}"}

    def document(self, schemas: Mapping[str, JSON]) -> JSON:
        paths: dict[str, JSON] = {}
        for action, schema in schemas.items():
            content: JSON = {"application/json": {"schema": schema}}
            paths[PATHS[action]] = {"post": {"requestBody": {"content": content}}}
        components: JSON = {"schemas": self.parts}
        return {"openapi": "3.1.0", "paths": paths, "components": components}


def first_bodies(drawing: Drawing, document: JSON) -> Iterator[tuple[str, JSON]]:
    """Yield the first body of each action; each is understood, as far as one knows."""
    model, network = ServiceModel(), drawing.network
    for action, schema in described_requests(document).items():
        model = model.know(action, model.of(action).describe(schema))
    for action in ACTIONS:
        listed = Listed(network.record_names, network.id_name)
        shape = model.next_shape(action, drawing.values(action), listed)
        assert shape is not None
        yield action, shape.body(drawing.values(action))
        model = model.know(
            action, model.of(action).accept(shape, "2026-11-21T12:00:00Z")
        )


def problems_of(number: int) -> Iterator[str]:
    """Yield what is wrong with the bodies that are sent to a network."""
    drawing = Drawing(number)
    schemas = {action: drawing.schema(action) for action in ACTIONS}
    components: JSON = {"schemas": drawing.parts}
    for action, body in first_bodies(drawing, drawing.document(schemas)):
        whole = {**schemas[action], "components": components}
        validator = Draft202012Validator(whole, format_checker=FormatChecker())
        told = f"{number}: {action} {json.dumps(body)}"
        for error in validator.iter_errors(body):
            yield f"{told}: {error.json_path} {error.message}"
        wanted = drawing.network.schemas[action]
        if not wanted.is_meant(body, drawing.values(action)):
            yield f"{told}: a value is not where it belongs"


def test_the_first_body_validates_and_says_what_is_meant() -> None:
    assert not [one for number in range(DESCRIPTIONS) for one in problems_of(number)]


TEXT: dict[str, JSON] = {"type": "string"}
NUMBER: dict[str, JSON] = {"type": "integer"}
WORK: JSON = {
    "type": "object",
    "required": ["taskId", "content"],
    "properties": {"taskId": TEXT, "content": TEXT},
}


def first_submission(schema: JSON) -> JSON:
    """Return the body of a result where this describes it."""
    values: dict[str, JSON] = {"task_id": "t-1", "result": "DONE", "agent_id": "a-5"}
    model = ServiceModel({"submit": RequestModel().describe(schema)})
    shape = model.next_shape("submit", values, Listed())
    return shape.body(values) if shape else None


def test_names_of_which_none_is_required_are_used() -> None:
    schema: JSON = {"properties": {"jobId": TEXT, "output": TEXT, "note": TEXT}}

    assert first_submission(schema) == {"jobId": "t-1", "output": "DONE"}


def test_an_object_that_may_be_left_out_is_used_for_what_has_no_other_place() -> None:
    schema: JSON = {"properties": {"submission": WORK, "dryRun": {"type": "boolean"}}}

    assert first_submission(schema) == {
        "submission": {"taskId": "t-1", "content": "DONE"}
    }


def test_what_is_none_of_our_values_is_said_as_the_description_shows_it() -> None:
    schema: JSON = {
        "required": ["task_id", "output", "slots", "origin"],
        "properties": {
            "task_id": TEXT,
            "output": TEXT,
            "slots": {**NUMBER, "examples": [1]},
            "origin": {**TEXT, "default": "api"},
        },
    }

    body: JSON = {"task_id": "t-1", "output": "DONE", "slots": 1, "origin": "api"}
    assert first_submission(schema) == body


def test_an_example_of_a_result_is_no_result() -> None:
    schema: JSON = {
        "required": ["task_id", "outturn"],
        "properties": {"task_id": TEXT, "outturn": {**TEXT, "example": "42"}},
    }

    assert first_submission(schema) == {"task_id": "t-1", "outturn": "DONE"}


CLOSED: JSON = {
    "required": ["output"],
    "properties": {"output": TEXT},
    "additionalProperties": False,
}


def test_an_object_that_allows_nothing_more_gets_nothing_more() -> None:
    schema: JSON = {"required": ["ticket"], "properties": {"ticket": CLOSED}}

    assert first_submission(schema) == {
        "ticket": {"output": "DONE"},
        "task_id": "t-1",
    }


def test_what_an_export_lists_as_refused_is_not_sent() -> None:
    schema: dict[str, JSON] = {"properties": {"output": TEXT}}

    assert first_submission(schema) == {"output": "DONE", "task_id": "t-1"}
    others = ({"output": "DONE", name: "t-1"} for name in ("taskId", "id"))
    assert first_submission({**schema, "x-refused": ["/task_id"]}) in tuple(others)


def test_another_alternative_is_sent_when_the_first_is_refused() -> None:
    def of_kind(name: str) -> JSON:
        return {"required": [name], "properties": {name: TEXT}}

    values: dict[str, JSON] = {"task_id": "t-1", "result": "DONE"}
    schema: JSON = {
        "required": ["output"],
        "properties": {"output": TEXT},
        "oneOf": [of_kind("jobId"), of_kind("ticketId")],
    }
    model = ServiceModel({"submit": RequestModel().describe(schema)})
    first = model.next_shape("submit", values, Listed())
    assert first is not None
    refused = RefusedBody(first, (), is_strict=False, message="400", status=400)
    second = model.know(
        "submit", model.of("submit").refuse("submit", refused)
    ).next_shape("submit", values, Listed())
    assert second is not None

    assert first.body(values) == {"jobId": "t-1", "output": "DONE"}
    assert second.body(values) == {"ticketId": "t-1", "output": "DONE"}
