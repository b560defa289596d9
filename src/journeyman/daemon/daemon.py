"""Runs the daemon: starts its loops, and ends them in the right order."""

import os
from collections.abc import Callable
from functools import partial

import anyio
from anyio.abc import TaskGroup

from journeyman.daemon import events
from journeyman.daemon.agent import Agent, one_error, open_agent
from journeyman.daemon.commands import DaemonDesk
from journeyman.daemon.disk import would_die_with_container
from journeyman.daemon.environment import Environment, JoinInterruptedError
from journeyman.daemon.housekeeping import Housekeeping
from journeyman.daemon.loops import DiscoverLoop, Heartbeat, repeat
from journeyman.daemon.schedule import Schedule
from journeyman.daemon.shutdown import Shutdown, listen_for_hangup
from journeyman.daemon.strategies import (
    isolation_of,
    load_strategies,
    shadows_of,
    strategies_directory,
)
from journeyman.daemon.wiring import Components, build_plugins, compose
from journeyman.domain import __version__
from journeyman.domain.errors import NetworkError
from journeyman.lifecycle.wakeup import Wakeup
from journeyman.settings.sections import Settings
from journeyman.strategies.child.confinement import NOT_KEPT, available
from journeyman.strategies.loading.registry import Registry
from journeyman.strategies.running.runner import Runner
from journeyman.worker.recover import recover_interrupted


async def run_daemon(
    settings: Settings,
    base_url: str,
    environment: Environment,
    reread: Callable[[], Settings] | None = None,
) -> None:
    """Join and work until told to stop; nothing is lost, however it ends.

    `reread` reads the settings again for a reload; without it they stay as they are.

    Raises:
        JourneymanError: it cannot start, or the disk fails; see `open_agent`.
    """
    shutdown, reloads = Shutdown(), Wakeup()
    with one_error():
        async with anyio.create_task_group() as group:
            group.start_soon(shutdown.listen)
            group.start_soon(listen_for_hangup, reloads.notify, shutdown.request)
            registry = _load(settings, environment)
            stop = shutdown.requested
            try:
                async with open_agent(
                    settings, base_url, environment, stop=stop
                ) as agent:
                    ours = environment.seen_by(agent.identity)
                    daemon = Daemon(
                        settings,
                        agent,
                        registry,
                        ours,
                        shutdown,
                        reread=reread,
                        reloads=reloads,
                    )
                    await daemon.run()
            except JoinInterruptedError:
                environment.log.emit(events.STOPPED, reason=shutdown.reason)
            group.cancel_scope.cancel()


