"""Which fields a refusal names, in the vocabularies that services have."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journeyman.domain.tasks import JSON
from journeyman.network.complaints import RefusedFields, refused_fields_in


def said(body: JSON) -> tuple[set[str], set[str]]:
    complaint = refused_fields_in(body, "")
    return {*complaint.missing}, {*complaint.unknown}


@pytest.mark.parametrize(
    "body",
    [
        {"error": "missing field taskId"},
        {"error": "Missing required field: taskId"},
        {"success": False, "error": "Missing taskId"},
        {"message": "taskId is required"},
        {"message": '"taskId" is required'},
        {"message": "'taskId' is a required property"},
        {"message": "must have required property 'taskId'"},
        {"message": "invalid_request: taskId: Field required"},
        {"error": "claim() missing 1 required positional argument: 'taskId'"},
        {"code": "23502", "message": 'null value in column "taskId" of relation "t"'},
        {"detail": [{"type": "missing", "loc": ["body", "taskId"], "msg": "required"}]},
        {"title": "Bad", "status": 422, "detail": "taskId is required"},
        {"errors": [{"pointer": "#/taskId", "detail": "is required"}]},
        {"invalid-params": [{"name": "taskId", "reason": "must be present"}]},
        {
            "error": {
                "name": "ZodError",
                "issues": [
                    {
                        "code": "invalid_type",
                        "expected": "string",
                        "received": "undefined",
                        "path": ["taskId"],
                        "message": "Required",
                    }
                ],
            }
        },
        {"error": {"fieldErrors": {"taskId": ["Required"]}, "formErrors": []}},
        [
            {
                "instancePath": "",
                "keyword": "required",
                "params": {"missingProperty": "taskId"},
                "message": "must have required property 'taskId'",
            }
        ],
        {"message": "Invalid.", "errors": {"taskId": ["The field is required."]}},
        {"taskId": ["This field is required."]},
        {"taskId": ["can't be blank"]},
        {"error": "validation_error", "missing": ["taskId"]},
        {"error": "bad body", "field": "taskId", "message": "required"},
        "taskId is missing",
    ],
    ids=json.dumps,
)
def test_a_missing_field_is_found(body: JSON) -> None:
    assert said(body) == ({"taskId"}, set())


@pytest.mark.parametrize(
    "body",
    [
        {"error": "unknown field: task_id"},
        {"message": '"task_id" is not allowed'},
        {"message": ["property task_id should not exist"]},
        {"code": "PGRST204", "message": "Could not find the 'task_id' column of 'x'"},
        {"code": "42703", "message": 'column "task_id" of relation "x" does not exist'},
        {"message": "Additional properties are not allowed ('task_id' was unexpected)"},
        {"message": "task_id: Extra inputs are not permitted"},
        {"detail": [{"type": "extra_forbidden", "loc": ["body", "task_id"]}]},
        {
            "issues": [
                {
                    "code": "unrecognized_keys",
                    "keys": ["task_id"],
                    "path": [],
                    "message": "Unrecognized key(s) in object: 'task_id'",
                }
            ]
        },
        {
            "errors": [
                {
                    "instancePath": "",
                    "keyword": "additionalProperties",
                    "params": {"additionalProperty": "task_id"},
                    "message": "must NOT have additional properties",
                }
            ]
        },
        {"error": "validation_error", "unknown_fields": ["task_id"]},
    ],
    ids=json.dumps,
)
def test_an_unknown_field_is_found(body: JSON) -> None:
    assert said(body) == (set(), {"task_id"})


@pytest.mark.parametrize(
    ("body", "missing", "unknown"),
    [
        ({"error": "Missing required fields: a_b, c and d"}, {"a_b", "c", "d"}, set()),
        ({"error": "taskId and result are required"}, {"taskId", "result"}, set()),
        ({"errors": [{"loc": ["body", "task", "id"], "msg": "required"}]},
         {"task.id"}, set()),
        ({"issues": [{"path": ["submission"], "keys": ["evidence"], "message": "no"}]},
         set(), {"submission.evidence"}),
        ({"message": "taskId: Field required; task_id: Extra inputs are not permitted"},
         {"taskId"}, {"task_id"}),
        ({"message": "The task id is required", "errors": {"task_id": ["required"]}},
         {"task_id"}, set()),
    ],
)  # fmt: skip
def test_several_fields_and_fields_inside_of_others_are_found(
    body: JSON, missing: set[str], unknown: set[str]
) -> None:
    assert said(body) == (missing, unknown)


@pytest.mark.parametrize(
    "body",
    [
        None,
        {},
        {"error": "Bad Request"},
        {"error": "Invalid request body"},
        {"error": "authentication required"},
        {"error": "level: too low"},
        {"error": "the task is required to be open"},
        {"error": {"code": "task_expired", "message": "The task has expired."}},
        5,
        [],
    ],
    ids=json.dumps,
)
def test_a_refusal_that_names_no_field_says_nothing_about_the_shape(body: JSON) -> None:
    assert not refused_fields_in(body, "").names_fields


def test_a_value_that_is_not_liked_is_neither_missing_nor_unknown() -> None:
    body: JSON = {"detail": [{"loc": ["body", "result"], "msg": "not a number"}]}

    assert refused_fields_in(body, "") == RefusedFields(wrong=("result",))


def test_a_body_that_is_no_json_is_read_by_what_is_left_of_it() -> None:
    message = "400 Bad Request: an HTML page (text/html, 'missing field: task.id')"

    assert refused_fields_in(None, message).missing == ("task.id",)


scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=60)
keys = st.sampled_from(
    ["loc", "path", "keys", "errors", "detail", "message", "params", "missing", "code"]
) | st.text(max_size=8)
bodies: st.SearchStrategy[JSON] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner),
    max_leaves=20,
)


@given(bodies, st.text(max_size=80))
def test_no_refusal_is_too_odd_to_be_read(body: JSON, message: str) -> None:
    complaint = refused_fields_in(body, message)

    named = (*complaint.missing, *complaint.unknown, *complaint.wrong)
    assert all(name.isprintable() and name.isascii() for name in named)


@pytest.mark.parametrize(
    "text",
    [
        "a" * 100_000,
        "missing " * 20_000,
        "a, " * 30_000,
        "field " * 9_000,
        '"a.' * 9_000,
    ],
)
def test_a_long_text_takes_no_long_time(text: str) -> None:
    complaint = refused_fields_in({"error": [text] * 50}, text)

    assert len(complaint.missing) <= 40
