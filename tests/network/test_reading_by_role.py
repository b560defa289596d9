"""Listings whose fields have names that nobody here knows: what fields do tells."""

import json
from collections.abc import Callable

import pytest

from journeyman.domain.tasks import JSON, Task, TaskId
from journeyman.network.service_model.configured import configured_places
from journeyman.network.service_model.listing import Listing, ListingReader
from journeyman.network.service_model.reading import id_name, wire_id

TEXTS = (
    "the tide table hangs beside the door",
    "nobody mends umbrellas any more",
    "a heron stands in the mill pond",
    "bring the ladder in before dark",
)
UUIDS = tuple(f"8f14e45f-ceea-467f-ab{n}0-0123456789ab" for n in range(4))


def read(answer: JSON) -> tuple[Task, ...]:
    """Read a listing of which every record must be a task."""
    listing = ListingReader().listing(answer)
    assert listing.problem == ""
    return listing.tasks


def records(make: Callable[[int], dict[str, JSON]]) -> list[JSON]:
    return [make(n) for n in range(4)]


@pytest.mark.parametrize(
    ("answer", "name", "sent"),
    [
        (records(lambda n: {"pk": n + 5, "text": TEXTS[n]}), "pk", 8),
        (records(lambda n: {"TaskKey": f"T#{n}", "Text": TEXTS[n]}), "TaskKey", "T#3"),
        (records(lambda n: {"nummer": f"{n}", "text": TEXTS[n]}), "nummer", "3"),
        (
            records(lambda n: {"text": TEXTS[n], "owner_id": UUIDS[n], "ref": f"r{n}"}),
            "ref",
            "r3",
        ),
        (
            records(lambda n: {"meta": {"jobId": n}, "work": {"prompt": TEXTS[n]}}),
            "meta.jobId",
            3,
        ),
        # A call number has spaces in it, and a batch is rather what others belong to.
        (
            records(lambda n: {"call_number": f"82{n}.91 WOO", "text": TEXTS[n]}),
            "call_number",
            "823.91 WOO",
        ),
        (
            records(lambda n: {"batch": f"IPA-{n}", "tag_copy": TEXTS[n], "pays": n}),
            "batch",
            "IPA-3",
        ),
        (
            records(
                lambda n: {
                    "short": f"x{n}y",
                    "text": TEXTS[n],
                    "self": f"https://market.example/jobs/x{n}y",
                    "batch": f"b{n}",
                }
            ),
            "short",
            "x3y",
        ),
        (
            records(lambda n: {"name": f"jobs/a{n}", "text": TEXTS[n]}),
            "name",
            "jobs/a3",
        ),
        # An id that is the same everywhere names something else.
        (
            records(lambda n: {"id": "market", "gigNo": n + 40, "text": TEXTS[n]}),
            "gigNo",
            43,
        ),
        (
            records(lambda n: {"_id": {"$oid": f"{n:024x}"}, "text": TEXTS[n]}),
            "_id",
            f"{3:024x}",
        ),
        (
            records(lambda n: {"TaskId": {"S": f"t-{n}"}, "Text": {"S": TEXTS[n]}}),
            "TaskId",
            "t-3",
        ),
    ],
)
def test_an_id_is_what_differs_in_every_record_and_is_sent_as_it_was_listed(
    answer: JSON, name: str, sent: JSON
) -> None:
    tasks = read(answer)

    assert len(tasks) == 4
    assert [task.text for task in tasks] == list(TEXTS)
    assert (id_name(tasks[-1]), wire_id(tasks[-1])) == (name, sent)
    assert type(wire_id(tasks[-1])) is type(sent)


def test_what_measures_a_task_is_not_its_id() -> None:
    answer: JSON = [
        {"position": n, "createdAt": f"2026-01-0{n + 1}", "price": n + 1, "text": text}
        for n, text in enumerate(TEXTS)
    ]

    listing = ListingReader().listing(answer)

    assert (listing.tasks, listing.unreadable) == ((), 4)


def test_a_record_that_stands_under_its_id_keeps_it() -> None:
    tasks = read({"jobs": {UUIDS[n]: {"prompt": TEXTS[n], "pay": 2} for n in range(4)}})

    assert [task.id for task in tasks] == list(UUIDS)
    assert (id_name(tasks[0]), wire_id(tasks[0])) == (None, UUIDS[0])
    assert UUIDS[0] in tasks[0].raw.values()


@pytest.mark.parametrize(
    "record",
    [
        lambda n: {"id": n, "says": TEXTS[n]},
        lambda n: {"id": n, "spec": {"source": TEXTS[n]}},
        lambda n: {"id": n, "description": "In capitals, please.", "phrase": TEXTS[n]},
        lambda n: {
            "id": n,
            "description": "In capitals, please.",
            "inputs": [{"type": "text", "value": TEXTS[n]}],
        },
        # A body that is an object is no text.
        lambda n: {"id": n, "body": {"sentence": TEXTS[n]}},
        lambda n: {"id": n, "title": TEXTS[n]},
        lambda n: {"id": n, "says": TEXTS[n], "self": f"/jobs/{n}?with=a long address"},
    ],
)
def test_the_text_is_the_longest_prose_that_differs(
    record: Callable[[int], dict[str, JSON]],
) -> None:
    assert [task.text for task in read(records(record))] == list(TEXTS)


