"""What stands in the daemon for a strategy whose code runs in its own process only.

The daemon never imports the file of a strategy that its owner does not trust. A child
does, and describes it (`strategies.child.description`). By what it declares the daemon
decides for itself; what else it would say about a task, a child was asked before.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from journeyman.domain.tasks import Task, TaskId
from journeyman.strategies.api import Decision, Strategy
from journeyman.strategies.loading.loaded import LoadedStrategy


class AnswerError(Exception):
    """A child gave no valid answer about a task; the message says why."""

    def __init__(
        self,
        reason: str,
        *,
        where: str = "",
        is_fault: bool = True,
        is_blocked: bool = False,
    ) -> None:
        """Keep the reason, its place and whose fault it is.

        Args:
            reason: why, in a sentence.
            where: the author's line that failed.
            is_fault: it is the strategy's fault, and not the machine's.
            is_blocked: it took too long, and is asked no more.
        """
        super().__init__(reason)
        self.where = where
        self.is_fault = is_fault
        self.is_blocked = is_blocked


@dataclass(frozen=True, kw_only=True, slots=True)
class Declarations:
    """What cannot be declared on a class that stands for another one."""

    run_arguments: tuple[str, ...]
    sources: tuple[Path, ...]
    fingerprint: str
    hooks: tuple[tuple[str, bool], ...]
    """Names, and whether they are async."""


class ConfinedStrategy(Strategy):
    """Stands in the daemon for a strategy whose code runs in its own process only."""

    description: ClassVar[Declarations]

    def __init__(self) -> None:
        # Private names: the strategy's parameters are attributes here too.
        self._answers: dict[TaskId, Decision | AnswerError] = {}
        """What a child has answered about the tasks of the last page."""
        self._blocked = ""
        """Why it is asked no more; empty: it is."""


class AskedStrategy(ConfinedStrategy):
    """Stands for one that decides by code of its own, so that a child must be asked."""

    def wants(self, task: Task) -> Decision:
        """Return what its child has answered."""
        if self._blocked:
            raise AnswerError(self._blocked, is_blocked=True)
        answer = self._answers.get(task.id)
        if answer is None:
            raise AnswerError("its process was not asked", is_fault=False)
        if isinstance(answer, AnswerError):
            raise answer
        return answer


def must_be_asked(loaded: LoadedStrategy) -> bool:
    """Return whether only its own process knows which tasks a strategy wants."""
    return isinstance(loaded.instance, AskedStrategy)
