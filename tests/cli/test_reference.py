"""docs/reference/cli.md says what the command line does."""

import re
from pathlib import Path

import pytest

from journeyman.cli.app import COMMANDS, LazyCommand
from journeyman.domain import errors

TEXT = (Path(__file__).parents[2] / "docs/reference/cli.md").read_text("utf-8")


@pytest.mark.parametrize("words", COMMANDS)
def test_each_command_is_there_with_its_example_and_its_summary(
    words: str,
) -> None:
    command = LazyCommand(words).load()

    assert command.epilog.removeprefix("Example: ") in TEXT
    assert command.help.splitlines()[0] == COMMANDS[words]


def test_each_exit_code_is_there() -> None:
    told = {int(code) for code in re.findall(r"^\| (\d+) \|", TEXT, re.MULTILINE)}
    used = {
        kind.exit_code
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.JourneymanError)
    }

    assert used <= told
