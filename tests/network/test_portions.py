"""A long listing is read in portions, which together are what it was."""

import json
from collections.abc import Mapping, Sequence

import pytest
from tests.network.conftest import TOKEN, ClientFor, ScriptedServer, answer

from journeyman.domain.outcomes import Confirmed, Unknown
from journeyman.domain.tasks import JSON
from journeyman.network.client import NetworkClient
from journeyman.network.portions import FIRST_RECORDS, MOST_RECORDS, Cutting
from journeyman.network.service_model.listing import Listing

MANY = 1_200
RECORDS: list[JSON] = [
    {"id": f"t{n}", "text": f"count the words of {'so ' * 20}{n}", "reward": n}
    for n in range(MANY)
]


async def listed(client: NetworkClient) -> Listing:
    outcome = await client.marketplace_tasks()
    assert isinstance(outcome, Confirmed)
    return outcome.value


def cut(text: str) -> list[str]:
    cutting = Cutting(text)
    for _ in cutting.steps():
        pass
    return [portion.text for portion in cutting.portions]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(
    "around",
    [
        [],
        ["tasks"],
        ["data", "attributes", "items"],
    ],
    ids=["a bare array", "an object", "objects in each other"],
)
def test_portions_have_every_record_once_and_all_that_is_around_them(
    around: Sequence[str], indent: int | None
) -> None:
    whole: JSON = RECORDS
    for name in reversed(around):
        whole = {"first": [1, "[{", {"a": []}], name: whole, "last": None}
    found: list[JSON] = []

    for text in cut(json.dumps(whole, indent=indent)):
        records: JSON = json.loads(text)
        for name in around:
            assert isinstance(records, dict)
            assert [*records] == ["first", name, "last"]
            records = records[name]
        assert isinstance(records, list)
        assert 0 < len(records) <= MOST_RECORDS
        assert found or len(records) >= FIRST_RECORDS
        found += records

    assert found == RECORDS


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"open": RECORDS, "taken": RECORDS}),
        json.dumps({str(n): one for n, one in enumerate(RECORDS)}),
        json.dumps(RECORDS)[:-1],
        json.dumps(RECORDS) + "]",
        json.dumps(RECORDS).replace("}, {", "} {", 1),
        json.dumps([*RECORDS, float("inf")]),
        json.dumps(RECORDS)[:-1] + ", " + "[" * 99 + "]" * 99 + "]",
        json.dumps({"tasks": RECORDS, "more": "x" * 100_000}),
        json.dumps({"tasks": []}),
        "",
    ],
    ids=[
        *("two long arrays", "names for records", "cut off", "too long"),
        *("a comma missing", "a number that is none", "too deep"),
        *("mostly something else", "no records", "nothing"),
    ],
)
def test_what_has_no_one_long_array_or_is_no_json_has_no_portions(text: str) -> None:
    assert cut(text) == []


def test_a_record_that_comes_changes_the_portion_that_it_is_in_and_no_other() -> None:
    before = cut(json.dumps(RECORDS))
    middle = len(RECORDS) // 4
    new: JSON = {"id": "new", "text": "another", "reward": 3}
    after = cut(json.dumps([*RECORDS[:middle], new, *RECORDS[middle:]]))

    assert len(before) > 3
    assert len({*before} - {*after}) == 1


async def test_a_long_listing_has_all_its_tasks(
    server: ScriptedServer, network: NetworkClient
) -> None:
    server.will(answer(body={"tasks": RECORDS, "total": MANY + 5, "offset": 0}))

    listing = await listed(network)

    assert listing.later
    assert len(listing.tasks) < MANY
    assert (listing.count, listing.total) == (MANY, MANY)
    assert [task.id for task in listing.every_task()] == [f"t{n}" for n in range(MANY)]
    assert [way.query for way in listing.next] == [{"offset": str(MANY)}], (
        "the next page begins after the last portion"
    )


async def test_portions_that_come_again_have_the_same_keys(
    server: ScriptedServer, client_for: ClientFor
) -> None:
    changed: list[JSON] = [*RECORDS[:-1], {"id": "t_last", "text": "another"}]
    server.will(answer(body=RECORDS), answer(body=changed))
    async with client_for(server.base_url) as client:
        first, second = await listed(client), await listed(client)

    before = [one.key() for one in first.later]
    assert [one.key() for one in second.later][:-1] == before[:-1]
    assert second.later[-1].key() != before[-1]


async def test_a_secret_in_a_later_portion_is_hidden(
    server: ScriptedServer, network: NetworkClient
) -> None:
    leak: Mapping[str, JSON] = {"id": "leak", "text": f"your token is {TOKEN}"}
    server.will(answer(body=[*RECORDS, dict(leak)]))

    *_, last = (await listed(network)).every_task()

    assert last.id == "leak"
    assert TOKEN not in repr(last)
    assert last.text == "your token is ***"


async def test_a_long_listing_that_is_cut_off_is_no_listing(
    server: ScriptedServer, network: NetworkClient
) -> None:
    server.will(answer(body=json.dumps(RECORDS).encode()[:-100]))

    assert isinstance(await network.marketplace_tasks(), Unknown)
