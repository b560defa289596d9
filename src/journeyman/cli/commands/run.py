"""`journeyman run`: the daemon itself."""

import signal
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from journeyman.cli.command import command
from journeyman.cli.session import Session


@command("run", example="journeyman run --base-url https://network.example --slots 4")
def run(  # noqa: PLR0913 - each is an option of the command line
    session: Session,
    *,
    sandbox: Annotated[
        bool,
        typer.Option("--sandbox", help="Work in a sandbox of its own, not a network."),
    ] = False,
    strategies: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The strategy files to load.")
    ] = None,
    shadow: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Ask this strategy about each task, and give it none; may be "
            "repeated.",
        ),
    ] = None,
    discover_every: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="How often to look for tasks."),
    ] = None,
    max_tasks: Annotated[
        int | None, typer.Option(metavar="N", help="Stop when so many have ended.")
    ] = None,
    once: Annotated[
        bool | None,
        typer.Option("--once", help="Look for tasks once, do those, and stop."),
    ] = None,
    slots: Annotated[
        int | None, typer.Option(metavar="N", help="How many to work on at once.")
    ] = None,
    log_format: Annotated[
        str | None, typer.Option(metavar="FORMAT", help="auto, json or text.")
    ] = None,
    log_level: Annotated[
        str | None,
        typer.Option(metavar="LEVEL", help="debug, info, warning or error."),
    ] = None,
    until_stdin_closes: Annotated[bool, typer.Option(hidden=True)] = False,
) -> None:
    """Run the daemon: join, discover, work, earn, until stopped.

    It stays in the foreground, and its log goes to stdout. SIGTERM or Ctrl-C lets work
    in flight end, then it exits with 0. Started again it is the same agent and goes on
    where it was. With `--json` the log is JSON.
    """
    stop = _EarlyStop()
    try:
        from journeyman.cli.work import work

        said: dict[str, object] = {
            "strategies.directory": str(strategies) if strategies else None,
            "strategies.shadow": shadow or None,
            "schedule.discover_every_seconds": discover_every,
            "work.max_tasks": max_tasks,
            "work.once": once,
            "work.slots": slots,
            "log.format": "json" if session.as_json else log_format,
            "log.level": log_level,
        }
        work(
            session,
            lambda: session.load(said).settings,
            sandbox=sandbox,
            lifeline=until_stdin_closes,
        )
    except KeyboardInterrupt:
        if not stop.heard:
            raise


class _EarlyStop:
    """Hears SIGTERM before the daemon does: a container's first process is deaf to it.

    It is passed on as Ctrl-C, which everything knows how to end from; but being told
    to stop, and stopping, is no failure.
    """

    def __init__(self) -> None:
        self.heard = False
        signal.signal(signal.SIGTERM, self._hear)

    def _hear(self, _number: int, _frame: FrameType | None) -> None:
        self.heard = True
        signal.raise_signal(signal.SIGINT)