def test_texts_that_differ_are_not_given_up_for_longer_ones() -> None:
    answer = records(
        lambda n: {"id": n, "description": TEXTS[n], "terms": f"{n} " + "long " * 40}
    )

    assert [task.text for task in read(answer)] == list(TEXTS)


def test_the_last_task_of_a_market_is_read_as_the_others_were() -> None:
    reader = ListingReader()
    answer = records(
        lambda n: {"id": n, "description": "In capitals, please.", "phrase": TEXTS[n]}
    )
    reader.listing(answer)

    (task,) = reader.listing(answer[:1]).tasks

    assert task.text == TEXTS[0]


@pytest.mark.parametrize(
    ("pay", "credits_"),
    [
        ({"pays": 3}, 3),
        ({"lohn": "3.00"}, 3),
        ({"creditsOffered": "3"}, 3),
        ({"terms": {"amount": "3.00", "currency": "credits"}}, 3),
        ({"worth": {"value": 300, "unit": "drops"}}, 0),
        ({"price_usd": 3}, 0),
        ({"price_cents": 3}, 3),
        ({"fee_usd_cents": 3, "pages": 8}, 3),
        ({"price_cents": 3, "price_currency": "USD"}, 3),
        ({"price_cents": 3, "price_currency": "EUR"}, 0),
        ({"state_code": 10, "state": "waiting"}, 0),
        ({"freight": {"amount": 300, "unit": "hundredths", "as": "3.00 credits"}}, 3),
        ({"fee": {"amount": 300, "currency": "CRD", "as": "3.00 credits"}}, 3),
        ({"fee": {"value": 300, "exponent": 2, "currency": "CREDITS"}}, 3),
        ({"fee": {"unit": "CREDIT", "minor": 300, "minorPerCredit": 100}}, 3),
        ({"fee": {"unit": "CREDIT", "minor": 3000, "minorPerCredit": 1000}}, 3),
        ({"asking": {"amount_minor": 300, "currency": "CRD"}}, 3),
        ({"asking": {"amount_minor": 3000, "currency": "CRD", "exponent": 3}}, 3),
        ({"asking": {"amount_minor": 3, "currency": "CRD", "exponent": 0}}, 3),
        ({"asking": {"minorUnits": 3000, "currency": "CRD", "fractionDigits": 3}}, 3),
        ({"asking": {"amount_minor": 3, "currency": "USD"}}, 3),
        ({"reward_centicredits": 300}, 3),
        ({"rewardMillicredits": "3000"}, 3),
        ({"reward_centicredits": "some"}, 0),
        ({"tariff_cents": 3}, 3),
        ({"reward": {"__typename": "Reward", "creditAmount": 3}}, 3),
        ({"fee": {"amt": "3.00", "unit": "CR"}}, 3),
        ({"size": {"cm": 120}, "pago": {"importe": 3, "moneda": "créditos"}}, 3),
        ({"folio": 8, "solde": "3 crédits"}, 3),
        ({"folio": 8, "prix": "3 couronnes"}, 0),
        ({"pages": 8, "honorarium": {"value": "3.00", "unit": "credits"}}, 3),
        ({"word_count": 3}, 0),
        ({"one": 3, "other": 4}, 0),
        ({"Reward": {"N": "3"}}, 3),
    ],
)
def test_a_reward_is_a_number_that_is_nothing_else(
    pay: dict[str, JSON], credits_: int
) -> None:
    tasks = read(records(lambda n: {"id": f"t{n}", "text": TEXTS[n], **pay}))

    assert {task.reward for task in tasks} == {credits_}


@pytest.mark.parametrize(
    ("states", "read_as"),
    [
        ({"state": [0, 1, 0, 2]}, ["0", "1", "0", "2"]),
        (
            {"zustand": ["offen", "weg", "offen", "offen"]},
            ["offen", "weg", *["offen"] * 2],
        ),
        ({"availability": ["free"] * 4}, ["free"] * 4),
        (
            {"state": ["open", {"leased": {"by": "a"}}, *["open"] * 2]},
            ["open", "leased", *["open"] * 2],
        ),
        (
            {
                "line": ["car", "home", "pet", "car"],
                "assigned": [False, True, False, False],
            },
            ["", "assigned", "", ""],
        ),
        (
            {
                "state_code": [10, 20, 10, 10],
                "state_said": ["free", "gone", *["free"] * 2],
            },
            ["free", "gone", *["free"] * 2],
        ),
        ({"zustand": ["weg"] * 4}, ["weg"] * 4),
        (
            {"lang": ["open", "claimed", "open", "open"]},
            ["open", "claimed", *["open"] * 2],
        ),
        # Different in every record: no state.
        ({"nickname": ["a", "b", "c", "d"]}, [""] * 4),
    ],
)
def test_a_state_is_one_of_few_words(
    states: dict[str, list[JSON]], read_as: list[str]
) -> None:
    def make(number: int) -> dict[str, JSON]:
        said = {name: words[number] for name, words in states.items()}
        return {"id": number, "text": TEXTS[number], **said}

    tasks = read(records(make))

    assert [task.status for task in tasks] == read_as


