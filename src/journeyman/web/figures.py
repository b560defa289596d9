"""What the pages show, each fact from its one owner: the daemon and its journal."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from typing import Any, Final

from journeyman.daemon.commands import OwnerCommands
from journeyman.daemon.earning import can_earn, known_of, summary
from journeyman.daemon.owner_tasks import find_task
from journeyman.daemon.story import outlook, story
from journeyman.domain.errors import UsageError
from journeyman.domain.tasks import TaskId, TaskState
from journeyman.economy.budget import limit_on_strategy
from journeyman.journal.archives import archive_of
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import RECEIVABLE, DayEarnings
from journeyman.journal.tasks import TaskRecord
from journeyman.observability.log_file import last_lines
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.web.charts import columns, curve

Shown = Mapping[str, Any]
"""What a template is given."""
LEAST_SECONDS: Final = 0.5
SHARE_OF_TIME: Final = 0.05
"""Looking at itself may take the daemon no more of its time."""
MOST_KEPT: Final = 50
"""Of what was looked up; stories of tasks come and go."""
DAYS: Final = 14
MOST_ENTRIES: Final = 20_000
"""Of the ledger; older ones are in no chart."""
MOST_POINTS: Final = 300
FEW_TASKS, MANY_TASKS = 10, 50
LOG_BYTES: Final = 256 * 1024
LOG_LINES: Final = 200
LEVELS: Final = ("debug", "info", "warning", "error")
STAGES: Final[Mapping[str, tuple[TaskState, ...]]] = {
    "waiting": (TaskState.WANTED,),
    "working": (TaskState.CLAIMING, TaskState.CLAIMED, TaskState.EXECUTING),
    "delivering": (TaskState.EXECUTED, TaskState.SUBMITTING),
    "awaiting pay": (TaskState.SUBMITTED, TaskState.COMPLETING),
    "completed": (TaskState.COMPLETED,),
}
"""The way of a task, in the words of the page."""
ASIDE: Final[Mapping[str, tuple[TaskState, ...]]] = {
    "skipped": (TaskState.SKIPPED,),
    "lost": (TaskState.LOST,),
    "declined": (TaskState.DECLINED,),
    "failed": (TaskState.FAILED,),
    "rejected": (TaskState.REJECTED,),
}
"""Where it may end otherwise."""
_TONES: Final[Mapping[str, str]] = {
    "completed": "good",
    "proven": "good",
    "paid": "good",
    "failed": "bad",
    "rejected": "bad",
    "refused": "bad",
    "error": "bad",
    "lost": "warning",
    "declined": "warning",
    "warning": "warning",
    **{
        state.value: "busy"
        for stage in ("working", "delivering", "awaiting pay")
        for state in STAGES[stage]
    },
}


def tone(word: str) -> str:
    """Return how a state is coloured; the word itself stands beside it."""
    return _TONES.get(word, "quiet")


class UnknownTaskError(UsageError):
    """There is no such task, or no more of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Visit:
    """What somebody wants to see."""

    token: str
    """For the forms of the page."""
    query: Mapping[str, str] = field(default_factory=dict)
    task_id: str = ""


