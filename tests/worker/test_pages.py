"""A look goes on to further pages while nothing on the first is for us."""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.worker.conftest import (
    CLAIMED,
    CONFLICT,
    INVALID,
    NOT_SENT,
    THROTTLED,
    UNKNOWN,
    Loop,
    MakeLoop,
    ScriptedMarket,
    listing,
    task,
)

from journeyman.domain.outcomes import Confirmed, Failure, Outcome
from journeyman.domain.tasks import Task, TaskState
from journeyman.network.answers import Receipt
from journeyman.network.service_model.listing import LaterTasks, Listing
from journeyman.network.service_model.pages import PageRequest
from journeyman.worker.discover import Poll
from journeyman.worker.pager import MOST_LOOKS_SKIPPED, MOST_PAGES

CURSOR, AFTER = PageRequest({"cursor": "c"}, is_guess=True), PageRequest({"after": "c"})


def page(*tasks: Task, then: Sequence[PageRequest] = (CURSOR,)) -> Confirmed[Listing]:
    return Confirmed(Listing(tasks, 0, len(tasks), "", tuple(then)))


def unwanted(name: str) -> Task:
    return task(name, kind="chess")


async def test_what_is_wanted_is_found_behind_pages_of_what_is_not(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.pages = [*(page(unwanted(f"u{n}")) for n in range(5)), page(task("t1"))]

    poll = await loop.discover.look()

    assert poll.productive
    assert loop.record("t1").state is TaskState.WANTED
    assert market.queries == [{}, *[{"cursor": "c"}] * 5]


async def test_two_thousand_unwanted_tasks_are_passed_in_one_look(
    loop: Loop, market: ScriptedMarket
) -> None:
    def numbered(number: int) -> Confirmed[Listing]:
        following = PageRequest({"page": str(number + 1)})
        return page(*(unwanted(f"u{number}-{n}") for n in range(50)), then=[following])

    market.pages = [*map(numbered, range(1, 41)), page(task("t1"))]

    assert (await loop.discover.look()).productive


async def test_a_page_that_gives_work_is_enough(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.pages = [page(task("t1")), page(task("t2"))]

    await loop.discover.look()

    assert market.queries == [{}]


async def test_without_room_for_more_only_the_first_page_is_read(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.pages = [page(unwanted("u")), page(task("t1"))]

    await loop.discover.look(has_room=False)

    assert market.queries == [{}]


async def test_three_thousand_open_tasks_behind_fifty_known_ones_are_found_at_once(
    loop: Loop, market: ScriptedMarket
) -> None:
    known = [unwanted(f"known-{n}") for n in range(50)]
    loop.select.decide(tuple(known))
    market.pages = [page(*known), page(*[task(f"t{n}") for n in range(3000)])]

    assert (await loop.discover.look()).productive
    assert loop.journal.tasks.counts()["wanted"] == 3000


async def test_a_look_is_bounded_and_the_next_goes_on_where_it_ended(
    loop: Loop, market: ScriptedMarket
) -> None:
    def numbered(number: int) -> Confirmed[Listing]:
        following = PageRequest({"page": str(number + 1)})
        return page(unwanted(f"u{number}"), then=[following])

    market.pages = [numbered(n) for n in range(1, MOST_PAGES + 1)]
    await loop.discover.look()
    assert len(market.queries) == MOST_PAGES

    market.queries.clear()
    market.pages = [numbered(1), numbered(MOST_PAGES), page(task("t1"))]
    poll = await loop.discover.look()

    assert poll.productive
    onwards = [{"page": str(number)} for number in (MOST_PAGES, MOST_PAGES + 1)]
    assert market.queries == [{}, *onwards]


async def test_a_way_that_shows_the_same_page_again_is_dropped_for_this_run(
    loop: Loop, market: ScriptedMarket
) -> None:
    first = page(unwanted("u"), then=[CURSOR, AFTER])
    market.pages = [first, first, page(task("t1"))]
    assert (await loop.discover.look()).productive
    assert market.queries == [{}, {"cursor": "c"}, {"after": "c"}]

    market.queries.clear()
    market.pages = [first, page(unwanted("x"), then=[CURSOR, AFTER]), page(task("t2"))]
    assert (await loop.discover.look()).productive
    assert market.queries == [{}, {"after": "c"}, {"after": "c"}]


async def test_a_way_that_is_refused_is_dropped_too(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.pages = [
        page(unwanted("u"), then=[CURSOR, AFTER]),
        INVALID,
        page(task("t1")),
    ]

    assert (await loop.discover.look()).productive


async def test_an_empty_page_is_the_end_and_no_other_way_is_tried(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.pages = [page(unwanted("u"), then=[CURSOR, AFTER]), page(), page(task("t"))]

    assert not (await loop.discover.look()).productive
    assert len(market.queries) == 2


async def test_a_way_that_worked_is_kept_when_it_shows_known_tasks_once(
    loop: Loop, market: ScriptedMarket
) -> None:
    first, second = page(unwanted("u1")), page(unwanted("u2"))
    market.pages = [first, second, first]
    await loop.discover.look()
    market.pages = [first, first, page(task("t1"))]
    looks = [await loop.discover.look() for _ in range(2)]

    assert looks[-1].productive


@pytest.mark.parametrize("failure", [UNKNOWN, NOT_SENT])
async def test_a_network_that_suffers_is_asked_for_no_more_pages(
    loop: Loop, market: ScriptedMarket, failure: Failure
) -> None:
    market.pages = [
        page(unwanted("u"), then=[CURSOR, AFTER]),
        failure,
        page(task("t1")),
    ]

    poll = await loop.discover.look()

    assert not poll.productive
    assert poll.failure is None
    assert len(market.queries) == 2


async def test_a_look_that_was_throttled_goes_on_when_the_network_says(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.pages = [page(unwanted("u")), THROTTLED]
    broken_off = await loop.discover.look()
    market.pages = [page(unwanted("u")), page(task("t1"))]

    assert (broken_off.productive, broken_off.more_in) == (False, 50.0)
    assert await loop.discover.look() == Poll(productive=True)


async def test_pages_without_work_are_turned_ever_more_seldom(
    loop: Loop, market: ScriptedMarket
) -> None:
    looks = 40
    for _ in range(looks):
        market.pages = [page(unwanted("u1")), page(unwanted("u2"), then=[])]
        await loop.discover.look()

    turned = sum(bool(query) for query in market.queries)
    assert looks / MOST_LOOKS_SKIPPED < turned < looks / 4


# -- the other listing ---------------------------------------------------------------


async def test_an_empty_listing_is_compared_with_the_public_marketplace(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.public_pages = [listing(task("t1")), listing(task("t1"), task("t2"))]

    assert (await loop.discover.look()).productive
    assert (await loop.discover.look()).productive
    assert (len(market.limits), market.public_looks) == (1, 2)


async def test_a_public_marketplace_that_runs_empty_gives_way_again(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.pages = [listing(), listing(task("t2"))]
    market.public_pages = [listing(task("t1")), listing()]

    assert [(await loop.discover.look()).productive for _ in range(2)] == [True, True]


async def test_a_public_marketplace_with_nothing_for_us_does_not_hide_our_listing(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.pages = [listing(), listing(task("t1"))]
    market.public_pages = [listing(unwanted("u1"))] * 4

    looks = [(await loop.discover.look()).productive for _ in range(5)]

    assert (looks[-1], market.public_looks) == (True, 4)


async def test_a_listing_that_is_refused_gives_way_to_the_public_marketplace(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.pages = [INVALID, INVALID]
    market.public_pages = [listing(task("t1"))]

    assert (await loop.discover.look()).productive


async def test_two_empty_listings_are_not_both_asked_every_time(
    loop: Loop, market: ScriptedMarket
) -> None:
    for _ in range(20):
        await loop.discover.look()

    assert len(market.limits) == 20
    assert market.public_looks == 5


# -- words for states ----------------------------------------------------------------


def queued(*names: str) -> Confirmed[Listing]:
    return listing(*[task(name, status="queued") for name in names])


async def test_one_claim_tells_what_an_unknown_word_means(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.pages = [queued("t1", "t2", "t3")]
    await loop.discover.look()
    assert loop.journal.tasks.counts() == {"wanted": 1, "skipped": 2}

    async with loop.running():
        await loop.quiet()
    market.pages = [queued("t1", "t2", "t3")]
    await loop.discover.look()

    assert loop.journal.tasks.counts() == {"completed": 1, "wanted": 2}


def only_the_open(task_id: str) -> Outcome[Receipt]:
    return CLAIMED if task_id == "t0" else CONFLICT


async def test_a_refused_claim_of_what_is_still_listed_alike_means_taken(
    loop: Loop, market: ScriptedMarket, make_loop: MakeLoop
) -> None:
    market.script["claim"] = [only_the_open] * 2
    everything = listing(task("t0"), *queued("t1", "t2", "t3").value.tasks)
    for _ in range(3):
        market.pages = [everything]
        await loop.discover.look()
        async with loop.running():
            await loop.quiet()

    assert loop.journal.tasks.counts() == {"completed": 1, "lost": 1, "skipped": 2}
    restarted = make_loop()
    market.pages = [everything]
    assert not (await restarted.discover.look()).productive


async def test_a_refused_claim_of_what_is_gone_then_may_have_lost_a_race(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["claim"] = [only_the_open] * 3
    for first in range(1, 4):
        left = [f"t{number}" for number in range(first, 5)]
        market.pages = [listing(task("t0"), *queued(*left).value.tasks)]
        await loop.discover.look()
        async with loop.running():
            await loop.quiet()

    assert loop.journal.tasks.counts() == {"completed": 1, "lost": 2, "skipped": 2}


async def test_refusals_before_the_first_claim_may_be_about_its_form(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["claim"] = [CONFLICT] * 3
    for _ in range(4):
        market.pages = [queued("t1", "t2", "t3", "t4")]
        await loop.discover.look()
        async with loop.running():
            await loop.quiet()

    assert loop.journal.tasks.counts() == {"completed": 1, "lost": 3}


async def test_that_all_of_a_market_is_taken_is_doubted(
    loop: Loop, market: ScriptedMarket
) -> None:
    submitted = [task(f"t{n}", status="submitted") for n in range(3)]
    for _ in range(2):
        market.pages = [listing(*submitted)]
        await loop.discover.look()
        async with loop.running():
            await loop.quiet()

    assert loop.journal.tasks.counts() == {"completed": 3}


@pytest.mark.parametrize(
    "tasks",
    [
        [task(f"t{n}", status="submitted") for n in range(2)],
        [task(f"t{n}", status="done") for n in range(3)],
    ],
)
async def test_few_tasks_or_those_that_are_over_are_taken_as_they_say(
    loop: Loop, market: ScriptedMarket, tasks: list[Task]
) -> None:
    market.pages = [listing(*tasks)]

    await loop.discover.look()

    assert loop.journal.tasks.counts() == {"skipped": len(tasks)}


async def test_what_others_have_is_taken_as_it_says(
    loop: Loop, market: ScriptedMarket
) -> None:
    others = [task(f"t{n}", status="submitted", claimant="other") for n in range(3)]
    market.pages = [listing(*others), listing(task("t3", status="submitted"))]

    for _ in range(2):
        await loop.discover.look()

    assert loop.journal.tasks.counts() == {"skipped": 4}


async def test_after_a_claim_that_went_well_all_may_be_taken(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.pages = [listing(task("t0"))]
    await loop.discover.look()
    async with loop.running():
        await loop.quiet()

    market.pages = [listing(*[task(f"t{n}", status="submitted") for n in range(3)])]
    await loop.discover.look()

    assert loop.journal.tasks.counts() == {"completed": 1, "skipped": 2}


async def test_a_word_that_is_doubted_and_refused_means_what_it_says(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.script["claim"] = [CONFLICT] * 3
    submitted = [task(f"t{n}", status="submitted") for n in range(5)]
    for _ in range(4):
        market.pages = [listing(*submitted)]
        await loop.discover.look()
        async with loop.running():
            await loop.quiet()

    assert loop.journal.tasks.counts() == {"lost": 1, "skipped": 4}


async def test_before_the_first_claim_the_commonest_word_is_asked_about(
    loop: Loop, market: ScriptedMarket
) -> None:
    odd = task("t0", status="weg")
    market.pages = [listing(odd, *queued("t1", "t2").value.tasks)]

    await loop.discover.look()

    assert loop.record("t0").state is TaskState.SKIPPED
    assert loop.record("t1").state is TaskState.WANTED


async def test_a_task_that_somebody_holds_is_never_asked_about(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.pages = [listing(task("t1", status="queued", claimant="agent-other"))]

    assert not (await loop.discover.look()).productive


# -- what is wrong with a market -----------------------------------------------------


async def test_an_answer_of_which_nothing_is_a_task_is_a_finding(
    loop: Loop, market: ScriptedMarket
) -> None:
    odd: Any = Confirmed(
        Listing((), 0, 0, "no list of tasks in the answer (its fields: x)")
    )
    market.pages = market.public_pages = [odd, odd, odd]

    for _ in range(2):
        await loop.discover.look()

    finding = "no task could be read: no list of tasks in the answer (its fields: x)"
    assert loop.discover.tally.finding == finding
    assert loop.log.named("discover.nothing_to_do") == [{"message": finding}]


async def test_tasks_that_are_all_skipped_for_one_reason_are_a_finding(
    loop: Loop, market: ScriptedMarket
) -> None:
    market.pages = [listing(unwanted("u1"), unwanted("u2")), listing(task("t1"))]

    await loop.discover.look()
    finding = "all 2 listed tasks are skipped: kind 'chess' is not wanted"
    assert loop.discover.tally.finding == finding

    await loop.discover.look()
    assert loop.discover.tally.finding == ""


async def test_of_a_long_page_only_the_portion_that_changed_is_read_again(
    loop: Loop, market: ScriptedMarket
) -> None:
    read: list[str] = []

    def portion(*names: str) -> LaterTasks:
        def now() -> Listing:
            read.append(" ".join(names))
            return Listing(tuple(map(unwanted, names)), 0, len(names), "")

        return LaterTasks(lambda: names, len(names), now)

    def long(*later: LaterTasks) -> Confirmed[Listing]:
        return Confirmed(Listing((unwanted("u1"),), 0, 1, "", key="1", later=later))

    market.pages = [
        long(portion("u2", "u3"), portion("u4")),
        long(portion("u2", "u3"), portion("u5", "u4")),
    ]
    await loop.discover.look()
    assert read == ["u2 u3", "u4"]

    await loop.discover.look()

    assert read == ["u2 u3", "u4", "u5 u4"]
    assert loop.record("u5").state is TaskState.SKIPPED
    assert loop.log.named("discover.polled")[-1]["listed"] == 5


async def test_a_portion_with_a_post_of_ours_is_read_at_each_look(
    loop: Loop, market: ScriptedMarket
) -> None:
    shown: list[str] = []

    def note(tasks: Sequence[Task]) -> bool:
        shown.extend(one.id for one in tasks)
        return any(one.id == "ours" for one in tasks)

    def portion(name: str) -> LaterTasks:
        listing = Listing((unwanted(name),), 0, 1, "")
        return LaterTasks(lambda: name, 1, lambda: listing)

    loop.discover.on_page = note
    later = portion("u1"), portion("ours")
    market.pages = [Confirmed(Listing((), 0, 0, "", later=later))] * 2

    await loop.discover.look()
    await loop.discover.look()

    assert shown == ["u1", "ours", "ours"]