@pytest.mark.parametrize(
    "held",
    [
        {"takenBy": "agent-9"},
        {"on_loan_to": "agent-9"},
        {"held_by": {"id": "agent-9"}},
        {"reservedForAgent": "agent-9"},
        {"claim": {"agent": {"agent_id": "agent-9"}, "at": "2026-01-01T00:00:00Z"}},
    ],
)
def test_who_holds_a_task_is_seen_under_other_names(held: dict[str, JSON]) -> None:
    first, *others = read([{"id": 0, "text": "a b", **held}, {"id": 1, "text": "a c"}])

    assert first.claimant == "agent-9"
    assert [task.claimant for task in others] == [None]


@pytest.mark.parametrize(
    "field",
    [
        {"claimed_at": "2026-01-01T00:00:00Z"},
        {"reserved": "no"},
        {"assigned_count": 0},
        {"locked": False},
    ],
)
def test_what_only_sounds_like_a_claimant_is_none(field: dict[str, JSON]) -> None:
    (task,) = read([{"id": 1, "text": "a b", **field}])

    assert task.claimant is None


def test_an_assignment_that_is_the_task_itself_is_no_claimant() -> None:
    tasks = read(records(lambda n: {"AssignmentId": f"81{n}", "text": TEXTS[n]}))

    assert [task.id for task in tasks] == ["810", "811", "812", "813"]
    assert {task.claimant for task in tasks} == {None}


def test_a_claimant_of_zeros_is_nobody() -> None:
    tasks = read(
        [
            {"id": 1, "text": "a b", "assigned_to": 0},
            {
                "id": 2,
                "text": "a c",
                "assigned_to": "00000000-0000-0000-0000-000000000000",
            },
            {"id": 3, "text": "a d", "assigned_to": "agent-9"},
            {
                "id": 4,
                "text": "a e",
                "assigned_to": "13814000-1dd2-11b2-8080-808080808080",
            },
        ]
    )

    assert [task.claimant for task in tasks] == [None, None, "agent-9", None]


TASKS = records(lambda n: {"id": n, "prompt": TEXTS[n], "reward": 1})
TWO, OTHERS = TASKS[:2], TASKS[2:]


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param({"jobs_by_category": {"text": TWO, "code": OTHERS}}, id="grouped"),
        pytest.param({"jobs": [TWO, OTHERS]}, id="array-of-arrays"),
        pytest.param([[TWO], [OTHERS]], id="deeper-arrays"),
        pytest.param(
            {"groups": [{"kind": "a", "tasks": TWO}, {"kind": "b", "tasks": OTHERS}]},
            id="groups-as-objects",
        ),
        pytest.param(
            {
                "cases": [
                    {"case": "K-1", "about": "an heir", "pieces": TWO},
                    {"case": "K-2", "about": "a ship", "pieces": OTHERS},
                ]
            },
            id="in-what-they-belong-to",
        ),
        pytest.param({"open": TASKS, "myAssignments": []}, id="beside-none-of-ours"),
        pytest.param(
            {"featured": TWO, "regular": OTHERS, "staff": [{"id": 1, "name": "B"}]},
            id="several-arrays",
        ),
        pytest.param({"a": {"b": {"c": {"results": TASKS}}}}, id="deep"),
        pytest.param(
            {
                "columns": ["id", "prompt", "reward"],
                "rows": [[n, TEXTS[n], 1] for n in range(4)],
            },
            id="table",
        ),
        pytest.param(
            {
                "table": {
                    "cols": [
                        {"id": "A", "label": "Task no", "type": "number"},
                        {"id": "B", "label": "What to write", "type": "string"},
                        {"id": "C", "label": "Who", "type": "string"},
                    ],
                    "rows": [
                        {"c": [{"v": n + 1.0, "f": f"{n + 1}"}, {"v": TEXTS[n]}, None]}
                        for n in range(4)
                    ],
                }
            },
            id="table-of-cells",
        ),
    ],
)
def test_all_tasks_are_gathered_however_they_are_grouped(answer: JSON) -> None:
    assert [task.text for task in read(answer)] == list(TEXTS)


