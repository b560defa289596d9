"""What all commands share: their options, their example, the session they get."""

import functools
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from journeyman.cli.session import Session

_JSON = Annotated[bool, typer.Option("--json", help="Answer in JSON, for programs.")]
_CONFIG = Annotated[
    list[Path] | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="A TOML file of settings, instead of the default one; may be repeated, "
        "later ones are stronger.",
    ),
]
_DATA_DIR = Annotated[
    Path | None,
    typer.Option("--data-dir", metavar="DIR", help="Where the agent keeps its state."),
]
_BASE_URL = Annotated[
    str | None,
    typer.Option("--base-url", metavar="URL", help="The address of the network."),
]
_SET = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Any setting, such as work.slots=4; may be repeated.",
    ),
]
_SETTINGS_OPTIONS: dict[str, object] = {
    "config": _CONFIG,
    "data_dir": _DATA_DIR,
    "base_url": _BASE_URL,
    "assignments": _SET,
}


class OutputClosedError(Exception):
    """Whoever read our output has gone; Typer would take a BrokenPipeError itself."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """A function that the command line can call, and how it is shown."""

    name: str
    help: str
    example: str
    entry: Callable[..., int]


def command(
    name: str,
    *,
    example: str,
    settings: bool = True,
) -> Callable[[Callable[..., int | None]], Command]:
    """Make a command of a function whose first argument is a `Session`.

    It gets `--json`, and with `settings` the options that lead to the settings. Its
    docstring is its help text. It gives its exit code; None is 0.
    """

    def decorate(function: Callable[..., int | None]) -> Command:
        return Command(
            name=name,
            help=inspect.cleandoc(function.__doc__ or ""),
            example=example,
            entry=_entry(function, _shared_options(settings=settings)),
        )

    return decorate


def _shared_options(*, settings: bool) -> list[inspect.Parameter]:
    def option(name: str, kind: object, default: object) -> inspect.Parameter:
        return inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=default,
            annotation=kind,
        )

    several = _SETTINGS_OPTIONS.items() if settings else ()
    options = [option(name, kind, None) for name, kind in several]
    return [*options, option("as_json", _JSON, default=False)]


def _entry(
    function: Callable[..., int | None],
    shared: list[inspect.Parameter],
) -> Callable[..., int]:
    """Give the function the signature that Typer should see."""
    signature = inspect.signature(function)
    _session, *own = signature.parameters.values()

    @functools.wraps(function)
    def entry(**values: Any) -> int:  # noqa: ANN401 - whatever the options' types are
        said = {option.name: values.pop(option.name) for option in shared}
        try:
            code = function(Session(**said), **values)
            sys.stdout.flush()
        except BrokenPipeError as error:
            raise OutputClosedError from error
        return code or 0

    entry.__signature__ = signature.replace(parameters=[*own, *shared])  # type: ignore[attr-defined] # functions may have one (PEP 362)
    return entry
