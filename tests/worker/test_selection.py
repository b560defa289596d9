"""What is wanted of a page, what is skipped, and why."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.worker.conftest import ME, Loop, MakeLoop, ScriptedMarket, listing, task

from journeyman.domain.outcomes import Refusal, Refused
from journeyman.domain.tasks import SpendId, TaskId, TaskState
from journeyman.journal.spends import SpendKind, SpendState

AN_HOUR = timedelta(hours=1)


def reason(loop: Loop, **fields: Any) -> str:  # noqa: ANN401 - any field of Task
    """Decide about one task; give why it is skipped, or nothing."""
    loop.select.decide((task(**fields),))
    record = loop.record()
    return record.reason if record.state is TaskState.SKIPPED else ""


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({}, ""),
        ({"status": "open"}, ""),
        ({"poster": "agent-other"}, ""),
        ({"poster": ME}, "our own post"),
        ({"claimant": "agent-other"}, "claimed by another agent"),
        ({"claimant": "agent-other", "status": "open"}, "claimed by another agent"),
        ({"status": "completed"}, "status is 'completed'"),
        # An unknown word is a question, which a claim of one task answers.
        ({"status": "no such word"}, ""),
        ({"kind": "chess"}, "kind 'chess' is not wanted"),
        ({"reward": -1}, "reward below 0 (work.min_reward)"),
        ({"claimant": ME, "status": "claimed"}, ""),
        ({"claimant": ME, "status": "completed"}, "claimed by another agent"),
    ],
)
def test_a_task_is_skipped_for_a_reason(
    loop: Loop, fields: dict[str, Any], why: str
) -> None:
    assert reason(loop, **fields) == why


def test_a_task_that_is_past_its_deadline_is_skipped(loop: Loop) -> None:
    now = loop.clock.now()

    assert reason(loop, task_id="t1", deadline=now) == "past its deadline"
    loop.select.decide((task("t2", deadline=now + AN_HOUR),))
    assert loop.record("t2").state is TaskState.WANTED


def test_a_task_that_pays_too_little_is_skipped(make_loop: MakeLoop) -> None:
    loop = make_loop(min_reward=3)

    loop.select.decide((task("less", reward=2), task("enough", reward=3)))

    assert loop.record("less").state is TaskState.SKIPPED
    assert loop.record("enough").state is TaskState.WANTED


def test_our_own_posts_are_known_by_their_id_whoever_seems_to_have_posted(
    loop: Loop,
) -> None:
    with loop.journal.tx("post"):
        loop.journal.spends.reserve(
            SpendId("post_1"),
            SpendKind.POST,
            credits_=3,
            cents=0,
            strategy="owner",
            request={"title": "T"},
        )

        loop.journal.spends.move(
            SpendId("post_1"), SpendState.SETTLED, task_id=TaskId("t1")
        )

    assert reason(loop, title="renamed", poster="agent-other") == "our own post"


def test_a_page_is_decided_about_in_one_look(loop: Loop) -> None:
    verdict = loop.select.decide(
        (task("a"), task("b", kind="chess"), task("a"), task("a"))
    )

    assert (verdict.wanted, verdict.skipped, verdict.known) == (1, 1, 2)
    assert verdict.reasons == {"kind 'chess' is not wanted": 1}
    assert loop.journal.totals.get("tasks.seen") == 2


def test_what_was_decided_is_not_decided_again_while_nothing_changes(
    loop: Loop,
) -> None:
    page = (task("a"), task("b", kind="chess"))
    loop.select.decide(page)

    verdict = loop.select.decide(page)

    assert (verdict.new, verdict.known) == (0, 2)
    assert len(loop.path("b")) == 1


@pytest.mark.parametrize(
    "first", [{"status": "closed"}, {"claimant": "agent-other"}, {"reward": -1}]
)
def test_a_skipped_task_is_looked_at_again_when_it_changes(
    loop: Loop, first: dict[str, Any]
) -> None:
    loop.select.decide((task(**first),))

    loop.select.decide((task(),))

    assert loop.path() == ["skipped", "wanted"]


async def test_a_task_that_was_lost_is_not_wanted_again(
    loop: Loop, market: ScriptedMarket
) -> None:
    await loop.work(task())

    verdict = loop.select.decide((task(reward=99),))

    assert verdict.known == 1
    assert len(market.calls) == 3


async def test_where_no_open_task_can_be_claimed_another_state_is_asked_about(
    loop: Loop, market: ScriptedMarket
) -> None:
    page = (task("a", status="published"), task("b", status="draft"))
    loop.select.decide(page)
    before, settled = loop.record("b").state, loop.select.settled()
    market.script["claim"] = [Refused(Refusal.CONFLICT, "a is published", 409)]

    await loop.work(page[0])
    has_changed = loop.select.settled() != settled
    loop.select.decide(page)

    assert loop.record("a").state is TaskState.LOST
    assert (before, loop.record("b").state) == (TaskState.SKIPPED, TaskState.WANTED)
    assert has_changed


def test_a_new_strategy_is_asked_about_what_older_ones_passed_over(
    make_loop: MakeLoop, folder: Path
) -> None:
    make_loop().select.decide((task(kind="chess"),))
    (folder / "chess.py").write_text(
        "from journeyman import strategy\n\n\n"
        '@strategy(kinds={"chess"})\ndef play(task):\n    return "e4"\n'
    )
    loop = make_loop()

    loop.select.decide((task(kind="chess"),))

    assert loop.record().strategy == "play"


async def test_a_strategy_that_is_gone_after_a_restart_claims_nothing_more(
    make_loop: MakeLoop, folder: Path, market: ScriptedMarket
) -> None:
    make_loop().select.decide((task(),))
    (folder / "puppet.py").unlink()

    loop = make_loop()
    await loop.work()

    assert market.calls == []
    assert loop.record().state is TaskState.SKIPPED
    assert "gone" in loop.record().reason


async def test_a_strategy_that_was_renamed_keeps_its_wanted_tasks(
    make_loop: MakeLoop, folder: Path
) -> None:
    make_loop().select.decide((task(),))
    source = (folder / "puppet.py").read_text().replace("class Puppet", "class Doll")
    (folder / "puppet.py").unlink()
    (folder / "doll.py").write_text(source)

    loop = make_loop()
    await loop.work()

    assert loop.record().state is TaskState.COMPLETED
    assert loop.record().strategy == "doll"


async def test_a_wanted_task_whose_deadline_has_passed_is_not_claimed(
    loop: Loop, market: ScriptedMarket
) -> None:
    loop.select.decide((task(deadline=loop.clock.now() + AN_HOUR),))
    loop.clock.advance(3600)

    await loop.work()

    assert market.calls == []
    assert loop.record().reason == "past its deadline"


async def test_one_look_at_the_market_tells_what_it_saw(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.pages = [listing(task("a"), task("b", kind="chess"), unreadable=2)]

    poll = await loop.discover.look()

    assert poll.productive
    assert loop.log.named("discover.unreadable") == [{"count": 2, "total": 4}]
    told = loop.log.named("discover.polled")[0]
    assert (told["listed"], told["wanted"], told["skipped"]) == (2, 1, 1)
    tally = loop.discover.tally
    assert (tally.polls, tally.listed, tally.wanted) == (1, 2, 1)


async def test_a_page_of_ten_thousand_tasks_is_read_whole(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.pages = [listing(*(task(f"t{n}", reward=n) for n in range(10_000)))]

    await loop.discover.look()

    assert loop.journal.tasks.counts() == {"wanted": 10_000}
    (best,) = loop.journal.tasks.due({TaskState.WANTED}, loop.clock.now(), 1)
    assert best.task_id == TaskId("t9999")
