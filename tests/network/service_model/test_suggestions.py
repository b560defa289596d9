"""What a language model is asked about a refusal, and what of its answer counts."""

import pytest

from journeyman.domain.errors import ConfigurationError
from journeyman.domain.tasks import JSON
from journeyman.network.service_model.refusals.faults import Fault, FieldFault
from journeyman.network.service_model.refusals.refusal import read_refusal
from journeyman.network.service_model.suggestions import (
    LONGEST_WORDS,
    LanguageModel,
    question_about,
)

BODY: JSON = {
    "task_id": "task-1",
    "answer": {"text": "THE QUICK BROWN FOX"},
    "n": 12_345,
}
RECORD: JSON = {"id": "task-1", "text": "the quick brown fox jumps", "tags": ["foxes"]}


@pytest.mark.parametrize(
    "said",
    [
        "task-1 gibt es nicht",
        'Erhalten: {"answer": {"text": "THE QUICK BROWN FOX"}}',
        'Erhalten: {"answer": {"text": "THE QUICK BR…',
        "12345 ist falsch",
        "zu: the quick brown fox jumps",
    ],
)
def test_no_value_of_ours_is_in_a_question(said: str) -> None:
    asked = question_about("submit", said, BODY, RECORD).said.lower()

    for value in ("task-1", "quick br", "12345"):
        assert value not in asked


def test_a_question_has_the_names_of_the_body_and_a_bound() -> None:
    question = question_about("submit", "Nein! " * 1_000, BODY, RECORD)

    assert question.sent == ("task_id", "answer", "answer.text", "n")
    assert len(question.said) == LONGEST_WORDS


def a_model(**more: object) -> LanguageModel:
    given = {"base_url": None, "key_variable": "", "key_file": None, "output": "tool"}
    return LanguageModel("small", **{**given, **more})  # type: ignore[arg-type]  # told


def test_a_key_is_not_sent_unencrypted_to_another_machine() -> None:
    with pytest.raises(ConfigurationError, match="unencrypted"):
        a_model(base_url="http://models.example/v1", key_variable="THE_KEY")
    a_model(base_url="http://127.0.0.1:1/v1", key_variable="THE_KEY")
    a_model(base_url="https://models.example/v1", key_variable="THE_KEY")


def test_our_own_variables_are_no_keys() -> None:
    with pytest.raises(ConfigurationError, match="our own"):
        a_model(key_variable="JOURNEYMAN_NETWORK__HEADERS__X")


# -- refusals in forms that no other test has ------------------------------------

SENT: JSON = {"taskId": "65f10aff1803f7698b131d72", "agentId": "a1"}


def test_mongodb_names_what_a_document_lacks_and_has_too_much() -> None:
    rules: JSON = [
        {"operatorName": "additionalProperties", "additionalProperties": ["agentId"]},
        {
            "operatorName": "required",
            "specifiedAs": {"required": ["taskId", "assignmentId"]},
            "missingProperties": ["assignmentId"],
        },
        {
            "operatorName": "properties",
            "propertiesNotSatisfied": [
                {
                    "propertyName": "taskId",
                    "details": [
                        {
                            "operatorName": "bsonType",
                            "specifiedAs": {"bsonType": "objectId"},
                            "reason": "type did not match",
                            "consideredType": "string",
                        }
                    ],
                }
            ],
        },
    ]
    body: JSON = {"error": "Document failed validation", "errInfo": {"details": rules}}

    found = {one.path: one for one in read_refusal(body, "", SENT)}

    assert found["agentId",].fault is Fault.UNKNOWN
    assert found["assignmentId",].fault is Fault.MISSING
    assert found["taskId",].fault is Fault.TYPE
    assert found["taskId",].wants == "objectid"


def test_postgrest_names_a_function_with_its_arguments() -> None:
    body: JSON = {
        "code": "PGRST202",
        "message": "Could not find the function public.claim(agentId, taskId) in the "
        "schema cache",
        "hint": "Perhaps you meant to call the function public.claim(p_task, taskId)",
    }

    assert {*read_refusal(body, "", SENT)} == {
        FieldFault(("p_task",), Fault.MISSING),
        FieldFault(("agentId",), Fault.UNKNOWN),
    }


def test_a_function_is_told_of_with_the_parameters_that_our_values_became() -> None:
    body: JSON = {
        "code": "PGRST202",
        "hint": "Perhaps you meant to call the function public.f(p_taskId, p_notes)",
        "message": "Could not find the function public.f(p_taskId, p_by) in the cache",
    }

    assert {*read_refusal(body, "", SENT)} == {
        FieldFault(("notes",), Fault.MISSING),
        FieldFault(("agentId",), Fault.UNKNOWN),
    }


def test_a_function_is_told_of_with_its_parameters_where_we_sent_those() -> None:
    sent: JSON = {"taskId": "7", "p_taskId": "7"}
    body: JSON = {
        "hint": "Perhaps you meant to call the function public.f(p_notes, p_taskId)",
        "message": "Could not find the function public.f(p_taskId, taskId) in cache",
    }

    assert {*read_refusal(body, "", sent)} == {
        FieldFault(("p_notes",), Fault.MISSING),
        FieldFault(("taskId",), Fault.UNKNOWN),
    }


def test_a_body_that_is_repeated_says_nothing() -> None:
    said = 'Nein. Erhalten: {"taskId": "65f10aff1803f7698b131d72", "agentId": "a1"}'

    assert read_refusal(said, "", SENT) == ()
