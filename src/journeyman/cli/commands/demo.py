"""`journeyman demo`: watch an agent earn, on this machine alone."""

import sys
from pathlib import Path
from typing import Annotated

import anyio
import typer

from journeyman.cli.demo.play import DemoPlan, play
from journeyman.cli.demo.summary import DemoDirectory, print_summary
from journeyman.cli.demo.view import LineView, LiveView, SilentView
from journeyman.cli.session import Session, command

FAILED = 1


@command("demo", example="journeyman demo --tasks 10", settings=False)
def demo(
    session: Session,
    *,
    tasks: Annotated[int, typer.Option(min=1, help="How many tasks to do.")] = 30,
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

    The daemon and the sandbox are real processes and speak real HTTP. The exit code is
    0 only if the ledgers of the daemon and the sandbox agree.
    """
    plan = DemoPlan(
        tasks=tasks,
        slots=slots,
        seed=seed,
        competitors=competitors,
        latency_seconds=latency,
    )
    folder = DemoDirectory(directory)
    folder.prepare()
    view = SilentView()
    if not session.as_json:
        view = LiveView(tasks) if sys.stdout.isatty() else LineView(tasks)
        print(f"A sandbox and a daemon work in {directory} until {tasks} tasks end ...")
    summary = anyio.run(play, plan, folder, view)
    session.answer(summary.as_json(), lambda: print_summary(summary))
    return 0 if summary.passed else FAILED
