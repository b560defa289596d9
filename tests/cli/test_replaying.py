"""`journeyman replay`, and the commands about strategies in shadow."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from journeyman.cli.spans import time_of
from journeyman.domain.errors import UsageError
from journeyman.domain.tasks import Result, Task, TaskId, TaskState
from journeyman.journal.directory import DataDirectory
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import Confidence, EntryKind, NewEntry
from journeyman.journal.recordings import NewRecordedDecision, encode_opinions, shown
from journeyman.journal.shadows import ShadowState, ShadowVerdict
from journeyman.testing import FakeClock

Run = Callable[..., Any]

COUNT = '''
from journeyman import Strategy, param, skip


class Count(Strategy):
    """Counts words."""

    api, version = 1, "2"
    least: int = param(3, ge=1, help="credits")

    def wants(self, task):
        return task.reward >= self.least or skip(f"below {self.least}")

    async def run(self, task, ctx):
        return str(len(task.text.split()))
'''


class Past:
    """A journal with a past that is told task by task."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._number = 0

    def saw(
        self,
        reward: int,
        *,
        wanted_by: str = "",
        state: TaskState | None = None,
        told_later: str = "a b c",
        in_part: bool = False,
        **fields: Any,  # noqa: ANN401 - of Task
    ) -> None:
        """Add a task that was decided about, and that ended in `state`."""
        self._number += 1
        task = Task(id=TaskId(f"t{self._number}"), kind="text", reward=reward, **fields)
        opinions = [("count", wanted_by == "count", "as it was", float(reward))]
        done = Task(id=task.id, kind="text", reward=reward, text=told_later)
        with self.journal.tx("past"):
            self.journal.recordings.add(
                NewRecordedDecision(
                    task_id=task.id,
                    task=json.dumps(shown(task)),
                    in_part=in_part,
                    strategy=wanted_by,
                    reason="",
                    opinions=encode_opinions(opinions),
                )
            )
            self.journal.tasks.record_decision(
                done,
                TaskState.WANTED if wanted_by else TaskState.SKIPPED,
                reason="",
                strategy=wanted_by,
                fingerprint="",
            )
        if state is not None:
            self._end(task.id, state, reward, wanted_by)

    def _end(self, task_id: TaskId, state: TaskState, reward: int, doer: str) -> None:
        record = self.journal.tasks.get(task_id)
        way = [TaskState.CLAIMING]
        if state is not TaskState.LOST:
            way += [TaskState.CLAIMED, TaskState.EXECUTING]
        if state is TaskState.COMPLETED:
            way += [TaskState.EXECUTED, TaskState.SUBMITTING, TaskState.SUBMITTED]
            way += [TaskState.COMPLETING]
        for after in (*way, state):
            result = Result("3") if after is TaskState.EXECUTED else None
            with self.journal.tx("move"):
                record = self.journal.tasks.move(record, after, result=result)
        if state is TaskState.COMPLETED:
            entry = NewEntry(
                key=f"k{task_id}",
                kind=EntryKind.EARNED,
                amount=reward,
                confidence=Confidence.ASSUMED,
                subject=task_id,
                strategy=doer,
            )
            with self.journal.tx("pay"):
                self.journal.ledger.book(entry)


@pytest.fixture
def past(run: Run, tmp_path: Path) -> Iterator[Past]:
    del run  # it changes to an empty folder
    Path("strategies").mkdir()
    Path("strategies/count.py").write_text(COUNT)
    DataDirectory(tmp_path / "data").prepare()
    with Journal(tmp_path / "data/journal.db", FakeClock().now) as journal:
        yield Past(journal)


@pytest.fixture
def replay(run: Run) -> Run:
    def call(*more: str) -> Any:  # noqa: ANN401 - an Outcome
        return run("replay", "count", "--data-dir", "data", *more)

    return call


