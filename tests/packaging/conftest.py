"""The project's own files, as the tests of its packaging read them."""

import tomllib
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def root() -> Path:
    """The folder that holds pyproject.toml."""
    return Path(__file__).parents[2]


@pytest.fixture
def pyproject(root: Path) -> dict[str, Any]:
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
