"""`kill -9` at random moments, again and again: nothing is lost, nothing is done twice.

`make torture` does the same a thousand times, and kills the network as well;
`tests/simulation` crashes the daemon at each point, in simulated time.
"""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from tests.torture.processes import ForkServer, open_fork_server
from tests.torture.repeated_kills import assert_nothing_was_lost, kill_repeatedly

KILLS = 40
SEED = 1

# Results whose request was killed wait for up to five minutes.
pytestmark = [pytest.mark.endurance, pytest.mark.timeout(900)]


@pytest.fixture
def fork_server(tmp_path: Path) -> Iterator[ForkServer]:
    with open_fork_server(tmp_path) as fork_server:
        yield fork_server


async def test_an_agent_that_is_killed_again_and_again_loses_nothing(
    fork_server: ForkServer, tmp_path: Path
) -> None:
    result = await kill_repeatedly(
        fork_server,
        tmp_path,
        Random(SEED),  # noqa: S311 - repeatable, not secret
        kills=KILLS,
        work_seconds=0.2,
        sandbox_kill_rate=0.0,
    )

    assert_nothing_was_lost(result)
