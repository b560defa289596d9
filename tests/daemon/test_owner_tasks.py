"""The owner tries one task again, or gives it up; what makes no sense is refused."""

from pathlib import Path

import anyio
import pytest
from tests.daemon.simulated import Household

from journeyman.control.verbs import TaskRequest
from journeyman.daemon.commands import OwnerCommands
from journeyman.domain.errors import UsageError
from journeyman.domain.tasks import TaskId, TaskState
from journeyman.journal.tasks import TaskRecord

T1 = TaskRequest(by="ann", task_id="t1")
ID = TaskId("t1")
SLOW = """
    import asyncio
    from journeyman import Strategy


    class Slow(Strategy):
        kinds = {"work"}

        async def run(self, task):
            await asyncio.sleep(300)
            return "done"
"""
BROKEN = SLOW.replace("await asyncio.sleep(300)", "raise ValueError('a bug')")
UNABLE = BROKEN.replace(
    "raise ValueError", "from journeyman import Decline; raise Decline"
)
QUICK = SLOW.replace("await asyncio.sleep(300)", "pass")


@pytest.fixture
def home(tmp_path: Path) -> Household:
    home = Household(tmp_path)
    home.changes["strategies.timeout_seconds"] = 600
    home.network.offer(1)
    return home


def history(home: Household) -> list[tuple[str, str, str]]:
    with home.journal() as journal:
        return [(m.before, m.after, m.reason) for m in journal.tasks.history(ID)]


def record_of(commands: OwnerCommands) -> TaskRecord:
    return commands.agent.journal.tasks.get(ID)


async def until(commands: OwnerCommands, state: str) -> None:
    """Wait, in simulated time, until the task is there."""
    tasks = commands.agent.journal.tasks
    for _ in range(7_200):
        if tasks.last_decisions([ID]) and tasks.get(ID).state == state:
            return
        await anyio.sleep(1)
    pytest.fail(f"never {state}: {record_of(commands)}")


@pytest.mark.parametrize(
    ("strategy", "end"), [(BROKEN, "failed"), (UNABLE, "declined")]
)
def test_a_task_that_its_strategy_could_not_do_is_done_by_a_better_one(
    home: Household, strategy: str, end: str
) -> None:
    home.write("slow.py", strategy)

    async def mend_and_retry(commands: OwnerCommands) -> None:
        await until(commands, end)
        home.write("slow.py", QUICK)
        await commands.reload()
        answer = commands.retry(T1)
        assert answer == {"task_id": "t1", "before": end, "state": "claimed"}
        await until(commands, "completed")

    home.live(mend_and_retry)

    assert home.network.calls["claim-task-public"] == 1
    assert (end, "claimed", "retried by ann") in history(home)
    with home.journal() as journal:
        assert journal.tasks.outcomes_by_strategy() == {"slow": {"completed": 1}}
    (told,) = home.log.named("task.retried")
    assert (told["before"], told["state"], told["by"]) == (end, "claimed", "ann")


def test_a_result_that_waits_is_sent_at_once_under_the_same_key(
    home: Household,
) -> None:
    home.write("slow.py", QUICK)
    home.network.answers["submit-task-result-public"] = (503, {"error": "down"})

    async def retry(commands: OwnerCommands) -> None:
        await anyio.sleep(600)
        record = record_of(commands)
        del home.network.answers["submit-task-result-public"]
        commands.retry(T1)
        again = record_of(commands)
        assert again.maybe_sent == record.maybe_sent
        assert again.attempts == record.attempts
        # The breaker of the network has its own opinion of when.
        await until(commands, "completed")

    home.live(retry)

    # How long it waits undelivered counts from the move, and not from the retry.
    with home.journal() as journal:
        assert len(journal.tasks.arrivals(ID, TaskState.SUBMITTING)) == 1
    assert ("submitting", "submitting", "retried by ann") in history(home)


def test_work_that_is_abandoned_is_broken_off_and_frees_its_slot(
    home: Household,
) -> None:
    home.changes["work.slots"] = 1
    home.network.offer(1)
    home.write("slow.py", SLOW)

    async def abandon(commands: OwnerCommands) -> None:
        await until(commands, "executing")
        with pytest.raises(UsageError, match="being worked on"):
            commands.retry(T1)
        answer = await commands.abandon(T1)
        assert answer == {"task_id": "t1", "before": "executing", "state": "declined"}
        await anyio.sleep(200)
        other = commands.agent.journal.tasks.get(TaskId("t2"))
        assert other.state is TaskState.EXECUTING

    home.live(abandon)

    assert history(home)[-1] == ("executing", "declined", "abandoned by ann")
    assert [one["by"] for one in home.log.named("task.abandoned")] == ["ann"]


def test_a_result_that_was_abandoned_is_sent_as_one_that_may_have_arrived(
    home: Household,
) -> None:
    home.write("slow.py", QUICK)
    home.network.answers["submit-task-result-public"] = (503, {"error": "down"})

    async def change_my_mind(commands: OwnerCommands) -> None:
        await until(commands, "submitting")
        await anyio.sleep(600)
        await commands.abandon(T1)
        sent = home.network.calls["submit-task-result-public"]
        await anyio.sleep(600)
        assert home.network.calls["submit-task-result-public"] == sent
        commands.retry(T1)
        record = record_of(commands)
        assert (record.state, record.maybe_sent) == (TaskState.SUBMITTING, True)
        del home.network.answers["submit-task-result-public"]
        await until(commands, "completed")

    home.live(change_my_mind)


def test_what_the_network_has_decided_stays_decided(home: Household) -> None:
    home.write("slow.py", QUICK)

    async def insist(commands: OwnerCommands) -> None:
        await until(commands, "completed")
        with pytest.raises(UsageError, match="cannot be retried: it is completed"):
            commands.retry(T1)
        with pytest.raises(UsageError, match="cannot be abandoned: it is completed"):
            await commands.abandon(T1)

    home.live(insist)

    assert history(home)[-1][1] == "completed"


def test_a_task_that_nobody_has_seen_is_told(home: Household) -> None:
    async def mistype(commands: OwnerCommands) -> None:
        unknown = TaskRequest(task_id="t9")
        with pytest.raises(UsageError, match="no task 't9' was ever seen here"):
            commands.retry(unknown)
        with pytest.raises(UsageError, match="no task 't9' was ever seen here"):
            await commands.abandon(unknown)

    home.live(mistype)


def test_a_failed_task_whose_time_is_over_stays_failed(home: Household) -> None:
    home.network.tasks[0]["deadline"] = "2026-01-05T00:05:00+00:00"
    home.write("slow.py", BROKEN)

    async def too_late(commands: OwnerCommands) -> None:
        await until(commands, "failed")
        await anyio.sleep(600)
        with pytest.raises(UsageError, match="it is failed") as caught:
            commands.retry(T1)
        assert "deadline" in caught.value.fix

    home.live(too_late)
