"""`journeyman demo`: watch an agent earn, on this machine alone."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from journeyman.cli.session import Session, command

if TYPE_CHECKING:
    from journeyman.cli.demo.view import View

FAILED = 1


@command("demo", example="journeyman demo --tasks 10", settings=False)
def demo(
    session: Session,
    *,
    tasks: Annotated[
        int, typer.Option(min=1, help="End when so many tasks have ended.")
    ] = 30,
    seed: Annotated[int, typer.Option(help="The same seed makes the same tasks.")] = 1,
    competitors: Annotated[
        int, typer.Option(min=0, help="Other agents that compete for tasks.")
    ] = 2,
    slots: Annotated[int, typer.Option(min=1, help="How many to work on at once.")] = 4,
    latency: Annotated[
        float,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="How slowly the sandbox answers, so that there is something to see.",
        ),
    ] = 0.3,
    directory: Annotated[
        Path, typer.Option(help="Where logs and state go; emptied first.")
    ] = Path("demo"),
) -> int:
    """Watch the daemon earn in a sandbox on this machine.

    The daemon and the sandbox are real processes and speak real HTTP. It exits with 0
    only if the daemon's ledger and the sandbox's own books agree.
    """
    import anyio

    from journeyman.cli.demo.agent import ControlRequests, DemoDirectory
    from journeyman.cli.demo.play import Plan, play
    from journeyman.cli.demo.summary import print_summary

    plan = Plan(
        tasks=tasks,
        slots=slots,
        seed=seed,
        competitors=competitors,
        latency_seconds=latency,
    )
    place, errands = DemoDirectory(directory), ControlRequests()
    place.prepare()
    if not session.as_json:
        print(
            f"A sandbox and a daemon work in {directory} until {tasks} tasks ended ..."
        )
    summary = anyio.run(play, plan, place, _view(session, tasks), errands)
    session.answer(summary.as_json(), lambda: print_summary(summary, errands))
    return 0 if summary.passed else FAILED


def _view(session: Session, wanted: int) -> "View":
    from journeyman.cli.demo.view import LineView, LiveView, SilentView

    if session.as_json:
        return SilentView()
    return LiveView(wanted) if sys.stdout.isatty() else LineView(wanted)
