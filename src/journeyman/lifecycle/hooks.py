"""Strategies told of what happens: their start, their end, and how their tasks ended.

Each strategy has a mailbox, so that one whose hooks are slow keeps no other waiting,
and its own hooks are called one after the other. No hook is called inside a
transaction, and what it does wrong is told and costs the strategy nothing but the
hook: one that fails several times in a row is not called again.
"""

import json
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Final, cast

import anyio

from journeyman.domain.tasks import JSON, Task
from journeyman.economy.bookkeeping import earned_by
from journeyman.journal.journal import Journal
from journeyman.journal.tasks import TaskRecord
from journeyman.lifecycle import events
from journeyman.lifecycle.lifecycle import Lifecycle
from journeyman.lifecycle.wakeup import Wakeup
from journeyman.observability.events import Log
from journeyman.strategies.api import Misconfigured, OutcomeName, OutcomeReport
from journeyman.strategies.loading.importing import forget, package_of
from journeyman.strategies.loading.loaded import Hook, LoadedStrategy
from journeyman.strategies.outcomes import StrategyError
from journeyman.strategies.running.hooks import GRACE_SECONDS, HookAnswer, HookCaller

MOST_FAILURES: Final = 3
"""In a row; then a hook is not called again. Each may leave a stuck thread behind."""
MOST_WAITING: Final = 1_000
"""Calls that wait in one mailbox; beyond them the oldest is dropped."""
MAY_BAR: Final = frozenset({"on_outcome", "post"})
"""Hooks that may say at once that the strategy cannot work. What `on_start` says of a
new generation holds only when it is in force."""
LONGEST_STATUS: Final = 4_000
"""Characters of JSON that `status` may give."""

Letter = Callable[[], Awaitable[object]]


@dataclass(slots=True)
class _Member:
    """What is kept about a strategy from its first hook to its last."""

    turn: anyio.Lock = field(default_factory=anyio.Lock)
    """Held by the one of its hooks that is being called."""
    mail: deque[Letter] = field(default_factory=deque)
    is_served: bool = False
    """Its mail is being delivered."""
    is_ending: bool = False
    failures: Counter[str] = field(default_factory=Counter)
    """By hook, in a row."""
    unfit: Misconfigured | None = None
    """What its `on_start` said, if that was that it cannot work."""


