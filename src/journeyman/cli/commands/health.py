"""`journeyman health`: for a container's HEALTHCHECK."""

from journeyman.cli.output import answer, say
from journeyman.cli.session import Session, command
from journeyman.domain.errors import NotRunningError, TimedOutError

UNHEALTHY = 1


@command("health", example="journeyman health --data-dir /data")
def health(session: Session) -> int:
    """Tell whether the daemon does its work, for HEALTHCHECK.

    Exit code 0: yes. 1: no. 3: none runs. A daemon that still joins is healthy, and so
    is one whose network is down.
    """
    found = _examine(session)
    healthy = bool(found["healthy"])
    words = "healthy" if healthy else "unhealthy"
    answer(
        as_json=session.as_json,
        data=found,
        show=lambda: say(f"{words}: {found['problem']}".removesuffix(": ")),
    )
    return 0 if healthy else UNHEALTHY


def _examine(session: Session) -> dict[str, object]:
    with session.daemon() as daemon:
        try:
            return dict(daemon.health())
        except TimedOutError as error:
            return {"healthy": False, "problem": error.problem}
        except NotRunningError:
            holder = session.directory().held_by()
            if holder is None:
                raise
            problem = f"process {holder} is starting and takes no commands yet"
            return {"healthy": True, "problem": problem}
