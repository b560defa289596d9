"""What the owner wants to stand still stands still until the owner says otherwise."""

from pathlib import Path

import anyio
import pytest
from tests.daemon.conftest import URL, Site
from tests.daemon.simulated import Household, Script

from journeyman.control.verbs import (
    DisableRequest,
    PauseRequest,
    StrategyName,
    WhoAsks,
)
from journeyman.daemon.commands import OwnerCommands
from journeyman.daemon.daemon import run_daemon
from journeyman.domain.errors import ConfigurationError, UsageError

WORKER = """
    from journeyman import Strategy


    class {name}(Strategy):
        kinds = {{"work"}}

        async def run(self, task, ctx):
            return "done"
"""
BY_ANN = PauseRequest(by="ann", reason="they are migrating")


class Crash(Exception):  # noqa: N818 - it is no error of ours
    """The daemon dies."""


@pytest.fixture
def home(tmp_path: Path) -> Household:
    home = Household(tmp_path)
    home.write("first.py", WORKER.format(name="First"))
    return home


def live_and_crash(home: Household, script: Script) -> None:
    """Let the owner do something, and the daemon die after it."""

    async def do(commands: OwnerCommands) -> None:
        await script(commands)
        raise Crash

    with pytest.raises(ExceptionGroup) as caught:
        home.live(do)
    assert caught.group_contains(Crash)


async def wait(_commands: OwnerCommands) -> None:
    await anyio.sleep(3_600)


def test_a_pause_outlives_crashes_and_is_told_at_each_start(home: Household) -> None:
    home.network.offer(3)

    async def pause(commands: OwnerCommands) -> None:
        commands.pause(BY_ANN)

    live_and_crash(home, pause)
    live_and_crash(home, wait)
    home.live(wait)

    assert home.network.calls["claim-task-public"] == 0
    told = home.log.named("daemon.paused")
    assert [(one["by"], one["reason"]) for one in told] == [
        ("ann", "they are migrating")
    ] * 3
    obstacles = {str(one["obstacle"]) for one in home.log.named("daemon.heartbeat")}
    (paused,) = (one for one in obstacles if one.startswith("paused by ann since "))
    assert "they are migrating" in paused


def test_what_is_resumed_stays_resumed(home: Household) -> None:
    async def pause_and_resume(commands: OwnerCommands) -> None:
        commands.pause(BY_ANN)
        assert (await commands.status())["paused"]
        commands.resume(WhoAsks("ben"))
        assert (await commands.status())["paused"] is None

    live_and_crash(home, pause_and_resume)
    home.network.offer(3)
    home.live(wait)

    assert home.network.calls["claim-task-public"] == 3


def test_a_pause_for_some_hours_ends_by_itself_also_after_a_crash(
    home: Household,
) -> None:
    home.network.offer(1)

    async def pause(commands: OwnerCommands) -> None:
        commands.pause(PauseRequest(by="ann", hours=1.5))

    live_and_crash(home, pause)
    live_and_crash(home, wait)
    assert home.network.calls["claim-task-public"] == 0
    home.live(wait)

    assert home.network.calls["claim-task-public"] == 1


def test_a_disabled_strategy_gets_nothing_new_until_it_is_enabled(
    home: Household,
) -> None:
    home.write("second.py", WORKER.format(name="Second"))
    home.network.offer(4)

    async def disable_both(commands: OwnerCommands) -> None:
        commands.disable(DisableRequest(by="ann", name="first", reason="too slow"))
        commands.disable(DisableRequest(by="ann", name="second"))

    async def enable_one(commands: OwnerCommands) -> None:
        await anyio.sleep(3_600)
        assert home.network.calls["claim-task-public"] == 0
        status = await commands.status()
        disabled = status["disabled_strategies"]
        assert isinstance(disabled, dict)
        assert sorted(disabled) == ["first", "second"]
        commands.enable(StrategyName("second"))
        with pytest.raises(UsageError, match="not disabled"):
            commands.enable(StrategyName("second"))
        await anyio.sleep(3_600)

    live_and_crash(home, disable_both)
    # A change of its file does not enable it, as it would end a quarantine.
    home.write("first.py", WORKER.format(name="First") + "\n\n# changed\n")
    home.live(enable_one)

    assert home.network.calls["claim-task-public"] == 4
    with home.journal() as journal:
        done = journal.tasks.outcomes_by_strategy()
    assert done == {"second": {"completed": 4}}
    assert home.log.named("daemon.heartbeat")[-1]["disabled"] == ["first"]


def test_what_a_disabled_strategy_has_claimed_is_finished(home: Household) -> None:
    home.network.offer(1)
    home.network.answers["submit-task-result-public"] = (503, {"error": "down"})

    async def disable(commands: OwnerCommands) -> None:
        await anyio.sleep(1)
        commands.disable(DisableRequest(name="first"))

    live_and_crash(home, disable)
    del home.network.answers["submit-task-result-public"]
    home.live(wait)

    with home.journal() as journal:
        assert journal.tasks.counts() == {"completed": 1}


def test_a_name_that_nobody_has_is_told(home: Household) -> None:
    async def mistype(commands: OwnerCommands) -> None:
        with pytest.raises(ConfigurationError, match="frist"):
            commands.disable(DisableRequest(name="frist"))

    home.live(mistype)


@pytest.mark.parametrize("hours", [0, -1, float("inf"), float("nan")])
def test_hours_that_are_none_are_refused(hours: float) -> None:
    with pytest.raises(UsageError, match="hours"):
        PauseRequest(hours=hours)


async def test_a_daemon_that_starts_paused_claims_nothing(site: Site) -> None:
    for _ in range(2):
        async with anyio.create_task_group() as group:

            async def run() -> None:
                settings, environment = site.settings(), site.environment()
                await run_daemon(settings, URL, environment, paused=True)

            group.start_soon(run)
            await site.logged("daemon.paused")
            group.cancel_scope.cancel()

    with site.journal() as journal:
        now = site.environment().clock.now()
        (pause,) = journal.owner_pauses.current(now).values()
        assert "claiming" not in journal.tasks.counts()
    assert pause.by == "journeyman run --paused"
    # Told by the start, as any pause is, and not before it as well.
    names = list(site.log.names)
    assert names.index("daemon.started") < names.index("daemon.paused")
