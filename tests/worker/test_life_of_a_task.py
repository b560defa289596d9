"""A task from its discovery to its credits, and how each answer moves it."""

import pytest
from tests.worker.conftest import (
    ABSENT,
    CONFLICT,
    FORBIDDEN,
    INVALID,
    NOT_SENT,
    REJECTED,
    THROTTLED,
    UNAUTHORIZED,
    UNKNOWN,
    Answer,
    Loop,
    MakeLoop,
    ScriptedMarket,
    task,
)

from journeyman.domain.outcomes import Confirmed, Failure, Refusal, Refused
from journeyman.domain.retry import RetryPolicy
from journeyman.domain.tasks import Result, TaskState
from journeyman.economy.mark import CARRIED_AT
from journeyman.journal.ledger import Confidence
from journeyman.network.answers import Receipt

LIFE = [
    "wanted",
    "claiming",
    "claimed",
    "executing",
    "executed",
    "submitting",
    "submitted",
    "completing",
    "completed",
]
VERBS = ["claim", "submit", "complete"]
INTENT = {"claim": "claiming", "submit": "submitting", "complete": "completing"}


async def test_a_wanted_task_is_claimed_done_submitted_completed_and_booked(
    loop: Loop, market: ScriptedMarket
) -> None:
    await loop.work(task())

    assert loop.path() == LIFE
    assert market.verbs() == VERBS
    assert loop.journal.ledger.balance() == 103
    assert loop.worker.progress.completed == loop.worker.progress.ended == 1


@pytest.mark.parametrize("named", [-50, 31, 2**53])
async def test_an_amount_that_cannot_be_true_is_kept_and_books_nothing(
    loop: Loop, market: ScriptedMarket, named: int
) -> None:
    market.script["complete"] = [Confirmed(Receipt(credits_earned=named))]

    await loop.work(task())

    assert loop.path() == LIFE
    entry = loop.journal.ledger.recent(1)[0]
    assert (entry.subject, entry.amount) == (task().id, 0)
    assert entry.confidence is Confidence.DOUBTFUL
    assert str(named) in entry.note
    assert loop.journal.ledger.balance() == 100
    assert "ledger.doubted" in loop.log.names


async def test_every_intent_is_on_disk_and_marked_before_its_request_leaves(
    loop: Loop, market: ScriptedMarket
) -> None:
    for verb in VERBS:
        market.script[verb] = [UNKNOWN, NOT_SENT, THROTTLED]
    loop.select.decide((task(),))
    async with loop.running():
        for _ in range(12):
            await loop.later(400)

    assert loop.record().state is TaskState.COMPLETED
    assert len(market.calls) == 12
    assert [call.on_disk for call in market.calls] == [
        INTENT[call.verb] for call in market.calls
    ]
    assert all(call.is_marked for call in market.calls)


