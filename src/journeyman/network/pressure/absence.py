"""Whether an endpoint exists, by evidence: a single 404 may be about one task.

What the evidence must be is decided in docs/decisions/0029-absent-endpoints.md.
"""

from journeyman.network.pressure.held import remaining
from journeyman.network.pressure.sign import Presence, Sign

PLAIN_WORDS = 2
"""So many answers in a row that say it in words, or by 405 or 501."""
NEVER_SEEN = 2
"""So many 404 in a row, for different tasks, of an endpoint that never worked."""
SEEN_BEFORE = 6
"""And of one that has worked in this run: tasks do vanish, one after the other."""
FIRST_RECHECK_SECONDS = 60.0
"""An absence may be a service that is being replaced: the first look comes soon, and
each later one ten times as late, up to the longest."""


class Absence:
    """What is known about one endpoint's existence."""

    def __init__(self, recheck: float) -> None:
        """Begin with "it exists"; `recheck` is the longest time between two looks."""
        self._recheck = recheck
        self._has_worked = False
        self._words = 0
        self._subjects: set[str] = set()
        self._looks = 0
        self._until = 0.0
        self.is_absent = False

    def wait(self, now: float) -> float:
        """Give the seconds until it is looked for again; 0 when it may be used."""
        return remaining(self._until, now) if self.is_absent else 0.0

    def note(self, sign: Sign, subject: str, now: float) -> bool:
        """Take an answer into account; tell whether that has changed the verdict.

        `subject` names what the request was about, such as its task.
        """
        if sign.presence is Presence.SILENT:
            return False
        if sign.presence is Presence.THERE:
            return self._found()
        if self.is_absent:
            self._look_later(now)
            return False
        if sign.presence is Presence.NOT_THERE:
            self._words += 1
        self._subjects.add(subject)
        needed = SEEN_BEFORE if self._has_worked else NEVER_SEEN
        if self._words < PLAIN_WORDS and len(self._subjects) < needed:
            return False
        self.is_absent = True
        self._look_later(now)
        return True

    def _found(self) -> bool:
        was_absent, self.is_absent = self.is_absent, False
        self._has_worked = True
        self._words = self._looks = 0
        self._subjects.clear()
        return was_absent

    def _look_later(self, now: float) -> None:
        wait = FIRST_RECHECK_SECONDS * 10.0**self._looks
        self._until = now + min(wait, self._recheck)
        self._looks = min(self._looks + 1, 3)
