"""Chance that is the same in every run."""

from random import Random


class FakeRandomness:
    """A `journeyman.domain.Randomness` drawn from a seed."""

    def __init__(self, seed: int = 0) -> None:
        """Make a generator that the same seed makes again."""
        self._random = Random(seed)  # noqa: S311 - repeatable on purpose
        self._made = 0

    def uniform(self, low: float, high: float) -> float:
        """A number between the two."""
        return self._random.uniform(low, high)

    def new_id(self, prefix: str) -> str:
        """An identifier that says which one it is: `post_1`, then `post_2`."""
        self._made += 1
        return f"{prefix}_{self._made}"
