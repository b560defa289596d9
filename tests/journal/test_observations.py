"""What was learned about a network stays, beside what was learned of others."""

import pytest
from tests.journal.conftest import Open

from journeyman.journal.journal import Journal
from journeyman.testing import FakeClock

HERE, THERE = "http://here", "http://there"


def put(journal: Journal, network: str, endpoint: str, seen: int) -> None:
    with journal.tx("observations"):
        journal.observations.put(network, endpoint, {"seen": seen})


def test_a_record_is_replaced_and_read_by_its_network(journal: Journal) -> None:
    put(journal, HERE, "claim", 1)
    put(journal, HERE, "claim", 2)
    put(journal, THERE, "claim", 9)

    assert journal.observations.of(HERE) == {"claim": {"seen": 2}}
    assert journal.observations.of("http://nowhere") == {}


def test_the_network_that_was_seen_last_comes_first(
    journal: Journal, clock: FakeClock
) -> None:
    for network in (HERE, THERE, HERE):
        clock.advance(1)
        put(journal, network, "claim", 1)

    assert journal.observations.networks() == [HERE, THERE]


def test_records_outlive_the_process(open_journal: Open) -> None:
    journal = open_journal()
    put(journal, HERE, "claim", 1)
    journal.close()

    assert open_journal().observations.of(HERE) == {"claim": {"seen": 1}}


def test_nothing_is_written_outside_of_a_transaction(journal: Journal) -> None:
    with pytest.raises(RuntimeError, match="outside of a transaction"):
        journal.observations.put(HERE, "claim", {})
