"""Task records under the names and forms that networks use."""

from datetime import UTC, datetime

import pytest
from tests.network.conftest import ScriptedServer, answer

from journeyman.domain.outcomes import Confirmed
from journeyman.domain.tasks import JSON, Task
from journeyman.network.client import NetworkClient
from journeyman.network.service_model.listing import Listing
from journeyman.network.service_model.reading import RecordReader
from journeyman.testing import RecordingLog


async def listing_of(
    server: ScriptedServer,
    network: NetworkClient,
    body: JSON,
) -> Listing:
    server.will(answer(200, body))
    outcome = await network.public_marketplace()
    assert isinstance(outcome, Confirmed), outcome
    return outcome.value


async def task_of(
    server: ScriptedServer,
    network: NetworkClient,
    record: JSON,
) -> Task:
    (task,) = (await listing_of(server, network, [record])).tasks
    return task


async def test_a_whole_record_is_read_and_kept_verbatim(
    server: ScriptedServer,
    network: NetworkClient,
) -> None:
    record: dict[str, JSON] = {
        "id": "task_7c1e0a52",
        "title": " Count the words ",
        "description": "Answer with the number.",
        "kind": "Word_Count",
        "tags": ["Text", "count", "text", 5, None],
        "reward": 3,
        "input": {"text": "one two"},
        "status": "OPEN",
        "poster": "agent_poster_02",
        "claimed_by": {"agent_id": "agent-9"},
        "deadline": "2026-11-21T10:00:00Z",
        "odd": {"kept": True},
    }

    task = await task_of(server, network, record)

    assert task.id == "task_7c1e0a52"
    assert task.title == "Count the words"
    assert task.description == "Answer with the number."
    assert (task.kind, task.tags) == ("word_count", ("text", "count"))
    assert (task.reward, task.status) == (3, "open")
    assert (task.input, task.text) == ({"text": "one two"}, "one two")
    assert (task.poster, task.claimant) == ("agent_poster_02", "agent-9")
    assert task.deadline == datetime(2026, 11, 21, 10, tzinfo=UTC)
    assert task.raw == record


@pytest.mark.parametrize(
    "record",
    [
        {"taskId": "t1", "taskTitle": "T", "rewardCredits": "5"},
        {"TaskID": "t1", "Name": "T", "Bounty": 5},
        {"task-id": "t1", "headline": "T", "price": {"amount": 5, "unit": "credits"}},
        {"uuid": "t1", "title": "T", "payout": 5.9},
        {"id": 17, "task_id": "t1", "title": "T", "budget": "5 credits"},
        {"id": "listing", "task": {"id": "t1", "title": "T", "reward": 5}},
        {"task": {"id": "t1", "title": "T"}, "reward": 5},
        {"id": "t1", "type": "task", "attributes": {"title": "T", "reward": 5}},
        {"node": {"id": "t1", "title": "T", "reward": 5}},
        {"data": {"id": "t1", "title": "T", "reward": 5}},
        {"_id": "t1", "title": "T", "reward": None, "credits": 5},
        {"id": "t1", "title": "T", "reward": "n/a", "amount": "+5"},
        {"_id": {"$oid": "t1"}, "title": "T", "reward": [{"amount": 5}]},
        {"id": "t1", "fields": {"title": "T", "reward": 5}},
        {"id": "t1", "data": {"title": "T", "reward": 5}},
        {
            "id": "t1",
            "key": "t1",
            "value": {"rev": 1},
            "doc": {"title": "T", "price": 5},
        },
        {"_id": "t1", "_source": {"title": "T", "reward": 5}},
    ],
)
async def test_the_same_task_is_read_out_of_many_spellings(
    server: ScriptedServer,
    network: NetworkClient,
    record: JSON,
) -> None:
    task = await task_of(server, network, record)

    assert (task.id, task.title, task.reward, task.kind) == ("t1", "T", 5, "")


@pytest.mark.parametrize(
    ("reward", "credits_"),
    [
        (0, 0),
        ("12", 12),
        ("1,250", 1250),
        ("12,50", 12),
        ("4,00", 4),
        (" 7 Credits", 7),
        (2.9, 2),
        ({"value": "3"}, 3),
        # What cannot be read as credits promises nothing.
        (-5, 0),
        (True, 0),
        ("$5", 0),
        ("5 USD", 0),
        ("$0.14", 14),
        ("1.20 USD", 120),
        ("$14", 0),
        ("0.14 EUR", 0),
        ({"centimes": 9, "devise": "USD"}, 9),
        ({"centimes": 9, "devise": "EUR"}, 0),
        ({"centimes": 9}, 0),
        # A currency is one under any name.
        ({"cents": 9, "devise": "EUR"}, 0),
        ({"amount": 9, "valuta": "SEK"}, 0),
        ({"amount": 9, "sort": "CR"}, 9),
        ({"amount": 5, "currency": "usd"}, 0),
        ("soon", 0),
        ("", 0),
        ([5], 0),
        (10**400, 0),
        (1e300, 0),
        ("9" * 400, 0),
    ],
)
async def test_a_reward_is_whole_credits_or_nothing(
    server: ScriptedServer,
    network: NetworkClient,
    reward: JSON,
    credits_: int,
) -> None:
    task = await task_of(server, network, {"id": "t1", "reward": reward})

    assert task.reward == credits_


