"""Help: at once, complete, and with an example for each command."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Program = Callable[..., subprocess.CompletedProcess[str]]

HEAVY = {
    *("pydantic", "httpx2", "rich", "fastapi", "uvicorn", "anyio", "sqlite3"),
    "structlog",
}
COMMANDS = (
    *("init", "run", "demo", "sandbox", "status", "health", "pause", "resume", "stop"),
    *("join", "market", "directory", "discover", "post", "topup", "ledger"),
    *("events", "version", "tasks", "tasks show", "strategies list", "config show"),
    *("strategies show", "strategies new", "check", "try", "explain"),
    *("identity show", "identity export", "identity import"),
    *("journal check", "journal backup", "journal compact"),
    *("doctor", "contract", "contract show", "contract export"),
    *("contract import", "topup list", "topup approve", "topup confirm"),
    *("topup cancel", "topup packs", "ledger verify", "ledger show"),
    *("ledger receivables", "profit"),
)


def test_the_list_of_commands_imports_nothing_heavy(program: Program) -> None:
    code = (
        "import sys; from journeyman.cli import main; code = main(sys.argv[1:]); "
        f"print(*sorted({HEAVY!r} & set(sys.modules)), file=sys.stderr); sys.exit(code)"
    )

    done = program(sys.executable, "-c", code, "--help")

    assert done.returncode == 0
    assert done.stdout.startswith("Usage: journeyman")
    assert done.stderr.strip() == ""


SERVING_OR_SENDING = {
    *("uvicorn", "starlette", "httptools", "httpx2", "structlog", "apscheduler"),
    *("rich", "bs4", "jsonpath"),
}


@pytest.mark.endurance
@pytest.mark.parametrize(
    "command", ["status", "why", "strategies list", "journal check"]
)
def test_what_only_reads_the_journal_imports_nothing_that_serves_or_sends(
    program: Program, lived: Path, command: str
) -> None:
    code = (
        "import sys; from journeyman.cli import main; code = main(sys.argv[1:]); "
        f"print(*sorted({SERVING_OR_SENDING!r} & set(sys.modules)), file=sys.stderr); "
        "sys.exit(code)"
    )
    words = [*command.split(), "--data-dir", str(lived)]

    done = program(sys.executable, "-c", code, *words)

    assert done.returncode == 0
    assert done.stderr.strip() == ""


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_says_what_it_does_and_gives_an_example(
    run: Run, command: str
) -> None:
    shown = run(*command.split(), "--help")

    assert shown.code == 0
    assert f"Example: journeyman {command}" in " ".join(shown.out.split())
    assert "--json" in shown.out


def test_the_list_of_commands_cuts_no_description_short(run: Run) -> None:
    shown = run("--help")

    assert not any(line.endswith("...") for line in shown.out.splitlines()[1:])
    assert all(f"  {command.split()[0]} " in shown.out for command in COMMANDS)


def test_no_arguments_show_the_help(run: Run) -> None:
    assert run().out == run("--help").out


def test_it_runs_as_a_module_too(program: Program) -> None:
    done = program(sys.executable, "-m", "journeyman", "version")

    assert done.stdout.startswith("journeyman ")
