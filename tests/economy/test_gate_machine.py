"""Any sequence of posts, crashes, clocks and lost answers keeps every limit.

The network beside it knows what it took; the journal has to cover that, whatever of it
was ever answered.
"""

import shutil
import tempfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)
from tests.economy.conftest import NOT_SENT, REFUSED, UNKNOWN, Economy, posted

from journeyman.domain.outcomes import Outcome
from journeyman.domain.tasks import NewTask, SpendId
from journeyman.economy.bookkeeping import book_starter
from journeyman.economy.budget import OWNER, Limit, Limits, Period, Unit, uses
from journeyman.economy.posting import Accepted, PlannedPost
from journeyman.journal.journal import Journal
from journeyman.journal.spends import Spend, SpendState
from journeyman.network.answers import Posted
from journeyman.testing import FakeClock, FakeRandomness

LIMITS = Limits(
    reserve_credits=10,
    low_credits=20,
    per_post_credits=12,
    per_hour_credits=20,
    per_day_credits=30,
    per_month_credits=60,
    posts_per_day=6,
    per_strategy_credits=15,
    cost_per_day_credits=0,
    unexplained_per_day_credits=1000,
    topup_per_day_cents=0,
    topup_per_month_cents=0,
)
PLAN = Limit(
    setting="posting.plan.p.per_month_credits",
    most=25,
    unit=Unit.CREDITS,
    period=Period.MONTH,
    poster="plan:p",
)
START = datetime(2026, 1, 30, 22, 30, tzinfo=UTC)
"""An hour and a half before a day ends, and a day and a half before a month does."""
ANSWERS = ("yes", "no", "not sent", "lost, taken", "lost, not taken", "killed")
TAKEN = {"yes", "lost, taken", "killed"}
"""What the network did: of a request that a kill cut off, the worse for us."""


class Killed(BaseException):
    """The process ends here."""


