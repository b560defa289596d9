"""Join the network, once (contract endpoint 1)."""

from collections.abc import Callable
from dataclasses import dataclass

import anyio

from journeyman.domain import (
    Clock,
    Confirmed,
    IdempotencyKey,
    Identity,
    NotSent,
    Outcome,
    Randomness,
    Unknown,
)
from journeyman.domain.errors import NetworkError, SafetyError, StateError
from journeyman.domain.outcome import Failure
from journeyman.economy import book_starter
from journeyman.journal import Answer, AnswerFile, Journal
from journeyman.loop import events
from journeyman.loop.backoff import Backoff
from journeyman.loop.ports import Registrar
from journeyman.loop.registration import AGENT, RegistrationIntent
from journeyman.network import Registration
from journeyman.observability import Log

TRIES_PER_START = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Papers:
    """Where it is written who we are."""

    load: Callable[[], Identity | None]
    """Gives our identity, if we have one."""
    save: Callable[[Identity], None]
    """Makes an identity durable."""
    answers: AnswerFile
    """Keeps the answer to a registration until then."""


class Join:
    """Gives our identity: the one on disk, or a new one if there never was one."""

    def __init__(
        self,
        *,
        registrar: Registrar,
        journal: Journal,
        papers: Papers,
        base_url: str,
        backoff: Backoff,
        clock: Clock,
        randomness: Randomness,
        log: Log,
    ) -> None:
        self._registrar = registrar
        self._journal = journal
        self._load = papers.load
        self._save = papers.save
        self._answers = papers.answers
        self._base_url = base_url
        self._backoff = backoff
        self._clock = clock
        self._intent = RegistrationIntent(
            journal=journal,
            base_url=base_url,
            clock=clock,
            randomness=randomness,
        )
        self._log = log

    async def __call__(self) -> Identity:
        """Join, or find that we have joined.

        Raises:
            SafetyError: the identity on disk belongs to another network or is not
                that of the journal, or a registration of unknown outcome must not
                be repeated today.
            NetworkError: the network cannot be reached or refuses us.
            StateError: the identity on disk is damaged, or cannot be written.
        """
        identity = self._load() or self._from_answer()
        self._require_our_books(identity)
        if identity is None:
            return await self._register()
        require_same_network(identity, self._base_url)
        self._tidy_answer(identity)
        # A crash between saving the identity and booking its credits ends here.
        self._open_books(identity, None)
        self._log.emit(
            events.KNOWN,
            agent_id=identity.agent_id,
            base_url=identity.base_url,
        )
        return identity

    def _require_our_books(self, identity: Identity | None) -> None:
        owner = self._journal.facts.get(AGENT)
        if owner is not None and (identity is None or identity.agent_id != owner):
            raise SafetyError(
                f"the journal in this data directory is that of the agent {owner}, and "
                + (
                    f"the identity is {identity.agent_id}"
                    if identity
                    else "its identity is gone"
                ),
                "Restore identity.json from a backup. Only if that agent and its "
                "credits may be given up: `journeyman join --replace` registers a new "
                "one and puts these books aside. One agent's books must not go on as "
                "another's.",
            )

    def _tidy_answer(self, identity: Identity) -> None:
        """Remove an answer whose token is safe; one of another agent is left alone."""
        answer = self._answers.load()
        read = answer and self._registrar.read_registration(answer.body)
        if read and read.access_token == identity.access_token:
            self._answers.forget()

    def _from_answer(self) -> Identity | None:
        """Find the identity in an answer that a crash left unread."""
        answer = self._answers.load()
        if answer is None:
            return None
        registration = self._registrar.read_registration(answer.body)
        owner = self._journal.facts.get(AGENT)
        if registration is None or owner not in (None, registration.agent_id):
            return None
        identity = _identity_of(registration, answer.base_url)
        self._save(identity)
        if answer.base_url == self._base_url:
            self._open_books(identity, registration.credits)
        self._answers.forget()
        self._log.emit(
            events.RESCUED,
            agent_id=identity.agent_id,
            base_url=identity.base_url,
        )
        return identity

    async def _register(self) -> Identity:
        for attempt in range(1, TRIES_PER_START + 1):
            outcome = await self._try()
            if isinstance(outcome, Identity):
                return outcome
            if attempt < TRIES_PER_START and isinstance(outcome, NotSent | Unknown):
                await self._wait(attempt, outcome)
            else:
                raise self._not_joined(outcome)
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def _try(self) -> Identity | Failure:
        """Register once. A stop waits for the answer: it may carry the only token."""
        with anyio.CancelScope(shield=True):
            key = self._open_intent()
            outcome = await self._registrar.register(key, self._keep_answer)
            done = self._conclude(outcome)
        return done  # noqa: RET504 - a shield may swallow; mypy wants the return here

    def _conclude(self, outcome: Outcome[Registration]) -> Identity | Failure:
        if isinstance(outcome, Confirmed):
            return self._joined(outcome.value)
        self._intent.note(outcome)
        return outcome

    def _open_intent(self) -> IdempotencyKey:
        return self._intent.open()

    def _keep_answer(self, body: bytes) -> None:
        """Put the bytes of a registration's answer on disk, before anybody reads them.

        If the disk refuses, we go on: what is in memory may still be saved.
        """
        try:
            self._answers.keep(Answer(self._base_url, body))
        except StateError as error:
            self._log.emit(events.ANSWER_NOT_KEPT, message=error.problem)

    def _joined(self, registration: Registration) -> Identity:
        identity = _identity_of(registration, self._base_url)
        # Before anything else: a token that is lost here is lost for ever.
        self._save(identity)
        self._answers.forget()
        self._open_books(identity, registration.credits)
        self._log.emit(
            events.JOINED,
            agent_id=identity.agent_id,
            base_url=identity.base_url,
            credits=registration.credits,
        )
        return identity

    def _open_books(self, identity: Identity, shown: int | None) -> None:
        with self._journal.tx("starter credits"):
            self._journal.facts.put(AGENT, identity.agent_id)
            book_starter(self._journal.ledger, shown)

    async def _wait(self, attempt: int, failure: Failure) -> None:
        wait = self._backoff.seconds(attempt, failure)
        self._log.emit(
            events.JOIN_TROUBLE,
            message=failure.message,
            attempt=attempt,
            retry_in=round(wait, 1),
        )
        await self._clock.sleep(wait)

    def _not_joined(self, failure: Failure) -> NetworkError:
        kept = (
            f"An answer that could not be read is kept in {self._answers.path}: it may "
            "hold a token. "
            if isinstance(failure, Unknown) and self._answers.path.exists()
            else ""
        )
        return NetworkError(
            f"could not join {self._base_url}: {failure.message}",
            "Check the address (--base-url, setting network.base_url) and that the "
            f"service runs. {kept}Nothing was lost; starting again tries again. To try "
            "without a network: journeyman run --sandbox",
        )


def _identity_of(registration: Registration, base_url: str) -> Identity:
    return Identity(registration.agent_id, registration.access_token, base_url)


def require_same_network(identity: Identity, base_url: str) -> None:
    """Refuse to act for an agent on a network that is not its own.

    Raises:
        SafetyError: another network issued the identity.
    """
    if identity.base_url != base_url:
        raise SafetyError(
            f"this data directory belongs to an agent of {identity.base_url}, "
            f"not of {base_url}",
            "Use another --data-dir for another network, or set network.base_url "
            "back. The token is never sent to a network that did not issue it.",
        )
