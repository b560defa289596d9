"""A process that has imported everything, and from which daemons are forked.

Importing is most of a daemon's start, and is not what a kill should hit. So one
process imports once, by running an ordinary command, and each life is a fork of it: a
process of its own with the real command line, killed by a real signal.

It takes one order a line on stdin and answers each with a line on stdout, all JSON:

    {"live": ["run", ...], "log": "/a/file"}  ->  {"pid": 17}
    {"reap": 17}                              ->  {"code": -9}
"""

import json
import os
import signal
import sys
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import uvicorn  # noqa: F401 - what `sandbox` would import in each life

import journeyman.cli.commands.run  # noqa: F401 - what `run` would import in each life
from journeyman.cli import main


def serve() -> None:
    """Do what is ordered until stdin ends, then end all lives that are left."""
    alive: set[int] = set()
    for line in sys.stdin:
        order = json.loads(line)
        if "live" in order:
            pid = _fork(order["live"], order["log"])
            alive.add(pid)
            answer = {"pid": pid}
        else:
            alive.remove(order["reap"])
            answer = {"code": _reap(order["reap"])}
        sys.stdout.write(f"{json.dumps(answer)}\n")
        sys.stdout.flush()
    for pid in alive:
        os.kill(pid, signal.SIGKILL)
        _reap(pid)


def _fork(arguments: list[str], log: str) -> int:
    pid = os.fork()
    if pid == 0:
        code: Any = 1
        try:
            _redirect(log)
            code = main(arguments)
            sys.stdout.flush()
        finally:
            # Not sys.exit: the orders that wait in stdin's buffer are the nursery's.
            os._exit(code)
    return pid


def _redirect(log: str) -> None:
    written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for descriptor, stream in ((nothing, 0), (written, 1), (written, 2)):
        os.dup2(descriptor, stream)


def _reap(pid: int) -> int:
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    with redirect_stdout(StringIO()):
        main(["strategies", "list"])
    serve()
