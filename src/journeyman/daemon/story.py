"""The story of one task, from the listing that showed it to the credits it brought."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from journeyman.domain.credits import MILLIONTHS
from journeyman.domain.tasks import IN_FLIGHT, INTENTS, JSON, TaskState
from journeyman.domain.text import duration
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import Entry, EntryKind
from journeyman.journal.recordings import RecordedDecision
from journeyman.journal.tasks import TaskEvent, TaskRecord
from journeyman.lifecycle.events import STRATEGY_TRANSCRIPT
from journeyman.worker.select import GATES

_STEPS = {
    TaskState.WANTED: "waits for a slot",
    TaskState.CLAIMING: "the claim is sent",
    TaskState.CLAIMED: "the network gave it to us",
    TaskState.LOST: "another agent has it, or it is gone",
    TaskState.EXECUTING: "{strategy} works on it",
    TaskState.EXECUTED: "the result is on disk",
    TaskState.SUBMITTING: "the result is sent",
    TaskState.SUBMITTED: "the network has the result",
    TaskState.COMPLETING: "the completion is sent",
    TaskState.COMPLETED: "done",
}
"""What a move means where it has no reason of its own, by the state it leads to."""
_NEXT = {
    TaskState.SKIPPED: "It is decided about again when it, or a strategy, changes.",
    TaskState.WANTED: "It waits for a slot, behind what promises more in less time.",
    TaskState.CLAIMING: "The claim is repeated by itself until its outcome is known.",
    TaskState.SUBMITTING: "The result is kept, and sent again by itself.",
    TaskState.COMPLETING: "The network is asked again by itself, less and less often.",
}


@dataclass(frozen=True, slots=True)
class StoryStep:
    """One thing that happened to a task."""

    at: datetime
    step: str
    message: str

    def as_json(self) -> dict[str, JSON]:
        """Return it for `why --json`."""
        at = self.at.isoformat(timespec="milliseconds")
        return {"at": at, "step": self.step, "message": self.message}


def story(
    journal: Journal, record: TaskRecord, log: Iterable[str] = ()
) -> list[StoryStep]:
    """Return all that is known of a task's way, oldest first.

    Args:
        journal: what was done.
        record: the task.
        log: its lines, which have what was said to models for a while.
    """
    decision = journal.recordings.of(record.task_id)
    history = journal.tasks.history(record.task_id)
    decided_at = history[0].at if history else record.updated_at
    if decision:
        # The commit of a page of decisions follows them.
        decided_at = min(decision.at, decided_at)
    steps = [
        StoryStep(min(record.seen_at, decided_at), "seen", _listed(record)),
        *_gates(record, decision, decided_at),
        *(_verdicts(decision, decided_at) if decision else ()),
        *_moves(record, history),
        *_transcript(log, record),
        *(_booked(entry) for entry in journal.ledger.about(record.task_id)),
    ]
    return sorted(steps, key=lambda one: one.at)


def outlook(
    record: TaskRecord, now: datetime, costs: Sequence[Mapping[str, Any]] = ()
) -> str:
    """Return what happens next to a task; empty where nothing will.

    Args:
        record: the task.
        now: the time.
        costs: what strategies cost today, as `budget` shows it.
    """
    if record.state is TaskState.WANTED:
        for one in costs:
            if one["strategy"] == record.strategy and one["used"] >= one["limit"]:
                until = datetime.fromisoformat(one["frees_at"]).astimezone(UTC)
                return (
                    f"It waits until {until:%Y-%m-%d %H:%M} UTC: {record.strategy} has "
                    f"cost {one['used']:.4g} credits today, and {one['setting']} is "
                    f"{one['limit']:g}. `journeyman profit` shows what that brought."
                )
    said = _NEXT.get(record.state, "")
    if record.state not in INTENTS | IN_FLIGHT:
        return said
    seconds = record.next_at - now.timestamp()
    if seconds > 0:
        said += f" Next in {duration(seconds)}."
    if record.attempts > 1:
        said += f" It was tried {record.attempts} times."
    return said.strip()


def _listed(record: TaskRecord) -> str:
    task = record.task
    parts = [f"listed, reward {task.reward}"]
    parts += [f"kind {task.kind}"] if task.kind else []
    parts += [f"tags {', '.join(task.tags)}"] if task.tags else []
    parts += [f"until {task.deadline:%Y-%m-%d %H:%M} UTC"] if task.deadline else []
    return ", ".join(parts)


def _gates(
    record: TaskRecord, decision: RecordedDecision | None, at: datetime
) -> Iterator[StoryStep]:
    """Yield what each rule said that holds whatever strategies say."""
    failed = ""
    if record.state is TaskState.SKIPPED and decision is None:
        starts = GATES.items()
        failed = next((g for g, why in starts if record.reason.startswith(why)), "")
    names = list(GATES)
    passed = names[: names.index(failed)] if failed else names
    if passed:
        yield StoryStep(at, "gates", f"passed: {', '.join(passed)}")
    if failed:
        yield StoryStep(at, "gate", f"FAILED: {failed}: {record.reason}")


def _verdicts(decision: RecordedDecision, at: datetime) -> Iterator[StoryStep]:
    wanted = [(name, one) for name, one in decision.opinions.items() if one.wanted]
    wanted.sort(key=lambda pair: -pair[1].offer)
    for rank, (name, one) in enumerate(wanted, 1):
        offer = f", offers {one.offer:g} credits" if one.offer else ""
        place = f", rank {rank} of {len(wanted)}" if len(wanted) > 1 else ""
        yield StoryStep(at, "yes", f"{name}: {one.reason}{offer}{place}")
    refusals: dict[str, list[str]] = {}
    for name, one in decision.opinions.items():
        if not one.wanted:
            refusals.setdefault(one.reason or "no reason given", []).append(name)
    for reason, names in refusals.items():
        yield StoryStep(at, "no", f"{', '.join(names)}: {reason}")


def _moves(record: TaskRecord, history: list[TaskEvent]) -> Iterator[StoryStep]:
    before: datetime | None = None
    for event in history:
        default = _STEPS.get(TaskState(event.after), "")
        message = event.reason or default.format(strategy=record.strategy)
        if before is not None:
            message += f" ({_after(event.at - before)})"
        before = event.at
        yield StoryStep(event.at, event.after, message)


def _transcript(log: Iterable[str], record: TaskRecord) -> Iterator[StoryStep]:
    """Yield what was said to models, and by them, as far as the log has it."""
    for line in log:
        if STRATEGY_TRANSCRIPT.name not in line:
            continue
        try:
            logged = json.loads(line)
        except ValueError:  # A crash cut it short.
            continue
        is_transcript = logged.get("event") == STRATEGY_TRANSCRIPT.name
        if is_transcript and logged.get("task_id") == record.task_id:
            at = datetime.fromisoformat(logged["time"])
            yield StoryStep(at, "model", f"{logged['role']}: {logged['said']}")


def _after(span: timedelta) -> str:
    seconds = max(0.0, span.total_seconds())
    if seconds < 1:
        return f"after {seconds * 1000:.0f} ms"
    return f"after {duration(seconds)}"


OWED = frozenset({EntryKind.DELIVERED, EntryKind.CORRECTED, EntryKind.WRITTEN_OFF})
"""What they move is not paid, or not paid yet."""


def _booked(entry: Entry) -> StoryStep:
    if entry.kind is EntryKind.COST:
        cost = f"{entry.cost / MILLIONTHS:g} credits outside the network"
        return StoryStep(entry.at, "cost", ": ".join(filter(None, (cost, entry.note))))
    amount = f"{entry.amount:+d} credits ({entry.confidence})"
    if entry.kind in OWED:
        # What we are owed is not paid yet.
        return StoryStep(
            entry.at, "owed", "; ".join(filter(None, (amount, entry.note)))
        )
    pay = f"{amount}, balance {entry.balance}"
    return StoryStep(entry.at, "paid", "; ".join(filter(None, (pay, entry.note))))
