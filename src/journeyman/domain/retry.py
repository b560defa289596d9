"""When something may be tried again: every figure, and the one back-off."""

from dataclasses import dataclass

from journeyman.domain.clock import Randomness
from journeyman.domain.outcomes import Failure, NotSent, Unknown


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """The one answer to "when may this be tried again"; all times in seconds."""

    base_seconds: float = 1.0
    """The unit of the back-off: the first wait is half to twice this."""
    max_seconds: float = 300.0
    """The longest back-off: no longer, or work would stand still after an outage."""
    max_unreachable_seconds: float = 60.0
    """The same while nobody answers: the circuit breaker spares the network, and work
    is to resume within a minute once it answers again."""
    jitter: float = 0.1
    """The share of a fixed wait that is added at random, so that agents which were
    stopped together do not return together."""
    max_jitter_seconds: float = 30.0
    """More than this spreads nothing that less would not."""
    claim_refusals: int = 3
    """403 or 404 answers in a row before a claim is given up. One is never trusted:
    gateways give them for a service that restarts."""
    result_refusals: int = 100
    """The same for a submission or a completion. Work that is done is worth more
    patience: some hours of a gateway that says "no such task". A third of it does for a
    submission while those of other tasks are accepted."""
    refusal_seconds: float = 30.0
    """The shortest wait between two such answers: a restart takes its time."""
    contradictions: int = 2
    """Refusals in a row of finished work that do not judge it, such as a 400 to a
    request of a kind that has worked, before it is given up."""
    contradiction_seconds: float = 60.0
    """The wait between two of them."""
    review_seconds: float = 3.0
    """The first wait for work that is being looked at; each later one is longer by
    half, up to the longest back-off."""
    paused_seconds: float = 600.0
    """How long a task waits at most before it asks again whether its request may be
    sent: another request may have ended the pause."""
    registrations_per_start: int = 3
    """Attempts to register before the daemon gives up and says why."""
    unknown_registrations_per_day: int = 3
    """Registrations of unknown outcome: each repeat could make another agent on a
    network that ignores the idempotency key."""
    quarantine_seconds: float = 60.0
    """How often a claimed task looks for a strategy while its own is in quarantine: a
    reload may have brought another one that wants it."""
    bug_seconds: float = 60.0
    """How long a task is left alone after a bug of ours, so that it cannot spin."""
    token_seconds: float = 2.0
    """After the first refusal of the token, until a second request confirms it."""
    probe_seconds: float = 5.0
    """While a probe of what is failing is under way, other requests wait for it; a
    slow one is not repeated sooner than after this."""
    absent_seconds: float = 60.0
    """Until the first check for an endpoint that the network lacks: it may be one that
    is being replaced. Each later check waits ten times as long."""
    post_seconds: float = 30.0
    """Between two looks for a first post that no listing shows yet."""
    top_up_seconds: float = 3_600.0
    """After a request for a payment page that gave none; each leaves a row behind."""

    def backoff(
        self, attempt: int, randomness: Randomness, most: float | None = None
    ) -> float:
        """Return an exponential wait with full jitter, at most `most` seconds.

        The first attempt is number 1. Without `most` the limit is `max_seconds`.
        """
        longest = self.max_seconds if most is None else most
        ceiling = min(longest, self.base_seconds * 2.0 ** min(attempt, 16))
        return randomness.uniform(min(self.base_seconds / 2, ceiling), ceiling)

    def wait_after(
        self, attempt: int, failure: Failure, randomness: Randomness
    ) -> float:
        """Return the wait after an attempt that failed.

        A wait that the network asked for (`Retry-After`) is the least.
        """
        is_unreachable = isinstance(failure, NotSent | Unknown)
        most = self.max_unreachable_seconds if is_unreachable else self.max_seconds
        wait = self.backoff(attempt, randomness, most)
        return max(wait, failure.retry_after or 0.0)

    def review_wait(self, review: int, randomness: Randomness) -> float:
        """Return the wait after an answer that work is being looked at.

        The first such answer is number 1.
        """
        wait = self.review_seconds * 1.5 ** min(review - 1, 32)
        return self.with_jitter(min(wait, self.max_seconds), randomness)

    def with_jitter(self, seconds: float, randomness: Randomness) -> float:
        """Return a fixed wait, lengthened a little at random."""
        longest = min(self.jitter * seconds, self.max_jitter_seconds)
        return seconds + randomness.uniform(0.0, longest)
