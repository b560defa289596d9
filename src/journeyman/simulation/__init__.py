"""Simulated time: the whole daemon and the sandbox in one deterministic world.

A run is a function of its seed, to the byte: the real daemon with its real journal in
a file, the real sandbox in memory, and between them a network that does whatever the
seed says. See docs/reference/invariants.md.
"""

from journeyman.simulation.campaign import Campaign
from journeyman.simulation.clock import SeededRandomness, SimulatedClock
from journeyman.simulation.disk import DiskFault
from journeyman.simulation.errors import (
    DeadlockError,
    HiddenThreadError,
    Killed,
    LivelockError,
)
from journeyman.simulation.faults import FAULTS
from journeyman.simulation.findings import INVARIANTS, Violation
from journeyman.simulation.load import HOSTILE_IDS, Load
from journeyman.simulation.loop import SimulationLoop
from journeyman.simulation.outcome import Outcome
from journeyman.simulation.personality import (
    HARDEST,
    HONEST,
    ErrorBody,
    Personality,
    Rejoin,
    every_contract,
)
from journeyman.simulation.plan import Chaos, Outage, Plan, Spot, draw_plan
from journeyman.simulation.schedule import scheduled_by
from journeyman.simulation.scopes import ordered_scopes
from journeyman.simulation.sweeps import SWEEPS, find_case
from journeyman.simulation.work import CaseWork, SeedWork, Work, do_all, sweep_work
from journeyman.simulation.world import simulate

__all__ = [
    "FAULTS",
    "HARDEST",
    "HONEST",
    "HOSTILE_IDS",
    "INVARIANTS",
    "SWEEPS",
    "Campaign",
    "CaseWork",
    "Chaos",
    "DeadlockError",
    "DiskFault",
    "ErrorBody",
    "HiddenThreadError",
    "Killed",
    "LivelockError",
    "Load",
    "Outage",
    "Outcome",
    "Personality",
    "Plan",
    "Rejoin",
    "SeedWork",
    "SeededRandomness",
    "SimulatedClock",
    "SimulationLoop",
    "Spot",
    "Violation",
    "Work",
    "do_all",
    "draw_plan",
    "every_contract",
    "find_case",
    "ordered_scopes",
    "scheduled_by",
    "simulate",
    "sweep_work",
]
