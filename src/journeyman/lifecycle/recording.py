"""The recording of decisions: each is kept for replay, within the limits."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from journeyman.domain.clock import Clock
from journeyman.domain.tasks import Task
from journeyman.journal.journal import Journal
from journeyman.journal.recordings import NewRecordedDecision, encode_opinions, shown
from journeyman.lifecycle.active import ActiveStrategies
from journeyman.observability.redaction import Redactor
from journeyman.strategies.loading.registry import Choice, Verdict

LEEWAY = 0.01
"""The share of its limit by which the recording may be larger for a while. What is
above the limit goes in one turn of the event loop, so that it must not be much."""
LONGEST_REASON = 200
"""In characters; authors are asked for a few words."""
MOST_ENCODED = 500
"""Sets of verdicts that are remembered with what is written of them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordingLimits:
    """How much is kept."""

    days: float
    max_bytes: int
    """0 records nothing; the verdicts of strategies in shadow are kept all the same."""
    longest_text: int
    """In characters, of each of a task's texts and of its input as JSON."""


@dataclass(kw_only=True, eq=False)
class DecisionRecording:
    """Records what was listed and decided, and the verdicts of strategies in shadow.

    It is called inside the transaction of the decision, so that neither is ever kept
    without the other.
    """

    journal: Journal
    active: ActiveStrategies
    redactor: Redactor
    limits: RecordingLimits
    clock: Clock
    _untrimmed: int = field(init=False, default=0)
    _encoded: dict[tuple[int, ...], tuple[Sequence[Verdict], str]] = field(
        init=False, default_factory=dict
    )
    """By the ids of the verdicts, which are kept so that no other gets their ids."""

    def record(self, decided: Sequence[tuple[Task, Choice]]) -> None:
        """Keep the decisions about some tasks, each of them once."""
        if self.limits.max_bytes:
            decisions = self._decisions(decided)
            self.journal.recordings.add(*decisions)
            self._bound(sum(len(one.task) + len(one.opinions) for one in decisions))
        shadows = self.active.shadows
        for task, choice in decided if shadows.strategies else ():
            said = shadows.ask(task, _name_of(choice), self.clock)
            self.journal.shadows.add(
                replace(one, reason=self.redactor.clean(one.reason[:LONGEST_REASON]))
                for one in said
            )

    def _bound(self, size: int) -> None:
        """Trim the recording now and then: a flood does not wait for housekeeping."""
        self._untrimmed += size
        if self._untrimmed > self.limits.max_bytes * LEEWAY:
            self._untrimmed = 0
            self.journal.recordings.shrink(self.limits.max_bytes)

    def trim(self) -> None:
        """Delete what is too old or too much."""
        before = self.clock.now() - timedelta(days=self.limits.days)
        with self.journal.tx("recording"):
            self.journal.recordings.forget_before(before)
            self.journal.recordings.shrink(self.limits.max_bytes)
            self.journal.shadows.forget_before(before)

    def _decisions(
        self, decided: Sequence[tuple[Task, Choice]]
    ) -> list[NewRecordedDecision]:
        encoded = [self._encoded_task(task) for task, _ in decided]
        cleaned = self.redactor.clean_json_texts([text for text, _ in encoded])
        return [
            NewRecordedDecision(
                task_id=task.id,
                task=clean,
                in_part=was_cut or clean != text,
                strategy=_name_of(choice),
                reason=self.redactor.clean_again(choice.reason[:LONGEST_REASON]),
                opinions=self._opinions(choice.verdicts),
            )
            for (task, choice), (text, was_cut), clean in zip(
                decided, encoded, cleaned, strict=True
            )
        ]

    def _encoded_task(self, task: Task) -> tuple[str, bool]:
        """Return what was shown of a task as JSON, and whether it was cut."""
        content = shown(task)
        encoded = _json(content)
        was_cut = len(encoded) > self.limits.longest_text and self._cut(content)
        return (_json(content) if was_cut else encoded), was_cut

    def _cut(self, content: dict[str, Any]) -> bool:
        """Shorten long texts, and leave out an input that is too long."""
        longest, was_cut = self.limits.longest_text, False
        for name, value in list(content.items()):
            if isinstance(value, str) and len(value) > longest:
                content[name], was_cut = value[:longest], True
            elif name == "input" and len(_json(value)) > longest:
                del content[name]
                was_cut = True
        return was_cut

    def _opinions(self, verdicts: Sequence[Verdict]) -> str:
        """Encode verdicts; those on tasks of one kind are often the very same."""
        key = self.redactor.learned, *map(id, verdicts)
        if key not in self._encoded:
            if len(self._encoded) >= MOST_ENCODED:
                self._encoded.clear()
            self._encoded[key] = verdicts, self._encode(verdicts)
        return self._encoded[key][1]

    def _encode(self, verdicts: Sequence[Verdict]) -> str:
        # Authors like to quote the task.
        clean = self.redactor.clean_again
        return encode_opinions(
            (
                one.strategy,
                one.wanted,
                clean(one.reason[:LONGEST_REASON]),
                one.offer or 0.0,
            )
            for one in verdicts
        )


def _name_of(choice: Choice) -> str:
    """Return who got the task; empty for nobody."""
    return choice.strategy.name if choice.strategy else ""


def _json(value: object) -> str:
    return json.dumps(value)
