"""The doctor looks at everything, stops at nothing, and changes nothing unasked."""

import os
import shutil
import socket
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import SocketStream
from tests.daemon.conftest import READY
from tests.one_task import in_one_task
from tests.raw_http import Request, listening, read_request

from journeyman.daemon.doctor.examination import Examination
from journeyman.daemon.doctor.finding import Finding
from journeyman.daemon.environment import Environment
from journeyman.daemon.system import SystemClock, SystemRandomness
from journeyman.domain.errors import ConfigurationError
from journeyman.domain.tasks import AccessToken, AgentId, Identity
from journeyman.economy.mark import CARRIED_AT, mark_of
from journeyman.journal.directory import DataDirectory, DirectoryLock
from journeyman.journal.identity import load_identity, save_identity
from journeyman.journal.journal import Journal
from journeyman.network.service_model.model import (
    RefusedShape,
    RequestModel,
    ServiceModel,
)
from journeyman.network.service_model.request import Placed, RequestShape
from journeyman.network.service_model.search import DOCUMENT, MODEL_FACT, Learned
from journeyman.observability.redaction import Redactor
from journeyman.settings.sections import Settings
from journeyman.settings.sources import load_settings
from journeyman.testing import RecordingLog
from journeyman.worker.join import AGENT

TOKEN = "tok-of-the-doctors-test"  # noqa: S105 - of no real service


class LateClock(SystemClock):
    """Goes wrong by so much."""

    def __init__(self, late: timedelta) -> None:
        self._late = late

    def now(self) -> Any:  # noqa: ANN401 - a moment
        return super().now() - self._late


@dataclass
class Patient:
    """A data directory and a network to be examined."""

    folder: Path
    address: str | None
    changes: dict[str, object] = field(default_factory=dict)
    late: timedelta = timedelta()
    free_bytes: int = 10**12

    @property
    def data(self) -> DataDirectory:
        return DataDirectory(self.folder / "data")

    def settings(self) -> Settings:
        given = {
            "network.base_url": self.address,
            "data.directory": self.data.path,
            "strategies.directory": self.folder / "strategies",
            **self.changes,
        }
        return load_settings(
            files=[], overrides=given, environ={}, cwd=self.folder
        ).settings

    def named(self, settings: Settings) -> str:
        if settings.network.base_url is None:
            raise ConfigurationError("no network is named", "Name it.")
        return settings.network.base_url

    async def examined(self, *, fix: bool = False) -> dict[str, Finding]:
        environment = Environment(
            clock=LateClock(self.late),
            randomness=SystemRandomness(),
            log=RecordingLog(),
            redactor=Redactor(),
            free_bytes=lambda _path: self.free_bytes,
        )
        examination = Examination(
            read_settings=self.settings,
            find_directory=lambda: self.data,
            find_address=self.named,
            environment=environment,
            fix=fix,
        )
        with anyio.fail_after(60):
            return {found.check: found for found in await examination.run()}

    def join(self, base_url: str) -> None:
        """Leave behind what a daemon leaves."""
        self.data.prepare()
        identity = Identity(AgentId("a1"), AccessToken(TOKEN), base_url)
        save_identity(self.data.identity, identity)
        Journal(self.data.journal, SystemClock().now).close()

    def snapshot(self) -> dict[str, tuple[int, int]]:
        """Return the mode of all that is there, and the size of each file."""
        found = [self.data.path, *self.data.path.rglob("*")]
        return {
            str(path): (path.stat().st_mode, path.is_file() and path.stat().st_size)
            for path in found
            if path.exists() and not path.name.startswith("journal.db-")
        }


@dataclass
class Network:
    """Answers every request alike, but for documents; remembers their heads."""

    address: str = ""
    status: str = "200 OK"
    body: str = '{"tasks": []}'
    kind: str = "application/json"
    documents: dict[str, str] = field(default_factory=dict)
    """By path; they are there whatever the status is."""
    statuses: dict[str, str] = field(default_factory=dict)
    """By path, where it is another than `status`."""
    requests: list[Request] = field(default_factory=list)

    async def serve(self, stream: SocketStream) -> None:
        request = await read_request(stream)
        self.requests.append(request)
        path = request.target
        status = "200 OK" if path in self.documents else self.status
        status = self.statuses.get(path.partition("?")[0], status)
        body = self.documents.get(path, self.body)
        date = f"{SystemClock().now():%a, %d %b %Y %H:%M:%S} GMT"
        await stream.send(
            f"HTTP/1.1 {status}\r\ndate: {date}\r\nconnection: close\r\n"
            f"content-type: {self.kind}\r\ncontent-length: {len(body)}\r\n\r\n"
            f"{body}".encode()
        )


