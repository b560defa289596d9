"""The recorder: keeps each decision on the market tape, within its bounds."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from journeyman.domain.clock import Clock
from journeyman.domain.tasks import Task
from journeyman.journal.journal import Journal
from journeyman.journal.recordings import NewRecordedDecision, encode_opinions, shown
from journeyman.lifecycle.active import ActiveStrategies
from journeyman.observability.redaction import Redactor
from journeyman.strategies.loading.registry import Choice, Verdict

LEEWAY: Final = 0.1
"""Of its limit, by which the tape may be longer for a while."""
LONGEST_REASON: Final = 200
"""In characters; authors are asked for a few words."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordingLimits:
    """How much is kept."""

    days: float
    max_bytes: int
    """0 keeps no tape; what strategies in shadow say is kept all the same."""
    longest_text: int
    """In characters, of each of a task's texts and of its input as JSON."""


class Recorder:
    """Writes what was shown and decided, and what the strategies in shadow say to it.

    It is called inside the transaction of the sighting, so that there is no decision
    without its record and no record without its decision.
    """

    def __init__(
        self,
        *,
        journal: Journal,
        active: ActiveStrategies,
        redactor: Redactor,
        limits: RecordingLimits,
        clock: Clock,
    ) -> None:
        self._journal = journal
        self._active = active
        self._redactor = redactor
        self._limits = limits
        self._clock = clock
        self._untrimmed = 0

    def record(self, task: Task, choice: Choice) -> None:
        """Keep one decision."""
        live = choice.strategy.name if choice.strategy else ""
        if self._limits.max_bytes:
            sighting = self._sighting(task, choice, live)
            self._journal.recordings.add(sighting)
            self._bound(len(sighting.task) + len(sighting.opinions))
        shadows = self._active.shadows
        if shadows.strategies:
            said = shadows.judge(task, live, self._clock)
            self._journal.shadows.add(
                replace(one, reason=self._redactor.clean(one.reason[:LONGEST_REASON]))
                for one in said
            )

    def _bound(self, size: int) -> None:
        """Shorten the tape now and then: a flood does not wait for housekeeping."""
        self._untrimmed += size
        if self._untrimmed > self._limits.max_bytes * LEEWAY:
            self._untrimmed = 0
            self._journal.recordings.shrink(self._limits.max_bytes)

    def trim(self) -> None:
        """Drop what is too old or too much."""
        before = self._clock.now() - timedelta(days=self._limits.days)
        with self._journal.tx("tape"):
            self._journal.recordings.forget_before(before)
            self._journal.recordings.shrink(self._limits.max_bytes)
            self._journal.shadows.forget_before(before)

    def _sighting(self, task: Task, choice: Choice, live: str) -> NewRecordedDecision:
        content = shown(task)
        encoded = _json(content)
        was_cut = len(encoded) > self._limits.longest_text and self._cut(content)
        encoded, was_cleaned = self._clean(_json(content) if was_cut else encoded)
        return NewRecordedDecision(
            task_id=task.id,
            task=encoded,
            in_part=was_cut or was_cleaned,
            strategy=live,
            reason=self._redactor.clean(choice.reason[:LONGEST_REASON]),
            opinions=self._opinions(choice.verdicts),
        )

    def _cut(self, content: dict[str, Any]) -> bool:
        """Shorten long texts, and leave out an input that is too long."""
        longest, was_cut = self._limits.longest_text, False
        for name, value in list(content.items()):
            if isinstance(value, str) and len(value) > longest:
                content[name], was_cut = value[:longest], True
            elif name == "input" and len(_json(value)) > longest:
                del content[name]
                was_cut = True
        return was_cut

    def _clean(self, encoded: str) -> tuple[str, bool]:
        """Take secrets out; also tell whether there were any."""
        if not self._redactor.may_hide(encoded):
            return encoded, False
        cleaned = _json(self._redactor.clean_json(json.loads(encoded)))
        return cleaned, cleaned != encoded

    def _opinions(self, verdicts: Sequence[Verdict]) -> str:
        reasons = [verdict.reason[:LONGEST_REASON] for verdict in verdicts]
        # Authors like to quote the task.
        if self._redactor.may_hide("\n".join(reasons)):
            reasons = [self._redactor.clean(reason) for reason in reasons]
        return encode_opinions(
            (one.strategy, one.wanted, reason, one.offer or 0.0)
            for one, reason in zip(verdicts, reasons, strict=True)
        )


def _json(value: object) -> str:
    return json.dumps(value)
