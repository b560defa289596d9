"""Every example in the pages for authors is executed."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from journeyman.strategies.loading.loader import load

pytestmark = pytest.mark.endurance

DOCS = Path(__file__).parents[2] / "docs"
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)

Follow = Callable[[str], None]


def examples(page: str) -> list[str]:
    return PYTHON.findall((DOCS / page).read_text("utf-8"))


@pytest.mark.parametrize(
    "page",
    ["tutorial/first-strategy.md", "how-to/test-a-strategy.md", "how-to/share-code.md"],
)
def test_a_page_can_be_followed_to_its_end(follow: Follow, page: str) -> None:
    follow(page)


@pytest.mark.parametrize("source", examples("reference/hooks.md"))
def test_each_strategy_on_the_page_of_hooks_loads(source: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(source)

    loading = load(tmp_path)

    assert loading.problems == ()
    assert len(loading.strategies) == 1


@pytest.mark.parametrize("source", examples("reference/strategy-api.md"))
def test_each_example_on_the_page_of_the_api_is_python_that_runs(source: str) -> None:
    scope: dict[str, object] = {}
    exec("from journeyman import *", scope)  # noqa: S102 - what the page begins with

    exec(compile(source, "strategy-api.md", "exec"), scope)  # noqa: S102 - our own page


def test_each_link_of_the_pages_for_authors_leads_somewhere() -> None:
    pages = [
        *("tutorial/first-strategy.md", "how-to/test-a-strategy.md"),
        *("how-to/share-code.md", "reference/hooks.md", "reference/strategy-api.md"),
        *("how-to/llm-strategy.md", "how-to/shell-strategy.md", "how-to/agents.md"),
        "how-to/cookbook/README.md",
    ]
    broken = [
        f"{page}: {target}"
        for page in pages
        for target in re.findall(
            r"\]\(([^)#\s]+)[^)]*\)", (DOCS / page).read_text("utf-8")
        )
        if not ((DOCS / page).parent / target).exists()
    ]

    assert broken == []
