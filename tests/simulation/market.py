"""What a market lists beside ordinary tasks: hostile ids, repeated rows, crowds."""

from dataclasses import dataclass
from random import Random
from typing import Any

from journeyman.sandbox import agents, tasks
from journeyman.sandbox.store import State

CROWD = 10_000
"""Rows of a listing that is far longer than anybody asked for."""
HOSTILE_IDS = (
    "../../../../etc/passwd",
    "..",
    "-rf *",
    "'; DROP TABLE tasks; --",
    '"}], "tasks": [{"id": "x"',
    "<script>alert(1)</script>",
    "%s%n%x {0} {{7*7}} ${HOME} $(id) `id`",
    "a\\b/c:d|e?f#g&h=i",
    "t\u00e2che-\u4efb\u52a1-\u2603",
    "CON",
    "None",
    "0",
    "x" * 200,
)
"""Texts that a network may use as ids, and that careless code interprets."""
INVALID_ROWS: tuple[dict[str, Any], ...] = (
    {"title": "a row without an id"},
    {"id": None, "kind": "word_count"},
    {"id": "", "kind": "word_count"},
    {"id": "line\nbreak", "kind": "word_count"},
    {"id": {"nested": True}, "kind": ["word_count"]},
    {"id": "y" * 5_000, "kind": "word_count"},
)
"""Rows that are not tasks."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MarketShape:
    """What a market lists beside ordinary tasks."""

    hostile: int = 0
    """How many of its tasks have hostile ids, at most as many as there are."""
    is_doubled: bool = False
    """Each listed row comes twice, the second time with another reward."""
    has_invalid_rows: bool = False
    """A listing has rows that are not tasks."""
    crowds: tuple[float, ...] = ()
    """From these seconds on, the next listing has 10,000 rows more, once each."""


PLAIN_MARKET = MarketShape()


def draw_market_shape(random: Random, seconds: float) -> MarketShape:
    """Draw the shape of a market; mostly a plain one."""
    return MarketShape(
        hostile=random.choice((0, 0, 0, 3, len(HOSTILE_IDS))),
        is_doubled=random.random() < 0.2,
        has_invalid_rows=random.random() < 0.2,
        # Rare, since each of its rows is written down by the daemon.
        crowds=(random.uniform(0, seconds),) if random.randrange(50) == 0 else (),
    )


def post_hostile(state: State, market_shape: MarketShape, kind: str) -> None:
    """Post the tasks with hostile ids."""
    if not market_shape.hostile:
        return
    poster = "agent_with_odd_ids"
    with state.transaction():
        agents.add(state, agents.Profile(poster, "odd-ids", "Odd ids", "poster"))
        for task_id in HOSTILE_IDS[: market_shape.hostile]:
            text = f"the task is called {task_id}"
            post = tasks.NewTask(
                task_id=task_id,
                kind=kind,
                title=task_id,
                description="How many words has the text?",
                tags=(),
                input={"text": text},
                reward=1,
                poster=poster,
            )
            tasks.post(state, post)


def listed_rows(
    market_shape: MarketShape, rows: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return the rows of a listing as this market shows them."""
    shown = list(rows)
    if market_shape.is_doubled:
        shown += [{**row, "reward": row["reward"] + 1} for row in rows]
    if market_shape.has_invalid_rows:
        shown += INVALID_ROWS
    return shown


def crowd() -> list[dict[str, Any]]:
    """Return 10,000 tasks that no strategy wants, in less than a mebibyte."""
    return [{"id": f"crowd-{number}", "kind": "other"} for number in range(CROWD)]
