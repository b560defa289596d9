"""`journeyman`, with a watchdog that waits five seconds instead of a minute."""

import sys
from functools import partial

from journeyman.cli import main
from journeyman.cli.commands import run
from journeyman.daemon.watchdog import Watchdog

if __name__ == "__main__":
    hasty = partial(Watchdog, silent_seconds=5.0, tick_seconds=0.5)
    setattr(run, "Watchdog", hasty)  # noqa: B010 - a type cannot be assigned to
    sys.exit(main())
