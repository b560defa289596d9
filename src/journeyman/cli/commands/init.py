"""`journeyman init`: from a network's address to settings that the daemon starts with.

Each question has an option. Nothing is written until all is known, and then both files
or none.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import resources, util
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory
from typing import Annotated, Any
from urllib.parse import urlsplit

import anyio
import typer

from journeyman.cli.catalog import loading_error
from journeyman.cli.commands.doctor import show_findings
from journeyman.cli.output import did_you_mean, plural, print_table, print_text
from journeyman.cli.questions import Questions, broken_off
from journeyman.cli.session import Session, command
from journeyman.daemon.doctor import network as reach
from journeyman.daemon.doctor.finding import Finding, Grade
from journeyman.daemon.environment import build_environment
from journeyman.daemon.strategies import LOCAL, ready_strategies, strategy_folders
from journeyman.daemon.untrusted import describer_for, load_as_trusted
from journeyman.domain.errors import (
    ConfigurationError,
    NetworkError,
    UsageError,
)
from journeyman.domain.outcomes import Confirmed
from journeyman.domain.tasks import JSON, Task
from journeyman.journal.files import disk_errors
from journeyman.network.service_model.listing import Listing
from journeyman.settings.describe import render_chosen
from journeyman.settings.schema import settings_by_key
from journeyman.settings.sections import Settings
from journeyman.settings.sources import FILE_NAME, load_settings

COMPOSE_NAME = "compose.yaml"
LIMITS = {
    "budget.reserve_credits": "Credits that are never spent",
    "budget.per_day_credits": "The most that posting tasks may cost in a day",
    "budget.per_post_credits": "The most that one posted task may cost",
    "work.slots": "Tasks to work on at once",
}
"""What is asked of each limit; the settings have its bounds and the proposal."""
MODEL_STRATEGY = "ask_llm"
OFF = "off"
MODELS = {
    "ANTHROPIC_API_KEY": "anthropic:claude-haiku-4-5",
    "OPENAI_API_KEY": "openai:gpt-5-mini",
}
"""What that strategy asks where a key is in the environment, which turns it on."""
CENTS_PER_USD = 100
MODEL_CREDITS = 20.0
"""What it may cost in a day, where nothing else is said."""
IDLE = frozenset({MODEL_STRATEGY, "run_command"})
"""Ready strategies that want nothing before they are configured. They are not disabled,
or configuring one would not be enough."""
EVERY = "all"
NEXT_STEPS = ("journeyman run", "docker compose up --detach")
HEAD = """\
The settings of this agent, made by `journeyman init`. What is not here has its default:
`journeyman config show` lists everything, and docs/reference/configuration.md explains
it.

Stronger than this file are the environment (JOURNEYMAN_SECTION__KEY) and the command
line. A password, token or key does not belong here: name a variable or a file."""
ABOUT_DISABLED = """

