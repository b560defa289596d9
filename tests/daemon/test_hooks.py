"""What strategies are told, and that nothing they do with it can hurt the daemon."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.daemon.conftest import MakeSite
from tests.daemon.simulated import Household

from journeyman.control.verbs import StrategyName
from journeyman.daemon.commands import OwnerCommands
from journeyman.journal.strategy_health import Condition

EAR = """
    import anyio
    from journeyman import Decline, Misconfigured, NewTask, Strategy


    class Ear(Strategy):
        api, version = 1, "1"
        kinds = {"work"}

        def on_start(self, ctx):
            ctx.state["starts"] = ctx.state.get("starts", 0) + 1
            (ctx.workspace / "scratch").write_text("x")
            ctx.log.info("start", starts=ctx.state["starts"])

        async def on_stop(self, ctx):
            ctx.log.info("stop", heard=ctx.state.get("heard", 0))

        async def on_outcome(self, task, outcome, ctx):
            ctx.state["heard"] = ctx.state.get("heard", 0) + 1
            ctx.log.info("heard", task=task.id, state=outcome.state,
                         credits=outcome.credits, reason=outcome.reason)

        def status(self):
            return {"mood": "fine"}

        async def run(self, task, ctx):
            if task.text == "no":
                raise Decline("not today")
            return "x"
"""


@pytest.fixture
def home(tmp_path: Path) -> Household:
    made = Household(tmp_path)
    made.write("ear.py", EAR)
    return made


async def _idle(_commands: OwnerCommands) -> None:
    await anyio.sleep(200)


def test_a_strategy_hears_of_its_start_its_tasks_and_its_end(home: Household) -> None:
    home.network.offer(2)
    home.network.offer(1, input={"text": "no"})
    home.live(_idle)
    home.live(_idle)

    heard = {one["task"]: (one["state"], one["credits"]) for one in home.said("heard")}
    assert heard == {
        "t1": ("completed", 2),
        "t2": ("completed", 2),
        "t3": ("declined", 0),
    }
    assert home.said("start") == [{"starts": 1}, {"starts": 2}]
    assert home.said("stop") == [{"heard": 3}, {"heard": 3}]
    with home.journal() as journal:
        assert journal.strategy_states.get("ear") == {"starts": 2, "heard": 3}
    assert list((home.root / "data").rglob("scratch")) == []


def test_a_line_about_an_outcome_names_its_task(home: Household) -> None:
    home.network.offer(1)

    home.live(_idle)

    lines = home.log.named("strategy.log")
    assert {one["message"]: one["task_id"] for one in lines} == {
        "start": None,
        "heard": "t1",
        "stop": None,
    }


def _with(hook: str, body: str) -> str:
    """Return the strategy with another body in one hook."""
    return EAR.replace(f"{hook}\n", f"{hook}\n            {body}\n", 1)


START = "def on_start(self, ctx):"
STOP = "async def on_stop(self, ctx):"
OUTCOME = "async def on_outcome(self, task, outcome, ctx):"


@pytest.mark.parametrize("hook", [START, STOP, OUTCOME])
@pytest.mark.parametrize(
    ("body", "error"),
    [
        pytest.param("1 / 0", "ZeroDivisionError", id="raises"),
        pytest.param("raise SystemExit", "SystemExit", id="exits"),
        pytest.param("raise Decline('no')", "cannot raise Decline", id="declines"),
        pytest.param("ctx.state['x'] = {1}", "JSON", id="odd state"),
    ],
)
def test_a_hook_that_fails_costs_no_task(
    home: Household, hook: str, body: str, error: str
) -> None:
    home.write("ear.py", _with(hook, body))
    home.network.offer(3)

    home.live(_idle)

    told = home.log.named("strategy.hook_failed")[0]
    assert error in str(told["error"])
    assert str(told["hook"]) in hook
    with home.journal() as journal:
        assert journal.tasks.counts() == {"completed": 3}
        healths = journal.strategy_health.all().values()
        assert {one.condition for one in healths} == {Condition.SOUND}
        assert sum(len(one.errors) for one in healths) == 0
    assert home.log.names[-1] == "daemon.stopped"


@pytest.mark.parametrize("hook", [STOP, OUTCOME])
def test_a_hook_that_never_ends_is_stopped_at_its_limit(
    home: Household, hook: str
) -> None:
    home.write("ear.py", _with(hook, "await anyio.sleep_forever()"))
    home.network.offer(1)

    home.live(_idle)

    assert home.log.named("strategy.hook_failed")[0]["error"] == "not done within 10 s"
    assert home.log.names[-1] == "daemon.stopped"


def test_a_slow_listener_keeps_no_other_waiting(home: Household) -> None:
    slow = _with(OUTCOME, "await anyio.sleep(9)")
    home.write("slow.py", slow.replace("Ear", "Slow").replace("heard", "slowly"))
    home.network.offer(6)

    async def owner(_commands: OwnerCommands) -> None:
        await anyio.sleep(5)
        assert len(home.said("heard")) == 3
        assert home.said("slowly") == []
        await anyio.sleep(30)

    home.live(owner)

    assert len(home.said("slowly")) == 3


def test_a_hook_that_fails_again_and_again_is_called_no_more(home: Household) -> None:
    home.write("ear.py", _with(OUTCOME, "1 / 0"))
    home.network.offer(8)

    home.live(_idle)

    assert len(home.log.named("strategy.hook_failed")) == 3
    (told,) = home.log.named("strategy.hook_disabled")
    assert (told["hook"], told["failures"]) == ("on_outcome", 3)


GUARD = (
    EAR.replace("Ear", "Guard")
    + """
        def on_claim(self, task, ctx):
            return self.answer(task, ctx)
