"""Can we earn here? Each step is proven, refused in the network's words, or untried."""

import json
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.daemon.conftest import URL, MakeSite
from tests.foreign.wishing_neighbours import WishingNeighbours

from journeyman.daemon.earning import (
    Known,
    Standing,
    can_earn,
    known_of,
    network_record,
    summary,
)
from journeyman.daemon.status import journal_status
from journeyman.domain.tasks import TaskState
from journeyman.journal.journal import Journal
from journeyman.network.call import Call, Reply
from journeyman.network.service_model.configured import (
    configured_places,
    configured_shape,
)
from journeyman.network.service_model.evidence import (
    AnswerRecord,
    EndpointRecord,
    Observed,
    Observer,
    Shape,
)
from journeyman.network.service_model.listing import ListingReader
from journeyman.network.service_model.model import (
    RefusedShape,
    RequestModel,
    ServiceModel,
)
from journeyman.network.service_model.request import Placed, RequestShape
from journeyman.network.service_model.search import DOCUMENT, MODEL_FACT, Learned
from journeyman.network.service_model.writing import Constraints
from journeyman.testing import FakeClock

SHAPE = RequestShape(
    (
        Placed(("task", "id"), "task_id"),
        Placed(("lease",), "claim.lease.token"),
        Placed(("meta", "source"), constant="agent"),
    )
)
LISTED = EndpointRecord(seen=3, outcomes={"confirmed": 3})


def refused_with(message: str) -> RequestModel:
    return RequestModel(refused=(RefusedShape(SHAPE, message, 422, has_taught=False),))


def called(**outcomes: int) -> EndpointRecord:
    named = {
        name.replace("__", ": ").replace("_", " "): n for name, n in outcomes.items()
    }
    return EndpointRecord(seen=sum(outcomes.values()), outcomes=named)


def standings(known: Known) -> dict[str, str]:
    return {one.name: str(one.standing) for one in can_earn(known)}


def reason(known: Known, name: str) -> str:
    return next(one.reason for one in can_earn(known) if one.name == name)


def test_of_an_unknown_network_nothing_is_tried() -> None:
    assert set(standings(Known()).values()) == {"untried"}
    assert summary(can_earn(Known())).startswith("not known yet: listed")


def test_a_refused_registration_is_told_with_the_header_that_a_gateway_may_want() -> (
    None
):
    refused = Known(endpoints={"register": called(refused__unauthorized=2)})

    step = can_earn(refused)[0]

    assert step.standing is Standing.REFUSED
    assert "the registration was refused: unauthorized, 2 times" in step.reason
    assert "apikey" in tomllib.loads(step.toml)["network"]["headers"]


def test_a_registration_that_was_refused_and_then_granted_is_over() -> None:
    joined = called(refused__unauthorized=2, confirmed=1)

    assert standings(Known(endpoints={"register": joined}))["listed"] == "untried"


def test_an_identity_that_was_imported_makes_up_for_a_refused_registration() -> None:
    refused = called(refused__unauthorized=2)
    known = Known(endpoints={"register": refused, "marketplace_tasks": LISTED})

    assert standings(known)["listed"] == "proven"


def test_what_was_paid_proves_it_all() -> None:
    known = Known(
        endpoints={"marketplace_tasks": LISTED},
        tasks_seen=4,
        tasks={TaskState.COMPLETED: 2},
        earned=10,
    )

    assert set(standings(known).values()) == {"proven"}
    assert summary(can_earn(known)) == "yes: 10 credits earned"


def test_pay_that_no_answer_named_is_told_as_such() -> None:
    known = Known(tasks_seen=4, earned=10, is_pay_shown=False)

    assert reason(known, "paid") == (
        "10 credits earned at listed rewards; no answer named any"
    )


def test_a_refused_request_is_told_in_the_networks_words_with_settings() -> None:
    known = Known(
        endpoints={"marketplace_tasks": LISTED},
        tasks_seen=4,
        requests={"claim": refused_with("422: lease_id is missing")},
    )

    step = can_earn(known)[2]
    assert (step.name, step.standing) == ("claimable", Standing.REFUSED)
    assert step.reason == "422: lease_id is missing"
    assert summary(can_earn(known)) == (
        "no: claims are refused: 422: lease_id is missing"
    )


def test_the_settings_can_be_pasted_as_they_are() -> None:
    shape = replace(SHAPE, placed=(*SHAPE.placed, Placed(("out",), "result")))
    known = Known(
        requests={
            "submit": RequestModel(
                refused=(RefusedShape(shape, "no", 400, has_taught=False),)
            )
        }
    )

    table = tomllib.loads(can_earn(known)[3].toml)["contract"]["requests"]["submit"]

    pasted = configured_shape("submit", table)
    assert set(map(str, pasted.placed)) == set(map(str, shape.placed))


def test_the_settings_name_what_answers_gave_and_the_body_lacks() -> None:
    names = ("claim.lease.token", "claim.lease.number", "claim.a\n[network]")
    known = Known(requests={"submit": refused_with("no")}, given=names)

    toml = can_earn(known)[3].toml

    assert r'# also known: "claim.lease.number", "claim.a\n[network]"' in toml
    assert set(tomllib.loads(toml)) == {"contract"}


