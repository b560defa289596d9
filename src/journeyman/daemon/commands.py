"""What the owner can ask of a running daemon, answered from its parts."""

import os
from collections.abc import Callable
from datetime import datetime

from journeyman.daemon.agent import Agent, held_back
from journeyman.daemon.loops import DiscoverLoop, Heartbeat
from journeyman.daemon.wiring import Components, Plugins
from journeyman.domain import __version__
from journeyman.domain.clock import Clock
from journeyman.domain.errors import (
    JourneymanError,
    NetworkError,
    SafetyError,
    UsageError,
)
from journeyman.domain.outcomes import Failure, Unknown
from journeyman.domain.tasks import IN_FLIGHT, JSON, NewTask, SpendId, TaskState
from journeyman.economy.budget import OverBudget
from journeyman.economy.posting import NotAccepted
from journeyman.economy.topup import NotOpened
from journeyman.journal.journal import Journal
from journeyman.journal.spends import SpendState
from journeyman.journal.strategy_health import Condition
from journeyman.lifecycle.quarantine import Quarantine, is_on_trial
from journeyman.settings.sections import Settings
from journeyman.strategies.child.confinement import available
from journeyman.worker.join import is_registration_unknown
from journeyman.worker.token import rejection

REASONS_SHOWN = 8


def journal_status(journal: Journal) -> dict[str, JSON]:
    """Give balance, tasks by state and by strategy, and what waits."""
    counts = journal.tasks.counts()
    return {
        "registration_unknown": is_registration_unknown(journal),
        "token_rejected": rejection(journal),
        "balance": journal.ledger.balance(),
        "ledger": dict(journal.ledger.totals()),
        "held_credits": journal.spends.held_credits(),
        "tasks_seen": journal.totals.get("tasks.seen"),
        "tasks": dict(counts),
        "in_flight": sum(counts.get(state, 0) for state in IN_FLIGHT),
        "waiting": counts.get(TaskState.WANTED, 0),
        "strategies": {
            name: dict(states)
            for name, states in journal.tasks.outcomes_by_strategy().items()
        },
        "skipped_because": dict(journal.tasks.skip_reasons(REASONS_SHOWN)),
        "open_top_ups": [
            {
                "spend_id": spend.spend_id,
                "credits": spend.credits,
                "cents": spend.cents,
                "url": spend.answer.get("url"),
            }
            for spend in journal.spends.in_state(SpendState.OPEN)
        ],
    }


async def post_task(agent: Agent, new: NewTask) -> dict[str, JSON]:
    """Publish a task.

    Raises:
        SafetyError: a limit of the owner's says no.
        NetworkError: the network did not take it, or may have.
    """
    done = await agent.posting.post(new)
    if isinstance(done, OverBudget):
        raise _over_budget("the post", done)
    if isinstance(done, NotAccepted):
        raise _not_done("the task was not posted", done.failure, done.spend_id)
    return {
        "spend_id": done.spend_id,
        "task_id": done.task_id,
        "reward": new.reward,
        "balance": agent.journal.ledger.balance(),
    }


async def top_up(agent: Agent, credits_: int) -> dict[str, JSON]:
    """Ask for a payment page.

    Raises:
        SafetyError: a cap of the owner's says no.
        NetworkError: the network made no page, or may have.
    """
    asked = await agent.top_up.ask(agent.identity.agent_id, credits_)
    if isinstance(asked, OverBudget):
        raise _over_budget("the top-up", asked)
    if isinstance(asked, NotOpened):
        raise _not_done("no payment page was made", asked.failure, asked.spend_id)
    return {
        "spend_id": asked.spend_id,
        "url": asked.url,
        "credits": asked.credits,
        "cents": asked.cents,
    }


def settle_top_up(agent: Agent, spend_id: SpendId, *, paid: bool) -> dict[str, JSON]:
    """Book a top-up on the owner's word, or forget it.

    Raises:
        SafetyError: no such top-up waits.
    """
    settle = agent.top_up.confirm if paid else agent.top_up.cancel
    spend = settle(spend_id)
    return {
        "spend_id": spend.spend_id,
        "credits": spend.credits,
        "booked": paid,
        "balance": agent.journal.ledger.balance(),
    }


def _over_budget(what: str, over: OverBudget) -> SafetyError:
    return SafetyError(
        f"{what} would break a limit of yours: {over.message}",
        f"Nothing was sent. The setting is {over.setting}.",
    )


def _not_done(what: str, failure: Failure, spend_id: SpendId) -> JourneymanError:
    if isinstance(failure, Unknown):
        return NetworkError(
            f"{what}, or it was: {failure.message}",
            f"It counts as spent ({spend_id}) and is not sent again by itself.",
        )
    return NetworkError(f"{what}: {failure.message}", "Nothing was spent.")


def release_strategy(quarantine: Quarantine, strategy: str) -> dict[str, JSON]:
    """Release one from a running daemon's quarantine.

    Raises:
        UsageError: it is not there.
    """
    if not quarantine.release(strategy):
        raise _not_held(strategy)
    return {"strategy": strategy, "released": True}


def release_in_journal(journal: Journal, strategy: str) -> dict[str, JSON]:
    """Release one where no daemon runs; the next start gives it work.

    Raises:
        UsageError: it is not in quarantine.
    """
    health = journal.strategy_health.all().get(strategy)
    if health is None or health.condition is Condition.SOUND:
        raise _not_held(strategy)
    with journal.tx("strategy released"):
        journal.strategy_health.forget(strategy)
    return {"strategy": strategy, "released": True}


