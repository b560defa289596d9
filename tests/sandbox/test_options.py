"""Setting a sandbox up from a file."""

import tomllib
from pathlib import Path

import pytest

from journeyman.sandbox import SandboxError, SandboxOptions, load_options

EXAMPLE = Path(__file__).parents[2] / "config" / "sandbox.toml"


def test_the_example_file_has_every_option_at_its_default() -> None:
    text = EXAMPLE.read_text("utf-8")
    set_here = tomllib.loads(text)
    unset = {line.split(" = ")[0][2:] for line in text.splitlines() if " = " in line}

    assert load_options(EXAMPLE) == SandboxOptions()
    assert set(SandboxOptions.model_fields) <= set(set_here) | unset


def test_options_are_read(tmp_path: Path) -> None:
    path = tmp_path / "sandbox.toml"
    path.write_text('tasks = 7\nkinds = ["links"]\ndata = "x.db"\n')

    options = load_options(path)

    assert options == SandboxOptions(tasks=7, kinds=("links",), data=Path("x.db"))


@pytest.mark.parametrize(
    ("text", "problem", "fix"),
    [
        pytest.param("task = 7", "unknown key 'task'", "'tasks'", id="misspelt"),
        pytest.param("zzz = 7", "unknown key 'zzz'", "competitors", id="strange"),
        pytest.param("tasks = 'many'", "tasks", "How many tasks", id="wrong type"),
        pytest.param("tasks = -1", "tasks", "How many tasks", id="out of bounds"),
        pytest.param(
            'kinds = ["lnks"]', "there is no 'lnks'", "kinds", id="wrong kind"
        ),
        pytest.param('base_url = "here"', "http://", "address", id="no address"),
        pytest.param("tasks =", "not valid TOML", "", id="cut off"),
    ],
)
def test_a_wrong_file_is_told_with_what_to_do(
    text: str, problem: str, fix: str, tmp_path: Path
) -> None:
    path = tmp_path / "sandbox.toml"
    path.write_text(text)

    with pytest.raises(SandboxError) as caught:
        load_options(path)

    assert caught.value.problem.startswith(str(path))
    assert problem in caught.value.problem
    assert fix in caught.value.fix


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="cannot be read"):
        load_options(tmp_path / "nowhere.toml")
