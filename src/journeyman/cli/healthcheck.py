"""The answer of `journeyman health` while a daemon answers: the standard library only.

A container asks every half minute, and mostly hears "healthy": the settings, the help
and the messages for everything else are not imported for that.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from journeyman.control.wire import NoListenerError, exchange

DATA_VARIABLE = "JOURNEYMAN_DATA__DIRECTORY"
SOCKET, ENDPOINT = "control.sock", "/healthz"
"""As in `DataDirectory` and `control.verbs.HEALTH`, which take longer to import."""
SECONDS = 3.0
"""Of silence, before the whole command asks: together less than the image allows."""
UNHEALTHY = 1


def answer_at_once(arguments: Sequence[str], environ: Mapping[str, str]) -> int | None:
    """Ask the daemon, print its answer, and return the exit code.

    None if the whole command has to find out: other options were given, the data
    directory stands in a file of settings, or no daemon gave a whole answer.
    """
    as_json = "--json" in arguments
    left = [argument for argument in arguments if argument != "--json"]
    match left:
        case []:
            directory = environ.get(DATA_VARIABLE, "")
        case ["--data-dir", directory]:
            pass
        case _:
            return None
    if not directory:
        return None
    path = Path(directory).expanduser() / SOCKET
    try:
        _, body = exchange(path, "GET", ENDPOINT, seconds=SECONDS)
        return show(dict(json.loads(body)), as_json=as_json)
    except (NoListenerError, OSError, ValueError, KeyError):
        return None


def show(found: Mapping[str, object], *, as_json: bool) -> int:
    """Print what was found, and return the exit code."""
    word = "healthy" if found["healthy"] else "unhealthy"
    text = f"{word}: {found['problem']}".removesuffix(": ")
    if obstacle := found.get("obstacle"):
        text += f" (claims nothing: {obstacle})"
    print(json.dumps(found, indent=2, default=str) if as_json else text)
    return 0 if found["healthy"] else UNHEALTHY
