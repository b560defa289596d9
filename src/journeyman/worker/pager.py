"""Turn the pages of a listing, and learn which way of asking for the next one works."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from journeyman.domain import outcomes
from journeyman.domain.outcomes import Confirmed, Outcome, Refusal, Refused
from journeyman.domain.tasks import TaskId
from journeyman.network.service_model.listing import Listing
from journeyman.network.service_model.pages import PageRequest

MOST_PAGES = 100
"""Pages of one look, as long as each shows what is new; the next look goes on where it
ended. A pause of the rate limiter ends it, too."""
MOST_RECORDS = 5_000
"""Records of one look."""
MOST_LOOKS_SKIPPED = 8
"""After so many looks at page one alone, all pages are turned again."""

Ask = Callable[[PageRequest], Awaitable[Outcome[Listing]]]


@dataclass(eq=False)
class Pager:
    """Turns pages from the first on, within bounds."""

    ask: Ask
    _useless: set[tuple[str, ...]] = field(init=False, default_factory=set)
    """Parameters that were refused, or that showed the same page again."""
    _proven: tuple[str, ...] | None = field(init=False, default=None)
    """Parameters that showed another page."""
    _resume: PageRequest | None = field(init=False, default=None)
    """The page at which the next look goes on, after page one."""
    broken_off: outcomes.Failure | None = field(init=False, default=None)
    """Why a look ended before the last page, if it did; not for want of a way on."""
    _seen: set[TaskId] = field(init=False, default_factory=set)
    """In this look; of long pages, those of the first portion."""
    _records: int = field(init=False, default=0)
    _ways: tuple[PageRequest, ...] = field(init=False, default=())
    _left: int = field(init=False, default=0)
    _gave_work: bool = field(init=False, default=False)
    """Since page one was last the beginning of a round."""
    _rests: int = field(init=False, default=0)
    _resting: int = field(init=False, default=0)

    def begin(self, first: Listing) -> None:
        """Begin a look with page one."""
        self._seen = {task.id for task in first.tasks}
        self._records = first.count
        self.broken_off = None
        self._left = MOST_PAGES - 1
        self._ways = (self._resume,) if self._resume else first.next
        if self._resting > 0:
            self._resting -= 1
            self._left = 0

    def found(self) -> None:
        """Note that the page just read gave work: it is read again at the next look."""
        self._gave_work = True
        self._rests = self._resting = 0

    async def turn(self) -> Listing | None:
        """Return the next page; None when there is none, or enough was read."""
        if self._left <= 0 or self._records >= MOST_RECORDS:
            return None
        for way in self._likely():
            self._left -= 1
            outcome = await self.ask(way)
            if not isinstance(outcome, Confirmed):
                if not self._is_refused(way, outcome):
                    self.broken_off = outcome
                    return None
            elif self._is_another(way, outcome.value):
                return self._turned(way, outcome.value)
            elif not outcome.value.tasks:
                break  # the way is understood, and this was the last page
            if self._left <= 0:
                break
        self._end_round()
        return None

    def _likely(self) -> list[PageRequest]:
        """Return the ways that are worth trying; only the one that is proven."""
        ways = [way for way in self._ways if way.parameters not in self._useless]
        proven = [way for way in ways if way.parameters == self._proven]
        return proven or ways

    def _is_refused(self, way: PageRequest, failure: outcomes.Failure) -> bool:
        """Return whether another way may help; a network that suffers is left alone."""
        is_no = isinstance(failure, Refused) and failure.refusal in {
            Refusal.INVALID,
            Refusal.ABSENT,
        }
        if is_no and way is self._resume:
            self._resume = None
        elif is_no:
            self._useless.add(way.parameters)
        return is_no

    def _is_another(self, way: PageRequest, page: Listing) -> bool:
        """Return whether a page shows what was not seen in this look."""
        shown = {task.id for task in page.tasks}
        if shown and shown <= self._seen and way.parameters != self._proven:
            self._useless.add(way.parameters)
        return not shown <= self._seen

    def _turned(self, way: PageRequest, page: Listing) -> Listing:
        self._proven = way.parameters
        self._seen.update(task.id for task in page.tasks)
        self._records += page.count
        self._resume, self._ways = way, page.next
        return page

    def _end_round(self) -> None:
        """Begin at page one again; after pages without work, at some looks only."""
        self._resume = None
        if self._gave_work:
            # What is claimed moves the rest to earlier pages, which were read before.
            self._gave_work = False
            return
        self._rests = min(2 * self._rests or 1, MOST_LOOKS_SKIPPED)
        self._resting = self._rests
