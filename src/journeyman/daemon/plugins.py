"""What the daemon does for strategies beside giving them tasks, put together."""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from journeyman.daemon.agent import Agent, World
from journeyman.daemon.compose import Works
from journeyman.daemon.hooks import Hooks
from journeyman.daemon.posts import StrategyPosts
from journeyman.daemon.promotion import Promotion
from journeyman.daemon.reload import Reloader
from journeyman.daemon.strategies import (
    in_force,
    load_strategies,
    strategies_directory,
)
from journeyman.daemon.watching import StrategyWatch
from journeyman.economy import Allowances
from journeyman.loop import Bell
from journeyman.settings import Settings
from journeyman.strategies.calling import HookCaller
from journeyman.strategies.leaks import LeakScan

Chore: TypeAlias = tuple[str, float, Callable[[], Awaitable[None] | None]]
"""A name, how often in seconds, and what to do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Plugins:
    """The parts that look after strategies."""

    hooks: Hooks
    reloader: Reloader
    posts: StrategyPosts
    promotion: Promotion
    settings: Settings

    def settle(self) -> None:
        """Write down which strategies are in shadow now."""
        self.promotion.settle(self.reloader.strategy_settings)

    def chores(self) -> Iterator[Chore]:
        """Give what is to be done at an interval."""
        every = self.settings.schedule
        yield "spend", every.spend_every_seconds, self.posts.round
        if self.settings.strategies.watch:
            watch = StrategyWatch(
                lambda: strategies_directory(self.reloader.strategy_settings),
                lambda: self.reloader.wish("a strategy file has changed"),
            )
            yield "watch", every.watch_every_seconds, watch.look


def build_plugins(
    settings: Settings,
    agent: Agent,
    works: Works,
    world: World,
    *,
    reread: Callable[[], Settings],
    wishes: Bell,
) -> Plugins:
    """Build them around the moving parts.

    Args:
        settings: what the daemon runs by.
        agent: who we are.
        works: the moving parts.
        world: what simulation replaces.
        reread: reads the settings again; may raise ConfigurationError.
        wishes: rung when a reload is wanted.
    """
    hooks = Hooks(
        staff=works.staff,
        caller=HookCaller(world.clock, block_limit=world.block_limit),
        journal=agent.journal,
        seconds=settings.containment.hook_seconds,
        log=world.log,
    )
    works.worker.on_end(hooks.tell_outcome)
    promotion = _build_promotion(settings, agent, works, world)
    return Plugins(
        hooks=hooks,
        promotion=promotion,
        reloader=Reloader(
            settings=settings,
            reread=reread,
            load=load_strategies,
            part=partial(in_force, journal=agent.journal),
            staff=works.staff,
            hooks=hooks,
            gate=works.gate,
            wishes=wishes,
            log=world.log,
        ),
        posts=StrategyPosts(
            works=works,
            hooks=hooks,
            agent=agent,
            allowances=Allowances(
                each=settings.budget.per_strategy_credits,
                of=settings.budget.strategy_credits,
            ),
            leaks=LeakScan(world.redactor.knows),
            clock=world.clock,
            log=world.log,
        ),
        settings=settings,
    )


def _build_promotion(
    settings: Settings, agent: Agent, works: Works, world: World
) -> Promotion:
    promotion = Promotion(
        crew=works.staff.crew,
        journal=agent.journal,
        rules=settings.promotion,
        clock=world.clock,
        log=world.log,
    )
    works.worker.on_end(promotion.watch)
    return promotion