MOMENT = datetime(2026, 11, 21, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("deadline", "moment"),
    [
        ("2026-11-21T10:00:00Z", MOMENT),
        ("2026-11-21T11:00:00+01:00", MOMENT),
        ("2026-11-21 10:00:00", MOMENT),
        ("2026-11-21T10:00:00.000000+00:00", MOMENT),
        ("2026-11-21", datetime(2026, 11, 21, tzinfo=UTC)),
        (int(MOMENT.timestamp()), MOMENT),
        (int(MOMENT.timestamp()) * 1000, MOMENT),
        (MOMENT.timestamp(), MOMENT),
        (str(int(MOMENT.timestamp())), MOMENT),
        (int(MOMENT.timestamp()) * 10**6, MOMENT),
        (int(MOMENT.timestamp()) * 10**9, MOMENT),
        (str(int(MOMENT.timestamp()) * 10**3), MOMENT),
        ("Sat, 21 Nov 2026 10:00:00 GMT", MOMENT),
        ("2026-11-21T10:00:00.123456789Z", MOMENT.replace(microsecond=123456)),
        ({"$date": "2026-11-21T10:00:00Z"}, MOMENT),
        ({"_seconds": int(MOMENT.timestamp()), "_nanoseconds": 0}, MOMENT),
        # A duration, or nonsense: better no deadline than a wrong one.
        (3600, None),
        (-1, None),
        (True, None),
        ("tomorrow", None),
        ("0001-01-01T00:00:00+23:59", None),
        (1e300, None),
        (10**400, None),
        ({}, None),
    ],
)
async def test_a_deadline_is_a_moment_in_utc_or_none(
    server: ScriptedServer,
    network: NetworkClient,
    deadline: JSON,
    moment: datetime | None,
) -> None:
    task = await task_of(server, network, {"id": "t1", "deadline": deadline})

    assert task.deadline == moment


@pytest.mark.parametrize(
    ("tags", "read"),
    [
        ("text, Count ,,text", ("text", "count")),
        ([{"name": "text"}, {"id": 1}, "count"], ("text", "count")),
        ([], ()),
        ({}, ()),
        (5, ()),
        ("text; Count|more", ("text", "count", "more")),
        ("#text, #count", ("text", "count")),
        ('["text", "Count"]', ("text", "count")),
        ('{text,"count"}', ("text", "count")),
        ({"text": True, "count": False}, ("text",)),
        (
            [{"slug": "text"}, {"label": "Count"}, {"tag": "more"}],
            ("text", "count", "more"),
        ),
    ],
)
async def test_tags_come_as_a_list_an_object_or_a_text(
    server: ScriptedServer,
    network: NetworkClient,
    tags: JSON,
    read: tuple[str, ...],
) -> None:
    assert (await task_of(server, network, {"id": "t", "tags": tags})).tags == read


@pytest.mark.parametrize(
    ("record", "text"),
    [
        ({"text": "own", "input": {"text": "inner"}, "description": "d"}, "own"),
        ({"input": {"text": "inner"}, "description": "d"}, "inner"),
        ({"input": "whole", "description": "d"}, "whole"),
        ({"input": {"csv": "a,b"}, "description": "d"}, "d"),
        ({"input": [1], "description": " d\n"}, " d\n"),
        ({"text": "  ", "description": "d"}, "d"),
        ({"payload": {"inputText": "inner"}}, "inner"),
        ({"input": '{"text": "inner"}'}, "inner"),
        ({"input": '{"csv": "a,b"}'}, '{"csv": "a,b"}'),
        ({"input": "{ not JSON"}, "{ not JSON"),
        ({}, ""),
    ],
)
async def test_the_text_to_work_on_is_the_nearest_there_is(
    server: ScriptedServer,
    network: NetworkClient,
    record: dict[str, JSON],
    text: str,
) -> None:
    assert (await task_of(server, network, {"id": "t", **record})).text == text


