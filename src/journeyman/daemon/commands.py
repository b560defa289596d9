"""What the owner may command: through a running daemon, or as the agent without one."""

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

from journeyman.control import verbs
from journeyman.daemon import owner_pauses, owner_tasks
from journeyman.daemon.agent import Agent
from journeyman.daemon.cluster import cluster_status
from journeyman.daemon.health import health
from journeyman.daemon.status import (
    budget_status,
    health_of_strategies,
    journal_status,
    limit_status,
    pauses,
    turns_status,
)
from journeyman.daemon.wiring import Components
from journeyman.domain import __version__, errors
from journeyman.domain.outcomes import Failure, Unknown
from journeyman.domain.tasks import JSON, SpendId, TaskId
from journeyman.domain.text import escape
from journeyman.economy.budget import OverBudget, limits_on_posts, use_of
from journeyman.economy.catalogue import PriceDoubted, pack_problem
from journeyman.economy.credit_state import credit_state
from journeyman.economy.mark import acknowledge_older
from journeyman.economy.posting import NotAccepted
from journeyman.economy.topup import Asked, NotOpened
from journeyman.journal.journal import Journal
from journeyman.journal.spends import Spend
from journeyman.journal.strategy_health import Condition
from journeyman.network.advice import advice_for
from journeyman.strategies.child.confinement import available_confinement


@dataclass(frozen=True, slots=True, eq=False)
class AgentCommands:
    """The verbs that need an agent, and no running daemon."""

    agent: Agent

    async def call(
        self, verb: verbs.Verb[verbs.Asked], request: verbs.Asked
    ) -> dict[str, JSON]:
        """Do what a verb asks for, where no daemon runs that could."""
        asked = () if request is None else (request,)
        answer: dict[str, JSON] = await getattr(self, verb.name)(*asked)
        return answer

    async def post(self, request: verbs.PostRequest) -> dict[str, JSON]:
        """Publish a task within the owner's limits.

        Raises:
            SafetyError: a limit of the owner's forbids it.
            NetworkError: the network did not take it, or may have.
        """
        posted = await self.agent.posting.post(request.task())
        if isinstance(posted, OverBudget):
            raise _over_budget("the post", posted)
        if isinstance(posted, NotAccepted):
            raise _not_done(
                "the task was posted",
                "the task was not posted",
                posted.failure,
                posted.spend_id,
            )
        return {
            "spend_id": posted.spend_id,
            "task_id": posted.task_id,
            "reward": request.reward,
            "balance": self.agent.journal.ledger.balance(),
        }

    async def preview_post(self, request: verbs.PostRequest) -> dict[str, JSON]:
        """Return what a post would send and use of each limit; nothing is sent."""
        agent = self.agent
        over, limits = agent.posting.check(request.reward), agent.limits
        now = agent.environment.clock.now()
        return {
            "request": agent.network.preview_post(request.task()),
            "cost": request.reward,
            "balance_after": agent.journal.ledger.balance() - request.reward,
            "refused_by": over.setting if over else None,
            "message": over.message if over else "",
            "limits": [
                limit_status(use_of(limit, agent.journal, now, limits.zone))
                for limit in limits_on_posts(limits)
            ],
        }

    async def top_up(self, request: verbs.TopUpRequest) -> dict[str, JSON]:
        """Ask for a payment page.

        Raises:
            SafetyError: a cap of the owner's forbids it.
            NetworkError: the network made no page, or may have.
        """
        agent = self.agent
        return _page(
            await agent.top_up.ask(
                agent.identity.agent_id,
                request.credits,
                subscription=request.subscription,
            )
        )

    async def approve_top_up(self, request: verbs.TopUpName) -> dict[str, JSON]:
        """Ask for the payment page of a top-up that was proposed.

        Raises:
            SafetyError: no such top-up is proposed, its price has changed, or a cap of
                the owner's forbids it.
            NetworkError: the network made no page, or may have.
        """
        return _page(await self.agent.top_up.approve(request.spend_id))

    async def read_packs(self) -> dict[str, JSON]:
        """Read the packs in the network's documents, and keep them.

        Raises:
            NetworkError: no document could be read; what was kept before stays.
        """
        catalogue = self.agent.catalogue
        packs, offers = await catalogue.read()
        return {
            "packs": [asdict(pack) for pack in packs],
            "passed_over": [
                {"label": one.label, "price_id": one.price_id, "problem": problem}
                for one in offers.products
                if (problem := pack_problem(one))
            ],
            "are_used": not catalogue.packs.configured,
        }

    async def confirm_top_up(self, request: verbs.TopUpName) -> dict[str, JSON]:
        """Book a top-up that the owner has paid.

        Raises:
            SafetyError: no such top-up waits.
        """
        return self._settled(self.agent.top_up.confirm(request.spend_id), booked=True)

    async def cancel_top_up(self, request: verbs.TopUpName) -> dict[str, JSON]:
        """Forget a top-up that the owner will not pay.

        Raises:
            SafetyError: no such top-up waits.
        """
        return self._settled(self.agent.top_up.cancel(request.spend_id), booked=False)

    def _settled(self, spend: Spend, *, booked: bool) -> dict[str, JSON]:
        return {
            "spend_id": spend.spend_id,
            "credits": spend.credits,
            "booked": booked,
            "balance": self.agent.journal.ledger.balance(),
        }


