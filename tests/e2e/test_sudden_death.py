"""`kill -9` at many moments: the same agent goes on, and every credit is right."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.endurance

Start = Callable[..., Awaitable[Any]]

DEATHS = (
    ("identity.joined", 1),
    ("task.executed", 3),
    ("task.submitted", 1),
    ("task.claimed", 5),
)
"""What the log tells last before each death, and how often it has told it."""
KINDS = "word_count,keywords,arithmetic,checksum,csv_to_json,json_path,links"


async def test_no_task_is_forgotten_and_no_credit_booked_twice(
    start: Start,
    start_network: Start,
    remains: Callable[[Path], Any],
    tmp_path: Path,
) -> None:
    network = await start_network(
        *("--tasks", "40", "--kinds", KINDS, "--latency", "0.1"),
    )
    data = tmp_path / "data"
    options = ("run", "--base-url", network.base_url, "--data-dir", str(data))
    # A task in whose work we are killed again and again is given up, on purpose.
    patient = ("--set", "work.max_attempts=20", "--log-level", "debug")

    for event, count in DEATHS:
        daemon = await start(*options, *patient)
        await daemon.event(event, count)
        await daemon.killed()
    last = await start(*options, *patient, "--once")

    assert await last.ended() == 0, last.stderr
    [agent] = await network.newcomers()
    left, ledger = remains(data), await network.ledger()
    assert left.in_flight == 0
    assert ledger["tasks"] == {"open": 0, "claimed": 0, "submitted": 0, "completed": 40}
    assert left.completed == 40
    assert left.balance == agent["balance"] == 100 + agent["earned"]
    assert left.kinds == {"starter", "delivered", "earned"}
    assert left.fault is None
    assert ledger["balanced"]
