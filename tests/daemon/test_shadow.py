"""Strategies in shadow and their promotion, in the whole daemon in simulated time."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.daemon.simulated import Household

from journeyman.control.verbs import StrategyName
from journeyman.daemon.commands import OwnerCommands
from journeyman.daemon.strategies import load_strategies, shadows_of
from journeyman.domain.errors import ConfigurationError, UsageError

WORKER = """
    from journeyman import Strategy, score


    class {name}(Strategy):
        kinds = {{"work", "{word}"}}

        def wants(self, task):
            return super().wants(task) is True and score({chance})

        def on_start(self, ctx):
            ctx.log.info("start", of="{word}")

        def on_outcome(self, task, ctx):
            ctx.log.info("outcome", of="{word}")

        def on_stop(self, ctx):
            ctx.log.info("stop", of="{word}")

        def post(self, ctx):
            ctx.log.info("post", of="{word}")

        async def run(self, task, ctx):
            ctx.log.info("run", of="{word}")
            {action}
"""

SLOW_START = """async def on_start(self, ctx):
            import anyio

            await anyio.sleep(5)"""


@pytest.fixture
def home(tmp_path: Path) -> Household:
    """Return a home with `usual`, and `fresh`, whose offers are better, in shadow."""
    made = Household(tmp_path)
    write(made, "Usual", chance=0.5)
    write(made, "Fresh")
    made.changes = {"strategies.shadow": ["fresh"], "work.slots": 4}
    return made


def write(
    home: Household, name: str, *, chance: float = 1.0, action: str = 'return "done"'
) -> None:
    word = name.lower()
    text = WORKER.format(name=name, word=word, chance=chance, action=action)
    home.write(f"{word}.py", text)


def _told(home: Household, message: str) -> list[str]:
    return [str(details["of"]) for details in home.said(message)]


def _standing(home: Household) -> tuple[tuple[str, ...], list[str]]:
    with home.journal() as journal:
        standing = journal.shadows.state()
    return standing.shadows, sorted(standing.promoted)


async def _rest(_commands: OwnerCommands) -> None:
    await anyio.sleep(400)


def test_a_shadow_decides_beside_the_others_and_does_nothing(home: Household) -> None:
    home.network.offer(3)
    home.network.offer(2, kind="fresh")

    home.live(_rest)

    assert set(_told(home, "run")) == {"usual"}
    assert set(_told(home, "post")) == {"usual"}
    assert set(_told(home, "outcome")) == {"usual"}
    # It is made ready as it would be for work.
    assert sorted(_told(home, "start")) == ["fresh", "usual"]
    assert sorted(_told(home, "stop")) == ["fresh", "usual"]
    with home.journal() as journal:
        (score,) = journal.shadows.scores()
        assert journal.tasks.counts() == {"completed": 3, "skipped": 2}
        assert [one.strategy for one in journal.recordings.last(9)].count("usual") == 3
    assert (score.strategy, score.asked, score.wanted, score.alone) == (
        "fresh",
        5,
        5,
        2,
    )
    assert (score.agreed, score.expected_credits) == (3, 10.0)
    assert (score.active_completed, score.active_credits, score.errors) == (3, 6, 0)
    assert _standing(home) == (("fresh",), [])


def test_a_promoted_one_works_at_once_and_after_a_restart(home: Household) -> None:
    home.network.offer(2, kind="fresh")
    said: dict[str, Any] = {}

    async def owner(commands: OwnerCommands) -> None:
        await anyio.sleep(50)
        assert (await commands.status())["shadow_strategies"] == ["fresh"]
        said.update(commands.promote(StrategyName("Fresh")))
        assert (await commands.status())["shadow_strategies"] == []
        await anyio.sleep(400)

    home.live(owner)
    assert said == {"strategy": "fresh", "promoted": True}
    assert _told(home, "run") == ["fresh", "fresh"]
    assert sorted(_told(home, "start")) == ["fresh", "usual"]

    home.network.offer(1)
    home.live(_rest)

    assert _told(home, "run") == ["fresh"] * 3
    assert _standing(home) == ((), ["fresh"])


def test_a_reload_keeps_what_was_promoted_and_takes_new_shadows(
    home: Household,
) -> None:
    reports: list[Any] = []

    async def owner(commands: OwnerCommands) -> None:
        commands.promote(StrategyName("fresh"))
        write(home, "Third")
        home.changes["strategies.shadow"] = ["fresh", "third"]
        reports.append(await commands.reload())
        home.changes["strategies.shadow"] = ["thirt"]
        reports.append(await commands.reload())
        home.changes["strategies.shadow"] = []
        reports.append(await commands.reload())

    home.live(owner)

    assert reports[0]["strategies"] == ["fresh", "usual"]
    assert reports[0]["shadow"] == ["third"]
    assert "Did you mean 'third'" in reports[1]["problems"][0]
    assert reports[2]["strategies"] == ["fresh", "third", "usual"]
    assert reports[2]["needs_restart"] == []
    # The settings say now that it is live; in shadow again, it begins there.
    assert _standing(home) == ((), [])


def test_a_file_that_changes_is_another_strategy_in_shadow(home: Household) -> None:
    home.network.offer(2, kind="fresh")

    async def owner(commands: OwnerCommands) -> None:
        await anyio.sleep(50)
        write(home, "Fresh", chance=0.25)
        await commands.reload()
        await anyio.sleep(400)

    home.live(owner)

    with home.journal() as journal:
        (score,) = journal.shadows.scores()
    assert (score.asked, score.expected_credits) == (2, 1.0)
    assert sorted(_told(home, "stop")) == ["fresh", "fresh", "usual", "usual"]


@pytest.mark.parametrize(
    ("name", "error", "problem"),
    [
        pytest.param("usual", UsageError, "it is active", id="an active one"),
        pytest.param("frsh", ConfigurationError, "there is no strategy", id="a typo"),
    ],
)
def test_only_a_shadow_can_be_promoted(
    home: Household, name: str, error: type[Exception], problem: str
) -> None:
    async def owner(commands: OwnerCommands) -> None:
        with pytest.raises(error, match=problem):
            commands.promote(StrategyName(name))

    home.live(owner)

    assert _standing(home) == (("fresh",), [])


def test_a_promoted_one_that_fails_too_often_goes_back(home: Household) -> None:
    write(home, "Fresh", action='raise ValueError("a bug")')
    home.network.offer(9)

    async def owner(commands: OwnerCommands) -> None:
        await anyio.sleep(100)
        commands.promote(StrategyName("fresh"))
        home.network.offer(3)
        await anyio.sleep(100)
        assert (await commands.status())["shadow_strategies"] == ["fresh"]
        home.network.offer(3)
        await anyio.sleep(400)

    home.live(owner)

    (event,) = home.log.named("strategies.demoted")
    assert (event["strategy"], event["ended"], event["failed"]) == ("fresh", 3, 3)
    assert _told(home, "run").count("fresh") == 3
    assert _standing(home) == (("fresh",), [])
    with home.journal() as journal:
        assert journal.tasks.counts() == {"completed": 12, "failed": 3}


def test_a_failing_one_is_demoted_also_after_a_restart(home: Household) -> None:
    write(home, "Fresh", action='raise ValueError("a bug")')

    async def owner(commands: OwnerCommands) -> None:
        commands.promote(StrategyName("fresh"))
        home.network.offer(2)
        await anyio.sleep(400)

    home.live(owner)
    assert home.log.named("strategies.demoted") == []

    home.network.offer(1)
    home.live(_rest)

    assert len(home.log.named("strategies.demoted")) == 1
    assert _standing(home) == (("fresh",), [])


def test_one_that_fails_as_often_as_was_usual_stays(home: Household) -> None:
    home.changes |= {"promotion.watch_tasks": 6, "quarantine.errors": 100}
    write(home, "Usual", chance=0.5, action='raise ValueError("a bug")')
    odd = 'return "done" if int(task.id[1:]) % 2 else 1 / 0'
    write(home, "Fresh", action=odd)
    home.network.offer(4)

    async def owner(commands: OwnerCommands) -> None:
        await anyio.sleep(100)
        commands.promote(StrategyName("fresh"))
        home.network.offer(6)
        await anyio.sleep(400)
        home.network.offer(2)
        await anyio.sleep(400)

    home.live(owner)

    assert home.log.named("strategies.demoted") == []
    assert len(home.log.named("strategies.promotion_confirmed")) == 1
    assert _told(home, "run").count("fresh") == 8


def test_a_name_that_is_not_there_stops_the_start(home: Household) -> None:
    home.changes["strategies.shadow"] = ["fresch"]
    settings = home.settings().strategies

    with pytest.raises(ConfigurationError) as told:
        shadows_of(load_strategies(settings), settings)

    assert "strategies.shadow" in told.value.problem
    assert "'fresh'" in told.value.fix


def test_a_shadow_whose_file_is_broken_stops_nobody(home: Household) -> None:
    home.write("fresh.py", "from journeyman import Nothing")
    home.network.offer(1)

    home.live(_rest)

    assert _told(home, "run") == ["usual"]
    assert _standing(home) == ((), [])


def test_one_that_is_disabled_is_not_in_shadow(home: Household) -> None:
    home.changes["strategies.disabled"] = ["fresh"]

    home.live(_rest)

    assert _standing(home) == ((), [])


def test_one_that_is_promoted_while_a_reload_is_under_way_stays_so(
    home: Household,
) -> None:
    async def owner(commands: OwnerCommands) -> None:
        slow = WORKER.replace("def on_start(self, ctx):", SLOW_START)
        home.write(
            "fresh.py",
            slow.format(name="Fresh", word="fresh", chance=1, action='return "done"'),
        )
        async with anyio.create_task_group() as group:
            group.start_soon(commands.reload)
            await anyio.sleep(2)
            commands.promote(StrategyName("fresh"))
        assert (await commands.status())["shadow_strategies"] == []
        home.network.offer(1, kind="fresh")
        await anyio.sleep(400)

    home.live(owner)

    assert home.log.named("strategies.reloaded")[0]["shadow"] == ()
    assert _told(home, "run") == ["fresh"]
