"""A process whose event loop no longer turns is ended, and the strategy is named."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from journeyman.daemon.watchdog import report_crash
from journeyman.journal.journal import Journal
from journeyman.journal.strategy_health import Condition
from journeyman.lifecycle.active import ActiveStrategies, Generation
from journeyman.lifecycle.quarantine import Quarantine, QuarantineRule
from journeyman.strategies.loading.registry import load_registry
from journeyman.testing import FakeClock, RecordingLog

SCRIPT = Path(__file__).with_name("deaf.py")
STRATEGY = """
import itertools
import os
import signal
import time

from journeyman import Strategy


class Deaf(Strategy):
    api, version, kinds = 1, "1", frozenset({"deaf"})

    async def run(self, task):
        stop_the_loop()


def stubborn():
    while True:
        try:
            time.sleep(1)
        except BaseException:
            pass


def holding_the_interpreters_lock():
    all(itertools.repeat(True))


def crashing():
    os.kill(os.getpid(), signal.SIGSEGV)


def brief():
    time.sleep(0.2)


def stopped():
    os.kill(os.getpid(), signal.SIGSTOP)


def stop_the_loop():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    BODY()
"""
RULE = QuarantineRule(errors=3, window_seconds=600, initial_seconds=60, max_seconds=200)


@dataclass(eq=False)
class Site:
    """A strategy, a process that calls it, and the start after that."""

    path: Path
    journal: Journal

    def __post_init__(self) -> None:
        self.stack = self.path / "crash.stack"
        self.strategy = self.path / "strategies" / "deaf.py"
        self.strategy.parent.mkdir()
        self.log = RecordingLog()

    def begin(self, body: str, silent: float = 1.0) -> "subprocess.Popen[str]":
        """Return a process that has begun, and that calls the strategy next.

        It is ended when its loop has not turned for so many seconds.
        """
        self.strategy.write_text(STRATEGY.replace("BODY", body))
        # Older than the crash, whatever a file system makes of a moment.
        os.utime(self.strategy, (1_000_000_000, 1_000_000_000))
        process = subprocess.Popen(  # noqa: S603 - this interpreter, and a script of ours
            [
                *(sys.executable, str(SCRIPT), str(self.stack), str(self.strategy)),
                str(silent),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        return process

    def restart(self) -> Quarantine:
        """Report what is left of the process before."""
        registry = load_registry(self.strategy.parent)
        quarantine = Quarantine(
            journal=self.journal, rule=RULE, clock=FakeClock(), log=self.log
        )
        ActiveStrategies(Generation(registry, {"deaf": "1"}), quarantine)
        folders = [self.strategy.parent]
        report_crash(self.stack, registry.strategies, folders, quarantine, self.log)
        return quarantine


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Journal(tmp_path / "journal.db", FakeClock().now) as journal:
        yield Site(tmp_path, journal)


@pytest.mark.endurance
@pytest.mark.parametrize("body", ["stubborn", "holding_the_interpreters_lock"])
def test_a_deaf_process_is_ended_and_its_strategy_named_and_not_called_again(
    site: Site, body: str
) -> None:
    process = site.begin(body)

    _, errors = process.communicate()

    assert process.returncode == -signal.SIGABRT
    assert "its event loop did not turn for 1 s" in errors
    quarantine = site.restart()
    (told,) = site.log.named("daemon.crashed")
    assert told["strategy"] == "deaf"
    assert str(told["where"]).startswith("strategies/deaf.py:")
    assert f"in {body}" in str(told["where"])
    health = site.journal.strategy_health.all()["deaf", ""]
    assert health.condition is Condition.STUCK
    assert not quarantine.may_call("deaf", fingerprint="1")
    assert quarantine.may_call("deaf", fingerprint="of a changed file")
    assert quarantine.cannot_work() == ["deaf"]


def test_a_crash_in_c_code_names_its_strategy_too(site: Site) -> None:
    process = site.begin("crashing")

    process.communicate()

    assert process.returncode == -signal.SIGSEGV
    assert site.restart().cannot_work() == ["deaf"]


def test_a_file_that_was_being_imported_is_named_though_it_is_no_strategy(
    site: Site,
) -> None:
    site.stack.write_text(
        "Current thread (most recent call first):\n"
        '  File "/usr/lib/python3/re.py", line 9 in match\n'
        f'  File "{site.strategy.with_name("late.py")}", line 3 in <module>\n'
    )

    site.restart()

    (told,) = site.log.named("daemon.crashed")
    assert told["where"] == "strategies/late.py:3 in <module>"
    assert told["strategy"] == ""


def test_a_crash_is_told_once(site: Site) -> None:
    site.begin("crashing").communicate()
    site.restart()

    site.restart()

    assert len(site.log.named("daemon.crashed")) == 1


def test_a_file_that_was_mended_since_is_not_to_blame(site: Site) -> None:
    site.begin("crashing").communicate()
    site.strategy.write_text(STRATEGY.replace("BODY", "brief"))
    os.utime(site.strategy, (9_000_000_000, 9_000_000_000))

    assert site.restart().cannot_work() == []


@pytest.mark.endurance
def test_a_loop_that_turns_in_time_is_left_alone_and_leaves_nothing(site: Site) -> None:
    process = site.begin("brief", silent=60)

    _, errors = process.communicate()

    assert (process.returncode, errors) == (0, "")
    site.restart()
    assert site.log.named("daemon.crashed") == []


@pytest.mark.endurance
def test_a_process_that_was_stopped_for_long_goes_on(site: Site) -> None:
    process = site.begin("stopped")
    os.waitpid(process.pid, os.WUNTRACED)
    time.sleep(2.0)  # noqa: TID251 - twice as long as the watchdog waits

    process.send_signal(signal.SIGCONT)

    process.communicate()
    assert process.returncode == 0


def test_the_child_ends_with_a_process_that_is_killed(site: Site) -> None:
    process = site.begin("stubborn")

    process.kill()

    # Its standard error stays open for as long as anybody has it.
    process.communicate()
    assert process.returncode == -signal.SIGKILL
