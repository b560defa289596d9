"""The daemon uses what its owner and the network say of requests, before it tries."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from tests.daemon.conftest import URL, MakeSite

from journeyman.daemon.description import Descriptions, described_by_owner
from journeyman.domain.errors import ConfigurationError
from journeyman.domain.tasks import JSON
from journeyman.journal.directory import DataDirectory
from journeyman.journal.journal import Journal
from journeyman.network.client import NetworkClient
from journeyman.network.discovery.comparison import Expectations
from journeyman.network.service_model.search import RequestSearch
from journeyman.settings.sections import ContractSettings
from journeyman.testing import FakeClock, RecordingLog


def schema(name: str) -> dict[str, JSON]:
    return {"type": "object", "properties": {name: {"type": "string"}}}


def description(**names: str) -> JSON:
    paths: dict[str, JSON] = {
        f"/functions/v1/{action}-task-public": {
            "post": {
                "requestBody": {
                    "content": {"application/json": {"schema": schema(name)}}
                }
            }
        }
        for action, name in names.items()
    }
    return {"openapi": "3.0.3", "paths": paths}


class Publishing(httpx.AsyncBaseTransport):
    """Publishes some documents, and has nothing else."""

    def __init__(self, documents: dict[str, JSON]) -> None:
        self.documents = documents
        self.requests: list[httpx.Request] = []
        self.is_down = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if self.is_down:
            raise httpx.ConnectError("refused", request=request)
        self.requests.append(request)
        if request.url.path not in self.documents:
            return httpx.Response(404, text="no such page")
        return httpx.Response(200, json=self.documents[request.url.path])


class Hearing(RequestSearch):
    """Notes what it is told."""

    def __init__(self, **more: Any) -> None:  # noqa: ANN401 - as a search takes them
        super().__init__(owner={}, **more)
        self.heard: dict[str, JSON] = {}
        self.has_a_bug = False

    def describe(self, requests: Any) -> None:  # noqa: ANN401 - as a search takes them
        if self.has_a_bug:
            raise ZeroDivisionError
        self.heard = dict(requests)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def journal(tmp_path: Path, clock: FakeClock) -> Iterator[Journal]:
    with Journal(tmp_path / "journal.db", clock.now) as journal:
        yield journal


class Run:
    """One run of a daemon, as far as descriptions go."""

    def __init__(
        self,
        journal: Journal,
        clock: FakeClock,
        by_owner: dict[str, JSON] | None = None,
        **documents: JSON,
    ) -> None:
        self.transport = Publishing(
            {f"/{name}.json": d for name, d in documents.items()}
        )
        self.log = RecordingLog()
        self.search = Hearing(log=self.log, clock=clock)
        self.client = NetworkClient(
            base_url=URL,
            log=self.log,
            clock=clock,
            transport=self.transport,
            search=self.search,
        )
        self.descriptions = Descriptions(
            network=self.client,
            journal=journal,
            expected=Expectations(URL, URL),
            by_owner=by_owner or {},
            clock=clock,
            log=self.log,
        )

    async def start(self) -> dict[str, JSON]:
        """Return what the client knows then."""
        async with self.client:
            self.descriptions.recall()
            await self.descriptions.refresh()
        return self.search.heard


async def test_what_the_network_publishes_is_used(
    journal: Journal, clock: FakeClock
) -> None:
    run = Run(journal, clock, openapi=description(claim="jobId"))

    assert await run.start() == {"claim": schema("jobId")}
    assert run.log.named("network.description_found")


async def test_it_is_asked_for_once_a_day(journal: Journal, clock: FakeClock) -> None:
    await Run(journal, clock, openapi=description(claim="jobId")).start()
    clock.advance(timedelta(hours=23).total_seconds())
    second = Run(journal, clock, openapi=description(claim="other"))

    assert await second.start() == {"claim": schema("jobId")}
    assert not second.transport.requests

    clock.advance(timedelta(hours=1).total_seconds())
    third = Run(journal, clock, openapi=description(claim="other"))
    assert await third.start() == {"claim": schema("other")}


async def test_a_network_that_publishes_nothing_is_not_asked_again_that_day(
    journal: Journal, clock: FakeClock
) -> None:
    first, second = Run(journal, clock), Run(journal, clock)

    assert await first.start() == await second.start() == {}
    assert 12 < len(first.transport.requests) < 25
    assert not second.transport.requests


async def test_a_network_that_is_down_is_asked_again_soon(
    journal: Journal, clock: FakeClock
) -> None:
    down, up = Run(journal, clock), Run(journal, clock, openapi=description(claim="id"))
    down.transport.is_down = True

    assert await down.start() == {}
    assert await up.start() == {"claim": schema("id")}


async def test_the_owners_word_outranks_the_networks(
    journal: Journal, clock: FakeClock
) -> None:
    published = description(claim="jobId", complete="jobId")
    run = Run(journal, clock, {"claim": schema("task")}, openapi=published)

    assert await run.start() == {"claim": schema("task"), "complete": schema("jobId")}


async def test_what_a_bug_keeps_from_being_used_stops_neither_this_start_nor_the_next(
    journal: Journal, clock: FakeClock
) -> None:
    first = Run(journal, clock, openapi=description(claim="jobId"))
    first.search.has_a_bug = True
    second = Run(journal, clock)
    second.search.has_a_bug = True

    assert await first.start() == await second.start() == {}
    (told,) = first.log.named("network.bug")
    assert told["doing"] == "reading what the network publishes"


def owned(directory: Path, **settings: Any) -> dict[str, JSON]:  # noqa: ANN401 - any setting
    data = DataDirectory(directory)
    return described_by_owner(ContractSettings(**settings), data)


def test_the_owners_file_is_the_one_named_else_the_one_imported(tmp_path: Path) -> None:
    assert owned(tmp_path) == {}

    (tmp_path / "openapi.json").write_text(json.dumps(description(claim="imported")))
    named = tmp_path / "named.json"
    named.write_text(json.dumps(description(claim="named")))

    assert owned(tmp_path) == {"claim": schema("imported")}
    assert owned(tmp_path, openapi=named) == {"claim": schema("named")}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "No such file or directory"),
        ("openapi: 3.1.0", "it is YAML, but not"),
        ("openapi: [3", "it is not YAML"),
        ('{"openapi": ', "it is not JSON"),
        ('{"tasks": []}', "not an OpenAPI description"),
    ],
)
def test_a_file_that_cannot_be_used_is_told(
    tmp_path: Path, content: str | None, said: str
) -> None:
    file = tmp_path / "described.json"
    if content is not None:
        file.write_text(content)

    with pytest.raises(ConfigurationError, match=said):
        owned(tmp_path, openapi=file)


async def test_a_daemon_finds_the_description_before_its_first_claim(
    make_site: MakeSite,
) -> None:
    site = await make_site()
    await site.run(work__max_tasks=1)

    (found,) = site.log.named("network.description_found")
    assert found["path"] == "/openapi.json"
    assert "claim" in str(found["actions"])
    order = [line.get("endpoint") for line in site.log.named("network.request")]
    assert "document" not in order[order.index("claim") :]


async def test_a_daemon_with_a_description_that_is_none_does_not_join(
    make_site: MakeSite,
) -> None:
    site = await make_site()

    with pytest.raises(ConfigurationError):
        await site.run(contract__openapi=site.folder / "absent.json")

    assert not (site.data / "identity.json").exists()
