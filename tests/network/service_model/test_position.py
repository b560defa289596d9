"""A parser that names no field says where in the body it stopped."""

import pytest

from journeyman.domain.tasks import JSON
from journeyman.network.service_model.naming import Path
from journeyman.network.service_model.refusals.faults import Fault
from journeyman.network.service_model.refusals.refusal import read_refusal

SENT: JSON = {"lease": 1, "task": "tasks/7", "work": {"text": "A", "count": "two"}}
"""{"lease":1,"task":"tasks/7","work":{"text":"A","count":"two"}}."""


@pytest.mark.parametrize(
    ("said", "path", "wants"),
    [
        ("proto: syntax error (line 1:10): unexpected token 1", ("lease",), "string"),
        ("invalid type: map, expected u64 at line 1 column 27", ("task",), "integer"),
        (
            "expected a number at line 1 column 60",
            ("work", "count"),
            "number",
        ),
        (
            'proto: (line 1:19): invalid google.protobuf.Duration value "tasks/7"',
            ("task",),
            "duration",
        ),
    ],
)
def test_the_value_at_a_column_is_meant(said: str, path: Path, wants: str) -> None:
    (found,) = read_refusal({"code": 3, "message": said}, "", SENT)

    assert (found.path, found.fault) == (path, Fault.TYPE)
    assert found.wants == wants


@pytest.mark.parametrize(
    "said",
    [
        "missing field `pay` at line 1 column 61",
        "EOF while parsing a value at line 1 column 99",
        "see line 7, column 12 of the terms",
    ],
)
def test_a_column_where_no_value_is_judged_means_none(said: str) -> None:
    found = read_refusal({"message": said}, "", SENT)

    assert not any(one.fault is Fault.TYPE for one in found)


@pytest.mark.parametrize(
    ("column", "path", "is_root"),
    [(61, ("work", "pay"), False), (62, ("pay",), True)],
)
def test_what_is_missing_is_so_in_the_object_that_ends_there(
    column: int, path: Path, *, is_root: bool
) -> None:
    said = f"missing field `pay` at line 1 column {column}"

    (found,) = read_refusal({"message": said}, "", SENT)

    assert (found.path, found.fault) == (path, Fault.MISSING)
    assert found.is_root is is_root
