"""The orders that are compared: ours, two simple ones, and one that knows it all."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from journeyman.domain import TaskId
from journeyman.journal import Waiting
from journeyman.loop import RANKINGS, Ranking
from journeyman.simulation.trial.market import Offer

REQUESTS_SECONDS = 0.3
"""That claiming, submitting and completing take, beside the work."""

Offers = Mapping[str, Offer]


def clairvoyant(offers: Offers, waiting: Sequence[Waiting]) -> list[TaskId]:
    """Rank by what each task will really bring a second, and leave failures out."""
    certain = [one for one in waiting if offers[one.task_id].is_accepted]

    def worth(one: Waiting) -> float:
        return one.reward / (offers[one.task_id].seconds + REQUESTS_SECONDS)

    return [one.task_id for one in sorted(certain, key=worth, reverse=True)]


ORDERS: dict[str, Callable[[Offers], Ranking | None]] = {
    "expected": lambda _offers: None,
    "first": lambda _offers: RANKINGS["first"],
    "reward": lambda _offers: RANKINGS["reward"],
    "clairvoyant": lambda offers: partial(clairvoyant, offers),
}
"""By their names; None is what the daemon does by itself."""
