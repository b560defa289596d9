"""The commands of a running daemon, over its real control socket."""

import os
import signal
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import httpx2 as httpx
import pytest
from tests.daemon.conftest import MakeSite, Site

from journeyman.cli.session import Session
from journeyman.control.verbs import VERBS
from journeyman.daemon.strategies import strategy_folders
from journeyman.journal.identity import load_identity

MORE = """
from journeyman import Strategy


class More(Strategy):
    kinds = {"more"}

    async def run(self, task):
        return "more"
"""


@asynccontextmanager
async def _running(site: Site, **changes: Any) -> AsyncIterator[httpx.AsyncClient]:  # noqa: ANN401 - any setting
    """Run a daemon, and talk to it as the command line does."""
    socket = site.data / "control.sock"
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: site.run(**changes))
        await site.logged("daemon.started")
        transport = httpx.AsyncHTTPTransport(uds=str(socket), retries=0)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://daemon"
        ) as commands:
            await _until_it_listens(commands)
            yield commands
            with suppress(httpx.TransportError):  # the test may have stopped it
                await commands.post("/stop")


async def _until_it_listens(commands: httpx.AsyncClient) -> None:
    with anyio.fail_after(60):
        while True:
            try:
                await commands.get("/healthz")
            except httpx.ConnectError:
                await anyio.sleep(0.005)
            else:
                return


@pytest.fixture
async def idle(make_site: MakeSite) -> Site:
    """Return a site whose network has no tasks."""
    return await make_site(tasks=0)


async def test_status_tells_who_it_is_and_how_the_money_stands(idle: Site) -> None:
    async with _running(idle) as commands:
        status = (await commands.get("/status")).json()

    assert status["balance"] == 100
    assert status["loaded_strategies"] == ["count_words"]
    assert (status["running"], status["obstacle"], status["in_flight"]) == (True, "", 0)
    identity = load_identity(idle.data / "identity.json")
    assert identity is not None
    assert identity.access_token.reveal() not in str(status)


async def test_commands_beside_it_look_into_its_folders_unless_told_others(
    idle: Site,
) -> None:
    own = idle.folder / "strategies"
    beside = Session(data_dir=idle.data)
    told = Session(data_dir=idle.data, assignments=["strategies.ready=true"])

    async with _running(idle):
        found = await anyio.to_thread.run_sync(beside.strategies_of_daemon)
        others = await anyio.to_thread.run_sync(told.strategies_of_daemon)

    settings = beside.load(found).settings
    assert strategy_folders(settings.strategies).own == (own.resolve(),)
    assert strategy_folders(settings.strategies).ready is None
    assert others == beside.strategies_of_daemon() == {}


async def test_only_its_owner_may_use_the_socket(idle: Site) -> None:
    async with _running(idle):
        mode = (idle.data / "control.sock").stat().st_mode

    assert stat.S_ISSOCK(mode)
    assert stat.S_IMODE(mode) == 0o600
    assert not (idle.data / "control.sock").exists()


async def test_the_answer_to_a_stop_arrives_before_the_daemon_ends(idle: Site) -> None:
    async with _running(idle) as commands:
        answer = await commands.post("/stop")

    assert answer.json() == {"ok": True}
    assert idle.log.named("daemon.stopped")[0]["reason"] == "asked by the owner"


async def test_a_paused_daemon_says_so_and_goes_on_when_it_is_resumed(
    idle: Site,
) -> None:
    async with _running(idle) as commands:
        await commands.post("/pause", json={"by": "ann", "reason": "why"})
        paused = (await commands.get("/status")).json()
        health = await commands.get("/healthz")
        polls = paused["this_run"]["polls"]
        await commands.post("/resume")
        with anyio.fail_after(60):
            while (await commands.get("/status")).json()["this_run"]["polls"] == polls:  # noqa: ASYNC110 - asked from outside, as a person would
                await anyio.sleep(0.005)
        resumed = (await commands.get("/status")).json()

    assert (paused["paused"]["by"], paused["paused"]["reason"]) == ("ann", "why")
    assert paused["obstacle"] == f"paused {paused['paused']['text']}"
    assert (resumed["paused"], resumed["obstacle"]) == (None, "")
    assert health.json()["paused"] == paused["paused"]
    assert health.status_code == 200