def test_the_difference_to_what_was_decided_is_shown_with_its_worth(
    past: Past, replay: Run
) -> None:
    past.saw(5, wanted_by="count", state=TaskState.COMPLETED)
    past.saw(2, wanted_by="count", state=TaskState.COMPLETED)
    past.saw(1, wanted_by="count", state=TaskState.FAILED)
    past.saw(4, wanted_by="other", state=TaskState.COMPLETED)
    past.saw(6)
    past.saw(1)

    text, answer = replay().out, replay("--json").answer

    assert answer["wanted"] == {"then": 3, "now": 3}
    assert answer["skipped"] == {"then": 3, "now": 3}
    worth = answer["credits"]
    assert worth["kept"]["paid"]["credits"] == 5
    assert worth["dropped"]["paid"]["credits"] == 2
    assert worth["dropped"]["failed"]["tasks"] == 1
    assert worth["gained"]["paid to another"]["credits"] == 4
    assert worth["gained"]["unknown"] == {"tasks": 1, "credits": 0, "estimate": 5.4}
    changed = {row["task_id"]: row for row in answer["changes"]}
    assert changed.keys() == {"t2", "t3", "t4", "t5"}
    assert changed["t2"]["then"] == {"wanted": True, "reason": "as it was"}
    assert changed["t2"]["now"]["reason"] == "below 3"
    assert changed["t5"]["estimate"] == 5.4
    assert "-2 paid for 1 task not wanted any more" in text
    assert "paid 4 to other" in text
    assert "unknown; about 5.4" in text
    assert "(an estimate)" in text


def test_what_became_known_later_is_hidden_from_the_decision(
    past: Past, replay: Run
) -> None:
    Path("strategies/count.py").write_text(
        COUNT.replace(
            "task.reward >= self.least", "not task.text and not task.claimant"
        )
    )
    past.saw(1, wanted_by="count", state=TaskState.COMPLETED, told_later="to be")

    answer = replay("--json").answer

    assert answer["wanted"] == {"then": 1, "now": 1}
    assert answer["read_raw"] == 0


def test_code_that_looks_at_the_record_as_sent_is_told_that_it_is_not_kept(
    past: Past, replay: Run
) -> None:
    Path("strategies/count.py").write_text(
        COUNT.replace("task.reward >= self.least", 'task.raw.get("urgent") == 1')
    )
    past.saw(1)

    told = replay("--set", 'strategies.trusted=["count"]').out

    # Of what runs in a process of its own, nobody sees what it reads.
    assert "it reads task.raw, which is not recorded (1 task)" in told


@pytest.mark.endurance
def test_two_versions_of_a_file_are_compared(past: Past, replay: Run) -> None:
    Path("old.py").write_text(COUNT.replace("param(3", "param(5"))
    past.saw(4, wanted_by="count", state=TaskState.COMPLETED)
    past.saw(5)
    past.saw(1)

    text, answer = (replay("--compare", "old.py", *more) for more in ((), ("--json",)))

    assert answer.answer["wanted"] == {"then": 1, "now": 2}
    assert answer.answer["credits"]["gained"]["paid"]["credits"] == 4
    assert "what old.py decides" in text.out
    assert "+4 paid for 1 task wanted only now" in text.out


def test_both_versions_have_the_parameters_of_the_configuration(
    past: Past, replay: Run
) -> None:
    Path("old.py").write_text(
        COUNT.replace('least: int = param(3, ge=1, help="credits")', "least = 3")
    )
    past.saw(9)

    answer = replay(
        "--compare", "old.py", "--set", "strategies.params.count.least=10", "--json"
    ).answer

    assert answer["wanted"] == {"then": 1, "now": 0}


@pytest.mark.parametrize(
    ("text", "code", "told"),
    [
        pytest.param(None, 2, "is not a file", id="no file"),
        pytest.param("def (", 4, "E101", id="no Python"),
        pytest.param(
            COUNT.replace("Count", "A") + COUNT.replace("Count", "B"),
            2,
            "It has a, b",
            id="several others",
        ),
    ],
)
def test_another_version_that_cannot_be_used_is_told(
    past: Past, replay: Run, text: str | None, code: int, told: str
) -> None:
    past.saw(1)
    if text is not None:
        Path("old.py").write_text(text)

    said = replay("--compare", "old.py")

    assert said.code == code
    assert told in said.err


@pytest.mark.endurance
def test_tasks_are_done_again_and_their_results_compared(
    past: Past, replay: Run
) -> None:
    past.saw(5, wanted_by="count", state=TaskState.COMPLETED)
    past.saw(5, wanted_by="count", state=TaskState.COMPLETED, told_later="one two")
    past.saw(5, wanted_by="other")
    past.saw(1, wanted_by="count", state=TaskState.COMPLETED)

    text, answer = replay("--run"), replay("--run", "--json").answer

    assert answer["run"] == {"same": 1, "different": 1}
    assert "t2  different: 2, and then it was 3" in text.out
    assert text.code == 0
    (row,) = [row for row in answer["changes"] if row["run"]]
    assert (row["run"]["result"], row["run"]["recorded"]) == ("2", "3")


