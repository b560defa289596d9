"""Strategy files to order, a context to run them in, and time that really passes."""

import textwrap
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from journeyman.domain.tasks import Task, TaskId
from journeyman.strategies.api import BudgetView, Context, StrategyLog
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.registry import load_registry
from journeyman.strategies.outcomes import RunOutcome
from journeyman.strategies.running.runner import Runner

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


class RecordingLog(StrategyLog):
    """Keeps what a strategy logs."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str, dict[str, object]]] = []

    def write(self, level: str, event: str, fields: dict[str, object]) -> None:
        self.lines.append((level, event, fields))


@pytest.fixture
def log() -> RecordingLog:
    return RecordingLog()


@pytest.fixture
def make_context(log: RecordingLog, tmp_path: Path) -> Callable[..., Context]:
    def make(**changes: Any) -> Context:  # noqa: ANN401 - any argument of Context
        given: dict[str, Any] = {
            "strategy": "under_test",
            "log": log,
            "state": {},
            "now": lambda: NOW,
            "deadline": None,
            "workspace": lambda: tmp_path,
            "progress": lambda _fraction, _note: None,
            "budget": lambda: BudgetView(balance=100),
            "cancelled": lambda: False,
        }
        return Context(**given | changes)

    return make


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "strategies"
    made.mkdir()
    return made


@pytest.fixture
def load_file(folder: Path) -> Callable[..., LoadedStrategy]:
    """Load the one strategy in a source text."""

    def load(source: str, **settings: object) -> LoadedStrategy:
        path = folder / "mine.py"
        path.write_text(textwrap.dedent(source))
        registry = load_registry(folder, {"mine": settings} if settings else {})
        assert registry.problems == ()
        (loaded,) = registry.strategies
        return loaded

    return load


@pytest.fixture
def runner() -> Runner:
    return Runner(grace_seconds=0.1)


@pytest.fixture
def run_file(
    load_file: Callable[..., LoadedStrategy],
    make_context: Callable[..., Context],
    runner: Runner,
) -> Callable[..., Awaitable[RunOutcome]]:
    """Load a source text and run its strategy on one task."""

    async def run(
        source: str, *, seconds: float = 10, text: str = "", **changes: object
    ) -> RunOutcome:
        loaded = load_file(source)
        task = Task(id=TaskId("t1"), text=text, reward=1)
        context = make_context(**changes)
        return await runner.run(loaded, task, context, timeout_seconds=seconds)

    return run