class Daemon:
    """An agent at work."""

    def __init__(
        self,
        settings: Settings,
        agent: Agent,
        registry: Registry,
        environment: Environment,
        shutdown: Shutdown,
        *,
        reread: Callable[[], Settings] | None = None,
        reloads: Wakeup | None = None,
    ) -> None:
        """Put it together.

        Args:
            settings: what it runs by.
            agent: who it is.
            registry: the strategies to begin with.
            environment: what simulation replaces.
            shutdown: tells it when to stop.
            reread: reads the settings again, for a reload.
            reloads: rung when a reload is wanted.
        """
        self._settings = settings
        self._agent = agent
        self._environment = environment
        self._shutdown = shutdown
        isolation = isolation_of(settings.isolation, agent.directory)
        self._runner = Runner(
            block_limit=environment.block_limit,
            isolation=isolation if environment.has_processes else None,
        )
        self._components: Components = compose(
            settings, agent, registry, environment, self._runner
        )
        self._plugins = build_plugins(
            settings,
            agent,
            self._components,
            environment,
            reread=reread or (lambda: settings),
            wishes=reloads or Wakeup(),
        )
        self._schedule = Schedule(environment.clock)
        self._discovering = DiscoverLoop(
            components=self._components,
            schedule=self._schedule,
            every=settings.schedule,
            clock=environment.clock,
            randomness=environment.randomness,
        )
        self._heartbeat = Heartbeat(
            agent, self._components, environment.clock, environment.log
        )
        forget_after = settings.work.forget_skipped_days
        self._housekeeping = Housekeeping(
            agent, self._components, environment, forget_after
        )
        self._attention = Wakeup()

    async def run(self) -> None:
        """Work until told to stop, then drain."""
        self._announce()
        recover_interrupted(self._agent.journal, self._environment.log)
        self._components.worker.on_rest(self._discovering.feed)
        self._components.worker.on_rest(self._attention.notify)
        self._shutdown.on_request(self._attention.notify)
        self._plugins.reloader.on_reload(self._look_again)
        self._plugins.promotion.on_change(self._look_again)
        self._schedule.start()
        try:
            async with self._runner.running(), anyio.create_task_group() as side:
                self._serve()
                self._start_side_loops(side)
                await self._plugins.reloader.start()
                await self._work()
                await self._let_strategies_end()
                side.cancel_scope.cancel()
        finally:
            self._schedule.stop()
        self._say_goodbye()

    async def _work(self) -> None:
        """Carry tasks; the group of their carriers is what a stop waits for."""
        async with anyio.create_task_group() as carriers:
            dispatcher = anyio.CancelScope()
            carriers.start_soon(self._dispatch, dispatcher, carriers)
            if self._settings.work.once:
                await self._look_once()
            reason = await self._until_stop()
            await self._drain(reason)
            dispatcher.cancel()
            carriers.cancel_scope.cancel()

    async def _dispatch(self, scope: anyio.CancelScope, carriers: TaskGroup) -> None:
        with scope:
            await self._components.worker.run(carriers)

    def _start_side_loops(self, side: TaskGroup) -> None:
        every = self._settings.schedule
        worker, log = self._components.worker, self._environment.log
        socket = self._agent.directory.control_socket
        side.start_soon(self._environment.serve_control, socket, self._desk(), log)
        side.start_soon(self._plugins.hooks.run)
        side.start_soon(self._plugins.reloader.run)
        if not self._settings.work.once:
            side.start_soon(self._discovering.run)
        for name, seconds, action in (
            ("deliver", every.deliver_every_seconds, worker.wakeup.notify),
            ("heartbeat", every.heartbeat_every_seconds, self._beat),
            (
                "top-up check",
                every.topup_check_every_seconds,
                self._agent.shortage.check,
            ),
            (
                "housekeeping",
                every.housekeeping_every_seconds,
                self._housekeeping.keep,
            ),
            *self._plugins.chores(),
        ):
            side.start_soon(partial(repeat, self._schedule, name, seconds, action))

    def _look_again(self) -> None:
        """Look at the market with the new strategies; work for them may wait, too."""
        self._plugins.settle()
        self._serve()
        self._components.worker.wakeup.notify()
        self._discovering.wake()

    def _serve(self) -> None:
        """Have processes ready for the strategies that want them; say what holds."""
        strategies = self._components.lifecycle.active.registry.strategies
        self._runner.serve(strategies)
        if any(one.runner == "process" for one in strategies):
            holds = available()
            lacks = NOT_KEPT in holds.values()
            event = events.ISOLATION_LACKS if lacks else events.ISOLATION_HOLDS
            self._environment.log.emit(event, **holds)

    async def _let_strategies_end(self) -> None:
        """Call the last hooks; not for long, and not at all when forced."""
        async with anyio.create_task_group() as group:

            async def hurry() -> None:
                await self._shutdown.forced.wait()
                group.cancel_scope.cancel()

            group.start_soon(hurry)
            await self._plugins.hooks.finish()
            group.cancel_scope.cancel()

    def _beat(self) -> None:
        self._components.forecaster.learn()
        self._heartbeat.beat()
        self._agent.learning.keep_news()

    async def _look_once(self) -> None:
        poll = await self._discovering.look()
        if poll is not None and poll.failure is not None:
            raise NetworkError(
                f"the marketplace of {self._agent.base_url} could not be read: "
                f"{poll.failure.message}",
                "Check the address and that the service runs; then start again.",
            )

    async def _until_stop(self) -> str:
        """Wait for a reason to stop, and give it."""
        while True:
            if self._shutdown.requested.is_set():
                return self._shutdown.reason
            if self._components.worker.is_done:
                return f"{self._components.worker.progress.ended} tasks have ended"
            if self._settings.work.once and self._components.worker.is_idle:
                return "looked once, and all that followed is done"
            await self._attention.wait()

    async def _drain(self, reason: str) -> None:
        """Close the gate, then wait for work in flight: not for ever, nor if forced."""
        worker, grace = self._components.worker, self._settings.work.grace_seconds
        self._components.gate.close("stopping")
        if not worker.in_flight:
            return
        self._environment.log.emit(
            events.DRAINING,
            reason=reason,
            in_flight=worker.in_flight,
            grace_seconds=grace,
        )
        with anyio.move_on_after(grace):
            while worker.in_flight and not self._shutdown.forced.is_set():
                await self._attention.wait(1.0)
        if worker.in_flight:
            self._environment.log.emit(events.GRACE_OVER, in_flight=worker.in_flight)

    def _announce(self) -> None:
        budget = self._settings.budget
        directory = self._agent.directory.path
        self._environment.log.emit(
            events.STARTED,
            version=__version__,
            base_url=self._agent.base_url,
            data_directory=str(directory),
            strategies=sorted(self._components.lifecycle.active.fingerprints),
            slots=self._settings.work.slots,
            reserve_credits=budget.reserve_credits,
            per_day_credits=budget.per_day_credits,
            posts_per_day=budget.posts_per_day,
            topup_mode=self._settings.topup.mode,
            pid=os.getpid(),
        )
        self._plugins.settle()
        if would_die_with_container(directory):
            self._environment.log.emit(
                events.NOT_A_VOLUME, data_directory=str(directory)
            )

    def _say_goodbye(self) -> None:
        self._components.forecaster.learn()
        self._heartbeat.beat()
        progress = self._components.worker.progress
        self._environment.log.emit(
            events.STOPPED,
            reason=self._shutdown.reason or "its work is done",
            balance=self._agent.journal.ledger.balance(),
            completed=progress.completed,
            ended=progress.ended,
            in_flight=self._components.worker.in_flight,
        )

    def _desk(self) -> DaemonDesk:
        return DaemonDesk(
            settings=self._settings,
            agent=self._agent,
            components=self._components,
            plugins=self._plugins,
            discovering=self._discovering,
            heartbeat=self._heartbeat,
            stop=self._shutdown.request,
            clock=self._environment.clock,
        )


def _load(settings: Settings, environment: Environment) -> Registry:
    registry = load_strategies(settings.strategies)
    shadows_of(registry, settings.strategies)
    for problem in registry.problems:
        environment.log.emit(
            events.STRATEGY_PROBLEM,
            code=problem.code,
            path=str(problem.path),
            line=problem.line,
            problem=problem.message,
            fix=problem.fix,
        )
    if not registry.strategies:
        directory = strategies_directory(settings.strategies)
        environment.log.emit(events.NO_STRATEGIES, directory=str(directory))
    return registry
