"""`journeyman reload` and `journeyman strategies release`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from journeyman.daemon.system import SystemClock
from journeyman.journal.directory import DataDirectory, DirectoryLock
from journeyman.journal.journal import Journal
from journeyman.journal.strategy_health import Condition, Health

Run = Callable[..., Any]


@pytest.fixture
def ill(tmp_path: Path) -> Path:
    """Return the data directory of a stopped daemon, with a strategy in quarantine."""
    data = tmp_path / "data"
    DataDirectory(data).prepare()
    clock = SystemClock()
    with Journal(data / "journal.db", clock.now) as journal, journal.tx("test"):
        journal.strategy_health.put(
            Health(
                strategy="seo_bot",
                fingerprint="1",
                condition=Condition.MISCONFIGURED,
                problem="no key\x1b[2J",
                fix="set SEO_KEY",
            )
        )
    return data


def test_a_reload_without_a_daemon_says_so(run: Run, tmp_path: Path) -> None:
    told = run("reload", "--data-dir", str(tmp_path))

    assert told.code == 3
    assert "no daemon runs" in told.err


def test_status_shows_who_is_in_quarantine_and_why(run: Run, ill: Path) -> None:
    told = run("status", "--data-dir", str(ill))
    answer = run("status", "--data-dir", str(ill), "--json").answer

    assert "seo_bot: misconfigured: no key\\x1b[2J (set SEO_KEY)" in told.out
    assert answer["strategy_health"]["seo_bot"]["retry_in"] is None


def test_a_strategy_is_released_also_where_no_daemon_runs(run: Run, ill: Path) -> None:
    told = run("strategies", "release", "seo_bot", "--data-dir", str(ill))
    again = run("strategies", "release", "seo_bot", "--data-dir", str(ill))

    assert (told.code, told.out) == (0, "seo_bot is given work again.\n")
    assert again.code == 2
    assert "not in quarantine" in again.err
    assert (
        run("status", "--data-dir", str(ill), "--json").answer["strategy_health"] == {}
    )


def test_a_release_where_nobody_ever_ran_says_so(run: Run, tmp_path: Path) -> None:
    assert run("strategies", "release", "x", "--data-dir", str(tmp_path)).code == 3


def test_a_release_beside_a_daemon_that_does_not_answer_is_refused(
    run: Run, ill: Path
) -> None:
    with DirectoryLock(DataDirectory(ill)):
        told = run("strategies", "release", "seo_bot", "--data-dir", str(ill))

    assert told.code == 6
