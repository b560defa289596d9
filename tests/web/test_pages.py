"""The page of a real daemon: what it shows of strangers, and what its buttons do."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio
import httpx2 as httpx
import pytest
from tests.daemon import conftest as daemons
from tests.web.conftest import access_with, browser

from journeyman.daemon.commands import OwnerCommands
from journeyman.daemon.daemon import run_daemon
from journeyman.domain.tasks import TaskState
from journeyman.web.app import build_app
from journeyman.web.live import Live
from journeyman.web.metrics import Meters

make_site = daemons.make_site
HOSTILE = "<img src=x onerror=alert(1)> \u202egnp.exe \x1b[2J</title><script>alert(2)"


@asynccontextmanager
async def page_of(
    site: daemons.Site,
) -> AsyncIterator[tuple[httpx.AsyncClient, OwnerCommands]]:
    """Run a daemon, and open its page as a browser does."""
    given: list[OwnerCommands] = []
    is_up = anyio.Event()

    async def serve(commands: OwnerCommands) -> None:
        given.append(commands)
        is_up.set()
        await anyio.sleep_forever()

    async def run() -> None:
        environment = replace(site.environment(), serve_web=serve)
        await run_daemon(site.settings(), daemons.URL, environment)

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        with anyio.fail_after(60):
            await is_up.wait()
        [commands] = given
        clock = site.environment().clock
        access = access_with(None, site.log)
        app = build_app(commands, access, Live(clock), Meters(clock))
        async with browser(app, accept="application/json") as client:
            yield client, commands
        commands.stop_daemon("the test is over")


async def press(client: httpx.AsyncClient, verb: str, **form: str) -> httpx.Response:
    """Press a button of the page."""
    html = (await client.get("/strategies")).text
    token = html.partition('name="token" value="')[2].partition('"')[0]
    return await client.post(f"/do/{verb}", data={"token": token, **form})


@pytest.fixture
async def idle(make_site: daemons.MakeSite) -> daemons.Site:
    return await make_site(tasks=0)


async def test_the_words_of_strangers_are_shown_and_never_obeyed(
    idle: daemons.Site,
) -> None:
    async with page_of(idle) as (client, commands):
        stranger = httpx.AsyncClient(transport=idle.transport, base_url=daemons.URL)
        joined = await stranger.post("/functions/v1/create-free-agent-public", json={})
        await stranger.post(
            "/functions/v1/write-post-task-public",
            json={"title": HOSTILE, "description": HOSTILE, "reward": 5},
            headers={"authorization": f"Bearer {joined.json()['access_token']}"},
        )
        commands.parts.look_again()
        with anyio.fail_after(60):
            while not commands.agent.journal.tasks.recent(None, 1):  # noqa: ASYNC110 - the journal tells nobody
                await anyio.sleep(0.005)
        [record] = commands.agent.journal.tasks.recent(None, 1)
        listed = (await client.get("/tasks")).text
        told = (await client.get(f"/tasks/{record.task_id}")).text

    for html in (listed, told):
        assert "&lt;img src=x onerror=alert(1)&gt; \\u202egnp.exe \\x1b[2J" in html
        assert "<img" not in html
        assert "alert(2)</script>" not in html
        assert "\u202e" not in html
    assert 'chip quiet">skipped' in told


async def test_each_page_of_a_new_agent_is_drawn_and_none_shows_its_token(
    idle: daemons.Site,
) -> None:
    async with page_of(idle) as (client, commands):
        pages = {
            path: (await client.get(path)).text
            for path in ("/", "/tasks", "/tasks?stage=failed", "/strategies", "/log")
        }
        nothing = await client.get("/tasks/task_nobody")
        token = commands.agent.identity.access_token.reveal()

    assert [path for path, html in pages.items() if token in html] == []
    assert "No task is wanted yet" in pages["/"]
    assert "No task is failed now" in pages["/tasks?stage=failed"]
    assert "Left unexplained today" in pages["/"]
    assert "count_words" in pages["/strategies"]
    assert "Nothing of this level was logged" in pages["/log"]
    assert nothing.status_code == 404


async def test_the_buttons_are_the_verbs_of_the_control_socket(
    idle: daemons.Site,
) -> None:
    async with page_of(idle) as (client, commands):
        paused = await press(client, "pause", hours="1", reason="lunch")
        obstacle = commands.parts.gate.obstacle
        shown = (await client.get("/")).text
        await press(client, "resume")
        resumed = commands.parts.gate.obstacle
        await press(client, "disable", name="count_words")
        disabled = (await client.get("/strategies")).text
        again = await press(client, "enable", name="count_words")
        nobody = await press(client, "release", name="nobody")
        reloaded = await press(client, "reload")

    assert paused.json()["done"].startswith("Paused")
    assert "by the owner, on the page" in obstacle
    assert "lunch" in shown
    assert resumed == ""
    assert 'chip warning">disabled' in disabled
    assert again.json() == {"done": "Enabled count_words."}
    assert "not in quarantine" in nobody.json()["problem"]
    assert reloaded.json() == {"done": "Reloaded: nothing has changed."}


@pytest.mark.endurance
async def test_a_task_is_followed_from_its_listing_to_its_pay(
    make_site: daemons.MakeSite,
) -> None:
    site = await make_site(tasks=1)
    async with page_of(site) as (client, commands):
        await site.logged("task.completed")
        [record] = commands.agent.journal.tasks.recent(TaskState.COMPLETED, 1)
        overview = (await client.get("/")).text
        told = (await client.get(f"/tasks/{record.task_id}")).text

    assert record.task.title in overview
    steps = ("seen", "wanted", "claiming", "executed", "submitting", "paid")
    places = [told.index(f"<b>{step}</b>") for step in steps]
    assert places == sorted(places)
