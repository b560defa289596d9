"""`journeyman sandbox`: a local network to try an agent on."""

import json
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

import anyio
import typer
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from journeyman.cli.processes import stop_at_end_of_input
from journeyman.cli.session import Session, command
from journeyman.domain.errors import ConfigurationError, JourneymanError, UsageError
from journeyman.sandbox import SandboxError, SandboxOptions, load_options, serving


def _choice(choices: str, told: str) -> Any:  # noqa: ANN401 - as typer.Option is typed
    return typer.Option(metavar=choices, help=told)


@command(
    "sandbox",
    example="journeyman sandbox --port 8080 --data sandbox.db --competitors 2",
    settings=False,
)
def sandbox(  # noqa: PLR0913 - each is an option of the command line
    session: Session,
    *,
    port: Annotated[
        int, typer.Option(help="Where to listen; 0 takes any free port.")
    ] = 8080,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    data: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keep everything in this SQLite file."),
    ] = None,
    tasks: Annotated[
        int | None, typer.Option(help="How many tasks to begin with.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="The same seed makes the same tasks.")
    ] = None,
    competitors: Annotated[
        int | None, typer.Option(help="Other agents that compete for tasks.")
    ] = None,
    refill: Annotated[
        bool | None,
        typer.Option("--refill", help="Make new tasks for those that are taken."),
    ] = None,
    kinds: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Make only these kinds of task."),
    ] = None,
    latency: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Answer this much later."),
    ] = None,
    request_format: Annotated[
        str | None,
        _choice("snake|camel|id-only|wrapped", "How bodies of actions are written."),
    ] = None,
    strict: Annotated[
        bool | None,
        typer.Option("--strict", help="Refuse other formats, and unknown fields."),
    ] = None,
    error_format: Annotated[
        str | None,
        _choice(
            "json|supabase|problem-json|fastapi|zod|plain|html",
            "How errors are written.",
        ),
    ] = None,
    listing_format: Annotated[
        str | None,
        _choice(
            "tasks|data|items|results|bare|nested|keyed|edges|embedded|paged",
            "Where the tasks are in a listing.",
        ),
    ] = None,
    naming: Annotated[
        str | None,
        _choice("snake|camel|pascal|kebab", "How names in answers are spelled."),
    ] = None,
    record_format: Annotated[
        str | None,
        _choice("plain|attributes|graphql", "What surrounds the fields of a task."),
    ] = None,
    value_format: Annotated[
        str | None,
        _choice("plain|texts|numbers|objects", "How amounts and times are written."),
    ] = None,
    empty_answers: Annotated[
        bool | None,
        typer.Option(
            "--empty-answers", help="Answer actions that succeed with an empty object."
        ),
    ] = None,
    absent_endpoints: Annotated[
        str | None, _choice("NAME,...", "These endpoints answer 404.")
    ] = None,
    chaos: Annotated[
        str | None, _choice("off|mild|hard", "How often a fault is injected.")
    ] = None,
    faults: Annotated[
        str | None, _choice("KIND,...", "Only these faults, such as truncated.")
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A TOML file, such as config/sandbox.toml."),
    ] = None,
    until_stdin_closes: Annotated[bool, typer.Option(hidden=True)] = False,
) -> None:
    """Run a local network with tasks to do, until Ctrl-C.

    It implements the whole contract on this machine. Nothing in it costs anything.
    """
    options = build_options(
        config,
        data=data,
        tasks=tasks,
        seed=seed,
        competitors=competitors,
        refill=refill,
        kinds=_listed(kinds),
        latency_seconds=latency,
        request_format=request_format,
        strict=strict,
        error_format=error_format,
        listing_format=listing_format,
        naming=naming,
        record_format=record_format,
        value_format=value_format,
        empty_answers=empty_answers,
        absent_endpoints=_listed(absent_endpoints),
        chaos=chaos,
        faults=_listed(faults),
    )

    def announce(base_url: str) -> None:
        print(_sign(options, base_url, as_json=session.as_json), flush=True)

    serve_until_told(options, host, port, announce, lifeline=until_stdin_closes)


def _listed(names: str | None) -> tuple[str, ...] | None:
    return tuple(names.split(",")) if names else None


def _sign(options: "SandboxOptions", base_url: str, *, as_json: bool) -> str:
    if as_json:
        data = str(options.data) if options.data else None
        return json.dumps({"base_url": base_url, "page": f"{base_url}/", "data": data})
    return (
        f"The sandbox is at {base_url} (open it in a browser). "
        f"Start an agent on it: journeyman run --base-url {base_url}"
    )


def build_options(config: Path | None, **said: object) -> SandboxOptions:
    """Put the options together: the command line is stronger than the file.

    Raises:
        ConfigurationError: the file cannot be used.
        UsageError: a value is out of its range.
    """
    options = _from_file(config) if config else SandboxOptions()
    given = {name: value for name, value in said.items() if value is not None}
    try:
        return SandboxOptions.model_validate(options.model_dump() | given)
    except ValidationError as error:
        raise _misused(error.errors()[0]) from None


def _misused(problem: ErrorDetails) -> UsageError:
    name, given = str(problem["loc"][0]), problem["input"]
    option = name.removesuffix("_seconds").replace("_", "-")
    value = ",".join(given) if isinstance(given, tuple) else given
    return UsageError(
        f"--{option} {value!r}: {problem['msg'].removeprefix('Value error, ')}",
        str(SandboxOptions.model_fields[name].description),
    )


def _from_file(path: Path) -> SandboxOptions:
    try:
        return load_options(path)
    except SandboxError as error:
        raise ConfigurationError(error.problem, error.fix) from error


def serve_until_told(
    options: SandboxOptions,
    host: str,
    port: int,
    on_ready: Callable[[str], None],
    *,
    lifeline: bool,
) -> None:
    """Serve until SIGINT or SIGTERM, or with `lifeline` until stdin ends.

    Raises:
        JourneymanError: the address cannot be listened on, or the data cannot be used.
    """
    anyio.run(_serve, options, host, port, on_ready, lifeline)


async def _serve(
    options: SandboxOptions,
    host: str,
    port: int,
    on_ready: Callable[[str], None],
    lifeline: bool,  # noqa: FBT001 - anyio.run passes no keywords
) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with anyio.create_task_group() as group:
            if lifeline:
                group.start_soon(stop_at_end_of_input)
            async with _serving(options, host, port) as base_url:
                on_ready(base_url)
                async for _signal in signals:
                    break
            group.cancel_scope.cancel()


@asynccontextmanager
async def _serving(options: SandboxOptions, host: str, port: int) -> AsyncIterator[str]:
    try:
        async with serving(options, host, port) as base_url:
            yield base_url
    except SandboxError as error:
        raise JourneymanError(error.problem, error.fix) from error