async def test_the_result_on_disk_is_what_is_sent_again_and_again_byte_by_byte(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    market.script["submit"] = [UNKNOWN] * 3
    await make_loop().work(task())
    for _ in range(3):
        after_restart = make_loop()
        after_restart.clock.advance(400)
        await after_restart.work()

    sent = [call.result for call in market.calls if call.verb == "submit"]
    assert sent == [Result("did t1", evidence={"by": "puppet"})] * 4


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("answer", [UNKNOWN, NOT_SENT, THROTTLED, UNAUTHORIZED, ABSENT])
async def test_a_request_that_did_not_end_clearly_is_repeated_with_the_same_key(
    make_loop: MakeLoop, market: ScriptedMarket, verb: str, answer: Failure
) -> None:
    loop = make_loop()
    market.script[verb] = [answer]
    await loop.work(task())
    assert market.verbs()[-1] == verb
    assert loop.wait() > 0
    assert loop.record().attempts == 1

    restarted = make_loop()
    restarted.clock.advance(400)
    await restarted.work()

    keys = [call.key for call in market.calls if call.verb == verb]
    assert len(keys) == 2
    assert len(set(keys)) == 1
    assert restarted.record().state is TaskState.COMPLETED
    assert restarted.earned == 3


@pytest.mark.parametrize("verb", ["submit", "complete"])
async def test_a_network_that_repeats_its_404_to_a_key_is_asked_under_another(
    loop: Loop, market: ScriptedMarket, verb: str
) -> None:
    market.script["complete"] = [Confirmed(Receipt(credits_earned=3))]
    await loop.work(task("t0"))  # So that there is such an endpoint.
    market.script[verb] = [ABSENT] * 5
    loop.select.decide((task("t1"),))
    async with loop.running():
        for _ in range(12):
            await loop.later(2_000)

    keys = [c.key for c in market.calls if (c.verb, c.task_id) == (verb, "t1")]
    assert loop.record("t1").state is TaskState.COMPLETED
    assert len(keys) == 6
    assert len(set(keys[:3])) == 1
    assert len(set(keys)) == 4


async def test_a_request_that_may_have_arrived_keeps_its_key_through_every_404(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["submit"] = [UNKNOWN, *([ABSENT] * 5)]
    loop.select.decide((task(),))
    async with loop.running():
        for _ in range(12):
            await loop.later(2_000)

    keys = [call.key for call in market.calls if call.verb == "submit"]
    assert len(keys) == 7
    assert len(set(keys)) == 1


async def test_keys_differ_between_verbs_and_between_tasks(
    loop: Loop, market: ScriptedMarket
) -> None:
    await loop.work(task("t1"), task("t2"))

    assert len({call.key for call in market.calls}) == 6


@pytest.mark.parametrize("name", ["ä/ö 🙂", "x" * 500, "a\\b", "ta sk"])
async def test_a_task_id_of_any_letters_makes_a_key_that_a_header_carries(
    loop: Loop, market: ScriptedMarket, name: str
) -> None:
    await loop.work(task(name))

    assert loop.record(name).state is TaskState.COMPLETED
    assert all(call.key.isascii() and call.key.isprintable() for call in market.calls)
    assert all(" " not in call.key and len(call.key) < 100 for call in market.calls)


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (UNKNOWN, TaskState.CLAIMING),
        (NOT_SENT, TaskState.WANTED),
        (THROTTLED, TaskState.WANTED),
        (UNAUTHORIZED, TaskState.WANTED),
        (FORBIDDEN, TaskState.WANTED),
        (ABSENT, TaskState.WANTED),
        (CONFLICT, TaskState.LOST),
        (INVALID, TaskState.LOST),
        (REJECTED, TaskState.LOST),
    ],
)
async def test_a_claim_ends_as_its_answer_says(
    loop: Loop, market: ScriptedMarket, answer: Failure, state: TaskState
) -> None:
    market.script["claim"] = [answer]

    await loop.work(task())

    assert loop.record().state is state
    assert loop.record().reason == answer.message
    assert loop.worker.progress.lost == (state is TaskState.LOST)
    assert loop.worker.progress.ended == 0


@pytest.mark.parametrize("verb", ["submit", "complete"])
async def test_a_verdict_on_the_work_ends_the_task_without_credits(
    loop: Loop, market: ScriptedMarket, verb: str
) -> None:
    market.script[verb] = [REJECTED]

    await loop.work(task())

    assert loop.record().state is TaskState.REJECTED
    assert loop.earned == 0
    assert loop.log.named("task.rejected")[0]["message"] == REJECTED.message
    assert loop.worker.progress.ended == 1


NO_VERDICTS = [CONFLICT, INVALID, Refused(Refusal.REJECTED, "", 200)]


@pytest.mark.parametrize("verb", ["submit", "complete"])
@pytest.mark.parametrize("answer", NO_VERDICTS)
async def test_a_no_that_judges_nothing_is_asked_once_more_with_the_same_key(
    loop: Loop, market: ScriptedMarket, verb: str, answer: Failure
) -> None:
    market.script[verb] = [answer]
    loop.select.decide((task(),))

    async with loop.running():
        assert loop.wait() >= 60
        await loop.later(400)

    keys = [call.key for call in market.calls if call.verb == verb]
    assert len(keys) == 2
    assert len(set(keys)) == 1
    assert loop.record().state is TaskState.COMPLETED


@pytest.mark.parametrize("verb", ["submit", "complete"])
@pytest.mark.parametrize("answer", NO_VERDICTS)
async def test_the_same_no_twice_ends_the_task(
    loop: Loop, market: ScriptedMarket, verb: str, answer: Failure
) -> None:
    market.script[verb] = [answer] * 2
    loop.select.decide((task(),))

    async with loop.running():
        await loop.later(400)

    assert loop.record().state is TaskState.REJECTED
    assert loop.earned == 0


