"""A crash between the answer to a registration and the identity loses no token."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import httpx2 as httpx
import pytest
from tests.daemon.conftest import URL, Answering, Site

from journeyman.cli.commands.status import status_fields
from journeyman.daemon.daemon import run_daemon
from journeyman.daemon.status import journal_status
from journeyman.daemon.system import SystemClock
from journeyman.domain.errors import NetworkError, StateError
from journeyman.domain.tasks import Identity
from journeyman.journal.identity import load_identity


def refuse(_path: Path, _identity: Identity) -> None:
    """Be a disk that takes no identity; a kill at this moment leaves the same."""
    raise StateError("the disk is full")


async def test_a_token_that_arrived_before_a_crash_is_ours_after_it(
    site: Site,
) -> None:
    born = replace(site.environment(), save_identity=refuse)
    with pytest.raises(StateError):
        await run_daemon(site.settings(work__once=True), URL, born)
    assert load_identity(site.data / "identity.json") is None
    kept = site.data / "registration.answer"
    assert kept.stat().st_mode & 0o777 == 0o600

    await site.run(work__once=True)

    identity = load_identity(site.data / "identity.json")
    assert identity is not None
    assert not kept.exists()
    assert "identity.rescued" in site.log.names
    assert identity.access_token.reveal() not in str(site.log.lines)
    with site.journal() as journal:
        assert journal.tasks.counts() == {"completed": 6}


class Hurried(SystemClock):
    """A clock on which a wait takes no time."""

    async def sleep(self, seconds: float) -> None:
        """Let others go first."""
        await super().sleep(0 * seconds)


async def run_in_vain(site: Site) -> None:
    """Start a daemon that cannot join."""
    hurried = replace(site.environment(), clock=Hurried())
    with pytest.raises(NetworkError):
        await run_daemon(site.settings(work__once=True), URL, hurried)


class BrokenOff(httpx.AsyncByteStream):
    """Sends an answer, and then no end of it."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b'{"agent_id": "a-7", "access_token": "t0k3n", "credits": 100}'
        raise httpx.ReadError("reset")


class Breaking(httpx.AsyncBaseTransport):
    """A network whose connections break before they are closed."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, stream=BrokenOff(), request=request)


async def test_an_answer_whose_end_never_came_is_kept(site: Site) -> None:
    site.transport = Breaking()
    await run_in_vain(site)

    assert b"t0k3n" in (site.data / "registration.answer").read_bytes()


async def test_a_registration_of_unknown_outcome_is_shown(site: Site) -> None:
    site.transport = Answering(500)
    await run_in_vain(site)

    with site.journal() as journal:
        status = journal_status(journal)

    assert status["registration_unknown"] is True
    shown = {"running": False, "held_by": None, "agent_id": None}
    told = status_fields({**status, **shown, "data_directory": "data"})
    assert told["agent"].startswith("registration_unknown")
