"""What the owner wants to stand still: written down, so that it outlives restarts."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from journeyman.control import verbs
from journeyman.daemon import events
from journeyman.domain.errors import UsageError
from journeyman.domain.tasks import JSON
from journeyman.journal.codec import dump
from journeyman.journal.journal import Journal
from journeyman.journal.owner_pauses import ALL_WORK, OwnerPause
from journeyman.observability.events import Log

if TYPE_CHECKING:
    # Otherwise each command would import what serves and sends.
    from journeyman.daemon.environment import Environment


def pause(
    journal: Journal, environment: "Environment", request: verbs.PauseRequest
) -> dict[str, JSON]:
    """Write down that nothing new is to be claimed; a daemon obeys at once."""
    paused = keep_pause(journal, environment, request)
    report_pause(environment.log, paused)
    return {"paused": as_json(paused)}


def resume(
    journal: Journal, environment: "Environment", request: verbs.WhoAsks
) -> dict[str, JSON]:
    """Take a pause back; there need not be one."""
    _remove_pause(journal, environment, request.by, ALL_WORK)
    return {"paused": None}


def disable(
    journal: Journal, environment: "Environment", request: verbs.DisableRequest
) -> dict[str, JSON]:
    """Write down that a strategy is to be given nothing new."""
    paused = keep_pause(journal, environment, request, request.name)
    report_pause(environment.log, paused)
    return {"strategy": request.name, "disabled": as_json(paused)}


def enable(
    journal: Journal, environment: "Environment", request: verbs.StrategyName
) -> dict[str, JSON]:
    """Enable a strategy: it gets work again.

    Raises:
        UsageError: it is not disabled by this command.
    """
    if request.name not in journal.owner_pauses.current(environment.clock.now()):
        raise UsageError(
            f"the strategy {request.name!r} is not disabled by a command",
            "`journeyman strategies list` shows the state of each. One that "
            "strategies.disabled names is enabled in the settings.",
        )
    _remove_pause(journal, environment, "the owner", request.name)
    return {"strategy": request.name, "disabled": None}


def keep_pause(
    journal: Journal,
    environment: "Environment",
    request: verbs.PauseRequest,
    strategy: str = ALL_WORK,
) -> OwnerPause:
    """Write down what is to stand still; a start reports it with all others."""
    now, hours = environment.clock.now(), request.hours
    kept = OwnerPause(
        strategy=strategy,
        by=request.by,
        reason=request.reason,
        since=now,
        until=None if hours is None else now + timedelta(hours=hours),
    )
    with journal.tx("paused"):
        journal.owner_pauses.put(kept)
    return kept


def _remove_pause(
    journal: Journal, environment: "Environment", by: str, strategy: str
) -> None:
    with journal.tx("resumed"):
        journal.owner_pauses.remove(strategy)
    environment.log.emit(events.RESUMED, strategy=strategy, by=by)


def report_pause(log: Log, pause: OwnerPause) -> None:
    """Log what the owner wants to stand still."""
    log.emit(events.PAUSED, **dump(pause))


def stands_still(journal: Journal, now: datetime) -> dict[str, JSON]:
    """Return what the owner wants to stand still.

    `paused` is about all work, and null where it goes on; `disabled_strategies` has
    one for each strategy, by name. Each has `by`, `reason`, `since` and `until`.
    """
    current = journal.owner_pauses.current(now)
    return {
        "paused": as_json(current.pop(ALL_WORK, None)),
        "disabled_strategies": {name: as_json(one) for name, one in current.items()},
    }


def as_json(pause: OwnerPause | None) -> JSON:
    """Return what the owner wants, for programs and people."""
    if pause is None:
        return None
    return {**dump(pause), "text": str(pause)}
