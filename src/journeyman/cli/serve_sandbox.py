"""Running the sandbox in this process, as `journeyman sandbox` does."""

import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from journeyman.cli.lifeline import stop_at_end_of_input
from journeyman.domain.errors import ConfigurationError, JourneymanError, UsageError
from journeyman.sandbox import SandboxError, SandboxOptions, load_options, serving


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