def test_where_nothing_was_learned_the_first_body_is_shown() -> None:
    later = RequestShape((Placed(("data", "id"), "task_id"),))
    shapes = (SHAPE, later)
    refused = tuple(RefusedShape(one, "no", 400, has_taught=False) for one in shapes)

    toml = can_earn(Known(requests={"claim": RequestModel(refused=refused)}))[2].toml

    assert 'task_id = "task.id"' in toml


def test_a_later_body_that_left_the_task_out_is_not_the_one_to_mend() -> None:
    whole = RequestShape((Placed(("key",), "task_id"), Placed(("to",), "claim.id")))
    without = RequestShape((Placed(("to", "task"), "task_id"),))
    unknown = RequestShape((*whole.placed, Placed(("proof",), "evidence")))
    refused = tuple(
        RefusedShape(one, "no", 400, has_taught=True)
        for one in (unknown, whole, without)
    )
    model = RequestModel(
        refused=refused, constraints=Constraints(unknown=(("proof",),))
    )

    toml = can_earn(Known(requests={"complete": model}))[4].toml

    assert 'task_id = "key"' in toml
    assert "proof" not in toml


def test_a_listing_of_which_nothing_was_read_is_told() -> None:
    record = Shape(("object",), {"betrag": Shape(), "satz": Shape()})
    jobs = Shape(("array",), items=record)
    records = Shape(("object",), {"jobs": jobs})
    listing = replace(LISTED, answers={"200": AnswerRecord(200, True, body=records)})
    empty = replace(LISTED, answers={"200": AnswerRecord(200, True, body=Shape())})

    seen = Known(endpoints={"public_marketplace": listing})
    assert standings(seen)["understood"] == "refused"
    assert "(fields: betrag, satz)" in summary(can_earn(seen))
    assert standings(Known(endpoints={"public_marketplace": empty}))["understood"] == (
        "untried"
    )


def test_for_such_a_listing_settings_are_proposed_from_its_names() -> None:
    network = WishingNeighbours()
    wanted = network.settings["contract"]["listing"]
    shown = network.listing()
    assert ListingReader().listing(shown).tasks == ()

    call = Call(name="marketplace_tasks", method="GET", address=URL, path="/")
    reply = Reply(200, {"content-type": "application/json"}, shown, json.dumps(shown))
    observer = Observer(["marketplace_tasks"], FakeClock().now)
    observer.learn(Observed(call, reply, 0.1, "confirmed", is_yes=True, secrets=()))
    known = Known(endpoints=observer.records)
    toml = can_earn(known)[1].toml

    proposed = tomllib.loads(toml)["contract"]["listing"]
    assert {**proposed, "text": "wish.say"} == wanted
    assert '"wish.say"' in toml.splitlines()[-1]
    tasks = ListingReader(configured_places(proposed)).listing(shown).tasks
    assert {str(one.id): one.text for one in tasks} == network.texts()


def test_tasks_that_were_read_were_listed() -> None:
    assert standings(Known(tasks_seen=4))["listed"] == "proven"


def test_refusals_that_are_not_about_the_body_are_told_too() -> None:
    known = Known(
        endpoints={
            "marketplace_tasks": EndpointRecord(outcomes={"refused: absent": 2}),
            "claim": EndpointRecord(outcomes={"refused: conflict": 3, "unknown": 1}),
        },
        last_reasons={TaskState.LOST: "409: somebody was first"},
    )

    assert reason(known, "listed") == "refused: absent, 2 times"
    assert reason(known, "claimable") == (
        "409: somebody was first (refused: conflict, 3 times)"
    )


def test_tasks_that_are_all_skipped_for_one_reason_are_told() -> None:
    known = Known(tasks_seen=50, skipped={"no strategy wants it": 50})

    assert reason(known, "claimable") == (
        "all 50 tasks are skipped: no strategy wants it"
    )


@pytest.mark.parametrize("outcome", ["unknown", "not sent"])
def test_a_request_without_a_definite_answer_says_nothing(outcome: str) -> None:
    known = Known(endpoints={"claim": EndpointRecord(outcomes={outcome: 2})})

    assert standings(known)["claimable"] == "untried"


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal(tmp_path / "journal.db", FakeClock().now) as journal:
        yield journal


def test_the_status_knows_of_refusals_before_any_answer_was_kept(
    journal: Journal,
) -> None:
    model = ServiceModel(requests={"submit": refused_with("422: nonce is missing")})
    with journal.tx("service model"):
        saved = DOCUMENT.dump_python(Learned(model=model), mode="json")
        journal.facts.put(MODEL_FACT.format(base_url=URL), saved)

    assert journal_status(journal, URL)["can_earn"] == (
        "no: results are refused: 422: nonce is missing"
    )


async def test_a_daemon_that_earned_proves_every_step(make_site: MakeSite) -> None:
    site = await make_site()
    await site.run(work__max_tasks=1)

    with site.journal() as journal:
        steps = can_earn(known_of(journal, network_record(journal, URL)))

    assert {str(one.standing) for one in steps} == {"proven"}
    assert summary(steps).startswith("yes: ")
