"""Finding secrets in a result before it is sent: ours, anybody's, and the canary.

A task's text is untrusted, and a strategy that passes it to a language model or a
shell may be talked into revealing what it knows. So each result is scanned first.
What is found is reported by kind and place, never quoted.

What the task itself contained is not a secret, whatever it looks like.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from journeyman.domain.tasks import JSON, Result, Task
from journeyman.observability.redaction import KnownSecrets, secrets_in

OURS = "our own secret"
CANARY = "the canary of its run"


@dataclass(frozen=True, slots=True)
class Leak:
    """A secret in a result."""

    kind: str
    where: str
    """Such as `output['rows'][3]`."""

    def __str__(self) -> str:
        return f"the result contains {self.kind} (in {self.where})"


class LeakScan:
    """Scans results for secrets."""

    def __init__(self, is_ours: Callable[[str], bool]) -> None:
        """Use `is_ours` to find our own secrets, however they are spelled."""
        self._is_ours = is_ours

    def find(self, result: Result, task: Task, canary: str) -> Leak | None:
        """Return the first leak of a result, worst kinds first; None if it is clean."""
        texts = list(_texts(result.output, "output"))
        texts += _texts(dict(result.evidence), "evidence")
        checks: tuple[tuple[str, Callable[[str], bool]], ...] = (
            (OURS, self._is_ours),
            (CANARY, partial(_holds, canary)),
        )
        for kind, check in checks:
            for where, text in texts:
                if check(text):
                    return Leak(kind, where)
        return next(_by_pattern(texts, task), None)


def _holds(canary: str, text: str) -> bool:
    # However it is spelled, it is not shorter than it was.
    return len(text) >= len(canary) and KnownSecrets(canary).are_in(text)


def _by_pattern(texts: list[tuple[str, str]], task: Task) -> Iterator[Leak]:
    given: str | None = None
    for where, text in texts:
        for kind, secret in secrets_in(text):
            given = _given_by(task) if given is None else given
            if secret not in given:
                yield Leak(kind, where)


def _given_by(task: Task) -> str:
    """Return everything that a task says as plain text."""
    texts = [task.title, task.description, task.text, *task.tags]
    texts += (text for _, text in _texts(task.input, ""))
    texts += (text for _, text in _texts(dict(task.raw), ""))
    return "\n".join(texts)


def _texts(value: JSON, where: str) -> Iterator[tuple[str, str]]:
    """Yield every text in a value, keys too, and its place."""
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            place = f"{where}[{key[:40]!r}]"
            yield f"a key of {where}", key
            # As it would be read beside its name: {"api_key": "..."}.
            if isinstance(inner, str):
                yield place, f"{key}: {json.dumps(inner, ensure_ascii=False)}"
            yield from _texts(inner, place)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _texts(inner, f"{where}[{index}]")
