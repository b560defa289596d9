"""The owner is told what is wrong, once, together, and with what to do."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from anyio.abc import SocketStream
from tests.daemon.simulated import Household
from tests.one_task import in_one_task
from tests.raw_http import listening, read_request

from journeyman.control.verbs import DisableRequest, PauseRequest, WhoAsks
from journeyman.daemon.causes import EarningCause
from journeyman.daemon.commands import OwnerCommands
from journeyman.daemon.notify import Notification, SendError, to_apprise, to_webhook
from journeyman.daemon.system import SystemClock
from journeyman.domain.errors import ConfigurationError

WORKER = """
    from journeyman import Strategy


    class Worker(Strategy):
        kinds = {"work"}

        async def run(self, task):
            return "done"
"""
MINUTE = 60.0
with_apprise = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated")
"""Apprise asks an old module of Python's for types of pictures."""


class Receiver:
    """A real HTTP server that keeps what is posted to it."""

    def __init__(self) -> None:
        self.status = 200
        self.bodies: list[dict[str, Any]] = []
        self.port = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/hooks/a-secret"

    async def serve(self, stream: SocketStream) -> None:
        self.bodies.append(json.loads((await read_request(stream)).body))
        await stream.send(b"HTTP/1.1 %d So\r\n" % self.status)
        await stream.send(b"content-length: 0\r\nconnection: close\r\n\r\n")


@asynccontextmanager
async def _serving() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    async with listening(receiver.serve) as receiver.port:
        yield receiver


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with in_one_task(_serving()) as receiver:
        yield receiver


@pytest.fixture
def home(tmp_path: Path) -> Household:
    home = Household(tmp_path)
    home.write("worker.py", WORKER)
    home.changes["notify.webhook"] = "https://chat.example/hooks/a-secret"
    return home


class Inbox:
    """What a daemon in simulated time has sent."""

    def __init__(self) -> None:
        self.got: list[Notification] = []
        self.is_down = False

    async def __call__(self, notification: Notification) -> None:
        if self.is_down:
            raise SendError("status 503")
        self.got.append(notification)

    @property
    def names(self) -> list[list[str]]:
        return [[cause.name for cause in one.causes] for one in self.got]


def plug_in(commands: OwnerCommands) -> Inbox:
    """Have the daemon's messages come here; a real socket has no simulated time."""
    inbox = Inbox()
    assert commands.parts.notifier is not None
    commands.parts.notifier.senders = [("notify.webhook", inbox)]
    return inbox


def test_a_pause_is_told_with_what_ends_it_and_again_after_a_quiet_time(
    home: Household,
) -> None:
    home.changes["notify.repeat_hours"] = 1.0

    async def forget(commands: OwnerCommands) -> None:
        inbox = plug_in(commands)
        commands.pause(PauseRequest(by="ann", reason="they are migrating"))
        await anyio.sleep(4 * MINUTE)
        assert inbox.names == []
        await anyio.sleep(30 * MINUTE)
        assert inbox.names == [["paused"]]
        told = inbox.got[0]
        assert "paused by ann" in told.title
        assert "What to do: journeyman resume" in told.body
        await anyio.sleep(60 * MINUTE)
        assert inbox.names == [["paused"], ["paused"]]

    home.live(forget)


def test_what_comes_together_is_one_message_the_worst_first(home: Household) -> None:
    async def stop_all(commands: OwnerCommands) -> None:
        inbox = plug_in(commands)
        commands.disable(DisableRequest(by="ann", name="worker"))
        commands.pause(PauseRequest(by="ann"))
        await anyio.sleep(10 * MINUTE)
        assert inbox.names == [["paused", "disabled"]]
        assert inbox.got[0].title.endswith(", and 1 more")

    home.live(stop_all)


def test_what_goes_by_itself_is_not_told(home: Household) -> None:
    async def hesitate(commands: OwnerCommands) -> None:
        inbox = plug_in(commands)
        commands.pause(PauseRequest(by="ann"))
        await anyio.sleep(3 * MINUTE)
        commands.resume(WhoAsks("ann"))
        await anyio.sleep(20 * MINUTE)
        assert inbox.names == []

    home.live(hesitate)


