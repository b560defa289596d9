"""When the daemon looks: by lot, sooner with work, later without."""

import heapq
from itertools import count

import pytest

from journeyman.daemon.discovery import Pace
from journeyman.testing import FakeRandomness
from journeyman.worker.discover import Poll

EMPTY = Poll(productive=False)
AGENTS, USUAL, LONGEST = 1000, 30.0, 300.0


def pace(seed: int = 0, usual: float = USUAL, longest: float = LONGEST) -> Pace:
    return Pace(usual=usual, longest=longest, randomness=FakeRandomness(seed))


def looks(agents: int, until: float) -> list[float]:
    """Return when agents that are started together look at a market without work."""
    order = count()
    queue = [(0.0, next(order), pace(seed)) for seed in range(agents)]
    times = []
    while queue[0][0] < until:
        at, _, agent = heapq.heappop(queue)
        times.append(at)
        wait = agent.next_wait(EMPTY, has_room=True, is_busy=True)
        heapq.heappush(queue, (at + wait, next(order), agent))
    return times


def test_a_thousand_agents_started_together_peak_at_most_at_twice_the_mean() -> None:
    minutes = 20 * USUAL
    after = [at for at in looks(AGENTS, minutes) if at >= USUAL]

    window = USUAL / 10
    rates = [0] * int((minutes - USUAL) / window)
    for at in after:
        rates[min(int((at - USUAL) / window), len(rates) - 1)] += 1
    mean = sum(rates) / len(rates)

    # Measured: 1.37.
    assert max(rates) <= 2 * mean


def test_while_busy_the_pause_is_the_usual_one_on_average() -> None:
    one = pace()
    waits = [one.next_wait(EMPTY, has_room=False, is_busy=True) for _ in range(4000)]

    assert sum(waits) / len(waits) == pytest.approx(USUAL, rel=0.1)
    assert min(waits) >= USUAL / 10
    assert max(waits) <= 2 * USUAL


def test_idle_looks_come_ever_further_apart_and_never_beyond_the_longest() -> None:
    ceilings = [0.0] * 6
    for seed in range(300):
        one = pace(seed)
        for turn in range(6):
            wait = one.next_wait(EMPTY, has_room=True, is_busy=False)
            ceilings[turn] = max(ceilings[turn], wait)

    assert ceilings[0] <= 60 < ceilings[1] <= 120 < ceilings[2] <= 240
    assert 240 < max(ceilings[3:]) <= LONGEST


def test_a_look_that_gave_work_is_followed_at_once_while_slots_are_free() -> None:
    one = pace()
    for _ in range(10):
        one.next_wait(EMPTY, has_room=True, is_busy=False)
    productive = Poll(productive=True)

    assert one.next_wait(productive, has_room=True, is_busy=True) == 0
    assert 0 < one.next_wait(productive, has_room=False, is_busy=True) <= 60


def test_a_look_that_failed_is_repeated_when_it_says() -> None:
    failed = Poll(productive=False, retry_in=17.0)

    assert pace().next_wait(failed, has_room=True, is_busy=False) == 17.0


def test_pages_that_had_to_wait_are_asked_for_when_they_may_be_and_no_later() -> None:
    def waits(more_in: float) -> set[float]:
        broken_off = Poll(productive=False, more_in=more_in)
        looks = [pace(seed=seed) for seed in range(50)]
        return {
            one.next_wait(broken_off, has_room=True, is_busy=False) for one in looks
        }

    assert max(waits(4.0)) == 4.0
    assert min(waits(0.0)) == max(waits(0.0)) == 3.0, "not at once, whoever asks"
    assert max(waits(1000.0)) <= 60


def test_a_longest_below_the_usual_counts_as_the_usual() -> None:
    one = pace(usual=60.0, longest=10.0)

    assert one.next_wait(None, has_room=False, is_busy=False) <= 60
