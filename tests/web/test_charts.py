"""Charts: what is drawn is what was earned."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journeyman.journal.ledger import DayEarnings
from journeyman.web.charts import HEIGHT, axis, columns, curve

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
whole = st.integers(-(10**12), 10**12)


@given(whole, whole)
def test_an_axis_has_few_round_marks_around_all_values(one: int, other: int) -> None:
    low, high = sorted((one, other))

    marks = axis(low, high)

    assert 2 <= len(marks) <= 5
    assert marks[0] <= low
    assert marks[-1] >= high
    distances = {later - mark for mark, later in pairwise(marks)}
    assert len(distances) == 1


def test_a_balance_that_never_moved_is_no_curve() -> None:
    assert curve([], NOW) is None
    assert curve([(NOW, 100)], NOW) is None


def test_a_balance_moves_in_steps_and_goes_on_to_now() -> None:
    points = [(NOW - timedelta(hours=4), 0), (NOW - timedelta(hours=2), 100)]

    drawn = curve(points, NOW)

    assert drawn is not None
    assert (drawn.marks[0], drawn.marks[-1]) == (0, 100)
    assert drawn.line == "M0.0 200.0H500.0V0.0H1000"
    assert drawn.times[1] == NOW - timedelta(hours=2)


def test_a_clock_that_was_set_back_draws_nothing_outside() -> None:
    points = [(NOW, 5), (NOW - timedelta(days=1), 9)]

    drawn = curve(points, NOW - timedelta(days=1))

    assert drawn is not None
    assert "-" not in drawn.line


@pytest.mark.parametrize("strategies", [1, 9])
def test_a_day_is_as_high_as_what_it_brought(strategies: int) -> None:
    earned = [
        DayEarnings(day="2026-11-22", strategy=f"s{n}", earned=n + 1)
        for n in range(strategies)
    ]
    older = DayEarnings(day="2026-11-20", strategy="s0", earned=100)

    drawn = columns([older, *earned], NOW.date(), 14)

    today = [one for one in drawn.blocks if one.label.startswith("2026-11-22")]
    total = sum(one.earned for one in earned)
    height = sum(one.height for one in today)
    assert height == pytest.approx(total / drawn.marks[-1] * HEIGHT, abs=1)
    assert max(one.series for one in drawn.blocks) == min(strategies, 6)
    assert drawn.totals[0] == ("s0", 101, 1)
    assert len(drawn.days) == 14
