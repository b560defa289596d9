"""The daemon keeps what it learns of the network, seldom and safely."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.daemon.conftest import URL, MakeSite

from journeyman.daemon.network import Learning
from journeyman.domain.tasks import JSON
from journeyman.journal.journal import Journal
from journeyman.network.call import Call, Reply
from journeyman.network.service_model.evidence import Observed, records_from
from journeyman.testing import FakeClock

NETWORK = "http://network"


class Commits:
    """Counts the durable steps of a journal, and can refuse them."""

    def __init__(self) -> None:
        self.labels: list[str] = []
        self.is_full = False

    def before(self, label: str) -> None:
        if self.is_full:
            raise sqlite3.OperationalError("database or disk is full")
        self.labels.append(label)

    def after(self, label: str) -> None: ...


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def journal(tmp_path: Path, clock: FakeClock) -> Iterator[Journal]:
    with Journal(tmp_path / "journal.db", clock.now) as journal:
        yield journal


@pytest.fixture
def commits(journal: Journal) -> Commits:
    commits = Commits()
    journal.database.observe(commits)
    return commits


def answered(learning: Learning, body: JSON) -> None:
    learning.observer.learn(
        Observed(
            call=Call(name="claim", method="POST", address=NETWORK, path="/claim"),
            reply=Reply(200, {}, body, str(body)),
            seconds=0.1,
            outcome="confirmed",
            is_yes=True,
            secrets=(),
        ),
    )


def calls_kept(journal: Journal) -> int:
    records = records_from(journal.observations.of(NETWORK))
    return records["claim"].seen if records else 0


def test_news_is_kept_at_most_once_a_minute(
    journal: Journal, clock: FakeClock, commits: Commits
) -> None:
    learning = Learning(journal, NETWORK, clock)
    for name in ("id", "error", "message", "code"):
        clock.advance(30)
        answered(learning, {name: ""})
        learning.keep_news()

    assert len(commits.labels) == 2
    assert calls_kept(journal) == 3


def test_what_is_no_news_waits_for_the_next_housekeeping(
    journal: Journal, clock: FakeClock, commits: Commits
) -> None:
    learning = Learning(journal, NETWORK, clock)
    for _ in range(9):
        clock.advance(60)
        answered(learning, {"id": "t"})
        learning.keep_news()
    assert len(commits.labels) == 1

    learning.keep()

    assert calls_kept(journal) == 9


def test_an_idle_daemon_writes_nothing(
    journal: Journal, clock: FakeClock, commits: Commits
) -> None:
    learning = Learning(journal, NETWORK, clock)
    clock.advance(100)
    learning.keep_news()
    learning.keep()

    assert commits.labels == []


def test_the_next_run_goes_on_from_what_is_known(
    journal: Journal, clock: FakeClock
) -> None:
    first = Learning(journal, f"{NETWORK}/", clock)
    answered(first, {"id": "t"})
    first.keep()

    second = Learning(journal, NETWORK, clock)
    answered(second, {"id": "t"})

    assert not second.observer.has_news
    second.keep()
    assert calls_kept(journal) == 2


def test_a_full_disk_loses_nothing_that_fits_later(
    journal: Journal, clock: FakeClock, commits: Commits
) -> None:
    learning = Learning(journal, NETWORK, clock)
    answered(learning, {"id": "t"})
    commits.is_full = True
    learning.keep()
    assert calls_kept(journal) == 0

    commits.is_full = False
    learning.keep()

    assert calls_kept(journal) == 1


async def test_a_daemon_that_stops_has_kept_what_it_saw(make_site: MakeSite) -> None:
    site = await make_site()
    await site.run(work__max_tasks=1)

    with site.journal() as journal:
        records = records_from(journal.observations.of(URL))

    assert {"register", "marketplace_tasks", "claim", "submit"} <= set(records)
    assert records["register"].answers["200"].body.fields.keys() == {
        *("agent_id", "access_token", "credits"),
    }
