"""What strategies do to a task, and what a strategy that misbehaves cannot do."""

import pytest
from tests.worker.conftest import Loop, MakeLoop, ScriptedMarket, task

from journeyman.domain.tasks import TaskState


async def test_a_declined_task_is_given_up_without_being_a_failure(
    loop: Loop, market: ScriptedMarket
) -> None:
    await loop.work(task(text="decline"))

    assert loop.record().state is TaskState.DECLINED
    assert loop.record().reason == "not today"
    assert market.verbs() == ["claim"]
    assert "task.failed" not in loop.log.names


async def test_an_authors_bug_fails_its_task_and_no_other(loop: Loop) -> None:
    await loop.work(task("bad", "raise", reward=9), task("good"))

    assert loop.record("good").state is TaskState.COMPLETED
    assert loop.record("bad").state is TaskState.FAILED
    (told,) = loop.log.named("task.failed")
    assert told["error"] == "ValueError: a bug of the author's"
    assert "puppet.py" in str(told["where"])


async def test_a_task_that_is_to_be_tried_later_waits_that_long(loop: Loop) -> None:
    loop.select.decide((task(text="later"),))

    async with loop.running():
        assert (loop.record().state, loop.wait()) == (TaskState.CLAIMED, 600)
        await loop.later(599)
        assert loop.record().executions == 1
        await loop.later(1)

    assert loop.record().executions == 2


async def test_a_task_that_never_ends_well_is_given_up_after_so_many_tries(
    make_loop: MakeLoop,
) -> None:
    loop = make_loop(max_attempts=2)
    loop.select.decide((task(text="later"),))

    async with loop.running():
        for _ in range(4):
            await loop.later(600)

    assert loop.record().state is TaskState.FAILED
    assert loop.record().reason == "2 executions did not finish it"


async def test_a_task_that_kills_the_daemon_cannot_do_so_for_ever(
    make_loop: MakeLoop,
) -> None:
    make_loop().select.decide((task(text="hang"),))

    for run in range(1, 4):
        loop = make_loop()
        async with loop.running():
            assert loop.record().executions == run
    await make_loop().work()

    last = make_loop()
    assert last.record().state is TaskState.FAILED
    assert last.record().executions == 3


async def test_a_strategy_that_never_returns_is_stopped_at_its_limit(
    make_loop: MakeLoop,
) -> None:
    loop = make_loop(timeout_seconds=0.01, slots=1)
    loop.select.decide((task("slow", "hang", reward=9), task("next")))

    async with loop.running():
        while loop.worker.in_flight:
            await loop.quiet()

    assert loop.record("slow").reason == "not done within 0.01 s"
    assert loop.record("next").state is TaskState.COMPLETED


async def test_a_misconfigured_strategy_is_given_no_more_work(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(slots=1)

    await loop.work(task("first", "misconfigured", reward=9), task("second"))

    assert loop.record("first").state is TaskState.FAILED
    assert loop.record("second").state is TaskState.SKIPPED
    assert market.verbs() == ["claim"]
    assert loop.log.named("strategy.misconfigured")[0]["fix"] == "set the key"
    loop.select.decide((task("third"),))
    assert loop.record("third").state is TaskState.SKIPPED


async def test_what_a_strategy_remembers_outlives_the_run(make_loop: MakeLoop) -> None:
    await make_loop().work(task("a"), task("b", "decline"))
    loop = make_loop()
    await loop.work(task("c"))

    assert loop.journal.strategy_states.get("puppet") == {"runs": 3}


async def test_runs_at_the_same_time_lose_none_of_each_others_memory(
    make_loop: MakeLoop,
) -> None:
    loop = make_loop(slots=8)

    await loop.work(*(task(f"t{n}", "yield") for n in range(20)))

    assert loop.journal.strategy_states.get("puppet") == {"runs": 20}


async def test_a_memory_that_is_no_json_fails_its_task_and_is_forgotten(
    loop: Loop,
) -> None:
    await loop.work(task("bad", "odd state"))
    await loop.work(task("good"))

    assert "JSON" in loop.record("bad").reason
    assert loop.record("good").state is TaskState.COMPLETED
    assert loop.journal.strategy_states.get("puppet") == {"runs": 1}


@pytest.mark.parametrize("verb", ["claim", "submit", "complete"])
async def test_a_bug_of_ours_postpones_its_task_and_the_others_go_on(
    make_loop: MakeLoop, market: ScriptedMarket, verb: str
) -> None:
    loop = make_loop(slots=1)
    market.script[verb] = [ZeroDivisionError("ours")]
    loop.select.decide((task("unlucky", reward=9), task("other")))

    async with loop.running():
        assert loop.record("other").state is TaskState.COMPLETED
        assert loop.wait("unlucky") == 60
        (told,) = loop.log.named("task.bug")
        assert "ZeroDivisionError: ours" in str(told["traceback"])
        await loop.later(59)
        assert loop.record("unlucky").state is not TaskState.COMPLETED
        await loop.later(1)

    assert loop.record("unlucky").state is TaskState.COMPLETED


async def test_a_bug_of_ours_around_an_execution_is_tried_again_but_not_for_ever(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(loop.contexts, "context", fail)
    loop.select.decide((task(),))

    async with loop.running():
        assert (loop.record().state, loop.wait()) == (TaskState.CLAIMED, 60)
        for _ in range(5):
            await loop.later(60)

    assert loop.record().state is TaskState.FAILED
    assert loop.log.names.count("task.bug") == 3


async def test_a_result_that_tells_a_secret_goes_nowhere_not_even_to_disk(
    loop: Loop, market: ScriptedMarket
) -> None:
    await loop.work(task(text="tell"))

    assert loop.record().state is TaskState.FAILED
    assert loop.record().result is None
    assert market.verbs() == ["claim"]
    (told,) = loop.log.named("result.leak_stopped")
    assert (told["kind"], told["where"]) == ("the canary of its run", "output")
    assert "canary_of_this_run" not in str(told)


async def test_a_strategy_that_blocks_the_loop_is_told_once(
    make_loop: MakeLoop,
) -> None:
    loop = make_loop(block_limit=5.0)

    await loop.work(task("t1", "block"), task("t2", "block"), task("t3"))

    (told,) = loop.log.named("strategy.blocks")
    assert told["strategy"] == "puppet"
    assert float(str(told["seconds"])) >= 0.1
    assert " in " in str(told["where"])
    assert loop.record("t2").state is TaskState.COMPLETED
