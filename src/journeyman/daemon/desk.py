"""What the owner can ask of a running daemon, answered from its parts."""

import os
from collections.abc import Callable

from journeyman.daemon.agent import Agent
from journeyman.daemon.compose import Works
from journeyman.daemon.loops import DiscoverLoop, Heartbeat
from journeyman.daemon.plugins import Plugins
from journeyman.daemon.pressure import held_back
from journeyman.daemon.release import health_of_strategies, release_strategy
from journeyman.daemon.status import journal_status
from journeyman.daemon.transactions import post_task, settle_top_up, top_up
from journeyman.domain import JSON, Clock, NewTask, SpendId
from journeyman.domain.version import __version__
from journeyman.settings import Settings
from journeyman.strategies.runners import what_holds

STALE_AFTER_SECONDS = 120.0
"""So long after a look was due, the discover loop must be stuck."""


class DaemonDesk:
    """Implements `journeyman.console.Desk`."""

    def __init__(
        self,
        *,
        settings: Settings,
        agent: Agent,
        works: Works,
        plugins: Plugins,
        discovering: DiscoverLoop,
        heartbeat: Heartbeat,
        stop: Callable[[str], None],
        clock: Clock,
    ) -> None:
        self._settings = settings
        self._agent = agent
        self._works = works
        self._plugins = plugins
        self._discovering = discovering
        self._heartbeat = heartbeat
        self._stop = stop
        self._clock = clock

    def status(self) -> dict[str, JSON]:
        """Everything at a glance: who, how long, how much, what now, why not more."""
        progress, tally = self._works.worker.progress, self._works.discover.tally
        return {
            "running": True,
            "version": __version__,
            "pid": os.getpid(),
            "agent_id": self._agent.identity.agent_id,
            "base_url": self._agent.base_url,
            "data_directory": str(self._agent.directory.path),
            "up_seconds": round(self._heartbeat.up_seconds),
            "obstacle": self._works.gate.obstacle,
            "held_back": held_back(self._agent.pressure, self._clock),
            "slots": self._settings.work.slots,
            "carried": self._works.worker.in_flight,
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
        crew, hooks = self._works.staff.crew, self._plugins.hooks
        loaded = crew.registry.strategies
        return {
            "loaded_strategies": [one.name for one in loaded],
            "shadow_strategies": [one.name for one in crew.shadows.strategies],
            "strategy_problems": [str(p) for p in crew.registry.problems],
            "strategy_runners": {one.name: one.runner for one in loaded},
            "isolation": {**what_holds()},
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
            "obstacle": self._works.gate.obstacle,
        }

    def pause(self) -> None:
        """Claim nothing until `resume`."""
        self._works.gate.pause()

    def resume(self) -> None:
        """Claim again."""
        self._works.gate.resume()
        self._works.worker.bell.ring()
        self._discovering.wake()

    def stop(self) -> None:
        """Drain and exit."""
        self._stop("asked by the owner")

    async def reload(self) -> dict[str, JSON]:
        """Load the strategies anew, or say why the old ones stay."""
        return (await self._plugins.reloader.reload("asked by the owner")).as_json()

    def release(self, strategy: str) -> dict[str, JSON]:
        """Let a strategy out of quarantine."""
        released = release_strategy(self._works.staff.quarantine, strategy)
        self._works.worker.bell.ring()
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