@asynccontextmanager
async def _serving() -> AsyncIterator[Network]:
    served = Network()
    async with listening(served.serve) as port:
        served.address = f"http://127.0.0.1:{port}"
        yield served


@pytest.fixture
async def network() -> AsyncIterator[Network]:
    async with in_one_task(_serving()) as served:
        yield served


@pytest.fixture
def patient(tmp_path: Path, network: Network) -> Patient:
    (tmp_path / "strategies").mkdir()
    shutil.copy(READY, tmp_path / "strategies")
    return Patient(tmp_path, network.address)


@pytest.fixture
def offline(patient: Patient) -> Patient:
    """No network is named: what lies on this machine is examined alone."""
    return replace(patient, address=None)


def dead_socket(directory: DataDirectory) -> None:
    with closing(socket.socket(socket.AF_UNIX)) as left:
        # A short name: the whole path may be longer than a socket's can be.
        here = os.open(directory.path, os.O_RDONLY)
        left.bind(f"/proc/self/fd/{here}/{directory.control_socket.name}")
        os.close(here)


async def test_a_healthy_agent_is_told_so(patient: Patient, network: Network) -> None:
    patient.join(network.address)

    found = await patient.examined()

    grades = {check: str(one.grade) for check, one in found.items()}
    # In a container, a folder for tests lies on no volume.
    assert grades.pop("data directory") in {"ok", "warn"}
    # A server that knows no documents answers the same to robots.txt, too.
    assert grades.pop("documents") == "warn"
    assert set(grades.values()) == {"ok"}


async def test_what_the_network_refuses_is_told_in_the_first_minute(
    offline: Patient,
) -> None:
    offline.join("https://network.example")
    shape = RequestShape((Placed(("key",), "task_id"),))
    refused = (RefusedShape(shape, "409: no", 409, has_taught=False),)
    model = ServiceModel(requests={"submit": RequestModel(refused=refused)})
    with closing(Journal(offline.data.journal, SystemClock().now)) as journal:
        saved = DOCUMENT.dump_python(Learned(model=model), mode="json")
        with journal.tx("service model"):
            name = MODEL_FACT.format(base_url="https://network.example")
            journal.facts.put(name, saved)

    found = (await offline.examined())["earning"]

    assert found.message == "no: results are refused: 409: no"


async def test_a_journal_that_is_older_than_it_was_is_told_before_and_after_it_is_used(
    offline: Patient,
) -> None:
    identity = offline.data.identity
    offline.join("https://network.example")
    with closing(Journal(offline.data.journal, SystemClock().now)) as journal:
        now = SystemClock().now()
        sound = (await offline.examined())["journal"]
        known = load_identity(identity)
        assert known is not None
        save_identity(identity, known, replace(mark_of(journal, now), spends=1))
        before = (await offline.examined())["journal"]
        with journal.tx("as the first command does"):
            journal.facts.put(CARRIED_AT, now.isoformat())
        save_identity(identity, known, mark_of(journal, now))
        after = (await offline.examined())["journal"]

    assert [one.grade for one in (sound, before, after)] == ["ok", "warn", "warn"]
    assert "older" in before.message
    assert f"found at {now:%Y-%m-%d}" in after.message


async def test_a_journal_of_another_agent_is_told(offline: Patient) -> None:
    offline.join("https://network.example")
    with closing(Journal(offline.data.journal, SystemClock().now)) as journal:
        with journal.tx("as a stranger's first start does"):
            journal.facts.put(AGENT, "agent-other")
        found = (await offline.examined())["journal"]

    assert found.grade == "fail"
    assert "that of the agent agent-other" in found.message
    assert "journeyman journal restore" in found.fix


async def test_before_the_first_start_nothing_is_wrong(patient: Patient) -> None:
    found = await patient.examined()

    assert "fail" not in {one.grade for one in found.values()}
    assert "the first `journeyman run` creates it" in found["data directory"].message
    assert not patient.data.path.exists()


