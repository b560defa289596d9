"""Whatever is handed in as a result, it is judged, and the sandbox does not fail."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from journeyman.sandbox.kinds import KINDS
from journeyman.sandbox.kinds.kind import Draft, WrongAnswerError
from journeyman.sandbox.material import Material, load_material
from journeyman.sandbox.store import seeded

Values = st.SearchStrategy[Any]
ODD = (
    *(10**400, -(10**4000), 1e308, "9" * 4000, "1e999", "NaN", "[" * 999, "\x00"),
    *("٢٣", "½", "0x1f", "1_000", "2026-02-30", "inf", '"', "{}", "null"),
)
ANY_VALUE: Values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    # What a body may hold: half a surrogate pair is refused before.
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.sampled_from(ODD),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=6,
)


@pytest.fixture(scope="session")
def material() -> Material:
    return load_material()


def like(answer: object) -> Values:
    """Values of the shape of the right answer, with anything inside of it."""
    if isinstance(answer, dict):
        return st.fixed_dictionaries({name: like(one) for name, one in answer.items()})
    if isinstance(answer, list):
        return st.tuples(*map(like, answer)).map(list)
    return ANY_VALUE | st.just(answer)


def is_right(kind: str, draft: Draft, result: object) -> bool:
    """Judge a result; what says why it is wrong can be written down."""
    try:
        KINDS[kind].check(draft.input, draft.answer, result)
    except WrongAnswerError as wrong:
        str(wrong).encode()
        return False
    return True


@pytest.mark.parametrize("kind", KINDS)
def test_any_result_is_accepted_or_rejected(kind: str, material: Material) -> None:
    draft: Draft = KINDS[kind].make(seeded(1, kind), material)

    @settings(max_examples=25, deadline=None, derandomize=True)
    @given(ANY_VALUE | like(draft.answer) | ANY_VALUE.map(json.dumps))
    def judge(result: object) -> None:
        assert is_right(kind, draft, result) in {True, False}

    assert not any(is_right(kind, draft, odd) for odd in ODD)
    judge()
