"""Join the network, once (contract endpoint 1)."""

from collections.abc import Callable
from dataclasses import dataclass

import anyio

from journeyman.domain.clock import Clock, Randomness
from journeyman.domain.errors import NetworkError, SafetyError, StateError
from journeyman.domain.outcomes import Confirmed, Failure, NotSent, Outcome, Unknown
from journeyman.domain.tasks import JSON, IdempotencyKey, Identity
from journeyman.economy.bookkeeping import book_starter
from journeyman.journal.identity import AnswerFile, RegistrationAnswer
from journeyman.journal.journal import Journal
from journeyman.network.client import NetworkClient
from journeyman.network.receipts import Registration
from journeyman.observability.events import Log
from journeyman.worker import events
from journeyman.worker.retry import Backoff

REGISTRATION = "registration"
"""The fact that holds the intent."""
AGENT = "agent"
"""The fact that names the agent whose books and tasks the journal holds."""
UNCERTAIN_TRIES_PER_DAY = 3
"""How often a registration that may have happened is repeated: each repeat could make
another agent on a network that ignores the idempotency key."""


class RegistrationIntent:
    """One registration, however often it is tried: always with the same key."""

    def __init__(
        self,
        *,
        journal: Journal,
        base_url: str,
        clock: Clock,
        randomness: Randomness,
    ) -> None:
        self._journal = journal
        self._base_url = base_url
        self._clock = clock
        self._randomness = randomness

    def open(self) -> IdempotencyKey:
        """Commit that a registration may leave; the same key as ever before.

        Raises:
            SafetyError: it may have happened too often today.
        """
        intent = _stored(self._journal)
        today = self._clock.now().date().isoformat()
        is_of_today = intent.get("uncertain_on") == today
        tries = _whole(intent.get("uncertain_tries")) if is_of_today else 0
        if tries >= UNCERTAIN_TRIES_PER_DAY:
            raise self._tried_too_often(tries)
        key = intent.get("key") or self._randomness.new_id("join")
        with self._journal.tx("registration intent"):
            self._journal.facts.put(
                REGISTRATION,
                {
                    "key": key,
                    "uncertain_on": today,
                    # Counted before it leaves: a crash loop is no request storm.
                    "uncertain_tries": tries + 1,
                    "maybe_done": True,
                    "was_maybe_done": intent.get("maybe_done", False),
                },
            )
        return IdempotencyKey(str(key))

    def note(self, failure: Failure) -> None:
        """Take back the count of a try that certainly made no agent."""
        if isinstance(failure, Unknown):
            return
        intent = _stored(self._journal)
        intent["uncertain_tries"] = _whole(intent.get("uncertain_tries")) - 1
        # An earlier try may have made one all the same.
        intent["maybe_done"] = intent.get("was_maybe_done", False)
        with self._journal.tx("registration not done"):
            self._journal.facts.put(REGISTRATION, intent)

    def _tried_too_often(self, tries: int) -> SafetyError:
        return SafetyError(
            f"registration at {self._base_url} may have happened {tries} times "
            "today, but no answer came back",
            "Wait until tomorrow (UTC), or ask the network whether an agent of "
            "yours exists. Repeating could make a second agent.",
        )


def is_registration_unknown(journal: Journal) -> bool:
    """Tell whether a registration may have made an agent that we know nothing of."""
    joined = journal.facts.get(AGENT) is not None
    return not joined and _stored(journal).get("maybe_done") is True


def _stored(journal: Journal) -> dict[str, JSON]:
    intent = journal.facts.get(REGISTRATION)
    return intent if isinstance(intent, dict) else {}


def _whole(value: JSON) -> int:
    return value if isinstance(value, int) else 0


TRIES_PER_START = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class IdentityFiles:
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
        network: NetworkClient,
        journal: Journal,
        identity_files: IdentityFiles,
        base_url: str,
        backoff: Backoff,
        clock: Clock,
        randomness: Randomness,
        log: Log,
    ) -> None:
        self._network = network
        self._journal = journal
        self._load = identity_files.load
        self._save = identity_files.save
        self._answers = identity_files.answers
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

    async def run(self) -> Identity:
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
        read = answer and self._network.read_registration(answer.body)
        if read and read.access_token == identity.access_token:
            self._answers.forget()

    def _from_answer(self) -> Identity | None:
        """Find the identity in an answer that a crash left unread."""
        answer = self._answers.load()
        if answer is None:
            return None
        registration = self._network.read_registration(answer.body)
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
            outcome = await self._network.register(key, self._keep_answer)
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
            self._answers.keep(RegistrationAnswer(self._base_url, body))
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
