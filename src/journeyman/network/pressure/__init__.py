"""Pressure: how much is asked of a network that suffers, refuses us, or lacks parts."""

from journeyman.network.pressure.guard import Pass, Pressure
from journeyman.network.pressure.held import Cause, Held
from journeyman.network.pressure.options import PressureOptions
from journeyman.network.pressure.sign import Sign, read_sign
from journeyman.network.pressure.standing import Trust

__all__ = [
    "Cause",
    "Held",
    "Pass",
    "Pressure",
    "PressureOptions",
    "Sign",
    "Trust",
    "read_sign",
]
