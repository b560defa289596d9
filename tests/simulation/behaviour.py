"""How a network behaves where the contract says nothing: drawn from a seed."""

from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from random import Random
from typing import Any, Literal

ClaimRepeat = Literal[200, 409, 400, 403]
Repeat = Literal[200, 409, 400]
OK = 200


class Rejoin(StrEnum):
    """What a second registration gives, where keys are not honoured."""

    SAME = "same"
    CONFLICT = "conflict"
    ANOTHER = "another"


class ErrorBody(StrEnum):
    """What stands in the body of a refusal."""

    JSON = "json"
    TEXT = "text"
    HTML = "html"
    EMPTY = "empty"


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkBehaviour:
    """One of the networks that the contract allows."""

    claim_repeat: ClaimRepeat = 200
    """The status of an agent's repeated claim; so for the two below."""
    submit_repeat: Repeat = 200
    complete_repeat: Repeat = 200
    shows_claimant: bool = True
    """A refused claim names who has the task, if its body is JSON."""
    honours_keys: bool = True
    """A request with a known Idempotency-Key gets the answer of the first."""
    rejoin: Rejoin = Rejoin.ANOTHER
    error_body: ErrorBody = ErrorBody.JSON
    has_bom: bool = False
    """Every body begins with a byte-order mark."""
    lease_seconds: float | None = None
    """How long a claim holds, until its result is submitted; None for ever."""
    deadline_seconds: float | None = None
    """How long a task can be submitted after it was first listed; None for ever."""
    shows_limits: bool = True
    """Claims show their lease, tasks their deadline."""
    echoes_token: bool = False
    """Answers to actions repeat the token that came with the request."""

    @property
    def refuses_repeats(self) -> bool:
        """Whether a repeated request is refused as if it was another agent's."""
        statuses = (self.claim_repeat, self.submit_repeat, self.complete_repeat)
        return not self.honours_keys and any(status != OK for status in statuses)


HONEST = NetworkBehaviour()
"""As the sandbox behaves by itself."""

HARDEST = NetworkBehaviour(
    claim_repeat=409,
    submit_repeat=409,
    complete_repeat=409,
    shows_claimant=False,
    honours_keys=False,
    rejoin=Rejoin.ANOTHER,
    error_body=ErrorBody.EMPTY,
    has_bom=True,
)
"""Reveals nothing to an agent about what it did before."""

BOM_ONE_IN = 10
LEASES = (None, None, None, 60.0, 300.0, 3600.0)
"""In seconds."""
DEADLINES = (None, None, None, 300.0, 3600.0, 4 * 3600.0)
"""In seconds; some end while the daemon is down or the network away."""
CLAIM_REPEATS: tuple[ClaimRepeat, ...] = (200, 409, 400, 403)
REPEATS: tuple[Repeat, ...] = (200, 409, 400)


def draw(random: Random) -> NetworkBehaviour:
    """Draw one of them all."""
    return NetworkBehaviour(
        claim_repeat=random.choice(CLAIM_REPEATS),
        submit_repeat=random.choice(REPEATS),
        complete_repeat=random.choice(REPEATS),
        shows_claimant=random.choice((True, False)),
        honours_keys=random.choice((True, False)),
        rejoin=random.choice(list(Rejoin)),
        error_body=random.choice(list(ErrorBody)),
        has_bom=random.randrange(BOM_ONE_IN) == 0,
        lease_seconds=random.choice(LEASES),
        deadline_seconds=random.choice(DEADLINES),
        shows_limits=random.choice((True, True, False)),
    )


FORMATS: tuple[dict[str, Any], ...] = (
    {},
    {},
    {"id_format": "integer"},
    {"id_format": "uuid", "state_words": "codes"},
    {"state_words": "unusual"},
    {"state_words": "german", "payment": "after-review", "review_seconds": 60.0},
    {"payment": "after-review", "review_seconds": 1800.0},
    {"payment": "on-submission"},
    {"strict": True, "wrapper": "data"},
    {"strict": True, "wrapper": "input", "payment": "on-submission"},
    {"strict": True, "wrapper": "action", "payment": "after-review"},
)
"""Options of the sandbox that a run may have."""


def every_behaviour() -> list[NetworkBehaviour]:
    """Return all 432, with JSON errors: 4 * 3 * 3 * 2 * 2 * 3."""
    return [
        NetworkBehaviour(
            claim_repeat=claim,
            submit_repeat=submit,
            complete_repeat=complete,
            shows_claimant=shows,
            honours_keys=honours,
            rejoin=rejoin,
        )
        for claim, submit, complete, shows, honours, rejoin in product(
            CLAIM_REPEATS, REPEATS, REPEATS, (True, False), (True, False), Rejoin
        )
    ]
