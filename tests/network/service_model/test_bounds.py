"""A number that is refused is sent again as large as the refusal says."""

import pytest

from journeyman.domain.tasks import JSON
from journeyman.network.service_model.refusals.faults import Fault
from journeyman.network.service_model.refusals.refusal import read_refusal

SENT: JSON = {"visibilityTimeout": 1, "taskId": "task-1", "agentId": "agent-1"}


@pytest.mark.parametrize(
    ("said", "bound"),
    [
        ("must be at least 60", "60"),
        ("The visibility timeout field must be at least 60.", "60"),
        ("'Visibility Timeout' must be greater than or equal to '60'.", "60"),
        ("Number must be greater than or equal to 60", "60"),
        ("Too small: expected number to be >=60", "60"),
        ("Ensure this value is greater than or equal to 60.", "60"),
        ("must not be less than 60", "60"),
        ("1 is less than the minimum of 60", "60"),
        ("must be >= 60", "60"),
        ("must be greater than 59", "60"),
        ("debe ser mayor o igual que 60", "60"),
        ("muss mindestens 60 sein", "60"),
        ("must be less than 0", "-1"),
        ("must not be greater than 0.5", "0.5"),
    ],
)
def test_what_is_out_of_bounds_is_sent_as_the_bound(said: str, bound: str) -> None:
    errors: JSON = [{"field": "visibilityTimeout", "message": said}]

    (found,) = read_refusal({"errors": errors}, "", SENT)

    assert found.path == ("visibilityTimeout",)
    assert (found.fault, found.options) == (Fault.VALUE, (bound,))


@pytest.mark.parametrize(
    "said",
    [
        "body/visibilityTimeout must be >= 60",
        "Validation failed: Visibility timeout must be greater than or equal to 60",
        # The validator of a gateway names no field, and shows the value.
        "[numeric instance is lower than the required minimum (minimum: 60, found: 1)]",
    ],
)
def test_a_bound_is_read_in_a_sentence_of_its_own(said: str) -> None:
    (found,) = read_refusal({"message": said}, "", SENT)

    assert (found.path, found.options) == (("visibilityTimeout",), ("60",))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("hours", "Between 1 and 8 hours, in steps of 2."),
        ("task_id", "There is no task 7 in round 12."),
        ("note", "must be at least 20 characters"),
        ("hours", "1002"),
    ],
)
def test_other_numbers_are_no_bound(name: str, said: str) -> None:
    sent: JSON = {"hours": 9, "task_id": 7, "note": "Done"}
    errors: JSON = [{"field": name, "message": said}]

    (found,) = read_refusal({"errors": errors}, "", sent)

    assert found.options not in {("20",), ("12",), ("2",), ("1002",)}
