"""A strategy's own libraries: what its file may name, and where they are found."""

from pathlib import Path

import pytest

from journeyman.strategies.loading.libraries import (
    Libraries,
    LibrariesError,
    lock_file,
    named_in,
)
from journeyman.strategies.loading.loader import load

HERE = Path("words.py")


def block(*lines: str) -> str:
    return "\n".join(["# /// script", *(f"# {line}" for line in lines), "# ///", ""])


def test_a_file_without_metadata_names_nothing() -> None:
    assert named_in(HERE, "# dependencies = ['x']\nimport x\n") is None
    assert named_in(HERE, block("dependencies = []")) is None
    assert named_in(HERE, block('requires-python = ">=3.8"')) is None


@pytest.mark.parametrize(
    "text",
    [
        block('dependencies = ["a>=1", "b"]'),
        block("dependencies = [", '  "a>=1",', '  "b",', "]", "", "[tool.x]", "y = 1"),
        "import os\n\n" + block('dependencies = ["a>=1", "b"]') + "import a\n",
        block('dependencies = ["a>=1", "b"]').replace("\n", "\r\n"),
        block('dependencies = ["a>=1", "b"]', "///"),
    ],
)
def test_what_a_file_names_is_found_wherever_the_block_stands(text: str) -> None:
    text = text.replace("# ///\n# ///", "# ///")

    assert named_in(HERE, text) == Libraries(("a>=1", "b"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (block("dependencies = [tiktoken]"), "not valid TOML"),
        (block('dependencies = "tiktoken"'), "not a list of strings"),
        (block("dependencies = [1]"), "not a list of strings"),
        (block('dependencies = ["tiktoken=1"]'), "not a requirement: 'tiktoken=1'"),
        (block('requires-python = ">=99"'), "requires Python >=99, and this is 3."),
        (block('requires-python = "three"'), "not a version specifier"),
        (block("requires-python = 3"), "not a version specifier"),
        ('# /// script\n# dependencies = ["a"]\nimport a\n', "does not end"),
        (block() + "\n" + block(), "two blocks"),
    ],
)
def test_what_cannot_be_installed_is_said_with_its_line(text: str, says: str) -> None:
    with pytest.raises(LibrariesError, match=says) as raised:
        named_in(HERE, text)

    assert raised.value.line in {1, 4}
    assert raised.value.fix


def test_files_that_name_the_same_share_a_folder_and_others_do_not(
    tmp_path: Path,
) -> None:
    one, same = Libraries(("a", "b")), Libraries(("b", "a"))
    others = [Libraries(("a",)), Libraries(("a", "b"), lock="a==1 --hash=sha256:0")]

    folders = {named.folder(tmp_path) for named in (one, same, *others)}

    assert one.folder(tmp_path) == same.folder(tmp_path)
    assert len(folders) == 3


def test_the_lock_beside_a_file_counts(tmp_path: Path) -> None:
    file = tmp_path / "words.py"
    text = block('dependencies = ["a"]')
    (tmp_path / "words.lock").write_text("a==1.0 --hash=sha256:00\n")

    named = named_in(file, text)

    assert named == Libraries(("a",), "a==1.0 --hash=sha256:00\n")
    assert lock_file(tmp_path / "words" / "__init__.py").name == "strategy.lock"


def test_a_lock_that_cannot_be_read_is_a_problem_of_its_strategy(
    tmp_path: Path,
) -> None:
    mine = tmp_path / "words.py"
    mine.write_text(block('dependencies = ["a"]') + "from journeyman import Strategy\n")
    lock_file(mine).write_bytes(b"\xff")

    (problem,) = load(tmp_path).problems

    assert (problem.code, problem.line) == ("E117", 1)
    assert "words.lock cannot be read" in problem.message
