"""Which fault, if any, a request meets: by number, by outage, or by chance."""

from collections import Counter
from collections.abc import Callable

from journeyman.simulation.clock import seeded
from journeyman.simulation.plan import Plan


class Weather:
    """Decides about each request of a run, in the order in which they leave."""

    def __init__(self, plan: Plan, point: Callable[[], int]) -> None:
        """Begin; `point` gives the number of the last crash point."""
        self._plan = plan
        self._point = point
        self._passed = 0
        self._random = seeded(plan.seed, "weather")
        self.requests = 0
        """How many have left so far."""
        self.counts: Counter[str] = Counter()
        """How often each fault has struck."""
        self.struck_at: list[int] = []
        """After which crash point each of them struck."""

    def over(self, seconds: float, path: str) -> str:
        """Name the fault that the request which leaves now will meet; or none."""
        self.requests += 1
        planned = self._plan.fault_at.get(self.requests, "") or self._on_spot(path)
        name = planned or self._by_chance(seconds)
        if name:
            self.counts[name] += 1
            self.struck_at.append(self._point())
        return name

    def _on_spot(self, path: str) -> str:
        spot = self._plan.fault_on
        if spot is None or spot.about not in path:
            return ""
        self._passed += 1
        return spot.kind if self._passed == spot.number else ""

    def _by_chance(self, seconds: float) -> str:
        plan = self._plan
        if seconds >= plan.fault_seconds:
            return ""
        for outage in plan.outages:
            if outage.strikes(seconds):
                return outage.fault
        if plan.faults and self._random.random() < plan.fault_rate:
            return self._random.choice(plan.faults)
        return ""
