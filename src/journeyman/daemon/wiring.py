"""Puts the daemon together: the only place that builds the object graph."""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from journeyman.daemon.agent import Agent
from journeyman.daemon.disk import DiskWatch
from journeyman.daemon.environment import Environment
from journeyman.daemon.strategies import StrategySource, in_force
from journeyman.economy.budget import Allowances
from journeyman.lifecycle.active import ActiveStrategies
from journeyman.lifecycle.context import StrategyContexts, StrategyMemory
from journeyman.lifecycle.gate import Gate
from journeyman.lifecycle.hooks import Hooks
from journeyman.lifecycle.lifecycle import Lifecycle
from journeyman.lifecycle.posts import StrategyPosts
from journeyman.lifecycle.promotion import Promotion
from journeyman.lifecycle.quarantine import Quarantine, StrategyBreaker
from journeyman.lifecycle.recording import Recorder, RecordingLimits
from journeyman.lifecycle.reload import Reloader, StrategyWatch
from journeyman.lifecycle.wakeup import Wakeup
from journeyman.settings.sections import Settings
from journeyman.strategies.loading.registry import Registry
from journeyman.strategies.running.hooks import HookCaller
from journeyman.strategies.running.leaks import LeakScan
from journeyman.strategies.running.runner import Runner
from journeyman.worker.claim import Claim
from journeyman.worker.complete import Complete
from journeyman.worker.discover import Discover
from journeyman.worker.execute import Execute, Patience, RunOutcomes, StrategyWait
from journeyman.worker.intents import Intents
from journeyman.worker.ranking import (
    RANKINGS,
    ByExpectation,
    Forecaster,
    Ranking,
    Shortlist,
)
from journeyman.worker.retry import Backoff
from journeyman.worker.select import Select
from journeyman.worker.submit import Submit
from journeyman.worker.worker import Worker


@dataclass(frozen=True, kw_only=True, slots=True)
class Components:
    """The moving parts of a running daemon."""

    gate: Gate
    lifecycle: Lifecycle
    discover: Discover
    worker: Worker
    forecaster: Forecaster
    disk: DiskWatch


def compose(
    settings: Settings,
    agent: Agent,
    registry: Registry,
    environment: Environment,
    runner: Runner,
) -> Components:
    """Build the loop around an agent and its strategies."""
    gate = Gate(agent.rate_limiter)
    backoff = Backoff(environment.randomness)
    intents = Intents(
        journal=agent.journal,
        backoff=backoff,
        rate_limiter=agent.rate_limiter,
        clock=environment.clock,
        log=environment.log,
    )
    lifecycle = _build_lifecycle(settings, agent, registry, environment)
    forecaster = Forecaster(agent.journal)
    return Components(
        gate=gate,
        lifecycle=lifecycle,
        discover=_build_discover(settings, agent, lifecycle, backoff, environment),
        worker=_build_worker(
            settings,
            agent,
            gate,
            lifecycle,
            forecaster,
            intents,
            environment,
            runner,
        ),
        forecaster=forecaster,
        disk=DiskWatch(
            gate=gate,
            path=agent.directory.path,
            min_free_mb=settings.data.min_free_mb,
            free=environment.free_bytes,
            log=environment.log,
        ),
    )


def _build_discover(
    settings: Settings,
    agent: Agent,
    lifecycle: Lifecycle,
    backoff: Backoff,
    environment: Environment,
) -> Discover:
    return Discover(
        network=agent.network,
        select=Select(
            agent_id=agent.identity.agent_id,
            active=lifecycle.active,
            journal=agent.journal,
            min_reward=settings.work.min_reward,
            clock=environment.clock,
            log=environment.log,
            recorder=lifecycle.recorder,
        ),
        backoff=backoff,
        rate_limiter=agent.rate_limiter,
        limit=settings.network.limit,
        log=environment.log,
    )


def _build_ranking(
    settings: Settings, forecaster: Forecaster, environment: Environment
) -> Ranking:
    """Give the order in which waiting tasks are claimed."""
    choosing = settings.choosing
    if choosing.order == "expected":
        return ByExpectation(
            forecaster, environment.randomness, choosing.exploration
        ).rank
    return RANKINGS[choosing.order]


def _build_lifecycle(
    settings: Settings, agent: Agent, registry: Registry, environment: Environment
) -> Lifecycle:
    limits = settings.containment
    quarantine = Quarantine(
        journal=agent.journal,
        breaker=StrategyBreaker(
            errors=limits.errors,
            window_seconds=limits.window_seconds,
            first_rest_seconds=limits.first_rest_seconds,
            longest_rest_seconds=limits.longest_rest_seconds,
        ),
        clock=environment.clock,
        log=environment.log,
    )
    active = ActiveStrategies(
        in_force(registry, settings.strategies, agent.journal), quarantine
    )
    return Lifecycle(
        active=active,
        quarantine=quarantine,
        recorder=_build_recorder(settings, agent, active, environment),
        memory=StrategyMemory(agent.journal),
        contexts=StrategyContexts(
            journal=agent.journal,
            limits=agent.limits,
            workspaces=agent.directory.workspaces,
            clock=environment.clock,
            randomness=environment.randomness,
            log=environment.log,
        ),
    )


def _build_recorder(
    settings: Settings, agent: Agent, active: ActiveStrategies, environment: Environment
) -> Recorder:
    recordings = settings.recording
    return Recorder(
        journal=agent.journal,
        active=active,
        redactor=environment.redactor,
        limits=RecordingLimits(
            days=recordings.days,
            max_bytes=recordings.max_mb << 20,
            longest_text=recordings.text_characters,
        ),
        clock=environment.clock,
    )


