"""`journeyman sandbox`: a local network to try an agent on."""

import inspect
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import anyio
import typer
from pydantic import ValidationError

from journeyman.cli.processes import stop_at_end_of_input
from journeyman.cli.session import Session, command
from journeyman.domain.errors import ConfigurationError, JourneymanError, UsageError
from journeyman.sandbox import SandboxError, SandboxOptions, load_options, serving


def _field_options() -> Iterator[inspect.Parameter]:
    """Yield a command-line option for each field of `SandboxOptions`."""
    for name, field in SandboxOptions.model_fields.items():
        if name == "base_url":  # which elsewhere names the network to use
            continue
        kind: Any = field.annotation
        choices = "|".join(filter(None, _literals(kind)))
        metavar = choices or None
        if _is_list(name):
            metavar = "NAME,..."
        elif name.endswith("_seconds"):
            metavar = "SECONDS"
        yield inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=str | None if choices or _is_list(name) else kind | None,
            default=typer.Option(
                None, _option_name(name), metavar=metavar, help=field.description
            ),
        )


def _literals(kind: object) -> Iterator[str]:
    for argument in get_args(kind):
        if isinstance(argument, str):
            yield argument
        else:
            yield from _literals(argument)


def _is_list(field: str) -> bool:
    return get_origin(SandboxOptions.model_fields[field].annotation) is tuple


def _option_name(field: str) -> str:
    return "--" + field.removesuffix("_seconds").replace("_", "-")


@command(
    "sandbox",
    example="journeyman sandbox --port 8080 --data sandbox.db --competitors 2",
    settings=False,
    more_options=tuple(_field_options()),
)
def sandbox(
    session: Session,
    *,
    port: Annotated[
        int, typer.Option(help="Where to listen; 0 takes any free port.")
    ] = 8080,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A TOML file, such as config/sandbox.toml."),
    ] = None,
    until_stdin_closes: Annotated[bool, typer.Option(hidden=True)] = False,
    **fields: Any,  # noqa: ANN401 - those of `SandboxOptions`
) -> None:
    """Run a local network with tasks to do, until Ctrl-C.

    It implements the whole contract on this machine. Nothing in it costs anything.
    """
    options = _build_options(config, fields)

    async def serve() -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async with anyio.create_task_group() as group:
                if until_stdin_closes:
                    group.start_soon(stop_at_end_of_input)
                try:
                    async with serving(options, host, port) as base_url:
                        _announce(session, options, base_url)
                        async for _signal in signals:
                            break
                except SandboxError as error:
                    raise JourneymanError(error.problem, error.fix) from error
                group.cancel_scope.cancel()

    anyio.run(serve)


def _build_options(config: Path | None, fields: dict[str, Any]) -> SandboxOptions:
    """Merge the options; the command line is stronger than the file.

    Raises:
        ConfigurationError: the file cannot be used.
        UsageError: a value is out of its range.
    """
    try:
        from_file = load_options(config).model_dump() if config else {}
    except SandboxError as error:
        raise ConfigurationError(error.problem, error.fix) from error
    given = {
        name: value.split(",") if _is_list(name) else value
        for name, value in fields.items()
        if value is not None
    }
    try:
        return SandboxOptions.model_validate(from_file | given)
    except ValidationError as error:
        problem = error.errors()[0]
        name = str(problem["loc"][0])
        raise UsageError(
            f"{_option_name(name)} {fields[name]!r}: "
            f"{problem['msg'].removeprefix('Value error, ')}",
            str(SandboxOptions.model_fields[name].description),
        ) from None


def _announce(session: Session, options: SandboxOptions, base_url: str) -> None:
    if session.as_json:
        data = str(options.data) if options.data else None
        line = json.dumps({"base_url": base_url, "page": f"{base_url}/", "data": data})
    else:
        line = (
            f"The sandbox is at {base_url} (open it in a browser). "
            f"Start an agent on it: journeyman run --base-url {base_url}"
        )
    print(line, flush=True)