@pytest.mark.parametrize(
    ("change", "more"),
    [
        pytest.param(("task.reward >=", "1 / 0 >="), (), id="in wants"),
        pytest.param(("str(len(", "str(1 / 0, len("), ("--run",), id="in run"),
    ],
)
def test_new_code_that_fails_is_exit_code_1(
    past: Past, replay: Run, change: tuple[str, str], more: tuple[str, ...]
) -> None:
    Path("strategies/count.py").write_text(COUNT.replace(*change))
    past.saw(5, wanted_by="count", state=TaskState.COMPLETED)

    said = replay(*more)

    assert said.code == 1
    assert "ZeroDivisionError" in said.out


@pytest.mark.endurance
def test_only_the_last_ones_are_replayed_if_so_asked(past: Past, replay: Run) -> None:
    for reward in range(1, 30):
        past.saw(reward)

    answer = replay("--last", "15", "--json").answer

    assert (answer["tasks"], answer["wanted"]["now"]) == (15, 15)
    assert "and 5 earlier ones; --json prints all" in replay("--last", "15").out


@pytest.mark.endurance
def test_a_task_that_was_kept_in_part_is_marked(past: Past, replay: Run) -> None:
    past.saw(5, in_part=True)

    assert "1 task recorded in part" in replay().out
    assert replay("--json").answer["changes"][0]["recorded_in_part"]


def test_a_strategy_that_was_in_shadow_is_compared_with_what_it_said_there(
    past: Past, replay: Run
) -> None:
    past.saw(5, wanted_by="other")
    with past.journal.tx("shadow"):
        past.journal.recordings.add(
            NewRecordedDecision(
                task_id=TaskId("t1"),
                task='{"reward": 5}',
                in_part=False,
                strategy="other",
                reason="",
                opinions="{}",
            )
        )
        past.journal.shadows.add([verdict("t1")])

    assert replay("--json").answer["wanted"] == {"then": 1, "now": 1}


def test_without_recordings_it_says_how_to_get_some(past: Past, replay: Run) -> None:
    del past

    said = replay()

    assert said.code == 1
    assert "no task is recorded here yet" in said.err
    assert "start one with `journeyman run`" in said.err


def test_recordings_that_begin_later_say_so(past: Past, replay: Run) -> None:
    past.saw(1)

    said = replay("--since", "1m")

    assert said.code == 1
    assert "no task was recorded since" in said.err


def test_an_unknown_strategy_is_guessed(past: Past, run: Run) -> None:
    past.saw(1)

    said = run("replay", "cout", "--data-dir", "data")

    assert said.code == 4
    assert "Did you mean 'count'" in said.err


def test_without_an_agent_there_are_no_recordings(past: Past, run: Run) -> None:
    del past

    assert run("replay", "count", "--data-dir", "elsewhere").code == 3


def test_an_age_is_a_number_and_a_letter() -> None:
    now = FakeClock().now()

    assert time_of(None, now, UTC) is None
    spans = {
        age: now - (time_of(age, now, UTC) or now) for age in ("90m", "2h", "7d", "2w")
    }
    assert [span.total_seconds() for span in spans.values()] == [
        5_400,
        7_200,
        604_800,
        1_209_600,
    ]
    with pytest.raises(UsageError, match="30m, 12h, 7d"):
        time_of("yesterday", now, UTC)


# -- a set, and two compared -------------------------------------------------------

SMALL = """
from journeyman import Strategy


class Small(Strategy):
    api, version = 1, "1"

    def wants(self, task):
        return 3 <= task.reward < 6

    def run(self, task):
        return "3"
"""
LARGE = """
from journeyman import Strategy, score


class Large(Strategy):
    api, version = 1, "1"

    def wants(self, task):
        return score(1.0, cost=0.5) if task.reward >= 5 else False

    def run(self, task):
        return "3"
"""
TRUSTED = ("--data-dir", "data", "--set", 'strategies.trusted=["*"]')


@pytest.fixture
def market(past: Past) -> Past:
    """Return a past of seven tasks, of which it is known what each brings to whom."""
    Path("strategies/count.py").unlink()
    Path("strategies/small.py").write_text(SMALL)
    Path("strategies/large.py").write_text(LARGE)
    past.saw(5, wanted_by="small", state=TaskState.COMPLETED)
    past.saw(2, wanted_by="small", state=TaskState.COMPLETED)
    past.saw(6, wanted_by="gone", state=TaskState.COMPLETED)
    past.saw(10)
    past.saw(4, wanted_by="small", state=TaskState.FAILED)
    past.saw(7, wanted_by="large", state=TaskState.LOST)
    past.saw(3, wanted_by="small", state=TaskState.COMPLETED)
    with past.journal.tx("cost"):
        past.journal.ledger.book(
            NewEntry(
                key="cost of t7",
                kind=EntryKind.COST,
                amount=0,
                cost=250_000,
                confidence=Confidence.ASSUMED,
                subject="t7",
                strategy="small",
            )
        )
    return past


