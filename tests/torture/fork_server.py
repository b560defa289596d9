"""The fork server: it has imported everything, and forks daemons.

Importing is most of a daemon's start, and is not what a kill should hit. So one
process imports once, by running an ordinary command, and each daemon is a fork of it: a
process of its own with the real command line, killed by a real signal.

It takes one command a line on stdin and answers each with a line on stdout, all JSON:

    {"start": ["run", ...], "log": "/a/file"}  ->  {"pid": 17}
    {"wait": 17}                               ->  {"code": -9}
"""

import json
import os
import signal
import sys
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import uvicorn  # noqa: F401 - what `sandbox` would import in each process

import journeyman.cli.commands.run  # noqa: F401 - what `run` would import in each process
from journeyman.cli import main


def serve() -> None:
    """Carry out commands until stdin ends, then kill all processes that are left."""
    running: set[int] = set()
    for line in sys.stdin:
        command = json.loads(line)
        if "start" in command:
            pid = _start(command["start"], command["log"])
            running.add(pid)
            answer = {"pid": pid}
        else:
            running.remove(command["wait"])
            answer = {"code": _wait(command["wait"])}
        sys.stdout.write(f"{json.dumps(answer)}\n")
        sys.stdout.flush()
    for pid in running:
        os.kill(pid, signal.SIGKILL)
        _wait(pid)


def _start(arguments: list[str], log: str) -> int:
    pid = os.fork()
    if pid == 0:
        code: Any = 1
        try:
            _redirect(log)
            code = main(arguments)
            sys.stdout.flush()
        finally:
            # Not sys.exit: the commands in stdin's buffer are for the server.
            os._exit(code)
    return pid


def _redirect(log: str) -> None:
    written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for descriptor, stream in ((nothing, 0), (written, 1), (written, 2)):
        os.dup2(descriptor, stream)


def _wait(pid: int) -> int:
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    with redirect_stdout(StringIO()):
        main(["strategies", "list"])
    serve()