class Gate(RuleBasedStateMachine):
    """One agent, its journal in a file, and a network that remembers."""

    template: Path
    """An empty journal, to begin with."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.clock = FakeClock(START)
        self.taken: Counter[str] = Counter()
        self.slots: Counter[str] = Counter()
        self.number = 0
        self.randomness = FakeRandomness()
        self._open()
        with self.journal.tx("starter"):
            book_starter(self.journal.ledger, None)

    def teardown(self) -> None:
        self.journal.close()
        self.folder.cleanup()

    def _open(self) -> None:
        path = Path(self.folder.name) / "journal.db"
        if not path.exists():
            shutil.copy(self.template, path)
        self.journal = Journal(path, self.clock.now)
        self.economy = Economy(self.journal, self.clock, LIMITS)
        self.economy.posting.randomness = self.randomness
        self.economy.posting.recover()

    @rule(
        reward=st.integers(1, 13),
        poster=st.sampled_from([OWNER, "a", "b"]),
        answer=st.sampled_from(ANSWERS),
    )
    def post(self, reward: int, poster: str, answer: str) -> None:
        self._post(reward, poster, answer, None)

    @rule(
        slot=st.integers(1, 4),
        reward=st.integers(1, 12),
        answer=st.sampled_from(ANSWERS),
    )
    def post_by_plan(self, slot: int, reward: int, answer: str) -> None:
        tries = self.journal.spends.of_slot(f"p:{slot}")
        if all(one.state is SpendState.RELEASED for one in tries):
            spend_id = SpendId(f"post_{slot}_{len(tries)}")
            planned = PlannedPost(slot=f"p:{slot}", spend_id=spend_id, limit=PLAN)
            self._post(reward, "plan:p", answer, planned)

    @rule()
    def restart(self) -> None:
        self.journal.close()
        self._open()

    @rule(hours=st.sampled_from([0.5, 1, 7, 24, 24 * 31]))
    def wait(self, hours: float) -> None:
        self.clock.advance(hours * 3_600)

    @rule(hours=st.sampled_from([-24 * 31, -24, -1, 1, 24]))
    def set_clock(self, hours: float) -> None:
        self.clock.step(hours * 3_600)

    def _post(
        self, reward: int, poster: str, answer: str, planned: PlannedPost | None
    ) -> None:
        self.number += 1
        network = self.economy.network

        async def work() -> None:
            if answer in TAKEN:
                self.taken[poster] += reward
                self.slots[planned.slot if planned else ""] += 1
            if answer == "killed":
                raise Killed

        network._work = work  # type: ignore[method-assign]
        lost = {"lost, taken": UNKNOWN, "lost, not taken": UNKNOWN}
        said: dict[str, Outcome[Posted]] = {"no": REFUSED, "not sent": NOT_SENT, **lost}
        network.post_answers = [said.get(answer, posted(f"task-{self.number}"))]
        new = NewTask(title=f"t{self.number}", description="d", reward=reward)
        available = self.journal.ledger.balance()
        available -= self.journal.spends.reserved_credits()
        try:
            done = anyio.run(self.economy.posting.post, new, poster, planned)
        except Killed:
            self.restart()
            return
        floor = LIMITS.reserve_credits if poster == OWNER else LIMITS.low_credits
        assert not isinstance(done, Accepted) or available - reward >= floor

    # -- what always holds ------------------------------------------------------------

    @property
    def counted(self) -> list[Spend]:
        every = self.journal.spends.recent(10_000)
        return [one for one in every if one.state is not SpendState.RELEASED]

    @invariant()
    def no_period_holds_more_than_its_limit(self) -> None:
        for form, most in (
            ("%Y-%m-%dT%H", LIMITS.per_hour_credits),
            ("%Y-%m-%d", LIMITS.per_day_credits),
            ("%Y-%m", LIMITS.per_month_credits),
        ):
            sums: Counter[str] = Counter()
            for one in self.counted:
                sums[one.at.strftime(form)] += one.credits
            assert not sums or max(sums.values()) <= most
        days = Counter(one.at.date() for one in self.counted)
        assert not days or max(days.values()) <= LIMITS.posts_per_day

    @invariant()
    def no_poster_spends_more_than_its_limit(self) -> None:
        days: Counter[tuple[object, str]] = Counter()
        months: Counter[str] = Counter()
        for one in self.counted:
            if one.strategy in {"a", "b"}:
                days[one.at.date(), one.strategy] += one.credits
            if one.strategy == PLAN.poster:
                months[one.at.strftime("%Y-%m")] += one.credits
        assert not days or max(days.values()) <= LIMITS.per_strategy_credits
        assert not months or max(months.values()) <= PLAN.most

    @invariant()
    def what_the_network_took_is_booked_or_held(self) -> None:
        covered: Counter[str] = Counter()
        for one in self.counted:
            covered[one.strategy] += one.credits
        assert self.taken <= covered

    @invariant()
    def each_accepted_post_is_booked_once(self) -> None:
        settled = [one for one in self.counted if one.state is SpendState.SETTLED]
        held = sum(one.credits for one in self.counted) - sum(
            one.credits for one in settled
        )
        ledger = self.journal.ledger
        assert ledger.balance() == 100 - sum(one.credits for one in settled)
        assert self.journal.spends.reserved_credits() == held
        assert ledger.head()[0] == 1 + len(settled)
        assert ledger.first_fault() is None

    @invariant()
    def a_slot_is_taken_once(self) -> None:
        assert max((n for slot, n in self.slots.items() if slot), default=0) <= 1

    @invariant()
    def what_is_left_is_told_as_it_is(self) -> None:
        for one in uses(LIMITS, self.journal, self.clock.now(), [PLAN]):
            assert min(one.used, one.held, one.left) >= 0
            assert one.used + one.held <= one.limit.most or one.left == 0


def _try(template: Path, *, examples: int, steps: int) -> None:
    Gate.template = template
    limits = settings(
        max_examples=examples,
        stateful_step_count=steps,
        derandomize=True,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(Gate, settings=limits)


def test_no_sequence_breaks_a_limit_loses_a_hold_or_books_twice(
    journal_template: Path,
) -> None:
    _try(journal_template, examples=1, steps=8)


@pytest.mark.endurance
@pytest.mark.timeout(600)
def test_no_long_sequence_does_so_either(journal_template: Path) -> None:
    _try(journal_template, examples=80, steps=50)