def _not_held(strategy: str) -> UsageError:
    return UsageError(
        f"the strategy {strategy!r} is not in quarantine",
        "Those in quarantine are shown by `journeyman status`.",
    )


def health_of_strategies(journal: Journal, now: datetime) -> dict[str, JSON]:
    """Give, by name, each strategy that is in quarantine or on trial after it.

    Each has `condition` (resting, on trial or misconfigured), `problem`, `fix`,
    `task_id`, `errors` (a number) and `retry_in` (seconds; None: only a change helps).
    """
    ill: dict[str, JSON] = {}
    for name, health in journal.strategy_health.all().items():
        if health.condition is Condition.SOUND:
            continue
        is_over = is_on_trial(health, now.timestamp())
        rest = 0.0 if is_over else health.rests_until - now.timestamp()
        is_resting = health.condition is Condition.RESTING
        ill[name] = {
            "condition": "on trial" if is_over else str(health.condition),
            "problem": health.problem,
            "fix": health.fix,
            "task_id": health.task_id,
            "errors": len(health.errors),
            "retry_in": round(rest) if is_resting else None,
        }
    return ill


STALE_AFTER_SECONDS = 120.0
"""So long after a look was due, the discover loop must be stuck."""


class DaemonDesk:
    """Implements `journeyman.control.server.Desk`."""

    def __init__(
        self,
        *,
        settings: Settings,
        agent: Agent,
        components: Components,
        plugins: Plugins,
        discovering: DiscoverLoop,
        heartbeat: Heartbeat,
        stop: Callable[[str], None],
        clock: Clock,
    ) -> None:
        self._settings = settings
        self._agent = agent
        self._components = components
        self._plugins = plugins
        self._discovering = discovering
        self._heartbeat = heartbeat
        self._stop = stop
        self._clock = clock

    def status(self) -> dict[str, JSON]:
        """Everything at a glance: who, how long, how much, what now, why not more."""
        progress, tally = (
            self._components.worker.progress,
            self._components.discover.tally,
        )
        return {
            "running": True,
            "version": __version__,
            "pid": os.getpid(),
            "agent_id": self._agent.identity.agent_id,
            "base_url": self._agent.base_url,
            "data_directory": str(self._agent.directory.path),
            "up_seconds": round(self._heartbeat.up_seconds),
            "obstacle": self._components.gate.obstacle,
            "held_back": held_back(self._agent.rate_limiter, self._clock),
            "slots": self._settings.work.slots,
            "carried": self._components.worker.in_flight,
            "this_run": {
                "polls": tally.polls,
                "failed_polls": tally.failed_polls,
                "listed": tally.listed,
                "wanted": tally.wanted,
                "completed": progress.completed,
                "ended": progress.ended,
                "lost": progress.lost,
            },
            "resting": dict(self._agent.network.resting()),
            **self._strategies(),
            **journal_status(self._agent.journal),
        }

    def _strategies(self) -> dict[str, JSON]:
        active, hooks = self._components.lifecycle.active, self._plugins.hooks
        loaded = active.registry.strategies
        return {
            "loaded_strategies": [one.name for one in loaded],
            "shadow_strategies": [one.name for one in active.shadows.strategies],
            "strategy_problems": [str(p) for p in active.registry.problems],
            "strategy_runners": {one.name: one.runner for one in loaded},
            "isolation": {**available()},
            "strategy_health": health_of_strategies(
                self._agent.journal, self._clock.now()
            ),
            "strategy_status": {
                one.name: hooks.status(one) for one in loaded if "status" in one.hooks
            },
        }

    def health(self) -> dict[str, JSON]:
        """Healthy: the loops run. A network that is down does not make us ill."""
        now = self._clock.monotonic()
        age = now - self._discovering.looked_at
        stuck = now - self._discovering.next_look_at > STALE_AFTER_SECONDS
        return {
            "healthy": not stuck,
            "problem": f"no look at the network for {age:.0f} s" if stuck else "",
            "last_look_seconds_ago": round(age, 1),
            "obstacle": self._components.gate.obstacle,
        }

    def pause(self) -> None:
        """Claim nothing until `resume`."""
        self._components.gate.pause()

    def resume(self) -> None:
        """Claim again."""
        self._components.gate.resume()
        self._components.worker.wakeup.notify()
        self._discovering.wake()

    def stop(self) -> None:
        """Drain and exit."""
        self._stop("asked by the owner")

    async def reload(self) -> dict[str, JSON]:
        """Load the strategies anew, or say why the old ones stay."""
        return (await self._plugins.reloader.reload("asked by the owner")).as_json()

    def release(self, strategy: str) -> dict[str, JSON]:
        """Let a strategy out of quarantine."""
        released = release_strategy(self._components.lifecycle.quarantine, strategy)
        self._components.worker.wakeup.notify()
        self._discovering.wake()
        return released

    def promote(self, strategy: str) -> dict[str, JSON]:
        """Give a strategy work that was in shadow."""
        return self._plugins.promotion.promote(strategy)

    async def post(self, new: NewTask) -> dict[str, JSON]:
        """Publish a task within the owner's limits."""
        return await post_task(self._agent, new)

    async def top_up(self, credits_: int) -> dict[str, JSON]:
        """Ask for a payment page."""
        return await top_up(self._agent, credits_)

    def settle_top_up(self, spend_id: SpendId, *, paid: bool) -> dict[str, JSON]:
        """Book a top-up on the owner's word, or forget it."""
        return settle_top_up(self._agent, spend_id, paid=paid)
