"""The demo on a terminal: a table that renews itself."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.endurance

Program = Callable[..., subprocess.CompletedProcess[str]]

ON_A_TERMINAL = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)"


def test_on_a_terminal_the_work_is_drawn_while_it_is_done(
    program: Program,
    tmp_path: Path,
) -> None:
    demo = (sys.executable, "-m", "journeyman", "demo", "--tasks", "3")

    shown = program(
        *(sys.executable, "-c", ON_A_TERMINAL, *demo, "--latency", "0.1"),
        cwd=tmp_path,
    )

    assert shown.returncode == 0
    drawn, summary = shown.stdout.split("checks  ", maxsplit=1)
    assert "Journeyman at work" in drawn
    assert "\x1b[2K" in drawn, "lines are drawn anew"
    assert "ended" in drawn
    assert summary.count("ok    ") == 5
