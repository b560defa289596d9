"""What each strategy may spend on posts in a day, within the owner's other limits."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from journeyman.economy.budget import OverBudget, start_of_day
from journeyman.journal import Journal, SpendKind


@dataclass(frozen=True, kw_only=True, slots=True)
class Allowances:
    """Credits a day (UTC), for each strategy."""

    each: int
    """For a strategy that is not named."""
    of: Mapping[str, int] = field(default_factory=dict)
    """By name."""

    def check(
        self, journal: Journal, now: datetime, strategy: str, reward: int
    ) -> OverBudget | None:
        """Say whether a strategy may spend so much more today.

        What is held or of unknown outcome counts as spent. Posts of one strategy must
        be decided one after the other: this holds nothing.
        """
        limit = self.of.get(strategy, self.each)
        since = start_of_day(now)
        _, spent, _ = journal.spends.counting_since(SpendKind.POST, since, strategy)
        if spent + reward <= limit:
            return None
        is_named = strategy in self.of
        setting = f"strategy_credits.{strategy}" if is_named else "per_strategy_credits"
        return OverBudget(
            f"budget.{setting}",
            f"{strategy} has spent {spent} credits today, {reward} more asked for; "
            f"its limit is {limit}",
        )
