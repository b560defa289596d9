"""What Firestore says of the values of a document, each of which has a type."""

import pytest

from journeyman.domain.tasks import JSON
from journeyman.network.service_model.refusals.faults import Fault
from journeyman.network.service_model.refusals.refusal import read_refusal

NOTE = "projects/p/databases/(default)/documents/notes/4QV4"
UNTYPED = "Invalid value (type.googleapis.com/google.firestore.v1.Value), here"
TYPED: JSON = {"stringValue": "A SIGN"}


def told(sent: JSON, *violations: tuple[str, str]) -> dict[str, tuple[Fault, str]]:
    listed: list[JSON] = [{"field": f, "description": said} for f, said in violations]
    body: JSON = {"error": {"code": 400, "details": [{"fieldViolations": listed}]}}
    found = read_refusal(body, "", sent)
    return {".".join(one.path): (one.fault, one.wants) for one in found}


@pytest.mark.parametrize("place", ["fields.note", "document.fields.note"])
def test_the_type_that_is_named_is_missed_in_the_field(place: str) -> None:
    said = (place, "Required field is missing. Expected an integerValue.")

    assert told({}, said) == {"fields.note.integerValue": (Fault.MISSING, "integer")}


@pytest.mark.parametrize(
    ("value", "kind", "wants"),
    [
        (NOTE, "referenceValue", ""),
        ("A SIGN", "stringValue", "string"),
        (7, "integerValue", "integer"),
    ],
)
def test_a_value_without_a_type_has_the_one_of_its_form(
    value: JSON, kind: str, wants: str
) -> None:
    sent: JSON = {"fields": {"note": value}}

    found = told(sent, ("document.fields[0].value", UNTYPED))

    assert found == {f"fields.note.{kind}": (Fault.MISSING, wants)}


def test_a_value_without_a_type_beside_one_that_has_it_is_too_much() -> None:
    sent: JSON = {"fields": {"answer": TYPED, "taskId": NOTE}}

    found = told(sent, ("document.fields[1].value", UNTYPED))

    assert found == {"fields.taskId": (Fault.UNKNOWN, "")}


def test_what_stands_beside_a_type_is_too_much_and_so_is_another_field() -> None:
    sent: JSON = {"fields": {"note": {"referenceValue": NOTE, "x": 1}, "more": TYPED}}
    beside = "Unknown name \"x\" at 'document.fields[0].value': Cannot find field."

    found = told(
        sent,
        ("document.fields[0].value", beside),
        ("document.fields.more", 'Field "more" is not declared.'),
    )

    assert [*found] == ["fields.note.x", "fields.more"]
    assert {fault for fault, _ in found.values()} == {Fault.UNKNOWN}


def test_what_has_its_type_is_not_missed_again() -> None:
    sent: JSON = {"fields": {"note": {"referenceValue": NOTE}}}

    found = told(sent, ("fields.note", "The referenceValue was not found."))

    assert Fault.MISSING not in {fault for fault, _ in found.values()}
