"""A network that plays a script, and the economy around a real journal."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import anyio
import pytest

from journeyman.domain.outcomes import (
    Confirmed,
    NotSent,
    Outcome,
    Refusal,
    Refused,
    Unknown,
)
from journeyman.domain.tasks import AgentId, IdempotencyKey, NewTask, Task, TaskId
from journeyman.economy.bookkeeping import book_starter
from journeyman.economy.budget import Limits
from journeyman.economy.catalogue import Catalogue, Offers, Pack, Packs
from journeyman.economy.mark import MarkKeeper
from journeyman.economy.posting import Posting, PostingRules
from journeyman.economy.reconcile import BalanceWatch
from journeyman.economy.topup import TopUp, Wording
from journeyman.journal.identity import JournalMark
from journeyman.journal.journal import Journal
from journeyman.network.answers import CheckoutRequest, CheckoutSession, Posted
from journeyman.network.service_model.listing import Listing
from journeyman.testing import FakeClock, FakeRandomness, RecordingLog

T = TypeVar("T")

ME = AgentId("agent-1")
PAGE = "https://pay.example/1"
OPENED = Confirmed(CheckoutSession(ok=True, session_id="cs_1", url=PAGE))
REFUSED = Refused(Refusal.UNAFFORDABLE, "too poor", 402)
NOT_SENT = NotSent("no connection")
UNKNOWN = Unknown("timed out")
LIMITS = Limits(
    reserve_credits=20,
    low_credits=0,
    per_post_credits=25,
    per_hour_credits=50,
    per_day_credits=50,
    per_month_credits=500,
    posts_per_day=10,
    per_strategy_credits=50,
    cost_per_day_credits=500,
    unexplained_per_day_credits=50,
    topup_per_day_cents=500,
    topup_per_month_cents=2000,
)
USUAL = Pack(price_id="p1", credits=250, cents=250, plan="pack")
RULES = PostingRules(base_url="https://network", enabled=True, verify_first=False)


def posted(
    task_id: str | None = "task-1", balance: int | None = None
) -> Confirmed[Posted]:
    return Confirmed(Posted(TaskId(task_id) if task_id else None, balance))


def new_task(reward: int = 5, title: str = "Count") -> NewTask:
    return NewTask(title=title, description="Count the words", reward=reward)


class ScriptedNetwork:
    """Answers posts and checkouts from a script, when it is let to."""

    def __init__(self, journal: Journal) -> None:
        self.posts: list[tuple[NewTask, IdempotencyKey]] = []
        self.checkouts: list[tuple[CheckoutRequest, IdempotencyKey]] = []
        self.post_answers: list[Outcome[Posted]] = []
        self.checkout_answers: list[Outcome[CheckoutSession]] = []
        self.shown: list[Task] = []
        """What the marketplace lists."""
        self.looks = 0
        self.states_when_called: list[list[str]] = []
        self.may_answer = anyio.Event()
        self.may_answer.set()
        self._journal = journal

    async def post_task(self, new: NewTask, key: IdempotencyKey) -> Outcome[Posted]:
        self.posts.append((new, key))
        await self._work()
        return self.post_answers.pop(0)

    async def public_marketplace(self) -> Outcome[Listing]:
        self.looks += 1
        return Confirmed(Listing(tuple(self.shown), 0, len(self.shown), ""))

    async def marketplace_tasks(self, limit: int | None) -> Outcome[Listing]:
        del limit
        return NOT_SENT

    async def create_checkout(
        self, request: CheckoutRequest, key: IdempotencyKey
    ) -> Outcome[CheckoutSession]:
        self.checkouts.append((request, key))
        await self._work()
        return self.checkout_answers.pop(0)

    async def _work(self) -> None:
        """Look, as another process would, at what is on disk before answering."""
        path, now = self._journal.database.path, FakeClock().now
        with Journal(path, now, read_only=True) as reader:
            spends = reader.spends.recent(99)
        self.states_when_called.append([spend.state.value for spend in spends])
        await self.may_answer.wait()


class Economy:
    """The economy of one agent with its 100 starter credits."""

    def __init__(
        self,
        journal: Journal,
        clock: FakeClock,
        limits: Limits,
        rules: PostingRules = RULES,
        marks: list[JournalMark] | None = None,
        packs: tuple[Pack, ...] = (),
    ) -> None:
        self.journal, self.clock = journal, clock
        self.offers = Offers((), is_whole=True)
        """What the network's documents offer."""
        self.times_read = 0
        self.log = RecordingLog()
        self.network = ScriptedNetwork(journal)
        self.watch = BalanceWatch(journal, self.log)
        self.randomness = randomness = FakeRandomness()
        self.marks: list[JournalMark] = [] if marks is None else marks
        self.mark = MarkKeeper(
            journal=journal,
            load=lambda: self.marks[-1] if self.marks else None,
            save=self.marks.append,
            clock=clock,
            log=self.log,
        )
        self.posting = Posting(
            network=self.network,
            journal=journal,
            mark=self.mark,
            watch=self.watch,
            limits=limits,
            rules=rules,
            clock=clock,
            randomness=randomness,
            log=self.log,
        )
        self.top_up = TopUp(
            network=self.network,
            journal=journal,
            mark=self.mark,
            limits=limits,
            catalogue=Catalogue(
                packs=Packs(configured=packs, usual=USUAL, journal=journal),
                read_offers=self._read_offers,
                log=self.log,
            ),
            wording=Wording(product_label=None, source="us"),
            expires_after=timedelta(days=1),
            base_url=rules.base_url,
            clock=clock,
            randomness=randomness,
            log=self.log,
        )

    async def _read_offers(self) -> Offers:
        self.times_read += 1
        await anyio.lowlevel.checkpoint()
        return self.offers

    @property
    def balance(self) -> int:
        return self.journal.ledger.balance()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def journal(journal_path: Path, clock: FakeClock) -> Iterator[Journal]:
    with Journal(journal_path, clock.now) as opened:
        with opened.tx("starter"):
            book_starter(opened.ledger, None)
        yield opened


@pytest.fixture
def economy(journal: Journal, clock: FakeClock) -> Economy:
    return Economy(journal, clock, LIMITS)
