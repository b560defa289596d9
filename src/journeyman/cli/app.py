"""The tree of commands."""

from typing import Annotated

import typer
import typer.core

from journeyman.cli.command import Command
from journeyman.cli.commands.catalogue import events
from journeyman.cli.commands.check import check
from journeyman.cli.commands.config import show_config
from journeyman.cli.commands.contract.dialects import list_dialects
from journeyman.cli.commands.contract.export import export_contract
from journeyman.cli.commands.contract.show import show_contract
from journeyman.cli.commands.control import pause, resume, stop
from journeyman.cli.commands.demo import demo
from journeyman.cli.commands.directory import directory
from journeyman.cli.commands.discover import discover
from journeyman.cli.commands.doctor import doctor
from journeyman.cli.commands.explain import explain
from journeyman.cli.commands.health import health
from journeyman.cli.commands.identity import (
    export_identity,
    import_identity,
    show_identity,
)
from journeyman.cli.commands.join import join
from journeyman.cli.commands.journal import (
    back_up_journal,
    check_journal,
    compact_journal,
)
from journeyman.cli.commands.ledger import ledger
from journeyman.cli.commands.market import market
from journeyman.cli.commands.post import post
from journeyman.cli.commands.reload import reload
from journeyman.cli.commands.replay import replay
from journeyman.cli.commands.run import run
from journeyman.cli.commands.sandbox import sandbox
from journeyman.cli.commands.simulate import simulate
from journeyman.cli.commands.status import status
from journeyman.cli.commands.strategies import (
    list_strategies,
    new_strategy,
    promote_strategy,
    release_strategy,
    score_shadows,
    show_strategy,
)
from journeyman.cli.commands.tasks import show_task, tasks
from journeyman.cli.commands.topup import topup
from journeyman.cli.commands.trial import trial
from journeyman.cli.commands.try_ import try_strategy
from journeyman.cli.commands.version import version
from journeyman.cli.output import say
from journeyman.domain.version import __version__

ABOUT = (
    "An autonomous agent that joins a network, earns credits by doing its tasks, and "
    "spends them within your limits."
)
EXIT_CODES = (
    "Exit codes: 0 done, 1 error, 2 usage, 3 not running, 4 configuration or "
    "strategy, 5 time-out, 6 refused by a safety rule, 7 network."
)
AT_WORK = (
    run,
    demo,
    simulate,
    trial,
    sandbox,
    status,
    health,
    pause,
    resume,
    reload,
    stop,
)
NETWORK = (join, market, directory, discover, post, topup)
AUTHORING = (check, try_strategy, replay, explain)
FLAT = (*AT_WORK, *NETWORK, ledger, doctor, *AUTHORING, events, version)
"""The commands of one word."""
IDENTITY = (show_identity, export_identity, import_identity)
JOURNAL = (check_journal, back_up_journal, compact_journal)
CONTRACT = (show_contract, export_contract, list_dialects)
STRATEGIES = (
    list_strategies,
    show_strategy,
    new_strategy,
    release_strategy,
    score_shadows,
    promote_strategy,
)
GROUPED = (
    tasks,
    show_task,
    *IDENTITY,
    *JOURNAL,
    *CONTRACT,
    *STRATEGIES,
    show_config,
)
ALL_COMMANDS = (*FLAT, *GROUPED)
GROUPS: tuple[tuple[str, str, tuple[Command, ...]], ...] = (
    ("identity", "Which agent this is; a copy of it, and back.", IDENTITY),
    ("journal", "Check the agent's memory, copy it, make it smaller.", JOURNAL),
    ("contract", "The contract, and what was learned of its other half.", CONTRACT),
    (
        "strategies",
        "What is loaded, and how it fares; make a new one.",
        (*STRATEGIES, check),
    ),
    ("config", "The settings in force.", (show_config,)),
)
"""The commands of two words: the first one, what it is about, the second ones."""
READING_ORDER = (
    *("run", "demo", "sandbox", "status", "health", "pause", "resume", "reload"),
    *("stop", "tasks", "ledger", "journal", "identity"),
    *("join", "market", "directory", "discover", "contract", "post", "topup"),
    *("strategies", "check", "try", "replay", "explain"),
    *("doctor", "config", "events", "version", "simulate", "trial"),
)
"""Of the first words in `--help`, as a reader looks for them; others come last."""


class _AllCommands(typer.core.TyperGroup):
    """Lists the groups of commands where they belong, and not behind all others."""

    def list_commands(self, ctx: object) -> list[str]:  # noqa: ARG002 - as called
        places = {name: place for place, name in enumerate(READING_ORDER)}
        return sorted(self.commands, key=lambda name: places.get(name, len(places)))


def build_app() -> typer.Typer:
    """Register every command."""
    app = _group(help=ABOUT, epilog=EXIT_CODES, cls=_AllCommands)
    app.callback()(_root)
    for command in FLAT:
        _register(app, command)
    app.add_typer(_tasks(), name=tasks.name)
    for name, about, commands in GROUPS:
        app.add_typer(_only(about, *commands), name=name)
    return app


def _root(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Show the version and exit.",
            is_eager=True,
            callback=lambda wanted: _show_version() if wanted else None,
        ),
    ] = False,
) -> None: ...


def _show_version() -> None:
    say(f"journeyman {__version__}")
    raise typer.Exit


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


def _group(
    *,
    help: str,  # noqa: A002 - Typer's own word
    epilog: str,
    cls: type[typer.core.TyperGroup] | None = None,
) -> typer.Typer:
    return typer.Typer(
        cls=cls,
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
