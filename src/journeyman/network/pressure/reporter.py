"""Tells the log when pressure begins and when it is over; not each request of it."""

from types import MappingProxyType

from journeyman.network.pressure import events
from journeyman.network.pressure.absence import Absence
from journeyman.network.pressure.held import Held
from journeyman.network.pressure.lane import Lane
from journeyman.network.pressure.sign import Sign
from journeyman.observability import Log

CONSEQUENCES = MappingProxyType(
    {
        "register": "no agent can be made here",
        "create_checkout": "no payment page can be asked for",
        "public_marketplace": "the public marketplace cannot be read",
        "public_agents": "the public directory cannot be read",
        "agents_directory": "the directory and its manifests cannot be read",
        "marketplace_tasks": "tasks are looked for in the public marketplace instead",
        "claim": "no task is claimed",
        "submit": "results are kept and wait",
        "complete": "submitted tasks wait for their completion",
        "post_task": "no task is posted",
    },
)
"""What the daemon does without an endpoint."""


class Reporter:
    """Writes pressure to a log."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def held(self, endpoint: str, held: Held) -> None:
        """Tell of a request that was not let go."""
        self._log.emit(
            events.HELD,
            endpoint=endpoint,
            cause=held.cause,
            seconds=round(held.seconds, 1),
            message=held.reason,
        )

    def pace(self, endpoint: str, lane: Lane, held: Held | None, sign: Sign) -> None:
        """Tell that an endpoint was slowed down, or is at its usual pace again."""
        if not lane.is_slowed:
            self._log.emit(events.EASED, endpoint=endpoint)
            return
        self._log.emit(
            events.THROTTLED,
            endpoint=endpoint,
            retry_in=round(held.seconds, 1) if held else 0.0,
            rate=_rounded(lane.rate.value),
            width=_rounded(lane.width.value),
            message=sign.message,
        )

    def opened(self, scope: str, wait: float, sign: Sign) -> None:
        """Tell that a breaker has opened."""
        self._log.emit(
            events.BREAKER_OPENED,
            scope=scope,
            retry_in=round(wait, 1),
            message=sign.message,
        )

    def closed(self, scope: str) -> None:
        """Tell that a breaker has closed."""
        self._log.emit(events.BREAKER_CLOSED, scope=scope)

    def presence(self, endpoint: str, absence: Absence, now: float, sign: Sign) -> None:
        """Tell that an endpoint is gone, or there again."""
        if not absence.is_absent:
            self._log.emit(events.ENDPOINT_FOUND, endpoint=endpoint)
            return
        self._log.emit(
            events.ENDPOINT_ABSENT,
            endpoint=endpoint,
            consequence=CONSEQUENCES[endpoint],
            look_again_in=round(absence.wait(now)),
            message=sign.message,
        )

    def rejected(self, message: str, retry_in: float) -> None:
        """Tell that the network does not accept our token."""
        self._log.emit(events.IDENTITY_REJECTED, message=message, retry_in=retry_in)

    def accepted(self, endpoint: str) -> None:
        """Tell that it does again."""
        self._log.emit(events.IDENTITY_ACCEPTED, endpoint=endpoint)


def _rounded(limit: float | None) -> float | None:
    return None if limit is None else round(limit, 2)
