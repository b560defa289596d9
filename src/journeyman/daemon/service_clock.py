"""The network's clock beside ours, as the `Date` of its answers shows it."""

from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, timedelta
from email.utils import parsedate_to_datetime

from journeyman.domain.clock import Clock
from journeyman.network.service_model.evidence import Observed

REMEMBERED = 8
SKEW_WARN = timedelta(seconds=10)
"""From here on, deadlines and waits that the network names are noticeably wrong."""


@dataclass(eq=False)
class ServiceClock:
    """By how much the network's clock was ahead of ours in the last answers."""

    clock: Clock
    seen: deque[timedelta] = field(
        init=False, default_factory=lambda: deque(maxlen=REMEMBERED)
    )

    def note(self, answer: Observed) -> None:
        """Note the `Date` of an answer (RFC 9110, section 6.6.1)."""
        shown_date = answer.reply.headers.get("date", "") if answer.reply else ""
        if not shown_date:
            return
        try:
            date = parsedate_to_datetime(shown_date)
        except ValueError:
            return
        zoned = date if date.tzinfo else date.replace(tzinfo=UTC)
        # It was cut to a second, and half of the call's time lies behind it.
        shown = zoned + timedelta(seconds=0.5 + answer.seconds / 2)
        self.seen.append(shown - self.clock.now())

    @property
    def ahead(self) -> timedelta:
        """The least difference of the last answers: a slow one shows a larger one."""
        return min(self.seen, key=abs, default=timedelta())
