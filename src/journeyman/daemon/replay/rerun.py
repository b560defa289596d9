"""Do recorded tasks again, and compare the results; nothing is sent."""

import json
from dataclasses import dataclass
from typing import Literal

from journeyman.domain.tasks import Output, Result
from journeyman.journal.recordings import RecordedDecision
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.outcomes import RunOutcome, RunWord, summarize
from journeyman.strategies.running.dry_run import DryRunContext, dry_run
from journeyman.strategies.running.runner import Runner

Word = Literal["same", "different"] | RunWord


@dataclass(frozen=True, kw_only=True, slots=True)
class Rerun:
    """What the new code made of one recorded task."""

    word: Word
    reason: str = ""
    """Why there is no result."""
    result: Output = None
    recorded: Output = None


async def rerun(
    decision: RecordedDecision, loaded: LoadedStrategy, runner: Runner
) -> Rerun | None:
    """Run the task that was done then, with an empty `ctx.state`, at that moment.

    None: the journal has no result of it to compare with.
    """
    done = decision.ending
    if done.result is None or done.task is None:
        return None
    again = await dry_run(
        loaded,
        done.task,
        DryRunContext(now=lambda: decision.at),
        anyway=True,
        runner=runner,
    )
    return _compare(again.outcome, done.result.output)


def _compare(outcome: RunOutcome | None, before: Output) -> Rerun:
    if outcome is None:
        return Rerun(word="failed", reason="it did not run", recorded=before)
    word, reason = summarize(outcome)
    if not isinstance(outcome, Result):
        return Rerun(word=word, reason=reason, recorded=before)
    is_same = _plain(outcome.output) == _plain(before)
    return Rerun(
        word="same" if is_same else "different", result=outcome.output, recorded=before
    )


def _plain(value: object) -> str:
    """Return it as it would be sent, so that a tuple equals a list."""
    return json.dumps(value, sort_keys=True)
