"""Starting a child: its command, its environment, its folder, its pipes."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from journeyman.strategies.child.orders import Orders
from journeyman.strategies.loaded import Loaded
from journeyman.strategies.runners.process.isolation import Isolation

HARMLESS: Final = ("PATH", "LANG", "LANGUAGE", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR")
"""What a child's environment may have; and `LC_*`."""
PREFIX: Final = "child-"
"""How the names of children's folders begin."""
_SCRIPT: Final = Path(__file__).parents[2] / "child" / "__main__.py"
_OURS: Final = "JOURNEYMAN_"


@dataclass(frozen=True, slots=True)
class Channels:
    """The daemon's ends of a child's pipes."""

    requests: int
    replies: int
    control: int
    epitaph: int
    output: int


@dataclass(frozen=True, slots=True)
class Launched:
    """A child that was started; it has not said anything yet."""

    supervisor: "subprocess.Popen[bytes]"
    channels: Channels
    home: Path
    orders: Orders


def launch(
    loaded: Loaded, isolation: Isolation, environ: Mapping[str, str]
) -> Launched:
    """Start a supervisor, which starts the worker.

    Raises:
        OSError: the system gives no process, folder or pipe.
    """
    home = Path(tempfile.mkdtemp(prefix=PREFIX, dir=isolation.homes)).resolve()
    orders = orders_for(loaded, isolation, home)
    theirs, ours = _pipes()
    try:
        supervisor = subprocess.Popen(  # noqa: S603 - this interpreter, and our own file
            _command(loaded.name, theirs),
            stdin=subprocess.DEVNULL,
            stdout=theirs[-1],
            stderr=theirs[-1],
            cwd=home,
            env=environment_for(home, isolation, environ),
            pass_fds=theirs[:-1],
            start_new_session=True,
        )
    except BaseException:
        for descriptor in ours:
            os.close(descriptor)
        raise
    finally:
        for descriptor in theirs:
            os.close(descriptor)
    return Launched(supervisor, Channels(*ours), home, orders)


def orders_for(loaded: Loaded, isolation: Isolation, home: Path) -> Orders:
    """Say what a child of this strategy is told."""
    needs = loaded.needs
    return Orders(
        strategy=loaded.name,
        file=str((loaded.file or loaded.path).resolve()),
        distribution=loaded.distribution,
        params=dict(loaded.params),
        home=str(home),
        private=tuple(str(path.resolve()) for path in isolation.private),
        files=tuple(str(Path(path).expanduser().absolute()) for path in needs.files),
        hosts=tuple(needs.hosts),
        daemon=(os.getpid(), os.getpgrp()),
        cpu_seconds=isolation.cpu_seconds,
        memory_mb=needs.memory_mb or isolation.memory_mb,
        file_mb=isolation.file_mb,
        open_files=isolation.open_files,
        processes=isolation.processes,
        log_bytes=isolation.output_bytes,
    )


def environment_for(
    home: Path, isolation: Isolation, environ: Mapping[str, str]
) -> dict[str, str]:
    """Give what is harmless, and what the owner passes on; never anything of ours."""
    wanted = {*HARMLESS, *isolation.environment}
    kept = {
        name: value
        for name, value in environ.items()
        if (name in wanted or name.startswith("LC_")) and not name.startswith(_OURS)
    }
    return kept | {"HOME": str(home), "TMPDIR": str(home)}


def _command(name: str, theirs: tuple[int, ...]) -> list[str]:
    descriptors = ",".join(map(str, theirs[:-1]))
    # Isolated (-I), no bytecode written (-B), nothing held back in buffers (-u).
    python = [sys.executable, "-I", "-B", "-u", str(_SCRIPT)]
    return [*python, name, descriptors, *filter(os.path.isabs, sys.path)]


def _pipes() -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Give their ends and ours, in the order of `Channels`."""
    requests_in, requests = os.pipe()
    replies, replies_out = os.pipe()
    control_in, control = os.pipe()
    epitaph, epitaph_out = os.pipe()
    output, output_out = os.pipe()
    ours = (requests, replies, control, epitaph, output)
    for descriptor in ours:
        os.set_blocking(descriptor, False)
    theirs = (requests_in, replies_out, control_in, epitaph_out, output_out)
    return theirs, ours