@pytest.mark.usefixtures("market")
def test_a_set_is_told_who_would_have_won_each_task_and_what_it_brings(
    run: Run,
) -> None:
    shown = run("replay", *TRUSTED)
    answer = run("replay", "large", "small", *TRUSTED, "--json").answer

    assert shown.code == 0
    large, small = answer["strategies"]
    # 6 as another was paid, 9 of 10 as nine of ten are, 0 as others were faster.
    assert large == {
        "name": "large",
        "wanted": 4,
        "won": 3,
        "errors": 0,
        "earned": 15.0,
        "cost": 1.0,
        "net": 14.0,
        "basis": {"known": 1, "same_pay": 1, "estimated": 1},
    }
    # 5 and 3 were paid and 4 was not; 0.25 was reported as the cost of one.
    assert small == {
        "name": "small",
        "wanted": 3,
        "won": 3,
        "errors": 0,
        "earned": 8.0,
        "cost": 0.25,
        "net": 7.75,
        "basis": {"known": 3, "same_pay": 0, "estimated": 0},
    }
    assert answer["wanted_by_nobody"] == 1
    assert answer["then"] == {"paid": 4, "earned": 16}
    assert [one["now"]["strategy"] for one in answer["judged"]] == [
        *("small", "", "large", "large", "small", "large", "small"),
    ]
    assert "now        6 tasks won, 21.8 credits" in shown.out
    assert "Won by another than then: 3 tasks" in shown.out


@pytest.mark.usefixtures("market")
def test_two_are_compared_each_alone(run: Run) -> None:
    shown = run("strategies", "compare", "small", "large", *TRUSTED)
    answer = run("strategies", "compare", "small", "large", *TRUSTED, "--json").answer

    assert shown.code == 0
    assert answer["a"]["net"] == 7.75
    assert answer["b"]["net"] == 4.5 + 5.5 + 8.5
    difference = answer["difference"]
    assert difference["total"] == 10.75
    assert difference["per_task"] == pytest.approx(10.75 / 7, abs=1e-6)
    assert difference["per_task_low"] < difference["per_task"]
    assert difference["tasks_that_differ"] == 4
    assert "They differ in 4 tasks only" in shown.out


def test_a_difference_that_is_proven_is_named(past: Past, run: Run) -> None:
    Path("strict.py").write_text(COUNT.replace("param(3", "param(5"))
    for number in range(80):
        past.saw(4 if number % 2 else 2)

    shown = run("strategies", "compare", "count", "strict.py", *TRUSTED)
    answer = run("strategies", "compare", "strict.py", "count", *TRUSTED, "--json")

    # Of the 40 that pay 4, the stricter one wants none; nine of ten would be paid.
    assert answer.answer["difference"]["total"] == pytest.approx(40 * 3.6)
    assert answer.answer["better"] == "b"
    assert "B less A: -144.0 credits (-1.800 a task" in shown.out
    assert "A is better." in shown.out


@pytest.mark.usefixtures("market")
@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        pytest.param(
            ("strategies", "compare", "small", "Small"),
            2,
            "are the same strategy",
            id="one strategy twice",
        ),
        pytest.param(
            ("strategies", "compare", "small", "larg"),
            4,
            "Did you mean 'large'",
            id="no such strategy",
        ),
        pytest.param(
            ("replay", "small", "Small"), 2, "'small' is named twice", id="set of one"
        ),
        pytest.param(
            ("replay", "--run"), 2, "--run takes one strategy", id="a set is not run"
        ),
        pytest.param(
            ("strategies", "compare", "small", "large", "--since", "1m"),
            1,
            "no task was recorded since",
            id="nothing so late",
        ),
    ],
)
def test_what_cannot_be_judged_is_told(
    run: Run, words: tuple[str, ...], code: int, told: str
) -> None:
    said = run(*words, *TRUSTED)

    assert said.code == code
    assert told in said.err


def test_two_are_not_compared_by_nothing(past: Past, run: Run) -> None:
    del past
    Path("old.py").write_text(COUNT)

    said = run("strategies", "compare", "count", "old.py", *TRUSTED)

    assert said.code == 1
    assert "no task is recorded here yet" in said.err


