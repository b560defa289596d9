"""`journeyman doctor`: is everything as it must be?"""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

import anyio
import typer

from journeyman.cli.output import wrapped
from journeyman.cli.session import OpenApiOption, Session, command
from journeyman.daemon.doctor.examination import Examination
from journeyman.daemon.doctor.finding import Finding, Grade
from journeyman.daemon.environment import build_environment

FAILED = 1


@command("doctor", example="journeyman doctor --data-dir /data")
def doctor(
    session: Session,
    *,
    fix: Annotated[
        bool,
        typer.Option(
            "--fix",
            help="Repair what can be: file modes, and a dead daemon's socket.",
        ),
    ] = False,
    openapi: OpenApiOption = None,
) -> int:
    """Check this machine, the agent's state and the network.

    It looks at the settings, the data directory, the token, the journal, the
    strategies, the connection to the network, its endpoints and its clock. Without
    --fix it changes nothing. It never joins, and a daemon may run meanwhile. The exit
    code is 1 if something does not work.
    """
    overrides: dict[str, object] = {
        "contract.openapi": str(openapi) if openapi else None,
        **session.strategies_of_daemon(),
    }
    examination = Examination(
        read_settings=lambda: session.load(overrides).settings,
        find_directory=session.directory,
        find_address=session.address,
        environment=build_environment(),
        fix=fix,
    )
    findings = anyio.run(examination.run)
    data = [
        {
            "check": found.check,
            "grade": found.grade,
            "message": found.message,
            "fix": found.fix,
            "can_be_fixed": found.repair is not None,
        }
        for found in findings
    ]
    session.answer(data, lambda: _show(findings))
    return FAILED if any(found.grade is Grade.FAIL for found in findings) else 0


def _show(findings: list[Finding]) -> None:
    show_findings(findings)
    counts = Counter(found.grade for found in findings)
    print()
    print(", ".join(f"{count} {grade}" for grade, count in counts.items()))


def show_findings(findings: Sequence[Finding]) -> None:
    """Print a row for each finding, with what to do about it."""
    width = max(len(found.check) for found in findings)
    indent = " " * (width + 8)
    for found in findings:
        head = f"{found.grade:<4}  {found.check:<{width}}  "
        for line in _lines(found.message, len(head)) or [""]:
            print(f"{head}{line}")
            head = indent
        arrow = "-> "
        for line in _lines(found.fix, len(indent + arrow)):
            print(f"{indent}{arrow}{line}")
            arrow = "   "


def _lines(text: str, indent: int) -> list[str]:
    return [part for line in text.splitlines() for part in wrapped(line, indent)]
