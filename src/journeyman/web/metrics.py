"""What Prometheus reads at `/metrics`: names, labels, and where each value is from.

What the journal counts is read from it when Prometheus asks, so that it goes on over
restarts. What only a running process knows is measured as it happens, by `Meters`. No
label takes a value that others choose without end: strategies beyond `MOST_STRATEGIES`
share one, and a network's words are never labels.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Self

from prometheus_client import (
    CollectorRegistry,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client import Counter as CounterMetric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from journeyman.daemon.wiring import Components
from journeyman.domain import __version__
from journeyman.domain.clock import Clock
from journeyman.domain.tasks import IN_FLIGHT, TERMINAL, TaskState
from journeyman.journal.ledger import RECEIVABLE, EntryKind
from journeyman.journal.owner_pauses import ALL_WORK
from journeyman.journal.strategy_health import Condition
from journeyman.network.endpoints import ENDPOINTS
from journeyman.network.events import NETWORK_REQUEST
from journeyman.observability.events import Event, Level, Log

MOST_STRATEGIES = 50
"""So many have series of their own; a label has no more values than that and one."""
OTHERS = "(others)"
"""Stands for the strategies beyond those; no strategy has parentheses in its name."""
UNDELIVERED = (TaskState.EXECUTED, TaskState.SUBMITTING)
UNPAID = (TaskState.SUBMITTED, TaskState.COMPLETING)
_WON = (IN_FLIGHT | TERMINAL) - {TaskState.CLAIMING, TaskState.LOST}
_RECEIVED = (EntryKind.STARTER, EntryKind.EARNED, EntryKind.TOP_UP)
_FAST = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30)
_SLOW = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_ENDPOINTS = frozenset(one.name for one in ENDPOINTS)
_SCOPES = _ENDPOINTS | {"service", "token"}
_LEVELS: tuple[Level, ...] = ("debug", "info", "warning", "error")


# A second series of each, which nobody reads.
disable_created_metrics()  # type: ignore[no-untyped-call] # it ships no types


@dataclass(eq=False)
class Meters:
    """What is measured while it happens; it begins at 0 with each process."""

    clock: Clock
    registry: CollectorRegistry = field(init=False, default_factory=CollectorRegistry)
    _commit_began: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        ProcessCollector(registry=self.registry)
        self.commits = Histogram(
            "journeyman_journal_commit_seconds",
            "How long the disk took to make a commit of the journal durable.",
            buckets=_FAST,
            registry=self.registry,
        )
        self.requests = Histogram(
            "journeyman_network_request_seconds",
            "How long requests to the network took; without an answer, until that was "
            "clear.",
            ["endpoint", "outcome"],
            buckets=_SLOW,
            registry=self.registry,
        )
        self.log_lines = CounterMetric(
            "journeyman_log_events",
            "Events of each level, also those that the log leaves out.",
            ["level"],
            registry=self.registry,
        )
        for level in _LEVELS:
            self.log_lines.labels(level)

    def before(self, _label: str) -> None:
        """Begin to time a commit."""
        self._commit_began = self.clock.monotonic()

    def after(self, _label: str) -> None:
        """Measure the commit."""
        self.commits.observe(self.clock.monotonic() - self._commit_began)

    def count(self, event: Event, fields: dict[str, object]) -> None:
        """Count an event of the log."""
        self.log_lines.labels(event.level).inc()
        if event is NETWORK_REQUEST:
            endpoint, seconds = str(fields["endpoint"]), fields["seconds"]
            outcome = str(fields["outcome"]).partition(":")[0].replace(" ", "_")
            known = endpoint if endpoint in _ENDPOINTS else "document"
            assert isinstance(seconds, float)  # noqa: S101 - for the type checker
            self.requests.labels(known, outcome).observe(seconds)


@dataclass(frozen=True, eq=False, slots=True)
class MeteredLog:
    """A log whose events are counted."""

    log: Log
    meters: Meters

    def emit(self, event: Event, **fields: object) -> None:
        """Write and count one event."""
        self.log.emit(event, **fields)
        self.meters.count(event, fields)

    def bind(self, **context: object) -> Self:
        """Return a log whose every event has these fields."""
        return type(self)(self.log.bind(**context), self.meters)


def exposition(parts: Components, meters: Meters | None) -> bytes:
    """Return all metrics in Prometheus' text format."""
    registry = CollectorRegistry()
    registry.register(JournalMetrics(parts))
    measured = generate_latest(meters.registry) if meters else b""
    return generate_latest(registry) + measured


