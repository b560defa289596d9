"""A daemon on each of many networks drawn at random: on how many it earns.

The real daemon, in simulated time, knows nothing of what was drawn. This tells how
likely the next network is that nobody here has seen, as far as it is put together from
the parts in `drawn`.

    make foreign-drawn                     200 of them
    make foreign-drawn DRAWN=900-1500      these
    make foreign-drawn DRAWN="--without-words 0-200"
                                           that refuse in no language
    make foreign-drawn DRAWN="--in-finnish 0-200"
                                           that name everything in another language
    make foreign-drawn DRAWN="--strangely 0-200"
                                           that do both
    make foreign-drawn DRAWN="--richly 0-200"
                                           with lists, tags, offers, versions
"""

import statistics
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from tests.foreign.drawn import Drawn, described
from tests.foreign.drawn_strangely import (
    DrawnInFinnish,
    DrawnRichly,
    DrawnStrangely,
    DrawnWithoutWords,
)
from tests.foreign.simulated import simulate_on
from tests.foreign.trial import Trial
from tests.simulation.virtual_time import Timeline

LONGEST_SECONDS = 120.0
KINDS: dict[str, tuple[type[Drawn], float]] = {
    "--usually": (Drawn, 0.97),
    "--richly": (DrawnRichly, 0.88),
    "--without-words": (DrawnWithoutWords, 0.9),
    "--in-finnish": (DrawnInFinnish, 0.95),
    "--strangely": (DrawnStrangely, 0.55),
}
"""What is drawn, and on how many of them the daemon has to earn."""


@dataclass(frozen=True)
class DrawnTrial:
    """How it went on one network."""

    seed: int
    what: str
    """What was drawn."""
    trial: Trial

    @property
    def is_earned(self) -> bool:
        """Whether all was paid to one agent, and is in our ledger."""
        book = self.trial.book
        is_booked = self.trial.earned == sum(book.paid.values())
        return (
            {*book.paid} == self.trial.tasks and is_booked and book.registrations == 1
        )

    @property
    def most_refused(self) -> int:
        """How many bodies of the action were refused of which the most were."""
        return max(self.trial.refusals.values())


def try_seed(seed: int, drawn: type[Drawn] = Drawn) -> DrawnTrial:
    """Run a daemon on the network of a seed until all is paid, or for two minutes."""
    backend = drawn(seed)
    with tempfile.TemporaryDirectory() as directory:
        trial = simulate_on(backend, Path(directory), Timeline(), LONGEST_SECONDS)
    return DrawnTrial(seed, described(backend), trial)


def main(words: list[str]) -> int:
    """Try networks; return 1 where too few are earned on, 2 for what are no seeds."""
    try:
        asked = [*_asked(words or ["0-200"])]
    except (KeyError, ValueError):
        kinds = ", ".join(KINDS)
        print(
            f"give seeds as in: 0-200 or 17 42, after one of {kinds}", file=sys.stderr
        )
        return 2
    are_enough = [_try(kind, seeds) for kind, seeds in asked]
    return 0 if all(are_enough) else 1


def _asked(words: Iterable[str]) -> Iterator[tuple[str, list[int]]]:
    kind, is_tried = "--usually", True
    for is_kind, several in groupby(words, lambda word: word.startswith("--")):
        if is_kind:
            *_, kind = several
            KINDS[kind]
        else:
            yield kind, [*_seeds_in(several)]
        is_tried = not is_kind
    if not is_tried:
        raise ValueError(f"{kind} without seeds")


def _try(kind: str, seeds: list[int]) -> bool:
    """Return whether enough of these networks are earned on, and tell."""
    drawn, least = KINDS[kind]
    tried = [*_told(try_seed(seed, drawn) for seed in seeds)]
    earned = sum(one.is_earned for one in tried)
    refused = [one.most_refused for one in tried if one.is_earned]
    share = earned / len(tried)
    print(
        f"{kind[2:]}: earned on {earned} of {len(tried)} networks ({share:.1%}); there,"
        f" of the action that was refused the most, {statistics.median(refused or [0]):g}"
        f" bodies in the median, {max(refused, default=0)} at most, more than 6 on"
        f" {sum(one > 6 for one in refused)}"
    )
    return share >= least


def _told(tried: Iterable[DrawnTrial]) -> Iterator[DrawnTrial]:
    for one in tried:
        if not one.is_earned:
            paid = f"{len(one.trial.book.paid)} of {len(one.trial.tasks)} paid"
            print(f"{one.seed}: {paid}, refused {one.trial.refusals}, {one.what}")
        yield one


def _seeds_in(words: Iterable[str]) -> Iterator[int]:
    for word in words:
        first, is_range, last = word.partition("-")
        yield from range(int(first), int(last)) if is_range else (int(word),)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
