"""Draws what a real `journeyman demo` shows, for the README: two SVG pictures.

    make picture

It runs the demo in a pseudo-terminal, keeps what the terminal showed in the middle of
the work and at the end, and lets rich draw both. The pictures name no web font, since
nothing in this repository calls a host when it is looked at.
"""

import io
import os
import pty
import re
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.text import Text

COLUMNS, ROWS = 110, 50
DEMO = (sys.executable, "-m", "journeyman", "demo")
PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace"

_CONTROL = re.compile(r"\x1b\[(?P<count>\d*)(?P<verb>[AK])|\x1b\[\?25[lh]|\r|\n")
"""What rich's live display sends beside text: up, erase, hide the cursor, new line."""
_WEB_FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


class Screen:
    """As much of a terminal as a live table needs: lines that are written over."""

    def __init__(self) -> None:
        self._lines = [""]
        self._row = 0

    def write(self, text: str) -> None:
        """Add text, with its colours, to the line that the cursor is on."""
        self._lines[self._row] += text

    def control(self, sequence: re.Match[str]) -> None:
        """Move the cursor, or erase its line."""
        if sequence[0] == "\n":
            self._row += 1
            self._lines += [""] * (self._row == len(self._lines))
        elif sequence["verb"] == "A":
            self._row -= int(sequence["count"] or 1)
        elif sequence["verb"] == "K":
            self._lines[self._row] = ""

    def __str__(self) -> str:
        return "\n".join(line.rstrip() for line in self._lines).rstrip()


def shown(stream: str) -> Iterator[str]:
    """Return what the screen showed each time before it was erased, and at the end."""
    screen, place, erasing = Screen(), 0, False
    for sequence in _CONTROL.finditer(stream):
        if text := stream[place : sequence.start()]:
            screen.write(text)
            erasing = False
        if sequence["verb"] == "K" and not erasing:
            yield str(screen)
            erasing = True
        screen.control(sequence)
        place = sequence.end()
    screen.write(stream[place:])
    yield str(screen)


def record(folder: str) -> str:
    """Run the demo in `folder`; give all that it sent to its terminal."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (ROWS, COLUMNS))
    with (
        os.fdopen(ours, "rb", buffering=0) as terminal,
        subprocess.Popen(  # noqa: S603 - the command is written in this file
            DEMO,
            cwd=folder,
            env=_environment(),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        ) as demo,
    ):
        os.close(theirs)
        stream = b"".join(_read(terminal)).decode()
    if demo.returncode:
        sys.exit(f"The demo ended with exit code {demo.returncode}:\n{stream}")
    return stream


def draw(ansi: str) -> str:
    """Draw a terminal's text, with its colours, as SVG; long lines go on below."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    for line in Text.from_ansi(ansi).split(allow_blank=True):
        for part in line.divide(range(COLUMNS, len(line), COLUMNS)):
            console.print(part, soft_wrap=True)
    console.print()
    svg = console.export_svg(title="make demo")
    return _WEB_FONT.sub("", svg).replace("Fira Code, monospace", FONTS)


def main() -> None:
    """Run the demo and write both pictures."""
    with tempfile.TemporaryDirectory() as folder:
        *during, end = shown(record(folder))
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name, screen in (("demo-working", during[len(during) // 2]), ("demo", end)):
        path = PICTURES / f"{name}.svg"
        path.write_text(draw(screen), encoding="utf-8")
        sys.stdout.write(f"{path}\n")


def _environment() -> dict[str, str]:
    """Promise a colourful terminal, whatever this script itself runs in."""
    ours = {"COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"}
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    return kept | {"TERM": "xterm-256color", "COLORTERM": "truecolor"}


def _read(terminal: io.FileIO) -> Iterator[bytes]:
    try:
        while part := terminal.read(65536):
            yield part
    except OSError:
        return  # Linux ends a pseudo-terminal with an error when nobody writes to it.


if __name__ == "__main__":
    main()
