"""A limit that halves under pressure and grows back by equal steps.

Additive increase, multiplicative decrease: the rule by which many senders that know
nothing of each other come to share a resource fairly (Chiu and Jain, 1989).
"""

STEPS_BACK = 8
"""So many good answers bring a limit back to where pressure was first met."""


class Adaptive:
    """A limit on a quantity; none until pressure is met."""

    def __init__(self, floor: float) -> None:
        """Make one that is never below `floor`, in the quantity's own unit."""
        self._floor = floor
        self._knee = 0.0
        self.value: float | None = None
        """The limit; None means any."""

    def lower(self, used: float) -> None:
        """Halve it, from what was used when pressure was met.

        The first time tells how much is normal here: there the way back leads, however
        often it is halved meanwhile.
        """
        if self.value is None:
            self._knee = max(used, self._floor)
        current = used if self.value is None else min(used, self.value)
        self.value = max(self._floor, current / 2)

    def grow(self) -> None:
        """Take one step back; twice the old normal is as good as no limit."""
        if self.value is None:
            return
        self.value += self._knee / STEPS_BACK
        if self.value >= 2 * self._knee:
            self.value = None
