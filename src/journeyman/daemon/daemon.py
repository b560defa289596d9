"""Runs the daemon: starts its loops, and ends them in the right order."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import anyio
from anyio.abc import TaskGroup

from journeyman.control.verbs import PauseRequest
from journeyman.daemon import events
from journeyman.daemon.agent import open_agent
from journeyman.daemon.cluster import require_cluster
from journeyman.daemon.commands import OwnerCommands
from journeyman.daemon.disk import is_ephemeral, was_copied
from journeyman.daemon.environment import Environment, JoinInterruptedError
from journeyman.daemon.health import health
from journeyman.daemon.notify import LOOK_SECONDS
from journeyman.daemon.owner_pauses import keep_pause, report_pause
from journeyman.daemon.schedule import repeat
from journeyman.daemon.shutdown import Shutdown, drain, listen_for_hangup
from journeyman.daemon.strategy_source import report_problems
from journeyman.daemon.untrusted import describer_for, load_as_trusted
from journeyman.daemon.watchdog import report_crash
from journeyman.daemon.wiring import Components
from journeyman.domain import __version__
from journeyman.domain.errors import NetworkError, one_error
from journeyman.economy.budget import uses, worst_case
from journeyman.economy.events import LIMITS_IN_FORCE
from journeyman.lifecycle.reload import StrategyWatch
from journeyman.lifecycle.wakeup import Wakeup
from journeyman.network.advice import advice_for
from journeyman.observability.events import VERSION as EVENTS_VERSION
from journeyman.settings.sections import Settings
from journeyman.strategies.child.confinement import NOT_ENFORCED, available_confinement
from journeyman.strategies.loading.loaded import PROCESSES
from journeyman.worker.recover import recover_interrupted

STARTED_PAUSED = PauseRequest(by="journeyman run --paused")


async def run_daemon(
    settings: Settings,
    base_url: str,
    environment: Environment,
    reread: Callable[[], Settings] | None = None,
    *,
    paused: bool = False,
) -> None:
    """Join and work until a stop is requested; nothing is lost, however it ends.

    `reread` reads the settings again for a reload; without it they stay as they are.
    `paused`: nothing is claimed until the owner resumes it.

    Raises:
        JourneymanError: it cannot start, or the disk fails; see `open_agent`.
    """
    shutdown, reload_requested = Shutdown(), Wakeup()
    with one_error():
        async with anyio.create_task_group() as group:
            if environment.service_manager is not None:
                group.start_soon(environment.service_manager.run, environment.clock)
            group.start_soon(shutdown.listen)
            group.start_soon(
                listen_for_hangup, reload_requested.notify, shutdown.request
            )
            with describer_for(
                settings, has_processes=environment.has_processes
            ) as describer:
                registry = await load_as_trusted(settings.strategies, describer)
                report_problems(registry, settings.strategies, environment.log)
                try:
                    async with open_agent(
                        settings, base_url, environment, stop=shutdown.requested
                    ) as agent:
                        parts = Components(
                            settings=settings,
                            agent=agent,
                            registry=registry,
                            environment=environment.with_agent(agent.identity),
                            reread=reread,
                            reload_requested=reload_requested,
                            describer=describer,
                        )
                        _guard(parts, group)
                        if paused and parts.gate.owner_pause is None:
                            keep_pause(agent.journal, environment, STARTED_PAUSED)
                        await Daemon(parts, shutdown).run()
                except JoinInterruptedError:
                    environment.log.emit(events.STOPPED, reason=shutdown.reason)
            group.cancel_scope.cancel()


def _guard(parts: Components, group: TaskGroup) -> None:
    """Report how the last process crashed, if it did, and have this one watched."""
    stack, environment = parts.agent.directory.crash, parts.environment
    everyone = parts.active.current.everyone
    folders = parts.source.folders
    report_crash(stack, everyone, folders, parts.quarantine, environment.log)
    if environment.watchdog is not None:
        group.start_soon(environment.watchdog.run, stack, environment.clock)


@dataclass(eq=False)
class Daemon:
    """An agent at work."""

    parts: Components
    shutdown: Shutdown
    _attention: Wakeup = field(init=False, default_factory=Wakeup)
    """Notified when there may be a reason to stop."""

    async def run(self) -> None:
        """Work until a stop is requested, then drain."""
        parts = self.parts
        if parts.environment.has_processes:
            require_cluster(parts.settings.cluster, parts.active.current.everyone)
        # A mistake in their settings is told before anything begins.
        _ = parts.cluster, parts.notifier
        self._announce()
        self._report_to_service_manager()
        recover_interrupted(parts.agent.journal, parts.environment.log)
        parts.worker.on_pause(parts.discovering.feed)
        parts.worker.on_pause(self._attention.notify)
        self.shutdown.on_request(self._attention.notify)
        parts.reloader.on_reload(self._use_new_strategies)
        parts.promotion.on_change(self._use_new_strategies)
        parts.schedule.start()
        try:
            async with parts.runner.running(), anyio.create_task_group() as side:
                self._prepare_runner()
                self._start_side_loops(side)
                await parts.reloader.start()
                if parts.environment.turns is not None:
                    parts.environment.turns.forget()
                await self._work()
                await self._finish_hooks()
                side.cancel_scope.cancel()
        finally:
            parts.schedule.stop()
        self._say_goodbye()

    async def _work(self) -> None:
        """Carry tasks; the group of their carriers is what a stop waits for."""
        async with anyio.create_task_group() as carriers:
            dispatcher = anyio.CancelScope()
            carriers.start_soon(self._dispatch, dispatcher, carriers)
            if self.parts.settings.work.once:
                await self._look_once()
            reason = await self._until_stop()
            self.parts.gate.close("stopping")
            if manager := self.parts.environment.service_manager:
                manager.tell("STOPPING=1")
            await drain(
                self.parts.worker,
                grace_seconds=self.parts.settings.work.grace_seconds,
                reason=reason,
                forced=self.shutdown.forced,
                attention=self._attention,
                log=self.parts.environment.log,
            )
            dispatcher.cancel()
            carriers.cancel_scope.cancel()

    async def _dispatch(self, scope: anyio.CancelScope, carriers: TaskGroup) -> None:
        with scope:
            # Before the first claim: what is described need not be found by trying.
            await self.parts.agent.descriptions.refresh()
            await self.parts.worker.run(carriers)

    def _start_side_loops(self, side: TaskGroup) -> None:
        parts, every = self.parts, self.parts.settings.schedule
        commands = OwnerCommands(
            parts.agent, parts=parts, stop_daemon=self.shutdown.request
        )
        side.start_soon(
            parts.environment.serve_control,
            parts.agent.directory.control_socket,
            commands,
            parts.environment.log,
        )
        if parts.environment.serve_web is not None:
            side.start_soon(parts.environment.serve_web, commands)
        if parts.tracing is not None:
            parts.agent.network.trace_to(parts.tracing.request)
            parts.worker.trace = parts.tracing.step
            parts.worker.on_end(parts.tracing.end)
            side.start_soon(parts.tracing.run)
        side.start_soon(parts.hooks.run)
        # Also for a daemon that never runs for long, such as one started by cron.
        side.start_soon(parts.backups.keep_up)
        side.start_soon(parts.reloader.run)
        if not parts.settings.work.once:
            side.start_soon(parts.discovering.run)
        loops = [
            ("deliver", every.deliver_every_seconds, parts.worker.wakeup.notify),
            ("heartbeat", every.heartbeat_every_seconds, self._beat),
            ("top-up", every.topup_check_every_seconds, parts.agent.top_up_watch.check),
            ("housekeeping", every.housekeeping_every_seconds, self._keep_house),
            ("spend", every.spend_every_seconds, parts.spend),
            ("follow", every.follow_every_seconds, parts.follow),
        ]
        if parts.notifier is not None:
            loops.append(("notify", LOOK_SECONDS, parts.notifier.look))
        if parts.settings.strategies.watch:
            watch = StrategyWatch(
                lambda: parts.source.folders,
                lambda: parts.reloader.request("a strategy file has changed"),
            )
            loops.append(("watch", every.watch_every_seconds, watch.look))
        for name, seconds, action in loops:
            side.start_soon(partial(repeat, parts.schedule, name, seconds, action))

    def _use_new_strategies(self) -> None:
        """Look at the market with the new strategies; work for them may wait, too."""
        self.parts.note_shadows()
        self._prepare_runner()
        self.parts.look_again()

    def _prepare_runner(self) -> None:
        """Prepare processes for the strategies that run in one; log how isolated."""
        strategies = self.parts.active.current.everyone
        self.parts.runner.serve(strategies)
        if any(one.runner in PROCESSES for one in strategies):
            confinement = available_confinement()
            is_complete = NOT_ENFORCED not in confinement.values()
            self.parts.environment.log.emit(
                events.ISOLATION_COMPLETE
                if is_complete
                else events.ISOLATION_INCOMPLETE,
                **confinement,
            )

    async def _finish_hooks(self) -> None:
        """Call the last hooks; not for long, and not at all when forced."""
        async with anyio.create_task_group() as group:

            async def hurry() -> None:
                await self.shutdown.forced.wait()
                group.cancel_scope.cancel()

            group.start_soon(hurry)
            await self.parts.hooks.finish()
            group.cancel_scope.cancel()

    def _beat(self) -> None:
        self.parts.forecaster.learn()
        self.parts.agent.mark.note()
        self.parts.heartbeat.beat()
        self.parts.agent.learning.keep_news()
        self.parts.credit_watch.look()
        self.parts.causes.look()

    async def _keep_house(self) -> None:
        await self.parts.housekeeping.keep()
        await self.parts.backups.keep_up()
        await self.parts.agent.descriptions.refresh()

    async def _look_once(self) -> None:
        poll = await self.parts.discovering.look()
        if poll is not None and poll.failure is not None:
            raise NetworkError(
                f"the marketplace of {self.parts.agent.base_url} could not be read: "
                f"{poll.failure.message}",
                advice_for(poll.failure, has_token=True),
            )

    async def _until_stop(self) -> str:
        """Wait for a reason to stop, and return it."""
        worker = self.parts.worker
        while True:
            if self.shutdown.requested.is_set():
                return self.shutdown.reason
            if worker.is_done:
                return f"{worker.progress.ended} tasks have ended"
            if self.parts.settings.work.once and worker.is_idle:
                return "looked once, and all that followed is done"
            await self._attention.wait()

    def _announce(self) -> None:
        settings, log = self.parts.settings, self.parts.environment.log
        directory = self.parts.agent.directory.path
        log.emit(
            events.STARTED,
            version=__version__,
            events_version=EVENTS_VERSION,
            base_url=self.parts.agent.base_url,
            data_directory=str(directory),
            strategies=sorted(self.parts.active.fingerprints),
            trusted=sorted(
                one.name
                for one in self.parts.active.current.everyone
                if not one.is_confined
            ),
            slots=settings.work.slots,
            reserve_credits=settings.budget.reserve_credits,
            per_day_credits=settings.budget.per_day_credits,
            posts_per_day=settings.budget.posts_per_day,
            topup_mode=settings.topup.mode,
            pid=os.getpid(),
        )
        self._announce_limits()
        self.parts.note_shadows()
        clock, journal = self.parts.environment.clock, self.parts.agent.journal
        for paused in journal.owner_pauses.current(clock.now()).values():
            report_pause(log, paused)
        if is_ephemeral(directory):
            log.emit(events.NOT_A_VOLUME, data_directory=str(directory))
        if self.parts.environment.has_processes and was_copied(journal, directory):
            log.emit(events.COPIED, data_directory=str(directory))

    def _announce_limits(self) -> None:
        agent = self.parts.agent
        limits, now = agent.limits, agent.environment.clock.now()
        plans = [one.limit for one in agent.plans]
        most = worst_case(limits, agent.journal, now)
        self.parts.environment.log.emit(
            LIMITS_IN_FORCE,
            limits={
                "budget.reserve_credits": limits.reserve_credits,
                "budget.low_credits": limits.low_credits,
                "budget.per_post_credits": limits.per_post_credits,
                **{
                    one.limit.setting: one.limit.most
                    for one in uses(limits, agent.journal, now, plans)
                },
                "budget.cost_per_day_credits": limits.cost_per_day_credits,
                "budget.unexplained_per_day_credits": (
                    limits.unexplained_per_day_credits
                ),
            },
            time_zone=str(limits.zone),
            worst_case_credits=most.credits,
            worst_case_cents=most.cents,
        )

    def _report_to_service_manager(self) -> None:
        parts, manager = self.parts, self.parts.environment.service_manager
        if manager is None:
            return

        def is_well() -> bool:
            now = parts.environment.clock.monotonic()
            return bool(health(parts.discovering, parts.gate, now)["healthy"])

        def status() -> str:
            doing = parts.gate.obstacle or f"{parts.worker.in_flight} tasks in work"
            return f"{doing}; balance {parts.agent.journal.ledger.balance()}"

        manager.is_well, manager.status = is_well, status
        manager.report()

    def _say_goodbye(self) -> None:
        self.parts.forecaster.learn()
        self.parts.agent.mark.note()
        self.parts.heartbeat.beat()
        progress = self.parts.worker.progress
        self.parts.environment.log.emit(
            events.STOPPED,
            reason=self.shutdown.reason or "its work is done",
            balance=self.parts.agent.journal.ledger.balance(),
            completed=progress.completed,
            ended=progress.ended,
            in_flight=self.parts.worker.in_flight,
        )