The strategies in `strategies.disabled` were not chosen. Take a name out to use it."""


@command(
    "init", settings=False, example="journeyman init --base-url https://network.example"
)
def init(  # noqa: PLR0913 - each is an option of the command line
    session: Session,
    *,
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="The address of the network.")
    ] = None,
    portal_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The address of its portal, if another."),
    ] = None,
    reserve_credits: Annotated[
        str | None, typer.Option(metavar="N", help="Credits that are never spent.")
    ] = None,
    per_day_credits: Annotated[
        str | None,
        typer.Option(metavar="N", help="The most that posts may cost in a day."),
    ] = None,
    per_post_credits: Annotated[
        str | None,
        typer.Option(metavar="N", help="The most that one post may cost."),
    ] = None,
    slots: Annotated[
        str | None, typer.Option(metavar="N", help="How many tasks to work on at once.")
    ] = None,
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="A strategy to use, or all; may be repeated."
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="A language model, or off. Proposed: what a key in the environment "
            "opens, else off.",
        ),
    ] = None,
    model_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The model's address, if it is your own."),
    ] = None,
    model_key_env: Annotated[
        str | None,
        typer.Option(
            metavar="VARIABLE", help="The environment variable with the model's key."
        ),
    ] = None,
    model_prices: Annotated[
        str | None,
        typer.Option(
            metavar="READ,WRITTEN",
            help="Credits for 1000 tokens read and written, or free.",
        ),
    ] = None,
    model_credits: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="The most that the model may cost in a day, in credits (US cents).",
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Ask nothing: take what is proposed.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the files if they are there.")
    ] = False,
) -> None:
    """Ask what an agent needs, and write its settings and a compose file.

    It reads the network's documents and its public market, and joins nothing. Then it
    proposes limits, a language model if a key of one is in the environment, and the
    strategies that fit what the market lists now, and writes journeyman.toml and
    compose.yaml into this folder. A key is never asked for or written: only the name
    of its environment variable is.
    """
    given = {
        "budget.reserve_credits": reserve_credits,
        "budget.per_day_credits": per_day_credits,
        "budget.per_post_credits": per_post_credits,
        "work.slots": slots,
    }
    setup = Setup(
        questions=Questions.here(takes_proposals=yes, as_json=session.as_json),
        is_quiet=session.as_json,
    )
    with _nothing_is_written_on_interrupt():
        _require_place(is_replacing=force)
        setup.find_network(base_url, portal_url)
        setup.ask_limits(given)
        setup.ask_model(
            ModelOptions(model, model_url, model_key_env, model_prices, model_credits),
        )
        setup.ask_strategies(strategy)
        files = {
            FILE_NAME: render_chosen(setup.head, setup.chosen),
            COMPOSE_NAME: _compose_file(setup),
        }
        _write_together(files, is_replacing=force)
    session.answer(setup.as_json(), lambda: _show_end(setup))


@contextmanager
def _nothing_is_written_on_interrupt() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        raise broken_off() from None


# -- what is asked -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """What the command line says about the language model."""

    name: str | None
    url: str | None
    key_env: str | None
    prices: str | None
    credits: str | None

    @property
    def says_where(self) -> bool:
        """Whether an option says how the model is reached, or what it costs."""
        return bool(self.url or self.key_env or self.prices)


@dataclass(frozen=True, slots=True)
class Fit:
    """A strategy, and what it would take of the tasks that are listed now."""

    name: str
    tasks: int = 0
    credits: int = 0


@dataclass(frozen=True, slots=True)
class Seen:
    """What was found at an address."""

    findings: tuple[Finding, ...]
    is_service: bool = False
    others: tuple[str, ...] = ()
    """Services that its documents name, where it is none itself."""
    tasks: tuple[Task, ...] = ()
    """Those of the public market that nobody has claimed."""


@dataclass(kw_only=True, eq=False)
class Setup:
    """The answers so far."""

    questions: Questions
    is_quiet: bool
    """Only the end is printed, as JSON."""
    chosen: dict[str, Any] = field(default_factory=dict)
    """The settings to write, by dotted key."""
    seen: Seen = field(default_factory=lambda: Seen(()))
    fits: tuple[Fit, ...] = ()
    used: tuple[str, ...] = ()
    """The strategies that were chosen."""

    @property
    def model(self) -> Mapping[str, Any]:
        """The parameters of the model's strategy; empty: no model."""
        params: dict[str, dict[str, Any]] = self.chosen.get("strategies.params", {})
        return params.get(MODEL_STRATEGY, {})

    def find_network(self, given: str | None, portal: str | None) -> None:
        """Ask for the address until a service answers there.

        Raises:
            NetworkError: none does, and nobody can be asked for another address.
        """
        known = _settings({}).network
        given_portal = portal
        while True:
            address = self.questions.ask(
                "The network's address",
                option="--base-url",
                given=given,
                proposal=known.base_url,
                read=partial(_read_setting, "network.base_url"),
            )
            self.chosen = {"network.base_url": address}
            if portal := portal or known.portal_url:
                self.chosen["network.portal_url"] = _read_setting(
                    "network.portal_url", portal
                )
            self.seen = anyio.run(_look_at, _settings(self.chosen), address)
            self.show(lambda: show_findings(self.seen.findings))
            if self.seen.is_service:
                return
            if not self.questions.may_ask:
                raise _no_service(address, self.seen)
            given, portal = None, given_portal
            if self.seen.others:
                other = self.seen.others[0]
                use = f"Use {other} for the network, and {address} as its portal?"
                if self.questions.confirm(use):
                    given, portal = other, address

    def ask_limits(self, given: Mapping[str, str | None]) -> None:
        """Ask for each limit; the proposal is its default."""
        settings = _settings({}).model_dump()
        for key, text in LIMITS.items():
            section, name = key.split(".")
            self.chosen[key] = self.questions.ask(
                text,
                option=f"--{name.replace('_', '-')}",
                given=given[key],
                proposal=str(settings[section][name]),
                read=partial(_read_setting, key),
            )

    def ask_model(self, given: ModelOptions) -> None:
        """Ask for a language model; without one, little is written about any.

        Raises:
            UsageError: one is named without a key or an address, or the other way.
        """
        key_env, found = _found_model()
        if key_env and given.name is None and self.questions.may_ask:
            self.show(lambda: print_text(f"{key_env} is in the environment."))
        name = self.questions.ask(
            "A language model for text tasks, such as openai:gpt-5-mini; or off",
            option="--model",
            given=given.name,
            proposal=found or OFF,
            read=str,
        )
        if name in ("", OFF):
            _require_no_model(given)
            return
        if name == found and not given.says_where:
            # Its address and its prices are known.
            params: dict[str, Any] = {"model": name, "api_key_env": key_env}
        else:
            params = self._ask_other_model(name, given)
        credits_ = self.questions.ask(
            "The most that it may cost in a day, in credits (US cents)",
            option="--model-credits",
            given=given.credits,
            proposal=f"{MODEL_CREDITS:g}",
            read=_read_credits,
        )
        params["credits_per_day"] = credits_
        self.chosen["strategies.params"] = {MODEL_STRATEGY: params}

    def _ask_other_model(self, name: str, given: ModelOptions) -> dict[str, Any]:
        """Ask how a model is reached and what it costs; return its parameters."""
        url, key_env = self._ask_place_of_model(given)
        params = {"model": name, "base_url": url, "api_key_env": key_env}
        params = {key: value for key, value in params.items() if value}
        prices = self.questions.ask(
            "Its price in credits (US cents) for 1000 tokens, read and written, such "
            "as 0.025,0.2; or free",
            option="--model-prices",
            given=given.prices,
            proposal="free" if _is_on_this_machine(url) else None,
            read=_read_prices,
        )
        return params | prices

    def _ask_place_of_model(self, given: ModelOptions) -> tuple[str, str]:
        """Ask for the address and the key's variable, one of which is needed."""
        is_named = given.url is not None or given.key_env is not None
        if not is_named and not self.questions.may_ask:
            raise UsageError(
                "--model needs a key or an address",
                "Name the variable that has the key (--model-key-env OPENAI_API_KEY), "
                "or the address of your own server (--model-url URL).",
            )
        key_env = self.questions.ask(
            "The environment variable with its key, such as OPENAI_API_KEY (the name, "
            "never the key; empty: none)",
            option="--model-key-env",
            given=given.key_env if not is_named else given.key_env or "",
            proposal="",
            read=_read_variable,
        )
        url = self.questions.ask(
            "Its address, if it is your own server, such as http://localhost:11434/v1",
            option="--model-url",
            given=given.url if not is_named else given.url or "",
            # Without a key there must be one.
            proposal="" if key_env else None,
            read=_read_model_address,
        )
        return url, key_env

    def ask_strategies(self, given: Sequence[str] | None) -> None:
        """Ask which strategies to use; all are proposed.

        What fits no task today may fit one tomorrow, and costs nothing until then.
        """
        settings = _settings(self.chosen)
        folders = strategy_folders(settings.strategies)
        has_model = any((folder / MODEL_STRATEGY).is_dir() for folder in folders)
        if self.model and not has_model:
            raise UsageError(
                f"the model is used by the strategy {MODEL_STRATEGY}, which is not in "
                f"{folders}",
                f"Copy it there from {ready_strategies()}, or choose no model. "
                "Nothing was written.",
            )
        self.fits = anyio.run(_fits, settings, self.seen.tasks)
        if not folders.own:
            # So that they stay when the first strategy of their owner's comes.
            self.chosen["strategies.ready"] = True
        self.show(self._show_own if folders.own else self._show_fits)
        names = [fit.name for fit in self.fits]
        self.used = self.questions.ask(
            "Strategies to use, with commas between them, or all",
            option="--strategy",
            given=None if given is None else ",".join(given),
            proposal=EVERY,
            read=partial(_read_names, names),
        )
        if (
            not self.model
            and MODEL_STRATEGY in names
            and any(map(os.environ.get, MODELS))
        ):
            # Otherwise the key would turn it on, in spite of the answer.
            self.chosen["strategies.params"] = {MODEL_STRATEGY: {"model": OFF}}
        disabled = [name for name in names if name not in {*self.used, *IDLE}]
        if disabled:
            self.chosen["strategies.disabled"] = disabled

    def _show_own(self) -> None:
        # Why they are there is their owner's business, and no matter of this market.
        names = ", ".join(fit.name for fit in self.fits) or "none could be loaded"
        print()
        print_text(f"Your own strategies: {names}")

    def _show_fits(self) -> None:
        print()
        fitting = [fit for fit in self.fits if fit.tasks]
        if not fitting:
            print_text("No strategy fits a task that is listed now.")
            return
        rows = [(fit.name, fit.tasks, fit.credits) for fit in fitting]
        print_table(["strategy", "fits", "credits"], rows)
        others = [fit.name for fit in self.fits if not fit.tasks]
        listed = plural(len(self.seen.tasks), "task")
        if others:
            print_text(f"Fit none of the {listed} listed now: {', '.join(others)}")

    def show(self, show: Callable[[], None]) -> None:
        """Show something on the way, unless only JSON is wanted."""
        if not self.is_quiet:
            show()

    @property
    def head(self) -> str:
        """The text at the top of the settings."""
        return f"{HEAD}{ABOUT_DISABLED if 'strategies.disabled' in self.chosen else ''}"

    def as_json(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        return {
            "files": [FILE_NAME, COMPOSE_NAME],
            "checks": [
                {"check": one.check, "grade": one.grade, "message": one.message}
                for one in self.seen.findings
            ],
            "strategies": [
                {
                    "name": fit.name,
                    "tasks": fit.tasks,
                    "credits": fit.credits,
                    "used": fit.name in self.used,
                }
                for fit in self.fits
            ],
            "settings": self.chosen,
            "notes": self.notes(),
            "next": NEXT_STEPS,
        }

    def notes(self) -> list[str]:
        """Return what an owner should know before the start."""
        disabled = ", ".join(self.chosen.get("strategies.disabled", ()))
        key_env = self.model.get("api_key_env")
        credits_ = self.model.get("credits_per_day")
        no_library = self.model and util.find_spec("pydantic_ai") is None
        variables = (settings_by_key()[tuple(key.split("."))] for key in self.chosen)
        stronger = [one.variable for one in variables if os.environ.get(one.variable)]
        notes = (
            disabled
            and f"disabled, since not chosen (strategies.disabled): {disabled}",
            credits_
            and f"{self.model['model']} is asked for at most {credits_:g} credits "
            f"({credits_ / CENTS_PER_USD:.2f} US dollars) a day",
            key_env
            and not os.environ.get(key_env)
            and f"{key_env} is not set here; set it before the start",
            no_library and "a model needs pip install 'journeyman[llm]'",
            stronger
            and f"{', '.join(stronger)} in the environment is stronger than the file",
        )
        return [note for note in notes if isinstance(note, str) and note]


def _found_model() -> tuple[str, str]:
    """Return the variable of a key in the environment, and the model that it opens."""
    for variable, model in MODELS.items():
        # At an address of one's own, only its owner knows which models there are.
        is_elsewhere = model.startswith("openai:") and os.environ.get("OPENAI_BASE_URL")
        if os.environ.get(variable, "").strip() and not is_elsewhere:
            return variable, model
    return "", ""


def _require_no_model(given: ModelOptions) -> None:
    if given.says_where or given.credits:
        raise UsageError(
            "which model is meant is not said",
            "Name it, such as --model openai:gpt-5-mini, or omit the other options "
            "that begin with --model.",
        )


# -- how answers are read ----------------------------------------------------------


def _settings(chosen: Mapping[str, object]) -> Settings:
    """Return the settings as the environment and these answers have them."""
    return load_settings(
        files=(), overrides=chosen, environ=os.environ, cwd=Path.cwd()
    ).settings


def _read_setting(key: str, text: str) -> Any:  # noqa: ANN401 - whatever it holds
    """Return an answer as a file would have it, checked by the settings themselves."""
    try:
        loaded = load_settings(
            files=(), overrides={key: text}, environ={}, cwd=Path.cwd()
        )
    except ConfigurationError as error:
        # One value was given, so one line tells all.
        _, _, problem = error.problem.rpartition(f"{key}: ")
        raise ConfigurationError(f"{key}: {problem}") from None
    section, name = key.split(".")
    return loaded.settings.model_dump(mode="json")[section][name]


_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")


def _read_variable(text: str) -> str:
    if not text or _VARIABLE.fullmatch(text):
        return text
    # It may be a key: it is not repeated.
    raise ConfigurationError(
        "that is not the name of an environment variable",
        "Write the name, such as OPENAI_API_KEY, and put the key into the environment "
        "only.",
    )


def _read_model_address(text: str) -> str:
    """Check an address by the rules of another one of a model."""
    return str(_read_setting("suggestions.base_url", text)) if text else ""


def _read_prices(text: str) -> dict[str, JSON]:
    if text == "free":
        return {"free": True}
    try:
        read, written = (float(price) for price in text.split(","))
    except ValueError:
        read = written = -1.0
    if not (
        0 <= read < float("inf") and 0 <= written < float("inf") and read + written
    ):
        raise ConfigurationError(
            f"{text!r} are not two prices",
            "Write the credits for 1000 tokens read, a comma, and those for 1000 "
            "written, such as 0.025,0.2; or free.",
        )
    return {"credits_per_1k_input": read, "credits_per_1k_output": written}


def _read_credits(text: str) -> float:
    try:
        amount = float(text)
    except ValueError:
        amount = -1.0
    if not 0 < amount < float("inf"):
        raise ConfigurationError(
            f"{text!r} is not an amount of credits",
            "Write a number above 0, such as 20; without a model, choose off.",
        )
    return amount


def _read_names(known: Sequence[str], text: str) -> tuple[str, ...]:
    names = list(dict.fromkeys(filter(None, map(str.strip, text.split(",")))))
    if names == [EVERY]:
        return tuple(known)
    for name in names:
        if name not in known:
            raise ConfigurationError(
                f"there is no strategy {name!r}",
                f"{did_you_mean(name, known)}There are {', '.join(known)}.",
            )
    if not names:
        raise ConfigurationError(
            "no strategy is named", f"Name one or more, or write {EVERY}."
        )
    return tuple(names)


def _is_on_this_machine(address: str) -> bool:
    return bool(address) and urlsplit(address).hostname in reach.LOOPBACK


# -- what is found -----------------------------------------------------------------


async def _look_at(settings: Settings, address: str) -> Seen:
    """Look at an address as `doctor` does."""
    environment = build_environment()
    named = {"address": reach.check_address(address)}
    named["name"] = await reach.check_name(address)
    if named["name"].grade is not Grade.FAIL:
        connection = await reach.check_connection(address, environment.clock)
        named["connection"] = connection
    found = [replace(one, check=check) for check, one in named.items()]
    if any(one.grade is Grade.FAIL for one in found):
        return Seen(tuple(found))
    service = reach.Service(settings, address, None, environment)
    look = await reach.check_service(service)
    documents = await reach.read_documents(service)
    place = reach.check_place(address, look, documents)
    is_place = place.grade is not Grade.FAIL
    if is_place:
        found += [replace(one, check=check) for check, one in look.rows]
    found.append(replace(place, check="service"))
    found.append(replace(reach.check_documents(documents), check="documents"))
    works = any(one.grade is not Grade.FAIL for one in look.endpoints.values())
    listed = look.outcomes["public_marketplace"]
    tasks: tuple[Task, ...] = ()
    if isinstance(listed, Confirmed) and isinstance(listed.value, Listing):
        tasks = tuple(
            task for task in listed.value.every_task() if task.claimant is None
        )
    others = () if is_place else tuple(reach.other_services(address, documents))
    return Seen(tuple(found), is_place and works, others, tasks)


def _no_service(address: str, seen: Seen) -> NetworkError:
    failed = next(one for one in seen.findings if one.grade is Grade.FAIL)
    if not seen.others:
        return NetworkError(failed.message, f"{failed.fix}\nNothing was written.")
    return NetworkError(
        failed.message,
        "If you trust it, the token will go there:\n"
        f"journeyman init --base-url {seen.others[0]} --portal-url {address}\n"
        "Nothing was written.",
    )


async def _fits(settings: Settings, tasks: Sequence[Task]) -> tuple[Fit, ...]:
    """Ask each strategy about each task, as the daemon would.

    Raises:
        ConfigurationError: the model's parameters are refused.
    """
    with describer_for(settings) as describer:
        registry = await load_as_trusted(settings.strategies, describer)
        if settings.strategies.params and registry.problems:
            raise loading_error(registry.problems)
        fits = {one.name: Fit(one.name) for one in registry.strategies}
        for task in tasks:
            for verdict in registry.choose(task).verdicts:
                if verdict.wanted:
                    fit = fits[verdict.strategy]
                    fits[fit.name] = Fit(
                        fit.name, fit.tasks + 1, fit.credits + task.reward
                    )
    return tuple(sorted(fits.values(), key=lambda fit: (-fit.credits, fit.name)))


# -- the files ---------------------------------------------------------------------


def _compose_file(setup: Setup) -> str:
    template = resources.files("journeyman.cli") / "templates" / "compose.txt"
    key_env, strategies, network = setup.model.get("api_key_env"), "", ""
    variables = ""
    addresses = (setup.chosen["network.base_url"], setup.model.get("base_url", ""))
    if any(map(_is_on_this_machine, addresses)):
        network = (
            "    # An address of the settings is on this machine, and so outside of a\n"
            "    # container's own network.\n"
            "    network_mode: host\n"
        )
    mount = f"- ./{LOCAL}:/strategies:ro\n"
    strategies = f"      # Your own strategies, beside the ready ones:\n      # {mount}"
    if LOCAL.is_dir():
        strategies = f"      {mount}"
        # The image would load the ready ones beside them, `journeyman run` does not.
        variables += '      JOURNEYMAN_STRATEGIES__READY: "false"\n'
    if key_env:
        variables += f"      {key_env}: ${{{key_env}:?the key of the model}}\n"
    return Template(template.read_text("utf-8")).substitute(
        build="docker build --tag journeyman .",
        network=network,
        environment=f"    environment:\n{variables}" if variables else "",
        strategies=strategies,
    )


PUBLIC_FILE = 0o644
"""A container's user reads them too, and no secret is in them."""


def _require_place(*, is_replacing: bool) -> None:
    """Refuse before anything is asked, and again before anything is written.

    Raises:
        UsageError: a file is there already, or what has its name is no file.
    """
    there = [name for name in (FILE_NAME, COMPOSE_NAME) if os.path.lexists(name)]
    odd = [name for name in there if not Path(name).is_file()]
    if odd or (there and not is_replacing):
        more = "" if odd else ", or replace it with --force"
        raise UsageError(
            f"already there: {' and '.join(odd or there)}",
            f"Move it away, or go to another folder{more}. Nothing was written.",
        )


def _write_together(files: Mapping[str, str], *, is_replacing: bool) -> None:
    """Write all files or none, once our own loader has accepted the settings.

    Raises:
        StateError: the disk refused.
    """
    _require_place(is_replacing=is_replacing)
    failed = "the files cannot be written"
    fix = "Nothing was written. Check the rights and the room in this folder."
    with (
        disk_errors(failed, fix),
        TemporaryDirectory(prefix=".journeyman-", dir=".") as folder,
    ):
        staging = Path(folder)
        for name, text in files.items():
            (staging / name).write_text(text, encoding="utf-8")
            (staging / name).chmod(PUBLIC_FILE)
        load_settings(files=(staging / FILE_NAME,), environ=os.environ, cwd=Path.cwd())
        move_together(staging, files)


def move_together(staging: Path, names: Iterable[str]) -> None:
    """Move files of a folder to the current one: all, or none."""
    try:
        for name in names:
            place = Path(name)
            if place.exists():
                place.rename(staging / f"{name}.old")
            (staging / name).rename(place)
    except BaseException:
        # By what is on the disk: Ctrl-C may have come between any two steps.
        for name in names:
            old = staging / f"{name}.old"
            if old.exists():
                old.replace(name)
            elif not (staging / name).exists():
                Path(name).unlink()
        raise


def _show_end(setup: Setup) -> None:
    print()
    print(f"wrote {FILE_NAME} and {COMPOSE_NAME}")
    for note in setup.notes():
        print_text(f"note:   {note}")
    run, compose = NEXT_STEPS
    print(f"next:   {run}")
    print(f"        {compose}   (its first lines say how the image is made)")
