"""A task is brought to its end by whatever the network's answers say of it."""

from dataclasses import replace
from itertools import pairwise

import pytest
from tests.worker.conftest import (
    ABSENT,
    CLAIMED,
    COMPLETED,
    CONFLICT,
    INVALID,
    SUBMITTED,
    UNKNOWN,
    Answer,
    Loop,
    MakeLoop,
    ScriptedMarket,
    task,
)

from journeyman.domain.outcomes import Confirmed, Refusal, Refused, Unknown
from journeyman.domain.tasks import JSON, Progress, Task, TaskState
from journeyman.network.answers import Receipt
from journeyman.network.service_model.reading import RecordReader
from journeyman.worker.complete import MOST_UNMOVED

PENDING = Refused(
    Refusal.PENDING, "409 Conflict: awaiting review", 409, progress=Progress.IN_REVIEW
)
IN_REVIEW = Confirmed(Receipt(progress=Progress.IN_REVIEW))
NO_RESULT = Refused(
    Refusal.CONFLICT, "409: not submitted", 409, progress=Progress.CLAIMED
)
DONE = Refused(Refusal.CONFLICT, "409: already done", 409, progress=Progress.DONE)
NO_ROUTE = Refused(Refusal.ABSENT, "404 Not Found: no such route", 404)
NO_TASK = Refused(Refusal.ABSENT, "404 Not Found: no such task", 404)
BLANK = Unknown("200 OK with an empty body", 200, is_blank_yes=True)
PAGE = Unknown("200 OK with an HTML page", 200)


# -- claims that somebody decides on ---------------------------------------------------


