"""Who may open the page, and what other web sites cannot do with it."""

import re
from base64 import b64encode
from hashlib import sha256
from typing import cast

import anyio
import httpx2 as httpx
import pytest
from tests.web.conftest import HOST, access_with, browser

from journeyman.control.verbs import PauseRequest
from journeyman.daemon.commands import OwnerCommands
from journeyman.testing import FakeClock, RecordingLog
from journeyman.web.access import MOST_WAITING
from journeyman.web.app import HEADERS, build_app
from journeyman.web.live import Live
from journeyman.web.metrics import Meters

PASSWORD = "correct horse battery"  # noqa: S105 - it opens nothing


class Site:
    """A page whose buttons only note that they were pressed."""

    def __init__(self, password: str | None = None) -> None:
        self.pauses: list[PauseRequest] = []
        self.log = RecordingLog()
        self.access = access_with(password, self.log)
        clock = FakeClock()
        commands = cast("OwnerCommands", self)
        self.app = build_app(commands, self.access, Live(clock), Meters(clock))

    def pause(self, request: PauseRequest) -> None:
        self.pauses.append(request)


async def token_of(client: httpx.AsyncClient) -> str:
    html = (await client.get("/login")).text
    return html.partition('name="token" value="')[2].partition('"')[0]


@pytest.mark.parametrize(
    "host",
    ["localhost:8420", "127.0.0.1", "[::1]:8420", "192.0.2.7:80", "agent.example"],
)
async def test_the_page_answers_under_its_own_names(host: str) -> None:
    async with browser(Site().app, host=host) as client:
        assert (await client.get("/login")).status_code == 200


async def test_of_all_styles_a_page_may_use_the_one_that_is_in_it() -> None:
    async with browser(Site().app) as client:
        answer = await client.get("/login")

    (style,) = re.findall(r"<style>(.*?)</style>", answer.text, re.DOTALL)
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}';" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8420", "localhost.evil.example", "", "]:1"]
)
@pytest.mark.parametrize("path", ["/", "/login", "/live/", "/static/page.js"])
async def test_a_name_that_was_rebound_to_us_shows_nothing(
    host: str, path: str
) -> None:
    async with browser(Site().app, host=host) as client:
        answer = await client.get(path)

    assert answer.status_code == 421
    assert "web.names" in answer.text


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "", f"http://{HOST}.evil.example"]
)
async def test_a_form_on_another_web_site_commands_nothing(origin: str) -> None:
    site = Site()
    async with browser(site.app, origin=origin) as client:
        answer = await client.post("/do/pause", data={"token": await token_of(client)})

    assert answer.status_code == 403
    assert site.pauses == []


@pytest.mark.parametrize("token", ["", "0" * 64, "é"])
async def test_a_form_without_our_token_commands_nothing(token: str) -> None:
    site = Site()
    async with browser(site.app) as client:
        answer = await client.post("/do/pause", data={"token": token})

    assert answer.status_code == 403
    assert site.pauses == []


async def test_a_form_of_ours_commands() -> None:
    site = Site()
    async with browser(site.app) as client:
        form = {"token": await token_of(client), "hours": "2", "reason": "lunch"}
        answer = await client.post("/do/pause", data=form)

    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert [(one.hours, one.reason) for one in site.pauses] == [(2.0, "lunch")]


async def test_what_is_commanded_wrongly_is_told() -> None:
    site = Site()
    async with browser(site.app, accept="application/json") as client:
        token = await token_of(client)
        refused = await client.post("/do/pause", data={"token": token, "hours": "-1"})
        unknown = await client.post("/do/launch", data={"token": token})
        large = await client.post(
            "/do/pause", data={"token": token, "reason": "x" * 20_000}
        )

    assert refused.status_code == 409
    assert "-1 hours" in refused.json()["problem"]
    assert (unknown.status_code, large.status_code) == (404, 413)
    assert site.pauses == []


@pytest.mark.parametrize("path", ["/login", "/static/page.js", "/nowhere"])
async def test_no_answer_may_be_framed_or_run_what_is_not_ours(path: str) -> None:
    async with browser(Site().app) as client:
        headers = (await client.get(path)).headers

    assert {name: headers[name] for name in HEADERS} == HEADERS
    policy = headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy


@pytest.mark.parametrize("path", ["/", "/tasks", "/log", "/live/", "/tasks/task_1"])
async def test_without_the_password_nothing_is_shown(path: str) -> None:
    async with browser(Site(PASSWORD).app) as client:
        asked = await client.get(path)
        by_program = await client.get(path, headers={"accept": "*/*"})

    assert (asked.status_code, asked.headers["location"]) == (303, "/login")
    assert by_program.status_code == 401


