"""`journeyman health`: for a container's HEALTHCHECK."""

from journeyman.cli.healthcheck import show
from journeyman.cli.session import Session, command
from journeyman.control import verbs
from journeyman.domain.errors import NotRunningError, TimedOutError


@command("health", example="journeyman health --data-dir /data")
def health(session: Session) -> int:
    """Check whether the daemon is working, for HEALTHCHECK.

    The exit code is 0 if it is, 1 if it is not, and 3 if none runs. A daemon that is
    still joining is healthy, and so is one whose network is down.
    """
    return show(_health(session), as_json=session.as_json)


def _health(session: Session) -> dict[str, object]:
    try:
        return dict(session.daemon().call(verbs.HEALTH))
    except TimedOutError as error:
        return {"healthy": False, "problem": error.problem}
    except NotRunningError:
        holder = session.directory().held_by()
        if holder is None:
            raise
        problem = f"process {holder} is starting and takes no commands yet"
        return {"healthy": True, "problem": problem}
