"""Strategies in shadow: what they would have decided, and who was put to work since."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from journeyman.domain.tasks import TaskId, TaskState
from journeyman.journal.codec import dump, load
from journeyman.journal.database import Database, Now, marks
from journeyman.journal.facts import Facts
from journeyman.journal.ledger import EntryKind
from journeyman.journal.recordings import Opinion

MOST_VERDICTS = 100_000
"""So many are kept: about 15 MB, and more than a scoreboard needs."""
_STATE = "strategies.shadow"
_ENDED = (TaskState.COMPLETED, TaskState.FAILED, TaskState.REJECTED)


@dataclass(frozen=True, kw_only=True, slots=True)
class ShadowVerdict:
    """What a strategy in shadow said to one task."""

    strategy: str
    fingerprint: str
    """Of its files and its settings."""
    task_id: TaskId
    active: str
    """The active strategy that got the task; empty: nobody."""
    wanted: bool
    reason: str
    offer: float = 0.0
    """What it expected to earn, in credits; 0 for a no."""
    failed: bool = False
    """Its `wants` raised, or gave no verdict."""
    seconds: float = 0.0
    """That its `wants` took."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ShadowScore:
    """How a strategy did in shadow, as far as that can be known without working.

    It counts the tasks that it was asked for as it is now: what it said before its file
    or its settings changed is in `outdated` only.
    """

    strategy: str
    asked: int = 0
    since: str = ""
    """When it was first asked, ISO 8601; empty: never."""
    wanted: int = 0
    agreed: int = 0
    """Tasks that both it and an active strategy wanted, or neither."""
    alone: int = 0
    """It wanted them, and no active strategy did."""
    missed: int = 0
    """An active strategy wanted them, and it did not."""
    expected_credits: float = 0.0
    """What it expected to earn by the tasks that it wanted."""
    active_completed: int = 0
    """Tasks that it wanted, too, and that active strategies were paid for."""
    active_credits: int = 0
    """What they earned by them."""
    missed_credits: int = 0
    """What active strategies earned by tasks that it did not want."""
    errors: int = 0
    """Times that its `wants` failed."""
    mean_seconds: float = 0.0
    """That its `wants` took."""
    longest_seconds: float = 0.0
    outdated: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class PromotedStrategy:
    """When a strategy came out of shadow, and how things stood."""

    at: str
    """ISO 8601."""
    failures_before: float
    """The share of failures among the tasks of all strategies until then, 0 to 1."""
    is_settled: bool = False
    """Its first tasks went well: it is no longer watched."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ShadowState:
    """Who is in shadow, and who was promoted."""

    shadows: tuple[str, ...] = ()
    """Those in shadow in the daemon that runs, or that ran last."""
    promoted: Mapping[str, PromotedStrategy] = field(default_factory=dict)
    """By name, as long as the settings still name them as shadows."""


@dataclass(eq=False)
class Shadows:
    """The table of their verdicts, and the fact that names them."""

    database: Database
    facts: Facts
    now: Now

    # -- verdicts -----------------------------------------------------------

    def add(self, verdicts: Iterable[ShadowVerdict]) -> None:
        """Keep verdicts, inside a transaction; the last one on a task counts."""
        at = self.now().isoformat()
        for one in verdicts:
            self.database.replace("shadow_verdicts", at=at, **dump(one))

    def forget_before(self, moment: datetime) -> None:
        """Drop what is older, and what is too much, inside a transaction."""
        self.database.write(
            "DELETE FROM shadow_verdicts WHERE at < ? OR number <= "
            "(SELECT max(number) FROM shadow_verdicts) - ?",
            *(moment.isoformat(), MOST_VERDICTS),
        )

    def opinions_of(self, strategy: str) -> dict[str, Opinion]:
        """Return what one strategy said in shadow, by task."""
        rows = self.database.rows(
            "SELECT task_id, wanted, reason, offer FROM shadow_verdicts "
            "WHERE strategy = ?",
            strategy,
        )
        return {row["task_id"]: load(Opinion, row) for row in rows}

    def scores(
        self, fingerprints: Mapping[str, str] | None = None
    ) -> list[ShadowScore]:
        """Return the score of each that was ever asked, by name; it reads everything.

        `fingerprints` tells, by name, which version counts; else the last one asked.
        """
        rows = self.database.rows(
            # The row of the greatest number is the one shown (SQLite's bare columns).
            "SELECT strategy, fingerprint, max(number) FROM shadow_verdicts "
            "GROUP BY strategy ORDER BY strategy"
        )
        versions = {row["strategy"]: row["fingerprint"] for row in rows}
        versions |= fingerprints or {}
        return [self._score(*version) for version in sorted(versions.items())]

    def _score(self, strategy: str, fingerprint: str) -> ShadowScore:
        row = self.database.rows(
            "SELECT count(*) AS asked, coalesce(min(at), '') AS since, "
            "total(wanted) AS wanted, total(wanted = (active != '')) AS agreed, "
            "total(wanted AND active = '') AS alone, "
            "total(NOT wanted AND active != '') AS missed, "
            "total(offer) AS expected_credits, total(failed) AS errors, "
            "coalesce(avg(seconds), 0) AS mean_seconds, "
            "coalesce(max(seconds), 0) AS longest_seconds "
            "FROM shadow_verdicts WHERE strategy = ? AND fingerprint = ?",
            *(strategy, fingerprint),
        )[0]
        completed, credits_ = self._earned(strategy, fingerprint, wanted=True)
        _, missed = self._earned(strategy, fingerprint, wanted=False)
        every = self.database.number(
            "SELECT count(*) FROM shadow_verdicts WHERE strategy = ?", strategy
        )
        return load(
            ShadowScore,
            {
                **dict(row),
                "strategy": strategy,
                "active_completed": completed,
                "active_credits": credits_,
                "missed_credits": missed,
                "outdated": every - row["asked"],
            },
        )

    def _earned(
        self, strategy: str, fingerprint: str, *, wanted: bool
    ) -> tuple[int, int]:
        """Return the paid tasks among those that it wanted, or did not, and the pay."""
        row = self.database.rows(
            "SELECT count(DISTINCT subject), total(amount) "
            "FROM ledger JOIN shadow_verdicts AS said ON task_id = subject "
            "WHERE kind = ? AND said.strategy = ? AND fingerprint = ? AND wanted = ? "
            "AND ledger.strategy != said.strategy",
            *(EntryKind.EARNED, strategy, fingerprint, wanted),
        )[0]
        return row[0], int(row[1])

    # -- who is in shadow, and who was promoted ----------------------------------

    def state(self) -> ShadowState:
        """Return who is in shadow and who was promoted."""
        return load(ShadowState, self.facts.get(_STATE) or {})

    def put_state(self, state: ShadowState) -> None:
        """Write it, inside a transaction."""
        self.facts.put(_STATE, dump(state))

    def ended_since(self, strategy: str, moment: datetime) -> tuple[int, int]:
        """Return how many of its tasks came to an end since then, and how many failed.

        Those that it declined, and those that others were quicker to claim, are no
        ends of this kind.
        """
        row = self.database.rows(
            "SELECT count(*), total(state != ?) FROM tasks "  # noqa: S608 - only question marks are put in
            f"WHERE updated_at >= ? AND strategy = ? AND state IN ({marks(_ENDED)})",
            *(TaskState.COMPLETED, moment.isoformat(), strategy, *_ENDED),
        )[0]
        return row[0], int(row[1])
