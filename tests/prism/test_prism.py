"""On networks that Prism makes of descriptions, the requests of the client validate.

Prism judges each body by the description, and knows nothing of us. `make prism` runs
these; they need npx, which fetches Prism once.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import anyio
import pytest
from anyio.abc import Process
from anyio.streams.text import TextReceiveStream
from tests.prism.descriptions import ACTIONS, NETWORKS, WORK, Described

from journeyman.daemon.system import SystemClock
from journeyman.domain.outcomes import Confirmed, Outcome
from journeyman.domain.tasks import JSON, IdempotencyKey, Identity, Result, Task
from journeyman.network.answers import Receipt
from journeyman.network.client import NetworkClient
from journeyman.network.service_model.evidence import Observed
from journeyman.network.service_model.openapi import described_requests
from journeyman.testing import RecordingLog

PRISM = ("--yes", "--prefer-offline", "@stoplight/prism-cli@5")
FETCH_SECONDS = 240
IS_UP = "Prism is listening"

Ended = Outcome[Receipt]

pytestmark = [pytest.mark.prism, pytest.mark.timeout(FETCH_SECONDS + 60)]


@cache
def npx() -> str:
    """Return the command that starts Prism, or skip where there is none."""
    found = shutil.which("npx")
    if found is None:
        pytest.skip("there is no npx")
    try:
        subprocess.run(  # noqa: S603 - the command is written in this file
            [found, *PRISM, "--version"],
            check=True,
            capture_output=True,
            timeout=FETCH_SECONDS,
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        pytest.skip("npx cannot fetch Prism")
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def end(process: Process) -> None:
    """End Prism, and the npx that started it."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


@asynccontextmanager
async def prism(document: JSON, folder: Path) -> AsyncIterator[str]:
    """Serve a description, and return its address."""
    file, port = folder / "openapi.json", free_port()
    file.write_text(json.dumps(document), encoding="utf-8")
    where = ("-h", "127.0.0.1", "-p", str(port))
    command = [npx(), *PRISM, "mock", "--errors", *where, str(file)]
    is_up, said = anyio.Event(), list[str]()

    async def listen(process: Process) -> None:
        assert process.stdout is not None
        async for text in TextReceiveStream(process.stdout, errors="replace"):
            said.append(text)
            if IS_UP in text:
                is_up.set()
        is_up.set()

    async with (
        await anyio.open_process(
            command, stderr=subprocess.STDOUT, start_new_session=True
        ) as process,
        anyio.create_task_group() as tasks,
    ):
        try:
            tasks.start_soon(listen, process)
            await is_up.wait()
            assert IS_UP in "".join(said), "".join(said)
            yield f"http://127.0.0.1:{port}"
        finally:
            end(process)


@dataclass
class Seen:
    """The requests that were made."""

    calls: list[Observed] = field(default_factory=list)
    ended: Ended | None = None

    @property
    def earned(self) -> float | None:
        done = self.ended.value if isinstance(self.ended, Confirmed) else None
        return done.credits_earned if done else None

    def refused_bodies(self) -> dict[str, list[JSON]]:
        return {action: self.refused(action) for action in ACTIONS}

    def refused(self, action: str) -> list[JSON]:
        return [body for body, status in self._bodies(action) if status != 200]

    def accepted(self, action: str) -> list[JSON]:
        return [body for body, status in self._bodies(action) if status == 200]

    def _bodies(self, action: str) -> list[tuple[JSON, int | None]]:
        return [
            (
                json.loads(one.call.content or b"null"),
                one.reply.status if one.reply else None,
            )
            for one in self.calls
            if one.call.name == action
        ]


async def join(client: NetworkClient, address: str) -> None:
    joined = await client.register(IdempotencyKey("k-join"))
    assert isinstance(joined, Confirmed), joined
    agent = joined.value
    client.identify(Identity(agent.agent_id, agent.access_token, address))


async def first_task(client: NetworkClient) -> Task:
    listed = await client.marketplace_tasks()
    assert isinstance(listed, Confirmed), listed
    return listed.value.tasks[0]


async def earn(client: NetworkClient) -> Ended:
    """Carry the first task as far as it goes, and return how that ended."""
    task = await first_task(client)
    claimed = await client.claim(task, IdempotencyKey("k-claim"))
    if not isinstance(claimed, Confirmed):
        return claimed
    given = dict(claimed.value.given)
    work, key = Result(WORK), IdempotencyKey("k-submit")
    submitted = await client.submit(task, work, key, given)
    if not isinstance(submitted, Confirmed):
        return submitted
    given |= submitted.value.given
    return await client.complete(task, IdempotencyKey("k-complete"), given)


async def trial(network: Described, folder: Path, *, is_told: bool) -> Seen:
    """Let a client earn what a network pays, told of its requests or not."""
    seen, document = Seen(), network.document()
    async with (
        prism(document, folder) as address,
        NetworkClient(
            base_url=address,
            log=RecordingLog(),
            clock=SystemClock(),
            observe=seen.calls.append,
        ) as client,
    ):
        await join(client, address)
        if is_told:
            client.search.describe(described_requests(document))
        seen.ended = await earn(client)
    return seen


def says(body: JSON, meant: JSON) -> bool:
    """Return whether a body says all that is meant, and perhaps more."""
    if isinstance(meant, Mapping):
        return isinstance(body, dict) and all(
            says(body.get(name), value) for name, value in meant.items()
        )
    return body == meant


@pytest.mark.parametrize("name", NETWORKS)
async def test_of_a_network_that_is_described_no_request_is_refused(
    name: str, tmp_path: Path
) -> None:
    network = NETWORKS[name]

    seen = await trial(network, tmp_path, is_told=True)

    assert seen.earned == 12, (seen.ended, seen.refused_bodies())
    for action in ACTIONS:
        assert seen.refused(action) == []
        (body,) = seen.accepted(action)
        assert says(body, network.meant[action]), body


@pytest.mark.parametrize("name", NETWORKS)
async def test_of_a_network_that_says_nothing_the_refusals_teach_what_it_wants(
    name: str, tmp_path: Path
) -> None:
    network = NETWORKS[name]

    seen = await trial(network, tmp_path, is_told=False)

    assert seen.earned == 12, (seen.ended, seen.refused_bodies())
    for action in ACTIONS:
        assert len(seen.refused(action)) <= network.most_refused, seen.refused(action)
        (body,) = seen.accepted(action)
        assert says(body, network.meant[action]), body
