"""The tree of commands."""

import typer

from journeyman.cli.command import Command
from journeyman.cli.commands.catalogue import events
from journeyman.cli.commands.config import show_config
from journeyman.cli.commands.control import pause, resume, stop
from journeyman.cli.commands.demo import demo
from journeyman.cli.commands.directory import directory
from journeyman.cli.commands.discover import discover
from journeyman.cli.commands.health import health
from journeyman.cli.commands.join import join
from journeyman.cli.commands.ledger import ledger
from journeyman.cli.commands.market import market
from journeyman.cli.commands.post import post
from journeyman.cli.commands.run import run
from journeyman.cli.commands.sandbox import sandbox
from journeyman.cli.commands.status import status
from journeyman.cli.commands.strategies import list_strategies
from journeyman.cli.commands.tasks import show_task, tasks
from journeyman.cli.commands.topup import topup
from journeyman.cli.commands.version import version

ABOUT = (
    "An autonomous agent that joins a network, earns credits by doing its tasks, and "
    "spends them within your limits."
)
EXIT_CODES = (
    "Exit codes: 0 done, 1 error, 2 usage, 3 not running, 4 configuration or "
    "strategy, 5 time-out, 6 refused by a safety rule, 7 network."
)
AT_WORK = (run, demo, sandbox, status, health, pause, resume, stop)
NETWORK = (join, market, directory, discover, post, topup)
FLAT = (*AT_WORK, *NETWORK, ledger, events, version)
"""The commands of one word."""
ALL_COMMANDS = (*FLAT, tasks, show_task, list_strategies, show_config)


def build_app() -> typer.Typer:
    """Register every command."""
    app = _group(help=ABOUT, epilog=EXIT_CODES)
    for command in FLAT:
        _register(app, command)
    app.add_typer(_tasks(), name=tasks.name)
    app.add_typer(
        _only(
            "Which strategies are loaded, and which are not, and why.", list_strategies
        ),
        name="strategies",
    )
    app.add_typer(_only("The settings in force.", show_config), name="config")
    return app


def _tasks() -> typer.Typer:
    """Make the group that does something by itself, too."""
    group = _group(help=tasks.help, epilog=_epilog(tasks))
    group.callback(invoke_without_command=True)(tasks.entry)
    _register(group, show_task)
    return group


def _only(about: str, *commands: Command) -> typer.Typer:
    group = _group(help=about, epilog="")
    # Typer would melt a group of one command into that command.
    group.callback()(lambda: None)
    for command in commands:
        _register(group, command)
    return group


def _group(*, help: str, epilog: str) -> typer.Typer:  # noqa: A002 - Typer's own word
    return typer.Typer(
        help=help,
        epilog=epilog,
        # Rich would double the time that `--help` takes.
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )


def _register(group: typer.Typer, command: Command) -> None:
    group.command(command.name, help=command.help, epilog=_epilog(command))(
        command.entry,
    )


def _epilog(command: Command) -> str:
    return f"Example: {command.example}"
