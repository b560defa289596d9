"""How requests are written: the operator's word, and what was learned before."""

from journeyman.domain import JSON, Clock
from journeyman.journal import Journal
from journeyman.network import READY, Negotiation, Writing, writing_dialect
from journeyman.observability import Log
from journeyman.settings import ContractSettings


def build_negotiation(
    settings: ContractSettings,
    journal: Journal,
    base_url: str,
    clock: Clock,
    log: Log,
) -> Negotiation:
    """Make what shapes the actions of a daemon on one network."""
    return Negotiation(
        writing=writing_from(settings),
        memory=JournalShapeMemory(journal, base_url),
        clock=clock,
        log=log,
    )


def writing_from(settings: ContractSettings) -> Writing:
    """Read how the operator wants requests written; own dialects are tried first."""
    own = (writing_dialect(name, tables) for name, tables in settings.dialects.items())
    return Writing(
        dialects=(*own, *READY),
        pinned=None if settings.dialect == "auto" else settings.dialect,
        max_candidates=settings.max_candidates,
    )


class JournalShapeMemory:
    """Keeps in the journal what one network was found to understand."""

    def __init__(self, journal: Journal, base_url: str) -> None:
        self._journal = journal
        self._fact = f"dialect {base_url}"

    def load(self) -> JSON:
        """Give what was saved last; None when nothing ever was."""
        return self._journal.facts.get(self._fact)

    def save(self, learned: JSON) -> None:
        """Keep it, durably.

        Raises:
            StateError: the disk refused.
        """
        with self._journal.tx("dialect"):
            self._journal.facts.put(self._fact, learned)
