"""What becomes of our posts, as far as the network shows it.

The contract names no endpoint for that. So each listing that is read anyway is looked
through for them, and where discovery does not show them, the listings are asked for
now and then. What is shown ends the escrow of a post: it was done, or its reward came
back. What is not shown stays open, and is never guessed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

import anyio

from journeyman.domain.clock import Clock
from journeyman.domain.outcomes import Confirmed
from journeyman.domain.tasks import JSON, Progress, SpendId, Task
from journeyman.economy import events
from journeyman.economy.bookkeeping import book_paid_out, book_refund
from journeyman.economy.posting import PostingNetwork
from journeyman.economy.reconcile import BalanceWatch, settle_post, tell_settled
from journeyman.journal.journal import Journal
from journeyman.journal.posts import FollowedPost, PostState
from journeyman.journal.spends import Spend, SpendState
from journeyman.network.sightings import Sighting, read_sighting
from journeyman.observability.events import Log

MOST_FOLLOWED = 500
"""Posts that are looked for, the newest: with a listing of thousands, so many take
about a millisecond."""
_STATES = {
    None: PostState.LISTED,
    Progress.CLAIMED: PostState.IN_WORK,
    Progress.IN_REVIEW: PostState.IN_WORK,
    Progress.DONE: PostState.DONE,
    Progress.PAID: PostState.DONE,
    Progress.REJECTED: PostState.OVER,
    Progress.GONE: PostState.OVER,
}


@dataclass(kw_only=True, eq=False)
class PostWatch:
    """Follows the posts whose end is not known yet."""

    network: PostingNetwork
    journal: Journal
    watch: BalanceWatch
    days: float
    """A post is followed for so long."""
    clock: Clock
    log: Log
    _shown: set[SpendId] = field(init=False, default_factory=set)
    """The posts that a listing has shown since the last look."""

    def note(self, tasks: Sequence[Task]) -> bool:
        """Look through a listing, or a part of it, for posts of ours.

        Returns whether there are any.
        """
        has_ours = self._find_unnamed(tasks)
        followed = {one.task_id: one for one in self._open()}
        for task in tasks if followed else ():
            if post := followed.get(task.id):
                has_ours = True
                self._shown.add(post.spend_id)
                self._saw(post, read_sighting(task))
        return has_ours

    async def look(self) -> None:
        """Ask for the listings, if discovery shows not all of the posts.

        Raises:
            StateError: the disk fails.
        """
        missing = [one for one in self._open() if one.spend_id not in self._shown]
        self._shown.clear()
        if not (missing or self._unnamed()):
            return
        outcomes = (
            await self.network.public_marketplace(),
            await self.network.marketplace_tasks(None),
        )
        read = [one.value for one in outcomes if isinstance(one, Confirmed)]
        for listing in read:
            for tasks in listing.portions():
                self.note(tasks)
                await anyio.lowlevel.checkpoint()
        is_whole = bool(read) and not any(one.next or one.problem for one in read)
        for post in missing:
            if is_whole and post.spend_id not in self._shown:
                self._keep(post, _absent(post), post.status, post.result)

    # -- posts whose answer was lost, or named no task ---------------------------------

    def _unnamed(self) -> list[Spend]:
        since = self.clock.now() - timedelta(days=self.days)
        return self.journal.spends.unnamed_posts(since, MOST_FOLLOWED)

    def _find_unnamed(self, tasks: Sequence[Task]) -> bool:
        """Look for posts of which no answer named the task, by what was asked for."""
        wanted = {_look_of(one.request) for one in self._unnamed()}
        found = [
            task
            for task in (tasks if wanted else ())
            if (task.title, task.description, task.reward) in wanted
        ]
        for task in found:
            self._name(task)
        return bool(found)

    def _name(self, task: Task) -> None:
        """Note which post a listed task is; it was accepted, so it is settled."""
        spend = self.journal.spends.post_listed_as(task)
        if spend is None or spend.state is SpendState.RESERVED:
            return  # Its answer is on the way, and may name the task.
        is_lost = spend.state is SpendState.UNKNOWN
        # A balance that is on its way now may be from before, or from after.
        with self.watch.window(), self.journal.tx("post named"):
            if is_lost:
                reason = "the marketplace lists it"
                settle_post(self.journal, spend, reason, cause="listing")
            self.journal.spends.name_post(spend.spend_id, task.id)
        if is_lost:
            tell_settled(self.journal, self.log, replace(spend, task_id=task.id))

    # -- posts that are named ----------------------------------------------------------

    def _open(self) -> list[FollowedPost]:
        since = self.clock.now() - timedelta(days=self.days)
        return self.journal.posts.open(since, MOST_FOLLOWED)

    def _saw(self, post: FollowedPost, sighting: Sighting) -> None:
        """Keep what is new about a post, and book what it means for its escrow."""
        state = _STATES[sighting.progress]
        if sighting.is_refunded:
            state = PostState.REFUNDED
        result = post.result if sighting.result is None else sighting.result
        self._keep(post, state, sighting.status, result, sighting.refund)

    def _keep(
        self,
        post: FollowedPost,
        state: PostState,
        status: str,
        result: JSON,
        refund: float | None = None,
    ) -> None:
        if (state, status, result) == (post.state, post.status, post.result):
            return
        # A balance that is on its way now may be from before, or from after.
        with self.watch.window(), self.journal.tx("post seen"):
            if state is PostState.DONE:
                book_paid_out(self.journal.ledger, post, status)
            elif state is PostState.REFUNDED:
                book_refund(self.journal.ledger, post, cause="listing", named=refund)
            self.journal.posts.note(
                post.spend_id,
                state,
                status=status,
                result=result,
                # A result may be shown later than that it was done.
                is_ended=state is PostState.REFUNDED
                or (state is PostState.DONE and result is not None),
            )
        if state is not post.state:
            self.log.emit(
                events.POST_CHANGED,
                state=state,
                status=status,
                spend_id=post.spend_id,
                task_id=post.task_id,
            )


def _look_of(request: Mapping[str, JSON]) -> tuple[JSON, JSON, JSON]:
    return request.get("title"), request.get("description"), request.get("reward")


def _absent(post: FollowedPost) -> PostState:
    """Return the state of a post that no listing shows: an end that was seen stays."""
    says_more = (PostState.DONE, PostState.OVER)
    return post.state if post.state in says_more else PostState.ABSENT