@pytest.mark.parametrize("verb", VERBS)
async def test_a_conflict_after_a_lost_answer_is_our_own_doing(
    loop: Loop, market: ScriptedMarket, verb: str
) -> None:
    market.script[verb] = [UNKNOWN, CONFLICT]
    loop.select.decide((task(),))

    async with loop.running():
        await loop.later(400)

    assert loop.record().state is TaskState.COMPLETED
    assert loop.earned == 3


@pytest.mark.parametrize("answer", [NOT_SENT, THROTTLED])
async def test_a_conflict_after_a_claim_that_never_arrived_is_a_loss(
    loop: Loop, market: ScriptedMarket, answer: Failure
) -> None:
    market.script["claim"] = [answer, CONFLICT]
    loop.select.decide((task(),))

    async with loop.running():
        await loop.later(400)

    assert loop.record().state is TaskState.LOST


@pytest.mark.parametrize("answer", [NOT_SENT, THROTTLED, ABSENT])
async def test_doubt_about_a_claim_is_not_forgotten_by_a_clear_answer_after_it(
    loop: Loop, market: ScriptedMarket, answer: Failure
) -> None:
    market.script["claim"] = [UNKNOWN, answer, CONFLICT]
    loop.select.decide((task(),))

    async with loop.running():
        await loop.later(400)
        assert loop.record().state is TaskState.CLAIMING
        await loop.later(400)

    assert loop.record().state is TaskState.COMPLETED


@pytest.mark.parametrize(
    ("verb", "answer", "state"),
    [
        ("claim", ABSENT, TaskState.LOST),
        ("claim", FORBIDDEN, TaskState.LOST),
    ],
)
async def test_one_404_is_not_believed_but_three_are(
    loop: Loop,
    market: ScriptedMarket,
    verb: str,
    answer: Failure,
    state: TaskState,
) -> None:
    market.script[verb] = [answer] * 9
    loop.select.decide((task(),))

    async with loop.running():
        for _ in range(5):
            await loop.later(400)

    assert market.verbs().count(verb) == 3
    assert loop.record().state is state


@pytest.mark.parametrize("verb", ["submit", "complete"])
async def test_work_that_is_done_outlasts_a_gateway_that_gives_404_for_hours(
    loop: Loop, market: ScriptedMarket, verb: str
) -> None:
    market.script[verb] = [ABSENT] * 90
    loop.select.decide((task(),))

    async with loop.running():
        for _ in range(95):
            await loop.later(400)

    assert loop.record().state is TaskState.COMPLETED


@pytest.mark.parametrize("verb", ["submit", "complete"])
async def test_work_is_given_up_when_its_task_is_gone_for_good(
    loop: Loop, market: ScriptedMarket, verb: str
) -> None:
    market.script[verb] = [ABSENT] * 200
    loop.select.decide((task(),))

    async with loop.running():
        for _ in range(110):
            await loop.later(400)

    assert market.verbs().count(verb) == 100
    assert loop.record().state is TaskState.REJECTED


@pytest.mark.parametrize(("others", "asked"), [(13, 8), (0, 13)])
async def test_a_result_is_given_up_sooner_while_those_of_other_tasks_are_taken(
    loop: Loop, market: ScriptedMarket, others: int, asked: int
) -> None:
    loop.worker.submit.intents.retry = RetryPolicy(result_refusals=24)
    await loop.work(task("before"))
    loop.clock.advance(3_600)  # what was taken before says nothing of now
    market.script["submit"] = [
        lambda name: ABSENT if name == "t1" else Confirmed(Receipt())
    ] * (12 + others)
    loop.select.decide((task(),))

    async with loop.running():
        for number in range(13):
            await loop.later(400)
            loop.select.decide((task(f"other-{number}"),)[:others])

    end = TaskState.REJECTED if others else TaskState.COMPLETED
    assert (market.verbs("t1").count("submit"), loop.record().state) == (asked, end)


@pytest.mark.parametrize("verb", VERBS)
async def test_a_404_after_an_outage_is_only_the_first_one(
    loop: Loop, market: ScriptedMarket, verb: str
) -> None:
    # A service that restarts: time-outs, then its gateway's 404, then all is well.
    market.script[verb] = [UNKNOWN, UNKNOWN, ABSENT, ABSENT, UNKNOWN, ABSENT, ABSENT]
    loop.select.decide((task(),))

    async with loop.running():
        for _ in range(8):
            await loop.later(400)

    assert loop.record().state is TaskState.COMPLETED