async def test_nothing_is_changed_without_fix(offline: Patient) -> None:
    offline.join("http://network")
    dead_socket(offline.data)
    offline.data.path.chmod(0o755)
    offline.data.identity.chmod(0o644)
    before = offline.snapshot()

    found = await offline.examined()

    assert offline.snapshot() == before
    assert found["token"].grade == "fail"
    assert (found["data directory"].grade, found["daemon"].grade) == ("warn", "warn")


async def test_fix_repairs_modes_and_removes_a_dead_socket(offline: Patient) -> None:
    offline.join("http://network")
    dead_socket(offline.data)
    offline.data.path.chmod(0o755)
    offline.data.identity.chmod(0o644)

    found = await offline.examined(fix=True)

    assert (found["token"].grade, found["daemon"].grade) == ("ok", "ok")
    assert "identity.json was 0644, is 0600" in found["token"].message
    assert offline.data.path.stat().st_mode & 0o777 == 0o700
    assert not offline.data.control_socket.exists()


async def test_a_kept_copy_of_an_old_identity_is_looked_at_too(
    offline: Patient,
) -> None:
    offline.join("http://network")
    old = offline.data.path / "identity.json.20261121T120000.000000Z"
    old.write_bytes(offline.data.identity.read_bytes())
    old.chmod(0o640)

    found = await offline.examined()

    assert old.name in found["token"].message


async def test_a_running_daemons_socket_is_left_alone(offline: Patient) -> None:
    offline.join("http://network")
    dead_socket(offline.data)

    with DirectoryLock(offline.data):
        found = await offline.examined(fix=True)

    assert found["daemon"].message == f"process {os.getpid()} holds the data directory"
    assert offline.data.control_socket.exists()


async def test_settings_that_cannot_be_read_are_one_row_and_stop_little(
    patient: Patient,
) -> None:
    patient.changes["work.slots"] = "many"

    found = await patient.examined()

    assert found["settings"].grade == "fail"
    assert "work.slots" in found["settings"].message
    assert found["writing"].message == "there is no data directory yet"
    assert found["name"].grade == "skip"


async def test_without_a_network_its_checks_are_skipped(offline: Patient) -> None:
    found = await offline.examined()

    assert (found["network"].grade, found["network"].fix) == ("fail", "Name it.")
    assert {found[name].grade for name in ("name", "connection", "clock")} == {"skip"}


async def test_a_dead_address_is_told_once(patient: Patient) -> None:
    found = await replace(patient, address="http://127.0.0.1:1").examined()

    assert "Connection refused" in found["connection"].message
    assert {found[name].grade for name in ("clock", "endpoints")} == {"skip"}


async def test_a_server_without_tls_fails_at_tls(
    patient: Patient, network: Network
) -> None:
    found = await replace(
        patient, address=network.address.replace("http:", "https:")
    ).examined()

    assert found["connection"].message.startswith("no TLS with 127.0.0.1")


async def test_a_wrong_clock_is_told(patient: Patient) -> None:
    found = await replace(patient, late=timedelta(minutes=7)).examined()

    assert found["clock"].grade == "fail"
    assert found["clock"].message.startswith("our clock is 4")
    assert found["clock"].message.endswith("s behind the service's")


async def test_a_token_that_is_refused_is_told(
    patient: Patient, network: Network
) -> None:
    patient.join(network.address)
    network.status = "401 Unauthorized"

    found = await patient.examined()

    assert found["endpoint marketplace_tasks"].message.startswith("refuses us: 401")
    assert found["endpoint public_agents"].grade == "fail"


async def test_an_absent_endpoint_is_a_warning(
    patient: Patient, network: Network
) -> None:
    network.status = "404 Not Found"

    found = await patient.examined()

    assert found["endpoint public_agents"].grade == "warn"


@pytest.mark.parametrize(
    ("body", "grade", "said"),
    [
        ('{"tasks": []}', "ok", "lists no task now"),
        ('{"tasks": [{"id": "t", "title": "Count"}]}', "ok", "1 task was read"),
        ('{"jobs": 5}', "fail", "it answers, and 0 tasks were read: no list of tasks"),
    ],
)
async def test_a_market_of_which_nothing_can_be_read_is_a_finding(
    patient: Patient, network: Network, body: str, grade: str, said: str
) -> None:
    network.body = body

    found = await patient.examined()

    assert found["market"].grade == grade
    assert said in found["market"].message