class Hooks:
    """Calls the optional methods of the strategies in force, and of those that left."""

    def __init__(
        self,
        *,
        lifecycle: Lifecycle,
        caller: HookCaller,
        journal: Journal,
        seconds: float,
        log: Log,
    ) -> None:
        """Let each call take so many seconds."""
        self._lifecycle = lifecycle
        self._caller = caller
        self._journal = journal
        self._seconds = seconds
        self._log = log
        self._numbers = count(1)
        self._members: dict[LoadedStrategy, _Member] = {}
        self._post = Wakeup()
        self._quiet = Wakeup()
        lifecycle.active.on_leave(self.retire)

    # -- the life of a strategy ---------------------------------------------------

    async def start(self, strategies: Iterable[LoadedStrategy]) -> None:
        """Call `on_start` of each, all at the same time."""
        async with anyio.create_task_group() as group:
            for loaded in strategies:
                self._members[loaded] = _Member()
                group.start_soon(self._start, loaded)

    def bar_unfit(self) -> None:
        """Bar those in force whose `on_start` said that they cannot work."""
        for loaded, member in self._members.items():
            said, member.unfit = member.unfit, None
            if said is not None:
                self._bar(loaded, said)

    def retire(self, loaded: LoadedStrategy) -> None:
        """Call `on_stop` of a strategy that has ended its work, then forget it."""
        self._send(loaded, partial(self._end, loaded))

    async def finish(self) -> None:
        """Deliver what waits, then call `on_stop` of all that are left.

        Mail is delivered for as long as one call may take.
        """
        with anyio.move_on_after(self._seconds + GRACE_SECONDS):
            while any(one.mail or one.is_served for one in self._members.values()):
                await self._quiet.wait()
        async with anyio.create_task_group() as group:
            for loaded in list(self._members):
                group.start_soon(self._end, loaded)

    async def _start(self, loaded: LoadedStrategy) -> None:
        answer = await self.call(loaded, "on_start")
        if isinstance(answer.failure, Misconfigured):
            self._members[loaded].unfit = answer.failure

    async def _end(self, loaded: LoadedStrategy) -> None:
        member = self._members.get(loaded)
        if member is None or member.is_ending:
            return
        member.is_ending = True
        await self.call(loaded, "on_stop")
        del self._members[loaded]
        package = package_of(loaded.module)
        if all(package_of(other.module) != package for other in self._members):
            forget(loaded.module)

    # -- mail -----------------------------------------------------------------------

    def tell_outcome(self, record: TaskRecord) -> None:
        """Let the strategy of a task that has ended be told; nobody waits for it."""
        for loaded in self._lifecycle.active.registry.strategies:
            if loaded.name == record.strategy and "on_outcome" in loaded.hooks:
                report = OutcomeReport(
                    state=cast("OutcomeName", record.state.value),
                    reason=record.reason,
                    credits=earned_by(self._journal.ledger, record.task_id),
                )
                given = {"task": record.task, "outcome": report}
                self._send(loaded, partial(self.call, loaded, "on_outcome", **given))

    async def run(self) -> None:
        """Deliver mail for ever; cancel to stop."""
        async with anyio.create_task_group() as group:
            while True:
                for member in self._members.values():
                    if member.mail and not member.is_served:
                        member.is_served = True
                        group.start_soon(self._deliver, member)
                await self._post.wait()

    def _send(self, loaded: LoadedStrategy, letter: Letter) -> None:
        member = self._members.get(loaded)
        if member is None:
            return
        if len(member.mail) >= MOST_WAITING:
            member.mail.popleft()
            event = events.OUTCOMES_DROPPED
            self._log.emit(event, strategy=loaded.name, waiting=len(member.mail))
        member.mail.append(letter)
        self._post.notify()

    async def _deliver(self, member: _Member) -> None:
        while member.mail:
            await member.mail.popleft()()
        # Nothing is awaited from here on, so nobody can add to the empty box.
        member.is_served = False
        self._quiet.notify()

    # -- one call -----------------------------------------------------------------

    async def call(
        self, loaded: LoadedStrategy, name: str, **given: object
    ) -> HookAnswer:
        """Call one hook, if the strategy has it; what it did wrong is told.

        Hooks of one strategy are called one after the other.
        """
        hook, member = loaded.hooks.get(name), self._members.get(loaded)
        if hook is None or member is None or member.failures[name] >= MOST_FAILURES:
            return HookAnswer()
        async with member.turn:
            answer = await self._call(loaded, hook, given)
            self._keep_memory(loaded, name)
            self._judge(loaded, member, name, answer)
        return answer

    async def _call(
        self, loaded: LoadedStrategy, hook: Hook, given: Mapping[str, object]
    ) -> HookAnswer:
        number, contexts = next(self._numbers), self._lifecycle.contexts
        state = self._lifecycle.memory.of(loaded.name)
        task = given.get("task")
        about = task.id if isinstance(task, Task) else None
        context = contexts.hook_context(loaded.name, state, number, about)
        try:
            return await self._caller.call(
                loaded, hook, context, limit=self._seconds, **given
            )
        finally:
            contexts.clean_up_hook(number)

    def status(self, loaded: LoadedStrategy) -> JSON:
        """Give what a strategy says about itself; None where it says nothing."""
        answer = self._caller.ask_status(loaded)
        if answer.failure is not None:
            return f"(status failed: {answer.problem})"
        try:
            text = json.dumps(answer.value, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            return f"(status is no JSON: {error})"
        if len(text) > LONGEST_STATUS:
            return f"(status is too long: {len(text)} characters of JSON)"
        said: JSON = json.loads(text)
        return said

    def _keep_memory(self, loaded: LoadedStrategy, name: str) -> None:
        memory = self._lifecycle.memory
        fault = memory.fault(loaded.name)
        if fault:
            self._tell(loaded, name, StrategyError(fault))
        elif memory.has_changed(loaded.name):
            with self._journal.tx("strategy state"):
                memory.save(loaded.name)

    def _judge(
        self, loaded: LoadedStrategy, member: _Member, name: str, answer: HookAnswer
    ) -> None:
        if answer.failure is None:
            member.failures[name] = 0
            return
        member.failures[name] += 1
        self._tell(loaded, name, answer.failure, answer.problem)
        failures = member.failures[name]
        if failures >= MOST_FAILURES:
            self._log.emit(
                events.HOOK_MUTED, strategy=loaded.name, hook=name, failures=failures
            )
        if name in MAY_BAR and isinstance(answer.failure, Misconfigured):
            self._bar(loaded, answer.failure)

    def _bar(self, loaded: LoadedStrategy, said: Misconfigured) -> None:
        if self._lifecycle.active.is_current(loaded):
            with self._journal.tx("strategy misconfigured"):
                self._lifecycle.quarantine.bar(loaded.name, said.problem, said.fix)
            self._lifecycle.quarantine.tell(loaded.name)

    def _tell(
        self, loaded: LoadedStrategy, name: str, failure: object, error: str = ""
    ) -> None:
        self._log.emit(
            events.HOOK_FAILED,
            strategy=loaded.name,
            hook=name,
            error=error or getattr(failure, "error", ""),
            where=getattr(failure, "where", ""),
            traceback=getattr(failure, "traceback", ""),
        )
