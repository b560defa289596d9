"""How sure a comparison of two strategies is, where the answer is known."""

import math
from random import Random
from statistics import NormalDist

import pytest

from journeyman.daemon.backtest import Interval, paired_bootstrap

REPEATABLE = 1


def interval_of(differences: list[float]) -> Interval:
    return paired_bootstrap(differences, Random(REPEATABLE))  # noqa: S311 - as it says


def test_what_is_always_the_same_is_sure() -> None:
    found = interval_of([2.5] * 40)

    assert (found.mean, found.low, found.high, found.sign) == (2.5, 2.5, 2.5, 1)


def test_one_task_of_many_proves_nothing() -> None:
    # Of all samples, (1 - 1/50)^50 = 36 % do not have it at all.
    found = interval_of([9.0] + [0.0] * 49)

    assert found.mean == pytest.approx(9 / 50)
    assert (found.low, found.sign) == (0.0, 0)


def test_a_difference_that_is_as_often_for_as_against_is_none() -> None:
    found = interval_of([1.0, -1.0] * 100)

    assert found.mean == 0
    assert found.sign == 0
    assert found.low == pytest.approx(-found.high, abs=0.02)


def test_many_tasks_give_the_interval_of_the_normal_distribution() -> None:
    # Of 400 tasks a quarter bring 4 more: a mean of 1, a deviation of sqrt(3) a task.
    half = NormalDist().inv_cdf(0.975) * math.sqrt(3 / 400)

    found = interval_of([4.0] * 100 + [0.0] * 300)

    assert found.low == pytest.approx(1 - half, abs=0.02)
    assert found.high == pytest.approx(1 + half, abs=0.02)
    assert found.sign == 1


def test_who_is_worse_has_the_same_interval_with_the_other_sign() -> None:
    better, worse = ([sign * 4.0] * 30 + [0.0] * 30 for sign in (1, -1))

    up, down = (interval_of(one) for one in (better, worse))

    assert (down.mean, down.sign) == (-up.mean, -1)
    assert down.high == pytest.approx(-up.low, abs=0.05)


def test_of_tapes_without_a_difference_few_seem_to_have_one() -> None:
    draw = Random(REPEATABLE)  # noqa: S311 - as it says
    tapes = [[draw.choice([-1.0, 0.0, 1.0]) for _ in range(40)] for _ in range(20)]

    wrong = [one for one in tapes if interval_of(one).sign]

    # 5 % of 20 are 1; more than 4 would come by chance once in 400 times.
    assert len(wrong) <= 4
