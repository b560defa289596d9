"""A task costs a bounded number of SQL statements, so that the disk is not the limit.

A count, not a time: it is the same on every machine.
"""

from tests.worker.conftest import Loop, MakeLoop, task

from journeyman.domain.tasks import TaskId, TaskState

PATH = [
    TaskState.WANTED,
    TaskState.CLAIMING,
    TaskState.CLAIMED,
    TaskState.EXECUTING,
    TaskState.EXECUTED,
    TaskState.SUBMITTING,
    TaskState.SUBMITTED,
    TaskState.COMPLETING,
    TaskState.COMPLETED,
]
TASKS = 60
MOST_STATEMENTS = 20
"""For each task from its listing to its payment, with all its commits."""


def statements_of(loop: Loop) -> list[str]:
    """Return a list to which each statement is added when it begins."""
    seen: list[str] = []
    loop.journal.database._connection.set_trace_callback(seen.append)
    return seen


async def test_a_task_costs_no_more_statements_than_it_needs(
    make_loop: MakeLoop,
) -> None:
    loop = make_loop(slots=8)
    statements = statements_of(loop)

    await loop.work(*(task(f"t{number}") for number in range(TASKS)))

    assert loop.journal.tasks.counts() == {"completed": TASKS}
    assert len(statements) / TASKS <= MOST_STATEMENTS
    # Nothing is explained less: each move of each task is still told.
    history = loop.journal.tasks.history(TaskId("t0"))
    assert [move.after for move in history] == PATH


async def test_tasks_that_are_known_cost_one_question_for_the_page(
    make_loop: MakeLoop,
) -> None:
    loop = make_loop(slots=8)
    page = tuple(task(f"t{number}") for number in range(200))
    loop.select.decide(page)
    statements = statements_of(loop)

    decision = loop.select.decide(page)

    assert decision.known == len(page)
    assert len(statements) == 1


async def test_a_page_of_which_all_is_decided_costs_no_statement_per_task(
    make_loop: MakeLoop,
) -> None:
    loop = make_loop(slots=8)
    page = tuple(task(f"t{number}") for number in range(200))
    settled = loop.select.settled()
    loop.select.decide(page)
    loop.select.settle("this answer", settled)

    assert loop.select.is_settled("this answer", settled)
    assert not loop.select.is_settled("another answer", settled)
    loop.select.min_reward += 1
    assert not loop.select.is_settled("this answer", loop.select.settled()), (
        "decisions depend on it"
    )