@dataclass(frozen=True, eq=False, slots=True)
class JournalMetrics(Collector):
    """What is read when Prometheus asks."""

    parts: Components

    def collect(self) -> Iterator[Metric]:
        """Yield each metric with its values."""
        yield from self._agent()
        yield from self._tasks()
        yield from self._credits()
        yield from self._network()
        yield from self._strategies()

    def _agent(self) -> Iterator[Metric]:
        parts = self.parts
        clock, journal = parts.environment.clock, parts.agent.journal
        yield _labelled(
            "build_info", "The version that runs.", ["version"], {(__version__,): 1}
        )
        paused = ALL_WORK in journal.owner_pauses.current(clock.now())
        yield _gauge("paused", "1 while the owner has paused all work.", paused)
        worker = parts.worker
        yield _gauge("slots", "Tasks that may be worked on at once.", worker.slots)
        yield _gauge("slots_busy", "Tasks that are worked on now.", worker.in_flight)
        if turns := parts.environment.turns:
            yield _gauge(
                "event_loop_longest_turn_seconds",
                "The longest turn of the event loop in the last five minutes; during "
                "one, the daemon answers nobody.",
                turns.longest_seconds,
            )
        causes = Counter[tuple[str, ...]]((one.name,) for one in parts.find_causes())
        yield _labelled(
            "earning_causes",
            "What keeps the agent from earning, or from earning more: see `journeyman "
            "why`.",
            ["cause"],
            causes,
        )

    def _tasks(self) -> Iterator[Metric]:
        tasks, counts = self.parts.agent.journal.tasks, Counter[str]()
        counts.update(tasks.counts())
        yield _labelled(
            "tasks",
            "Tasks in each state; those skipped long ago are forgotten.",
            ["state"],
            {(state.value,): counts[state] for state in TaskState},
        )
        won = sum(counts[state] for state in _WON)
        yield _counter(
            "claims",
            "Claims by their outcome.",
            ["outcome"],
            {("won",): won, ("lost",): counts[TaskState.LOST]},
        )
        yield _gauge(
            "claims_unanswered",
            "Claims whose outcome is not known yet.",
            counts[TaskState.CLAIMING],
        )
        yield from self._waiting("undelivered", UNDELIVERED, "is not delivered")
        yield from self._waiting("unpaid", UNPAID, "is delivered and not paid")

    def _waiting(
        self, name: str, states: tuple[TaskState, ...], words: str
    ) -> Iterator[Metric]:
        waiting = self.parts.agent.journal.tasks.open_since(states)
        now = self.parts.environment.clock.now()
        oldest = (now - waiting[0][1]).total_seconds() if waiting else 0.0
        yield _gauge(f"{name}_results", f"Results of which each {words}.", len(waiting))
        yield _gauge(
            f"{name}_result_age_seconds",
            f"How long the oldest result {words}; 0 where there is none.",
            max(0.0, oldest),
        )

    def _credits(self) -> Iterator[Metric]:
        journal = self.parts.agent.journal
        ledger, spends = journal.ledger, journal.spends
        booked = Counter[str]()
        booked.update(ledger.totals())
        yield _gauge("balance_credits", "The balance of the ledger.", ledger.balance())
        yield _counter(
            "received_credits",
            "Credits that came, by kind.",
            ["kind"],
            {(kind.value,): booked[kind] for kind in _RECEIVED},
        )
        yield _counter(
            "spent_credits", "Credits that left.", [], {(): -booked[EntryKind.SPENT]}
        )
        yield _gauge(
            "drift_credits",
            "Sum of all adjustments to balances that the network showed; not 0 where "
            "its books and ours differ.",
            booked[EntryKind.ADJUSTMENT],
        )
        yield _gauge(
            "receivable_credits",
            "Credits that the network owes for results that it has.",
            ledger.accounts().get(RECEIVABLE, 0),
        )
        yield _gauge(
            "reserved_credits",
            "Credits of posts whose outcome is open.",
            spends.reserved_credits(),
        )

    def _network(self) -> Iterator[Metric]:
        parts = self.parts
        tally, now = parts.discover.tally, parts.environment.clock.monotonic()
        yield _counter(
            "polls",
            "Looks at the marketplace in this run, by how they ended.",
            ["outcome"],
            {
                ("read",): tally.polls - tally.failed_polls,
                ("failed",): tally.failed_polls,
            },
        )
        yield _gauge(
            "last_poll_age_seconds",
            "Since the last look at the marketplace.",
            now - parts.discovering.looked_at,
        )
        pauses = dict[tuple[str, ...], float]({("service",): 0.0, ("token",): 0.0})
        for name, pause in parts.agent.rate_limiter.pauses():
            scope = name if name in _SCOPES else "document"
            pauses[scope,] = max(pauses.get((scope,), 0.0), pause.seconds)
        yield _labelled(
            "network_pause_seconds",
            "For how long no request is sent, to the whole service, with the token, or "
            "to one endpoint.",
            ["scope"],
            pauses,
        )

    def _strategies(self) -> Iterator[Metric]:
        journal, active = self.parts.agent.journal, self.parts.active
        outcomes = journal.tasks.outcomes_by_strategy()
        loaded = {one.name for one in active.registry.strategies}
        label = _labels(loaded, outcomes)
        ended = Counter[tuple[str, ...]]()
        for name, states in outcomes.items():
            for state in TERMINAL:
                ended[label(name), state.value] += states.get(state, 0)
        yield _counter(
            "strategy_tasks",
            "Tasks that ended, by strategy and by their last state.",
            ["strategy", "state"],
            ended,
        )
        unsound = {
            health.strategy
            for health in journal.strategy_health.all().values()
            if health.condition is not Condition.SOUND and not health.kind
        }
        healthy = Counter[tuple[str, ...]]()
        for name in loaded:
            healthy[label(name),] += name not in unsound
        yield _labelled(
            "strategy_healthy",
            "1 where a loaded strategy may work, 0 where it is in quarantine or "
            "misconfigured; of those that share a label, how many may work.",
            ["strategy"],
            healthy,
        )


def _labels(loaded: set[str], known: dict[str, dict[str, int]]) -> Callable[[str], str]:
    """Return what names a strategy: itself, or `OTHERS` where there are too many."""
    busiest = sorted(known, key=lambda name: (-sum(known[name].values()), name))
    named = {*[*sorted(loaded), *busiest][:MOST_STRATEGIES]}
    return lambda name: name if name in named else OTHERS


_Values = Mapping[tuple[str, ...], float]


def _gauge(name: str, about: str, value: float) -> Metric:
    return GaugeMetricFamily(f"journeyman_{name}", about, value)


def _labelled(name: str, about: str, labels: list[str], values: _Values) -> Metric:
    return _filled(
        GaugeMetricFamily(f"journeyman_{name}", about, labels=labels), values
    )


def _counter(name: str, about: str, labels: list[str], values: _Values) -> Metric:
    family = CounterMetricFamily(f"journeyman_{name}", about, labels=labels)
    return _filled(family, values)


def _filled(family: GaugeMetricFamily | CounterMetricFamily, values: _Values) -> Metric:
    for label, value in sorted(values.items()):
        family.add_metric(label, value)
    return family
