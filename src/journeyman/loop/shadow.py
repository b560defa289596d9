"""Strategies in shadow: asked about each task beside the live ones, and given none."""

from collections.abc import Iterator, Mapping

from journeyman.domain import Clock, Task
from journeyman.journal import ShadowVerdict
from journeyman.strategies.loaded import Loaded
from journeyman.strategies.registry import Registry


class Shadows:
    """The strategies in shadow of one generation."""

    def __init__(self, fingerprints: Mapping[Loaded, str], memory: Registry) -> None:
        """Hold them; `memory` knows whose `wants` has held the daemon up."""
        self.fingerprints = fingerprints
        """Of the files and the settings of each."""
        # One for each, since each is timed by itself.
        self._asked = [(one, memory.of([one])) for one in fingerprints]

    @property
    def strategies(self) -> tuple[Loaded, ...]:
        """All of them."""
        return tuple(self.fingerprints)

    def judge(self, task: Task, live: str, clock: Clock) -> Iterator[ShadowVerdict]:
        """Ask each; `live` is the strategy that got the task, empty for nobody."""
        for loaded, registry in self._asked:
            began = clock.monotonic()
            verdict = registry.choose(task).verdicts[0]
            yield ShadowVerdict(
                strategy=loaded.name,
                fingerprint=self.fingerprints[loaded],
                task_id=task.id,
                live=live,
                wanted=verdict.wanted,
                reason=verdict.reason,
                offer=verdict.offer or 0.0,
                failed=verdict.failed,
                seconds=clock.monotonic() - began,
            )
