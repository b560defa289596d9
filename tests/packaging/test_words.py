"""The version is one, and no dependency goes without a decision."""

import re
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

import journeyman


def test_the_changelog_the_project_and_the_package_name_one_version(
    root: Path, pyproject: dict[str, Any]
) -> None:
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")

    newest = re.findall(r"^## \[([^\]]+)\]", changelog, re.MULTILINE)[0]

    assert newest == pyproject["project"]["version"] == journeyman.__version__


def test_every_dependency_is_argued_for_in_a_decision(
    root: Path, pyproject: dict[str, Any]
) -> None:
    wanted = (
        pyproject["project"]["dependencies"]
        + pyproject["project"]["optional-dependencies"]["llm"]
        + pyproject["dependency-groups"]["dev"]
    )
    decisions = (root / "docs" / "decisions").glob("[0-9]*.md")
    text = "\n".join(page.read_text(encoding="utf-8") for page in decisions).lower()

    names = [Requirement(one).name for one in wanted]

    assert [name for name in names if f"`{name}`" not in text] == []


def test_every_decision_is_in_the_index_under_its_own_title(root: Path) -> None:
    folder = root / "docs" / "decisions"
    index = (folder / "README.md").read_text(encoding="utf-8")

    for page in sorted(folder.glob("[0-9]*.md")):
        number, title = (
            page.read_text(encoding="utf-8").split("\n", 1)[0][2:].split(". ", 1)
        )
        assert page.name.startswith(f"{number}-")
        assert f"[{title}]({page.name})" in index
