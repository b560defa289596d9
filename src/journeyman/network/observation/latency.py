"""How long calls took: counts in fixed buckets, so that it never grows."""

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Self

from journeyman.domain import JSON
from journeyman.network.observation.stored import MalformedRecordError, count_in

#: Upper bounds in seconds; what took longer lies in one more bucket behind them.
BOUNDS = (
    *(0.001, 0.002, 0.005, 0.01, 0.02, 0.05),
    *(0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0),
)


def _empty() -> list[int]:
    return [0] * (len(BOUNDS) + 1)


@dataclass(slots=True)
class Latency:
    """A histogram of seconds."""

    counts: list[int] = field(default_factory=_empty)

    def learn(self, seconds: float) -> None:
        """Count one call."""
        self.counts[bisect_left(BOUNDS, seconds)] += 1

    def quantile(self, part: float) -> float | None:
        """Give seconds within which this part (0 to 1) of all calls was answered.

        It is a bucket's upper bound. None: there were no calls, or they took longer
        than the last bound.
        """
        wanted, so_far = part * sum(self.counts), 0
        for bound, count in zip(BOUNDS, self.counts, strict=False):
            so_far += count
            if so_far and so_far >= wanted:
                return bound
        return None

    def to_json(self) -> JSON:
        """Give it for the journal."""
        return list(self.counts)

    @classmethod
    def from_json(cls, told: JSON) -> Self:
        """Read what `to_json` gave.

        Raises:
            MalformedRecordError: it is something else.
        """
        if not isinstance(told, list) or len(told) != len(BOUNDS) + 1:
            raise MalformedRecordError("a histogram of other buckets")
        return cls([count_in(count) for count in told])
