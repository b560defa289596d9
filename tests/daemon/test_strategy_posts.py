"""Tasks that strategies post: within their budgets, and never twice."""

from pathlib import Path

import anyio
import pytest
from tests.daemon.simulated import Household, Script

from journeyman.control.verbs import PauseRequest, WhoAsks
from journeyman.daemon.commands import OwnerCommands
from journeyman.journal.spends import SpendState

POSTER = """
    from journeyman import NewTask, Strategy


    class Poster(Strategy):
        api, version = 1, "1"
        kinds = {"nothing"}

        def post(self, ctx):
            ctx.state["asked"] = ctx.state.get("asked", 0) + 1
            BODY

        async def run(self, task):
            return "x"
"""
ONE = 'return [NewTask(title="Count", description="these", reward=4, tags=("a",))]'


@pytest.fixture
def home(tmp_path: Path) -> Household:
    return Household(tmp_path)


def _write(home: Household, body: str, name: str = "poster.py") -> None:
    home.write(name, POSTER.replace("BODY", body))


def _living(seconds: float) -> Script:
    async def owner(_commands: OwnerCommands) -> None:
        await anyio.sleep(seconds)

    return owner


def _reasons(home: Household) -> list[str]:
    return [str(one["reason"]) for one in home.said("post refused")]


def test_each_strategy_has_a_budget_of_its_own_for_a_day(home: Household) -> None:
    _write(home, ONE)
    _write(home, ONE.replace("4", "5"), "second.py")
    home.write("second.py", (home.folder / "second.py").read_text().replace("P", "Q"))
    home.changes["budget.strategy_credits"] = {"poster": 4}

    home.live(_living(1_000))

    assert [one["reward"] for one in home.network.posted] == [4, 5, 5]
    assert (
        "poster: 4 credits today, 4 more asked for; the limit is 4 "
        "(budget.strategy_credits.poster)"
    ) in _reasons(home)
    assert "budget.per_strategy_credits" in _reasons(home)[-1]
    with home.journal() as journal:
        assert journal.ledger.balance() == 100 - 14
        assert {one.strategy for one in journal.spends.recent(9)} == {
            "poster",
            "qoster",
        }


def test_the_owner_s_other_limits_hold_as_well(home: Household) -> None:
    _write(home, ONE)
    home.changes |= {"budget.posts_per_day": 1, "budget.per_strategy_credits": 50}

    home.live(_living(1_000))

    assert len(home.network.posted) == 1
    assert "budget.posts_per_day" in _reasons(home)[0]


def test_the_next_day_is_another_day(home: Household) -> None:
    _write(home, ONE)

    home.seconds = 86_400 - 1_000.0
    home.live(_living(2_000))

    assert len(home.network.posted) == 4
    assert len(_reasons(home)) == 2


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        pytest.param("return ['x']", "str is not a NewTask", id="no task"),
        pytest.param("return 7", "post returned a int, not a list", id="no list"),
        pytest.param(ONE.replace("4", "0"), "reward is 0", id="no reward"),
        pytest.param(ONE.replace("4", "True"), "reward is True", id="an odd reward"),
        pytest.param(ONE.replace('"Count"', '" "'), "title", id="no title"),
        pytest.param(ONE.replace('("a",)', '"a"'), "tags must be", id="odd tags"),
        pytest.param(ONE.replace("4", "4, input={1}"), "JSON", id="odd input"),
        pytest.param(ONE.replace("these", "\\ud800"), "JSON", id="half a letter"),
    ],
)
def test_what_cannot_be_posted_is_told_to_the_strategy_s_log(
    home: Household, body: str, reason: str
) -> None:
    _write(home, body)

    home.live(_living(400))

    assert home.network.posted == []
    assert reason in _reasons(home)[0]


def test_one_task_a_generator_and_nothing_are_all_fine(home: Household) -> None:
    _write(home, ONE.replace("[", "").replace(")]", ")"))
    _write(home, ONE.replace("return [", "yield ").replace(")]", ")"), "second.py")
    home.write("second.py", (home.folder / "second.py").read_text().replace("P", "Q"))
    _write(home, "return None", "third.py")
    home.write("third.py", (home.folder / "third.py").read_text().replace("P", "R"))

    home.live(_living(400))

    assert len(home.network.posted) == 2
    assert _reasons(home) == []


