"""The page without sockets: of a daemon in this process, or of none."""

from collections.abc import Callable

import httpx2 as httpx
from pydantic import SecretStr
from starlette.types import ASGIApp

from journeyman.daemon.system import SystemRandomness
from journeyman.testing import FakeClock, RecordingLog
from journeyman.web.access import Access

HOST = "127.0.0.1:8420"
Browse = Callable[..., httpx.AsyncClient]


def access_with(password: str | None, log: RecordingLog) -> Access:
    return Access(
        password=None if password is None else SecretStr(password),
        names=["agent.example"],
        clock=FakeClock(),
        randomness=SystemRandomness(),
        log=log,
    )


def browser(app: ASGIApp, **headers: str) -> httpx.AsyncClient:
    """Return a client that sends what a browser on our own page sends."""
    own = {"accept": "text/html", "origin": f"http://{HOST}", **headers}
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url=f"http://{HOST}", headers=own
    )
