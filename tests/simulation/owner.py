"""The owner, who now and then posts a task or asks for a payment page."""

from collections.abc import Callable

import anyio
from tests.simulation.loop import seeded
from tests.simulation.plan import Plan
from tests.simulation.trace import Trace

from journeyman.control.server import Desk
from journeyman.domain.errors import JourneymanError
from journeyman.domain.tasks import NewTask

TOP_UP_ONE_IN = 4


class Owner:
    """Gives errands to whatever daemon runs, each once, whatever comes of it.

    In a hurry, the owner asks for several at once, as from several terminals.
    """

    def __init__(self, plan: Plan, trace: Trace) -> None:
        self._random = seeded(plan.seed, "owner")
        self._moments = sorted(
            self._random.uniform(0, plan.fault_seconds) for _ in range(plan.errands)
        )
        self._at_once = plan.errands_at_once
        self._done = 0
        self._trace = trace

    async def serve(self, desk: Desk, seconds: Callable[[], float]) -> None:
        """Use a daemon's desk until cancelled."""
        while self._done < len(self._moments):
            await anyio.sleep(max(0.0, self._moments[self._done] - seconds()))
            first, last = self._done + 1, self._done + self._at_once
            self._done = min(last, len(self._moments))
            async with anyio.create_task_group() as terminals:
                for number in range(first, self._done + 1):
                    terminals.start_soon(self._ask, desk, number)
        await anyio.sleep_forever()

    async def _ask(self, desk: Desk, number: int) -> None:
        try:
            if number % TOP_UP_ONE_IN == 0:
                await desk.top_up(self._random.randint(1, 50))
            else:
                await desk.post(_errand(number, self._random.randint(1, 9)))
        except JourneymanError as error:
            self._trace.add("errand failed", number=number, why=type(error).__name__)
        else:
            self._trace.add("errand done", number=number)


def _errand(number: int, reward: int) -> NewTask:
    return NewTask(
        title=f"Errand {number}",
        description="Say something, for the owner.",
        reward=reward,
        kind="errand",
    )
