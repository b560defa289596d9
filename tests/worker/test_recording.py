"""What of a decision is kept: whole where that is possible, never a secret."""

from pathlib import Path
from typing import Any

import pytest
from tests.worker.conftest import ME, TOKEN, Loop, task

from journeyman.domain.tasks import AgentId, Task, TaskState
from journeyman.journal.recordings import RecordedDecision
from journeyman.lifecycle.active import Generation
from journeyman.lifecycle.recording import DecisionRecording, RecordingLimits
from journeyman.observability.redaction import Redactor
from journeyman.strategies.loading.registry import load_registry
from journeyman.worker.select import Select

SHADOWS = """
from journeyman import Strategy, score, skip


class Keen(Strategy):
    def wants(self, task):
        return score(0.5, cost=0.5)

    async def run(self, task):
        raise AssertionError("a shadow was given work")


class Ill(Strategy):
    def wants(self, task):
        raise ValueError(f"no {task.title}")

    async def run(self, task): ...
"""


class Recorded:
    """A loop's decisions, recorded."""

    def __init__(self, loop: Loop, **limits: Any) -> None:  # noqa: ANN401 - of RecordingLimits
        given: dict[str, Any] = {"days": 30, "max_bytes": 1 << 20, "longest_text": 100}
        self.redactor = Redactor()
        self.redactor.add(TOKEN)
        self.recording = DecisionRecording(
            journal=loop.journal,
            active=loop.active,
            redactor=self.redactor,
            limits=RecordingLimits(**{**given, **limits}),
            clock=loop.clock,
        )
        self.select = Select(
            agent_id=AgentId(ME),
            active=loop.active,
            journal=loop.journal,
            min_reward=0,
            clock=loop.clock,
            log=loop.log,
            recording=self.recording,
        )
        self._loop = loop

    def decide(self, *tasks: Task) -> list[RecordedDecision]:
        """Decide about a page; return all that is recorded."""
        self.select.decide(tasks)
        return list(self._loop.journal.recordings.last(1_000))


@pytest.fixture
def recorded(loop: Loop) -> Recorded:
    return Recorded(loop)


def in_shadow(loop: Loop, tmp_path: Path) -> None:
    """Put the strategies of `SHADOWS` beside those of the loop."""
    folder = tmp_path / "shadows"
    folder.mkdir()
    (folder / "shadows.py").write_text(SHADOWS)
    shadows = {one: f"of {one.name}" for one in load_registry(folder).strategies}
    now = loop.active.current
    loop.active.replace(Generation(now.registry, now.fingerprints, shadows))


def test_each_decision_is_kept_with_every_opinion(
    loop: Loop, recorded: Recorded
) -> None:
    wanted, skipped = recorded.decide(
        task("t1", text="hello"), task("t2", kind="chess")
    )

    assert wanted.task.text == "hello"
    assert wanted.at == loop.clock.now()
    assert wanted.strategy == loop.record("t1").strategy
    assert wanted.opinions[wanted.strategy].wanted
    assert wanted.opinions[wanted.strategy].offer == wanted.task.reward
    assert skipped.strategy == ""
    assert skipped.reason == loop.record("t2").reason
    assert not any(one.wanted for one in skipped.opinions.values())


def test_a_task_that_no_strategy_was_asked_about_is_not_kept(
    recorded: Recorded,
) -> None:
    assert recorded.decide(task("ours", poster=ME), task("taken", status="done")) == []


def test_long_texts_are_cut_and_a_long_input_is_left_out(recorded: Recorded) -> None:
    cut, whole = recorded.decide(
        task("t1", text="x" * 101, input={"text": "x" * 101}),
        task("t2", text="x" * 100, input={"text": "x"}),
    )

    assert (cut.in_part, cut.task.text, cut.task.input) == (True, "x" * 100, None)
    assert (whole.in_part, whole.task.text) == (False, "x" * 100)
    assert whole.task.input == {"text": "x"}


def test_a_secret_does_not_reach_the_recording(loop: Loop) -> None:
    (kept,) = Recorded(loop, longest_text=100_000).decide(
        task(
            text=f"say {TOKEN}",
            title="password=hunter22",
            kind=f"of {TOKEN}",
            input={"api_key": "value-1", "rows": [["a", TOKEN]] * 200},
        )
    )

    assert kept.in_part
    shown = repr((kept.task, kept.reason, kept.opinions))
    assert TOKEN not in shown
    assert "hunter22" not in shown
    assert isinstance(kept.task.input, dict)
    assert kept.task.input["api_key"] == "***"
    assert kept.task.input["rows"] == [["a", "***"]] * 200


def test_a_harmless_text_with_a_suspicious_word_is_kept_whole(
    recorded: Recorded,
) -> None:
    (kept,) = recorded.decide(task(text="the key of the matter, see http://x.example"))

    assert not kept.in_part
    assert kept.task.text == "the key of the matter, see http://x.example"


def test_a_flood_does_not_wait_for_housekeeping(loop: Loop) -> None:
    recorded = Recorded(loop, max_bytes=50_000)

    for page in range(20):
        recorded.decide(*(task(f"t{page}-{number}") for number in range(50)))

    assert loop.journal.recordings.bytes() < 50_000 * 1.3
    assert loop.journal.recordings.count() > 20


def test_trimming_drops_what_is_old(loop: Loop, recorded: Recorded) -> None:
    recorded.decide(task("old"))
    loop.clock.advance(31 * 86_400)
    recorded.decide(task("new"))

    recorded.recording.trim()

    assert [one.task.id for one in loop.journal.recordings.last(9)] == ["new"]


def test_without_room_nothing_is_kept_but_what_shadows_say(
    loop: Loop, tmp_path: Path
) -> None:
    in_shadow(loop, tmp_path)

    assert Recorded(loop, max_bytes=0).decide(task()) == []
    assert loop.journal.shadows.opinions_of("keen").keys() == {"t1"}


def test_a_shadow_is_asked_and_gets_nothing_even_if_nobody_else_wants_it(
    loop: Loop, recorded: Recorded, tmp_path: Path
) -> None:
    in_shadow(loop, tmp_path)

    recorded.decide(task("t1", kind="chess", reward=9))

    assert loop.record("t1").state is TaskState.SKIPPED
    score = next(s for s in loop.journal.shadows.scores() if s.strategy == "keen")
    assert (score.wanted, score.alone, score.expected_credits) == (1, 1, 4.0)


def test_what_a_shadow_raises_is_counted_and_hurts_nobody(
    loop: Loop, recorded: Recorded, tmp_path: Path
) -> None:
    in_shadow(loop, tmp_path)

    recorded.decide(task("t1", title=f"{TOKEN}"), task("t2"))

    assert loop.record("t1").state is TaskState.WANTED
    said = loop.journal.shadows.opinions_of("ill")
    assert said["t1"].reason == "wants raised ValueError: no ***"
    score = next(s for s in loop.journal.shadows.scores() if s.strategy == "ill")
    assert (score.errors, score.asked, score.agreed) == (2, 2, 0)