async def test_an_application_is_repeated_until_it_is_accepted_and_then_worked_on(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    accepted = Confirmed(Receipt(given={"claim.contract.id": "c-1"}))
    market.script["claim"] = [IN_REVIEW, IN_REVIEW, accepted]
    loop = make_loop()
    await loop.work(task())
    waiting = loop.record().state
    for _ in range(2):
        loop.clock.advance(400)
        await loop.work()

    assert waiting is TaskState.CLAIMING
    assert loop.record().state is TaskState.COMPLETED
    assert loop.record().given == {"claim.contract.id": "c-1"}


async def test_an_application_that_nobody_accepts_is_lost_after_a_week(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    market.script["claim"] = [IN_REVIEW, IN_REVIEW, IN_REVIEW]
    loop = make_loop()
    await loop.work(task())
    states = [loop.record().state]
    for days in (6, 2):
        loop.clock.advance(days * 86_400)
        await loop.work()
        states.append(loop.record().state)

    assert states == [TaskState.CLAIMING, TaskState.CLAIMING, TaskState.LOST]


async def test_an_application_that_may_not_be_repeated_counts_as_accepted(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    market.script["claim"] = [IN_REVIEW, CONFLICT]
    loop = make_loop()
    await loop.work(task())
    loop.clock.advance(400)
    await loop.work()

    assert loop.record().state is TaskState.COMPLETED


# -- what answers gave ---------------------------------------------------------------


async def test_what_answers_gave_is_handed_to_the_requests_that_follow(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    market.script["claim"] = [
        Confirmed(Receipt(given={"claim.id": 77, "claim.ok": True}))
    ]
    market.script["submit"] = [
        UNKNOWN,
        Confirmed(Receipt(given={"submit.nonce": "x"})),
    ]
    await make_loop().work(task())
    restarted = make_loop()
    restarted.clock.advance(400)
    await restarted.work()

    claim = {"claim.id": 77, "claim.ok": True}
    assert market.given == [claim, claim, {**claim, "submit.nonce": "x"}]
    assert restarted.record().given == {**claim, "submit.nonce": "x"}


# -- ends that come early --------------------------------------------------------------


async def test_a_submission_that_pays_ends_the_task_with_what_it_paid(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["submit"] = [
        Confirmed(Receipt(credits_earned=2, progress=Progress.PAID))
    ]

    await loop.work(task())

    assert market.verbs() == ["claim", "submit"]
    assert loop.path()[-2:] == ["submitted", "completed"]
    assert loop.earned == 2


async def test_a_submission_that_is_done_and_not_paid_is_completed_as_usual(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["submit"] = [Confirmed(Receipt(progress=Progress.DONE))]
    market.script["complete"] = [DONE]

    await loop.work(task())

    assert market.verbs() == ["claim", "submit", "complete"]
    assert loop.record().state is TaskState.COMPLETED
    assert loop.earned == 3


@pytest.mark.parametrize("verb", ["submit", "complete"])
async def test_a_yes_that_says_rejected_is_a_rejection(
    loop: Loop, market: ScriptedMarket, verb: str
) -> None:
    rejected: dict[str, Answer] = {
        "submit": Confirmed(Receipt(progress=Progress.REJECTED)),
        "complete": Confirmed(Receipt(progress=Progress.REJECTED)),
    }
    market.script[verb] = [rejected[verb]]

    await loop.work(task())

    assert loop.record().state is TaskState.REJECTED
    assert loop.earned == 0


async def test_a_claim_whose_answer_says_that_it_is_gone_is_lost(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["claim"] = [Confirmed(Receipt(progress=Progress.GONE))]

    await loop.work(task())

    assert loop.record().state is TaskState.LOST


async def test_a_result_that_the_network_has_already_is_completed(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["submit"] = [DONE]

    await loop.work(task())

    assert loop.record().state is TaskState.COMPLETED


# -- reviews ---------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [PENDING, IN_REVIEW])
async def test_a_review_is_followed_with_growing_pauses_for_as_long_as_it_takes(
    loop: Loop, market: ScriptedMarket, answer: Answer
) -> None:
    market.script["complete"] = [answer] * 60
    loop.select.decide((task(),))
    waits = []

    async with loop.running():
        for _ in range(60):
            waits.append(loop.wait())
            await loop.later(waits[-1] + 0.001)

    assert loop.record().state is TaskState.COMPLETED
    assert loop.earned == 3
    assert waits[0] < 5
    assert 300 <= waits[-1] <= 330
    assert all(one < other * 1.2 for one, other in pairwise(waits))
    assert len(loop.log.named("task.in_review")) == 1
    assert "task.delayed" not in loop.log.names


@pytest.mark.parametrize("action", ["submit", "complete"])
@pytest.mark.parametrize(
    "no",
    [
        Refused(Refusal.CONFLICT, "409 Conflict", 409, 90),
        Refused(Refusal.UNAUTHORIZED, "403 Forbidden", 403, 90),
        Refused(Refusal.OTHER, "412 Precondition Failed", 412, 90),
    ],
    ids=lambda refused: refused.message,
)
async def test_a_refusal_that_names_a_time_to_ask_again_is_not_the_last_word(
    loop: Loop, market: ScriptedMarket, action: str, no: Refused
) -> None:
    market.script[action] = [no] * 4
    loop.select.decide((task(),))

    async with loop.running():
        wait = loop.wait()
        for _ in range(4):
            await loop.later(loop.wait() + 0.001)

    assert wait >= 90
    assert (loop.record().state, loop.earned) == (TaskState.COMPLETED, 3)
    assert market.verbs().count(action) == 5


@pytest.mark.parametrize("action", ["submit", "complete"])
async def test_who_names_a_time_has_not_done_what_an_unknown_outcome_may_have(
    loop: Loop, market: ScriptedMarket, action: str
) -> None:
    busy = Refused(Refusal.CONFLICT, "409: in progress", 409, 30)
    market.script[action] = [UNKNOWN, busy]
    loop.select.decide((task(),))

    async with loop.running():
        await loop.later(loop.wait() + 0.001)
        between = (loop.record().state, loop.earned)
        await loop.later(loop.wait() + 0.001)

    assert between[1] == 0
    assert between[0] in {TaskState.SUBMITTING, TaskState.COMPLETING}
    assert (loop.record().state, loop.earned) == (TaskState.COMPLETED, 3)
    assert market.verbs().count(action) == 3


def said(action: str, word: str) -> Answer:
    """Answer yes, with a record that shows this state."""
    return Confirmed(Receipt(given={f"{action}.job.status": word}))


async def test_a_yes_that_leaves_the_task_where_the_submission_brought_it_is_none_yet(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["claim"] = [said("claim", "assigned")]
    market.script["submit"] = [said("submit", "with_editor")]
    still = said("complete", "with_editor")
    market.script["complete"] = [still, still, said("complete", "signed_off")]
    loop.select.decide((task(),))

    async with loop.running():
        first = (loop.record().state, loop.earned)
        for _ in range(2):
            await loop.later(loop.wait() + 0.001)

    assert first == (TaskState.COMPLETING, 0)
    assert (loop.record().state, loop.earned) == (TaskState.COMPLETED, 3)
    assert market.verbs().count("complete") == 3


async def test_a_yes_that_shows_a_task_as_claimed_pays_nothing_yet(
    loop: Loop, market: ScriptedMarket
) -> None:
    claimed = Receipt(progress=Progress.CLAIMED, given={"complete.status": "claimed"})
    market.script["complete"] = [Confirmed(claimed), COMPLETED]
    loop.select.decide((task(),))

    async with loop.running():
        first = (loop.record().state, loop.earned)
        await loop.later(loop.wait() + 0.001)

    assert first == (TaskState.COMPLETING, 0)
    assert (loop.record().state, loop.earned) == (TaskState.COMPLETED, 3)


async def test_the_word_that_a_task_stays_at_is_told_without_what_a_terminal_obeys(
    loop: Loop, market: ScriptedMarket
) -> None:
    odd = "with\x1b[2Jeditor"
    market.script["claim"] = [said("claim", "assigned")]
    market.script["submit"] = [said("submit", odd)]
    market.script["complete"] = [said("complete", odd)]
    await loop.work(task())

    assert "editor" in loop.record().reason
    assert loop.record().reason.isprintable()


async def test_where_completions_never_move_a_task_it_is_found_out_once(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["claim"] = [said("claim", "taken")] * 2
    market.script["submit"] = [said("submit", "handed_in")] * 2
    market.script["complete"] = [said("complete", "handed_in")] * 20

    for one in ("t-1", "t-2"):
        loop.select.decide((task(one),))
        async with loop.running():
            for _ in range(12):
                await loop.later(30)

    assert loop.earned == 6
    assert market.verbs().count("complete") == MOST_UNMOVED + 2


@pytest.mark.parametrize("claimed", ["success", ""])
async def test_a_word_that_every_answer_has_is_not_the_state_of_a_task(
    loop: Loop, market: ScriptedMarket, claimed: str
) -> None:
    market.script["claim"] = [said("claim", claimed)]
    market.script["submit"] = [said("submit", "success")]
    market.script["complete"] = [said("complete", "success")]
    await loop.work(task())

    assert loop.record().state is TaskState.COMPLETED
    assert market.verbs().count("complete") == 1


async def test_each_question_about_a_review_is_a_new_request(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    """Under one key, a network may repeat its first answer forever."""
    market.script["complete"] = [PENDING, UNKNOWN, PENDING]
    await make_loop().work(task())
    for _ in range(3):
        restarted = make_loop()
        restarted.clock.advance(400)
        await restarted.work()

    first, second, repeated, third = (
        call.key for call in market.calls if call.verb == "complete"
    )
    assert second == repeated
    assert len({first, second, third}) == 3


async def test_a_review_without_end_is_given_up_at_the_age_of_the_result(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(result_max_age_days=1)
    market.script["complete"] = [PENDING] * 2_000
    loop.select.decide((task(),))

    async with loop.running():
        for _ in range(250):
            await loop.later(400)

    assert loop.record().state is TaskState.REJECTED
    assert "task.unsettled" in loop.log.names


async def test_where_one_review_took_its_time_the_next_is_asked_about_later(
    loop: Loop, market: ScriptedMarket
) -> None:
    reviewed: Answer = Confirmed(Receipt(progress=Progress.IN_REVIEW))
    market.script["submit"] = [reviewed] * 2
    market.script["complete"] = [PENDING, PENDING]
    loop.select.decide((task("t1"),))
    async with loop.running():
        await loop.later(5)
        await loop.later(10)
        loop.select.decide((task("t2"),))
        loop.worker.wakeup.notify()
        await loop.quiet()
        assert loop.wait("t2") >= 10
        await loop.later(20)

    assert market.verbs("t2") == ["claim", "submit", "complete"]


# -- no completions --------------------------------------------------------------------


async def test_where_there_are_no_completions_a_task_ends_with_its_result(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(is_proven=False)
    market.script["complete"] = [NO_ROUTE] * 2
    loop.select.decide(tuple(task(f"t{n}") for n in range(3)))

    async with loop.running():
        await loop.later(60)

    assert loop.journal.tasks.counts() == {"completed": 3}
    assert market.verbs().count("complete") == 2
    (entry,) = loop.journal.ledger.recent(1)
    assert (entry.amount, entry.confidence) == (3, "assumed")
    assert len(loop.log.named("complete.absent")) == 1


async def test_where_completions_have_refused_a_body_a_404_pays_nothing(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(is_proven=False)
    market.script["complete"] = [replace(NO_ROUTE, is_there=True)] * 9
    await loop.work(task())
    for _ in range(5):
        loop.clock.advance(400)
        await loop.work()

    assert loop.record().state is TaskState.COMPLETING
    assert (loop.earned, loop.log.named("complete.absent")) == (0, [])


@pytest.mark.parametrize(
    ("shown", "state", "earned"),
    [
        ({}, TaskState.COMPLETING, 0),
        ({"status": "in-countersignature"}, TaskState.COMPLETING, 0),
        ({"status": "claimed"}, TaskState.COMPLETING, 0),
        ({"status": "returned-to-clerk"}, TaskState.REJECTED, 0),
        ({"status": "approved"}, TaskState.COMPLETED, 3),
        ({"claimed_at": 1767323045, "paid_at": 1767323046}, TaskState.COMPLETED, 3),
    ],
)
async def test_a_result_under_review_is_not_paid_because_nothing_can_be_completed(
    make_loop: MakeLoop,
    market: ScriptedMarket,
    shown: dict[str, JSON],
    state: TaskState,
    earned: int,
) -> None:
    loop = make_loop(is_proven=False)
    market.script["submit"] = [IN_REVIEW]
    market.script["complete"] = [NO_ROUTE] * 9
    await loop.work(task())
    for _ in range(3):
        loop.clock.advance(400)
        await loop.work()
    booked = loop.earned
    await loop.see(listed(shown))

    assert booked == 0
    assert (loop.record().state, loop.earned) == (state, earned)


@pytest.mark.parametrize(
    ("seen", "state", "earned"),
    [
        (
            Receipt(progress=Progress.PAID, credits_earned=2),
            TaskState.COMPLETED,
            2,
        ),
        (Receipt(progress=Progress.REJECTED), TaskState.REJECTED, 0),
        (Receipt(progress=Progress.DONE), TaskState.COMPLETING, 0),
        (Receipt(), TaskState.COMPLETING, 0),
    ],
)
@pytest.mark.parametrize("action", ["submit", "complete"])
async def test_a_review_is_followed_where_the_network_says_that_it_can_be_seen(
    make_loop: MakeLoop,
    market: ScriptedMarket,
    action: str,
    seen: Receipt,
    state: TaskState,
    earned: int,
) -> None:
    there = {f"{action}.location": "/operations/7"}
    goes_on = Confirmed(Receipt(progress=Progress.IN_REVIEW, given=there))
    loop = make_loop(is_proven=False)
    market.script["complete"] = [NO_ROUTE] * 2
    market.script[action].insert(0, goes_on)
    nothing_yet = 1 if action == "submit" else 0
    market.seen_there = [*[None] * nothing_yet, Confirmed(seen)]
    await loop.work(task())
    loop.clock.advance(400)
    await loop.work()

    assert {*market.looks} == {"/operations/7"}
    assert (loop.record().state, loop.earned) == (state, earned)


async def test_after_an_answer_that_says_done_one_404_shows_that_nothing_follows(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(is_proven=False)
    done: Answer = Confirmed(Receipt(progress=Progress.DONE))
    market.script["submit"] = [done] * 3
    market.script["complete"] = [ABSENT]

    await loop.work(*(task(f"t{n}") for n in range(3)))

    assert loop.journal.tasks.counts() == {"completed": 3}
    assert market.verbs().count("complete") == 1


async def test_completions_that_were_always_done_already_are_no_longer_asked_for(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(is_proven=False)
    market.script["complete"] = [DONE] * 9

    await loop.work(*(task(f"t{n}") for n in range(9)))

    assert loop.journal.tasks.counts() == {"completed": 9}
    assert market.verbs().count("complete") <= 3


async def test_a_task_that_is_gone_is_lost_at_once(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(is_proven=False)
    market.script["claim"] = [Refused(Refusal.ABSENT, "410 Gone", 410)] * 2

    await loop.work(*(task(f"t{n}") for n in range(4)))

    assert loop.journal.tasks.counts() == {"lost": 2, "completed": 2}


async def test_what_is_absent_is_asked_for_again_once_in_a_while(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(is_proven=False)
    market.script["complete"] = [NO_ROUTE] * 2
    loop.select.decide((task("t1"),))
    async with loop.running():
        await loop.later(60)
        await loop.later(700)
        loop.select.decide((task("t2"), task("t3")))
        loop.worker.wakeup.notify()
        await loop.quiet()

    assert market.verbs("t2")[-1] == "complete"
    assert loop.proof.has("complete")


@pytest.mark.parametrize("answer", [NO_ROUTE, ABSENT])
async def test_completions_that_have_worked_are_never_taken_for_absent(
    loop: Loop, market: ScriptedMarket, answer: Refused
) -> None:
    market.script["complete"] = [answer] * 20
    loop.select.decide((task(),))

    async with loop.running():
        for _ in range(15):
            await loop.later(400)

    assert loop.record().state is TaskState.COMPLETING


async def test_a_task_that_is_not_found_shows_no_absence(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(is_proven=False)
    market.script["complete"] = [NO_TASK] * 20
    loop.select.decide((task(),))

    async with loop.running():
        for _ in range(10):
            await loop.later(400)

    assert loop.record().state is TaskState.COMPLETING


# -- results that may not have arrived ------------------------------------------------


async def test_a_result_that_the_network_does_not_have_is_sent_again(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["submit"] = [UNKNOWN, CONFLICT]
    market.script["complete"] = [NO_RESULT]
    loop.select.decide((task(),))

    async with loop.running():
        await loop.later(400)
        await loop.later(400)

    assert market.verbs() == ["claim", "submit", *["submit", "complete"] * 2]
    assert loop.record().state is TaskState.COMPLETED
    assert len(loop.log.named("task.result_missing")) == 1


async def test_a_network_that_loses_every_result_gets_it_three_times_at_most(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["complete"] = [NO_RESULT] * 20
    loop.select.decide((task(),))

    async with loop.running():
        for _ in range(12):
            await loop.later(400)

    assert market.verbs().count("submit") == 3
    assert loop.record().state is TaskState.REJECTED


async def test_where_keys_are_ignored_the_completion_tells_whether_a_result_arrived(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop()
    market.script["submit"] = [UNKNOWN, CONFLICT]
    loop.select.decide((task("t1"),))
    async with loop.running():
        await loop.later(400)

    restarted = make_loop()
    market.script["submit"] = [UNKNOWN, UNKNOWN]
    market.script["complete"] = [COMPLETED, NO_RESULT]
    restarted.select.decide((task("there"), task("lost")))
    async with restarted.running():
        for _ in range(4):
            await restarted.later(400)

    assert market.verbs("there") == ["claim", "submit", "complete"]
    assert market.verbs("lost") == ["claim", *["submit", "complete"] * 2]
    assert restarted.journal.tasks.counts() == {"completed": 3}


# -- answers without content -----------------------------------------------------------


@pytest.mark.parametrize("verb", ["claim", "submit", "complete"])
async def test_a_yes_without_content_is_believed_the_third_time(
    make_loop: MakeLoop, market: ScriptedMarket, verb: str
) -> None:
    loop = make_loop(is_proven=False)
    market.script[verb] = [BLANK] * 3
    loop.select.decide((task(),))

    async with loop.running():
        for _ in range(3):
            await loop.later(400)

    assert market.verbs().count(verb) == 3
    assert loop.record().state is TaskState.COMPLETED


async def test_where_there_was_content_before_an_empty_yes_is_an_accident(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["complete"] = [BLANK] * 20
    loop.select.decide((task(),))

    async with loop.running():
        for _ in range(10):
            await loop.later(400)

    assert loop.record().state is TaskState.COMPLETING


async def test_a_page_is_never_a_yes(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(is_proven=False)
    market.script["complete"] = [PAGE] * 20
    loop.select.decide((task(),))

    async with loop.running():
        for _ in range(10):
            await loop.later(400)

    assert loop.record().state is TaskState.COMPLETING


# -- requests that were never understood -----------------------------------------------


async def test_a_claim_that_is_not_understood_costs_no_task(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(is_proven=False)
    market.script["claim"] = [INVALID] * 6
    loop.select.decide(tuple(task(f"t{n}") for n in range(20)))

    async with loop.running():
        assert market.verbs().count("claim") == 1
        for _ in range(10):
            await loop.later(400)

    assert loop.journal.tasks.counts() == {"completed": 20}


async def test_claims_that_are_all_refused_alike_cost_one_task_at_most(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(is_proven=False)
    market.script["claim"] = [ABSENT] * 40
    loop.select.decide(tuple(task(f"t{n}") for n in range(10)))

    async with loop.running():
        for _ in range(60):
            await loop.later(400)

    assert loop.journal.tasks.counts() == {"completed": 9, "lost": 1}


@pytest.mark.parametrize("verb", ["submit", "complete"])
async def test_finished_work_outlasts_requests_that_are_not_understood(
    make_loop: MakeLoop, market: ScriptedMarket, verb: str
) -> None:
    loop = make_loop(is_proven=False)
    market.script[verb] = [INVALID] * 20
    loop.select.decide((task("t1"), task("t2")))

    async with loop.running():
        for _ in range(19):
            await loop.later(400)
        assert market.verbs().count("claim") == 1
        await loop.later(400)
        await loop.later(400)

    assert loop.journal.tasks.counts() == {"completed": 2}


def test_the_receipts_of_these_tests_say_nothing_of_progress() -> None:
    receipts = (CLAIMED.value, SUBMITTED.value, COMPLETED.value)
    assert [one.progress for one in receipts] == [None] * 3


# -- what only a listing shows ---------------------------------------------------------


@pytest.mark.parametrize(
    ("shown", "state", "earned"),
    [
        ({"status": "paid"}, TaskState.COMPLETED, 3),
        ({"paid_at": "2026-01-02T03:04:05Z"}, TaskState.COMPLETED, 3),
        ({"status": "paid", "credits_paid": 2}, TaskState.COMPLETED, 2),
        ({"status": "rejected"}, TaskState.REJECTED, 0),
        ({"status": "in_review"}, TaskState.COMPLETING, 0),
        ({"status": "paid", "claimed_by": "somebody"}, TaskState.COMPLETING, 0),
    ],
)
async def test_work_that_waits_for_a_verdict_ends_as_a_listing_shows_it(
    make_loop: MakeLoop,
    market: ScriptedMarket,
    shown: dict[str, JSON],
    state: TaskState,
    earned: int,
) -> None:
    market.script["complete"] = [IN_REVIEW] * 3
    loop = make_loop()
    await loop.work(task())
    await loop.see(listed(shown))

    assert loop.record().state is state
    assert loop.earned == earned


async def test_what_was_called_paid_before_anybody_claimed_it_is_not_paid_by_that(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    market.script["complete"] = [IN_REVIEW] * 3
    loop = make_loop()
    await loop.work(listed({"paid": True}))
    await loop.see(listed({"paid": True}))

    assert loop.record().state is TaskState.COMPLETING


async def test_a_task_that_a_listing_shows_as_done_is_asked_about_at_once(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    market.script["complete"] = [IN_REVIEW, COMPLETED]
    loop = make_loop()
    await loop.work(task())
    await loop.see(listed({"status": "approved"}))

    assert loop.record().state is TaskState.COMPLETED


def listed(more: dict[str, JSON]) -> Task:
    """Return the task as a listing has it."""
    record: dict[str, JSON] = {"id": "t1", "kind": "puppet", "reward": 3}
    read = RecordReader().task({**record, **more})
    assert read is not None
    return read