@pytest.mark.parametrize(
    ("id_", "read"),
    [("t1", "t1"), (" t1 ", "t1"), (42, "42"), (42.0, "42"), ("ünïcode", "ünïcode")],
)
async def test_an_id_may_be_a_number(
    server: ScriptedServer,
    network: NetworkClient,
    id_: JSON,
    read: str,
) -> None:
    assert (await task_of(server, network, {"id": id_, "title": "T"})).id == read


@pytest.mark.parametrize(
    "record",
    [
        {"title": "no id"},
        {"id": None, "title": "T"},
        {"id": "", "title": "T"},
        {"id": True, "title": "T"},
        {"id": 1.5, "title": "T"},
        {"id": ["t1"], "title": "T"},
        {"id": "a\x00b", "title": "T"},
        {"id": "x" * 501, "title": "T"},
        "t1",
        None,
        5,
        [],
    ],
)
async def test_a_record_without_a_usable_id_is_counted_and_stops_no_other(
    server: ScriptedServer,
    network: NetworkClient,
    log: RecordingLog,
    record: JSON,
) -> None:
    body: JSON = {"tasks": [record, {"id": "t2", "title": "T"}]}

    for _ in range(2):
        listing = await listing_of(server, network, body)

        assert [task.id for task in listing.tasks] == ["t2"]
        assert (listing.unreadable, listing.total) == (1, 2)
        assert listing.problem == "1 of 2 records have no usable id"

    assert len(log.named("network.records_unreadable")) == 1


async def test_a_task_that_is_listed_twice_is_read_once(
    server: ScriptedServer,
    network: NetworkClient,
) -> None:
    body: JSON = [{"id": "t1", "title": "first"}, {"id": "t1", "title": "second"}]

    listing = await listing_of(server, network, body)

    assert [task.title for task in listing.tasks] == ["first"]
    assert (listing.unreadable, listing.total) == (0, 2)


@pytest.mark.parametrize(
    ("record", "status"),
    [
        ({"status": {"name": "Open"}}, "open"),
        ({"status": "open", "claimed": False, "is_open": True}, "open"),
        ({"isClaimed": True}, "claimed"),
        ({"status": "open", "claimed": True}, "claimed"),
        ({"is_available": False}, "closed"),
        ({"status": "done", "available": False}, "closed"),
        ({"status": 3}, "3"),
        ({"status": 3000}, ""),
        ({"claimedAt": "2026-01-02T03:04:05Z", "completed_at": None}, "claimed"),
        ({"status": "open", "claimed_at": "2026-01-02T03:04:05Z"}, "open"),
        ({"claimed_at": None}, ""),
    ],
)
async def test_a_flag_says_as_well_as_a_word_that_a_task_is_taken(
    server: ScriptedServer,
    network: NetworkClient,
    record: dict[str, JSON],
    status: str,
) -> None:
    task = await task_of(server, network, {"id": "t", "title": "T", **record})

    assert task.status == status


async def test_a_value_may_say_its_type_and_be_written_in_parts(
    server: ScriptedServer,
    network: NetworkClient,
) -> None:
    def parts(*texts: str) -> JSON:
        return [{"type": "text", "plain_text": text} for text in texts]

    record: JSON = {
        "id": "t",
        "properties": {
            "Name": {"id": "a", "type": "title", "title": parts("A ", "sign")},
            "Text": {"id": "b", "type": "rich_text", "rich_text": parts("wet paint")},
            "Reward": {"id": "c", "type": "number", "number": 4},
            "Status": {"id": "d", "type": "select", "select": {"name": "Not started"}},
            "Worker": {"id": "e", "type": "rich_text", "rich_text": []},
        },
    }

    task = await task_of(server, network, record)

    assert (task.title, task.text, task.reward) == ("A sign", "wet paint", 4)
    assert (task.status, task.claimant) == ("not started", None)


async def test_who_holds_a_task_may_be_told_in_an_object_in_an_object(
    server: ScriptedServer,
    network: NetworkClient,
) -> None:
    record: JSON = {"id": "t", "poster": {"agent": {"id": "a1"}}, "assignee": {"id": 7}}

    task = await task_of(server, network, record)

    assert (task.poster, task.claimant) == ("a1", "7")


def test_what_was_not_understood_is_told_as_it_was_sent() -> None:
    record: dict[str, JSON] = {
        "id": "t1",
        "task": {"title": "T", "colour": "red", "reward": 5},
        "deadline": "some day",
        "escrow": {"id": "e1"},
        "nothing": None,
        "claimed": False,
    }

    assert RecordReader().not_understood(record) == {
        "task.colour": "red",
        "deadline": "some day",
        "escrow": {"id": "e1"},
    }


