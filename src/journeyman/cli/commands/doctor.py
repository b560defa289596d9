"""`journeyman doctor`: is everything as it must be?"""

from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from journeyman.cli.output import answer, neutral, say
from journeyman.cli.session import Session, command

if TYPE_CHECKING:
    from journeyman.daemon.doctor.finding import Finding

ILL = 1


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
) -> int:
    """Check this machine, the agent's state, and the network.

    Settings, data directory, token, journal, strategies, the way to the service, its
    endpoints and its clock. Without --fix nothing is changed; it never joins, and
    works beside a running daemon, too. Exit code 1: something does not work.
    """
    import anyio

    from journeyman.daemon.doctor.examination import Case, examine
    from journeyman.daemon.doctor.finding import Grade
    from journeyman.daemon.environment import build_environment

    case = Case(
        settings=lambda: session.load().settings,
        directory=session.directory,
        address=session.address,
        environment=build_environment(),
    )

    async def run() -> "list[Finding]":
        return await examine(case, fix=fix)

    findings = anyio.run(run)
    answer(
        as_json=session.as_json,
        data=[_told(found) for found in findings],
        show=lambda: _show(findings),
    )
    return ILL if any(found.grade is Grade.FAIL for found in findings) else 0


def _told(found: "Finding") -> dict[str, object]:
    return {
        "check": found.check,
        "grade": found.grade,
        "told": found.told,
        "fix": found.fix,
        "can_be_fixed": found.repair is not None,
    }


def _show(findings: "list[Finding]") -> None:
    width = max(len(found.check) for found in findings)
    for found in findings:
        first, *more = found.told.splitlines() or [""]
        say(f"{found.grade:<4}  {found.check:<{width}}  {neutral(first)}")
        indent = " " * (width + 8)
        for line in more:
            say(f"{indent}{neutral(line)}")
        if found.fix:
            lines = found.fix.splitlines()
            say(f"{indent}-> {neutral(lines[0])}")
            for line in lines[1:]:
                say(f"{indent}   {neutral(line)}")
    counts = Counter(found.grade for found in findings)
    say()
    say(", ".join(f"{count} {grade}" for grade, count in counts.items()))
