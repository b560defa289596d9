"""Join the network, once (contract endpoint 1)."""

from collections.abc import Callable

import anyio

from journeyman.domain import (
    JSON,
    Clock,
    Confirmed,
    IdempotencyKey,
    Identity,
    NotSent,
    Outcome,
    Randomness,
    Unknown,
)
from journeyman.domain.errors import NetworkError, SafetyError
from journeyman.domain.outcome import Failure
from journeyman.economy import book_starter
from journeyman.journal import Journal
from journeyman.loop import events
from journeyman.loop.backoff import Backoff
from journeyman.loop.ports import Registrar
from journeyman.network import Registration
from journeyman.observability import Log

REGISTRATION = "registration"
"""The fact that holds the registration intent."""
AGENT = "agent"
"""The fact that names the agent whose books and tasks the journal holds."""
TRIES_PER_START = 3
UNCERTAIN_TRIES_PER_DAY = 3
"""How often a registration that may have happened is repeated: each repeat could make
another agent on a network that ignores the idempotency key."""


class Join:
    """Gives our identity: the one on disk, or a new one if there never was one."""

    def __init__(
        self,
        *,
        registrar: Registrar,
        journal: Journal,
        load: Callable[[], Identity | None],
        save: Callable[[Identity], None],
        base_url: str,
        backoff: Backoff,
        clock: Clock,
        randomness: Randomness,
        log: Log,
    ) -> None:
        self._registrar = registrar
        self._journal = journal
        self._load = load
        self._save = save
        self._base_url = base_url
        self._backoff = backoff
        self._clock = clock
        self._randomness = randomness
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
        identity = self._load()
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
                "credits may be given up, move the whole data directory away and join "
                "anew: one agent's books must not go on as another's.",
            )
        if identity is None:
            return await self._register()
        if identity.base_url != self._base_url:
            raise SafetyError(
                f"this data directory belongs to an agent of {identity.base_url}, "
                f"not of {self._base_url}",
                "Use another --data-dir for another network, or set network.base_url "
                "back. The token is never sent to a network that did not issue it.",
            )
        # A crash between saving the identity and booking its credits ends here.
        self._open_books(identity, None)
        self._log.emit(
            events.KNOWN,
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
            outcome = await self._registrar.register(self._open_intent())
            done = self._conclude(outcome)
        return done  # noqa: RET504 - a shield may swallow; mypy wants the return here

    def _conclude(self, outcome: Outcome[Registration]) -> Identity | Failure:
        if isinstance(outcome, Confirmed):
            return self._joined(outcome.value)
        self._note(outcome)
        return outcome

    def _open_intent(self) -> IdempotencyKey:
        """Commit that a registration may leave; the same key as ever before."""
        intent = self._intent()
        today = self._clock.now().date().isoformat()
        uncertain = intent.get("uncertain_on") == today
        tries = _whole(intent.get("uncertain_tries")) if uncertain else 0
        if tries >= UNCERTAIN_TRIES_PER_DAY:
            raise SafetyError(
                f"registration at {self._base_url} may have happened {tries} times "
                "today, but no answer came back",
                "Wait until tomorrow (UTC), or ask the network whether an agent of "
                "yours exists. Repeating could make a second agent.",
            )
        key = intent.get("key") or self._randomness.new_id("join")
        with self._journal.tx("registration intent"):
            self._journal.facts.put(
                REGISTRATION,
                {
                    "key": key,
                    "uncertain_on": today,
                    # Counted before it leaves: a crash loop is no request storm.
                    "uncertain_tries": tries + 1,
                },
            )
        return IdempotencyKey(str(key))

    def _note(self, failure: Failure) -> None:
        """Take back the count of a try that certainly made no agent."""
        if isinstance(failure, Unknown):
            return
        intent = self._intent()
        intent["uncertain_tries"] = _whole(intent.get("uncertain_tries")) - 1
        with self._journal.tx("registration not done"):
            self._journal.facts.put(REGISTRATION, intent)

    def _joined(self, registration: Registration) -> Identity:
        identity = Identity(
            registration.agent_id,
            registration.access_token,
            self._base_url,
        )
        # Before anything else: a token that is lost here is lost for ever.
        self._save(identity)
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
        return NetworkError(
            f"could not join {self._base_url}: {failure.message}",
            "Check the address (--base-url, setting network.base_url) and that the "
            "service runs. Nothing was lost; starting again tries again. To try "
            "without a network: journeyman run --sandbox",
        )

    def _intent(self) -> dict[str, JSON]:
        intent = self._journal.facts.get(REGISTRATION)
        return intent if isinstance(intent, dict) else {}


def _whole(value: JSON) -> int:
    return value if isinstance(value, int) else 0
