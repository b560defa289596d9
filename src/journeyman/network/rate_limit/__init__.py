"""Pressure: how much is asked of a network that suffers, refuses us, or lacks parts."""