def test_a_group_says_what_its_tasks_are_where_they_do_not() -> None:
    by_kind = read({"jobs": {"translation": TWO, "transcription": OTHERS}})
    by_state = read({"jobs": {"available": TWO, "taken": OTHERS}})

    assert [task.kind for task in by_kind][1:3] == ["translation", "transcription"]
    assert [task.status for task in by_state] == ["", "", "taken", "taken"]


def test_what_each_task_lists_alike_is_no_task() -> None:
    skills: JSON = [{"id": 39, "name": "Copy Typing"}]
    projects: JSON = [
        {"id": 4100 + n, "input_text": text, "jobs": skills}
        for n, text in enumerate(TEXTS)
    ]

    assert [task.text for task in read({"projects": projects})] == list(TEXTS)


def test_other_things_beside_no_tasks_are_not_tasks() -> None:
    facets: JSON = [{"key": "text", "doc_count": 3}, {"key": "code", "doc_count": 1}]

    assert read({"data": [], "facets": facets}) == ()


@pytest.mark.parametrize("answer", [{"jobs": None}, {"data": {"jobs_by_kind": {}}}])
def test_no_tasks_may_be_written_as_null_or_as_an_empty_object(answer: JSON) -> None:
    assert read(answer) == ()


def test_a_list_that_was_there_before_may_be_left_out_when_it_is_empty() -> None:
    reader = ListingReader()
    assert reader.listing({}).problem
    reader.listing({"found": TASKS})

    assert reader.listing({}).problem == ""
    assert reader.listing({"found": ["odd"]}).problem


def test_only_records_that_changed_are_read_again() -> None:
    reader = ListingReader()
    first = reader.listing(TASKS).tasks

    changed: JSON = {"id": 1, "prompt": TEXTS[1], "reward": 2}
    again = reader.listing([TASKS[0], changed, *OTHERS]).tasks

    assert [one is other for one, other in zip(first, again, strict=True)] == [
        *(True, False, True, True)
    ]
    assert again[1].reward == 2


def test_a_field_that_was_not_there_before_may_have_a_role() -> None:
    reader = ListingReader()
    reader.listing(TASKS)

    held = [
        {**dict(one), "takenBy": "agent-9"} for one in TASKS if isinstance(one, dict)
    ]

    assert {one.claimant for one in reader.listing([*held]).tasks} == {"agent-9"}


def test_a_new_field_of_the_last_task_does_not_move_the_roles() -> None:
    reader = ListingReader()
    rows: list[dict[str, JSON]] = [
        {"id": n, "description": "In capitals, please.", "phrase": text}
        for n, text in enumerate(TEXTS)
    ]
    reader.listing([*rows])

    (task,) = reader.listing([{**rows[0], "note": "a much longer text " * 9}]).tasks

    assert task.text == TEXTS[0]


# -- ids in two parts ------------------------------------------------------------------


def issue(repo: str, number: int) -> dict[str, JSON]:
    return {"repo": repo, "number": number, "body": f"{TEXTS[number % 4]} at {repo}"}


def test_two_fields_may_name_a_task_together() -> None:
    tasks = read([issue("a/b", 1), issue("a/c", 1), issue("a/c", 2), issue("a/d", 2)])

    assert [task.id for task in tasks] == ["a/b#1", "a/c#1", "a/c#2", "a/d#2"]
    assert [wire_id(task) for task in tasks] == [1, 1, 2, 2]


def test_a_place_in_a_row_is_no_name_of_an_id() -> None:
    task = Task(id=TaskId("t-9"), raw={"0": "t-9", "1": "Mow"})

    assert id_name(task) is None


def test_such_a_name_stays_the_same_on_a_page_where_one_part_would_do() -> None:
    reader = ListingReader()
    reader.listing([issue("a/b", 1), issue("a/c", 1), issue("a/c", 2)])

    page = reader.listing([issue("a/b", 3), issue("a/c", 4), issue("a/d", 5)])
    last = reader.listing([issue("a/b", 6)])

    assert [task.id for task in page.tasks] == ["a/b#3", "a/c#4", "a/d#5"]
    assert [task.id for task in last.tasks] == ["a/b#6"]


def test_a_number_that_a_few_records_share_is_no_state() -> None:
    lengths, pay = (24, 28, 27, 27), (18, 42, 27, 22)
    tasks = read(
        records(
            lambda n: {
                "broj": 22910 + 7 * n,
                "predmet": TEXTS[n],
                "duljina": lengths[n],
                "naknada": pay[n],
                "stanje": "slobodan",
            }
        )
    )

    assert {task.status for task in tasks} == {"slobodan"}


def test_a_task_has_the_group_that_it_was_listed_in() -> None:
    voyages: JSON = [
        {"voyageNo": f"NM{n}", "dockets": [{"id": f"d-{n}", "text": TEXTS[n]}]}
        for n in range(2)
    ]

    tasks = read({"voyages": voyages})

    assert [task.raw["voyage"] for task in tasks] == [
        {"voyageNo": "NM0"},
        {"voyageNo": "NM1"},
    ]


