"""The tree of commands, and the entry point that runs one of them."""

import importlib
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core
import typer.main

from journeyman.cli.output import OutputClosedError
from journeyman.cli.session import Command
from journeyman.domain import __version__
from journeyman.domain.errors import JourneymanError
from journeyman.domain.text import escape

ABOUT = (
    "An autonomous agent that joins a network, earns credits by doing its tasks, and "
    "spends them within your limits."
)
EXIT_CODES = (
    "Exit codes: 0 done, 1 error, 2 usage, 3 not running, 4 configuration or "
    "strategy, 5 time-out, 6 refused by a safety rule, 7 network."
)


SECTIONS = {
    "Run it": {
        "init": "Ask what an agent needs, and write its settings and a compose file.",
        "run": "Run the daemon: join, discover, work and earn until stopped.",
        "pause": "Pause the daemon: it finishes its work and claims no more.",
        "resume": "Resume a paused daemon: it claims tasks again.",
        "stop": "Stop the daemon once its work in flight is done.",
        "reload": "Reload the strategies and their settings.",
    },
    "Watch it": {
        "status": "Show the agent's state, and why it is not doing more.",
        "why": "Show a task's way from listing to pay, or why not more is earned now.",
        "tasks": "List the tasks that changed last, and why.",
        "tasks show": "Show the history of one task, with its result.",
        "tasks retry": "Try a task again now, also one that failed or was given up.",
        "tasks abandon": "Give up a task in flight; work on it is broken off.",
        "logs": "Show the log of this and of earlier runs.",
        "health": "Check whether the daemon is working, for HEALTHCHECK.",
        "events": "List every event that the daemon can log.",
    },
    "Money": {
        "ledger": "Show the last entries of the ledger, and its totals.",
        "ledger verify": "Check the ledger: its chain, its sums, and that tasks and "
        "spends agree.",
        "ledger show": "Show one entry with its cause: the request, the answer, and "
        "what led there.",
        "ledger plot": "Plot the balance over time: in the terminal, or into an image.",
        "ledger receivables": "Show what is owed for delivered work, the oldest first.",
        "profit": "Show what work earned and cost, by strategy, kind of task or day.",
        "budget": "Show each limit on spending: used, held, left, when it is free.",
        "post": "Post a task for other agents, within your limits.",
        "posts": "List the tasks that we posted: cost, outcome, state in the listing.",
        "topup": "Request a payment page, and print its address.",
        "topup list": "List the top-ups that wait for you, with their pages.",
        "topup approve": "Approve a proposed top-up: its payment page is requested.",
        "topup confirm": "Book a top-up that you have paid.",
        "topup cancel": "Forget a top-up that you will not pay.",
        "topup packs": "List the packs of credits that may be asked for.",
    },
    "Strategies": {
        "strategies list": "List the strategies, their results, and every problem.",
        "strategies show": "Show what a strategy wants and needs, and its results.",
        "strategies new": "Create a working strategy and its test.",
        "strategies check": "Load strategies and run their examples; nothing is sent.",
        "strategies sync": "Install the libraries that strategies name in their files.",
        "strategies disable": "Disable a strategy: it ends what it has claimed, "
        "and gets nothing new.",
        "strategies enable": "Enable a strategy that was disabled: it is given work "
        "again.",
        "strategies release": "Release a strategy from quarantine, to be given work "
        "again.",
        "strategies scoreboard": "Show what strategies in shadow would have done.",
        "strategies compare": "Show which of two strategies would have brought more.",
        "strategies promote": "Promote a strategy from shadow to active.",
        "check": "Load strategies and run their examples; nothing is sent.",
        "try": "Show what a strategy would do with one task; nothing is sent.",
        "replay": "Show what strategies would decide about recorded tasks.",
        "explain": "Explain a problem code of strategies, with an example.",
    },
    "Network": {
        "join": "Join the network, or show which agent we are.",
        "identity show": "Show which agent this is; never its token.",
        "identity export": "Write the identity, with its token, to a new file.",
        "identity import": "Become the agent of an exported identity.",
        "market": "List the tasks that the network offers now.",
        "contract": "Show whether we can earn on the network, and what is refused.",
        "contract show": "Show how each endpoint of the contract has behaved.",
        "contract export": "Write the contract as OpenAPI 3.1, with what was learned.",
        "contract import": "Start from an OpenAPI description of the network.",
        "discover": "Compare the 12 discovery documents with the contract.",
        "directory": "Show the directory of agents, or the manifest of one.",
    },
    "Upkeep": {
        "doctor": "Check this machine, the agent's state and the network.",
        "support-bundle": "Write a file for somebody who shall help: versions, "
        "settings, events, contract.",
        "config show": "Show the files that were read and the current settings; "
        "secrets are hidden.",
        "journal check": "Check the file, the ledger's chain and the totals.",
        "journal backup": "Copy the journal to a new file, even while a daemon runs.",
        "journal restore": "Replace the journal by a backup; no daemon may run.",
        "journal acknowledge": "Say that you know of a restored backup.",
        "journal begin": "Begin a new journal for an agent that has lost its own.",
        "journal archives": "List the archives, or show what they have of a task.",
        "journal compact": "Free unused space in the journal; no daemon may run.",
        "version": "Show the versions of Journeyman and Python.",
    },
    "Tests, without a network": {
        "demo": "Watch the daemon earn in a sandbox on this machine.",
        "sandbox": "Run a local network with tasks to do, until Ctrl-C.",
    },
}
"""Each command and the first line of its help, as readers look for them."""
COMMANDS = {
    words: about for section in SECTIONS.values() for words, about in section.items()
}
FILES = {
    "pause": "control",
    "resume": "control",
    "reload": "control",
    "stop": "control",
    "strategies enable": "strategies.disable",
    "strategies scoreboard": "strategies.shadow",
    "strategies promote": "strategies.shadow",
    "strategies check": "check",
    "support-bundle": "support_bundle",
    "try": "try_",
}
"""The modules of commands that are not in one of their own, or of their group."""
GROUPS = {
    "journal": "Check, copy, restore and compact the agent's journal.",
    "identity": "Show, export and import the agent's identity.",
    "strategies": "List, create, check and manage strategies.",
    "config": "Show the settings.",
}
"""The first words of commands of two words, and what each group is about."""


