"""Puts the daemon together: the only place that builds the object graph."""

from dataclasses import dataclass
from datetime import timedelta

from journeyman.daemon.agent import Agent, World
from journeyman.daemon.disk import DiskWatch
from journeyman.daemon.strategies import generation
from journeyman.daemon.surroundings import DaemonSurroundings
from journeyman.domain import TaskState
from journeyman.loop import (
    Backoff,
    Claim,
    Complete,
    Crew,
    Discover,
    Execute,
    Gate,
    Intents,
    Select,
    Step,
    Submit,
    Worker,
)
from journeyman.settings import Settings
from journeyman.strategies.registry import Registry
from journeyman.strategies.runners import Runner


@dataclass(frozen=True, kw_only=True, slots=True)
class Works:
    """The moving parts of a running daemon."""

    gate: Gate
    discover: Discover
    worker: Worker
    disk: DiskWatch


def compose(
    settings: Settings,
    agent: Agent,
    registry: Registry,
    world: World,
    runner: Runner,
) -> Works:
    """Build the loop around an agent and its strategies."""
    gate = Gate(world.clock)
    backoff = Backoff(world.randomness)
    intents = Intents(
        journal=agent.journal,
        backoff=backoff,
        gate=gate,
        clock=world.clock,
        log=world.log,
    )
    crew = Crew(registry, generation(registry))
    select = Select(
        agent_id=agent.identity.agent_id,
        chooser=crew,
        journal=agent.journal,
        min_reward=settings.work.min_reward,
        clock=world.clock,
        log=world.log,
    )
    execute = _build_execute(settings, agent, crew, world, runner)
    return Works(
        gate=gate,
        discover=Discover(
            market=agent.network,
            select=select,
            backoff=backoff,
            gate=gate,
            limit=settings.network.limit,
            log=world.log,
        ),
        worker=Worker(
            journal=agent.journal,
            steps=_build_steps(settings, agent, crew, intents, execute, world),
            gate=gate,
            slots=settings.work.slots,
            max_tasks=settings.work.max_tasks,
            clock=world.clock,
            log=world.log,
        ),
        disk=DiskWatch(
            gate=gate,
            path=agent.directory.path,
            min_free_mb=settings.data.min_free_mb,
            free=world.free_bytes,
            log=world.log,
        ),
    )


def _build_execute(
    settings: Settings,
    agent: Agent,
    crew: Crew,
    world: World,
    runner: Runner,
) -> Execute:
    return Execute(
        crew=crew,
        runner=runner,
        surroundings=DaemonSurroundings(
            journal=agent.journal,
            limits=agent.limits,
            workspaces=agent.directory.workspaces,
            clock=world.clock,
            log=world.log,
        ),
        journal=agent.journal,
        timeout_seconds=settings.strategies.timeout_seconds,
        max_attempts=settings.work.max_attempts,
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
