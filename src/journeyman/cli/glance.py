"""An agent at a glance: from the running daemon, or from what one left behind."""

from typing import Any

from journeyman.cli.session import Session
from journeyman.domain.errors import NotRunningError


def look(session: Session) -> dict[str, Any]:
    """Give what `journeyman status --json` prints.

    Raises:
        NotRunningError: no daemon runs, and none ever did here.
        TimedOutError: one runs and does not answer.
    """
    with session.daemon() as daemon:
        try:
            return dict(daemon.status())
        except NotRunningError:
            return _left_behind(session)


def _left_behind(session: Session) -> dict[str, Any]:
    from journeyman.daemon.release import health_of_strategies
    from journeyman.daemon.status import journal_status
    from journeyman.daemon.system import SystemClock

    directory, identity = session.directory(), session.identity()
    with session.journal() as journal:
        return {
            "running": False,
            "held_by": directory.held_by(),
            "agent_id": identity.agent_id if identity else None,
            "base_url": identity.base_url if identity else None,
            "data_directory": str(directory.path),
            "strategy_health": health_of_strategies(journal, SystemClock().now()),
            **journal_status(journal),
        }
