"""What a network's words for the states of tasks mean.

The contract shows no such word. Some are plain; of any other a claim of one task tells
what it means, and that is remembered.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from pydantic import TypeAdapter, ValidationError

from journeyman.domain.tasks import JSON

OPEN_WORDS = frozenset(
    {
        *("", "open", "available", "new", "pending", "published", "active"),
        *("claimable", "listed", "live", "posted", "ready", "unassigned", "unclaimed"),
        *("free", "vacant", "todo", "to do"),
    }
)
"""Words for a task that may be claimed; one without a state counts as open."""

CLAIMED_WORDS = OPEN_WORDS | {"claimed", "assigned", "in_progress", "in progress"}
"""Words for a task that its claimant still works on."""

TAKEN_WORDS = frozenset(
    {
        *("claimed", "assigned", "taken", "reserved", "locked", "in_progress"),
        *("in progress", "in-progress", "inprogress", "submitted", "delivered"),
        *("in_review", "in review", "in-review", "under_review", "reviewing"),
        *("review", "pending_review", "rejected", "paid"),
        *("complete", "completed", "done", "finished", "resolved", "closed"),
        *("cancelled", "canceled", "expired", "failed", "deleted", "archived"),
        *("leased", "booked", "checked_out", "checked out", "rented", "occupied"),
        *("withdrawn", "unavailable", "inactive", "disputed", "settled"),
    }
)
"""Words for a task that somebody has, or that is over."""

OVER_WORDS = TAKEN_WORDS & {
    *("complete", "completed", "done", "finished", "resolved", "closed", "paid"),
    *("cancelled", "canceled", "expired", "failed", "deleted", "archived", "rejected"),
    *("withdrawn", "settled"),
}
"""Of them, those for a task that is over."""
ENOUGH_REFUSALS = 2
"""Claims refused in a row, after which a word means *taken*: one may be a race."""
MOST_WORDS = 50
"""Unknown words of one network; one with more has no states there, but texts."""
MOST_ASKED = 3
"""Words that are asked about at the same time."""


class Meaning(StrEnum):
    """What a word for a state means for us."""

    OPEN = "open"
    TAKEN = "taken"
    #: One claim will tell.
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class StateWords:
    """The words of one network, and what is known of each."""

    learned: Mapping[str, Meaning] = field(default_factory=dict)
    asked: Mapping[str, str] = field(default_factory=dict)
    """The task whose claim will tell what a word means."""
    refusals: Mapping[str, int] = field(default_factory=dict)
    """Claims of tasks in this state that were refused in a row."""
    doubted: tuple[str, ...] = ()
    """Words that are plain, of which a claim will tell whether they are so here."""

    def meaning(self, word: str) -> Meaning:
        """Return what a word means; what was learned outweighs what is plain."""
        if word in self.learned:
            return self.learned[word]
        if word in OPEN_WORDS:
            return Meaning.OPEN
        if word in TAKEN_WORDS:
            return Meaning.UNKNOWN if word in self.doubted else Meaning.TAKEN
        return self._usual if len(self.learned) >= MOST_WORDS else Meaning.UNKNOWN

    @property
    def _usual(self) -> Meaning:
        """What any further word means, after so many: then they are no states."""
        is_open = Meaning.TAKEN not in self.learned.values()
        return Meaning.OPEN if is_open else Meaning.TAKEN

    def doubt(self, word: str) -> "StateWords":
        """Return the words, where all that is listed has a word for what is taken.

        Such as "submitted", of orders that a buyer has submitted. What is over is over.
        """
        is_plain = word in TAKEN_WORDS - OVER_WORDS and word not in self.learned
        is_new = is_plain and word not in self.doubted
        return replace(self, doubted=(*self.doubted, word)) if is_new else self

    def may_ask(self, word: str) -> bool:
        """Return whether a task may be claimed only to learn what a word means."""
        is_free = word not in self.asked and len(self.asked) < MOST_ASKED
        return self.meaning(word) is Meaning.UNKNOWN and is_free

    def ask(self, word: str, task_id: str) -> "StateWords":
        """Return the same words, with a task whose claim will tell about this one."""
        return replace(self, asked={**self.asked, word: task_id})

    def learn(
        self, word: str, *, is_claimed: bool | None, is_sure: bool = False
    ) -> "StateWords":
        """Return the words after the claim that was asked for.

        None means that it told nothing: another task must tell. `is_sure` says that a
        refused claim cannot have lost a race.
        """
        asked = {one: task for one, task in self.asked.items() if one != word}
        if is_claimed is None:
            return replace(self, asked=asked)
        refusals = {**self.refusals, word: self.refusals.get(word, 0) + 1}
        if is_claimed:
            learned = {**self.learned, word: Meaning.OPEN}
        elif is_sure or refusals[word] >= ENOUGH_REFUSALS:
            learned = {**self.learned, word: Meaning.TAKEN}
        else:
            return replace(self, asked=asked, refusals=refusals)
        refusals.pop(word)
        return replace(self, learned=learned, asked=asked, refusals=refusals)


_WORDS = TypeAdapter(StateWords)


def states_as_json(words: StateWords) -> JSON:
    """Return words as they are kept."""
    kept: JSON = _WORDS.dump_python(words, mode="json")
    return kept


def states_from_json(kept: JSON) -> StateWords:
    """Return what `states_as_json` gave; nothing is known where that is not it."""
    try:
        return _WORDS.validate_python(kept)
    except ValidationError:
        return StateWords()
