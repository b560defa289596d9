"""Join the network, once (contract endpoint 1)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from journeyman.domain.clock import Clock, Randomness
from journeyman.domain.errors import NetworkError, SafetyError, StateError
from journeyman.domain.outcomes import (
    Confirmed,
    Failure,
    NotSent,
    Outcome,
    Refused,
    Unknown,
)
from journeyman.domain.retry import RetryPolicy
from journeyman.domain.tasks import JSON, AgentId, IdempotencyKey, Identity
from journeyman.economy.bookkeeping import book_starter
from journeyman.journal.identity import AnswerFile, RegistrationAnswer
from journeyman.journal.journal import Journal
from journeyman.network.advice import advice_for
from journeyman.network.call import Arrival
from journeyman.network.registration import Registration
from journeyman.observability.events import Log
from journeyman.worker import events

if TYPE_CHECKING:
    # Otherwise whoever asks whether we have joined would import what sends.
    from journeyman.network.client import NetworkClient

REGISTRATION = "registration"
"""The fact that holds the intent."""
GIVEN = "given at registration"
"""The fact that holds what else names the agent."""
AGENT = "agent"
"""The fact that names the agent whose ledger and tasks are in the journal."""


@dataclass(kw_only=True, eq=False)
class RegistrationIntent:
    """One registration, however often it is attempted: always with the same key."""

    journal: Journal
    base_url: str
    most_per_day: int
    """Attempts of unknown outcome."""
    clock: Clock
    randomness: Randomness

    @property
    def is_answered(self) -> bool:
        """Whether this network has said yes, in words that nobody could read."""
        return _stored(self.journal).get("answered_by") == self.base_url

    def open(self) -> IdempotencyKey:
        """Commit that a registration may be sent; the key is always the same.

        Raises:
            SafetyError: it may have happened too often today.
        """
        intent = _stored(self.journal)
        today = self.clock.now().date().isoformat()
        is_of_today = intent.get("uncertain_on") == today
        tries = _whole(intent.get("uncertain_tries")) if is_of_today else 0
        if tries >= self.most_per_day:
            raise self._tried_too_often(tries)
        key = intent.get("key") or self.randomness.new_id("join")
        with self.journal.tx("registration intent"):
            self.journal.facts.put(
                REGISTRATION,
                {
                    "key": key,
                    "uncertain_on": today,
                    # Counted before it is sent: a crash loop is not a request storm.
                    "uncertain_tries": tries + 1,
                    "maybe_done": True,
                    "was_maybe_done": intent.get("maybe_done", False),
                },
            )
        return IdempotencyKey(str(key))

    def note_answered(self) -> None:
        """Note that a success came: it is never sent to this network again."""
        intent = {**_stored(self.journal), "answered_by": self.base_url}
        with self.journal.tx("registration answered"):
            self.journal.facts.put(REGISTRATION, intent)

    def note(self, failure: Failure) -> None:
        """Take back the count of an attempt that certainly made no agent."""
        if isinstance(failure, Unknown):
            return
        intent = _stored(self.journal)
        intent["uncertain_tries"] = _whole(intent.get("uncertain_tries")) - 1
        # An earlier attempt may have made one all the same.
        intent["maybe_done"] = intent.get("was_maybe_done", False)
        with self.journal.tx("registration not done"):
            self.journal.facts.put(REGISTRATION, intent)

    def _tried_too_often(self, tries: int) -> SafetyError:
        return SafetyError(
            f"registration at {self.base_url} may have happened {tries} times "
            "today, but no answer came back",
            "Wait until tomorrow (UTC), or ask the network whether an agent of "
            "yours exists. Repeating could make a second agent.",
        )


def given_at_registration(journal: Journal) -> dict[str, JSON]:
    """Return what the network gave besides our id and token, that names us."""
    given = journal.facts.get(GIVEN)
    return given if isinstance(given, dict) else {}


def is_registration_unknown(journal: Journal) -> bool:
    """Return whether a registration may have made an agent that we know nothing of."""
    joined = journal.facts.get(AGENT) is not None
    return not joined and _stored(journal).get("maybe_done") is True


def _stored(journal: Journal) -> dict[str, JSON]:
    intent = journal.facts.get(REGISTRATION)
    return intent if isinstance(intent, dict) else {}


def _whole(value: JSON) -> int:
    return value if isinstance(value, int) else 0


@dataclass(frozen=True, kw_only=True, slots=True)
class IdentityFiles:
    """Where our identity is stored."""

    load: Callable[[], Identity | None]
    """Returns our identity, if we have one."""
    save: Callable[[Identity], None]
    """Makes an identity durable."""
    answers: AnswerFile
    """Keeps the answer to a registration until the identity is saved."""


@dataclass(kw_only=True, eq=False)
class Join:
    """Finds our identity: the one on disk, or a new one if there never was one."""

    network: "NetworkClient"
    journal: Journal
    identity_files: IdentityFiles
    base_url: str
    retry: RetryPolicy
    clock: Clock
    randomness: Randomness
    log: Log
    intent: RegistrationIntent = field(init=False)
    _answer: RegistrationAnswer | None = field(default=None, init=False)
    """What has arrived of the last answer, also where the disk refused to keep it."""

    def __post_init__(self) -> None:
        self.intent = RegistrationIntent(
            journal=self.journal,
            base_url=self.base_url,
            most_per_day=self.retry.unknown_registrations_per_day,
            clock=self.clock,
            randomness=self.randomness,
        )

    async def run(self) -> Identity:
        """Join, or find that we have joined.

        Raises:
            SafetyError: the identity on disk belongs to another network or is not
                that of the journal, a registration of unknown outcome must not be
                repeated today, or one was answered and no agent found in that.
            NetworkError: the network cannot be reached or refuses us.
            StateError: the identity on disk is damaged, or cannot be written.
        """
        saved = self.identity_files.load()
        self._require_journal(saved)
        identity = saved or self._from_answer()
        self._require_own_journal(identity)
        if identity is None:
            return await self._register()
        require_same_network(identity, self.base_url)
        self._tidy_answer(identity)
        # A crash between saving the identity and booking its credits ends here.
        self._book_starter(identity, None)
        self.log.emit(
            events.KNOWN, agent_id=identity.agent_id, base_url=identity.base_url
        )
        return identity

    def _require_journal(self, saved: Identity | None) -> None:
        """Refuse a journal that is empty, though an agent was saved before.

        One that has registered, and crashed, has at least the intent in its journal.
        """
        if (
            saved
            and self.journal.facts.get(AGENT) is None
            and not _stored(self.journal)
        ):
            raise missing_journal(saved.agent_id, self.journal.database.path)

    def _require_own_journal(self, identity: Identity | None) -> None:
        if stranger := foreign_journal(self.journal, identity):
            raise stranger

    def _tidy_answer(self, identity: Identity) -> None:
        """Remove an answer whose token is safe; one of another agent is left alone."""
        answer = self.identity_files.answers.load()
        read = answer and self._read(answer)
        if not read or read.is_guess:
            return
        if read.access_token == identity.access_token:
            self.identity_files.answers.forget()

    def _read(self, answer: RegistrationAnswer) -> Registration | None:
        return self.network.read_registration(answer.body, answer.headers)

    def _from_answer(self) -> Identity | None:
        """Find the identity in an answer that was kept when an earlier run crashed."""
        answer = self.identity_files.answers.load()
        if answer is None:
            return None
        registration, owner = self._read(answer), self.journal.facts.get(AGENT)
        if registration is None or owner not in (None, registration.agent_id):
            self._require_no_success(answer, owner)
            return None
        identity = _identity_of(registration, answer.base_url)
        self.identity_files.save(identity)
        if answer.base_url == self.base_url:
            self._book_starter(identity, registration)
        self._forget_answer(registration)
        self.log.emit(
            events.RESCUED, agent_id=identity.agent_id, base_url=identity.base_url
        )
        return identity

    def _forget_answer(self, registration: Registration) -> None:
        """Remove the answer, unless its token may be another one."""
        if not registration.is_guess:
            self.identity_files.answers.forget()

    def _require_no_success(self, answer: RegistrationAnswer, owner: JSON) -> None:
        """Refuse to register where an earlier run was killed before it read a yes."""
        is_of_here = answer.is_whole and answer.base_url == self.base_url
        if is_of_here and owner is None:
            raise self._unread(answer)

    async def _register(self) -> Identity:
        if self.intent.is_answered:
            raise self._unread(None)
        attempt, most = 1, self.retry.registrations_per_start
        while not isinstance(outcome := await self._attempt(), Identity):
            if attempt == most or not isinstance(outcome, NotSent | Unknown):
                raise self._not_joined(outcome)
            await self._wait(attempt, outcome)
            attempt += 1
        return outcome

    async def _attempt(self) -> Identity | Failure:
        """Register once. A stop waits for the answer: it may carry the only token."""
        with anyio.CancelScope(shield=True):
            self._answer, key = None, self.intent.open()
            outcome = await self.network.register(key, self._keep_answer)
            done = self._finish(outcome)
        return done  # noqa: RET504 - a shield may swallow; mypy wants the return here

    def _finish(self, outcome: Outcome[Registration]) -> Identity | Failure:
        if isinstance(outcome, Confirmed):
            return self._joined(outcome.value)
        if self._answer and self._answer.is_whole:
            registration = self._search(self._answer, outcome)
            if registration is not None:
                return self._joined(registration)
            # A success whose body says no: no agent was made.
            self.identity_files.answers.forget()
        self.intent.note(outcome)
        return outcome

    def _search(
        self, answer: RegistrationAnswer, failure: Failure
    ) -> Registration | None:
        """Find the agent in a success that is no JSON, or says no beside a token.

        Raises:
            SafetyError: there is none, and no word that none was made; it is not asked
                for again.
        """
        registration = self._read(answer)
        if isinstance(failure, Refused):
            is_sure = registration is not None and not registration.is_guess
            return registration if is_sure else None
        if registration is None:
            self.intent.note_answered()
            raise self._unread(answer)
        return registration

    def _keep_answer(self, arrival: Arrival) -> None:
        """Write a registration's answer to disk before it is read.

        If the disk refuses, we go on: what is in memory may still be saved.
        """
        self._answer = RegistrationAnswer(
            self.base_url, arrival.body, arrival.headers, arrival.is_whole
        )
        try:
            self.identity_files.answers.keep(self._answer)
        except StateError as error:
            self.log.emit(events.ANSWER_NOT_KEPT, message=error.problem)

    def _joined(self, registration: Registration) -> Identity:
        identity = _identity_of(registration, self.base_url)
        # Before anything else: a token that is lost here is lost forever.
        self.identity_files.save(identity)
        self._forget_answer(registration)
        self._book_starter(identity, registration)
        self.log.emit(
            events.JOINED,
            agent_id=identity.agent_id,
            base_url=identity.base_url,
            credits=registration.credits,
        )
        return identity

    def _book_starter(
        self, identity: Identity, registration: Registration | None
    ) -> None:
        shown = registration.credits if registration else None
        with self.journal.tx("starter credits"):
            self.journal.facts.put(AGENT, identity.agent_id)
            if registration and registration.given:
                self.journal.facts.put(GIVEN, dict(registration.given))
            book_starter(self.journal.ledger, shown)

    async def _wait(self, attempt: int, failure: Failure) -> None:
        wait = self.retry.wait_after(attempt, failure, self.randomness)
        self.log.emit(
            events.JOIN_DELAYED,
            message=failure.message,
            attempt=attempt,
            retry_in=round(wait, 1),
        )
        await self.clock.sleep(wait)

    def _unread(self, answer: RegistrationAnswer | None) -> SafetyError:
        path = self.identity_files.answers.path
        is_page = answer is not None and answer.body.lstrip().startswith(b"<")
        came = "a web page, not an agent" if is_page else "a success without an agent"
        example = (
            '{"format": 1, "agent_id": "...", "access_token": "...", '
            f'"base_url": "{self.base_url}"}}'
        )
        return SafetyError(
            f"{self.base_url} has answered our registration with {came}: no agent id "
            "and token were found in it",
            "It is not sent again there: each registration may make one more agent. "
            f"The whole answer is in {path}, readable by you alone, the headers in its "
            "first line. If another service has answered, correct network.base_url. If "
            f"an id and a token are in it, write {example} to a file, and run "
            "`journeyman identity import FILE`. To register a new agent all the same: "
            "`journeyman join --replace`.",
        )

    def _not_joined(self, failure: Failure) -> NetworkError:
        path = self.identity_files.answers.path
        kept = (
            f"An answer that did not arrive whole is kept in {path}: it may contain a "
            "token. "
            if isinstance(failure, Unknown) and path.exists()
            else ""
        )
        return NetworkError(
            f"could not join {self.base_url}: {failure.message}",
            f"{advice_for(failure, has_token=False)} {kept}Nothing was lost. To try "
            "Journeyman without a network: journeyman run --sandbox",
        )


def _identity_of(registration: Registration, base_url: str) -> Identity:
    return Identity(registration.agent_id, registration.access_token, base_url)


def missing_journal(agent_id: AgentId, journal: Path) -> SafetyError:
    """Return the refusal to let an agent work whose journal is lost."""
    return SafetyError(
        f"the journal of the agent {agent_id} is missing: {journal} is not there, or "
        "is empty",
        "Without it nobody knows what was spent and which tasks are in flight. Restore "
        "the newest backup with `journeyman journal restore`; or, where there is none, "
        "begin a new one with `journeyman journal begin`. Until then nothing is sent.",
    )


def foreign_journal(journal: Journal, identity: Identity | None) -> SafetyError | None:
    """Return the refusal to work with the journal of another agent; None if it is ours.

    A ledger must not continue as that of another agent.
    """
    owner = journal.facts.get(AGENT)
    if owner is None or (identity is not None and identity.agent_id == owner):
        return None
    has = f"identity is {identity.agent_id}" if identity else "identity is missing"
    return SafetyError(
        f"the journal in this data directory is that of the agent {owner}, and the "
        + has,
        "Put the two together that belong together: identity.json from a backup of "
        f"{owner}, or the other agent's journal (`journeyman journal restore` takes "
        "the newest copy in backups/). Only if that agent and its credits may be given "
        "up: `journeyman join --replace` registers a new one and sets this journal "
        "aside.",
    )


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
