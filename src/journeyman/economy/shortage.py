"""When credits run short: say so, or ask for a payment page, as the owner allows."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from journeyman.domain import AgentId, Clock
from journeyman.economy import events
from journeyman.economy.budget import OverBudget, standing
from journeyman.economy.topup import NotOpened, TopUp
from journeyman.journal import Journal, SpendKind
from journeyman.observability import Log

REST_SECONDS: Final = 3_600.0
"""After a request for a page that gave none; each leaves a row in the journal."""


class TopUpMode(StrEnum):
    """What the owner allows."""

    #: Nothing is said or asked for by itself; the owner's own command still works.
    OFF = "off"
    #: The log says that credits run short; the owner asks for the page.
    ASK = "ask"
    #: The page is asked for, within the caps; a person pays there, or does not.
    AUTO = "auto"


@dataclass(frozen=True, kw_only=True, slots=True)
class Refill:
    """When to ask, and for how much; both in credits."""

    mode: TopUpMode
    below_credits: int
    credits: int


class Shortage:
    """Looks now and then whether credits run short.

    `is_held` tells that the network takes no such request now.
    """

    def __init__(
        self,
        *,
        agent_id: AgentId,
        top_up: TopUp,
        journal: Journal,
        refill: Refill,
        is_held: Callable[[], bool],
        clock: Clock,
        log: Log,
    ) -> None:
        self._agent_id = agent_id
        self._top_up = top_up
        self._journal = journal
        self._refill = refill
        self._is_held = is_held
        self._rests_until = 0.0
        self._clock = clock
        self._log = log

    async def check(self) -> None:
        """Look once. While one top-up waits for payment, no other is asked for.

        That holds over restarts, since what waits is in the journal: an agent whose
        payment is slow to arrive must not buy again at each start.
        """
        if self._refill.mode is TopUpMode.OFF or self._is_waiting():
            return
        if self._is_held() or self._clock.monotonic() < self._rests_until:
            return
        available = standing(self._journal, self._clock.now()).available
        if available >= self._refill.below_credits:
            return
        if self._refill.mode is TopUpMode.ASK:
            self._suggest(available)
            return
        asked = await self._top_up.ask(self._agent_id, self._refill.credits)
        if isinstance(asked, NotOpened):
            self._rests_until = self._clock.monotonic() + REST_SECONDS
        if isinstance(asked, OverBudget):
            self._log.emit(
                events.TOP_UP_OVER_CAP,
                setting=asked.setting,
                message=asked.message,
            )

    def _is_waiting(self) -> bool:
        return bool(self._journal.spends.unsettled(SpendKind.TOP_UP))

    def _suggest(self, available: int) -> None:
        self._log.emit(
            events.TOP_UP_SUGGESTED,
            available=available,
            below_credits=self._refill.below_credits,
            credits=self._refill.credits,
        )
