"""The health rule: whether the daemon does its work, for a container to ask."""

from collections.abc import Sequence

from journeyman.daemon.discovery import DiscoverLoop
from journeyman.daemon.owner_pauses import as_json
from journeyman.domain.tasks import JSON
from journeyman.lifecycle.gate import Gate

STALE_AFTER_SECONDS = 120.0
"""So long after a look was due, the discover loop must be stuck."""


def health(
    discovering: DiscoverLoop, gate: Gate, now: float, reasons: Sequence[str] = ()
) -> dict[str, JSON]:
    """Return `healthy`, and `problem` where it is not.

    Healthy is a daemon whose loops run, also while the network is down. `now` is a
    moment on the monotonic clock, in seconds. `reasons` are why less is earned than
    could be; a restart would change none of them.
    """
    age = now - discovering.looked_at
    stuck = now - discovering.next_look_at > STALE_AFTER_SECONDS
    return {
        "healthy": not stuck,
        "problem": f"no look at the network for {age:.0f} s" if stuck else "",
        "last_look_seconds_ago": round(age, 1),
        "obstacle": gate.obstacle,
        "reasons": list(reasons),
        "paused": as_json(gate.owner_pause),
    }
