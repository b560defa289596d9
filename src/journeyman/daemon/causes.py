"""Why nothing is earned, or less than could be: each cause, the most important first.

The one place that finds them: `why`, `status`, `health`, `doctor` and the log show what
it returns.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import takewhile

from journeyman.daemon import events
from journeyman.daemon.earning import Known, NetworkRecord, Standing, can_earn, known_of
from journeyman.daemon.service_clock import SKEW_WARN
from journeyman.daemon.status import health_of_strategies
from journeyman.domain.tasks import IN_FLIGHT, JSON, TaskState
from journeyman.domain.text import duration
from journeyman.economy.credit_state import EFFECTS, CreditState
from journeyman.journal.journal import Journal
from journeyman.journal.owner_pauses import ALL_WORK
from journeyman.observability.events import Log
from journeyman.worker.join import is_registration_unknown
from journeyman.worker.select import GATES
from journeyman.worker.token import rejection

STUCK_AFTER = timedelta(hours=1)
"""A result that is not delivered or paid for so long is told."""
UNCLAIMED_AFTER = timedelta(minutes=10)
IN_A_ROW = 3
"""So many tasks that ended without pay, one after another, are told."""
REASONS_LOOKED_AT = 50
_ENDED = (TaskState.COMPLETED, TaskState.REJECTED, TaskState.FAILED)
_WITHOUT_FAULT = (GATES["not our own"], GATES["nobody else's"], GATES["in time"])
"""Reasons for skipping a task that no setting would change."""
_SKIP_FIXES = {
    GATES["reward"]: "Lower work.min_reward.",
    GATES["open"]: "`journeyman contract` shows what is known of the network.",
    "no strategy wants it": "`journeyman tasks --state skipped` lists them, and "
    "`journeyman why TASK` what each strategy said; `journeyman strategies new NAME` "
    "begins one for them.",
}
"""By the first words of a reason for skipping tasks."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EarningCause:
    """One thing that keeps the agent from earning."""

    name: str
    """A word for programs, such as `paused`."""
    message: str
    fix: str
    """The command, or the setting, that would change it."""
    stops_all: bool = False
    """Nothing at all is claimed meanwhile."""
    has_event: bool = False
    """The log has an event of its own for it."""

    def as_json(self) -> dict[str, JSON]:
        """Return it as `status --json` has it."""
        return {
            "name": self.name,
            "message": self.message,
            "fix": self.fix,
            "stops_all": self.stops_all,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """What a journal does not know; the defaults are those of no daemon."""

    is_running: bool = False
    held_by: str | None = None
    """The process that holds the data directory, and may be starting."""
    network_pause: str = ""
    """What is not asked of the network, and why; empty when nothing is held back."""
    free_mb: int | None = None
    """None: not known."""
    min_free_mb: int = 0
    clock_ahead: timedelta = timedelta()
    """By so much the network's clock is ahead of ours."""
    strategies: int | None = None
    """How many are loaded; None: not known."""
    problems: Sequence[str] = ()
    """Why files of strategies were not loaded."""
    spending_pause: str = ""
    """Why nothing is spent until tomorrow; empty when it is, or is not known."""
    credit_state: CreditState = CreditState.NORMAL
    """Matters only where something would be posted."""
    over_cost: Sequence[str] = ()
    """Strategies that have cost as much today as they may."""


@dataclass(kw_only=True, eq=False)
class Causes:
    """Looks for them, in a journal and around it."""

    journal: Journal
    record: NetworkRecord
    now: datetime
    around: Surroundings
    _known: Known = field(init=False)

    def find(self) -> list[EarningCause]:
        """Return all that apply, the most important first."""
        self._known = known_of(self.journal, self.record, is_report=False)
        looks: tuple[Callable[[], Iterator[EarningCause]], ...] = (
            *(self._registration, self._daemon, self._paused, self._token),
            *(self._disk, self._network, self._clock, self._no_strategies),
            *(self._refused_step, self._undelivered, self._rejected, self._unpaid),
            *(self._unclaimed, self._unmatched, self._quarantine, self._disabled),
            *(self._not_loaded, self._over_cost, self._no_spending, self._short),
        )
        found = [cause for look in looks for cause in look()]
        return sorted(found, key=lambda one: not one.stops_all)

    # -- what stops everything ----------------------------------------------------

    def _registration(self) -> Iterator[EarningCause]:
        if is_registration_unknown(self.journal):
            yield EarningCause(
                name="registration_unknown",
                message="a registration was sent, and no answer came back that shows "
                "an agent",
                fix="journeyman run says what to do",
                stops_all=True,
            )

    def _daemon(self) -> Iterator[EarningCause]:
        if self.around.is_running:
            return
        if holder := self.around.held_by:
            message = f"the daemon is starting (process {holder})"
            fix = "Wait for it, or: journeyman logs"
        else:
            message, fix = "no daemon runs", "journeyman run"
        yield EarningCause(
            name="not_running", has_event=True, message=message, fix=fix, stops_all=True
        )

    def _paused(self) -> Iterator[EarningCause]:
        paused = self.journal.owner_pauses.current(self.now).get(ALL_WORK)
        if paused:
            yield EarningCause(
                name="paused",
                has_event=True,
                message=f"paused {paused}",
                fix="journeyman resume",
                stops_all=True,
            )

    def _token(self) -> Iterator[EarningCause]:
        if rejected := rejection(self.journal):
            since = str(rejected["rejected_since"])[:16].replace("T", " ")
            yield EarningCause(
                name="token_refused",
                has_event=True,
                message=f"the network refuses the token since {since} UTC: "
                f"{rejected['message']}",
                fix="It is asked again once a minute. If it never comes back: "
                "journeyman join --replace",
                stops_all=True,
            )

    def _disk(self) -> Iterator[EarningCause]:
        free, least = self.around.free_mb, self.around.min_free_mb
        if free is not None and free < least:
            yield EarningCause(
                name="disk_nearly_full",
                has_event=True,
                message=f"{free} MiB are free, and data.min_free_mb asks for {least}",
                fix="Free some space, or lower data.min_free_mb.",
                stops_all=True,
            )

    def _network(self) -> Iterator[EarningCause]:
        if pause := self.around.network_pause:
            yield EarningCause(
                name="network_paused",
                has_event=True,
                message=pause,
                fix="It is tried again by itself; `journeyman doctor` looks at the "
                "connection.",
                stops_all=True,
            )

    def _no_strategies(self) -> Iterator[EarningCause]:
        if self.around.strategies == 0:
            yield EarningCause(
                name="no_strategies",
                has_event=True,
                message="no strategy is loaded, so no task is wanted",
                fix="Set strategies.directory, or: journeyman strategies new NAME",
                stops_all=True,
            )

    # -- what makes it less -------------------------------------------------------

    def _clock(self) -> Iterator[EarningCause]:
        ahead = self.around.clock_ahead
        if abs(ahead) >= SKEW_WARN:
            which = "behind" if ahead > timedelta() else "ahead of"
            yield EarningCause(
                name="clock_skew",
                message=f"our clock is {duration(abs(ahead).total_seconds())} {which} "
                "the network's, so deadlines are misjudged",
                fix="Set this machine's clock, for example with: timedatectl set-ntp 1",
            )

    def _refused_step(self) -> Iterator[EarningCause]:
        steps = can_earn(self._known)
        for step in steps:
            if step.standing is Standing.REFUSED:
                yield EarningCause(
                    name=f"not_{step.name}",
                    message=step.refusal,
                    fix="`journeyman contract` shows each step, and settings to "
                    "complete and paste.",
                )

    def _undelivered(self) -> Iterator[EarningCause]:
        states = (TaskState.EXECUTED, TaskState.SUBMITTING)
        yield from self._waiting(states, "undelivered", "not delivered")

    def _unpaid(self) -> Iterator[EarningCause]:
        states = (TaskState.SUBMITTED, TaskState.COMPLETING)
        yield from self._waiting(states, "unpaid", "delivered and not paid")
        completed = self._known.tasks.get(TaskState.COMPLETED, 0)
        if completed and not self._known.earned:
            yield EarningCause(
                name="paid_nothing",
                message=f"{completed} tasks are completed, and none paid anything",
                fix="`journeyman market` shows what is offered; work.min_reward=1 "
                "leaves out what pays nothing.",
            )

    def _waiting(
        self, states: Sequence[TaskState], name: str, word: str
    ) -> Iterator[EarningCause]:
        waiting = self.journal.tasks.open_since(states)
        if not waiting or self.now - waiting[0][1] < STUCK_AFTER:
            return
        oldest, since = waiting[0]
        old = [one for one in waiting if self.now - one[1] >= STUCK_AFTER]
        yield EarningCause(
            name=name,
            message=f"{_tasks(len(old))} {word} for {self._age(since)} or "
            "less; kept, and tried again by itself",
            fix=f"journeyman why {oldest}",
        )

    def _age(self, since: datetime) -> str:
        return duration((self.now - since).total_seconds())

    def _rejected(self) -> Iterator[EarningCause]:
        ends = self.journal.tasks.last_ends(_ENDED, 20)
        row = list(takewhile(lambda end: end.state != TaskState.COMPLETED, ends))
        if len(row) >= IN_A_ROW:
            last = row[0]
            yield EarningCause(
                name="rejected_in_a_row",
                message=f"the last {len(row)} results brought nothing; the newest, of "
                f"{last.strategy or 'no strategy'}: {last.reason}",
                fix=f"journeyman why {last.task_id}",
            )

    def _unclaimed(self) -> Iterator[EarningCause]:
        if self._known.tasks.get(TaskState.COMPLETED) or not self.around.is_running:
            # What waits behind other work is no riddle.
            return
        waiting = self.journal.tasks.open_since((TaskState.WANTED,))
        if waiting and self.now - waiting[0][1] >= UNCLAIMED_AFTER:
            oldest, since = waiting[0]
            yield EarningCause(
                name="unclaimed",
                message=f"{_tasks(len(waiting))} wanted, the first since "
                f"{self._age(since)}, and none was ever completed here",
                fix=f"journeyman why {oldest}",
            )

    def _unmatched(self) -> Iterator[EarningCause]:
        if any(
            self._known.tasks.get(state) for state in (TaskState.WANTED, *IN_FLIGHT)
        ):
            return
        reasons = self.journal.tasks.skip_reasons(REASONS_LOOKED_AT)
        # Where work was paid, tasks in other states are simply somebody else's.
        is_paid = bool(self._known.tasks.get(TaskState.COMPLETED))
        normal = (*_WITHOUT_FAULT, *([GATES["open"]] if is_paid else []))
        ours = {why: n for why, n in reasons.items() if not why.startswith(normal)}
        if ours:
            reason, count = next(iter(ours.items()))
            total = sum(reasons.values())
            fixes = (
                fix for start, fix in _SKIP_FIXES.items() if reason.startswith(start)
            )
            yield EarningCause(
                name="unmatched",
                message=f"nothing is left to do: of {total} skipped tasks, "
                f"{count} for this reason: {reason}",
                fix=next(fixes, "journeyman tasks --state skipped"),
            )
        elif (
            self._known.tasks_seen == 0
            and self.around.is_running
            and not self.around.network_pause
        ):
            yield EarningCause(
                name="nothing_listed",
                message="the network has listed no task yet",
                fix="journeyman market",
            )

    def _quarantine(self) -> Iterator[EarningCause]:
        for label, one in health_of_strategies(self.journal, self.now).items():
            assert isinstance(one, dict)  # noqa: S101 - each is; for the type checker
            fix = str(one["fix"] or "")
            release = f"journeyman strategies release {one['strategy']}"
            yield EarningCause(
                name="quarantine",
                has_event=True,
                message=f"{label} is {one['condition']}: {one['problem']}",
                fix=f"{fix}; then: {release}" if fix else release,
            )

    def _disabled(self) -> Iterator[EarningCause]:
        for name, pause in self.journal.owner_pauses.current(self.now).items():
            if name != ALL_WORK:
                yield EarningCause(
                    name="disabled",
                    has_event=True,
                    message=f"{name} is disabled {pause}",
                    fix=f"journeyman strategies enable {name}",
                )

    def _not_loaded(self) -> Iterator[EarningCause]:
        if problems := self.around.problems:
            yield EarningCause(
                name="not_loaded",
                has_event=True,
                message=f"{len(problems)} problems of strategy files, the first: "
                f"{problems[0].splitlines()[0]}",
                fix="journeyman strategies list",
            )

    def _no_spending(self) -> Iterator[EarningCause]:
        if pause := self.around.spending_pause:
            yield EarningCause(
                name="spending_paused",
                message=f"nothing is posted or topped up today: {pause}",
                fix="Compare `journeyman ledger --since 1d` with what the network "
                "shows: somebody else may be using the token. To spend all the same, "
                "raise budget.unexplained_per_day_credits.",
            )

    def _short(self) -> Iterator[EarningCause]:
        if effect := EFFECTS[self.around.credit_state]:
            yield EarningCause(
                name="credits_short",
                has_event=True,
                message=f"credits are {self.around.credit_state}: {effect}",
                fix="`journeyman budget` shows the limits; credits come back by work, "
                "or by: journeyman topup",
            )

    def _over_cost(self) -> Iterator[EarningCause]:
        if names := self.around.over_cost:
            yield EarningCause(
                name="over_cost",
                message=f"{', '.join(names)} cost as much today as "
                "budget.cost_per_day_credits allows: no new task until tomorrow",
                fix="`journeyman profit` shows what that brought; raise "
                "budget.cost_per_day_credits to go on",
            )


def _tasks(count: int) -> str:
    return "1 task is" if count == 1 else f"{count} tasks are"


@dataclass(kw_only=True, eq=False)
class CauseWatch:
    """Logs each cause when it comes and when it goes; remembers the last ones."""

    find: Callable[[], list[EarningCause]]
    log: Log
    last: tuple[EarningCause, ...] = field(init=False, default=())
    """Those of the last look."""

    def look(self) -> None:
        """Look once."""
        before, self.last = {one.name for one in self.last}, tuple(self.find())
        for cause in self.last:
            if cause.name not in before and not cause.has_event:
                self.log.emit(
                    events.HINDERED,
                    cause=cause.name,
                    message=cause.message,
                    fix=cause.fix,
                )
        told = {one.name for one in self.last}
        for name in sorted(before - told):
            self.log.emit(events.NO_LONGER_HINDERED, cause=name)
