"""The tree of commands, and the entry point that runs one of them."""

import importlib
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self

import typer
import typer.core
import typer.main

from journeyman.cli.output import OutputClosedError, neutral, say
from journeyman.domain import __version__
from journeyman.domain.errors import JourneymanError

ABOUT = (
    "An autonomous agent that joins a network, earns credits by doing its tasks, and "
    "spends them within your limits."
)
EXIT_CODES = (
    "Exit codes: 0 done, 1 error, 2 usage, 3 not running, 4 configuration or "
    "strategy, 5 time-out, 6 refused by a safety rule, 7 network."
)


class Entry(NamedTuple):
    """One command of the tree: its words, where its code is, and its one line."""

    words: str
    place: str
    """`module:name`, below `journeyman.cli.commands`."""
    summary: str
    """The first line of the command's own help."""


COMMANDS = (
    Entry(
        "run", "run:run", "Run the daemon: join, discover, work, earn, until stopped."
    ),
    Entry("demo", "demo:demo", "Watch the daemon earn in a sandbox on this machine."),
    Entry(
        "sandbox",
        "sandbox:sandbox",
        "Run a local network with tasks to do, until Ctrl-C.",
    ),
    Entry(
        "status",
        "status:status",
        "Show the agent at a glance, and why it does no more.",
    ),
    Entry(
        "health",
        "health:health",
        "Tell whether the daemon does its work, for HEALTHCHECK.",
    ),
    Entry(
        "pause",
        "control:pause",
        "Have the daemon claim nothing more; work in flight goes on.",
    ),
    Entry("resume", "control:resume", "Have a paused daemon claim tasks again."),
    Entry(
        "reload",
        "control:reload",
        "Have the daemon load its strategies anew, and their settings.",
    ),
    Entry("stop", "control:stop", "Have the daemon end its work in flight, then exit."),
    Entry("tasks", "tasks:tasks", "List the tasks that moved last, and why."),
    Entry(
        "ledger",
        "ledger:ledger",
        "Show the last entries of the ledger, and its totals.",
    ),
    Entry(
        "journal check",
        "journal:check_journal",
        "Check the file, the ledger's chain, and the totals; exit 1 if one is broken.",
    ),
    Entry(
        "journal backup",
        "journal:back_up_journal",
        "Copy the journal to a new file, also while a daemon runs.",
    ),
    Entry(
        "journal compact",
        "journal:compact_journal",
        "Give back the room that the journal no longer needs; no daemon may run.",
    ),
    Entry(
        "identity show",
        "identity:show_identity",
        "Show which agent this is; never its token.",
    ),
    Entry(
        "identity export",
        "identity:export_identity",
        "Write a copy of the identity, with its token, to a new file.",
    ),
    Entry(
        "identity import",
        "identity:import_identity",
        "Become the agent of an exported identity.",
    ),
    Entry("join", "join:join", "Join the network, or tell which agent we are."),
    Entry("market", "market:market", "List the tasks that the network offers now."),
    Entry(
        "directory",
        "directory:directory",
        "Show the directory of agents, or the manifest of one.",
    ),
    Entry(
        "discover",
        "discover:discover",
        "Compare the 12 discovery documents with the contract.",
    ),
    Entry(
        "contract show",
        "contract:show_contract",
        "Show what each endpoint of the contract was seen to do.",
    ),
    Entry(
        "contract export",
        "contract:export_contract",
        "Write the contract as OpenAPI 3.1, filled in with what was learned.",
    ),
    Entry(
        "contract dialects",
        "contract:list_dialects",
        "List the shapes that our requests may have, and what the network understood.",
    ),
    Entry("post", "post:post", "Post a task for other agents, within your limits."),
    Entry("topup", "topup:topup", "Ask for a payment page, and give you its address."),
    Entry(
        "strategies list",
        "strategies.list:list_strategies",
        "List the strategies, how each fares, and every problem with its fix.",
    ),
    Entry(
        "strategies show",
        "strategies.show:show_strategy",
        "Show one strategy: what it wants and needs, its parameters, how it fares.",
    ),
    Entry(
        "strategies new",
        "strategies.new:new_strategy",
        "Write a strategy that works, and its test; nothing is ever overwritten.",
    ),
    Entry(
        "strategies check",
        "check:check",
        "Load strategies and run their examples; nothing is sent.",
    ),
    Entry(
        "strategies release",
        "strategies.release:release_strategy",
        "Give a strategy work again that made errors, or that could not work.",
    ),
    Entry(
        "strategies scoreboard",
        "strategies.shadow:score_shadows",
        "Show what strategies in shadow would have done beside the live ones.",
    ),
    Entry(
        "strategies promote",
        "strategies.shadow:promote_strategy",
        "Give a strategy work that was in shadow; its scoreboard is shown first.",
    ),
    Entry(
        "check",
        "check:check",
        "Load strategies and run their examples; nothing is sent.",
    ),
    Entry(
        "try",
        "try_:try_strategy",
        "Show what a strategy would do with one task; nothing is sent.",
    ),
    Entry(
        "replay",
        "replay:replay",
        "Show what a strategy would decide about recorded tasks.",
    ),
    Entry(
        "explain",
        "explain:explain",
        "Explain a problem code of strategies, with an example.",
    ),
    Entry(
        "doctor",
        "doctor:doctor",
        "Check this machine, the agent's state, and the network.",
    ),
    Entry(
        "config show",
        "config:show_config",
        "Show the settings in force; secrets are hidden.",
    ),
    Entry("events", "events:events", "List every event that the daemon can log."),
    Entry(
        "version", "version:version", "Show the versions of Journeyman and of Python."
    ),
)
"""In the order in which `--help` lists them, as a reader looks for them."""

