"""The daemon: the composition root, the loops, the schedule, the shutdown."""
