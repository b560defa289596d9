"""The owner's limits hold also where the journal is lost, or older than it was."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.economy.conftest import (
    LIMITS,
    ME,
    OPENED,
    UNKNOWN,
    Economy,
    new_task,
    posted,
)

from journeyman.domain.errors import StateError
from journeyman.domain.tasks import AccessToken, AgentId, Identity
from journeyman.economy.budget import OverBudget, check_post, usage
from journeyman.economy.mark import carry_limits, used_up
from journeyman.economy.posting import Accepted
from journeyman.economy.topup import Opened
from journeyman.journal.identity import (
    JournalMark,
    load_identity,
    load_mark,
    save_identity,
    save_mark,
)
from journeyman.journal.journal import Journal
from journeyman.testing import FakeClock

Restore = Callable[[], Economy]


@pytest.fixture
def restore(economy: Economy, clock: FakeClock, tmp_path: Path) -> Iterator[Restore]:
    """Return what starts on a backup that was made before all else."""
    backup = tmp_path / "backup.db"
    economy.mark.begin()
    economy.journal.database.backup_to(backup)
    opened: list[Journal] = []

    def start() -> Economy:
        opened.append(Journal(backup, clock.now))
        again = Economy(opened[-1], clock, LIMITS, marks=economy.marks)
        again.mark.begin()
        return again

    yield start
    for journal in opened:
        journal.close()


async def post(economy: Economy, reward: int) -> object:
    economy.network.post_answers.append(posted())
    return await economy.posting.post(new_task(reward))


async def ask(economy: Economy, credits_: int) -> object:
    economy.network.checkout_answers.append(OPENED)
    return await economy.top_up.ask(ME, credits_)


async def test_the_mark_counts_a_spend_before_its_request_leaves(
    economy: Economy, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, int, int]] = []

    async def look() -> None:
        mark = economy.marks[-1]
        seen.append((mark.posts, mark.credits, mark.cents))

    monkeypatch.setattr(economy.network, "_work", look)

    await post(economy, 20)
    await ask(economy, 4)

    cents = economy.journal.spends.recent(1)[0].cents
    assert seen == [(1, 20, 0), (1, 20, cents)]
    assert cents > 0


async def test_a_mark_that_cannot_be_written_keeps_the_request_from_leaving(
    economy: Economy,
) -> None:
    def refuse(_: JournalMark) -> None:
        raise StateError("the disk is full")

    economy.mark.save = refuse

    for spend in (post(economy, 5), ask(economy, 1)):
        with pytest.raises(StateError, match="full"):
            await spend

    assert (economy.network.posts, economy.network.checkouts) == ([], [])
    assert usage(economy.journal, economy.clock.now()).reserved == 5


async def test_a_backup_does_not_give_the_limits_of_the_day_again(
    economy: Economy, restore: Restore
) -> None:
    await post(economy, 25)
    await post(economy, 20)

    again = restore()

    assert isinstance(await post(again, 6), OverBudget)
    assert isinstance(await post(again, 5), Accepted)
    assert again.log.named("journal.is_older")[0]["spends"] == 2


async def test_a_post_of_unknown_outcome_is_carried_too(
    economy: Economy, restore: Restore
) -> None:
    for _ in range(2):
        economy.network.post_answers.append(UNKNOWN)
        await economy.posting.post(new_task(25))

    assert isinstance(await post(restore(), 1), OverBudget)


async def test_a_backup_does_not_give_the_caps_on_real_money_again(
    economy: Economy, restore: Restore, clock: FakeClock
) -> None:
    assert isinstance(await ask(economy, 500), Opened)
    again = restore()

    assert isinstance(await ask(again, 1), OverBudget)
    for _ in range(3):
        clock.advance(86_400)
        assert isinstance(await ask(again, 500), Opened)
    clock.advance(86_400)
    over = await ask(again, 1)

    assert isinstance(over, OverBudget)
    assert over.setting == "topup.per_month_cents"


async def test_what_left_is_booked_and_the_reserve_is_kept(
    economy: Economy, restore: Restore, clock: FakeClock
) -> None:
    for _ in range(3):
        await post(economy, 25)
        clock.advance(86_400)

    again = restore()

    assert (economy.balance, again.balance) == (25, 25)
    over = await post(again, 6)
    assert isinstance(over, OverBudget)
    assert over.setting == "budget.reserve_credits"
    assert again.journal.ledger.first_fault() is None


async def test_what_is_carried_weighs_on_each_strategy(
    economy: Economy, restore: Restore, clock: FakeClock
) -> None:
    await post(economy, 20)

    limits = replace(LIMITS, per_strategy_credits=20)
    over = check_post(limits, restore().journal, clock.now(), 1, strategy="any")

    assert over is not None
    assert over.setting == "budget.per_strategy_credits"


async def test_an_older_journal_is_carried_once_however_often_it_starts(
    economy: Economy, restore: Restore
) -> None:
    await post(economy, 20)
    before = economy.marks[-1]

    again = restore()
    # A crash before the new mark was written.
    economy.marks.append(before)
    again.mark.begin()
    again.mark.begin()

    at = usage(again.journal, again.clock.now())
    assert (at.posts_today, at.spent_today, at.balance) == (1, 20, 80)


async def test_a_second_older_backup_is_carried_as_the_first_was(
    economy: Economy, restore: Restore, clock: FakeClock, tmp_path: Path
) -> None:
    older = tmp_path / "older.db"
    economy.journal.database.backup_to(older)
    await post(economy, 20)
    await post(restore(), 15)

    with Journal(older, clock.now) as journal:
        third = Economy(journal, clock, LIMITS, marks=economy.marks)
        third.mark.begin()

        assert isinstance(await post(third, 16), OverBudget)
        assert third.balance == 65


async def test_what_was_spent_yesterday_frees_todays_limit(
    economy: Economy, restore: Restore, clock: FakeClock
) -> None:
    await post(economy, 25)
    clock.advance(86_400)

    again = restore()

    assert usage(again.journal, clock.now()).spent_today == 0
    assert isinstance(await post(again, 25), Accepted)


async def test_a_journal_ahead_of_its_mark_is_as_it_should_be(
    economy: Economy,
) -> None:
    economy.mark.begin()
    old = economy.marks[-1]
    await post(economy, 20)
    economy.marks.append(old)

    economy.mark.begin()

    assert economy.log.named("journal.is_older") == []
    assert economy.marks[-1].posts == 1


async def test_a_mark_is_written_only_when_something_moved(economy: Economy) -> None:
    economy.mark.begin()
    economy.clock.advance(60)
    economy.mark.note()

    assert len(economy.marks) == 1


def test_of_an_unknown_past_all_limits_count_as_used_up(
    economy: Economy, clock: FakeClock
) -> None:
    with economy.journal.tx("begun"):
        carry_limits(economy.journal, used_up(LIMITS, clock.now()), clock.now())

    at = usage(economy.journal, clock.now())
    assert (at.posts_today, at.spent_today, at.balance) == (10, 50, 100)
    clock.advance(86_400)
    assert usage(economy.journal, clock.now()).posts_today == 0


async def test_a_clock_that_goes_over_midnight_and_back_gives_nothing_twice(
    economy: Economy, clock: FakeClock
) -> None:
    await post(economy, 25)
    await post(economy, 25)

    clock.step(86_400)
    await post(economy, 10)
    clock.step(-86_400)

    assert isinstance(await post(economy, 1), OverBudget)
    assert usage(economy.journal, clock.now()).spent_today == 60


def test_the_mark_lives_with_the_identity(tmp_path: Path, economy: Economy) -> None:
    path = tmp_path / "identity.json"
    identity = Identity(AgentId("agent-1"), AccessToken("tok"), "http://n.example")
    save_identity(path, identity)
    assert load_mark(path) is None

    economy.mark.save = lambda mark: save_mark(path, mark)
    economy.mark.begin()

    mark = load_mark(path)
    assert mark
    assert mark.head == economy.journal.ledger.recent(1)[0].hash
    assert load_identity(path) == identity
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_mark_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    path = tmp_path / "identity.json"
    save_identity(path, Identity(AgentId("a"), AccessToken("t"), "http://n"))
    path.write_text(path.read_text().replace("{", '{"journal": {"entries": 3},', 1))

    with pytest.raises(StateError, match="damaged"):
        load_mark(path)
