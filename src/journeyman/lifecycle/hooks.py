"""The hooks of strategies: their start, their end, and how their tasks ended.

Each strategy has a queue of calls, so that one whose hooks are slow delays no other,
and its own hooks are called one after the other. No hook is called inside a
transaction, and its errors are logged and cost the strategy nothing but the hook: one
that fails several times in a row is not called again.
"""

import json
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import cast

import anyio

from journeyman.domain.tasks import JSON, Task
from journeyman.domain.text import storable
from journeyman.economy.bookkeeping import earned_by
from journeyman.journal.journal import Journal
from journeyman.journal.tasks import TaskRecord
from journeyman.lifecycle import events
from journeyman.lifecycle.lifecycle import Lifecycle
from journeyman.lifecycle.wakeup import Wakeup
from journeyman.observability.events import Log
from journeyman.strategies.api import (
    Misconfigured,
    OutcomeName,
    OutcomeReport,
    Skip,
)
from journeyman.strategies.loading.importing import forget, package_of
from journeyman.strategies.loading.loaded import Hook, LoadedStrategy
from journeyman.strategies.outcomes import StrategyError
from journeyman.strategies.running.hooks import GRACE_SECONDS, HookAnswer, HookCaller

MOST_FAILURES = 3
"""In a row; then a hook is not called again. Each may leave a stuck thread behind."""
MOST_WAITING = 1_000
"""Calls that wait in one queue; beyond them the oldest is dropped."""
QUARANTINING = frozenset({"on_claim", "on_outcome", "on_result", "post"})
"""Hooks whose `Misconfigured` counts at once. That of `on_start` counts only when the
new generation is active."""
GUARDING = frozenset({"on_claim"})
"""Hooks that are called however often they fail: what they guard must not be open."""
LONGEST_STATUS = 4_000
"""Characters of JSON that `status` may give."""

_Call = Callable[[], Awaitable[object]]


@dataclass(slots=True)
class _HookState:
    """What is kept about a strategy from its first hook to its last."""

    lock: anyio.Lock = field(default_factory=anyio.Lock)
    """Taken by the one of its hooks that is being called."""
    queue: deque[_Call] = field(default_factory=deque)
    is_draining: bool = False
    """The calls in its queue are being made."""
    is_ending: bool = False
    failures: Counter[str] = field(default_factory=Counter)
    """By hook, in a row."""
    misconfigured: Misconfigured | None = None
    """What its `on_start` raised, if that was it."""


