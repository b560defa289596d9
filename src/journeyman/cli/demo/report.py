"""The summary of a demo, told to a person."""

import shutil
import sys
from pathlib import Path

from journeyman.cli.demo.errands import Errands
from journeyman.cli.demo.summary import Check, Summary
from journeyman.cli.output import facts, say, table
from journeyman.cli.text import counted
from journeyman.journal import EntryKind


def print_summary(summary: Summary, errands: Errands) -> None:
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
