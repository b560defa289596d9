"""`journeyman version`."""

import platform

from journeyman.cli.session import Session, command
from journeyman.domain import __version__


@command("version", example="journeyman version --json", settings=False)
def version(session: Session) -> None:
    """Show the versions of Journeyman and Python."""
    python = platform.python_version()
    data = {"journeyman": __version__, "python": python}
    text = f"journeyman {__version__} (Python {python})"
    session.answer(data, lambda: print(text))