def test_a_strategy_of_a_set_that_fails_is_exit_code_1(market: Past, run: Run) -> None:
    del market
    Path("strategies/large.py").write_text(LARGE.replace("task.reward >= 5", "1 / 0"))

    assert run("replay", *TRUSTED).code == 1
    assert run("strategies", "compare", "small", "large", *TRUSTED).code == 1


# -- strategies in shadow ---------------------------------------------------------


def verdict(task_id: str, **fields: Any) -> ShadowVerdict:  # noqa: ANN401 - any field of it
    given: dict[str, Any] = {
        "strategy": "count",
        "fingerprint": "1",
        "active": "other",
        "wanted": True,
        "reason": "reward 5",
        "offer": 5.0,
        **fields,
    }
    return ShadowVerdict(task_id=TaskId(task_id), **given)


@pytest.fixture
def shadowed(past: Past) -> Past:
    with past.journal.tx("shadow"):
        past.journal.shadows.add([verdict("t1"), verdict("t2", active="", offer=2.5)])
        past.journal.shadows.put_state(ShadowState(shadows=("count", "young")))
    return past


def test_the_scoreboard_tells_what_a_shadow_would_have_done(
    shadowed: Past, run: Run
) -> None:
    del shadowed

    told = run("strategies", "scoreboard", "--data-dir", "data")
    answer = run("strategies", "scoreboard", "count", "--data-dir", "data", "--json")

    assert "would want   2, for 7.5 credits by its own estimate" in told.out
    assert "alone        1 that no active one wanted" in told.out
    assert [row["strategy"] for row in answer.answer] == ["count"]


def test_the_scoreboard_of_one_that_never_was_in_shadow_is_refused(
    shadowed: Past, run: Run
) -> None:
    del shadowed

    near = run("strategies", "scoreboard", "cont", "--data-dir", "data")
    far = run("strategies", "scoreboard", "xyz", "--data-dir", "data")

    assert (near.code, far.code) == (2, 2)
    assert "Did you mean count?" in near.err
    assert "journeyman run --shadow xyz" in far.err


def test_an_empty_scoreboard_says_how_it_fills(past: Past, run: Run) -> None:
    del past

    told = run("strategies", "scoreboard", "--data-dir", "data")

    assert told.code == 0
    assert "journeyman run --shadow NAME" in told.out


def test_list_and_show_say_who_is_in_shadow(shadowed: Past, run: Run) -> None:
    del shadowed

    listed = run("strategies", "list", "--data-dir", "data", "--json")
    shown_ = run("strategies", "show", "count", "--data-dir", "data")

    assert listed.code == 0
    assert listed.answer["strategies"][0]["state"] == "shadow"
    assert "in shadow  would want 2 of 2 tasks · 0 errors" in shown_.out


def test_a_shadow_of_the_configuration_is_listed_before_anybody_ran(
    past: Past, run: Run
) -> None:
    del past
    listed = run(
        *("strategies", "list", "--data-dir", "none", "--json"),
        *("--set", "strategies.shadow=count"),
    )

    assert listed.answer["strategies"][0]["state"] == "shadow"


def test_a_dry_promotion_shows_the_scoreboard_and_asks_nobody(
    shadowed: Past, run: Run
) -> None:
    promote = ("strategies", "promote", "count", "--data-dir", "data", "--dry-run")
    told, answer = run(*promote), run(*promote, "--json").answer

    assert told.code == 0
    assert told.out.index("would want") < told.out.index("Nothing was changed")
    assert not answer["promoted"]
    assert answer["scoreboard"]["wanted"] == 2
    assert shadowed.journal.shadows.state().promoted == {}


def test_a_promotion_without_a_daemon_says_what_to_do(shadowed: Past, run: Run) -> None:
    del shadowed

    told = run("strategies", "promote", "count", "--data-dir", "data")

    assert told.code == 3
    assert "remove it from strategies.shadow" in told.err


def test_one_that_was_asked_nothing_yet_is_said_to_be_so(
    shadowed: Past, run: Run
) -> None:
    del shadowed

    told = run("strategies", "promote", "young", "--data-dir", "data", "--dry-run")

    assert told.code == 0
    assert "young was not asked about any task yet" in told.out


def test_one_that_never_was_in_shadow_is_not_promoted(shadowed: Past, run: Run) -> None:
    del shadowed

    told = run("strategies", "promote", "nobody", "--data-dir", "data")

    assert told.code == 2
    assert "never in shadow" in told.err
