"""How long a claim holds, under the names that networks give it."""

from datetime import UTC, datetime

import pytest
from tests.network.conftest import ScriptedServer, answer

from journeyman.domain.outcomes import Confirmed
from journeyman.domain.tasks import JSON, IdempotencyKey, Task, TaskId
from journeyman.network.client import NetworkClient

KEY, TASK = IdempotencyKey("k-1"), Task(id=TaskId("t1"))
AT, LATER = "2027-01-02T03:04:05Z", "2027-01-02T09:00:00Z"
MOMENT = datetime(2027, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    "body",
    [
        {"lease_until": AT},
        {"leaseExpiresAt": AT},
        {"expires_at": MOMENT.timestamp()},
        {"claim_expires_at": int(MOMENT.timestamp() * 1000)},
        {"data": {"lease_expires_at": AT}},
        {"lease": AT},
        {"lease": {"until": AT}},
        {"claim": {"id": "c1", "expires_at": AT}},
        {"task": {"id": "t1", "claimed_until": AT}},
        {"task": {"id": "t1", "expires_at": LATER}, "lease_until": AT},
        {"lease_until": AT, "reservation": {"ends_at": LATER}},
    ],
)
async def test_the_end_of_a_lease_is_read(
    server: ScriptedServer, network: NetworkClient, body: JSON
) -> None:
    server.will(answer(200, body))

    outcome = await network.claim(TASK, KEY)

    assert isinstance(outcome, Confirmed)
    assert outcome.value.lease_until == MOMENT


@pytest.mark.parametrize(
    "body",
    [{}, {"lease": 600}, {"lease_until": "soon"}, {"lease": {}}, {"until": AT}],
)
async def test_what_names_no_moment_is_no_lease(
    server: ScriptedServer, network: NetworkClient, body: JSON
) -> None:
    server.will(answer(200, body))

    outcome = await network.claim(TASK, KEY)

    assert isinstance(outcome, Confirmed)
    assert outcome.value.lease_until is None


async def test_a_claim_that_was_ours_already_keeps_its_lease(
    server: ScriptedServer, network: NetworkClient
) -> None:
    server.will(answer(409, {"error": "already_yours", "lease_until": AT}))

    outcome = await network.claim(TASK, KEY)

    assert isinstance(outcome, Confirmed)
    assert outcome.value.lease_until == MOMENT
