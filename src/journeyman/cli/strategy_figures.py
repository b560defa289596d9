"""The tasks of one strategy, in four numbers."""

from collections.abc import Mapping

FIGURES = ("completed", "at work", "waiting", "unpaid")
_UNPAID = ("lost", "declined", "failed", "rejected")


def strategy_figures(states: Mapping[str, int]) -> tuple[int, int, int, int]:
    """Count a strategy's tasks by state into `FIGURES`; skipped ones into none."""
    done, waiting = states.get("completed", 0), states.get("wanted", 0)
    unpaid = sum(states.get(name, 0) for name in _UNPAID)
    passed = states.get("skipped", 0)
    at_work = sum(states.values()) - done - waiting - unpaid - passed
    return done, at_work, waiting, unpaid