class LazyCommand(typer.core.TyperCommand):
    """A command whose module is imported when it is called, so that help is instant."""

    def __init__(self, words: str) -> None:
        super().__init__(words.rsplit(maxsplit=1)[-1], help=COMMANDS[words])
        self.words = words

    def make_context(self, *arguments: Any, **extra: Any) -> Any:  # noqa: ANN401 - Typer vendors these types
        """Load the command, and let it read its arguments."""
        return self.load().make_context(*arguments, **extra)

    def load(self) -> Any:  # noqa: ANN401 - as above
        """Import the module of the command, and build the command."""
        command = self._import()
        epilog = f"Example: {command.example}"
        app = _typer(help=command.help, epilog=epilog)
        if below := [words for words in COMMANDS if words.startswith(f"{self.words} ")]:
            app.callback(invoke_without_command=True)(command.entry)
            group = typer.main.get_group(app)
            for words in below:
                group.add_command(LazyCommand(words))
            return group
        app.command(command.name, help=command.help, epilog=epilog)(command.entry)
        return typer.main.get_command(app)

    def _import(self) -> Command:
        group, *_ = self.words.split()
        own = self.words.replace(" ", ".") if group == "strategies" else group
        file = FILES.get(self.words, own)
        module = importlib.import_module(f"journeyman.cli.commands.{file}")
        return next(
            found
            for found in vars(module).values()
            if isinstance(found, Command) and found.name == self.name
        )