def _page(asked: Asked) -> dict[str, JSON]:
    if isinstance(asked, OverBudget):
        raise _over_budget("the top-up", asked)
    if isinstance(asked, PriceDoubted):
        raise errors.SafetyError(
            f"{asked.pack} was not asked for: {asked.message}",
            "Look at the prices with `journeyman topup packs --read`, which keeps them."
            if asked.has_changed
            else "Try again soon; `journeyman discover` shows the documents.",
        )
    if isinstance(asked, NotOpened):
        raise _not_done(
            "a payment page was made",
            "no payment page was made",
            asked.failure,
            asked.spend_id,
        )
    return asdict(asked)


def _over_budget(what: str, over: OverBudget) -> errors.SafetyError:
    frees_at = over.frees_at
    frees = f" It is free again at {frees_at:%Y-%m-%d %H:%M} UTC." if frees_at else ""
    return errors.SafetyError(
        f"{what} would exceed one of your limits: {over.message}",
        f"Nothing was sent. The setting is {over.setting}.{frees}",
    )


def _not_done(
    done: str, not_done: str, failure: Failure, spend_id: SpendId
) -> errors.JourneymanError:
    if isinstance(failure, Unknown):
        return errors.NetworkError(
            f"it is not known whether {done}: {failure.message}",
            f"It counts as spent ({spend_id}) and is not sent again by itself.",
        )
    advice = advice_for(failure, has_token=True)
    return errors.NetworkError(
        f"{not_done}: {failure.message}", f"Nothing was spent. {advice}"
    )


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class OwnerCommands(AgentCommands):
    """What each verb of `journeyman.control.verbs` does in a running daemon."""

    parts: Components
    stop_daemon: Callable[[str], None]

    async def status(self) -> dict[str, JSON]:
        """Return everything at a glance: who, how long, how much, and why not more."""
        hooks, loaded = self.parts.hooks, self.parts.active.registry.strategies
        return {
            **self.glance(),
            "strategy_status": {
                one.name: await hooks.status(one)
                for one in loaded
                if "status" in one.hooks
            },
        }

    def glance(self) -> dict[str, JSON]:
        """Return the status without what strategies say of themselves: it runs none."""
        parts, agent = self.parts, self.agent
        progress, tally = parts.worker.progress, parts.discover.tally
        return {
            "running": True,
            "version": __version__,
            "pid": os.getpid(),
            "agent_id": agent.identity.agent_id,
            "base_url": agent.base_url,
            "data_directory": str(agent.directory.path),
            "up_seconds": round(parts.heartbeat.up_seconds),
            "obstacle": parts.gate.obstacle,
            "event_loop": turns_status(parts.environment.turns),
            "cluster": cluster_status(parts.cluster, parts.settings.cluster.max_slots),
            "pauses": pauses(agent.rate_limiter, parts.environment.clock),
            "slots": parts.worker.slots,
            "carried": parts.worker.in_flight,
            "this_run": {
                "polls": tally.polls,
                "failed_polls": tally.failed_polls,
                "listed": tally.listed,
                "wanted": tally.wanted,
                "completed": progress.completed,
                "ended": progress.ended,
                "lost": progress.lost,
            },
            "blocked_actions": dict(agent.network.search.blocked_actions()),
            **owner_pauses.stands_still(agent.journal, agent.environment.clock.now()),
            **self._strategies(),
            "credit_state": credit_state(agent.limits, agent.journal),
            **journal_status(agent.journal, agent.base_url),
            "causes": [one.as_json() for one in parts.find_causes()],
        }

    def _strategies(self) -> dict[str, JSON]:
        active = self.parts.active
        now = self.parts.environment.clock.now()
        loaded = active.registry.strategies
        return {
            "loaded_strategies": [one.name for one in loaded],
            "strategy_folders": self.parts.source.folders.as_json(),
            "shadow_strategies": [one.name for one in active.shadows.strategies],
            "strategy_problems": [str(p) for p in active.registry.problems],
            "strategy_runners": {one.name: one.runner for one in loaded},
            "isolation": {**available_confinement()},
            "strategy_health": health_of_strategies(self.agent.journal, now),
        }

    def budget(self) -> dict[str, JSON]:
        """Return each limit on spending, and what is left of it."""
        agent = self.agent
        return budget_status(
            agent.limits,
            agent.journal,
            agent.environment.clock.now(),
            agent.plans,
            agent.growth,
        )

    def health(self) -> dict[str, JSON]:
        """Return whether the daemon does its work, and if not, why."""
        now = self.parts.environment.clock.monotonic()
        reasons = [one.message for one in self.parts.causes.last]
        return health(self.parts.discovering, self.parts.gate, now, reasons)

    def pause(self, request: verbs.PauseRequest) -> dict[str, JSON]:
        """Claim nothing until `resume`, or for a while, also after a restart."""
        return owner_pauses.pause(self.agent.journal, self.parts.environment, request)

    def resume(self, request: verbs.WhoAsks) -> dict[str, JSON]:
        """Claim again."""
        answer = owner_pauses.resume(
            self.agent.journal, self.parts.environment, request
        )
        self.parts.look_again()
        return answer

    def disable(self, request: verbs.DisableRequest) -> dict[str, JSON]:
        """Disable a strategy: it gets nothing new, also after a restart.

        Raises:
            ConfigurationError: there is none of this name.
        """
        active = self.parts.active
        name = active.registry.of(active.current.everyone).find(request.name).name
        return owner_pauses.disable(
            self.agent.journal, self.parts.environment, replace(request, name=name)
        )

    def enable(self, request: verbs.StrategyName) -> dict[str, JSON]:
        """Enable a strategy: it gets work again.

        Raises:
            UsageError: it is not disabled.
        """
        answer = owner_pauses.enable(
            self.agent.journal, self.parts.environment, request
        )
        self.parts.look_again()
        return answer

    def acknowledge_journal(self) -> dict[str, JSON]:
        """Tell no more that the journal is older than the one before it.

        Raises:
            UsageError: it was not found to be.
        """
        acknowledge_older(self.agent.journal, self.agent.environment.log)
        return {"older_journal_found_at": None}

    def retry(self, request: verbs.TaskRequest) -> dict[str, JSON]:
        """Try a task again now.

        Raises:
            UsageError: that makes no sense, or it is being worked on.
        """
        if self.parts.worker.is_busy_with(TaskId(request.task_id)):
            raise errors.UsageError(
                f"{escape(request.task_id)} is being worked on at this moment",
                "Wait for it, or give it up: journeyman tasks abandon "
                f"{escape(request.task_id)}",
            )
        answer = owner_tasks.retry(self.agent.journal, self.parts.environment, request)
        self.parts.look_again()
        return answer

    async def abandon(self, request: verbs.TaskRequest) -> dict[str, JSON]:
        """Give up a task in flight; work on it is broken off.

        Raises:
            UsageError: there is nothing to give up.
        """
        journal, worker = self.agent.journal, self.parts.worker
        task_id = TaskId(request.task_id)
        owner_tasks.require_in_flight(journal, task_id)
        while worker.is_busy_with(task_id):
            await worker.break_off(task_id)
        answer = owner_tasks.abandon(journal, self.parts.environment, request)
        record = journal.tasks.get(task_id)
        self.parts.lifecycle.contexts.clean_up(record)
        worker.count_end(record)
        self.parts.look_again()
        return answer

    def stop(self, request: verbs.StopRequest) -> None:
        """Drain and exit; at once, if so asked."""
        self.stop_daemon("asked by the owner")
        if request.now:
            # Asked again, work in flight is broken off.
            self.stop_daemon("asked by the owner")

    async def reload(self) -> dict[str, JSON]:
        """Reload the strategies, or return why the old ones stay."""
        return (await self.parts.reloader.reload("asked by the owner")).as_json()

    def release(self, request: verbs.StrategyName) -> dict[str, JSON]:
        """Release a strategy from quarantine.

        Raises:
            UsageError: it is not in quarantine.
        """
        if not self.parts.quarantine.release(request.name):
            raise _not_in_quarantine(request.name)
        self.parts.look_again()
        return {"strategy": request.name, "released": True}

    def promote(self, request: verbs.StrategyName) -> dict[str, JSON]:
        """Activate a strategy that was in shadow."""
        return self.parts.promotion.promote(request.name)


def release_in_journal(journal: Journal, strategy: str) -> dict[str, JSON]:
    """Release one where no daemon runs; the next start gives it work.

    Raises:
        UsageError: it is not in quarantine.
    """
    healths = [
        health
        for health in journal.strategy_health.all().values()
        if health.strategy == strategy and health.condition is not Condition.SOUND
    ]
    if not healths:
        raise _not_in_quarantine(strategy)
    with journal.tx("strategy released"):
        for health in healths:
            journal.strategy_health.forget(health.part)
    return {"strategy": strategy, "released": True}


def _not_in_quarantine(strategy: str) -> errors.UsageError:
    return errors.UsageError(
        f"the strategy {strategy!r} is not in quarantine",
        "Those in quarantine are shown by `journeyman status`.",
    )
