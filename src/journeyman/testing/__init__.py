"""For tests: time and chance to order, and a log that remembers."""

from journeyman.testing.clock import FakeClock
from journeyman.testing.log import RecordingLog
from journeyman.testing.randomness import FakeRandomness

__all__ = ["FakeClock", "FakeRandomness", "RecordingLog"]
