"""What a task has paid, where a network has words for it that nobody knows.

An answer that shows the pay and the balance after it tells them by their sum, and the
listing by the number that it had: `{"Gutschrift": 9, "KontoStand": 109}` to whoever had
100 credits and did what was listed with 9. From then on their names are known.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from journeyman.domain.tasks import JSON
from journeyman.journal.journal import Journal
from journeyman.network.service_model.naming import ID_WORDS, words_of
from journeyman.network.service_model.request import values_in

FACT = "unnamed_pay"
"""Under this the journal keeps the names: in the answer, and in the listing."""


@dataclass(eq=False)
class UnnamedPay:
    """Learns what a network calls its pay, and reads it."""

    journal: Journal

    def read(
        self,
        record: Mapping[str, JSON],
        *answers: Mapping[str, JSON],
        is_alone: bool,
    ) -> int | None:
        """Return the credits that the answers to a task show; None: they show none.

        `record` is the task as it was listed, `answers` the single values of each
        answer by their ways, the last answer first; `is_alone` says that nothing else
        has moved credits meanwhile.
        """
        listed = _numbers(values_in("listed", dict(record)))
        names = self.journal.facts.get(FACT)
        if isinstance(names, list):
            ours, theirs = map(str, names)
            shown = (_numbers(one).get(ours) for one in answers)
            return next((pay for pay in shown if pay == listed.get(theirs)), None)
        told = ([*self._told_by_sums(listed, _numbers(one))] for one in answers)
        found = next(filter(None, told), []) if is_alone else []
        if len(found) != 1:
            return None
        ((ours, theirs, pay),) = found
        with self.journal.tx("unnamed_pay"):
            self.journal.facts.put(FACT, [ours, theirs])
        return pay

    def _told_by_sums(
        self, listed: Mapping[str, int], shown: Mapping[str, int]
    ) -> Iterator[tuple[str, str, int]]:
        before = self.journal.ledger.balance()
        for ours, pay in shown.items():
            others = (one for name, one in shown.items() if name != ours)
            if before + pay in others:
                for theirs, was in listed.items():
                    if was == pay:
                        yield ours, theirs, pay


def _numbers(values: Mapping[str, JSON]) -> dict[str, int]:
    """Return the whole numbers above 0 that are no identifiers, by their ways."""
    return {
        way: number
        for way, value in values.items()
        if (number := _whole(value)) > 0
        and ID_WORDS.isdisjoint(words_of(way.rpartition(".")[2])[-1:])
    }


def _whole(value: JSON) -> int:
    """Return a whole number, also of a mainframe, as `0000015`; 0 if it is none."""
    if isinstance(value, str):
        return int(value) if _FILLED_UP.fullmatch(value) else 0
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


_FILLED_UP = re.compile(r"0[0-9]{3,11}")
"""Without a nought in front it may be a code."""