async def test_without_the_password_nothing_is_commanded() -> None:
    site = Site(PASSWORD)
    async with browser(site.app, accept="application/json") as client:
        token = await token_of(client)
        answer = await client.post("/do/pause", data={"token": token})

    assert answer.status_code == 401
    assert site.pauses == []


async def test_the_password_opens_a_session_which_log_out_ends() -> None:
    site = Site(PASSWORD)
    async with browser(site.app) as client:
        entry = {"token": await token_of(client), "password": PASSWORD}
        entered = await client.post("/login", data=entry)
        token = await token_of(client)
        inside = await client.post("/do/pause", data={"token": token})
        await client.post("/logout", data={"token": token})
        after = await client.get("/")

    assert "HttpOnly" in entered.headers["set-cookie"]
    assert "SameSite=Strict" in entered.headers["set-cookie"]
    assert PASSWORD not in entered.headers["set-cookie"]
    assert inside.headers["location"] == "/"
    assert len(site.pauses) == 1
    assert after.headers["location"] == "/login"


WRONG = "correct horse batterz"


@pytest.mark.parametrize("is_typed", [True, False], ids=["typed", "bearer"])
async def test_a_wrong_password_waits_and_is_logged_without_it(
    *, is_typed: bool
) -> None:
    site = Site(PASSWORD)
    clock = cast("FakeClock", site.access.clock)
    answers: list[httpx.Response] = []
    async with browser(site.app) as client:
        entry = {"token": await token_of(client), "password": WRONG}
        program = {"accept": "*/*", "authorization": f"Bearer {WRONG}"}

        async def enter() -> None:
            answers.append(
                await client.post("/login", data=entry)
                if is_typed
                else await client.get("/", headers=program)
            )

        async with anyio.create_task_group() as group:
            group.start_soon(enter)
            await site.log.until("web.login_refused")
            await anyio.wait_all_tasks_blocked()
            assert answers == []
            clock.advance(1)

    assert answers[0].status_code == 401
    assert "set-cookie" not in answers[0].headers
    assert "horse" not in str(site.log.lines)


async def test_who_guesses_over_many_connections_is_not_faster() -> None:
    site = Site(PASSWORD)
    clock = cast("FakeClock", site.access.clock)
    answers: list[int] = []
    async with browser(site.app, accept="*/*") as client:

        async def guess(password: str) -> None:
            sent = {"authorization": f"Bearer {password}"}
            answers.append((await client.get("/nowhere", headers=sent)).status_code)

        async with anyio.create_task_group() as group:
            for password in ("a guess", "another guess", PASSWORD):
                group.start_soon(guess, password)
                await anyio.wait_all_tasks_blocked()
            counts = []
            for _ in range(2):
                counts.append(len(answers))
                clock.advance(1)
                await anyio.wait_all_tasks_blocked()

    assert counts == [0, 1]
    assert answers == [401, 401, 404]


async def test_only_so_many_guesses_wait_and_who_is_inside_is_not_held_up() -> None:
    site = Site(PASSWORD)
    refused: list[httpx.Response] = []
    async with browser(site.app, accept="*/*") as client:
        entry = {"token": await token_of(client), "password": PASSWORD}
        await client.post("/login", data=entry)
        entry["token"] = await token_of(client)
        guesser = {"authorization": "Bearer a guess", "cookie": ""}

        async def guess() -> None:
            answer = await client.get("/nowhere", headers=guesser)
            if answer.status_code != 401:
                refused.append(answer)

        async with anyio.create_task_group() as group:
            for _ in range(MOST_WAITING + 5):
                group.start_soon(guess)
            await anyio.wait_all_tasks_blocked()
            typed = await client.post("/login", data=entry)
            inside = await client.get("/nowhere")
            group.cancel_scope.cancel()

    assert [one.status_code for one in refused] == [429] * 4
    assert "Come again in a minute" in refused[0].text
    assert refused[0].headers["retry-after"] == "60"
    assert refused[0].headers["x-frame-options"] == "DENY"
    assert (typed.status_code, inside.status_code) == (429, 404)


async def test_a_program_sends_the_password_as_a_bearer_token() -> None:
    site = Site(PASSWORD)
    async with browser(site.app, accept="*/*") as client:
        right = {"authorization": f"Bearer {PASSWORD}"}
        token = await token_of(client)
        opened = await client.post("/do/pause", data={"token": token}, headers=right)

    assert opened.status_code == 303
