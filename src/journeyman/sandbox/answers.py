"""How answers are named and arranged, where the contract does not show them.

The operations of the sandbox give one plain form. A `Writer` makes of it what the
options ask for; what is in a task's `input` is somebody's data and stays as it is.
"""

import json
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from journeyman.sandbox.layouts import (
    CONTAINERS,
    RECORDS,
    SPELLINGS,
    VALUES,
    Entry,
    Spell,
)
from journeyman.sandbox.options import SandboxOptions

Answer: TypeAlias = dict[str, Any]
Write: TypeAlias = Callable[[Answer], bytes]

_CHOICES = ("dialect", "container", "naming", "records", "values", "silent")
"""The options that an answer depends on."""


class Writer(NamedTuple):
    """Writes the answers of one sandbox."""

    listing: Write
    """Of tasks, as `tasks.listing` gives them."""
    receipt: Write
    """The answer to an action (contract endpoints 7 to 10)."""
    view: Write
    """Of agents."""


def writer_for(options: SandboxOptions) -> Writer:
    """Choose how to write, once."""
    default = SandboxOptions()
    if all(getattr(options, name) == getattr(default, name) for name in _CHOICES):
        return Writer(encoded, encoded, encoded)
    shaped = _Shaped(options)
    receipt = _say_nothing if options.silent else shaped.receipt
    return Writer(shaped.listing, receipt, shaped.view)


def encoded(answer: object) -> bytes:
    """Write an answer as it is."""
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()


def _say_nothing(_answer: Answer) -> bytes:
    return b"{}"


class _Shaped:
    """Arranges answers by the options."""

    def __init__(self, options: SandboxOptions) -> None:
        camel = options.dialect == "camel"
        naming = options.naming or ("camel" if camel else "snake")
        self._spell: Spell = SPELLINGS[naming]
        self._values = VALUES[options.values]
        self._record = RECORDS[options.records]
        self._arrange = CONTAINERS[options.container]
        self._is_enveloped = options.dialect == "wrapped"

    def listing(self, answer: Answer) -> bytes:
        entries = [Entry(one["id"], self._task(one)) for one in answer["tasks"]]
        arranged = self._arrange(entries, self._spell)
        if self._is_enveloped:
            arranged = {self._spell("data"): arranged}
        return encoded(arranged)

    def receipt(self, answer: Answer) -> bytes:
        shaped = dict(answer)
        task = shaped.pop("task", None)
        named = self._renamed(self._values(shaped))
        if task is not None:
            named[self._spell("task")] = self._task(task)
        return encoded(self._enveloped(named))

    def view(self, answer: Answer) -> bytes:
        return encoded(self._enveloped(self._renamed(answer)))

    def _task(self, record: Answer) -> Answer:
        return self._record(self._values(record), self._renamed)

    def _enveloped(self, answer: Answer) -> Answer:
        if not self._is_enveloped:
            return answer
        ok = self._spell("ok")
        rest = {name: value for name, value in answer.items() if name != ok}
        return {ok: answer.get(ok, True), self._spell("data"): rest}

    def _renamed(self, value: Any) -> Any:  # noqa: ANN401 - a JSON value in and out
        if isinstance(value, list):
            return [self._renamed(item) for item in value]
        if not isinstance(value, dict):
            return value
        return {
            self._spell(name): inner if name == "input" else self._renamed(inner)
            for name, inner in value.items()
        }