async def test_a_post_through_the_socket_is_in_the_networks_ledger_too(
    idle: Site,
) -> None:
    async with _running(idle) as commands:
        body = {"title": "Count", "reward": 5, "kind": "word_count"}
        answer = await commands.post("/posts", json=body)
        over = await commands.post("/posts", json={**body, "reward": 26})

    assert answer.json()["balance"] == 95
    assert over.json()["exit_code"] == 6
    assert "budget.per_post_credits" in over.json()["fix"]
    ledger = await idle.ledger()
    assert ledger["balanced"]
    assert [one["balance"] for one in ledger["agents"] if one["balance"] == 95]


async def test_a_top_up_gives_a_page_and_is_booked_on_the_owners_word(
    idle: Site,
) -> None:
    async with _running(idle) as commands:
        asked = (await commands.post("/top-ups", json={"credits": 200})).json()
        waiting = (await commands.get("/status")).json()
        booked = await commands.post(f"/top-ups/{asked['spend_id']}/confirm")
        again = await commands.post(f"/top-ups/{asked['spend_id']}/confirm")

    assert asked["url"].startswith("http://127.0.0.1:8080/")
    assert (asked["cents"], waiting["balance"]) == (200, 100)
    assert [one["url"] for one in waiting["open_top_ups"]] == [asked["url"]]
    assert booked.json()["balance"] == 300
    assert again.status_code == 409


async def test_a_socket_left_by_a_killed_daemon_is_replaced(idle: Site) -> None:
    idle.data.mkdir()
    (idle.data / "control.sock").write_text("left behind")

    async with _running(idle) as commands:
        assert (await commands.get("/status")).status_code == 200


async def test_a_path_too_long_for_a_socket_costs_the_socket_and_nothing_else(
    make_site: MakeSite,
) -> None:
    site = await make_site()
    site.folder = site.folder / ("x" * 100)
    site.folder.mkdir()
    (site.folder / "strategies").symlink_to(site.folder.parent / "strategies")

    await site.run(work__max_tasks=2)

    assert "sock" in str(site.log.named("control.unavailable")[0]["path"])
    with site.journal() as journal:
        assert journal.tasks.counts()["completed"] >= 2


async def test_strategies_are_loaded_anew_on_the_owner_s_word(idle: Site) -> None:
    folder = idle.folder / "strategies"
    async with _running(idle) as commands:
        (folder / "more.py").write_text((folder / "count_words.py").read_text())
        refused = (await commands.post("/reload")).json()
        (folder / "more.py").write_text(MORE)
        done = (await commands.post("/reload")).json()

    assert not refused["reloaded"]
    assert "E109" in refused["problems"][0]
    assert (done["added"], done["changed"]) == (["more"], [])


@pytest.mark.usefixtures("not_deaf")
async def test_a_hangup_loads_the_strategies_anew(idle: Site) -> None:
    async with _running(idle) as commands:
        (idle.folder / "strategies" / "more.py").write_text(MORE)
        os.kill(os.getpid(), signal.SIGHUP)
        await idle.logged("strategies.reloaded")
        status = (await commands.get("/status")).json()

    assert idle.log.named("strategies.reloaded")[0]["reason"] == "SIGHUP"
    assert status["loaded_strategies"] == ["count_words", "more"]


async def test_a_strategy_that_is_not_in_quarantine_cannot_be_released(
    idle: Site,
) -> None:
    async with _running(idle) as commands:
        answer = await commands.post("/strategies/count_words/release")

    assert answer.json()["exit_code"] == 2
    assert "journeyman status" in answer.json()["fix"]


async def test_the_answers_have_the_names_that_the_table_promises(idle: Site) -> None:
    async with _running(idle) as commands:
        answers = {
            "status": await commands.get("/status"),
            "health": await commands.get("/healthz"),
            "pause": await commands.post("/pause"),
            "resume": await commands.post("/resume"),
            "reload": await commands.post("/reload"),
            "post": await commands.post("/posts", json={"title": "T", "reward": 1}),
            "top_up": await commands.post("/top-ups", json={"credits": 100}),
        }
        spend_id = answers["top_up"].json()["spend_id"]
        confirm = await commands.post(f"/top-ups/{spend_id}/confirm")
        answers["confirm_top_up"] = confirm

    told = {name: set(answer.json()) for name, answer in answers.items()}
    promised = {verb.name: set(verb.answer.split()) for verb in VERBS}
    assert told == {name: promised[name] for name in told}
