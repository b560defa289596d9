"""What a replay adds up to: tasks and credits, by what changed and what is known."""

from dataclasses import dataclass, field

from journeyman.daemon.replay.decisions import Change, Fate, Replayed


@dataclass(slots=True)
class Part:
    """The tasks with one change and one fate."""

    tasks: int = 0
    credits: int = 0
    """Booked for them."""
    estimate: float = 0.0
    """Credits that they would bring, by the strategy's track record."""

    def as_json(self) -> dict[str, int | float]:
        """Give it for a program."""
        return {
            "tasks": self.tasks,
            "credits": self.credits,
            "estimate": round(self.estimate, 1),
        }


@dataclass(slots=True)
class Balance:
    """Adds replayed tasks up."""

    tasks: int = 0
    in_part: int = 0
    """Kept with a text cut, or a secret taken out."""
    failed: int = 0
    """Times that the new code's `wants` raised, or gave no verdict."""
    read_raw: int = 0
    """Times that it looked at `task.raw`, which is not kept."""
    offers_changed: int = 0
    """Wanted then and now, for another offer."""
    parts: dict[tuple[Change, Fate], Part] = field(default_factory=dict)

    def add(self, one: Replayed) -> None:
        """Count one task."""
        self.tasks += 1
        self.in_part += one.sighting.in_part
        self.failed += one.now.failed
        self.read_raw += one.read_raw
        is_kept = one.change is Change.KEPT
        self.offers_changed += is_kept and one.then.offer != one.now.offer
        part = self.parts.setdefault((one.change, one.fate), Part())
        part.tasks += 1
        part.credits += one.sighting.ending.credits
        part.estimate += one.estimate.credits if one.now.wanted else 0.0

    def part(self, change: Change, fate: Fate) -> Part:
        """Give the tasks with one change and one fate."""
        return self.parts.get((change, fate), Part())

    def count(self, *changes: Change) -> int:
        """Give how many tasks have one of these changes."""
        return sum(
            part.tasks for (one, _), part in self.parts.items() if one in changes
        )

    @property
    def wanted_then(self) -> int:
        """Tasks that were wanted then."""
        return self.count(Change.KEPT, Change.DROPPED)

    @property
    def wanted_now(self) -> int:
        """Tasks that are wanted now."""
        return self.count(Change.KEPT, Change.GAINED)