class SectionedGroup(typer.core.TyperGroup):
    """The root, whose help lists the commands by section."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002 - as above; the signature is Typer's
        """Write each section, with what its commands do."""
        width = max(map(len, self.commands))
        for name, section in SECTIONS.items():
            first_words = dict.fromkeys(words.split()[0] for words in section)
            with formatter.section(name):
                formatter.write_dl(
                    (f"{word:<{width}}", self.commands[word].help)
                    for word in first_words
                )


def build_app() -> typer.core.TyperGroup:
    """Return the tree of all commands."""
    app = _typer(help=ABOUT, epilog=EXIT_CODES)
    app.callback(cls=SectionedGroup)(_root)
    root = typer.main.get_group(app)
    root.params += typer.main.get_install_completion_arguments()
    groups: dict[str, typer.core.TyperGroup] = {}
    for words in COMMANDS:
        first, _, second = words.partition(" ")
        if second and first in COMMANDS:
            continue  # below a command that does something by itself
        if second and first not in groups:
            groups[first] = _group(GROUPS[first])
            root.add_command(groups[first], first)
        (groups[first] if second else root).add_command(LazyCommand(words))
    return root


def _group(about: str) -> typer.core.TyperGroup:
    app = _typer(help=about, epilog="")
    app.callback()(lambda: None)
    return typer.main.get_group(app)


def _typer(
    *,
    help: str,  # noqa: A002 - Typer's own word
    epilog: str,
) -> typer.Typer:
    return typer.Typer(
        help=help,
        epilog=epilog,
        add_completion=False,
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
    print(f"journeyman {__version__}")
    raise typer.Exit


@dataclass(frozen=True, kw_only=True, slots=True)
class ErrorMessage:
    """What is wrong and where, what to do next, and the exit code."""

    problem: str
    fix: str = ""
    exit_code: int = 1
    details: str = ""
    """The traceback of a bug, for developers."""

    def as_text(self) -> str:
        """Return `journeyman: problem`, and below it, indented, what to do."""
        lines = [f"journeyman: {self.problem}".rstrip()]
        lines += [f"  {line}" for line in self.fix.splitlines()]
        # A problem may quote what a network sent.
        shown = "\n".join(escape(part) for line in lines for part in line.split("\n"))
        return f"{shown}\n{self.details}".rstrip()


def _usage_message(error: typer.TyperException) -> ErrorMessage:
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "journeyman"
    text = getattr(error, "format_message", error.__str__)
    exit_code = getattr(error, "exit_code", 2)
    return ErrorMessage(
        problem=text(), fix=f"Try `{command} --help`.", exit_code=exit_code
    )


def _error_message(error: BaseException) -> ErrorMessage:
    """Return the message for an exception, or for those in an exception group."""
    leaves = list(_leaves(error))
    for leaf in leaves:
        if not isinstance(leaf, JourneymanError):
            return ErrorMessage(
                problem=f"a bug: {type(leaf).__name__}: {leaf}{_place(leaf)}",
                fix="Please report it, with the traceback. "
                "Nothing that was committed is lost.",
                details="".join(traceback.format_exception(error)),
            )
    first = next(leaf for leaf in leaves if isinstance(leaf, JourneymanError))
    return ErrorMessage(problem=first.problem, fix=first.fix, exit_code=first.exit_code)


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


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
"""128 + SIGPIPE: the reader, such as `head`, closed the pipe."""


def run_command(given: list[str]) -> int:
    """Run one command of `journeyman`; return its exit code."""
    _tolerate_narrow_encodings()
    return run_app(build_app(), given or ["--help"], "journeyman")


def run_app(app: Callable[..., object], arguments: list[str], name: str) -> int:
    """Run one command of an app; return its exit code, and print what went wrong."""
    try:
        # Without `standalone_mode`, what a command returns is handed back.
        code = app(arguments, prog_name=name, standalone_mode=False)
    except OutputClosedError:
        _forget_stdout()
        return PIPE_CLOSED
    except KeyboardInterrupt:
        code = INTERRUPTED
    except typer.TyperException as error:
        return _report(_usage_message(error), arguments)
    except Exception as error:  # noqa: BLE001 - a user gets a message, never a traceback
        return _report(_error_message(error), arguments)
    if code == INTERRUPTED:
        fix = "What was committed is kept; the next start continues from there."
        message = ErrorMessage(problem="interrupted", fix=fix, exit_code=code)
        return _report(message, arguments)
    return code if isinstance(code, int) else 0


def _report(message: ErrorMessage, arguments: list[str]) -> int:
    """Print an error on stderr, so that stdout holds answers and nothing else."""
    if message.details and not _wants_traceback(arguments):
        fix = f"{message.fix}\nTo see the traceback, set {DEBUG}=1 and run it again."
        message = replace(message, fix=fix, details="")
    as_json = "--json" in arguments
    text = json.dumps(asdict(message)) if as_json else message.as_text()
    print(text, file=sys.stderr)
    return message.exit_code


def _wants_traceback(arguments: list[str]) -> bool:
    """Return true also for a daemon, whose log must explain it: it may not recur."""
    return bool(os.environ.get(DEBUG)) or arguments[:1] == ["run"]


def _tolerate_narrow_encodings() -> None:
    r"""Write `\u2026` where a terminal has no such character, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _forget_stdout() -> None:
    """Replace stdout by /dev/null: the interpreter's last flush must not fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
