"""Replace the agent of a data directory by a new one, on the owner's word.

The old agent's books, tasks and results stay together with its identity, put aside:
one agent's books must not go on as another's, and what only its token can deliver is
not lost as long as both files are kept (decision 0028).
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
    replacement_directory,
    install_replacement,
)
from journeyman.journal.identity import load_identity
from journeyman.journal.journal import Journal
from journeyman.settings.sections import Settings
from journeyman.worker.join import AGENT, require_same_network

UNDELIVERED = frozenset({TaskState.EXECUTED, TaskState.SUBMITTING})


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftBehind:
    """What stays with the agent that was replaced."""

    agent_id: str
    credits: int
    """Its balance, as booked."""
    in_flight: int
    """Tasks that were begun; nothing more is sent for them."""
    undelivered: int
    """Results among them that the network does not have."""
    held_credits: int
    """Of posts of unknown outcome; they stay held in its books."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Replaced:
    """A new agent lives in the data directory."""

    identity: Identity
    old: LeftBehind
    put_aside: ReplacedFiles


async def replace_agent(
    settings: Settings, base_url: str, environment: Environment
) -> Replaced:
    """Register anew, and put the agent that lives here aside.

    Until the new one is on disk nothing of the old one is touched.

    Raises:
        AlreadyRunningError: a daemon runs on this data directory.
        NetworkError: the network gives us no new agent; the old one is in force.
        SafetyError: the identity here belongs to another network, or a registration
            of unknown outcome must not be repeated today.
        StateError: the files of an agent cannot be read or written.
    """
    directory = DataDirectory(settings.data.directory)
    newcomer = replacement_directory(directory)
    with DirectoryLock(directory):
        known = load_identity(directory.identity)
        if known is not None:
            require_same_network(known, base_url)
        old = _left_behind(directory, known, environment)
        identity = await _join_beside(settings, newcomer, base_url, environment)
        put_aside = install_replacement(directory, newcomer, old.agent_id)
    environment.redactor.add(identity.access_token.reveal())
    return Replaced(identity=identity, old=old, put_aside=put_aside)


async def _join_beside(
    settings: Settings, newcomer: DataDirectory, base_url: str, environment: Environment
) -> Identity:
    """Join in a folder of its own; an interrupted replacement is not joined anew."""
    data = settings.data.model_copy(update={"directory": newcomer.path})
    beside = settings.model_copy(update={"data": data})
    known = _interrupted(newcomer, environment)
    if known is not None:
        return known
    async with open_agent(beside, base_url, environment) as agent:
        return agent.identity


def _interrupted(newcomer: DataDirectory, environment: Environment) -> Identity | None:
    """Find the newcomer whose identity is in its place already, after a crash."""
    if newcomer.identity.exists() or not newcomer.journal.exists():
        return None
    placed = load_identity(newcomer.path.parent / newcomer.identity.name)
    owner = _owner(newcomer, environment)
    return placed if placed is not None and placed.agent_id == owner else None


def _left_behind(
    directory: DataDirectory, known: Identity | None, environment: Environment
) -> LeftBehind:
    if not directory.journal.exists():
        agent_id = str(known.agent_id) if known else ""
        return LeftBehind(
            agent_id=agent_id, credits=0, in_flight=0, undelivered=0, held_credits=0
        )
    with Journal(directory.journal, environment.clock.now) as journal:
        # Its log is folded into it, so that moving the one file moves all.
        journal.database.checkpoint()
        owner = journal.facts.get(AGENT)
        return LeftBehind(
            agent_id=str(owner or (known.agent_id if known else "")),
            credits=journal.ledger.balance(),
            in_flight=journal.tasks.count_in(IN_FLIGHT),
            undelivered=journal.tasks.count_in(UNDELIVERED),
            held_credits=journal.spends.reserved_credits(),
        )


def _owner(directory: DataDirectory, environment: Environment) -> str:
    with Journal(directory.journal, environment.clock.now, read_only=True) as journal:
        owner = journal.facts.get(AGENT)
    if not isinstance(owner, str):
        raise StateError(
            f"the journal {directory.journal} names no agent",
            f"Move the folder {directory.path} away, then try again.",
        )
    return owner