TASK: dict[str, JSON] = {"id": "t1", "title": "T", "reward": 5}
BARE: dict[str, JSON] = {"title": "T", "reward": 5}
AGENT: dict[str, JSON] = {"id": "a1", "name": "A", "status": "active", "tags": ["x"]}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param([TASK], id="bare"),
        pytest.param({"tasks": [TASK]}, id="tasks"),
        pytest.param({"data": {"tasks": [TASK]}}, id="one-deeper"),
        pytest.param({"tasks": {"data": [TASK], "total": 1}}, id="inside-tasks"),
        pytest.param({"marketplace": {"items": [TASK]}}, id="marketplace"),
        pytest.param({"agents": [AGENT, AGENT], "data": [TASK]}, id="beside-agents"),
        pytest.param({"data": {"agents": [AGENT], "openTasks": [TASK]}}, id="camel"),
        pytest.param({"data": {"tasks": {"edges": [{"node": TASK}]}}}, id="graphql"),
        pytest.param({"found": [TASK]}, id="unknown-name"),
        pytest.param({"items": ["a", "b"], "found": [TASK]}, id="best-looking"),
        pytest.param({"tasks": None, "results": [TASK]}, id="null-beside"),
        pytest.param({"tasks": ["junk"], "items": [TASK]}, id="junk-beside"),
        pytest.param({"rows": [{"id": 1}], "tasks": [TASK]}, id="ids-beside"),
        pytest.param({"tasks": {"t1": BARE}}, id="keyed"),
        pytest.param({"tasks": {"0": TASK}}, id="keyed-by-number"),
        pytest.param({"t1": BARE}, id="keyed-root"),
        pytest.param(
            {"data": {"tasks": {"t1": BARE}}, "agents": {"a": AGENT}}, id="deep"
        ),
        pytest.param({"data": TASK}, id="single"),
        pytest.param({"agent": AGENT, "task": TASK}, id="single-beside"),
        pytest.param('[{"id": "t1", "title": "T", "reward": 5}]', id="encoded-twice"),
        pytest.param({"data": {"tasks_aggregate": {"nodes": [TASK]}}}, id="hasura"),
        pytest.param({"error": None, "data": [TASK], "status": 200}, id="supabase"),
        pytest.param(
            {"data": [{"type": "tasks", "id": "t1", "attributes": BARE}], "links": []},
            id="json-api",
        ),
        pytest.param({"_embedded": {"tasks": [TASK]}, "_links": {}}, id="hal"),
        pytest.param({"value": [TASK], "@odata.count": 1}, id="odata"),
        pytest.param({"hits": {"hits": [{"_id": "t1", "_source": BARE}]}}, id="search"),
        pytest.param({"content": [TASK], "page": {"size": 1}}, id="paged"),
        pytest.param(
            {"data": {"listJobs": {"title": "x", "budget": 9, "results": [TASK]}}},
            id="in-a-page-under-a-name-of-its-own",
        ),
    ],
)
async def test_the_tasks_are_found_wherever_they_are(
    server: ScriptedServer,
    network: NetworkClient,
    body: JSON,
) -> None:
    listing = await listing_of(server, network, body)

    assert [(task.id, task.reward) for task in listing.tasks] == [("t1", 5)]
    assert listing.problem == ""


@pytest.mark.parametrize(
    "body",
    [
        [],
        {"tasks": []},
        {"data": {"items": []}, "agents": [AGENT]},
        {"tasks": [], "suggestions": [AGENT]},
        {"id": "request-1", "title": "Market", "reward": 5, "data": []},
    ],
)
async def test_an_empty_marketplace_is_no_problem(
    server: ScriptedServer,
    network: NetworkClient,
    body: JSON,
) -> None:
    assert await listing_of(server, network, body) == Listing((), 0, 0, "")


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ({}, "no list of tasks in the answer (its fields: none)"),
        ({"ok": True, "count": 0}, "(its fields: ok, count)"),
        ({"agents": [AGENT]}, "(its fields: agents)"),
        ({"agents": {"a1": AGENT}}, "(its fields: agents)"),
        ({"meta": {"id": 1, "name": "N", "status": "up"}}, "(its fields: meta)"),
        ({"numbers": [{"id": 1}, {"id": 2}]}, "(its fields: numbers)"),
    ],
)
async def test_an_answer_without_any_tasks_says_what_it_has_instead(
    server: ScriptedServer,
    network: NetworkClient,
    body: JSON,
    shown: str,
) -> None:
    listing = await listing_of(server, network, body)

    assert (listing.tasks, listing.total) == ((), 0)
    assert shown in listing.problem