"""
)


def _guard(answer: str) -> str:
    return f"{GUARD}\n        def answer(self, task, ctx):\n            {answer}\n"


def test_a_strategy_may_refuse_a_task_just_before_its_claim(home: Household) -> None:
    home.write(
        "ear.py",
        _guard(
            "from journeyman import skip; "
            "self.left = getattr(self, 'left', 2) - 1; "
            "return skip('the budget is spent') if self.left < 0 else None"
        ),
    )
    home.network.offer(5)

    home.live(_idle)

    assert home.network.calls["claim-task-public"] == 2
    with home.journal() as journal:
        assert journal.tasks.counts() == {"completed": 2, "skipped": 3}
    reasons = [one["reason"] for one in home.log.named("task.skipped")]
    assert reasons == ["the budget is spent"] * 3


def test_a_claim_that_is_not_made_is_taken_back_before_it_is_asked_for_again(
    home: Household,
) -> None:
    home.write("ear.py", _guard("ctx.log.info('heard', state='asked')"))
    home.network.answers["claim-task-public"] = (429, {"error": "slow down"})
    home.network.offer(1)

    async def then_it_is_taken(_commands: OwnerCommands) -> None:
        await home.log.until("strategy.log")
        await anyio.sleep(600)
        home.network.answers["claim-task-public"] = (409, {"error": "already_claimed"})
        await anyio.sleep(600)

    home.live(then_it_is_taken)

    told = [one["state"] for one in home.said("heard")]
    times = len(told) // 2 - 1
    assert times > 0
    assert told == [*["asked", "unclaimed"] * times, "asked", "lost"]


def test_what_is_refused_for_now_is_claimed_later(home: Household) -> None:
    home.write(
        "ear.py",
        _guard(
            "from journeyman import skip; "
            "self.since = getattr(self, 'since', ctx.now); "
            "is_early = (ctx.now - self.since).total_seconds() < 90; "
            "return skip('not yet', for_now=True) if is_early else None"
        ),
    )
    home.network.offer(2)

    home.live(_idle)

    assert "not yet" in {one["reason"] for one in home.log.named("task.skipped")}
    with home.journal() as journal:
        assert journal.tasks.counts() == {"completed": 2}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [("1 / 0", "ZeroDivisionError"), ("return 7", "returned 7, not None or skip(...)")],
)
def test_nothing_is_claimed_where_the_question_before_it_fails(
    home: Household, answer: str, reason: str
) -> None:
    home.write("ear.py", _guard(answer))
    home.network.offer(8)

    home.live(_idle)

    assert home.network.calls["claim-task-public"] == 0
    with home.journal() as journal:
        assert journal.tasks.counts() == {"skipped": 8}
        (sick,) = journal.strategy_health.all().values()
        assert sick.condition is Condition.QUARANTINED
        assert reason in sick.problem


def test_a_start_that_says_it_cannot_work_puts_the_strategy_into_quarantine(
    home: Household,
) -> None:
    bar = "raise Misconfigured('no key', fix='set it')"
    home.write("ear.py", _with(START, bar))
    home.network.offer(1)
    seen: list[Any] = []

    async def owner(commands: OwnerCommands) -> None:
        await anyio.sleep(100)
        seen.append(await commands.status())
        assert commands.release(StrategyName("ear")) == {
            "strategy": "ear",
            "released": True,
        }
        await anyio.sleep(100)

    home.live(owner)

    ill = seen[0]["strategy_health"]["ear"]
    assert (ill["condition"], ill["problem"], ill["fix"]) == (
        "misconfigured",
        "no key",
        "set it",
    )
    assert seen[0]["tasks"] == {"skipped": 1}
    (told,) = home.log.named("strategy.quarantined")
    assert (told["problem"], told["fix"], told["retry_in"]) == (
        "no key",
        "set it",
        None,
    )
    with home.journal() as journal:
        assert journal.tasks.counts() == {"completed": 1}


def test_what_a_reload_s_start_says_holds_for_the_new_version(home: Household) -> None:
    async def owner(commands: OwnerCommands) -> None:
        home.write("ear.py", _with(START, "raise Misconfigured('no key')"))
        await commands.reload()
        health: Any = (await commands.status())["strategy_health"]
        assert health["ear"]["problem"] == "no key"

    home.live(owner)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        pytest.param("return {'mood': 'fine'}", {"mood": "fine"}, id="a dict"),
        pytest.param("return 'fine'", "fine", id="a text"),
        pytest.param("1 / 0", "(status failed: ZeroDivisionError", id="raises"),
        pytest.param("return {1, 2}", "(status is not valid JSON", id="no JSON"),
        pytest.param("return 'x' * 9999", "(status is too long", id="too long"),
    ],
)
def test_what_status_says_is_shown_whatever_it_is(
    home: Household, body: str, said: object
) -> None:
    home.write("ear.py", EAR.replace('return {"mood": "fine"}', body))
    seen: list[Any] = []

    async def owner(commands: OwnerCommands) -> None:
        seen.append((await commands.status())["strategy_status"])

    home.live(owner)

    told = seen[0]["ear"]
    assert told.startswith(said) if isinstance(said, str) else told == said


@pytest.mark.endurance
async def test_a_plain_hook_that_blocks_blocks_only_itself(make_site: MakeSite) -> None:
    site = await make_site()
    file = site.folder / "strategies" / "count_words.py"
    file.write_text(
        "import time\nfrom journeyman import Strategy\n\n\n"
        "class CountWords(Strategy):\n"
        '    kinds = {"word_count"}\n\n'
        "    def on_start(self, ctx):\n        time.sleep(0.5)\n\n"
        "    def on_outcome(self):\n        time.sleep(0.5)\n\n"
        "    async def run(self, task):\n        return len(task.text.split())\n"
    )

    await site.run(work__once=True, strategies__hook_timeout_seconds=0.05)

    hooks = {told["hook"] for told in site.log.named("strategy.hook_failed")}
    assert hooks == {"on_start", "on_outcome"}
    with site.journal() as journal:
        assert journal.tasks.counts() == {"completed": 6}


def test_outcomes_that_nobody_hears_are_dropped_before_they_fill_the_memory(
    home: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("journeyman.lifecycle.hooks.MOST_WAITING", 2)
    home.write("ear.py", _with(OUTCOME, "await anyio.sleep(5)"))
    home.network.offer(6)

    home.live(_idle)

    assert len(home.said("heard")) == 3
    assert len(home.log.named("strategy.outcomes_dropped")) == 3


def test_one_strategy_s_hooks_are_called_one_after_the_other(home: Household) -> None:
    slow = _with(OUTCOME, "await anyio.sleep(5); ctx.log.info('end')")
    post = "    def post(self, ctx):\n            ctx.log.info('post')\n\n        "
    home.write("ear.py", slow.replace("    def status", f"{post}def status"))
    home.changes["schedule.spend_every_seconds"] = 2
    home.network.offer(1)

    async def owner(_commands: OwnerCommands) -> None:
        await anyio.sleep(5)

    home.live(owner)

    lines = [one["message"] for one in home.log.named("strategy.log")]
    assert lines[:3] == ["start", "end", "heard"]
    assert "post" in lines
