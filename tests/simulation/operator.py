"""The operator, who now and then posts a task or asks for a top-up."""

from collections.abc import Callable

import anyio
from tests.simulation.plan import Plan
from tests.simulation.trace import Trace
from tests.simulation.virtual_time import seeded

from journeyman.control.verbs import PostRequest, TopUpRequest
from journeyman.daemon.commands import OwnerCommands
from journeyman.domain.errors import JourneymanError

TOP_UP_ONE_IN = 4
MOST_BOUGHT, MOST_OFFERED = 400, 25
"""Credits: a few of them come to the caps of a day."""


class Operator:
    """Sends each command once to the daemon that runs, whatever its outcome.

    Several commands may come at once, as from several terminals.
    """

    def __init__(self, plan: Plan, trace: Trace) -> None:
        self._random = seeded(plan.seed, "owner")
        self._moments = sorted(
            self._random.uniform(0, plan.fault_seconds)
            for _ in range(plan.operator_commands)
        )
        self._at_once = plan.operator_commands_at_once
        self._done = 0
        self._trace = trace

    async def serve(
        self, commands: OwnerCommands, seconds: Callable[[], float]
    ) -> None:
        """Command a daemon until cancelled."""
        while self._done < len(self._moments):
            await anyio.sleep(max(0.0, self._moments[self._done] - seconds()))
            first, last = self._done + 1, self._done + self._at_once
            self._done = min(last, len(self._moments))
            async with anyio.create_task_group() as terminals:
                for number in range(first, self._done + 1):
                    terminals.start_soon(self._give, commands, number)
        await anyio.sleep_forever()

    async def _give(self, commands: OwnerCommands, number: int) -> None:
        try:
            if number % TOP_UP_ONE_IN == 0:
                await commands.top_up(
                    TopUpRequest(self._random.randint(1, MOST_BOUGHT))
                )
            else:
                await commands.post(
                    _new_task(number, self._random.randint(1, MOST_OFFERED))
                )
        except JourneymanError as error:
            self._trace.add("command failed", number=number, error=type(error).__name__)
        else:
            self._trace.add("command done", number=number)


def _new_task(number: int, reward: int) -> PostRequest:
    return PostRequest(
        title=f"Order {number}",
        description="Say something, for the operator.",
        reward=reward,
        kind="order",
    )
