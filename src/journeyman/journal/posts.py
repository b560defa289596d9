"""What became of the tasks that we posted, as far as the network shows it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BeforeValidator

from journeyman.domain.tasks import JSON, NewTask, SpendId, TaskId
from journeyman.journal.codec import JsonColumn, Moment, from_json, load
from journeyman.journal.database import Database, Now


class PostState(StrEnum):
    """How far a post is."""

    #: Accepted; no listing has shown it yet.
    UNSEEN = "not seen"
    #: Anybody may claim it, or its word for its state is not known.
    LISTED = "listed"
    #: Somebody has claimed it.
    IN_WORK = "in work"
    #: Somebody has done it: its reward has left the escrow.
    DONE = "done"
    #: Expired, cancelled or rejected; its reward was not seen to come back.
    OVER = "over"
    #: No listing shows it, and nothing says why.
    ABSENT = "not listed"
    #: Its reward came back.
    REFUNDED = "refunded"


def _result(text: str | None) -> JSON:
    value: JSON = None if text is None else from_json(text)
    return value


@dataclass(frozen=True, kw_only=True, slots=True)
class FollowedPost:
    """A post that the network accepted, and what is known of it since."""

    spend_id: SpendId
    task_id: TaskId
    credits: int
    """Its reward."""
    strategy: str
    """Who asked for it."""
    request: JsonColumn
    at: Moment
    state: PostState = PostState.UNSEEN
    status: str = ""
    """The network's own word; empty where it shows none."""
    result: Annotated[Any, BeforeValidator(_result)] = None
    """What was handed in for it, as JSON; None: nothing is shown."""

    @property
    def task(self) -> NewTask:
        """As it was asked for."""
        return NewTask(**{**self.request, "tags": tuple(self.request["tags"])})


_FOLLOWED = (
    "SELECT spends.spend_id, task_id, credits, strategy, request, spends.at, "
    "coalesce(posts.state, 'not seen') AS state, coalesce(status, '') AS status, "
    "result FROM spends LEFT JOIN posts USING (spend_id) "
    "WHERE kind = 'post' AND spends.state = 'settled' AND task_id != '' "
)


@dataclass(eq=False)
class Posts:
    """The table of what listings showed of our posts."""

    database: Database
    now: Now

    def open(self, since: datetime, most: int) -> list[FollowedPost]:
        """Return the posts whose end is not known yet, the newest first."""
        rows = self.database.rows(
            f"{_FOLLOWED} AND ended_at IS NULL AND spends.at >= ? "
            "ORDER BY spends.at DESC LIMIT ?",
            *(since.isoformat(), most),
        )
        return [load(FollowedPost, row) for row in rows]

    def get(self, spend_id: SpendId) -> FollowedPost | None:
        """Return a post; None unless the network accepted and named it."""
        row = self.database.row(f"{_FOLLOWED} AND spend_id = ?", spend_id)
        return load(FollowedPost, row) if row else None

    def of_task(self, task_id: TaskId) -> FollowedPost | None:
        """Return the post that the network calls so; None where it is not ours."""
        row = self.database.row(f"{_FOLLOWED} AND task_id = ?", task_id)
        return load(FollowedPost, row) if row else None

    def with_new_results(self, strategy: str) -> list[FollowedPost]:
        """Return a strategy's posts with a result that it was not given yet.

        A result that somebody still looks at may not be the last.
        """
        rows = self.database.rows(
            f"{_FOLLOWED} AND strategy = ? AND result IS NOT NULL "
            "AND handed_at IS NULL AND posts.state IN ('done', 'listed') "
            "ORDER BY spends.at",
            strategy,
        )
        return [load(FollowedPost, row) for row in rows]

    def note_handed(self, posts: Sequence[FollowedPost]) -> None:
        """Keep that results are handed to their strategy, inside a transaction."""
        now = self.now().isoformat()
        for post in posts:
            self.database.write(
                "UPDATE posts SET handed_at = ? WHERE spend_id = ?",
                *(now, post.spend_id),
            )

    def in_state(self, state: PostState) -> list[FollowedPost]:
        """Return the posts in a state, the newest first."""
        rows = self.database.rows(
            f"{_FOLLOWED} AND posts.state = ? ORDER BY spends.at DESC", state
        )
        return [load(FollowedPost, row) for row in rows]

    def note(
        self,
        spend_id: SpendId,
        state: PostState,
        *,
        status: str,
        result: JSON,
        is_ended: bool,
    ) -> None:
        """Keep what a listing, or a balance, showed of a post, inside a transaction."""
        now = self.now().isoformat()
        self.database.upsert(
            "posts",
            "spend_id",
            spend_id=spend_id,
            state=state,
            status=status,
            result=None if result is None else json.dumps(result),
            seen_at=now,
            ended_at=now if is_ended else None,
        )
