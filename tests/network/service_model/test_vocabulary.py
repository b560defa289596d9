"""The assumptions themselves: consistent and written down."""

from collections.abc import Mapping
from dataclasses import fields
from itertools import combinations
from pathlib import Path

from journeyman.network.service_model.vocabulary import ASSUMED, Vocabulary

PAGE = Path(__file__).parents[3] / "docs/reference/service-model.md"
RECORD_FIELDS = (
    "id",
    "title",
    "description",
    "kind",
    "text",
    "input",
    "tags",
    "reward",
    "status",
    "deadline",
    "poster",
    "claimant",
)


def test_no_name_means_two_things_in_a_record() -> None:
    for one, other in combinations(RECORD_FIELDS, 2):
        both = set(getattr(ASSUMED, one)) & set(getattr(ASSUMED, other))
        assert both == set(), (one, other)


def test_a_bare_credits_is_never_a_balance() -> None:
    assert "credits" not in ASSUMED.balance
    assert "credits" not in ASSUMED.earned


def test_every_assumption_is_on_the_reference_page() -> None:
    rows = PAGE.read_text(encoding="utf-8").splitlines()
    for field in fields(Vocabulary):
        (row,) = [row for row in rows if row.startswith(f"| `{field.name}` |")]
        assumed = getattr(ASSUMED, field.name)

        if isinstance(assumed, str):
            assert f"`{assumed}`" in row
        elif isinstance(assumed, tuple | frozenset | Mapping):
            named = [name for name in assumed if isinstance(name, str) and name]
            assert [name for name in named if f"`{name}`" not in row] == []
