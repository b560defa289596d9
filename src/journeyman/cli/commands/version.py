"""`journeyman version`."""

import platform

from journeyman.cli.output import answer, say
from journeyman.cli.session import Session, command
from journeyman.domain import __version__


@command("version", example="journeyman version --json", settings=False)
def version(session: Session) -> None:
    """Show the versions of Journeyman and of Python."""
    python = platform.python_version()
    answer(
        as_json=session.as_json,
        data={"journeyman": __version__, "python": python},
        show=lambda: say(f"journeyman {__version__} (Python {python})"),
    )
