"""The registration intent: written down before a registration may leave."""

from journeyman.domain import JSON, Clock, Failure, IdempotencyKey, Randomness, Unknown
from journeyman.domain.errors import SafetyError
from journeyman.journal import Journal

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
