"""What systemd hears of the daemon, over a real socket."""

import os
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from tests.daemon.conftest import URL, Site

from journeyman.daemon.daemon import run_daemon
from journeyman.daemon.service_manager import ServiceManager


class Listener:
    """The socket of a service manager."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(path))
        self._socket.setblocking(False)

    def heard(self) -> list[str]:
        """Return every line since the last time."""
        lines = []
        while True:
            try:
                lines += self._socket.recv(4096).decode().split("\n")
            except BlockingIOError:
                return lines

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[Listener]:
    listener = Listener(tmp_path / "notify")
    yield listener
    listener.close()


async def test_systemd_hears_when_the_daemon_is_up_what_it_does_and_when_it_stops(
    site: Site, listener: Listener
) -> None:
    manager = ServiceManager(str(listener.path), watchdog_seconds=600)
    environment = replace(site.environment(), service_manager=manager)

    with anyio.fail_after(60):
        await run_daemon(site.settings(work__max_tasks=1), URL, environment)

    heard = listener.heard()
    assert heard[:3] == ["READY=1", "STATUS=joining the network", "WATCHDOG=1"]
    assert "STATUS=0 tasks in work; balance 100" in heard
    assert heard[-1] == "STOPPING=1"


def test_a_daemon_that_is_not_well_does_not_say_that_it_is(listener: Listener) -> None:
    manager = ServiceManager(str(listener.path), watchdog_seconds=1)
    manager.is_well = lambda: False
    manager.status = lambda: "paused: two\nlines"

    manager.report()

    assert listener.heard() == ["STATUS=paused: two\\nlines"]


def test_what_the_environment_says_is_for_no_child() -> None:
    environ = {"NOTIFY_SOCKET": "@name", "WATCHDOG_USEC": "3000000", "HOME": "/"}

    manager = ServiceManager.from_environment(environ)

    assert manager is not None
    assert (manager.address, manager.watchdog_seconds) == ("@name", 3.0)
    assert environ == {"HOME": "/"}


@pytest.mark.parametrize(
    ("environ", "seconds"),
    [
        ({"WATCHDOG_USEC": "5000000", "WATCHDOG_PID": str(os.getpid())}, 5.0),
        ({"WATCHDOG_USEC": "5000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({}, None),
    ],
)
def test_only_a_watchdog_that_is_for_this_process_is_fed(
    environ: dict[str, str], seconds: float | None
) -> None:
    manager = ServiceManager.from_environment({"NOTIFY_SOCKET": "/x", **environ})

    assert manager is not None
    assert manager.watchdog_seconds == seconds


@pytest.mark.parametrize("address", ["", "vsock:2:1234", "notify"])
def test_without_a_socket_that_is_understood_nobody_is_told(address: str) -> None:
    assert ServiceManager.from_environment({"NOTIFY_SOCKET": address}) is None


def test_a_manager_that_is_gone_disturbs_nobody(tmp_path: Path) -> None:
    ServiceManager(str(tmp_path / "gone")).report()
