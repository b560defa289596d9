"""Recorded tasks for commands: which are chosen, and what strategies say to them."""

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import anyio
import typer

from journeyman.cli import output
from journeyman.cli.catalog import AvailableStrategies
from journeyman.cli.session import Session
from journeyman.daemon.backtest import Basis, Judge, Judged, StrategySums
from journeyman.domain.credits import MILLIONTHS
from journeyman.domain.errors import StateError
from journeyman.journal.journal import Journal
from journeyman.journal.recordings import RecordedDecision
from journeyman.strategies.loading.confined import must_be_asked
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.registry import Registry
from journeyman.strategies.running.dry_run import DryRunContext
from journeyman.strategies.running.runner import Runner
from journeyman.worker.ranking import Forecasts

LastOption = Annotated[
    int, typer.Option("--last", min=1, metavar="N", help="Only the last N tasks.")
]
STRATEGY_FAILED = 1
"""The exit code where a strategy failed at a recorded task."""
HOW_TO_RECORD = (
    "A running daemon records each task that its strategies are asked about, unless "
    "recording.max_mb is 0: start one with `journeyman run`, and try again later."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Chosen:
    """Which of the recorded tasks are meant."""

    last: int
    earliest: datetime | None
    """None: however old."""

    def read(self, journal: Journal) -> Iterator[RecordedDecision]:
        """Yield them, oldest first."""
        return journal.recordings.last(self.last, self.earliest)

    @contextmanager
    def progress(
        self, session: Session, journal: Journal
    ) -> Iterator[output.ReportProgress]:
        """Show how many of them are done.

        Raises:
            StateError: there is none.
        """
        total = min(self.last, self._count(journal))
        title = output.plural(total, "task")
        with output.progress(title, total, shown=not session.as_json) as report:
            yield report

    def _count(self, journal: Journal) -> int:
        count = journal.recordings.count(self.earliest)
        if not count and self.earliest is not None and journal.recordings.count():
            raise StateError(
                f"no task was recorded since {self.earliest:%Y-%m-%d %H:%M} UTC",
                "Choose a longer --since, or omit it.",
            )
        if not count:
            raise StateError("no task is recorded here yet", HOW_TO_RECORD)
        return count


def require_some(found: Sequence[object]) -> None:
    """Refuse to go on where a daemon has just dropped what was counted.

    Raises:
        StateError: nothing was found.
    """
    if not found:
        raise StateError("no task is recorded here any more", HOW_TO_RECORD)


async def asked(
    recordings: Iterable[RecordedDecision],
    strategies: Iterable[LoadedStrategy],
    runner: Runner,
) -> AsyncIterator[RecordedDecision]:
    """Yield each recording once the processes of strategies were asked about it."""
    confined = [one for one in strategies if must_be_asked(one)]
    for recording in recordings:
        for one in confined:
            context = DryRunContext().make(one.name, recording.task, Path())
            await runner.consult(one, [recording.task], context)
        yield recording


def judge_recordings(
    session: Session,
    available: AvailableStrategies,
    sets: Sequence[Registry],
    chosen: Chosen,
) -> list[tuple[Judged, ...]]:
    """Return what each set would have made of each recorded task, oldest first.

    Raises:
        StateError: no task is recorded.
    """
    runner = available.runner(session)
    everyone = [one for each in sets for one in each.strategies]
    found: list[tuple[Judged, ...]] = []
    with session.journal() as journal, chosen.progress(session, journal) as report:
        judge = Judge(
            forecasts=Forecasts(journal.track_records.all()),
            cost_of=lambda task_id: journal.ledger.cost_of(task_id) / MILLIONTHS,
        )

        async def work() -> None:
            async with runner.running():
                async for one in asked(chosen.read(journal), everyone, runner):
                    found.append(tuple(judge.judge(one, each) for each in sets))
                    report(len(found))

        anyio.run(work)
    require_some(found)
    return found


def span(judged: Sequence[tuple[Judged, ...]]) -> dict[str, Any]:
    """Return how many tasks there are, and from when, for `--json`."""
    first, last = judged[0][0].decision.at, judged[-1][0].decision.at
    return {
        "tasks": len(judged),
        "first_at": first.isoformat(),
        "last_at": last.isoformat(),
    }


def seen_from(count: int, first: datetime, last: datetime) -> str:
    """Return how many tasks there are, and from when, for a person."""
    tasks = output.plural(count, "task")
    return f"{tasks}, seen from {first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M} UTC"


IN_WORDS = {
    Basis.KNOWN: "that ended so",
    Basis.SAME_PAY: "paid to another",
    Basis.ESTIMATED: "estimated",
}
"""How it is known what a task brings."""


def sums_as_json(sums: StrategySums) -> dict[str, Any]:
    """Return what a strategy would have done, for `--json`."""
    return {
        "wanted": sums.wanted,
        "won": sums.won,
        "earned": round(sums.earned, 3),
        "cost": round(sums.cost, 3),
        "net": round(sums.net, 3),
        "basis": {basis.value: sums.bases[basis] for basis in Basis},
        "errors": sums.errors,
    }
