"""Do recorded tasks again, and compare the results; nothing is sent."""

import json
from dataclasses import dataclass
from typing import Literal

from journeyman.domain.tasks import Output
from journeyman.journal.recordings import RecordedDecision
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.outcomes import (
    Broken,
    Crashed,
    Declined,
    Ended,
    Finished,
    Later,
    TimedOut,
)
from journeyman.strategies.running.rehearsal import Stage, rehearse
from journeyman.strategies.running.runner import Runner

Word = Literal["same", "different", "declined", "later", "misconfigured", "failed"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Rerun:
    """What the new code made of one recorded task."""

    word: Word
    reason: str = ""
    """Why there is no result."""
    result: Output = None
    recorded: Output = None


async def rerun(
    sighting: RecordedDecision, loaded: LoadedStrategy, runner: Runner
) -> Rerun | None:
    """Run the task that was done then, with an empty `ctx.state`, at that moment.

    None: the journal has no result of it to compare with.
    """
    done = sighting.ending
    if done.result is None or done.task is None:
        return None
    rehearsal = await rehearse(
        loaded, done.task, Stage(now=lambda: sighting.at), anyway=True, runner=runner
    )
    return _told(rehearsal.ended, done.result.output)


def _told(ended: Ended | None, before: Output) -> Rerun:
    told: tuple[Word, str] = ("failed", "it did not run")
    match ended:
        case Finished(result):
            is_same = _plain(result.output) == _plain(before)
            word: Word = "same" if is_same else "different"
            return Rerun(word=word, result=result.output, recorded=before)
        case Declined(reason):
            told = ("declined", reason)
        case Later(reason):
            told = ("later", reason)
        case Broken(problem):
            told = ("misconfigured", problem)
        case Crashed(error, where):
            told = ("failed", f"{error} ({where})")
        case TimedOut(limit):
            told = ("failed", f"not done within {limit:g} s")
        case None:
            pass
    return Rerun(word=told[0], reason=told[1], recorded=before)


def _plain(value: object) -> str:
    """Give it as it would be sent, so that a tuple is as good as a list."""
    return json.dumps(value, sort_keys=True)