TASKS_SHOW = Entry(
    "tasks show",
    "tasks:show_task",
    "Tell the history of one task, with reasons and result.",
)
"""The one command below another that does something by itself."""

GROUPS = {
    "journal": "Check the agent's journal, copy it, make it smaller.",
    "identity": "Which agent this is; a copy of it, and back.",
    "contract": "The contract, and what was learned of its other half.",
    "strategies": "What is loaded, and how it fares; make a new one.",
    "config": "The settings in force.",
}
"""The first words of commands of two words, and what each group is about."""


class LazyCommand(typer.core.TyperCommand):
    """A command whose module is imported when it is called, so that help is instant."""

    def __init__(self, entry: Entry) -> None:
        super().__init__(entry.words.split()[-1], help=entry.summary)
        self.entry = entry

    def make_context(self, *arguments: Any, **extra: Any) -> Any:  # noqa: ANN401 - Typer vendors these types
        """Import the command, and let it read its arguments."""
        return self.load().make_context(*arguments, **extra)

    def load(self) -> Any:  # noqa: ANN401 - as above
        """Import the module of the command, and build the command."""
        module, _, name = self.entry.place.partition(":")
        code = importlib.import_module(f"journeyman.cli.commands.{module}")
        command = getattr(code, name)
        app = _typer(help=command.help, epilog=f"Example: {command.example}")
        if self.entry.words == "tasks":
            app.callback(invoke_without_command=True)(command.entry)
            group = typer.main.get_group(app)
            group.add_command(LazyCommand(TASKS_SHOW))
            return group
        epilog = f"Example: {command.example}"
        app.command(command.name, help=command.help, epilog=epilog)(command.entry)
        return typer.main.get_command(app)


def build_app() -> typer.core.TyperGroup:
    """Return the tree of all commands."""
    app = _typer(help=ABOUT, epilog=EXIT_CODES, add_completion=True)
    app.callback()(_root)
    root = typer.main.get_command(app)
    assert isinstance(root, typer.core.TyperGroup)  # noqa: S101 - it has a callback
    groups: dict[str, typer.core.TyperGroup] = {}
    for entry in COMMANDS:
        first, _, second = entry.words.partition(" ")
        if second and first not in groups:
            groups[first] = _group(GROUPS[first])
            root.add_command(groups[first], first)
        (groups[first] if second else root).add_command(LazyCommand(entry))
    return root


def _group(about: str) -> typer.core.TyperGroup:
    app = _typer(help=about, epilog="")
    app.callback()(lambda: None)
    return typer.main.get_group(app)


def _typer(
    *,
    help: str,  # noqa: A002 - Typer's own word
    epilog: str,
    add_completion: bool = False,
) -> typer.Typer:
    return typer.Typer(
        help=help,
        epilog=epilog,
        add_completion=add_completion,
        # Rich would double the time that `--help` takes.
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )


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


