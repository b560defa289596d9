"""Replaces the agent of a data directory by a new one, at the owner's request.

The old agent's ledger, tasks and results are kept together with its identity, in files
of their own: one agent's ledger must not continue as another's, and what only its token
can deliver is not lost as long as both files are kept.
"""

from dataclasses import dataclass

from journeyman.daemon.agent import open_agent
from journeyman.daemon.environment import Environment
from journeyman.domain.errors import StateError
from journeyman.domain.tasks import IN_FLIGHT, Identity, TaskState
from journeyman.journal.directory import (
    DataDirectory,
    DirectoryLock,
    ReplacedFiles,
    install_replacement,
    replacement_directory,
)
from journeyman.journal.identity import load_identity
from journeyman.journal.journal import Journal
from journeyman.settings.sections import Settings
from journeyman.worker.join import AGENT, require_same_network

UNDELIVERED = frozenset({TaskState.EXECUTED, TaskState.SUBMITTING})


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplacedAgent:
    """What stays with the agent that was replaced."""

    agent_id: str
    credits: int = 0
    """Its balance, as booked."""
    in_flight: int = 0
    """Tasks that were begun; nothing more is sent for them."""
    undelivered: int = 0
    """Results among them that the network does not have."""
    reserved_credits: int = 0
    """For posts of unknown outcome; they stay reserved in its ledger."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Replacement:
    """A new agent lives in the data directory."""

    identity: Identity
    old: ReplacedAgent
    kept: ReplacedFiles


async def replace_agent(
    settings: Settings, base_url: str, environment: Environment
) -> Replacement:
    """Register a new agent in the place of the one that lives here.

    Until the new one is on disk nothing of the old one is touched.

    Raises:
        AlreadyRunningError: a daemon runs on this data directory.
        NetworkError: the network registers no new agent; the old one stays.
        SafetyError: the identity here belongs to another network, or a registration
            of unknown outcome must not be repeated today.
        StateError: the files of an agent cannot be read or written.
    """
    directory = DataDirectory(settings.data.directory)
    new = replacement_directory(directory)
    with DirectoryLock(directory):
        known = load_identity(directory.identity)
        if known is not None:
            require_same_network(known, base_url)
        old = _old_agent(directory, known, environment)
        identity = await _join_beside(settings, new, base_url, environment)
        kept = install_replacement(directory, new, old.agent_id)
    environment.redactor.add(identity.access_token.reveal())
    return Replacement(identity=identity, old=old, kept=kept)


async def _join_beside(
    settings: Settings, new: DataDirectory, base_url: str, environment: Environment
) -> Identity:
    """Join in a folder of its own; an interrupted replacement is not joined again."""
    data = settings.data.model_copy(update={"directory": new.path})
    beside = settings.model_copy(update={"data": data})
    known = _interrupted(new, environment)
    if known is not None:
        return known
    async with open_agent(beside, base_url, environment) as agent:
        return agent.identity


def _interrupted(new: DataDirectory, environment: Environment) -> Identity | None:
    """Return the new agent if its identity is already in place, after a crash."""
    if new.identity.exists() or not new.journal.exists():
        return None
    placed = load_identity(new.path.parent / new.identity.name)
    owner = _owner(new, environment)
    return placed if placed is not None and placed.agent_id == owner else None


def _old_agent(
    directory: DataDirectory, known: Identity | None, environment: Environment
) -> ReplacedAgent:
    if not directory.journal.exists():
        return ReplacedAgent(agent_id=str(known.agent_id) if known else "")
    with Journal(directory.journal, environment.clock.now) as journal:
        # Its log is folded into it, so that moving the one file moves all.
        journal.database.checkpoint()
        owner = journal.facts.get(AGENT)
        return ReplacedAgent(
            agent_id=str(owner or (known.agent_id if known else "")),
            credits=journal.ledger.balance(),
            in_flight=journal.tasks.count_in(IN_FLIGHT),
            undelivered=journal.tasks.count_in(UNDELIVERED),
            reserved_credits=journal.spends.reserved_credits(),
        )


def _owner(directory: DataDirectory, environment: Environment) -> str:
    with Journal(directory.journal, environment.clock.now, read_only=True) as journal:
        owner = journal.facts.get(AGENT)
    if not isinstance(owner, str):
        raise StateError(
            f"the journal {directory.journal} does not name an agent",
            f"Move the folder {directory.path} away, then try again.",
        )
    return owner
