"""How a demo ended, and whether the ledger and the sandbox's ledger agree."""

import json
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from journeyman.cli.output import counted, print_fields, print_table, task_counts
from journeyman.daemon.system import SystemClock
from journeyman.domain.errors import AlreadyRunningError, SafetyError, StateError
from journeyman.domain.tasks import JSON, AgentId
from journeyman.journal.directory import DataDirectory
from journeyman.journal.identity import load_identity
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import EntryKind

MARKER = ".journeyman-demo"
MARKER_TEXT = "`journeyman demo` made this folder, and empties it at each start.\n"


class DemoDirectory:
    """The files in the demo's folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data = DataDirectory(path / "data")
        self.config = path / "journeyman.toml"
        self.daemon_log = path / "daemon.log"
        self.sandbox_log = path / "sandbox.log"
        self.sandbox_data = path / "sandbox.db"

    def prepare(self) -> None:
        """Make it, or remove what the previous run left in it.

        Raises:
            SafetyError: the folder is not empty, and no demo made it.
            AlreadyRunningError: a demo is running in it.
            StateError: it cannot be written.
        """
        try:
            self._require_ours()
            if holder := self.data.held_by():
                raise AlreadyRunningError(
                    f"a demo is running in {self.path} (process {holder})",
                    "Wait for it, stop it, or name another --directory.",
                )
            shutil.rmtree(self.path, ignore_errors=True)
            self.path.mkdir(parents=True, exist_ok=True)
            (self.path / MARKER).write_text(MARKER_TEXT)
        except OSError as error:
            raise StateError(
                f"the folder {self.path} cannot be used: {error.strerror}",
                "Name another one with --directory.",
            ) from error

    def _require_ours(self) -> None:
        if not self.path.exists() or (self.path / MARKER).exists():
            return
        if any(self.path.iterdir()):
            raise SafetyError(
                f"the folder {self.path} is not empty, and no demo made it",
                "Nothing was changed. Name another one with --directory.",
            )

    def configure(self, base_url: str, slots: int) -> None:
        """Write the daemon's settings, so that it can be started again by hand."""
        # JSON's texts are TOML's basic strings.
        base, data = json.dumps(base_url), json.dumps(str(self.data.path))
        self.config.write_text(
            "# Made by `journeyman demo`.\n"
            f"[network]\nbase_url = {base}\n\n"
            f"[data]\ndirectory = {data}\n\n"
            f"[work]\nslots = {slots}\n\n"
            "[schedule]\ndiscover_every_seconds = 1\n",
        )


REASONS_SHOWN = 5
ALL = -1
"""As a limit, in SQLite's sense."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DemoCheck:
    """One thing that must be so."""

    name: str
    passed: bool
    found: str


@dataclass(frozen=True, kw_only=True, slots=True)
class DemoSummary:
    """All that is printed at the end; amounts in credits."""

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
    requests: dict[str, dict[str, JSON]]
    """What the daemon answered to the owner's `post` and `top_up`."""
    request_lines: list[str]
    """The same, for people."""
    checks: list[DemoCheck]
    files: dict[str, str]

    @property
    def passed(self) -> bool:
        """Return whether every check passed."""
        return all(check.passed for check in self.checks)

    def as_json(self) -> dict[str, object]:
        """Return it for `--json`."""
        shown = {"passed": self.passed, **asdict(self)}
        del shown["request_lines"]
        return shown


def summarise(
    directory: DemoDirectory,
    sandbox_ledger: Mapping[str, Any],
    exit_code: int,
    requests: dict[str, dict[str, JSON]],
    request_lines: list[str],
) -> DemoSummary:
    """Compare what the daemon booked with what the sandbox did.

    Raises:
        StateError: the journal or the identity cannot be read.
    """
    identity = load_identity(directory.data.identity)
    agent_id = identity.agent_id if identity else AgentId("")
    balances = {
        agent["agent_id"]: agent["balance"] for agent in sandbox_ledger["agents"]
    }
    sandbox_balance = int(balances.get(agent_id, 0))
    now = SystemClock().now
    with Journal(directory.data.journal, now, read_only=True) as journal:
        return DemoSummary(
            agent_id=agent_id,
            tasks=journal.tasks.counts(),
            skipped_because=journal.tasks.skip_reasons(REASONS_SHOWN),
            strategies=_by_strategy(journal),
            credits=journal.ledger.totals(),
            ledger_balance=journal.ledger.balance(),
            sandbox_balance=sandbox_balance,
            requests=requests,
            request_lines=request_lines,
            checks=list(_checks(journal, sandbox_ledger, sandbox_balance, exit_code)),
            files={
                "state": str(directory.data.path),
                "daemon_log": str(directory.daemon_log),
                "sandbox_log": str(directory.sandbox_log),
                "sandbox_data": str(directory.sandbox_data),
                "config": str(directory.config),
            },
        )