def test_the_text_is_what_all_tasks_speak_of_alike() -> None:
    brief = "Write the wording in upper case"
    tasks = read(
        records(
            lambda n: {
                "Code": f"TSK-{n}",
                "Summary": f"Label for the shelf number {n}",
                "Brief": {"Request": brief, "Wording": TEXTS[n]},
                "Reward": f"{10 + n}.00",
            }
        )
    )

    assert [task.text for task in tasks] == [*TEXTS]


def test_what_is_listed_twice_under_a_made_up_id_is_no_id_in_two_parts() -> None:
    rows: list[JSON] = [
        {"ref": f"task_{n % 2}4081ed3", "lane": n // 2 + 2, "body": TEXTS[n % 2]}
        for n in range(4)
    ]

    read_twice = ListingReader().listing(rows).tasks

    assert not any("#" in task.id for task in read_twice)


def test_what_one_page_shows_of_states_holds_for_a_page_that_shows_only_one() -> None:
    reader = ListingReader()
    states = ("frei", "weg", "frei", "weg")
    rows = records(lambda n: {"id": n, "text": TEXTS[n], "lage": states[n], "ort": "x"})
    more = records(
        lambda n: {"id": n + 9, "text": TEXTS[n], "lage": "frei", "ort": "y"}
    )
    reader.listing(rows)

    assert {task.status for task in reader.listing(more).tasks} == {"frei"}


def test_a_short_task_beside_a_longer_text_is_its_title() -> None:
    rows = records(
        lambda n: {"id": n, "Task": f"Sign {n}", "What to do": TEXTS[n], "Pay": n + 1}
    )

    assert [task.text for task in read(rows)] == [*TEXTS]


# -- where the owner says it ----------------------------------------------------------

GROUPS: JSON = {
    "streets": [
        {"agents": [{"pk": 1, "ask": {"code": "x1", "say": TEXTS[0], "id": 9}}]},
        {"agents": [{"pk": 2, "ask": {"code": "x2", "say": TEXTS[1], "id": 9}}]},
        {"agents": None},
    ]
}


def read_as(owner: dict[str, str], answer: JSON = GROUPS) -> Listing:
    return ListingReader(configured_places(owner)).listing(answer)


def test_tasks_are_read_where_the_owner_says_that_they_are() -> None:
    assert ListingReader().listing(GROUPS).tasks == ()
    tasks = read_as({"records": "streets.agents", "id": "ask.code"}).tasks
    assert [(one.id, one.text) for one in tasks] == [
        ("x1", TEXTS[0]),
        ("x2", TEXTS[1]),
    ]


def test_the_owners_word_is_above_names_and_roles() -> None:
    jobs: list[JSON] = [
        {"id": n, "text": "a", "alt": TEXTS[n], "reward": 1, "sum": 5} for n in range(4)
    ]
    owner = {"text": "alt", "reward": "sum"}
    tasks = read_as(owner, {"jobs": jobs}).tasks
    assert [(one.id, one.text, one.reward) for one in tasks] == [
        (str(n), TEXTS[n], 5) for n in range(4)
    ]


def test_records_under_their_own_names_are_read() -> None:
    keyed: JSON = {"users": {"a7": {"say": TEXTS[0]}, "a8": {"say": TEXTS[1]}}}
    assert [one.id for one in read_as({"records": "users"}, keyed).tasks] == [
        "a7",
        "a8",
    ]


@pytest.mark.parametrize(
    ("owner", "problem"),
    [
        (
            {"records": "streets.members"},
            "contract.listing.records: no list at 'streets.members' in the answer",
        ),
        (
            {"records": "streets.agents", "id": "ask.nr"},
            "contract.listing.id: none of 2 records has 'ask.nr'",
        ),
        (
            {"records": "streets.agents", "id": "ask.code", "reward": "ask.pay"},
            "contract.listing.reward: none of 2 records has 'ask.pay'",
        ),
    ],
)
def test_a_place_that_nothing_has_is_told_and_nothing_is_read(
    owner: dict[str, str], problem: str
) -> None:
    listing = read_as(owner)
    assert listing.tasks == ()
    assert listing.problem.startswith(problem)
    assert listing.problem.endswith(("(its fields: streets)", "(fields: pk, ask)"))


def test_a_place_that_was_there_once_may_be_left_out_later() -> None:
    reader = ListingReader(configured_places({"reward": "sum", "kind": "sort"}))
    first: JSON = [{"id": 1, "text": TEXTS[0], "sum": 5, "sort": None}]
    assert reader.listing(first).problem == ""
    assert reader.listing([{"id": 2, "text": TEXTS[1]}]).problem == ""


def test_records_that_stand_in_groups_of_groups_are_tasks() -> None:
    def segments(first: int) -> JSON:
        return [
            {"segment_id": first + n, "status": "free", "pay_credits": 12 + n}
            for n in range(2)
        ]

    episodes: JSON = [{"episode": "ep-1", "segments": segments(901)}]
    shows: JSON = [
        {"slug": "bar", "title": "In a bar", "episodes": episodes},
        {"slug": "lab", "episodes": [{"episode": "ep-7", "segments": segments(911)}]},
    ]

    found = read({"shows": shows})

    assert [one.id for one in found] == ["901", "902", "911", "912"]
    assert {one.reward for one in found} == {12, 13}


def test_groups_of_one_kind_are_tasks_and_their_state_is_that_of_the_outer_one() -> (
    None
):
    def segments(*refs: str) -> JSON:
        return [
            {"segment-ref": ref, "words": 6, "share": {"credits": 9}} for ref in refs
        ]

    found = read(
        {
            "open": {"ca-en": segments("vi-1", "vi-2"), "fr-en": segments("mu-1")},
            "taken": {"ca-en": segments("vi-3")},
        }
    )

    assert {one.id: one.status for one in found} == {
        "vi-1": "open",
        "vi-2": "open",
        "mu-1": "open",
        "vi-3": "taken",
    }


def test_the_words_of_a_text_may_be_called_so() -> None:
    found = read({f"s{n}": {"words": TEXTS[n], "pays": n + 3} for n in range(4)})

    assert [one.text for one in found] == [*TEXTS]


def test_tasks_may_be_called_what_is_usually_said_of_tasks() -> None:
    made = records(lambda n: {"tag_id": 88 + n, "copy": TEXTS[n], "credits": 9 + n})

    assert [t.text for t in read({"guideline": "upper case", "tags": made})] == [*TEXTS]


def test_labels_without_work_are_no_tasks() -> None:
    labels = records(lambda n: {"id": n, "name": f"label {n}"})

    assert ListingReader().listing({"tags": labels}).tasks == ()


def test_a_reward_that_differs_in_every_record_is_no_id() -> None:
    lots = [(2041, 17), (2041, 18), (2052, 17), (2052, 18)]

    def lot(n: int) -> dict[str, JSON]:
        sale, number = lots[n]
        return {
            "saleNo": sale,
            "lotNo": number,
            "title": TEXTS[n],
            "estimate": f"{n + 2}00-{n + 4}00",
            "commissionCredits": 15 + n,
        }

    tasks = read({"lots": records(lot)})

    assert len({task.id for task in tasks}) == 4
    assert [task.reward for task in tasks] == [15, 16, 17, 18]
    assert not {task.id for task in tasks} & {"15", "16", "17", "18"}


def test_what_is_called_a_text_is_the_text_beside_a_longer_one() -> None:
    def row(n: int) -> dict[str, JSON]:
        label = f"A much longer description than {TEXTS[-1 - n]}"
        return {
            "sys_id": f"{n}a9",
            "short_description": label,
            "u_source_text": TEXTS[n],
        }

    tasks = read({"result": records(row)})

    assert [str(task.text) for task in tasks] == [*TEXTS[: len(tasks)]]


def test_what_a_system_says_of_a_request_is_no_text() -> None:
    said = "FUNCTION COMPLETED WITHOUT ANY ERRORS TO REPORT"

    tasks = read(
        {
            "RTN_TXT": said,
            "ITEMS": [
                {"ITMNO": f"{n}A9", "RMKTXT": TEXTS[n], "RTN_TXT": f"{said} {n}"}
                for n in range(3)
            ],
        }
    )

    assert [str(task.text) for task in tasks] == [*TEXTS[:3]]


def test_what_stands_around_records_under_their_names_is_no_record() -> None:
    dockets: JSON = {
        f"HP/041{n}/C": {"clause": TEXTS[n], "honorarium": f"{n + 2} credits"}
        for n in range(3)
    }

    tasks = read({"docket-sheet": {"matters-awaiting": 3, "dockets": dockets}})

    assert [one.id for one in tasks] == ["HP/0410/C", "HP/0411/C", "HP/0412/C"]


def test_what_is_paid_is_no_id_however_it_is_written() -> None:
    def leaf(n: int) -> dict[str, JSON]:
        pay = f"{n + 2}.00"
        return {"mark": f"Add. MS 40{n}", "passage": TEXTS[n], "honorarium": pay}

    tasks = read({"leaves": records(leaf)})

    assert tasks[0].id == "Add. MS 400"
    assert tasks[0].reward == 2


def test_groups_that_look_like_tasks_are_none_beside_what_is_in_them() -> None:
    def captions(book: int) -> list[JSON]:
        return [
            {
                "caption_id": 10 * book + n,
                "figure": f"{book}.{n}",
                "copy": text,
                "rate": 6,
            }
            for n, text in enumerate(TEXTS[:3])
        ]

    books = records(
        lambda n: {"isbn": f"978-{n}", "title": f"Book {n}", "captions": captions(n)}
    )

    tasks = read({"books": books})

    assert len(tasks) == 12
    assert {task.reward for task in tasks} == {6}


def test_who_a_text_is_from_is_not_the_text() -> None:
    senders = ("Choir", "Bell ringers", "Flower guild", "Vicar")

    tasks = read(
        {
            "notices": records(
                lambda n: {
                    "notice_no": 20 + n,
                    "from": senders[n],
                    "headline": TEXTS[n],
                    "credits": 5 + n,
                }
            )
        }
    )

    assert [task.text for task in tasks] == [*TEXTS[:4]]


def test_what_differs_in_a_number_only_is_a_title_and_no_work() -> None:
    made = records(
        lambda n: {"id": n, "aihe": f"Capital letters, part {n + 1}", "lause": TEXTS[n]}
    )

    assert [one.text for one in read({"tyot": made})] == [*TEXTS]


def test_what_ends_alike_everywhere_says_what_to_do_and_is_not_the_work() -> None:
    made = records(
        lambda n: {
            "slug": f"otter-{n}",
            "job": f"Wall {chr(65 + n)} of the long hall on the left: set in capitals",
            "copy": TEXTS[n][:30],
        }
    )

    assert [one.text for one in read(made)] == [text[:30] for text in TEXTS]


def test_of_two_numbers_the_one_that_counts_the_records_is_no_reward() -> None:
    nodes: JSON = [
        {"cursor": str(n), "node": {"id": f"t-{n}", "liksa": 30 - 4 * n, "text": text}}
        for n, text in enumerate(TEXTS)
    ]

    assert [one.reward for one in read({"edges": nodes})] == [30, 26, 22, 18]


def test_a_total_with_its_currency_is_the_reward_and_no_quantity_is() -> None:
    listed = records(
        lambda n: {
            "orderId": f"04-1187{n}-20415",
            "text": TEXTS[n],
            "pricing": {"total": {"value": f"3{n}.0", "currency": "CREDITS"}},
            "lineItems": [{"title": "Enamel sign", "quantity": 1}],
        }
    )

    assert [task.reward for task in read(listed)] == [30, 31, 32, 33]


@pytest.mark.parametrize(
    "more",
    [
        {"CustomerRef": {"value": "58", "name": "A shop"}, "TotalAmt": 3.0},
        {"blattnummer": 212, "verguetung": 3},
    ],
)
def test_what_refers_to_something_is_no_reward(more: dict[str, JSON]) -> None:
    listed = records(lambda n: {"Id": f"{147 + n}", "text": TEXTS[n], **more})

    assert {task.reward for task in read(listed)} == {3}


def test_a_text_may_be_spoken_of_in_what_all_tasks_have_alike() -> None:
    listed = records(
        lambda n: {
            "number": n + 1,
            "what": f"A sign for wall {n}. Just the words below, all in capitals.",
            "words": TEXTS[n],
        }
    )

    assert [task.text for task in read(listed)] == [*TEXTS]


def test_the_only_number_is_rather_the_reward_than_the_id() -> None:
    made = records(
        lambda n: {"viite": f"tide-{'abcd'[n]}", "liksa": 10 + 3 * n, "text": TEXTS[n]}
    )

    found = read({"tyot": made})

    assert [one.id for one in found] == ["tide-a", "tide-b", "tide-c", "tide-d"]
    assert [one.reward for one in found] == [10, 13, 16, 19]


def test_two_numbers_in_one_name_a_task_rather_than_one_that_counts() -> None:
    made = records(
        lambda n: {
            "numero_commessa": f"26-0073{n}",
            "oggetto": TEXTS[n],
            "numero_caratteri": len(TEXTS[n]),
            "compenso_crediti": 10 + 3 * n,
        }
    )

    found = read({"elenco": made})

    assert [one.id for one in found] == [f"26-0073{n}" for n in range(4)]
    assert [one.reward for one in found] == [10, 13, 16, 19]


def test_an_id_of_its_own_that_each_record_has_tells_of_no_claim() -> None:
    made: JSON = {
        f"a-{n}": {"assignment_id": f"a-{n}", "pay": 5 + n, "text": text}
        for n, text in enumerate(TEXTS)
    }

    assert {one.claimant for one in read({"assignments": made})} == {None}


def test_what_a_few_names_have_in_front_says_nothing_of_them() -> None:
    made = records(
        lambda n: {
            "id": f"t-{n}",
            "crm_task_subject": f"Upper-case the body: {TEXTS[-n - 1]} and so on",
            "crm_task_body": TEXTS[n],
            "crm_task_reward": 10 + 3 * n,
            "crm_task_status": "open",
        }
    )

    assert [one.text for one in read({"results": made})] == [*TEXTS]


def test_what_is_to_be_done_is_no_state_and_a_task_has_its_own_id() -> None:
    made = records(
        lambda n: {
            "type": "task",
            "id": f"11446{n}",
            "action": "complete",
            "item": {"type": "file", "id": f"50009{n}", "description": TEXTS[n]},
        }
    )

    found = read({"entries": made})

    assert [one.id for one in found] == [f"11446{n}" for n in range(4)]
    assert {one.status for one in found} == {""}


def test_an_envelope_of_one_answer_is_no_task_and_its_list_is_found() -> None:
    made = records(lambda n: {"Reference": f"WI/{n}", "SourceText": TEXTS[n], "Fee": n})
    listed: JSON = {"TotalCount": 4, "ItemList": {"Item": made}}

    found = read({"Envelope": {"Header": {}, "Body": {"GetItemsResponse": listed}}})

    assert [one.id for one in found] == [f"WI/{n}" for n in range(4)]


def test_the_last_task_that_has_a_name_of_its_own_is_read_where_the_others_were() -> (
    None
):
    reader = ListingReader()
    tasks: dict[str, JSON] = {
        f"HP/{n}/C": {"honorarium": "9 credits", "work-required": TEXTS[n]}
        for n in range(4)
    }
    reader.listing({"docket-sheet": {"matters-awaiting": 4, "dockets": tasks}})

    last = {"HP/2/C": tasks["HP/2/C"]}
    left: JSON = {"docket-sheet": {"matters-awaiting": 1, "dockets": last}}
    none: JSON = {"docket-sheet": {"matters-awaiting": 0, "dockets": {}}}
    assert [task.id for task in reader.listing(left).tasks] == ["HP/2/C"]
    assert reader.listing(none).tasks == ()


def test_what_is_assigned_to_one_place_is_claimed_by_nobody() -> None:
    tasks = read(
        records(lambda n: {"id": n, "text": TEXTS[n], "assigned_location_id": 248})
    )

    assert {one.claimant for one in tasks} == {None}


def test_what_is_assigned_to_several_is_claimed_by_them() -> None:
    tasks = read(
        records(
            lambda n: {"id": n, "text": TEXTS[n], "assigned_courier_id": f"c{n % 2}"}
        )
    )

    assert {one.claimant for one in tasks} == {"c0", "c1"}


def test_a_suite_that_is_paid_as_a_whole_is_the_task_and_not_the_one_in_it() -> None:
    suites = records(
        lambda n: {
            "id": f"suite-{n}",
            "reward_per_assignment": 4.0,
            "tasks": [{"id": f"part-{n}", "input_values": {"sign": TEXTS[n]}}],
        }
    )

    tasks = read({"items": suites})

    assert [(one.id, one.reward, one.text) for one in tasks] == [
        (f"suite-{n}", 4, TEXTS[n]) for n in range(4)
    ]


def test_groups_whose_tasks_are_paid_each_are_no_tasks() -> None:
    groups = records(
        lambda n: {
            "id": f"group-{n}",
            "title": "Signs",
            "tasks": [{"id": f"task-{n}", "text": TEXTS[n], "reward": 3}],
        }
    )

    assert [one.id for one in read({"items": groups})] == [
        f"task-{n}" for n in range(4)
    ]


def test_a_text_is_read_from_json_that_is_written_as_a_text() -> None:
    tasks = read(
        records(
            lambda n: {
                "sid": f"WT{n}",
                "attributes": json.dumps({"type": "shout", "text": TEXTS[n]}),
                "price": "6.0000",
            }
        )
    )

    assert [one.text for one in tasks] == [*TEXTS[:4]]


def test_json_that_is_called_a_text_is_the_text() -> None:
    texts = [json.dumps({"text": one}) for one in TEXTS]

    tasks = read(records(lambda n: {"id": f"t{n}", "text": texts[n], "reward": 1}))

    assert [one.text for one in tasks] == texts[:4]


def test_things_with_states_of_their_own_are_the_tasks_and_not_their_groups() -> None:
    groups = records(
        lambda n: {
            "id": f"tide-{n}",
            "title": "Tide watch",
            "text": TEXTS[n],
            "reward": 4,
            "watches": [
                {"id": f"w-{n}-{k}", "text": TEXTS[n], "status": "open"}
                for k in range(2)
            ],
        }
    )

    tasks = read({"boards": groups})

    assert [one.id for one in tasks] == [
        f"w-{n}-{k}" for n in range(4) for k in range(2)
    ]
    assert {one.reward for one in tasks} == {4}


def test_a_rate_of_a_currency_or_of_a_tax_is_no_pay() -> None:
    tasks = read(
        records(
            lambda n: {
                "id": f"t-{n}",
                "text": TEXTS[n],
                "currency_rate": 1.0 + n,
                "terms": {"unit_fee": 5 + n, "quota": 2},
            }
        )
    )

    assert [one.reward for one in tasks] == [5, 6, 7, 8]
