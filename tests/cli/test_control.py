"""Asking a daemon that is not what it should be."""

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import SocketStream
from tests.one_task import in_one_task

from journeyman.control import verbs
from journeyman.control.client import ControlClient
from journeyman.domain.errors import JourneymanError, NotRunningError, StateError
from journeyman.journal.directory import DataDirectory, DirectoryLock

Run = Callable[..., Any]

POST = verbs.PostRequest(title="x", description="x", reward=1)


class Impostor:
    """Listens where a daemon would, and answers with these bytes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.answer = b""

    async def serve(self, stream: SocketStream) -> None:
        async with stream:
            try:
                await stream.receive()
            except anyio.EndOfStream:
                return  # Somebody knocked and went.
            if self.answer:
                await stream.send(self.answer)


@asynccontextmanager
async def _serving(tmp_path: Path) -> AsyncIterator[Impostor]:
    made = Impostor(tmp_path / "control.sock")
    async with (
        await anyio.create_unix_listener(made.path) as listener,
        anyio.create_task_group() as group,
    ):
        group.start_soon(listener.serve, made.serve)
        yield made
        group.cancel_scope.cancel()


@pytest.fixture
async def impostor(tmp_path: Path) -> AsyncIterator[Impostor]:
    async with in_one_task(_serving(tmp_path)) as made:
        yield made


async def _post(path: Path) -> object:
    def ask() -> object:
        return ControlClient(path).call(verbs.POST, POST)

    return await anyio.to_thread.run_sync(ask)


async def test_a_lost_answer_is_not_taken_for_a_daemon_that_does_not_run(
    impostor: Impostor,
) -> None:
    # Else the command line would post once more by itself.
    with pytest.raises(StateError, match="may have been done"):
        await _post(impostor.path)


async def test_an_answer_that_is_no_json_is_an_error(impostor: Impostor) -> None:
    impostor.answer = b"HTTP/1.1 500 Oh\r\ncontent-length: 4\r\n\r\nOops"

    with pytest.raises(JourneymanError, match="status 500"):
        await _post(impostor.path)


async def test_a_refusal_keeps_the_daemon_s_words_and_exit_code(
    impostor: Impostor,
) -> None:
    body = b'{"problem": "too dear", "fix": "pay less", "exit_code": 6}'
    head = b"HTTP/1.1 409 No\r\ncontent-length: %d\r\n\r\n" % len(body)
    impostor.answer = head + body

    with pytest.raises(JourneymanError) as caught:
        await _post(impostor.path)

    assert caught.value.exit_code == 6
    assert (caught.value.problem, caught.value.fix) == ("too dear", "pay less")


def test_a_socket_that_a_killed_daemon_left_is_no_daemon(tmp_path: Path) -> None:
    (tmp_path / "control.sock").write_bytes(b"")

    with pytest.raises(NotRunningError):
        ControlClient(tmp_path / "control.sock").call(verbs.STATUS)


async def test_health_of_a_daemon_that_answers_needs_no_command_line(
    impostor: Impostor,
) -> None:
    body = b'{"healthy": false, "problem": "nothing was listed for an hour"}'
    impostor.answer = b"HTTP/1.1 503 No\r\ncontent-length: %d\r\n\r\n" % len(body)
    impostor.answer += body
    code = (
        "import sys; from journeyman.cli import main; code = main(sys.argv[1:]); "
        "print(*sorted({'typer', 'inspect'} & set(sys.modules))); sys.exit(code)"
    )

    done = await anyio.run_process(
        [sys.executable, "-c", code, "health", "--data-dir", str(impostor.path.parent)],
        check=False,
    )

    assert done.returncode == 1
    assert done.stdout == b"unhealthy: nothing was listed for an hour\n\n"


def test_a_daemon_that_still_joins_is_starting_and_healthy(
    run: Run, tmp_path: Path
) -> None:
    directory = DataDirectory(tmp_path / "data")
    directory.prepare()
    with DirectoryLock(directory):
        health = run("health", "--data-dir", str(directory.path), "--json")

    assert health.code == 0
    assert "starting" in health.answer["problem"]
    assert run("health", "--data-dir", str(directory.path)).code == 3