def _checks(
    journal: Journal,
    sandbox_ledger: Mapping[str, Any],
    sandbox_balance: int,
    exit_code: int,
) -> Iterator[DemoCheck]:
    yield DemoCheck(
        name="the daemon ended without an error",
        passed=exit_code == 0,
        found=f"exit code {exit_code}",
    )
    balance = journal.ledger.balance()
    yield DemoCheck(
        name="the ledger agrees with the sandbox's",
        passed=balance == sandbox_balance,
        found=f"ledger {balance}, sandbox {sandbox_balance}",
    )
    adjusted = journal.ledger.totals().get(EntryKind.ADJUSTMENT)
    yield DemoCheck(
        name="nothing had to be adjusted",
        passed=adjusted is None,
        found="no adjustment" if adjusted is None else f"adjusted by {adjusted}",
    )
    fault = journal.ledger.first_fault()
    yield DemoCheck(
        name="the ledger's chain is intact",
        passed=fault is None,
        found=fault or "every entry follows from the one before",
    )
    yield DemoCheck(
        name="the sandbox's ledger balances",
        passed=sandbox_ledger["balanced"] is True,
        found=f"credits created minus balances: {sandbox_ledger['difference']}",
    )


def _by_strategy(journal: Journal) -> dict[str, dict[str, int]]:
    earned: Counter[str] = Counter()
    for entry in journal.ledger.recent(ALL):
        if entry.kind is EntryKind.EARNED:
            earned[entry.strategy] += entry.amount
    summary = {}
    for name, states in journal.tasks.outcomes_by_strategy().items():
        completed, _at_work, _waiting, unpaid = task_counts(states)
        figures = {"completed": completed, "unpaid": unpaid, "earned": earned[name]}
        summary[name] = figures
    return summary


def print_summary(summary: DemoSummary) -> None:
    """Print it for people."""
    print()
    print_table(
        ["strategy", "completed", "unpaid", "earned"],
        [[name, *figures.values()] for name, figures in summary.strategies.items()],
    )
    print()
    moved = {kind: amount for kind, amount in summary.credits.items() if amount}
    starter = moved.pop(EntryKind.STARTER, 0)
    ledger, sandbox = summary.ledger_balance, summary.sandbox_balance
    checks = (
        f"{'ok    ' if check.passed else 'FAILED'}  {check.name}: {check.found}"
        for check in summary.checks
    )
    print_fields(
        {
            "tasks": counted(summary.tasks.items()),
            "skipped": counted(summary.skipped_because.items()),
            "credits": f"from {starter} to {ledger} ({counted(moved.items())})",
            "balance": f"ledger {ledger}, sandbox {sandbox}",
            "owner": "\n".join(summary.request_lines),
            "checks": "\n".join(checks),
        },
    )
    print()
    files, us = summary.files, command_name()
    commands = ("status", "tasks", "ledger")
    print_fields(
        {
            "state": files["state"],
            "logs": f"{files['daemon_log']}, {files['sandbox_log']}",
            "explore": "\n".join(
                f"{us} {c} --data-dir {files['state']}" for c in commands
            ),
            "continue": f"{us} run --sandbox --data-dir my-agent",
        },
    )


def command_name() -> str:
    """Return what to type to run us again: a checkout's .venv is not on the path."""
    started = Path(sys.argv[0])
    if shutil.which("journeyman") or started.name != "journeyman":
        return "journeyman"
    here = Path.cwd()
    return str(started.relative_to(here) if started.is_relative_to(here) else started)