async def test_a_refusal_is_never_said_to_end_by_itself(
    patient: Patient, network: Network
) -> None:
    for status in ("400 Bad Request", "403 Forbidden", "409 Conflict", "422 No"):
        network.status = status
        found = await patient.examined()

        assert "again later" not in found["endpoint public_agents"].fix


@pytest.mark.parametrize(
    ("status", "kind"), [("404 Not Found", "text/html"), ("200 OK", "text/html")]
)
async def test_a_portal_is_told_from_a_service_and_the_service_is_named(
    patient: Patient, network: Network, status: str, kind: str
) -> None:
    network.status, network.kind, network.body = status, kind, "<h1>Portal</h1>"
    claim = "https://api.example/functions/v1/claim-task-public"
    network.documents["/llms.txt"] = f"# Network\n\n- POST {claim}\n"
    network.documents["/robots.txt"] = "User-agent: *\nAllow: /\n"

    found = (await patient.examined())["service"]

    assert found.grade == "fail"
    assert "it is the portal; its documents name https://api.example" in found.message
    assert f"network.portal_url to {network.address}" in found.fix


async def test_a_service_without_public_lists_is_known_by_what_wants_a_token(
    patient: Patient, network: Network
) -> None:
    network.status = "404 Not Found"
    network.statuses["/functions/v1/get-marketplace-tasks"] = "401 Unauthorized"

    found = await patient.examined()

    assert found["service"].grade == "ok"
    assert found["endpoint marketplace_tasks"].grade == "skip"


async def test_a_place_with_neither_service_nor_documents_is_told(
    patient: Patient, network: Network
) -> None:
    network.status = "404 Not Found"

    found = (await patient.examined())["service"]

    assert found.message.endswith("has none of the service's endpoints")
    assert "Ask the network's operator" in found.fix


async def test_the_token_goes_nowhere_but_to_where_it_was_issued(
    patient: Patient, network: Network
) -> None:
    patient.join("http://another.example")

    found = await patient.examined()

    assert "belongs to http://another.example" in found["identity"].message
    assert network.requests
    assert not any(TOKEN in str(request) for request in network.requests)


async def test_it_never_joins(patient: Patient, network: Network) -> None:
    await patient.examined()

    assert not any(request.method == "POST" for request in network.requests)


async def test_plain_http_to_another_machine_is_a_warning(offline: Patient) -> None:
    found = await replace(offline, address="http://no-such-host.invalid").examined()

    assert "anyone on the way can read the token" in found["network"].message
    assert found["name"].message.startswith(
        "the name no-such-host.invalid cannot be resolved"
    )


def damage(patient: Patient) -> None:
    with closing(sqlite3.connect(patient.data.journal)) as journal:
        journal.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (size,) = journal.execute("PRAGMA page_size").fetchone()
        query = "SELECT rootpage FROM sqlite_schema WHERE name = 'task_events'"
        (page,) = journal.execute(query).fetchone()
    with patient.data.journal.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)


def make_a_file_of_it(patient: Patient) -> None:
    shutil.rmtree(patient.data.path)
    patient.data.path.write_text("no folder")


def break_a_strategy(patient: Patient) -> None:
    (patient.folder / "strategies" / "bad.py").write_text("def")


@pytest.mark.parametrize(
    ("harm", "check", "told"),
    [
        (damage, "journal", "malformed"),
        (lambda p: p.data.identity.write_text("{"), "identity", "cannot be used"),
        (make_a_file_of_it, "data directory", "is not a directory"),
        (break_a_strategy, "strategies", "E101"),
        (lambda p: setattr(p, "free_bytes", 2**20), "disk space", "nothing is claimed"),
        (lambda p: p.data.journal.write_text("no journal"), "journal", "journal"),
    ],
)
async def test_each_harm_is_a_row_that_fails(
    offline: Patient, harm: Callable[[Patient], object], check: str, told: str
) -> None:
    offline.join("http://network")
    harm(offline)

    found = await offline.examined()

    assert found[check].grade == "fail"
    assert told in found[check].message
    assert found[check].fix


async def test_a_check_that_crashes_is_a_row(offline: Patient) -> None:
    def crash() -> Settings:
        raise ZeroDivisionError("oops")

    offline.settings = crash  # type: ignore[method-assign]  # a bug in whatever loads

    found = await offline.examined()

    assert (
        found["settings"].message == "the check itself failed: ZeroDivisionError: oops"
    )
    assert found["data directory"].grade == "ok"
