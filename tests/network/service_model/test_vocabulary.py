"""The assumptions themselves: consistent, replaceable, and written down."""

from collections.abc import Mapping
from dataclasses import fields, replace
from itertools import combinations
from pathlib import Path

from tests.network.conftest import ClientFor, ScriptedServer, answer

from journeyman.domain.outcomes import Confirmed
from journeyman.domain.tasks import JSON
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


async def test_an_operator_can_name_a_field_and_a_container(
    server: ScriptedServer,
    client_for: ClientFor,
) -> None:
    vocabulary: Vocabulary = replace(
        ASSUMED,
        id=("Auftragsnummer",),
        title=("Titel",),
        task_containers=("Auftraege",),
    )
    body: JSON = {"Auftraege": [{"auftragsnummer": 7, "TITEL": "Zählen"}]}
    server.will(answer(200, body))

    async with client_for(server.base_url, vocabulary=vocabulary) as client:
        outcome = await client.public_marketplace()

    assert isinstance(outcome, Confirmed)
    (task,) = outcome.value.tasks
    assert (task.id, task.title) == ("7", "Zählen")


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
