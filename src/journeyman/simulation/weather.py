"""Which fault, if any, a request meets: by number, by outage, or by chance."""

from collections import Counter

from journeyman.simulation.clock import seeded
from journeyman.simulation.plan import Plan


class Weather:
    """Decides about each request of a run, in the order in which they leave."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._random = seeded(plan.seed, "weather")
        self.requests = 0
        """How many have left so far."""
        self.counts: Counter[str] = Counter()
        """How often each fault has struck."""

    def over(self, seconds: float) -> str:
        """Name the fault that the request which leaves now will meet; or none."""
        self.requests += 1
        name = self._plan.fault_at.get(self.requests, "") or self._by_chance(seconds)
        if name:
            self.counts[name] += 1
        return name

    def _by_chance(self, seconds: float) -> str:
        plan = self._plan
        if seconds >= plan.fault_seconds:
            return ""
        for outage in plan.outages:
            if outage.begins <= seconds < outage.ends:
                return outage.fault
        if plan.faults and self._random.random() < plan.fault_rate:
            return self._random.choice(plan.faults)
        return ""