def test_a_restart_does_not_tell_it_again(home: Household) -> None:
    async def first(commands: OwnerCommands) -> None:
        inbox = plug_in(commands)
        commands.pause(PauseRequest(by="ann"))
        await anyio.sleep(10 * MINUTE)
        assert inbox.names == [["paused"]]

    async def second(commands: OwnerCommands) -> None:
        inbox = plug_in(commands)
        await anyio.sleep(20 * MINUTE)
        assert inbox.names == []

    home.live(first)
    home.live(second)


def test_what_nobody_took_is_sent_again(home: Household) -> None:
    async def try_on(commands: OwnerCommands) -> None:
        inbox = plug_in(commands)
        inbox.is_down = True
        commands.pause(PauseRequest(by="ann"))
        await anyio.sleep(10 * MINUTE)
        inbox.is_down = False
        await anyio.sleep(2 * MINUTE)
        assert inbox.names == [["paused"]]

    home.live(try_on)

    failed = home.log.named("notify.failed")
    assert {(one["setting"], one["message"]) for one in failed} == {
        ("notify.webhook", "status 503")
    }


def test_money_that_runs_short_is_told(home: Household) -> None:
    home.changes |= {"notify.low_credits": 150, "notify.idle_hours": 1.0}

    async def be_poor(commands: OwnerCommands) -> None:
        inbox = plug_in(commands)
        await anyio.sleep(10 * MINUTE)
        assert inbox.names == [["credits_low"]]
        await anyio.sleep(60 * MINUTE)
        assert inbox.names[1:] == [["earned_nothing"]]
        assert inbox.got[1].causes[0].fix == "journeyman why"

    home.live(be_poor)


def notification(message: str = "paused by ann") -> Notification:
    cause = EarningCause(name="paused", message=message, fix="journeyman resume")
    return Notification(
        agent_id="agent_1",
        base_url="https://network.example",
        at=SystemClock().now(),
        causes=[cause],
    )


def test_a_message_has_an_end_however_much_is_wrong() -> None:
    usual = notification()

    long = replace(usual, causes=[*usual.causes] * 25)

    assert long.title.endswith(", and 24 more")
    assert long.body.count("What to do: ") == 20
    assert "5 more: journeyman why" in long.body
    assert len(cast("list[object]", long.as_json()["causes"])) == 20


async def test_a_webhook_gets_json_that_chat_services_show(receiver: Receiver) -> None:
    await to_webhook(receiver.address)(notification("paused by \x1b[2Jann"))

    (got,) = receiver.bodies
    assert got["title"] == "agent_1: paused by \\x1b[2Jann"
    assert got["text"].startswith(f"{got['title']}\n\n")
    assert "What to do: journeyman resume" in got["text"]
    assert got["causes"][0]["name"] == "paused"
    assert got["agent_id"] == "agent_1"


async def test_a_webhook_that_refuses_or_is_gone_is_an_error_without_its_address(
    receiver: Receiver,
) -> None:
    receiver.status = 500
    with pytest.raises(SendError, match="status 500") as refused:
        await to_webhook(receiver.address)(notification())
    with pytest.raises(SendError, match="no answer") as gone:
        await to_webhook("http://127.0.0.1:1/hooks/a-secret")(notification())

    assert "a-secret" not in f"{refused.value} {gone.value}"


@pytest.mark.endurance
@with_apprise
async def test_apprise_delivers_to_what_it_knows(receiver: Receiver) -> None:
    pytest.importorskip("apprise", reason="the extra `notify` is not installed")
    address = receiver.address.replace("http://", "json://")

    await to_apprise([address])(notification())

    (got,) = receiver.bodies
    assert got["title"] == "agent_1: paused by ann"
    assert "What to do: journeyman resume" in got["message"]


@with_apprise
def test_a_target_that_apprise_does_not_know_is_told_without_its_text() -> None:
    with pytest.raises(ConfigurationError, match="number 1") as caught:
        to_apprise(["nonsense://user:hunter2"])

    assert "hunter2" not in f"{caught.value.problem} {caught.value.fix}"
