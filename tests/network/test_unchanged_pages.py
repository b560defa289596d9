"""A page of a listing that comes again unchanged is recognised, and not read again."""

import pytest
from tests.network.conftest import ClientFor, ScriptedServer, answer

from journeyman.domain.outcomes import Confirmed
from journeyman.domain.tasks import JSON
from journeyman.network.client import NetworkClient
from journeyman.network.service_model.listing import Listing

TASKS: list[JSON] = [{"id": f"t{n}", "text": "do it", "reward": n} for n in range(3)]
OTHERS: list[JSON] = [{"id": "t9", "text": "do it", "reward": 9}, *TASKS]


async def listed(client: NetworkClient) -> Listing:
    outcome = await client.marketplace_tasks()
    assert isinstance(outcome, Confirmed)
    return outcome.value


async def test_the_same_bytes_are_the_same_listing(
    server: ScriptedServer, client_for: ClientFor
) -> None:
    server.will(answer(body={"tasks": TASKS}))
    async with client_for(server.base_url) as client:
        first, second = await listed(client), await listed(client)

    assert len(first.tasks) == len(TASKS)
    assert second is first
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "then",
    [
        answer(body={"tasks": OTHERS}),
        answer(body={"tasks": TASKS}, headers={"link": '</t?page=2>; rel="next"'}),
    ],
    ids=["another task", "another next page"],
)
async def test_anything_new_is_read(
    server: ScriptedServer, client_for: ClientFor, then: object
) -> None:
    server.will(answer(body={"tasks": TASKS}), then)  # type: ignore[arg-type] # parametrized
    async with client_for(server.base_url) as client:
        first, second, third = [await listed(client) for _ in range(3)]

    assert second is not first
    assert third is second


async def test_a_failure_between_forgets_nothing(
    server: ScriptedServer, client_for: ClientFor
) -> None:
    page = answer(body={"tasks": TASKS})
    server.will(page, answer(503, {"error": "later"}), page)
    async with client_for(server.base_url) as client:
        first = await listed(client)
        assert not isinstance(await client.marketplace_tasks(), Confirmed)

        assert await listed(client) is first
