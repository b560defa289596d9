"""Pressure as the daemon builds it, remembers it, and tells of it."""

from datetime import timedelta

from journeyman.domain import JSON, Clock, Randomness
from journeyman.journal import Journal
from journeyman.loop import TokenMemory, rejection
from journeyman.network import ASSUMED, Pressure, PressureOptions, Trust
from journeyman.observability import Log
from journeyman.settings import PressureSettings


def build_pressure(
    settings: PressureSettings, clock: Clock, randomness: Randomness, log: Log
) -> Pressure:
    """Make the guard that stands before every request of a daemon."""
    return Pressure(
        clock=clock,
        randomness=randomness,
        log=log,
        private=ASSUMED.private,
        options=PressureOptions(
            max_retry_after=settings.max_retry_after_seconds,
            failures=settings.failures,
            probe_every=settings.probe_seconds,
            absent_recheck=settings.absent_recheck_seconds,
        ),
    )


def remember_token(pressure: Pressure, journal: Journal, clock: Clock) -> None:
    """Begin with what an earlier run knew of our token, and keep what this one learns.

    A daemon that is restarted must not begin again to act with a token that is refused.
    """
    memory = TokenMemory(journal, clock)
    if known := rejection(journal):
        pressure.suspect_token(str(known["message"]))

    def keep(trust: Trust, message: str) -> None:
        if trust is Trust.REJECTED:
            memory.rejected(message)
        else:
            memory.accepted()

    pressure.on_trust(keep)


def held_back(pressure: Pressure, clock: Clock) -> list[JSON]:
    """Tell what waits until when: for each its name, cause, `until` and reason.

    The name is `service`, `token`, or that of an endpoint; `until` is in ISO 8601.
    """
    now = clock.now()
    return [
        {
            "what": name,
            "cause": held.cause.value,
            "until": (now + timedelta(seconds=held.seconds)).isoformat(
                timespec="seconds"
            ),
            "seconds": round(held.seconds, 1),
            "reason": held.reason,
        }
        for name, held in pressure.all_held()
    ]
