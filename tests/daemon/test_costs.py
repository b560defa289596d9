"""What work costs its owner outside of the network: booked, shown, and no credits."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.daemon.simulated import Household, Script

from journeyman.daemon.commands import OwnerCommands
from journeyman.daemon.story import outlook
from journeyman.domain.tasks import TaskState
from journeyman.economy.bookkeeping import cost_today
from journeyman.journal.database import CommitObserver, DiskRefusal
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import EntryKind, SumBy
from journeyman.lifecycle.context import Costs
from journeyman.testing import FakeClock, FakeRandomness, RecordingLog

SPENDER = """
    from journeyman import Decline, Strategy


    class Spender(Strategy):
        api, version = 1, "1"
        kinds = {"work"}

        async def run(self, task, ctx):
            ctx.log.info("seen", cost_today=ctx.budget.cost_today)
            ctx.report_cost(0.0000011, "one token")
            ctx.report_cost(0.5, "many tokens")
            if task.title == "odd":
                raise Decline("not for us")
            return "x"
"""


@pytest.fixture
def home(tmp_path: Path) -> Household:
    made = Household(tmp_path)
    made.write("spender.py", SPENDER)
    made.changes["work.slots"] = 1
    return made


def _living(seconds: float) -> Script:
    async def owner(_commands: OwnerCommands) -> None:
        await anyio.sleep(seconds)

    return owner


def test_costs_are_booked_whatever_becomes_of_the_task(home: Household) -> None:
    home.network.offer(1)
    home.network.offer(1, title="odd")

    home.live(_living(300))

    with Journal(home.root / "data" / "journal.db", FakeClock().now) as journal:
        shares = {one.group: one for one in journal.ledger.sums(SumBy.STRATEGY)}
        entries = journal.ledger.recent(100)
        assert journal.ledger.first_fault() is None
        assert journal.ledger.balance() == 102
    assert (shares["spender"].received, shares["spender"].paid) == (2, 0)
    assert shares["spender"].cost == 2 * 500_002
    notes = [entry.note for entry in entries if entry.kind is EntryKind.COST]
    assert sorted(notes) == ["many tokens", "many tokens", "one token", "one token"]


def test_a_strategy_sees_what_it_has_cost_today(home: Household) -> None:
    home.network.offer(2)
    home.live(_living(300))
    home.seconds += 86_400
    home.network.offer(1)
    home.live(_living(300))

    seen = [one["cost_today"] for one in home.said("seen")]
    assert seen == [0.0, pytest.approx(0.500002), 0.0]


def test_a_strategy_is_told_the_owners_date(home: Household) -> None:
    seen = 'seen", today=str(ctx.today), now=str(ctx.now),'
    home.write("spender.py", SPENDER.replace('seen",', seen))
    home.changes["budget.time_zone"] = "Pacific/Kiritimati"  # 14 hours ahead of UTC
    home.seconds += 12 * 3_600
    home.network.offer(1)

    home.live(_living(300))

    (told,) = home.said("seen")
    tomorrow = datetime.fromisoformat(told["now"]).date() + timedelta(days=1)
    assert told["today"] == str(tomorrow)


def test_a_strategy_that_has_cost_its_limit_rests_until_the_next_day(
    home: Household,
) -> None:
    home.changes["budget.cost_per_day_credits"] = 1
    home.network.offer(5)
    home.live(_living(300))
    assert len(home.said("seen")) == 2

    home.seconds += 86_400
    home.live(_living(300))
    assert len(home.said("seen")) == 4


def test_a_cost_limit_that_stops_claims_is_named_by_why(home: Household) -> None:
    home.changes["budget.cost_per_day_credits"] = 1
    home.network.offer(5)

    async def look(commands: OwnerCommands) -> None:
        await anyio.sleep(300)
        journal, now = commands.agent.journal, commands.agent.environment.clock.now()
        [waiting, *_] = journal.tasks.recent(TaskState.WANTED, 5)
        budget: dict[str, Any] = commands.budget()

        told = outlook(waiting, now, budget["costs"])
        [cause] = [one for one in commands.parts.find_causes() if "cost" in one.name]

        assert "00:00 UTC: spender has cost 1 credits today" in told
        assert "budget.cost_per_day_credits is 1" in told
        assert cause.name == "over_cost"
        assert cause.message.startswith("spender cost as much today as")

    home.live(look)


class FullDisk(CommitObserver):
    """Refuses as long as it is told."""

    def __init__(self) -> None:
        self.is_full = True

    def before(self, label: str) -> None:
        del label
        if self.is_full:
            raise DiskRefusal("database or disk is full")

    def after(self, label: str) -> None:
        del label


def test_a_cost_that_a_full_disk_refuses_is_booked_with_the_next(
    tmp_path: Path,
) -> None:
    clock, log, disk = FakeClock(), RecordingLog(), FullDisk()
    with Journal(tmp_path / "journal.db", clock.now) as journal:
        costs = Costs(
            journal=journal, clock=clock, randomness=FakeRandomness(), log=log
        )
        journal.database.observe(disk)
        costs.book("spender", "t1", 0.5, "first")
        lost = cost_today(journal.ledger, "spender", clock.now())
        disk.is_full = False
        costs.book("spender", "t2", 0.25, "second")

        assert (lost, cost_today(journal.ledger, "spender", clock.now())) == (0.0, 0.75)
