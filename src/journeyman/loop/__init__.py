"""The verbs of the contract, a file each, and the worker that carries tasks."""

from journeyman.loop.backoff import Backoff
from journeyman.loop.bell import Bell
from journeyman.loop.breaker import Breaker, is_on_trial
from journeyman.loop.claim import Claim
from journeyman.loop.complete import Complete
from journeyman.loop.conclude import Conclude
from journeyman.loop.crew import Crew, Generation
from journeyman.loop.discover import Discover, Poll, Tally
from journeyman.loop.execute import Execute, Patience, Surroundings
from journeyman.loop.gate import Gate
from journeyman.loop.hold import Hold
from journeyman.loop.intent import Intents
from journeyman.loop.join import Join, Papers, require_same_network
from journeyman.loop.lessons import Lessons
from journeyman.loop.memory import StrategyMemory
from journeyman.loop.prospects import Prospects
from journeyman.loop.quarantine import Quarantine
from journeyman.loop.ranking import RANKINGS, ByExpectation, Ranking
from journeyman.loop.recorder import Recorder, TapeLimits
from journeyman.loop.recover import recover_interrupted
from journeyman.loop.registration import (
    AGENT,
    UNCERTAIN_TRIES_PER_DAY,
    is_registration_unknown,
)
from journeyman.loop.select import Select
from journeyman.loop.shortlist import Shortlist
from journeyman.loop.submit import Submit
from journeyman.loop.token import TokenMemory, rejection
from journeyman.loop.worker import Progress, Step, Worker

__all__ = [
    "AGENT",
    "RANKINGS",
    "UNCERTAIN_TRIES_PER_DAY",
    "Backoff",
    "Bell",
    "Breaker",
    "ByExpectation",
    "Claim",
    "Complete",
    "Conclude",
    "Crew",
    "Discover",
    "Execute",
    "Gate",
    "Generation",
    "Hold",
    "Intents",
    "Join",
    "Lessons",
    "Papers",
    "Patience",
    "Poll",
    "Progress",
    "Prospects",
    "Quarantine",
    "Ranking",
    "Recorder",
    "Select",
    "Shortlist",
    "Step",
    "StrategyMemory",
    "Submit",
    "Surroundings",
    "Tally",
    "TapeLimits",
    "TokenMemory",
    "Worker",
    "is_on_trial",
    "is_registration_unknown",
    "recover_interrupted",
    "rejection",
    "require_same_network",
]
