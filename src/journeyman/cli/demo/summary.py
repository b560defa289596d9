"""What a demo came to, and whether the two sets of books agree."""

import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from journeyman.cli.demo.agent import ControlRequests, DemoDirectory
from journeyman.cli.output import counted, facts, say, table
from journeyman.cli.strategies import strategy_figures
from journeyman.daemon.environment import SystemClock
from journeyman.domain.tasks import JSON, AgentId
from journeyman.journal.identity import load_identity
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import EntryKind

REASONS_SHOWN = 5
ALL = -1
"""As a limit, in SQLite's sense."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """One thing that must be so."""

    name: str
    passed: bool
    found: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """All that is told at the end; amounts in credits."""

    agent_id: str
    tasks: dict[str, int]
    """By state."""
    skipped_because: dict[str, int]
    strategies: dict[str, dict[str, int]]
    """By strategy: `completed`, `unpaid` and the credits `earned`."""
    credits: dict[str, int]
    """By kind of ledger entry."""
    ledger_balance: int
    sandbox_balance: int
    errands: dict[str, dict[str, JSON]]
    checks: list[Check]
    places: dict[str, str]

    @property
    def passed(self) -> bool:
        """Tell whether every check passed."""
        return all(check.passed for check in self.checks)

    def as_json(self) -> dict[str, object]:
        """Give it as `--json` prints it."""
        return {"passed": self.passed, **asdict(self)}


def summarise(
    directory: DemoDirectory,
    books: Mapping[str, Any],
    errands: ControlRequests,
    exit_code: int,
) -> Summary:
    """Compare what the daemon booked with what the sandbox did.

    Raises:
        StateError: the journal or the identity cannot be read.
    """
    identity = load_identity(directory.data.identity)
    agent_id = identity.agent_id if identity else AgentId("")
    theirs = (a["balance"] for a in books["agents"] if a["agent_id"] == agent_id)
    sandbox_balance = int(next(theirs, 0))
    now = SystemClock().now
    with Journal(directory.data.journal, now, read_only=True) as journal:
        checks = list(_checks(journal, books, sandbox_balance, exit_code))
        return Summary(
            agent_id=agent_id,
            tasks=journal.tasks.counts(),
            skipped_because=journal.tasks.skip_reasons(REASONS_SHOWN),
            strategies=_by_strategy(journal),
            credits=journal.ledger.totals(),
            ledger_balance=journal.ledger.balance(),
            sandbox_balance=sandbox_balance,
            errands={"post": errands.post, "top_up": errands.top_up},
            checks=checks,
            places=_places(directory),
        )


def _checks(
    journal: Journal,
    books: Mapping[str, Any],
    sandbox_balance: int,
    exit_code: int,
) -> Iterator[Check]:
    yield Check(
        name="the daemon ended well",
        passed=exit_code == 0,
        found=f"exit code {exit_code}",
    )
    balance = journal.ledger.balance()
    yield Check(
        name="the ledger agrees with the sandbox's books",
        passed=balance == sandbox_balance,
        found=f"ledger {balance}, sandbox {sandbox_balance}",
    )
    adjusted = journal.ledger.totals().get(EntryKind.ADJUSTMENT)
    yield Check(
        name="nothing had to be adjusted",
        passed=adjusted is None,
        found="no adjustment" if adjusted is None else f"adjusted by {adjusted}",
    )
    fault = journal.ledger.first_fault()
    yield Check(
        name="the ledger's chain is whole",
        passed=fault is None,
        found=fault or "every entry follows from the one before",
    )
    yield Check(
        name="the sandbox's own books balance",
        passed=books["balanced"] is True,
        found=f"created minus held: {books['difference']}",
    )


def _by_strategy(journal: Journal) -> dict[str, dict[str, int]]:
    earned: Counter[str] = Counter()
    for entry in journal.ledger.recent(ALL):
        if entry.kind is EntryKind.EARNED:
            earned[entry.strategy] += entry.amount
    outcomes = {
        name: strategy_figures(states)
        for name, states in journal.tasks.outcomes_by_strategy().items()
    }
    return {
        name: {"completed": done, "unpaid": unpaid, "earned": earned[name]}
        for name, (done, _working, _waiting, unpaid) in outcomes.items()
    }


def _places(directory: DemoDirectory) -> dict[str, str]:
    return {
        "state": str(directory.data.path),
        "daemon_log": str(directory.daemon_log),
        "sandbox_log": str(directory.sandbox_log),
        "sandbox_data": str(directory.sandbox_data),
        "config": str(directory.config),
    }


def print_summary(summary: Summary, errands: ControlRequests) -> None:
    """Tell it to a person."""
    say()
    table(
        ["strategy", "completed", "unpaid", "earned"],
        [[name, *figures.values()] for name, figures in summary.strategies.items()],
    )
    say()
    moved = {kind: amount for kind, amount in summary.credits.items() if amount}
    starter = moved.pop(EntryKind.STARTER, 0)
    changes = counted((kind, amount) for kind, amount in moved.items())
    facts(
        {
            "tasks": counted(summary.tasks.items()),
            "skipped": counted(summary.skipped_because.items()),
            "credits": f"from {starter} to {summary.ledger_balance} ({changes})",
            "books": f"ledger {summary.ledger_balance}, "
            f"sandbox {summary.sandbox_balance}",
            "owner": "\n".join(errands.lines()),
            "checks": "\n".join(map(_told, summary.checks)),
        },
    )
    say()
    data, us = summary.places["state"], command_name()
    facts(
        {
            "state": data,
            "logs": f"{summary.places['daemon_log']}, {summary.places['sandbox_log']}",
            "look around": f"{us} status --data-dir {data}\n"
            f"{us} tasks --data-dir {data}\n"
            f"{us} ledger --data-dir {data}",
            "go on": f"{us} run --sandbox --data-dir my-agent",
        },
    )


def command_name() -> str:
    """Give what to type to run us again: a checkout's .venv is not on the path."""
    started = Path(sys.argv[0])
    if shutil.which("journeyman") or started.name != "journeyman":
        return "journeyman"
    here = Path.cwd()
    return str(started.relative_to(here) if started.is_relative_to(here) else started)


def _told(check: Check) -> str:
    return f"{'ok    ' if check.passed else 'FAILED'}  {check.name}: {check.found}"
