"""What a shell completes when the user presses Tab."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Program = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def complete(program: Program, tmp_path: Path) -> Callable[[str], list[str]]:
    """Complete the last word of a line, which may be empty, as bash would."""

    def call(line: str) -> list[str]:
        asked = {
            "_JOURNEYMAN_COMPLETE": "complete_bash",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(line.split(" ")) - 1),
        }
        code = "import sys; from journeyman.cli import main; sys.exit(main([]))"
        done = program(
            *(sys.executable, "-c", code), env=os.environ | asked, cwd=tmp_path
        )
        assert not done.stderr
        return done.stdout.split()

    return call


@pytest.mark.endurance
def test_commands_states_strategies_and_tasks_are_completed(
    complete: Callable[[str], list[str]], lived: Path
) -> None:
    data = f"--data-dir {lived}"

    assert complete("journeyman st") == ["stop", "status", "strategies"]
    assert complete("journeyman tasks --state comp") == ["completing", "completed"]
    assert "count_words" in complete("journeyman strategies show count_")
    assert len(complete(f"journeyman tasks show {data} task_")) >= 4


def test_a_completion_that_cannot_be_looked_up_is_none(
    complete: Callable[[str], list[str]], tmp_path: Path
) -> None:
    nowhere = f"--data-dir {tmp_path / 'nowhere'}"

    assert complete(f"journeyman tasks show {nowhere} task_") == []
