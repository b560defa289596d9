"""What a daemon says to the network, by its settings and by its journal."""

from pathlib import Path

from journeyman.daemon.network import JournalShapeMemory, writing_from
from journeyman.journal.journal import Journal
from journeyman.settings.sections import ContractSettings
from journeyman.testing import FakeClock


def test_own_dialects_are_tried_before_the_ready_ones() -> None:
    settings = ContractSettings.model_validate(
        {"dialects": {"acme": {"claim": {"task_id": "job"}}}, "max_candidates": 2}
    )

    writing = writing_from(settings)

    names = [dialect.name for dialect in writing.dialects]
    assert names == ["acme", "snake", "camel", "id-only", "wrapped"]
    assert (writing.pinned, writing.max_candidates) == (None, 2)


def test_a_dialect_is_pinned_by_its_name() -> None:
    assert writing_from(ContractSettings(dialect="camel")).pinned == "camel"


def test_what_was_learned_is_kept_for_each_network_apart(tmp_path: Path) -> None:
    file, now = tmp_path / "journal", FakeClock().now
    with Journal(file, now) as journal:
        JournalShapeMemory(journal, "http://a.example").save({"actions": {}})

    with Journal(file, now) as journal:
        assert JournalShapeMemory(journal, "http://a.example").load() == {"actions": {}}
        assert JournalShapeMemory(journal, "http://b.example").load() is None
