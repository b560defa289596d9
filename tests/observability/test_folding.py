"""The arithmetic of held-back lines."""

from hypothesis import given
from hypothesis import strategies as st

from journeyman.observability.logging import MOST_REMEMBERED, RepeatFolder


class Seconds:
    def __init__(self) -> None:
        self.value = 1_000.0

    def __call__(self) -> float:
        return self.value


def test_a_clock_that_is_stepped_back_holds_nothing_back() -> None:
    seconds = Seconds()
    folder = RepeatFolder(seconds)
    folder.offer("a")

    seconds.value -= 500

    assert folder.offer("a") == 0


def test_only_so_many_lines_are_remembered() -> None:
    folder = RepeatFolder(Seconds())
    folder.offer("first")

    for number in range(MOST_REMEMBERED):
        folder.offer(str(number))

    assert folder.offer("first") == 0
    assert folder.offer("999") is None


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 40)), max_size=60))
def test_shown_and_told_repeats_add_up(offers: list[tuple[str, float]]) -> None:
    seconds = Seconds()
    folder = RepeatFolder(seconds)
    told = 0
    for line, pause in offers:
        seconds.value += pause
        repeated = folder.offer(line)
        told += 0 if repeated is None else 1 + repeated

    seconds.value += 60
    told += sum((folder.offer(line) or 0) for line in "abc")

    assert told == len(offers)
