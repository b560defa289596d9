"""Endpoints that a network does not have, told from tasks that are gone."""

from itertools import pairwise

import pytest
from tests.network.rate_limit.conftest import CLAIM, Answer, Site

from journeyman.domain.outcomes import NotSent, Refused
from journeyman.domain.tasks import IdempotencyKey, Task, TaskId
from journeyman.network.rate_limit.pause import Permit

GONE = Answer(404, {"error": "not_found"})


@pytest.mark.parametrize(
    ("answer", "needed"),
    [
        (Answer(404, {}), 3),
        (GONE, 3),
        (Answer(410, {}), 3),
        (Answer(405, {}), 2),
        (Answer(501, {}), 2),
        (Answer(404, {"message": "Requested function was not found"}), 2),
        (Answer(404, {"message": "Cannot POST /functions/v1/claim-task-public"}), 2),
    ],
)
async def test_an_endpoint_that_is_absent_for_some_tasks_is_asked_again_later_only(
    site: Site, answer: Answer, needed: int
) -> None:
    site.network.reply = lambda _: answer
    for _ in range(needed):
        assert not site.rate_limiter.is_absent("claim")
        assert isinstance(await site.claim(), Refused)

    assert site.rate_limiter.is_absent("claim")
    (told,) = site.log.named("network.endpoint_absent")
    assert told["consequence"] == "no task is claimed"
    assert told["check_again_in"] == 60
    pause = await site.claim()
    assert isinstance(pause, NotSent)
    assert "no such endpoint" in pause.message


async def test_the_looks_come_ever_later_and_at_most_hourly(site: Site) -> None:
    site.network.reply = lambda _: Answer(405)
    while site.clock.monotonic() < 6 * 3600:
        outcome = await site.claim()
        if isinstance(outcome, NotSent):
            await site.until(outcome)

    times = [at for at, _ in site.network.asked]
    gaps = [round(b - a) for a, b in pairwise(times)]
    assert gaps[:3] == [0, 60, 600]
    assert set(gaps[3:]) == {3600}
    assert len(site.log.named("network.endpoint_absent")) == 1


async def test_one_task_that_is_gone_is_no_absent_endpoint(site: Site) -> None:
    site.network.reply = lambda _: Answer(404, {})

    for _ in range(5):
        await site.claim("t0")

    assert not site.rate_limiter.is_absent("claim")


async def test_an_endpoint_for_tasks_of_ours_needs_no_different_ones(
    site: Site,
) -> None:
    site.network.reply = lambda _: GONE
    for _ in range(3):
        assert not site.rate_limiter.is_absent("complete")
        await site.client.complete(Task(id=TaskId("t0")), IdempotencyKey("k"))
        site.clock.advance(30)

    assert site.rate_limiter.is_absent("complete")


@pytest.mark.parametrize(
    "body",
    [
        {"error": "task_not_found"},
        {"message": "No such task"},
        {"detail": "Task t1 does not exist"},
        {"error": "Record not found"},
        {"message": "No query results for model [App.Models.Quest]"},
        {"detail": "Unknown id"},
    ],
)
async def test_an_answer_that_speaks_of_the_task_says_that_the_endpoint_is_there(
    site: Site, body: dict[str, str]
) -> None:
    site.network.reply = lambda _: Answer(404, body)

    for _ in range(20):
        await site.claim()

    assert not site.rate_limiter.is_absent("claim")


async def test_an_answer_that_names_the_task_by_its_id_speaks_of_the_task(
    site: Site,
) -> None:
    for number in range(20):
        name = f"quest_{number}"
        answers = {CLAIM: Answer(404, {"message": f"{name} is not here any more"})}
        site.network.reply = answers.__getitem__
        await site.claim(name)

    assert not site.rate_limiter.is_absent("claim")


async def test_an_endpoint_that_has_worked_needs_more_evidence_and_is_checked_soon(
    site: Site,
) -> None:
    await site.claim()
    site.network.reply = lambda _: GONE

    for _ in range(11):
        await site.claim()
    assert not site.rate_limiter.is_absent("claim")
    await site.claim()

    assert site.rate_limiter.is_absent("claim")
    gaps = []
    for _ in range(10):
        gaps.append(await _wait_for_check(site))
        await site.claim()
    assert max(gaps) <= 301


async def _wait_for_check(site: Site) -> float:
    began = site.clock.monotonic()
    await site.until(await site.claim())
    return site.clock.monotonic() - began


async def test_while_an_absent_endpoint_is_checked_nobody_else_asks(
    site: Site,
) -> None:
    site.network.reply = lambda _: Answer(405)
    for _ in range(2):
        await site.claim()
    await site.until(await site.claim())

    check = await site.rate_limiter.acquire("claim")
    assert isinstance(check, Permit)
    assert isinstance(await site.claim(), NotSent)

    site.rate_limiter.release(check, None)  # nobody saw its end: the next one checks
    assert isinstance(await site.claim(), Refused)


async def test_an_endpoint_that_comes_back_is_used_and_told(site: Site) -> None:
    site.network.reply = lambda name: GONE if name == CLAIM else Answer()
    for _ in range(3):
        await site.claim()
    pause = await site.claim()
    site.network.reply = lambda _: Answer()
    await site.until(pause)

    await site.claim()

    assert not site.rate_limiter.is_absent("claim")
    assert site.log.named("network.endpoint_found") == [{"endpoint": "claim"}]
