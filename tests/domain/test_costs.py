"""Costs are counted in whole millionths of a credit, and none is lost in rounding."""

import pytest

from journeyman.domain.credits import MILLIONTHS, millionths_of


@pytest.mark.parametrize(
    ("credits_", "millionths"),
    [
        (0.0, 0),
        (1.0, MILLIONTHS),
        (0.1 + 0.2, 300_000),
        (0.0000011, 2),
        (1e-9, 1),
        (12.5, 12_500_000),
    ],
)
def test_a_cost_is_rounded_up_to_whole_millionths(
    credits_: float, millionths: int
) -> None:
    assert millionths_of(credits_) == millionths
