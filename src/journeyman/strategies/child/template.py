"""The template: a warmed interpreter that runs no author's code, and only forks.

A child that is forked off it has nothing to import and shares its memory pages, so
that it is ready within milliseconds and costs little. The template holds nothing that
a strategy must not see: it was started with a child's environment, not the daemon's.

Each request is one byte with the descriptors of a new child's pipes. When the daemon
closes the socket, or dies, the template ends; its children watch pipes of their own.
"""

import gc
import importlib
import os
import signal
import socket
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from journeyman.strategies.child.confinement import common_places
from journeyman.strategies.child.supervisor import supervise
from journeyman.strategies.loading.importing import forget
from journeyman.strategies.loading.loader import load_file

SPECIMEN = Path(__file__).with_name("specimen.py")

USUAL = (
    "asyncio base64 collections.abc concurrent.futures contextlib csv ctypes datetime "
    "decimal email.parser functools hashlib html http.client importlib.metadata "
    "itertools json logging math operator pathlib queue random re shutil ssl "
    "statistics string subprocess tempfile textwrap threading typing unicodedata "
    "urllib.parse urllib.request uuid warnings xml.etree.ElementTree zoneinfo"
)
"""What strategies import: here once, and shared by all children."""
PIPES = 5
REHEARSALS = 10
"""How often the template does what each child does first. The interpreter specializes
what it repeats, and writes to the memory of what it runs until then."""


def serve(descriptor: int, *, is_warm: bool) -> NoReturn:
    """Fork a child for each request, until the daemon closes the socket."""
    common = common_places()
    if is_warm:
        _warm_up()
    daemon = socket.socket(fileno=descriptor)
    # The kernel reaps the children; how they ended is told by their own pipes.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        request, pipes, _, _ = socket.recv_fds(daemon, 1, PIPES)
        if not request:
            os._exit(0)
        if os.fork() == 0:
            daemon.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            supervise(pipes, common)
        for pipe in pipes:
            os.close(pipe)


def _warm_up() -> None:
    for name in USUAL.split():
        with suppress(ImportError):  # a Python that was built without it
            importlib.import_module(name)
    for _ in range(REHEARSALS):
        for loaded in load_file(SPECIMEN).strategies:
            forget(loaded.module)
    # Nothing of ours is collected any more: a collection would write to each page.
    gc.collect()
    gc.freeze()