def _build_execute(
    settings: Settings,
    agent: Agent,
    lifecycle: Lifecycle,
    environment: Environment,
    runner: Runner,
) -> Execute:
    return Execute(
        active=lifecycle.active,
        runner=runner,
        contexts=lifecycle.contexts,
        outcomes=RunOutcomes(
            active=lifecycle.active,
            quarantine=lifecycle.quarantine,
            memory=lifecycle.memory,
            journal=agent.journal,
            leaks=LeakScan(environment.redactor.knows),
            clock=environment.clock,
            log=environment.log,
        ),
        strategy_wait=StrategyWait(
            active=lifecycle.active,
            quarantine=lifecycle.quarantine,
            journal=agent.journal,
            longest_seconds=settings.containment.longest_hold_seconds,
            clock=environment.clock,
            log=environment.log,
        ),
        journal=agent.journal,
        patience=Patience(
            timeout_seconds=settings.strategies.timeout_seconds,
            max_attempts=settings.work.max_attempts,
        ),
        clock=environment.clock,
        log=environment.log,
    )


def _build_worker(
    settings: Settings,
    agent: Agent,
    gate: Gate,
    lifecycle: Lifecycle,
    forecaster: Forecaster,
    intents: Intents,
    environment: Environment,
    runner: Runner,
) -> Worker:
    clock, log = environment.clock, environment.log
    max_age = timedelta(days=settings.work.result_max_age_days)
    ranking = environment.ranking or _build_ranking(settings, forecaster, environment)
    return Worker(
        journal=agent.journal,
        claim=Claim(
            network=agent.network,
            intents=intents,
            active=lifecycle.active,
            clock=clock,
            log=log,
        ),
        execute=_build_execute(settings, agent, lifecycle, environment, runner),
        submit=Submit(
            network=agent.network,
            intents=intents,
            result_max_age=max_age,
            clock=clock,
            log=log,
        ),
        complete=Complete(
            network=agent.network,
            intents=intents,
            watch=agent.watch,
            result_max_age=max_age,
            clock=clock,
            log=log,
        ),
        gate=gate,
        shortlist=Shortlist(agent.journal, ranking, clock),
        slots=settings.work.slots,
        max_tasks=settings.work.max_tasks,
        clock=clock,
        log=log,
    )


Chore: TypeAlias = tuple[str, float, Callable[[], Awaitable[None] | None]]
"""A name, how often in seconds, and what to do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Plugins:
    """The parts that look after strategies."""

    hooks: Hooks
    reloader: Reloader
    posts: StrategyPosts
    promotion: Promotion
    active: ActiveStrategies
    source: StrategySource
    settings: Settings

    def settle(self) -> None:
        """Write down which strategies are in shadow now."""
        everyone = self.active.registry.of(self.active.now.everyone)
        self.promotion.settle(self.source.shadows(everyone))

    def chores(self) -> Iterator[Chore]:
        """Give what is to be done at an interval."""
        every = self.settings.schedule
        yield "spend", every.spend_every_seconds, self.posts.round
        if self.settings.strategies.watch:
            watch = StrategyWatch(
                lambda: self.source.directory,
                lambda: self.reloader.wish("a strategy file has changed"),
            )
            yield "watch", every.watch_every_seconds, watch.look


def build_plugins(
    settings: Settings,
    agent: Agent,
    components: Components,
    environment: Environment,
    *,
    reread: Callable[[], Settings],
    wishes: Wakeup,
) -> Plugins:
    """Build them around the moving parts.

    Args:
        settings: what the daemon runs by.
        agent: who we are.
        components: the moving parts.
        environment: what simulation replaces.
        reread: reads the settings again; may raise ConfigurationError.
        wishes: rung when a reload is wanted.
    """
    hooks = Hooks(
        lifecycle=components.lifecycle,
        caller=HookCaller(block_limit=environment.block_limit),
        journal=agent.journal,
        seconds=settings.containment.hook_seconds,
        log=environment.log,
    )
    components.worker.on_end(hooks.tell_outcome)
    promotion = _build_promotion(settings, agent, components, environment)
    source = StrategySource(settings, reread, agent.journal)
    return Plugins(
        hooks=hooks,
        promotion=promotion,
        reloader=Reloader(
            load=source.load,
            lifecycle=components.lifecycle,
            hooks=hooks,
            gate=components.gate,
            wishes=wishes,
            log=environment.log,
        ),
        posts=StrategyPosts(
            lifecycle=components.lifecycle,
            hooks=hooks,
            gate=components.gate,
            posting=agent.posting,
            journal=agent.journal,
            network=agent.network,
            rate_limiter=agent.rate_limiter,
            allowances=Allowances(
                each=settings.budget.per_strategy_credits,
                of=settings.budget.strategy_credits,
            ),
            leaks=LeakScan(environment.redactor.knows),
            clock=environment.clock,
            log=environment.log,
        ),
        active=components.lifecycle.active,
        source=source,
        settings=settings,
    )


def _build_promotion(
    settings: Settings, agent: Agent, components: Components, environment: Environment
) -> Promotion:
    promotion = Promotion(
        active=components.lifecycle.active,
        journal=agent.journal,
        watch_tasks=settings.promotion.watch_tasks,
        more_failures=settings.promotion.more_failures,
        clock=environment.clock,
        log=environment.log,
    )
    components.worker.on_end(promotion.watch)
    return promotion