def test_a_flood_is_cut(home: Household) -> None:
    _write(home, ONE.replace("4", "1").replace(")]", ")] * 30"))
    home.changes |= {
        "budget.posts_per_day": 100,
        "budget.per_strategy_credits": 100,
        "budget.per_day_credits": 100,
    }

    home.live(_living(400))

    assert len(home.network.posted) == 20
    assert set(_reasons(home)) == {"more than 20 in one call"}


def test_what_post_noted_is_on_disk_before_the_request_leaves(home: Household) -> None:
    _write(home, ONE)
    home.network.answers["write-post-task-public"] = (500, {"error": "down"})

    home.live(_living(400))

    assert home.network.calls["write-post-task-public"] == 1
    with home.journal() as journal:
        assert journal.strategy_states.get("poster") == {"asked": 1}
        (spend,) = journal.spends.recent(9)
    assert spend.state is SpendState.UNKNOWN
    assert "it may have been posted" in _reasons(home)[0]


def test_nobody_is_asked_while_the_daemon_is_paused(home: Household) -> None:
    _write(home, ONE)

    async def owner(commands: OwnerCommands) -> None:
        commands.pause(PauseRequest())
        await anyio.sleep(1_000)
        commands.resume(WhoAsks())
        await anyio.sleep(301)

    home.live(owner)

    with home.journal() as journal:
        assert journal.strategy_states.get("poster") == {"asked": 1}


def test_nobody_is_asked_while_the_network_wants_no_post(home: Household) -> None:
    _write(home, ONE.replace("4", "1"))
    home.changes |= {"budget.posts_per_day": 99, "budget.per_strategy_credits": 99}
    away = (405, {"error": "method not allowed"})
    home.network.answers["write-post-task-public"] = away

    async def owner(_commands: OwnerCommands) -> None:
        await anyio.sleep(5_000)  # two posts show that the endpoint is not there
        home.network.answers.clear()
        await anyio.sleep(3_000)

    home.live(owner)

    calls = home.network.calls["write-post-task-public"]
    with home.journal() as journal:
        spends = journal.spends.recent(99)
        # Each that was asked for was sent: none was held back, and so lost.
        assert journal.strategy_states.get("poster") == {"asked": calls}
    assert not any("held back" in reason for reason in _reasons(home))
    assert len(spends) == calls
    assert home.network.posted


def test_a_post_that_holds_a_secret_is_not_sent(home: Household) -> None:
    key = "ghp_" + "a1B2" * 10
    _write(home, ONE.replace("these", f"with {key}"))

    home.live(_living(1_000))

    assert home.network.posted == []
    assert "a service's key" in _reasons(home)[0]
    assert key not in _reasons(home)[0]


CURIOUS = """
    from journeyman import NewTask, Strategy


    class Curious(Strategy):
        api, version = 1, "1"
        kinds = {"nothing"}

        def post(self, ctx):
            if not ctx.state.get("asked"):
                ctx.state["asked"] = True
                yield NewTask(title="Count", description="these", reward=4, tags=("a",))

        def on_result(self, post, result, ctx):
            ctx.log.info("came back", tags=post.tags, title=post.title, result=result)

        async def run(self, task):
            return "x"
"""


def _show(home: Household, status: str, result: object = None) -> None:
    shown = {"id": "post-1", "title": "Count", "status": status, "result": result}
    home.network.tasks = [{**shown, "kind": "other", "reward": 4}]


def test_a_result_that_a_listing_shows_is_handed_over_once(home: Household) -> None:
    home.write("curious.py", CURIOUS)

    home.live(_living(400))
    _show(home, "in_review", {"words": 6})
    home.live(_living(1_000))
    early = len(home.said("came back"))
    _show(home, "completed", {"words": 7})
    for _ in range(2):
        home.live(_living(1_000))

    assert early == 0
    (told,) = home.said("came back")
    assert (told["title"], told["tags"]) == ("Count", ("a",))
    assert told["result"] == {"words": 7}


def test_a_crash_while_a_result_is_handed_over_brings_it_no_second_time(
    home: Household,
) -> None:
    home.write("curious.py", CURIOUS.replace("ctx.log.info", "raise KeyError; print"))
    home.live(_living(400))
    _show(home, "completed", "seven")

    home.live(_living(1_000))
    home.write("curious.py", CURIOUS)
    home.live(_living(1_000))

    assert len(home.log.named("strategy.hook_failed")) == 1
    assert home.said("came back") == []
