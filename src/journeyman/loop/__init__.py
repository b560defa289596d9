"""The verbs of the contract, a file each, and the worker that carries tasks."""

from journeyman.loop.backoff import Backoff
from journeyman.loop.bell import Bell
from journeyman.loop.claim import Claim
from journeyman.loop.complete import Complete
from journeyman.loop.crew import Crew
from journeyman.loop.discover import Discover, Poll, Tally
from journeyman.loop.execute import Execute, Surroundings
from journeyman.loop.gate import Gate
from journeyman.loop.intent import Intents
from journeyman.loop.join import Join, Papers, require_same_network
from journeyman.loop.recover import recover_interrupted
from journeyman.loop.registration import (
    AGENT,
    UNCERTAIN_TRIES_PER_DAY,
    is_registration_unknown,
)
from journeyman.loop.select import Select
from journeyman.loop.submit import Submit
from journeyman.loop.worker import Progress, Step, Worker

__all__ = [
    "AGENT",
    "UNCERTAIN_TRIES_PER_DAY",
    "Backoff",
    "Bell",
    "Claim",
    "Complete",
    "Crew",
    "Discover",
    "Execute",
    "Gate",
    "Intents",
    "Join",
    "Papers",
    "Poll",
    "Progress",
    "Select",
    "Step",
    "Submit",
    "Surroundings",
    "Tally",
    "Worker",
    "is_registration_unknown",
    "recover_interrupted",
    "require_same_network",
]
