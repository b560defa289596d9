"""One row of the matrix: a daemon, over real HTTP, on a network of some manner."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2 as httpx
from tests.contract_matrix.combinations import Combination

from journeyman.daemon.daemon import run_daemon
from journeyman.daemon.environment import Environment
from journeyman.daemon.system import SystemClock, SystemRandomness
from journeyman.journal.journal import Journal
from journeyman.observability.redaction import Redactor
from journeyman.sandbox import SandboxOptions, serving
from journeyman.settings.sources import load_settings
from journeyman.testing import RecordingLog

TASKS = 2
"""How many the daemon is to end."""
REVIEW_SECONDS = 1.0
PATIENCE_SECONDS = 200.0
"""A row that earns takes about one; the rest is for a machine that is busy."""
READY = Path(__file__).parents[2] / "strategies" / "count_words.py"
_EXPLAINING = frozenset(
    {
        "identity.rejected",
        "network.request_not_understood",
        "network.endpoint_absent",
        "network.records_unreadable",
    }
)
_ACTIONS = frozenset({"claim", "submit", "complete"})
_BODY_REFUSED = frozenset({400, 415, 422})


@dataclass(frozen=True, kw_only=True, slots=True)
class Life:
    """What became of a daemon on one network."""

    completed: int
    earned: int
    """In credits, by the network's own ledger."""
    booked: int
    """The same, by the daemon's."""
    requests: int
    """How many actions were sent."""
    refused: int
    """How many of them the network did not take as they were written."""
    too_early: int
    """How many requests of any kind came while the whole service paused."""
    why_not: str
    """What the log says about it; empty when it earned."""


async def live(
    row: Combination,
    folder: Path,
    settings: Mapping[str, object] | None = None,
    *,
    until: str = "",
) -> Life:
    """Run a daemon on such a network until it has ended a few tasks, or no longer.

    With `until` it ends when its log has told of that event.
    """
    (folder / "strategies").mkdir(parents=True)
    (folder / "strategies" / "count_words.py").write_text(READY.read_text())
    log = RecordingLog()
    options = SandboxOptions(**{**_market_for(row), **row})
    async with serving(options) as base_url:
        given = {
            "network.base_url": base_url,
            "data.directory": folder / "data",
            "strategies.directory": folder / "strategies",
            "work.max_tasks": TASKS,
            "work.slots": 2,
            **(settings or {}),
        }
        with anyio.move_on_after(PATIENCE_SECONDS):
            await _run(given, folder, log, until)
        async with httpx.AsyncClient(base_url=base_url, trust_env=False) as client:
            ledger = (await client.get("/sandbox/ledger")).raise_for_status().json()
            status = (await client.get("/sandbox/status")).raise_for_status().json()
    return _summed(log, {**ledger, **status}, folder)


def _market_for(row: Combination) -> dict[str, Any]:
    """Return a market on which the row's manners matter."""
    market: dict[str, Any] = {"tasks": 6, "kinds": ("word_count",)}
    if row.get("lists_taken"):
        # They hold what they have claimed first, and do nothing more.
        market |= {"competitors": 2, "competitor_interval_seconds": 3600.0}
    if row.get("pagination", "none") != "none":
        # Of every four tasks one is wanted, so the second is not on the first page.
        kinds = ("word_count", "links", "arithmetic", "date_zone")
        market |= {"tasks": 20, "page_size": 2, "kinds": kinds}
    # Without a description: how requests are written has to be found out.
    return {**market, "undescribed": True, "review_seconds": REVIEW_SECONDS}


async def _run(
    given: Mapping[str, object], folder: Path, log: RecordingLog, until: str
) -> None:
    loaded = load_settings(files=[], overrides=given, environ={}, cwd=folder)
    environment = Environment(
        clock=SystemClock(),
        randomness=SystemRandomness(),
        log=log,
        redactor=Redactor(),
    )
    async with anyio.create_task_group() as group:

        async def stop_at_event() -> None:
            await log.until(until)
            group.cancel_scope.cancel()

        if until:
            group.start_soon(stop_at_event)
        await run_daemon(loaded.settings, str(given["network.base_url"]), environment)
        group.cancel_scope.cancel()


def _summed(log: RecordingLog, ledger: Mapping[str, Any], folder: Path) -> Life:
    with Journal(
        folder / "data" / "journal.db", SystemClock().now, read_only=True
    ) as journal:
        completed = journal.tasks.counts().get("completed", 0)
        booked = journal.ledger.totals().get("earned", 0)
    actions = [
        fields["status"]
        for fields in log.named("network.request")
        if fields["endpoint"] in _ACTIONS
    ]
    earned = sum(
        agent["earned"]
        for agent in ledger["agents"]
        if not agent["agent_id"].startswith(("agent_poster_", "agent_competitor_"))
    )
    return Life(
        completed=completed,
        earned=earned,
        booked=booked,
        requests=len(actions),
        refused=sum(status in _BODY_REFUSED for status in actions),
        too_early=ledger["refused_by_pauses"],
        why_not="" if completed else _explanation(log),
    )


def _explanation(log: RecordingLog) -> str:
    """Find what an operator would read: an event made to explain, or the last word."""
    telling = [line for line in log.lines if line[0] in _EXPLAINING] or log.lines
    for name, fields in reversed(telling):
        said = fields.get("message") or fields.get("reason")
        if said:
            where = f" ({fields['endpoint']})" if "endpoint" in fields else ""
            return f"{name}{where}: {said}"
    return ""
