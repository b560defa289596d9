"""The first post on a network: made alone, and looked at before a second.

The contract says that endpoint 10 "creates (posts) a task" and shows neither what that
costs nor where the task appears (contract section 4). So one post shows it: a second
is sent only after a listing has shown the first, or the balance moved by its reward.
"""

from dataclasses import dataclass
from typing import Protocol

from journeyman.domain import JSON, Clock, Confirmed, Outcome, SpendId
from journeyman.economy import events
from journeyman.economy.budget import OverBudget
from journeyman.journal import Journal, Spend, SpendKind, SpendState
from journeyman.network import Listing
from journeyman.observability import Log

FIRST_POSTS = "first_posts"
"""The fact that holds them: one for each network, by its address."""
LOOK_AGAIN_SECONDS = 30.0
"""A post that is not shown yet is looked for at most this often."""


class Shelf(Protocol):
    """Where a post of ours may be seen."""

    async def public_marketplace(self) -> Outcome[Listing]:
        """Contract endpoint 3."""
        ...

    async def marketplace_tasks(self, limit: int | None) -> Outcome[Listing]:
        """Contract endpoint 6."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class PostingRules:
    """Whether tasks may be posted, and how the first is."""

    base_url: str
    """The network on which they are."""
    enabled: bool
    look_at_first: bool


class FirstPost:
    """Remembers the first post on a network, and whether it was seen."""

    def __init__(
        self,
        *,
        shelf: Shelf,
        journal: Journal,
        rules: PostingRules,
        clock: Clock,
        log: Log,
    ) -> None:
        self._shelf = shelf
        self._journal = journal
        self._rules = rules
        self._clock = clock
        self._log = log
        self._looked_at = float("-inf")

    def obstacle(self) -> OverBudget | None:
        """Say why no post may be sent now; None when one may."""
        if not self._rules.enabled:
            return OverBudget("posting.enabled", "posting is switched off")
        waiting = self._waiting()
        if not self._rules.look_at_first or waiting is None:
            return None
        return OverBudget(
            "posting.look_at_first",
            f"the first post on this network ({waiting}) was not seen yet, neither in "
            "a listing nor in the balance; it is looked for again when you post again",
        )

    def hold(self, spend_id: SpendId) -> None:
        """Note a post that is about to leave, inside the transaction of its intent."""
        # A version without this rule may have posted here.
        if self._note() is None and not self._journal.spends.has_settled(
            SpendKind.POST
        ):
            self._keep({"spend_id": spend_id, "seen": None})

    def settle(self, spend: Spend, shown: int | None) -> None:
        """Note that a post was accepted and booked; `shown` is the balance, if any."""
        if self._waiting() != spend.spend_id:
            return
        if shown is not None and shown == self._journal.ledger.balance():
            self._seen(spend.spend_id, "balance")

    def release(self, spend_id: SpendId) -> None:
        """Note that a post was definitely not made: the next one is the first."""
        if self._waiting() == spend_id:
            with self._journal.tx("first post not made"):
                self._keep(None)

    async def look(self, *, at_once: bool = False) -> None:
        """Look for the first post, if it was not seen; now and then, or at once."""
        waiting = self._waiting()
        spend = self._journal.spends.get(SpendId(waiting)) if waiting else None
        if spend is None or not self._rules.look_at_first:
            return
        if spend.state is SpendState.RELEASED:
            self.release(spend.spend_id)
        elif spend.state is SpendState.SETTLED and spend.reason:
            self._seen(spend.spend_id, "balance")  # by a difference, see reconcile
        elif spend.state is not SpendState.HELD and (at_once or self._is_time()):
            await self._look_for(spend)

    def _is_time(self) -> bool:
        return self._clock.monotonic() - self._looked_at >= LOOK_AGAIN_SECONDS

    async def _look_for(self, spend: Spend) -> None:
        self._looked_at = self._clock.monotonic()
        listings = (
            await self._shelf.public_marketplace(),
            await self._shelf.marketplace_tasks(None),
        )
        read = [one.value for one in listings if isinstance(one, Confirmed)]
        if any(map(self._shows_it, read)):
            self._seen(spend.spend_id, "listing")
        elif read:
            self._log.emit(events.FIRST_POST_UNSEEN, spend_id=spend.spend_id)

    def _shows_it(self, listing: Listing) -> bool:
        return any(self._journal.spends.is_our_post(task) for task in listing.tasks)

    def _seen(self, spend_id: SpendId, how: str) -> None:
        with self._journal.tx("first post seen"):
            self._keep({"spend_id": spend_id, "seen": how})
        self._log.emit(events.FIRST_POST_SEEN, spend_id=spend_id, how=how)

    # -- the fact ---------------------------------------------------------------

    def _waiting(self) -> str | None:
        """Give the first post that was sent and not seen."""
        note = self._note()
        return None if note is None or note.get("seen") else str(note["spend_id"])

    def _note(self) -> dict[str, JSON] | None:
        note = self._all().get(self._rules.base_url)
        return note if isinstance(note, dict) else None

    def _keep(self, note: dict[str, JSON] | None) -> None:
        every = {**self._all(), self._rules.base_url: note}
        self._journal.facts.put(FIRST_POSTS, every)

    def _all(self) -> dict[str, JSON]:
        every = self._journal.facts.get(FIRST_POSTS)
        return every if isinstance(every, dict) else {}
