"""Puts the daemon together: the only place that builds the object graph."""

from dataclasses import dataclass
from datetime import timedelta

from journeyman.daemon.agent import Agent, World
from journeyman.daemon.disk import DiskWatch
from journeyman.daemon.strategies import in_force
from journeyman.daemon.surroundings import DaemonSurroundings
from journeyman.domain import TaskState
from journeyman.loop import (
    RANKINGS,
    Backoff,
    Breaker,
    ByExpectation,
    Claim,
    Complete,
    Conclude,
    Crew,
    Discover,
    Execute,
    Gate,
    Hold,
    Intents,
    Lessons,
    Patience,
    Quarantine,
    Ranking,
    Recorder,
    Select,
    Shortlist,
    Step,
    StrategyMemory,
    Submit,
    TapeLimits,
    Worker,
)
from journeyman.settings import Settings
from journeyman.strategies.leaks import LeakScan
from journeyman.strategies.registry import Registry
from journeyman.strategies.runners import Runner


@dataclass(frozen=True, kw_only=True, slots=True)
class Staff:
    """The strategies, and what they are given and remember."""

    crew: Crew
    quarantine: Quarantine
    memory: StrategyMemory
    surroundings: DaemonSurroundings
    recorder: Recorder
    """Keeps what they decide."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Works:
    """The moving parts of a running daemon."""

    gate: Gate
    staff: Staff
    discover: Discover
    worker: Worker
    lessons: Lessons
    disk: DiskWatch


def compose(
    settings: Settings,
    agent: Agent,
    registry: Registry,
    world: World,
    runner: Runner,
) -> Works:
    """Build the loop around an agent and its strategies."""
    gate = Gate(agent.pressure)
    backoff = Backoff(world.randomness)
    intents = Intents(
        journal=agent.journal,
        backoff=backoff,
        outlook=agent.pressure,
        clock=world.clock,
        log=world.log,
    )
    staff = _build_staff(settings, agent, registry, world)
    lessons = Lessons(agent.journal)
    execute = _build_execute(settings, agent, staff, world, runner)
    steps = _build_steps(settings, agent, staff.crew, intents, execute, world)
    return Works(
        gate=gate,
        staff=staff,
        discover=_build_discover(settings, agent, staff, backoff, world),
        worker=Worker(
            journal=agent.journal,
            steps=steps,
            gate=gate,
            shortlist=Shortlist(
                agent.journal,
                world.ranking or _build_ranking(settings, lessons, world),
                world.clock,
            ),
            slots=settings.work.slots,
            max_tasks=settings.work.max_tasks,
            clock=world.clock,
            log=world.log,
        ),
        lessons=lessons,
        disk=DiskWatch(
            gate=gate,
            path=agent.directory.path,
            min_free_mb=settings.data.min_free_mb,
            free=world.free_bytes,
            log=world.log,
        ),
    )


def _build_discover(
    settings: Settings, agent: Agent, staff: Staff, backoff: Backoff, world: World
) -> Discover:
    return Discover(
        market=agent.network,
        select=Select(
            agent_id=agent.identity.agent_id,
            chooser=staff.crew,
            journal=agent.journal,
            min_reward=settings.work.min_reward,
            clock=world.clock,
            log=world.log,
            record=staff.recorder,
        ),
        backoff=backoff,
        outlook=agent.pressure,
        limit=settings.network.limit,
        log=world.log,
    )


def _build_ranking(settings: Settings, lessons: Lessons, world: World) -> Ranking:
    """Give the order in which waiting tasks are claimed."""
    choosing = settings.choosing
    if choosing.order == "expected":
        return ByExpectation(lessons, world.randomness, choosing.exploration)
    return RANKINGS[choosing.order]


def _build_staff(
    settings: Settings, agent: Agent, registry: Registry, world: World
) -> Staff:
    limits = settings.containment
    quarantine = Quarantine(
        journal=agent.journal,
        breaker=Breaker(
            errors=limits.errors,
            window_seconds=limits.window_seconds,
            first_rest_seconds=limits.first_rest_seconds,
            longest_rest_seconds=limits.longest_rest_seconds,
        ),
        clock=world.clock,
        log=world.log,
    )
    crew = Crew(in_force(registry, settings.strategies, agent.journal), quarantine)
    return Staff(
        crew=crew,
        quarantine=quarantine,
        recorder=_build_recorder(settings, agent, crew, world),
        memory=StrategyMemory(agent.journal),
        surroundings=DaemonSurroundings(
            journal=agent.journal,
            limits=agent.limits,
            workspaces=agent.directory.workspaces,
            clock=world.clock,
            randomness=world.randomness,
            log=world.log,
        ),
    )


def _build_recorder(
    settings: Settings, agent: Agent, crew: Crew, world: World
) -> Recorder:
    tape = settings.tape
    return Recorder(
        journal=agent.journal,
        crew=crew,
        redactor=world.redactor,
        limits=TapeLimits(
            days=tape.days,
            max_bytes=tape.max_mb << 20,
            longest_text=tape.text_characters,
        ),
        clock=world.clock,
    )


def _build_execute(
    settings: Settings,
    agent: Agent,
    staff: Staff,
    world: World,
    runner: Runner,
) -> Execute:
    return Execute(
        crew=staff.crew,
        runner=runner,
        surroundings=staff.surroundings,
        conclude=Conclude(
            crew=staff.crew,
            quarantine=staff.quarantine,
            memory=staff.memory,
            journal=agent.journal,
            leaks=LeakScan(world.redactor.knows),
            clock=world.clock,
            log=world.log,
        ),
        hold=Hold(
            crew=staff.crew,
            quarantine=staff.quarantine,
            journal=agent.journal,
            longest_seconds=settings.containment.longest_hold_seconds,
            clock=world.clock,
            log=world.log,
        ),
        journal=agent.journal,
        patience=Patience(
            timeout_seconds=settings.strategies.timeout_seconds,
            max_attempts=settings.work.max_attempts,
        ),
        clock=world.clock,
        log=world.log,
    )


def _build_steps(
    settings: Settings,
    agent: Agent,
    crew: Crew,
    intents: Intents,
    execute: Execute,
    world: World,
) -> dict[TaskState, Step]:
    """Name the verb for each state in which something is to be done."""
    claim = Claim(
        market=agent.network,
        intents=intents,
        crew=crew,
        clock=world.clock,
        log=world.log,
    )
    submit = Submit(
        market=agent.network,
        intents=intents,
        result_max_age=timedelta(days=settings.work.result_max_age_days),
        clock=world.clock,
        log=world.log,
    )
    complete = Complete(
        market=agent.network,
        intents=intents,
        watch=agent.watch,
        result_max_age=timedelta(days=settings.work.result_max_age_days),
        clock=world.clock,
        log=world.log,
    )
    return {
        TaskState.WANTED: claim,
        TaskState.CLAIMING: claim,
        TaskState.CLAIMED: execute,
        TaskState.EXECUTING: execute,
        TaskState.EXECUTED: submit,
        TaskState.SUBMITTING: submit,
        TaskState.SUBMITTED: complete,
        TaskState.COMPLETING: complete,
    }
