"""Tasks, their states, outcomes, ids, clocks: the standard library only."""

__version__ = "0.1.0"
