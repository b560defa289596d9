"""`kill -9` at forty moments of chance: nothing is lost, nothing is done twice.

`make torture` does the same a thousand times, and kills the network as well.
"""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from tests.torture.nurse import Nursery, open_nursery
from tests.torture.ordeal import assert_nothing_was_lost, ordeal

KILLS = 40
SEED = 1

pytestmark = pytest.mark.timeout(240)  # a slow machine takes its time to start them


@pytest.fixture
def nursery(tmp_path: Path) -> Iterator[Nursery]:
    with open_nursery(tmp_path) as nursery:
        yield nursery


async def test_an_agent_that_dies_forty_times_loses_nothing(
    nursery: Nursery, tmp_path: Path
) -> None:
    survived = await ordeal(
        nursery,
        tmp_path,
        Random(SEED),  # noqa: S311 - repeatable, not secret
        kills=KILLS,
        work_seconds=0.2,
        sandbox_dies=0.0,
    )

    assert_nothing_was_lost(survived)