@dataclass(frozen=True, kw_only=True, slots=True)
class ErrorMessage:
    """What is wrong and where, what to do next, and the exit code."""

    problem: str
    fix: str = ""
    exit_code: int = 1
    details: str = ""
    """The traceback of a bug, for developers."""

    @classmethod
    def about_usage(cls, error: Exception) -> Self:
        """Tell of a command line that cannot be understood."""
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "journeyman"
        tell = getattr(error, "format_message", error.__str__)
        return cls(
            problem=tell(),
            fix=f"Try `{command} --help`.",
            exit_code=getattr(error, "exit_code", 2),
        )

    @classmethod
    def about_interruption(cls, exit_code: int) -> Self:
        """Tell that Ctrl-C was heard."""
        fix = "What was committed is kept; the next start goes on from there."
        return cls(problem="interrupted", fix=fix, exit_code=exit_code)

    def as_text(self) -> str:
        """Give `journeyman: problem`, and below it, indented, what to do."""
        lines = [f"journeyman: {self.problem}".rstrip()]
        lines += [f"  {line}" for line in self.fix.splitlines()]
        # A problem may quote what a network sent.
        shown = "\n".join(neutral(part) for line in lines for part in line.split("\n"))
        return f"{shown}\n{self.details}".rstrip()

    def as_json(self) -> str:
        """Give one line of JSON."""
        return json.dumps(asdict(self))


def error_message_for(error: BaseException) -> ErrorMessage:
    """Find the words for an exception, also one inside an exception group."""
    leaves = list(_leaves(error))
    strangers = [leaf for leaf in leaves if not isinstance(leaf, JourneymanError)]
    if strangers:
        return _about_bug(error, strangers[0])
    told = next(leaf for leaf in leaves if isinstance(leaf, JourneymanError))
    return ErrorMessage(problem=told.problem, fix=told.fix, exit_code=told.exit_code)


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _about_bug(error: BaseException, leaf: BaseException) -> ErrorMessage:
    return ErrorMessage(
        problem=f"a bug: {type(leaf).__name__}: {leaf}{_place(leaf)}",
        fix="Please report it, with the traceback. Nothing that was committed is lost.",
        details="".join(traceback.format_exception(error)),
    )


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return ""
    return f" (at {Path(frames[-1].filename).name}:{frames[-1].lineno})"


INTERRUPTED = 130
"""128 + SIGINT: what shells expect of a program that Ctrl-C ended."""
DEBUG = "JOURNEYMAN_DEBUG"
"""Set in the environment, it adds the traceback to a message about a bug."""
PIPE_CLOSED = 141
"""128 + SIGPIPE: the reader, such as `head`, had enough."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; give its exit code (docs/reference/cli.md lists them)."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    _survive_odd_encodings()
    try:
        return run_app(build_app(), given or ["--help"], "journeyman")
    except OutputClosedError:
        _forget_stdout()
        return PIPE_CLOSED


def run_app(app: Callable[..., object], arguments: list[str], name: str) -> int:
    """Run one command of an app; return its exit code, and print what went wrong."""
    try:
        # Without `standalone_mode`, what a command returns is handed back.
        code = app(arguments, prog_name=name, standalone_mode=False)
    except OutputClosedError:
        raise
    except KeyboardInterrupt:
        code = INTERRUPTED
    except typer.TyperException as error:
        return _tell(ErrorMessage.about_usage(error), arguments)
    except Exception as error:  # noqa: BLE001 - a user gets a message, never a traceback
        return _tell(error_message_for(error), arguments)
    if code == INTERRUPTED:
        return _tell(ErrorMessage.about_interruption(code), arguments)
    return code if isinstance(code, int) else 0


def _tell(complaint: ErrorMessage, arguments: list[str]) -> int:
    """Complain on stderr, so that stdout holds answers and nothing else."""
    if complaint.details and not _wants_traceback(arguments):
        fix = f"{complaint.fix}\nTo see the traceback, set {DEBUG}=1 and run it again."
        complaint = replace(complaint, fix=fix, details="")
    as_json = "--json" in arguments
    print(complaint.as_json() if as_json else complaint.as_text(), file=sys.stderr)
    return complaint.exit_code


def _wants_traceback(arguments: list[str]) -> bool:
    """Spare people tracebacks, but not the log of a daemon: it will not fail again."""
    return bool(os.environ.get(DEBUG)) or arguments[:1] == ["run"]


def _survive_odd_encodings() -> None:
    r"""Write `\u2026` where a terminal has no such character, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _forget_stdout() -> None:
    """Let the interpreter flush into nothing at its end, where it would complain."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
