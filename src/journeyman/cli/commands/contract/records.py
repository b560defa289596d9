"""What the journal knows of a network's endpoints, for the commands that show it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from journeyman.cli.session import Session

if TYPE_CHECKING:
    from journeyman.network import EndpointRecord


@dataclass(frozen=True, slots=True)
class Learned:
    """One network, and the records of its endpoints by name."""

    network: str
    records: "dict[str, EndpointRecord]"


def learned(session: Session) -> Learned:
    """Read what was learned, also while a daemon runs.

    It is that of the network that was named on the command line, else of the one that
    was seen last, else nothing of the one that the settings name.

    Raises:
        NotRunningError: no agent ever ran in the data directory.
        StateError: the journal cannot be read.
        ConfigurationError: nothing was learned yet, and no network is named.
    """
    from journeyman.network import records_from

    with session.journal() as journal:
        network = session.base_url or next(iter(journal.observations.networks()), None)
        if network is None:
            network = session.address(session.load().settings)
        network = network.rstrip("/")
        return Learned(network, records_from(journal.observations.of(network)))