@dataclass(eq=False)
class Figures:
    """Looks into a running daemon; a method for each section of a page."""

    commands: OwnerCommands
    _kept: dict[str, tuple[float, Any]] = field(init=False, default_factory=dict)
    """What was looked up, by name, and until when it is fresh."""

    def forget(self) -> None:
        """Look everything up again: something was commanded."""
        self._kept.clear()

    # -- the bar and the overview -------------------------------------------------

    def bar(self, _visit: Visit) -> Shown:
        """Return whether it works, and what it can be told."""
        status = self._status()
        return {"status": status, "state": _state(status)}

    def causes(self, _visit: Visit) -> Shown:
        """Return what keeps it from earning, the most important first."""
        return {"causes": self._status()["causes"]}

    def balance(self, _visit: Visit) -> Shown:
        """Return the credits, and how they came about."""
        ledger = self._journal.ledger
        points = self._keep(
            "balances", lambda: ledger.balances(MOST_ENTRIES, MOST_POINTS)
        )
        now = self._now()
        # So that a quiet agent's chart is not sent each second.
        now -= timedelta(seconds=now.second % 10, microseconds=now.microsecond)
        return {"status": self._status(), "curve": curve(points, now)}

    def today(self, _visit: Visit) -> Shown:
        """Return what today has brought so far, and what is under way."""
        day = self._day().isoformat()
        counts = self._counts(STAGES)
        return {
            "status": self._status(),
            "earned_today": sum(x.earned for x in self._earned() if x.day == day),
            "busy": sum(counts[name] for name in ("working", "delivering")),
            "unpaid": counts["awaiting pay"],
            "owed": self._journal.ledger.accounts().get(RECEIVABLE, 0),
        }

    def flow(self, _visit: Visit) -> Shown:
        """Return how many tasks are where on their way."""
        return {
            "seen": self._status()["tasks_seen"],
            "stages": self._counts(STAGES),
            "aside": self._counts(ASIDE),
        }

    def recent(self, _visit: Visit) -> Shown:
        """Return the tasks that moved last, but for those that were passed over."""
        states = [
            state
            for stage in (*STAGES.values(), *ASIDE.values())
            for state in stage
            if state is not TaskState.SKIPPED
        ]
        return {"tasks": self._recent(states, FEW_TASKS)}

    def earnings(self, _visit: Visit) -> Shown:
        """Return what each strategy earned, day by day."""
        return {"columns": columns(self._earned(), self._day(), DAYS), "days": DAYS}

    def steps(self, _visit: Visit) -> Shown:
        """Return whether we can earn here, as `contract` does."""
        journal, agent = self._journal, self.commands.agent
        steps = self._keep(
            "steps", lambda: can_earn(known_of(journal, agent.network_record))
        )
        return {"steps": steps, "summary": summary(steps)}

    def budgets(self, _visit: Visit) -> Shown:
        """Return each limit, and what is left of it."""
        return {
            "budget": self._budget(),
            "open": self._status()["open_top_ups"],
        }

    # -- tasks --------------------------------------------------------------------

    def tasks(self, visit: Visit) -> Shown:
        """Return the tasks of one stage, or of all, that moved last."""
        places = {**STAGES, **ASIDE}
        chosen = visit.query.get("stage", "")
        states = places.get(chosen) or [one for all_ in places.values() for one in all_]
        return {
            "chosen": chosen if chosen in places else "",
            "counts": self._counts(places),
            "tasks": self._recent(states, MANY_TASKS),
            "most": MANY_TASKS,
        }

    def task(self, visit: Visit) -> Shown:
        """Return the story of a task, as `why` tells it.

        Raises:
            UnknownTaskError: it was never seen here.
        """
        try:
            record = find_task(self._journal, TaskId(visit.task_id))
        except UsageError as error:
            raise UnknownTaskError(error.problem, error.fix) from None
        result = record.result
        return {
            "record": record,
            "steps": self._keep(
                f"story {visit.task_id}",
                lambda: story(self._journal, record, self._last_lines()),
            ),
            "next": outlook(record, self._now(), self._budget()["costs"]),
            "result": "" if result is None else _as_text(result.output),
            "is_archived": archive_of(
                self._journal, self.commands.agent.directory.archives, record
            ),
        }

    # -- strategies ---------------------------------------------------------------

    def strategies(self, _visit: Visit) -> Shown:
        """Return each strategy, how it does, and what it may."""
        active = self.commands.parts.active
        earned: Counter[str] = Counter()
        for one in self._earned():
            earned[one.strategy] += one.earned
        return {
            "strategies": [
                self._strategy(one, earned[one.name])
                for one in sorted(active.current.everyone, key=lambda one: one.name)
            ],
            "problems": [str(problem) for problem in active.registry.problems],
            "days": DAYS,
        }

    def _strategy(self, loaded: LoadedStrategy, earned: int) -> Shown:
        status, settings = self._status(), self.commands.parts.settings
        states = status["strategies"].get(loaded.name, {})
        unsound = [
            one
            for one in status["strategy_health"].values()
            if one["strategy"] == loaded.name
        ]
        return {
            "loaded": loaded,
            "disabled": status["disabled_strategies"].get(loaded.name),
            "shadow": loaded.name in status["shadow_strategies"],
            "unsound": unsound,
            "earned": earned,
            "completed": states.get(TaskState.COMPLETED, 0),
            "ended": sum(states.get(one, 0) for one in ASIDE if one != "skipped"),
            "seconds": loaded.timeout or settings.strategies.timeout_seconds,
            "per_day": limit_on_strategy(self.commands.agent.limits, loaded.name).most,
        }

    # -- the log ------------------------------------------------------------------

    def log(self, visit: Visit) -> Shown:
        """Return the end of the log, the newest line first."""
        level = visit.query.get("level", "info")
        least = LEVELS.index(level) if level in LEVELS else 1
        records = (_record(line) for line in reversed(self._last_lines()))
        wanted = (one for one in records if one and LEVELS.index(one["level"]) >= least)
        return {
            "lines": [*islice(wanted, LOG_LINES)],
            "level": LEVELS[least],
            "levels": LEVELS,
            "is_kept": self.commands.parts.settings.log.file_mb > 0,
        }

    def _last_lines(self) -> list[str]:
        return last_lines(self.commands.agent.directory.log, LOG_BYTES)

    # -- what several of them need ------------------------------------------------

    @property
    def _journal(self) -> Journal:
        return self.commands.agent.journal

    def _now(self) -> datetime:
        return self.commands.agent.environment.clock.now()

    def _status(self) -> Any:  # noqa: ANN401 - JSON
        return self._keep("status", self.commands.glance)

    def _budget(self) -> Any:  # noqa: ANN401 - JSON
        return self._keep("budget", self.commands.budget)

    def _day(self) -> date:
        """Return which day it is for the owner."""
        return self._now().astimezone(self.commands.agent.limits.zone).date()

    def _earned(self) -> list[DayEarnings]:
        ledger, zone = self._journal.ledger, self.commands.agent.limits.zone
        first = self._day() - timedelta(days=DAYS - 1)
        since = datetime.combine(first, time(), zone).astimezone(UTC)
        earned: list[DayEarnings] = self._keep(
            "earned", lambda: ledger.earned_by_day(since, MOST_ENTRIES, zone)
        )
        return earned

    def _keep(self, name: str, look: Callable[[], Any]) -> Any:  # noqa: ANN401 - what it finds
        """Return what a look finds; look again only when that costs little."""
        monotonic = self.commands.agent.environment.clock.monotonic
        began = monotonic()
        fresh_until, found = self._kept.get(name, (0.0, None))
        if name not in self._kept or began >= fresh_until:
            found = look()
            took = monotonic() - began
            fresh_until = began + max(LEAST_SECONDS, took / SHARE_OF_TIME)
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            self._kept[name] = fresh_until, found
        return found

    def _counts(self, places: Mapping[str, tuple[TaskState, ...]]) -> dict[str, int]:
        tasks = self._status()["tasks"]
        return {
            name: sum(tasks.get(state, 0) for state in states)
            for name, states in places.items()
        }

    def _recent(self, states: Iterable[TaskState], most: int) -> list[TaskRecord]:
        found = [
            record
            for state in states
            for record in self._journal.tasks.recent(state, most)
        ]
        return sorted(found, key=lambda one: one.updated_at, reverse=True)[:most]


def _state(status: Shown) -> tuple[str, str]:
    """Return in which way it works, and in words."""
    if status["obstacle"] == "stopping":
        return "warning", "Stopping"
    if status["paused"]:
        return "warning", "Paused"
    if status["obstacle"]:
        return "warning", "Waiting"
    return "good", "Working"


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


_HEAD: Final = ("time", "level", "event", "agent_id")


def _record(line: str) -> dict[str, Any] | None:
    """Return a line of the log; None where a crash cut it short."""
    try:
        record = json.loads(line)
        time, level, event = (str(record[name]) for name in _HEAD[:3])
        datetime.fromisoformat(time)
    except (ValueError, KeyError, TypeError):
        return None
    if level not in LEVELS:
        return None
    fields = {
        name: _as_text(value)
        for name, value in record.items()
        if name not in _HEAD and value not in ("", [], {}, None)
    }
    return {"time": time, "level": level, "event": event, "fields": fields}
