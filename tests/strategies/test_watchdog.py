"""The alarm over author code, and that it leaves everybody else's alone."""

import signal
import threading
import time
from typing import NoReturn

import pytest

from journeyman.strategies import watchdog


def forever() -> NoReturn:
    while True:
        pass


def test_a_call_that_returns_in_time_is_just_a_call() -> None:
    assert watchdog.call(5, int, "12", base=3) == 5


def test_a_call_that_takes_too_long_is_interrupted() -> None:
    with pytest.raises(watchdog.BlockedError):
        watchdog.call(0.05, forever)


def test_an_alarm_that_somebody_else_has_set_is_put_back() -> None:
    def theirs(_signal: int, _frame: object) -> None: ...

    handler = signal.signal(signal.SIGALRM, theirs)
    timer = signal.setitimer(signal.ITIMER_REAL, 1000)
    try:
        with pytest.raises(watchdog.BlockedError):
            watchdog.call(0.05, forever)

        assert signal.getsignal(signal.SIGALRM) is theirs
        assert 900 < signal.getitimer(signal.ITIMER_REAL)[0] <= 1000
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, handler)


def test_outside_the_main_thread_it_only_calls() -> None:
    answers: list[int] = []

    def work() -> None:
        answers.append(watchdog.call(0.001, sum, range(1_000_000)))

    thread = threading.Thread(target=work)  # noqa: TID251 - threads are the subject
    thread.start()
    thread.join()

    assert answers == [499_999_500_000]


def test_without_a_limit_no_alarm_is_set() -> None:
    before = signal.getsignal(signal.SIGALRM)

    assert watchdog.call(None, signal.getsignal, signal.SIGALRM) is before


def test_calls_that_share_a_timer_have_a_limit_each() -> None:
    handler = signal.getsignal(signal.SIGALRM)
    with watchdog.prepared():
        assert watchdog.call(5, int, "12") == 12
        with pytest.raises(watchdog.BlockedError):
            watchdog.call(0.01, forever)
        assert watchdog.call(5, int, "34") == 34

    assert signal.getsignal(signal.SIGALRM) is handler


def test_only_a_call_that_was_slow_is_told() -> None:
    told: list[tuple[float, str]] = []

    def note(seconds: float, stack: watchdog.Stack) -> None:
        told.append((seconds, stack[-1].name))

    watchdog.timed(5, note, dawdle)
    watchdog.timed(5, note, int, "12")

    ((seconds, where),) = told
    assert seconds >= watchdog.SLOW_SECONDS
    assert where == "dawdle"


def dawdle() -> None:
    until = time.monotonic() + 2 * watchdog.SLOW_SECONDS  # noqa: TID251 - real time is the subject
    while time.monotonic() < until:  # noqa: TID251 - as above
        pass


def test_a_slow_call_inside_another_leaves_its_alarm_as_it_was() -> None:
    def outer() -> None:
        dawdle()
        watchdog.call(5, dawdle)
        forever()

    with pytest.raises(watchdog.BlockedError):
        watchdog.call(0.8, outer)
