"""Install what a strategy names, by uv or pip: wheels, into a folder of its own."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from journeyman.domain.errors import JourneymanError
from journeyman.strategies.loading.libraries import Libraries

NEEDED = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL")
PASSED_ON = ("PIP_", "UV_", "SSL_", "HTTP_", "HTTPS_", "NO_", "ALL_PROXY")
"""What the installer is told of our environment: names, and beginnings of names. It
gets no key of a model's provider, and nothing of the agent's."""
COMPILED = "--compile-bytecode"
"""As pip does by itself: a confined child may not write there, and would compile all of
it at each of its starts."""
LAST_LINES = 8
"""Of what an installer printed before it failed."""

_UNREACHABLE = re.compile(
    r"NewConnectionError|NameResolutionError|ConnectTimeoutError|dns error"
    r"|tcp connect error|client error \(Connect\)"
)
"""In what pip or uv prints, again and again, while there is no connection."""


class InstallerError(JourneymanError):
    """Libraries could not be installed, or locked."""


@contextmanager
def new_folder(libraries: Libraries, folder: Path) -> Iterator[list[str]]:
    """Yield the command that installs into a folder; leave when it has ended well.

    The folder has its name only when it is complete, and nothing is left otherwise.

    Raises:
        InstallerError: there is no installer.
        OSError: the folder around it cannot be written to.
    """
    place = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
    try:
        given = place / "requirements.txt"
        text = libraries.lock or "\n".join(libraries.requirements)
        given.write_text(text + "\n", encoding="utf-8")
        hashes = ["--require-hashes"] if libraries.lock else []
        target = ["--target", str(place / "site"), "--requirement", str(given)]
        yield [*_installer(), "--only-binary", ":all:", *hashes, *target]
        (place / "site").mkdir(exist_ok=True)  # all is there already: nothing came
        (place / "site").replace(folder)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _installer() -> list[str]:
    """Return the command that installs for this Python: uv's, or pip's.

    The image has no pip beside Journeyman, but beside the Python it is made of.

    Raises:
        InstallerError: there is neither.
    """
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--python", sys.executable, "--quiet", COMPILED]
    quiet = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if find_spec("pip"):
        return [sys.executable, *quiet]
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    base = Path(sys.base_prefix, "bin", version)
    if base.is_file() and list(Path(sys.base_prefix).glob(f"lib/{version}/*/pip")):
        return [str(base), *quiet]
    raise InstallerError(
        "neither uv nor pip is here", "Install one: https://docs.astral.sh/uv"
    )


def call_installer(words: Sequence[str]) -> None:
    """Run an installer to its end.

    Raises:
        InstallerError: it failed; the message has the last of what it printed.
    """
    done = subprocess.run(  # noqa: S603 - uv or pip, and no shell
        words, env=told(os.environ), capture_output=True, check=False
    )
    require_success(done)


def require_success(done: "subprocess.CompletedProcess[bytes]") -> None:
    """Refuse an installer that failed.

    Raises:
        InstallerError: it did; the message has the last of what it printed.
    """
    if not done.returncode:
        return
    said = (done.stderr or done.stdout).decode(errors="replace").strip()
    if _UNREACHABLE.search(said):
        raise InstallerError(
            "the package index cannot be reached",
            "Connect this machine to it, or name another: PIP_INDEX_URL for pip, "
            "UV_DEFAULT_INDEX for uv. What is installed already needs none.",
        )
    lines = said.splitlines()
    # A warning is at most the reason why it failed where nothing else was said.
    last = [line for line in lines if not line.startswith("WARNING: ")] or lines
    raise InstallerError("\n".join(last[-LAST_LINES:]) or f"{done.args[0]} failed")


def told(environ: Mapping[str, str]) -> dict[str, str]:
    """Return what an installer is told of an environment."""
    return {
        name: value
        for name, value in environ.items()
        if name in NEEDED or name.upper().startswith(PASSED_ON)
    }
