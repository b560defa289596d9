"""What strangers wrote is bounded in size where it is only shown or compared."""

from tests.network.conftest import ScriptedServer, answer

from journeyman.domain.outcomes import Confirmed
from journeyman.domain.tasks import JSON
from journeyman.domain.text import UntrustedText
from journeyman.network.client import NetworkClient


async def test_titles_are_cut_and_words_that_are_none_are_passed_over(
    server: ScriptedServer, network: NetworkClient
) -> None:
    record: dict[str, JSON] = {
        "id": "t1",
        "title": "T" * 10_000,
        "kind": "k" * 201,
        "tags": ["count", "x" * 201, *(f"tag {n}" for n in range(1_000))],
        "input": {"text": "w " * 100_000},
    }
    server.will(answer(200, [record]))

    outcome = await network.public_marketplace()

    assert isinstance(outcome, Confirmed)
    (task,) = outcome.value.tasks
    assert task.title == "T" * 500
    assert task.kind == ""
    assert (len(task.tags), task.tags[:2]) == (100, ("count", "tag 0"))
    # The work itself is whole: half of it would be another task.
    assert len(task.text) == 200_000
    assert isinstance(task.text, UntrustedText)