@dataclass(kw_only=True, eq=False)
class Hooks:
    """Calls the optional methods of active strategies, and of those that left."""

    lifecycle: Lifecycle
    caller: HookCaller
    journal: Journal
    seconds: float
    """The longest that one call may take."""
    log: Log
    _states: dict[LoadedStrategy, _HookState] = field(init=False, default_factory=dict)
    _queued: Wakeup = field(init=False, default_factory=Wakeup)
    _drained: Wakeup = field(init=False, default_factory=Wakeup)

    def __post_init__(self) -> None:
        self.lifecycle.active.on_leave(self.retire)

    # -- the life of a strategy ---------------------------------------------------

    async def start(self, strategies: Iterable[LoadedStrategy]) -> None:
        """Call `on_start` of each, all at the same time."""
        async with anyio.create_task_group() as group:
            for loaded in strategies:
                self._states[loaded] = _HookState()
                group.start_soon(self._start, loaded)

    def quarantine_misconfigured(self) -> None:
        """Quarantine those, now active, whose `on_start` raised Misconfigured."""
        for loaded, state in self._states.items():
            raised, state.misconfigured = state.misconfigured, None
            if raised is not None:
                self._quarantine(loaded, raised)

    def retire(self, loaded: LoadedStrategy) -> None:
        """Call `on_stop` of a strategy that has ended its work, then forget it."""
        self._enqueue(loaded, partial(self._end, loaded))

    async def finish(self) -> None:
        """Make the calls that wait, then call `on_stop` of all that are left.

        The calls that wait may take together as long as one call.
        """
        with anyio.move_on_after(self.seconds + GRACE_SECONDS):
            while any(one.queue or one.is_draining for one in self._states.values()):
                await self._drained.wait()
        async with anyio.create_task_group() as group:
            for loaded in list(self._states):
                group.start_soon(self._end, loaded)

    async def _start(self, loaded: LoadedStrategy) -> None:
        answer = await self.call(loaded, "on_start")
        if isinstance(answer.failure, Misconfigured):
            self._states[loaded].misconfigured = answer.failure

    async def _end(self, loaded: LoadedStrategy) -> None:
        state = self._states.get(loaded)
        if state is None or state.is_ending:
            return
        state.is_ending = True
        await self.call(loaded, "on_stop")
        del self._states[loaded]
        package = package_of(loaded.module)
        if all(package_of(other.module) != package for other in self._states):
            forget(loaded.module)

    # -- the queues -------------------------------------------------------------------

    def report_outcome(self, record: TaskRecord) -> None:
        """Enqueue `on_outcome` of the strategy of a task that has ended."""
        for loaded in self._listening(record, "on_outcome"):
            report = OutcomeReport(
                state=cast("OutcomeName", record.state.value),
                reason=record.reason,
                credits=earned_by(self.journal.ledger, record.task_id),
            )
            given = {"task": record.task, "outcome": report}
            self._enqueue(loaded, partial(self.call, loaded, "on_outcome", **given))

    async def take_back_claim(self, record: TaskRecord) -> None:
        """Call `on_outcome` for a claim that `on_claim` allowed and that was not made.

        Not by the queue: it must not come after the next `on_claim` of the same task.
        """
        for loaded in self._listening(record, "on_claim"):
            report = OutcomeReport(state="unclaimed", reason=record.reason)
            await self.call(loaded, "on_outcome", task=record.task, outcome=report)

    def _listening(self, record: TaskRecord, hook: str) -> list[LoadedStrategy]:
        """Return the strategy of a task, if it has a hook."""
        return [
            loaded
            for loaded in self.lifecycle.active.registry.strategies
            if loaded.name == record.strategy and hook in loaded.hooks
        ]

    def hand_results(self) -> None:
        """Enqueue `on_result` for each result that was shown and not handed over yet.

        It is noted before the call, so that no restart hands one over again.
        """
        for loaded in self.lifecycle.active.registry.strategies:
            if "on_result" not in loaded.hooks or loaded not in self._states:
                continue
            shown = self.journal.posts.with_new_results(loaded.name)
            if shown:
                with self.journal.tx("results handed over"):
                    self.journal.posts.note_handed(shown)
            for post in shown:
                given = {"post": post.task, "result": post.result}
                self._enqueue(loaded, partial(self.call, loaded, "on_result", **given))

    async def run(self) -> None:
        """Make the enqueued calls forever; cancel to stop."""
        async with anyio.create_task_group() as group:
            while True:
                for state in self._states.values():
                    if state.queue and not state.is_draining:
                        state.is_draining = True
                        group.start_soon(self._drain, state)
                await self._queued.wait()

    def _enqueue(self, loaded: LoadedStrategy, call: _Call) -> None:
        state = self._states.get(loaded)
        if state is None:
            return
        if len(state.queue) >= MOST_WAITING:
            state.queue.popleft()
            event = events.OUTCOMES_DROPPED
            self.log.emit(event, strategy=loaded.name, waiting=len(state.queue))
        state.queue.append(call)
        self._queued.notify()

    async def _drain(self, state: _HookState) -> None:
        while state.queue:
            await state.queue.popleft()()
        # Nothing is awaited from here on, so nobody can add to the empty queue.
        state.is_draining = False
        self._drained.notify()

    # -- one call -----------------------------------------------------------------

    async def call(
        self, loaded: LoadedStrategy, name: str, **given: object
    ) -> HookAnswer:
        """Call one hook, if the strategy has it; its errors are logged.

        Hooks of one strategy are called one after the other.
        """
        hook, state = loaded.hooks.get(name), self._states.get(loaded)
        if hook is None or state is None or self._is_disabled(state, name):
            return HookAnswer()
        async with state.lock:
            answer = await self._call(loaded, hook, given)
            self._save_state(loaded, name)
            self._count_failure(loaded, state, name, answer)
        return answer

    def _is_disabled(self, state: _HookState, name: str) -> bool:
        return name not in GUARDING and state.failures[name] >= MOST_FAILURES

    async def ask_claim(self, loaded: LoadedStrategy, task: Task) -> Skip | None:
        """Ask `on_claim` of a strategy; return why a task is not claimed, if so.

        A call that fails is a no, and counts as an error of the strategy.
        """
        answer = await self.call(loaded, "on_claim", task=task)
        if answer.failure is None and (
            answer.value is None or isinstance(answer.value, Skip)
        ):
            return answer.value
        problem = answer.problem or f"returned {answer.value!r}, not None or skip(...)"
        problem = storable(f"on_claim of {loaded.name}: {problem}")
        if not isinstance(answer.failure, Misconfigured):
            with self.journal.tx("on_claim failed"):
                self.lifecycle.quarantine.count_error(loaded.name, problem, task.id)
        return Skip(problem)

    async def _call(
        self, loaded: LoadedStrategy, hook: Hook, given: Mapping[str, object]
    ) -> HookAnswer:
        task = given.get("task")
        about = task.id if isinstance(task, Task) else None
        with self.lifecycle.context_of_hook(loaded, about) as context:
            return await self.caller.call(
                loaded, hook, context, limit=self.seconds, **given
            )

    async def status(self, loaded: LoadedStrategy) -> JSON:
        """Return what a strategy reports about itself; None for nothing."""
        if not self.lifecycle.quarantine.may_call(loaded.name):
            return None
        with self.lifecycle.context_of_hook(loaded) as context:
            answer = await self.caller.ask_status(loaded, context)
        if answer.failure is not None:
            return f"(status failed: {answer.problem})"
        try:
            text = json.dumps(answer.value, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            return f"(status is not valid JSON: {error})"
        if len(text) > LONGEST_STATUS:
            return f"(status is too long: {len(text)} characters of JSON)"
        said: JSON = json.loads(text)
        return said

    def _save_state(self, loaded: LoadedStrategy, name: str) -> None:
        memory = self.lifecycle.memory
        fault = memory.fault(loaded.name)
        if fault:
            self._report(loaded, name, StrategyError(fault))
        elif memory.has_changed(loaded.name):
            with self.journal.tx("strategy state"):
                memory.save(loaded.name)

    def _count_failure(
        self, loaded: LoadedStrategy, state: _HookState, name: str, answer: HookAnswer
    ) -> None:
        if answer.failure is None:
            state.failures[name] = 0
            return
        state.failures[name] += 1
        self._report(loaded, name, answer.failure, answer.problem)
        failures = state.failures[name]
        if self._is_disabled(state, name):
            self.log.emit(
                events.HOOK_DISABLED, strategy=loaded.name, hook=name, failures=failures
            )
        if name in QUARANTINING and isinstance(answer.failure, Misconfigured):
            self._quarantine(loaded, answer.failure)

    def _quarantine(self, loaded: LoadedStrategy, raised: Misconfigured) -> None:
        if self.lifecycle.active.is_current(loaded):
            with self.journal.tx("strategy misconfigured"):
                self.lifecycle.quarantine.mark_misconfigured(
                    loaded.name, raised.problem, raised.fix
                )
            self.lifecycle.quarantine.report(loaded.name)

    def _report(
        self, loaded: LoadedStrategy, name: str, failure: object, error: str = ""
    ) -> None:
        self.log.emit(
            events.HOOK_FAILED,
            strategy=loaded.name,
            hook=name,
            error=error or getattr(failure, "error", ""),
            where=getattr(failure, "where", ""),
            traceback=getattr(failure, "traceback", ""),
        )
