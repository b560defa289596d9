"""What stays on the disk when tasks are done for a long time, day after day.

Paid tasks are written into a journal by the daemon's own code, on a clock that runs
ahead, and the daemon's housekeeping goes over it once a day. What is kept is kept for
fewer days than by default, so that all of it is forgotten often enough within the run.

    make scale
    .venv/bin/python benchmarks/retention.py --days 120 --tasks 500
"""

import argparse
import hashlib
import tempfile
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio

from journeyman.daemon.housekeeping import Housekeeping
from journeyman.domain.tasks import JSON, Result, Task, TaskId, TaskState
from journeyman.economy.bookkeeping import (
    Answered,
    book_delivery,
    book_earning,
    book_starter,
)
from journeyman.journal.archives import Archives
from journeyman.journal.journal import Journal
from journeyman.journal.ledger_archives import LedgerArchives
from journeyman.journal.maintenance import faults
from journeyman.observability.events import Event

TEXTS, MOVES, TASKS = 10, 20, 40
"""Days for which they are kept."""
SECONDS_A_YEAR = 365 * 86_400
WAY = (
    *(TaskState.CLAIMING, TaskState.CLAIMED, TaskState.EXECUTING),
    *(TaskState.EXECUTED, TaskState.SUBMITTING, TaskState.SUBMITTED),
    *(TaskState.COMPLETING, TaskState.COMPLETED),
)


@dataclass(eq=False)
class RunningClock:
    """A clock that is set by hand."""

    at: datetime = field(default_factory=lambda: datetime(2026, 1, 1, tzinfo=UTC))

    def now(self) -> datetime:
        """Return the time."""
        return self.at


class Nothing:
    """What housekeeping looks after besides, and this does not measure."""

    def look(self) -> None:
        """Look at no disk."""

    def trim(self) -> None:
        """Trim no recording."""

    def keep(self) -> None:
        """Keep nothing that was learned."""

    def emit(self, event: Event, **fields: object) -> None:
        """Write no event."""


def work(journal: Journal, clock: RunningClock, first: int, tasks: int) -> None:
    """Do and book the tasks of one day, in one transaction."""
    with journal.tx("a day"):
        for number in range(first, first + tasks):
            clock.at += timedelta(days=1) / tasks
            _do(journal, hashlib.sha256(str(number).encode()).hexdigest(), number)


def _do(journal: Journal, chance: str, number: int) -> None:
    task_id, strategy = TaskId(f"task_{chance[:12]}"), "count_words"
    text = " ".join(chance[at : at + 4] for at in range(0, 60, 4)) * 5
    raw: dict[str, JSON] = {
        "id": task_id,
        "text": text,
        "reward": 3,
        "poster": f"agent_{chance[:8]}",
    }
    task = Task(
        id=task_id,
        title=f"Count the words of text {number}",
        kind="text.count",
        reward=3,
        text=text,
        raw=raw,
    )
    journal.tasks.record_decision(
        task, TaskState.WANTED, reason="", strategy=strategy, fingerprint=chance[:16]
    )
    record, result = journal.tasks.get(task_id), Result(str(number))
    for state in WAY:
        is_done = state is TaskState.EXECUTED
        record = journal.tasks.move(record, state, result=result if is_done else None)
        if state is TaskState.SUBMITTED:
            key = f"submit-{chance[12:44]}"
            book_delivery(
                journal.ledger, task_id, strategy=strategy, listed=3, request=key
            )
    book_earning(
        journal.ledger,
        task_id,
        strategy=strategy,
        listed=3,
        answered=Answered(request=f"complete-{chance[32:]}", credits=3),
        cause="complete",
    )


def housekeeping(journal: Journal, folder: Path, clock: RunningClock) -> Housekeeping:
    """Return the daemon's own."""
    nothing: Any = Nothing()
    return Housekeeping(
        journal=journal,
        learning=nothing,
        recording=nothing,
        disk=nothing,
        forget_skipped_days=30,
        keep_texts_days=TEXTS,
        keep_events_days=MOVES,
        keep_tasks_days=TASKS,
        write_off_days=90,
        max_journal_mb=0,
        archives=Archives(folder / "archives", journal, str),
        ledger_archives=LedgerArchives(folder / "archives", journal),
        max_archives_mb=0,
        clock=clock,  # type: ignore[arg-type] # nobody waits on it
        log=nothing,
    )


def measure(days: int, tasks: int, every: int) -> None:
    """Work so many days, and print what lies on the disk every so often."""
    with tempfile.TemporaryDirectory() as name:
        folder, clock = Path(name), RunningClock()
        with Journal(folder / "journal.db", clock.now) as journal:
            with journal.tx("starter"):
                book_starter(journal.ledger, 100)
            keeper = housekeeping(journal, folder, clock)
            print("| day | tasks | journal, KB | ledger's archives | tasks' archives |")
            print("|---|---|---|---|---|")
            sizes = []
            for day in range(1, days + 1):
                work(journal, clock, day * tasks, tasks)
                anyio.run(keeper.keep)
                if day % every == 0:
                    sizes.append(_sizes(folder, journal))
                    cells = " | ".join(f"{one / 1000:,.0f}" for one in sizes[-1])
                    print(f"| {day} | {day * tasks:,} | {cells} |", flush=True)
            more = tasks * every
            grown = [(b - a) / more for a, b in zip(*sizes[-2:], strict=True)]
            print(f"\nA further task leaves, in bytes: {_told(grown)}.")
            past = journal.database.number(
                "SELECT sum(pgsize) FROM dbstat WHERE name = 'past_tasks'"
            ) / journal.database.number("SELECT count(*) FROM past_tasks")
            print(f"Of it, the number by which it is known: {past:.1f}.")
            year = [one * SECONDS_A_YEAR / 1e9 for one in grown]
            print(f"A year of one task a second, reckoned, in GB: {_told(year)}.")
            print(f"Faults: {faults(journal, folder / 'archives') or 'none'}")


def _sizes(folder: Path, journal: Journal) -> tuple[int, int, int]:
    files = [*(folder / "archives").glob("*")]
    of_ledger = [one for one in files if one.name.startswith("ledger-")]
    sizes = [sum(one.stat().st_size for one in some) for some in (of_ledger, files)]
    return journal.database.used_bytes(), sizes[0], sizes[1] - sizes[0]


def _told(figures: list[float]) -> str:
    journal, ledger, tasks = figures
    return f"journal {journal:.1f}, ledger's archives {ledger:.1f}, tasks' {tasks:.1f}"


def main() -> None:
    """Read the command line, and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--days", type=int, default=120)
    parser.add_argument("--tasks", type=int, default=500, help="of each day")
    parser.add_argument("--every", type=int, default=20, help="days of one line")
    chosen = parser.parse_args()
    measure(chosen.days, chosen.tasks, chosen.every)


if __name__ == "__main__":
    main()