async def test_doubtful_refusals_are_heard_at_least_half_a_minute_apart(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["submit"] = [ABSENT, ABSENT]
    loop.select.decide((task(),))

    async with loop.running():
        assert loop.wait() >= 30
        await loop.later(400)
        assert loop.wait() >= 30


async def test_a_wait_that_the_network_names_is_kept(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["submit"] = [THROTTLED]
    loop.select.decide((task(),))

    async with loop.running():
        assert loop.wait() >= 50
        await loop.later(49)
        assert market.verbs().count("submit") == 1
        await loop.later(1)

    assert loop.record().state is TaskState.COMPLETED


async def test_waits_grow_and_have_an_end(loop: Loop, market: ScriptedMarket) -> None:
    market.script["submit"] = [UNKNOWN] * 40
    loop.select.decide((task(),))
    waits = []

    async with loop.running():
        for _ in range(40):
            waits.append(loop.wait())
            await loop.later(waits[-1] + 0.001)

    assert all(0.5 <= wait <= 300 for wait in waits)
    assert sum(waits[:3]) < sum(waits[-3:])
    assert loop.record().state is TaskState.COMPLETED


async def test_a_result_is_given_up_when_it_is_older_than_the_limit(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(result_max_age_days=1)
    market.script["submit"] = [UNKNOWN] * 3
    loop.select.decide((task(),))

    async with loop.running():
        await loop.later(86_399)
        assert loop.record().state is TaskState.SUBMITTING
        await loop.later(400)

    assert loop.record().state is TaskState.REJECTED


@pytest.mark.parametrize("years", [-10, 10])
async def test_a_clock_that_is_set_by_years_makes_no_result_old(
    make_loop: MakeLoop, market: ScriptedMarket, years: int
) -> None:
    loop = make_loop(result_max_age_days=1)
    market.script["submit"] = [UNKNOWN] * 3
    loop.select.decide((task(),))

    async with loop.running():
        loop.clock.step(years * 365 * 86_400)
        await loop.later(400)
        await loop.later(400)
        await loop.later(400)

    assert loop.record().state is TaskState.COMPLETED


async def test_a_task_that_waited_long_for_its_turn_has_a_young_result(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(result_max_age_days=1)
    loop.select.decide((task(),))
    loop.clock.advance(30 * 86_400)
    market.script["submit"] = [NOT_SENT]

    async with loop.running():
        await loop.later(400)

    assert loop.record().state is TaskState.COMPLETED


async def test_the_claims_answer_fills_what_the_listing_left_away(
    loop: Loop, market: ScriptedMarket
) -> None:
    fuller = task(text="decline", description="all of it", title="another title")
    answer: Answer = Confirmed(Receipt(task=fuller))
    market.script["claim"] = [answer]

    await loop.work(task())

    kept = loop.record().task
    assert (kept.text, kept.description, kept.title) == ("decline", "all of it", "T")
    assert loop.record().state is TaskState.DECLINED


async def test_a_text_that_only_the_claim_tells_is_worked_on_and_kept(
    loop: Loop, market: ScriptedMarket
) -> None:
    answer: Answer = Confirmed(Receipt(text="decline"))
    market.script["claim"] = [answer]

    await loop.work(task(text="it is told with the claim"))

    assert loop.record().task.text == "decline"
    assert loop.record().state is TaskState.DECLINED


async def test_the_amount_that_an_answer_names_is_booked_instead_of_the_listed_one(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["complete"] = [Confirmed(Receipt(credits_earned=2))]

    await loop.work(task(reward=3))

    (entry,) = loop.journal.ledger.recent(1)
    assert (entry.amount, entry.confidence) == (2, "claimed")


async def test_more_than_was_listed_is_booked_when_a_balance_shows_it(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["complete"] = [
        Confirmed(Receipt(credits_earned=50)),
        Confirmed(Receipt(credits_earned=3, balance=153)),
    ]
    await loop.work(task("t1", reward=5))
    (claim,) = loop.journal.ledger.recent(1)
    assert (claim.amount, claim.claimed, claim.confidence) == (5, 50, "claimed")
    assert "50 credits were named, and 5 had been listed" in claim.note
    assert loop.journal.ledger.balance() == 105

    await loop.work(task("t2", reward=3))

    assert loop.journal.ledger.totals() == {"starter": 100, "earned": 53}
    assert loop.journal.ledger.first_fault() is None
    assert loop.log.named("ledger.late_pay")[0]["credits"] == 45
    assert loop.journal.ledger.claims() == []


async def test_a_balance_that_has_risen_by_what_is_named_confirms_it(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["complete"] = [Confirmed(Receipt(credits_earned=50, balance=150))]

    await loop.work(task(reward=5))

    (entry,) = loop.journal.ledger.recent(1)
    assert (entry.amount, entry.confidence) == (50, "confirmed")


async def test_a_fraction_of_a_credit_is_said_and_never_confirmed(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["complete"] = [Confirmed(Receipt(credits_earned=5.5))]

    await loop.work(task(reward=5))

    (entry,) = loop.journal.ledger.recent(1)
    assert (entry.amount, entry.confidence) == (5, "claimed")
    assert entry.note == "5.5 credits were named, and only whole ones are booked"


async def test_a_shown_balance_that_agrees_books_no_adjustment(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["complete"] = [Confirmed(Receipt(credits_earned=3, balance=103))]

    await loop.work(task())

    assert loop.journal.ledger.totals() == {"starter": 100, "earned": 3}


async def test_a_payment_whose_answer_was_lost_is_not_booked_twice(
    loop: Loop, market: ScriptedMarket
) -> None:
    # The network has paid t1 when its answer is lost; then it pays t2 and shows all.
    market.script["complete"] = [
        UNKNOWN,
        Confirmed(Receipt(credits_earned=3, balance=106)),
    ]
    await loop.work(task("t1"))
    await loop.work(task("t2"))
    assert loop.journal.ledger.balance() == 103

    loop.clock.advance(400)
    market.script["complete"] = [Confirmed(Receipt(credits_earned=3, balance=106))]
    await loop.work()

    assert loop.journal.ledger.totals() == {"starter": 100, "earned": 6}


async def test_a_completion_that_nobody_answers_is_given_up_and_books_nothing(
    make_loop: MakeLoop, market: ScriptedMarket
) -> None:
    loop = make_loop(result_max_age_days=1)
    market.script["complete"] = [UNKNOWN] * 3
    loop.select.decide((task(),))

    async with loop.running():
        await loop.later(86_399)
        assert loop.record().state is TaskState.COMPLETING
        await loop.later(400)

    assert loop.record().state is TaskState.REJECTED
    assert "perhaps paid" in loop.record().reason
    assert loop.earned == 0
    assert "task.unsettled" in loop.log.names


async def test_the_balance_in_the_answer_to_a_repeat_is_not_compared_with_the_ledger(
    loop: Loop, market: ScriptedMarket
) -> None:
    """An honoured key repeats the first answer, with the balance of that moment."""
    as_it_was = Confirmed(Receipt(credits_earned=3, balance=103))
    nothing_shown = Confirmed(Receipt(credits_earned=3, balance=None))
    market.script["complete"] = [UNKNOWN, nothing_shown, as_it_was]
    loop.select.decide((task("slow"), task("quick")))

    async with loop.running():
        await loop.later(400)

    assert loop.journal.ledger.balance() == 106
    assert "ledger.adjusted" not in loop.log.names


async def test_the_balance_for_a_task_of_a_backup_is_not_compared_with_the_ledger(
    loop: Loop, market: ScriptedMarket
) -> None:
    """The network has paid it before, and repeats its answer of then."""
    market.script["submit"].append(NOT_SENT)
    await loop.work(task())
    with loop.journal.tx("restored"):
        loop.journal.facts.put(CARRIED_AT, loop.clock.now().isoformat())
    market.script["complete"] += [
        Confirmed(Receipt(credits_earned=3, balance=90)),
        Confirmed(Receipt(credits_earned=3, balance=106)),
    ]

    async with loop.running():
        await loop.later(3_600)
    after_the_backup = loop.journal.ledger.totals()
    await loop.work(task("t2"))

    assert "adjustment" not in after_the_backup
    assert loop.earned == 6
    assert loop.journal.ledger.balance() == 106
