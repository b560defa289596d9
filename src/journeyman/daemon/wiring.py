"""Puts the daemon together: the only place that builds the object graph."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING

import anyio

from journeyman.daemon.agent import Agent
from journeyman.daemon.backups import JournalBackups
from journeyman.daemon.causes import Causes, CauseWatch, EarningCause, Surroundings
from journeyman.daemon.cluster import ClusterNews, cluster_of
from journeyman.daemon.discovery import DiscoverLoop, Pace
from journeyman.daemon.disk import DiskWatch
from journeyman.daemon.environment import Environment
from journeyman.daemon.heartbeat import Heartbeat
from journeyman.daemon.housekeeping import Housekeeping
from journeyman.daemon.notify import (
    Notifier,
    money_concerns,
    to_apprise,
    to_webhook,
)
from journeyman.daemon.schedule import Schedule
from journeyman.daemon.strategy_source import StrategySource, generation_in_service
from journeyman.daemon.untrusted import isolation_of
from journeyman.domain.errors import ConfigurationError
from journeyman.domain.tasks import Task
from journeyman.economy.budget import check_losses, is_over_cost
from journeyman.economy.credit_state import CreditState, CreditWatch, credit_state
from journeyman.economy.following import PostWatch
from journeyman.economy.growth import GrowthWatch
from journeyman.economy.plan import PostingPlan
from journeyman.journal.archives import Archives
from journeyman.journal.ledger_archives import LedgerArchives
from journeyman.lifecycle.active import ActiveStrategies
from journeyman.lifecycle.context import StrategyContexts, StrategyMemory
from journeyman.lifecycle.gate import Gate
from journeyman.lifecycle.hooks import Hooks
from journeyman.lifecycle.lifecycle import Lifecycle
from journeyman.lifecycle.posts import StrategyPosts
from journeyman.lifecycle.promotion import Promotion
from journeyman.lifecycle.quarantine import Quarantine, QuarantineRule
from journeyman.lifecycle.recording import DecisionRecording, RecordingLimits
from journeyman.lifecycle.reload import Reloader
from journeyman.lifecycle.wakeup import Wakeup
from journeyman.network.rate_limit.pause import Cause
from journeyman.settings.sections import Settings
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.registry import Registry
from journeyman.strategies.running.cluster import Cluster
from journeyman.strategies.running.describing import Describer
from journeyman.strategies.running.hooks import HookCaller
from journeyman.strategies.running.leaks import LeakScan
from journeyman.strategies.running.runner import Runner
from journeyman.worker import ranking
from journeyman.worker.claim import Claim
from journeyman.worker.complete import Complete
from journeyman.worker.discover import ENDPOINT as LISTING
from journeyman.worker.discover import Discover
from journeyman.worker.endings import Endings
from journeyman.worker.execute import Execute, ExecutionLimits
from journeyman.worker.intents import Intents
from journeyman.worker.proof import Proof
from journeyman.worker.select import Select
from journeyman.worker.submit import Submit
from journeyman.worker.unnamed_pay import UnnamedPay
from journeyman.worker.verdicts import VerdictWatch
from journeyman.worker.worker import Worker

if TYPE_CHECKING:
    from journeyman.daemon.tracing import Tracing


@dataclass(kw_only=True, eq=False)
class Components:
    """The parts of a running daemon, each built when it is first asked for."""

    settings: Settings
    agent: Agent
    registry: Registry
    """The strategies to begin with."""
    environment: Environment
    reread: Callable[[], Settings] | None = None
    """Reads the settings again, for a reload; may raise ConfigurationError. None: they
    stay as they are."""
    describer: Describer | None = None
    """Describes the files that the owner does not trust; None, for simulated time: all
    are imported here."""
    reload_requested: Wakeup = field(default_factory=Wakeup)
    started: float = field(init=False)
    """On the monotonic clock, in seconds; the parts are built later, one by one."""

    def __post_init__(self) -> None:
        self.started = self.environment.clock.monotonic()
        if self.tracing is not None:
            self.environment = self.tracing.in_log(self.environment)

    # -- strategies: in service, in quarantine, in shadow -------------------------

    @cached_property
    def quarantine(self) -> Quarantine:
        """The strategies that are given no work because of their errors."""
        limits = self.settings.quarantine
        return Quarantine(
            journal=self.agent.journal,
            rule=QuarantineRule(
                errors=limits.errors,
                window_seconds=limits.window_seconds,
                initial_seconds=limits.initial_seconds,
                max_seconds=limits.max_seconds,
            ),
            clock=self.environment.clock,
            log=self.environment.log,
        )

    @cached_property
    def active(self) -> ActiveStrategies:
        """The strategies that are given work, and those in shadow."""
        strategies = self.settings.strategies
        generation = generation_in_service(
            self.registry, strategies, self.agent.journal
        )
        return ActiveStrategies(generation, self.quarantine, self._consult)

    async def _consult(
        self, strategies: Sequence[LoadedStrategy], tasks: Sequence[Task]
    ) -> None:
        """Have the processes of strategies decide about tasks, all at the same time."""

        async def ask(loaded: LoadedStrategy) -> None:
            with self.lifecycle.context_of_hook(loaded) as context:
                await self.runner.consult(loaded, tasks, context)

        async with anyio.create_task_group() as group:
            for loaded in strategies:
                group.start_soon(ask, loaded)

    @cached_property
    def recording(self) -> DecisionRecording:
        """The decisions that are kept for replay."""
        limits = self.settings.recording
        return DecisionRecording(
            journal=self.agent.journal,
            active=self.active,
            redactor=self.environment.redactor,
            limits=RecordingLimits(
                days=limits.days,
                max_bytes=limits.max_mb << 20,
                longest_text=limits.max_text_characters,
            ),
            clock=self.environment.clock,
        )

    @cached_property
    def lifecycle(self) -> Lifecycle:
        """The strategies, and what they are given and remember."""
        return Lifecycle(
            active=self.active,
            quarantine=self.quarantine,
            recording=self.recording,
            memory=StrategyMemory(self.agent.journal),
            contexts=StrategyContexts(
                journal=self.agent.journal,
                limits=self.agent.limits,
                workspaces=self.agent.directory.workspaces,
                clock=self.environment.clock,
                randomness=self.environment.randomness,
                log=self.environment.log,
            ),
        )

    # -- tasks: discovered, selected, carried -------------------------------------

    @cached_property
    def gate(self) -> Gate:
        """Whether new work may be claimed."""
        pauses = self.agent.journal.owner_pauses
        return Gate(self.agent.rate_limiter, pauses, self.environment.clock)

    @cached_property
    def disk(self) -> DiskWatch:
        """Closes the gate while the disk is nearly full."""
        return DiskWatch(
            gate=self.gate,
            path=self.agent.directory.path,
            min_free_mb=self.settings.data.min_free_mb,
            free=self.environment.free_bytes,
            log=self.environment.log,
        )

    @cached_property
    def discover(self) -> Discover:
        """Lists tasks, and decides which of them are wanted."""
        return Discover(
            network=self.agent.network,
            select=Select(
                agent_id=self.agent.identity.agent_id,
                active=self.active,
                journal=self.agent.journal,
                min_reward=self.settings.work.min_reward,
                clock=self.environment.clock,
                log=self.environment.log,
                recording=self.recording,
            ),
            retry=self.settings.retry.policy(),
            clock=self.environment.clock,
            randomness=self.environment.randomness,
            rate_limiter=self.agent.rate_limiter,
            limit=self.settings.network.limit,
            on_page=self._note,
            log=self.environment.log,
        )

    def _note(self, tasks: Sequence[Task]) -> bool:
        """Look through a page for our posts and for our delivered tasks."""
        worker = self.worker
        if self.verdicts.note(tasks, worker.is_busy_with):
            worker.wakeup.notify()
        return self.post_watch.note(tasks)

    @cached_property
    def verdicts(self) -> VerdictWatch:
        """What listings show of results that wait for a verdict."""
        return VerdictWatch(
            agent_id=self.agent.identity.agent_id, journal=self.agent.journal
        )

    @cached_property
    def forecaster(self) -> ranking.Forecaster:
        """Expects what a task will bring, from how such tasks went before."""
        return ranking.Forecaster(self.agent.journal)

    @cached_property
    def ranking(self) -> ranking.Ranking:
        """The order in which waiting tasks are claimed."""
        rules = self.settings.ranking
        if self.environment.ranking is not None:
            return self.environment.ranking
        match rules.order:
            case "reward":
                return ranking.by_reward
            case "first":
                return ranking.by_age
            case "expected":
                randomness = self.environment.randomness
                exploration = rules.exploration
                return ranking.ByExpectation(
                    self.forecaster, randomness, exploration
                ).rank

    @cached_property
    def proof(self) -> Proof:
        """Decides how much may be claimed, by what the network has proven."""
        return Proof(
            journal=self.agent.journal,
            base_url=self.agent.base_url,
            blocked_actions=self.agent.network.search.blocked_actions,
            rate_limiter=self.agent.rate_limiter,
            slots=self.settings.work.slots,
            retry=self.settings.retry.policy(),
            clock=self.environment.clock,
            randomness=self.environment.randomness,
            log=self.environment.log,
        )

    @cached_property
    def intents(self) -> Intents:
        """Commits what is about to be asked of the network."""
        return Intents(
            journal=self.agent.journal,
            proof=self.proof,
            retry=self.settings.retry.policy(),
            rate_limiter=self.agent.rate_limiter,
            clock=self.environment.clock,
            randomness=self.environment.randomness,
            log=self.environment.log,
        )

    @cached_property
    def cluster(self) -> Cluster | None:
        """The owner's cluster; None: there is none.

        Raises:
            ConfigurationError: it cannot be used as it is configured.
        """
        if not self.environment.has_processes:
            return None
        isolation = isolation_of(self.settings.isolation, self.agent.directory)
        settings = self.settings.cluster
        cluster = cluster_of(settings, isolation)
        if cluster is not None:
            cluster.told = ClusterNews(
                scheduler=cluster.address.scheduler,
                most=settings.max_slots,
                use_capacity=self._use_capacity,
                log=self.environment.log,
            ).tell
        return cluster

    def _use_capacity(self, capacity: int) -> None:
        """Work on so many tasks more at once than here alone."""
        slots = self.settings.work.slots + capacity
        self.worker.slots = self.proof.slots = slots
        self.look_again()

    def _has_room(self, strategy: str, claimed: Counter[str]) -> bool:
        """Return whether a strategy may be given one more task, where it runs.

        Args:
            strategy: its name.
            claimed: how many tasks of each are about to be claimed.
        """
        agent, now = self.agent, self.environment.clock.now()
        if is_over_cost(agent.limits, agent.journal, now, strategy):
            return False
        cluster = self.cluster
        if cluster is None:
            return True
        everyone = self.active.registry.strategies
        there = {one.name: one for one in everyone if one.runner == "cluster"}
        if strategy in there:
            return cluster.room(there[strategy]) > claimed[strategy]
        here = self.worker.in_flight - cluster.busy.total()
        here += sum(count for name, count in claimed.items() if name not in there)
        return here < self.settings.work.slots

    @cached_property
    def runner(self) -> Runner:
        """Runs strategies: in the loop, in threads, in separate processes."""
        isolation = isolation_of(self.settings.isolation, self.agent.directory)
        return Runner(
            cluster=self.cluster,
            block_limit=self.environment.block_limit,
            told=self.active.note_block,
            isolation=isolation if self.environment.has_processes else None,
            template=self.describer.template if self.describer else None,
        )

    @cached_property
    def execute(self) -> Execute:
        """Has strategies do tasks."""
        return Execute(
            active=self.active,
            quarantine=self.quarantine,
            memory=self.lifecycle.memory,
            contexts=self.lifecycle.contexts,
            runner=self.runner,
            leaks=LeakScan(self.environment.redactor.knows),
            journal=self.agent.journal,
            limits=ExecutionLimits(
                timeout_seconds=self.settings.strategies.timeout_seconds,
                max_attempts=self.settings.work.max_attempts,
                max_wait_seconds=self.settings.quarantine.max_wait_seconds,
            ),
            retry=self.settings.retry.policy(),
            clock=self.environment.clock,
            log=self.environment.log,
        )

    @cached_property
    def claim(self) -> Claim:
        """Claims tasks."""
        return Claim(
            network=self.agent.network,
            intents=self.intents,
            active=self.active,
            clock=self.environment.clock,
            log=self.environment.log,
            ask=self.hooks.ask_claim,
            take_back=self.hooks.take_back_claim,
        )

    @cached_property
    def worker(self) -> Worker:
        """Carries tasks from the claim to the completion."""
        max_age = timedelta(days=self.settings.work.result_max_age_days)
        clock, log = self.environment.clock, self.environment.log
        network, intents = self.agent.network, self.intents
        endings = Endings(intents=intents, quarantine=self.quarantine, log=log)
        worker = Worker(
            journal=self.agent.journal,
            claim=self.claim,
            execute=self.execute,
            submit=Submit(
                network=network,
                intents=intents,
                endings=endings,
                result_max_age=max_age,
                clock=clock,
            ),
            complete=Complete(
                network=network,
                intents=intents,
                endings=endings,
                watch=self.agent.watch,
                unnamed_pay=UnnamedPay(self.agent.journal),
                shown=self.verdicts.sightings,
                result_max_age=max_age,
                clock=clock,
                log=log,
            ),
            gate=self.gate,
            proof=self.proof,
            shortlist=ranking.Shortlist(
                self.agent.journal,
                self.ranking,
                clock,
                self.quarantine,
                self._has_room,
            ),
            slots=self.settings.work.slots,
            max_tasks=self.settings.work.max_tasks,
            retry=self.settings.retry.policy(),
            clock=clock,
            log=log,
        )
        worker.on_end(self.hooks.report_outcome)
        worker.on_end(self.promotion.watch)
        return worker

    # -- what strategies do beside tasks, and what becomes of them ----------------

    @cached_property
    def hooks(self) -> Hooks:
        """Calls the optional methods of strategies."""
        return Hooks(
            lifecycle=self.lifecycle,
            caller=HookCaller(
                runner=self.runner,
                block_limit=self.environment.block_limit,
                told=self.active.note_block,
            ),
            journal=self.agent.journal,
            seconds=self.settings.strategies.hook_timeout_seconds,
            log=self.environment.log,
        )

    @cached_property
    def promotion(self) -> Promotion:
        """Activates strategies that were in shadow, and watches them."""
        return Promotion(
            active=self.active,
            journal=self.agent.journal,
            watch_tasks=self.settings.promotion.watch_tasks,
            more_failures=self.settings.promotion.failure_margin,
            clock=self.environment.clock,
            log=self.environment.log,
        )

    @cached_property
    def source(self) -> StrategySource:
        """Loads the strategies that the settings ask for."""
        reread = self.reread or (lambda: self.settings)
        return StrategySource(self.settings, reread, self.agent.journal, self.describer)

    def note_shadows(self) -> None:
        """Write down which strategies are in shadow now."""
        everyone = self.active.registry.of(self.active.current.everyone)
        self.promotion.note_shadows(self.source.shadows(everyone))

    @cached_property
    def reloader(self) -> Reloader:
        """Replaces the active strategies while the daemon runs."""
        return Reloader(
            load=self.source.load,
            runner=self.runner,
            lifecycle=self.lifecycle,
            hooks=self.hooks,
            gate=self.gate,
            requested=self.reload_requested,
            log=self.environment.log,
        )

    @cached_property
    def posts(self) -> StrategyPosts:
        """Posts the tasks that strategies ask to post."""
        return StrategyPosts(
            lifecycle=self.lifecycle,
            hooks=self.hooks,
            gate=self.gate,
            posting=self.agent.posting,
            journal=self.agent.journal,
            network=self.agent.network,
            rate_limiter=self.agent.rate_limiter,
            leaks=LeakScan(self.environment.redactor.knows),
            clock=self.environment.clock,
            log=self.environment.log,
        )

    @cached_property
    def post_watch(self) -> PostWatch:
        """Follows what becomes of our posts."""
        return PostWatch(
            network=self.agent.network,
            journal=self.agent.journal,
            watch=self.agent.watch,
            days=self.settings.posting.follow_days,
            clock=self.environment.clock,
            log=self.environment.log,
        )

    @cached_property
    def plan(self) -> PostingPlan:
        """Posts what the owner wants posted again and again."""
        return PostingPlan(
            plans=self.agent.plans,
            posting=self.agent.posting,
            journal=self.agent.journal,
            must_wait=lambda: bool(self.gate.obstacle) or self.posts.must_wait(),
            is_worth_it=GrowthWatch(
                policy=self.agent.growth,
                clock=self.environment.clock,
                log=self.environment.log,
            ).is_worth_it,
            late=timedelta(seconds=self.settings.posting.late_seconds),
            zone=self.agent.limits.zone,
            clock=self.environment.clock,
            log=self.environment.log,
        )

    async def spend(self) -> None:
        """Post what is due: of the owner's plan first, then of strategies."""
        await self.plan.round()
        await self.posts.round()

    async def follow(self) -> None:
        """Look for what became of our posts, and hand over what came back."""
        await self.post_watch.look()
        self.hooks.hand_results()

    def look_again(self) -> None:
        """Look at the marketplace now, and at the tasks that wait for a slot."""
        self.worker.wakeup.notify()
        self.discovering.wake()

    # -- what happens at an interval ----------------------------------------------

    @cached_property
    def schedule(self) -> Schedule:
        """Decides when."""
        return Schedule(self.environment.clock)

    @cached_property
    def discovering(self) -> DiscoverLoop:
        """Looks for tasks: at an interval with jitter, at once while that pays."""
        every = self.settings.schedule
        return DiscoverLoop(
            discover=self.discover,
            worker=self.worker,
            gate=self.gate,
            disk=self.disk,
            schedule=self.schedule,
            pace=Pace(
                usual=every.discover_every_seconds,
                longest=every.discover_max_seconds,
                randomness=self.environment.randomness,
            ),
            clock=self.environment.clock,
        )

    @cached_property
    def heartbeat(self) -> Heartbeat:
        """Logs that all is well, or why nothing is done."""
        return Heartbeat(
            journal=self.agent.journal,
            lifecycle=self.lifecycle,
            discover=self.discover,
            worker=self.worker,
            gate=self.gate,
            started=self.started,
            clock=self.environment.clock,
            log=self.environment.log,
        )

    @cached_property
    def causes(self) -> CauseWatch:
        """Logs what keeps us from earning."""
        return CauseWatch(find=self.find_causes, log=self.environment.log)

    @cached_property
    def credit_watch(self) -> CreditWatch:
        """Logs when credits run short."""
        agent = self.agent
        return CreditWatch(
            find=lambda: credit_state(agent.limits, agent.journal),
            journal=agent.journal,
            log=self.environment.log,
        )

    def find_causes(self) -> list[EarningCause]:
        """Return what keeps us from earning now, the most important first."""
        clock, registry = self.environment.clock, self.active.registry
        agent, now = self.agent, clock.now()
        limits, journal = agent.limits, agent.journal
        over = check_losses(limits, journal, now)
        would_post = agent.plans or any(
            "post" in one.hooks for one in registry.strategies
        )
        around = Surroundings(
            is_running=True,
            network_pause=self._network_pause(),
            free_mb=self.disk.free_mb(),
            min_free_mb=self.settings.data.min_free_mb,
            clock_ahead=self.agent.learning.service_clock.ahead,
            strategies=len(registry.strategies),
            problems=[str(problem) for problem in registry.problems],
            spending_pause=over.message if over else "",
            credit_state=(
                credit_state(limits, journal) if would_post else CreditState.NORMAL
            ),
            over_cost=[
                one.name
                for one in registry.strategies
                if is_over_cost(limits, journal, now, one.name)
            ],
        )
        return Causes(
            journal=journal,
            record=agent.network_record,
            now=now,
            around=around,
        ).find()

    @cached_property
    def notifier(self) -> Notifier | None:
        """Tells the owner where the owner looks anyway; None: nobody wants that.

        Raises:
            ConfigurationError: Apprise is not installed, or does not know a target.
        """
        settings, agent = self.settings.notify, self.agent
        webhook = settings.webhook.get_secret_value() if settings.webhook else ""
        targets = [one.get_secret_value() for one in settings.targets]
        for secret in filter(None, (webhook, *targets)):
            self.environment.redactor.add(secret)
        senders = [("notify.webhook", to_webhook(webhook))] if webhook else []
        senders += [("notify.targets", to_apprise(targets))] if targets else []
        if not senders:
            return None
        clock = self.environment.clock
        since, idle = clock.now(), timedelta(hours=settings.idle_hours)

        def find() -> list[EarningCause]:
            concerns = money_concerns(
                agent.journal,
                clock.now(),
                low_credits=settings.low_credits,
                since=since,
                idle=idle or None,
            )
            return [*self.find_causes(), *concerns]

        return Notifier(
            find=find,
            senders=senders,
            agent_id=agent.identity.agent_id,
            base_url=agent.base_url,
            patience=timedelta(minutes=settings.patience_minutes),
            repeat=timedelta(hours=settings.repeat_hours),
            journal=agent.journal,
            clean=self.environment.redactor.clean,
            clock=clock,
            log=self.environment.log,
        )

    @cached_property
    def tracing(self) -> "Tracing | None":
        """Makes traces of tasks and requests; None: nobody wants them.

        Raises:
            ConfigurationError: OpenTelemetry is not installed.
        """
        settings = self.settings.tracing
        if settings.endpoint is None:
            return None
        try:
            from journeyman.daemon.tracing import (  # noqa: PLC0415 - an extra
                Tracing,
                to_collector,
            )
        except ModuleNotFoundError as error:
            raise ConfigurationError(
                "tracing.endpoint needs the extra `otel`, which is not installed",
                "pip install 'journeyman[otel]', or remove tracing.endpoint.",
            ) from error
        for value in settings.headers.values():
            self.environment.redactor.add(value)
        return Tracing(
            identity=self.agent.identity,
            service_name=settings.service_name,
            export=to_collector(settings.endpoint, settings.headers),
            clean=self.environment.redactor.clean,
            clock=self.environment.clock,
            randomness=self.environment.randomness,
            log=self.environment.log,
        )

    def _network_pause(self) -> str:
        for name, pause in self.agent.rate_limiter.pauses():
            if name == "service":
                what = "no request is sent"
            elif name == LISTING and pause.cause is Cause.FAILING:
                what = "the marketplace is not read"
            else:
                continue
            return f"{what}: {pause.reason}; it is asked again in {pause.seconds:.0f} s"
        return ""

    @cached_property
    def backups(self) -> JournalBackups:
        """Checks the journal once a day, and copies it."""
        return JournalBackups(
            journal=self.agent.journal,
            directory=self.agent.directory,
            keep=self.settings.data.backups,
            min_free_mb=self.settings.data.min_free_mb,
            free=self.environment.free_bytes,
            has_threads=self.environment.has_processes,
            clock=self.environment.clock,
            log=self.environment.log,
        )

    def _archives(self) -> Archives | None:
        """Return where what is taken out of the journal goes, if it is to be kept."""
        if not self.settings.work.archive:
            return None
        return Archives(
            folder=self.agent.directory.archives,
            journal=self.agent.journal,
            clean=self.environment.redactor.hide_in_json_text,
        )

    @cached_property
    def housekeeping(self) -> Housekeeping:
        """Keeps the data directory small."""
        return Housekeeping(
            journal=self.agent.journal,
            learning=self.agent.learning,
            recording=self.recording,
            disk=self.disk,
            forget_skipped_days=self.settings.work.forget_skipped_days,
            keep_texts_days=self.settings.work.keep_texts_days,
            keep_events_days=self.settings.work.keep_events_days,
            keep_tasks_days=self.settings.work.keep_tasks_days,
            write_off_days=self.settings.work.write_off_days,
            max_journal_mb=self.settings.work.max_journal_mb,
            archives=self._archives(),
            ledger_archives=LedgerArchives(
                self.agent.directory.archives, self.agent.journal
            ),
            max_archives_mb=self.settings.work.max_archives_mb,
            clock=self.environment.clock,
            log=self.environment.log,
        )
