"""The crew: the strategies that are given work, and those that are given none."""

from journeyman.domain import Task
from journeyman.domain.errors import ConfigurationError
from journeyman.journal import TaskRecord
from journeyman.strategies.loaded import Loaded
from journeyman.strategies.registry import Choice, Registry


class Crew:
    """Finds the strategy for a task among those that can work."""

    def __init__(self, registry: Registry, generation: str) -> None:
        """Begin with all; `generation` changes with their files and parameters."""
        self._registry = registry
        self._generation = generation
        self._benched: set[str] = set()

    @property
    def generation(self) -> str:
        """Changes whenever a task that was passed over should be looked at again."""
        return " ".join([self._generation, *sorted(self._benched)])

    def choose(self, task: Task) -> Choice:
        """Name the strategy that should do a task, or the reason why none does."""
        return self._registry.choose(task)

    def find_for(self, record: TaskRecord) -> Loaded | None:
        """Find the strategy that wanted a task, else one that does now.

        Its file may have been renamed or taken away since.
        """
        try:
            return self._registry.find(record.strategy)
        except ConfigurationError:
            return self._registry.choose(record.task).strategy

    def bench(self, strategy: str) -> None:
        """Give a strategy no more work in this run: it says that it cannot do any."""
        self._benched.add(strategy)
        others = [
            loaded for loaded in self._registry.strategies if loaded.name != strategy
        ]
        self._registry = Registry(others, self._registry.problems)
