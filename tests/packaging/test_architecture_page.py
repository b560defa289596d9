"""ARCHITECTURE.md names only what is there."""

import re
from pathlib import Path

PACKAGE = "src/journeyman"


def test_every_path_on_the_page_is_in_the_tree(root: Path) -> None:
    text = (root / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+/[a-z_/]+(?:\.py)?)`", text)) - {"workspaces/"}

    places = {name: (root / PACKAGE / name, root / name) for name in named}

    assert len(named) > 30
    assert [n for n, ways in places.items() if not any(p.exists() for p in ways)] == []


def test_every_package_is_on_the_page(root: Path) -> None:
    text = (root / "ARCHITECTURE.md").read_text(encoding="utf-8")
    packages = [p.parent.name for p in (root / PACKAGE).glob("*/__init__.py")]

    assert [name for name in packages if f"`{name}`" not in text] == []
