"""The path of someone who writes a strategy, command by command."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from journeyman.daemon.strategy_source import generation_of
from journeyman.daemon.system import SystemClock
from journeyman.journal.directory import DataDirectory
from journeyman.journal.journal import Journal
from journeyman.journal.strategy_health import Condition, Health
from journeyman.strategies.child.confinement import (
    NOT_ENFORCED,
    available_confinement,
)
from journeyman.strategies.loading.loader import load
from journeyman.strategies.loading.registry import Registry

Run = Callable[..., Any]

BROKEN = "from journeyman import strategy\n\nimport no_such_library\n"
ODD = '''
from journeyman import Misconfigured, RetryLater, Strategy, param


class Odd(Strategy):
    """Ends in every way."""

    kinds = {"odd"}
    pause: float = param(5.0, gt=0, lt=100, help="seconds")
    mode: str = param("plain", choices=("plain", "fancy"))

    def wants(self, task):
        return task.text != "no" and super().wants(task)

    async def run(self, task, ctx):
        ctx.log.warning("at it", mode=self.mode)
        if task.text == "later":
            raise RetryLater("not ready", after=self.pause)
        if task.text == "misconfigured":
            raise Misconfigured("no key", fix="set one")
        return {}[task.text]
'''


@pytest.fixture
def word_count(run: Run) -> Path:
    assert run("strategies", "new", "word_count").code == 0
    return Path("strategies/word_count.py")


@pytest.fixture
def odd(run: Run) -> Path:
    del run  # it changes to an empty folder
    Path("strategies").mkdir()
    path = Path("strategies/odd.py")
    path.write_text(ODD)
    return path


# -- strategies new --------------------------------------------------------------


def test_new_writes_a_strategy_and_its_test_and_says_what_comes_next(run: Run) -> None:
    made = run("strategies", "new", "word_count")

    assert made.code == 0
    assert "created strategies/word_count.py" in made.out
    assert "created strategies/tests/test_word_count.py" in made.out
    assert "next:   journeyman check word_count" in made.out
    assert "class WordCount(Strategy)" in Path("strategies/word_count.py").read_text()


@pytest.mark.parametrize("name", ["vec_2d", "a__b"])
def test_what_new_writes_has_the_name_that_was_given(run: Run, name: str) -> None:
    assert run("strategies", "new", name).code == 0

    assert run("check", name, "--json").answer["checked"][0]["name"] == name


def test_new_never_overwrites_anything(run: Run, word_count: Path) -> None:
    word_count.unlink()

    again = run("strategies", "new", "word_count")

    assert again.code == 2
    assert "already there: strategies/tests/test_word_count.py" in again.err
    assert not word_count.exists()


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("WordCount", "strategies new word_count"),
        ("word-count.py", "strategies new word_count"),
        ("test_words", "strategies new words"),
        ("class", "not a keyword of Python"),
        ("2words", "beginning with a letter"),
    ],
)
def test_a_name_that_cannot_be_is_answered_with_one_that_can(
    run: Run, name: str, hint: str
) -> None:
    refused = run("strategies", "new", name)

    assert refused.code == 2
    assert hint in refused.err
    assert not Path("strategies").exists()


def test_a_template_that_is_not_there_is_answered_with_those_that_are(run: Run) -> None:
    refused = run("strategies", "new", "x", "--template", "maximal")

    assert refused.code == 2
    assert "minimal, full, llm, shell" in refused.err


# -- check -----------------------------------------------------------------------

LENGTH = """
import time

time.sleep(0.15)
from journeyman import Strategy


class Length(Strategy):
    kinds = {"length"}

    def run(self, task):
        return len(task.text) // len(task.text)
"""


@pytest.mark.endurance
def test_a_strategy_without_examples_is_tried_on_odd_tasks(run: Run) -> None:
    Path("strategies").mkdir()
    Path("strategies/length.py").write_text(LENGTH)

    checked = run("check", "length")

    assert checked.code == 0
    assert "importing it takes 0." in checked.out
    proposed = "examples = [Example({'kind': 'length', 'text': 'to be or not to be'}, "
    assert f"{proposed}expect=1)]" in checked.out
    assert "fails on an empty text" in checked.out
    assert "ZeroDivisionError" in checked.out
    assert "(strategies/length.py:12 in run)" in checked.out


@pytest.mark.endurance
def test_wants_that_fails_is_told_by_check(run: Run) -> None:
    Path("strategies").mkdir()
    asks = LENGTH + "\n    def wants(self, task):\n        return task.nothing\n"
    Path("strategies/length.py").write_text(asks)

    checked = run("check", "length")

    assert "length  loads, but it has no examples to run" in checked.out
    assert "other tasks: wants raised AttributeError: 'Task' object has" in checked.out


def test_what_reaches_somebody_is_not_tried_on_tasks_that_nobody_gave(run: Run) -> None:
    Path("strategies").mkdir()
    with_hosts = LENGTH.replace("Strategy\n", "Needs, Strategy\n", 1).replace(
        "kinds =", 'needs = Needs(hosts={"api.example"})\n    kinds ='
    )
    Path("strategies/length.py").write_text(with_hosts)

    (row,) = run("check", "length", "--json").answer["checked"]

    assert (row["proposed"], row["odd_failures"]) == ("", [])
    assert row["not_run"] == "it may reach a network, and cost something there"
    assert row["answer"] == "yes, reward 1"


def test_a_model_that_is_not_there_is_told_by_check(run: Run) -> None:
    checked = run("check", "ask_llm")

    assert checked.code == 0
    assert "asked about a task that fits it: no, no model is configured" in checked.out


def test_try_warns_of_a_result_that_contains_the_environment(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANG", "de_AT.UTF-8")
    Path("strategies").mkdir()
    Path("strategies/length.py").write_text(
        LENGTH.replace("import time", "import os\nimport time").replace(
            "len(task.text) // len(task.text)", "dict(os.environ)"
        )
    )

    tried = run("try", "length", "--kind", "length", "--text", "x")

    assert tried.code == 0
    assert "the result contains your environment: " in tried.out
    assert "LANG" in tried.out.split("your environment: ")[1]


def test_check_runs_the_examples_of_what_is_named(run: Run, word_count: Path) -> None:
    for name in ("word_count", "WordCount", "word_count.py", str(word_count)):
        checked = run("check", name)

        assert (checked.code, checked.err) == (0, "")
        assert "word_count  ok, 2 examples  strategies/word_count.py:6" in checked.out


@pytest.mark.endurance
def test_check_tells_what_is_wrong_and_goes_on(run: Run, word_count: Path) -> None:
    word_count.write_text(word_count.read_text().replace('expect="4"', 'expect="5"'))
    Path("strategies/broken.py").write_text(BROKEN)

    checked = run("check")
    answer = run("check", "--json").answer

    assert checked.code == 4
    assert "example 1: expected '5', got '4'" in checked.out
    assert "E102 strategies/broken.py:3: no module 'no_such_library'" in checked.out
    assert "2 of 2 failed; more: journeyman explain E102" in checked.out
    assert answer["problems"][0]["code"] == "E102"
    assert answer["checked"][0]["failed"][0]["number"] == 1


def test_check_of_a_broken_file_by_its_name_tells_its_problem_alone(
    run: Run, word_count: Path
) -> None:
    (word_count.parent / "broken.py").write_text(BROKEN)

    assert run("check", "broken").code == 4
    assert run("check", "word_count").code == 0


def test_a_name_that_nothing_has_is_answered_with_the_nearest(
    run: Run, word_count: Path
) -> None:
    missed = run("check", "wordcount")

    assert missed.code == 4
    assert "E115 there is no strategy 'wordcount'" in missed.err
    assert f"Did you mean 'word_count' ({word_count})?" in missed.err


# -- try -------------------------------------------------------------------------


@pytest.mark.usefixtures("word_count")
def test_try_shows_what_would_happen_to_a_text(run: Run) -> None:
    tried = run("try", "word_count", "--text", "to be or not", "--reward", "3")

    assert tried.code == 0
    assert tried.out.splitlines()[0] == "wants    yes     reward 3"
    assert "log      info    counted words=4" in tried.out
    assert 'result   "4"  evidence {"method": "white space"}' in tried.out
    assert tried.out.endswith("would    submit, complete, +3 credits\n")


@pytest.mark.endurance
@pytest.mark.usefixtures("word_count")
def test_try_can_change_the_kind_and_the_tags_of_the_task(run: Run) -> None:
    kind = run("try", "word_count", "--text", "x", "--kind", "drawing")
    tags = run(
        *("try", "word_count", "--text", "x", "--kind", ""),
        *("--tag", "text", "--tag", "count"),
    )

    assert "wants    no      kind 'drawing' is not wanted" in kind.out
    assert "wants    yes" in tags.out


@pytest.mark.endurance
@pytest.mark.usefixtures("word_count")
def test_try_takes_parameters_and_says_which_there_are(run: Run) -> None:
    tried = run("try", "word_count", "--text", "a b", "--param", "max_words=1")
    unknown = run("try", "word_count", "--text", "a b", "--param", "max=1")
    refused = run("try", "word_count", "--text", "a", "--param", "max_words=many")

    assert "run      declined" in tried.out
    assert "would    give up the claim; not a failure" in tried.out
    assert (unknown.code, "its parameters: max_words" in unknown.err) == (2, True)
    assert (refused.code, "expected int" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("bug", 1, ["FAILED", "KeyError: 'bug'  (", "return {}[task.text]", "at it"]),
        ("later", 0, ["not ready; in 5 s", "run the same task again"]),
        ("misconfigured", 4, ["no key; set one", "quarantine until its file"]),
        ("no", 0, ["wants    no", "--anyway", "leave the task to others"]),
    ],
)
@pytest.mark.usefixtures("odd")
def test_try_tells_every_end(run: Run, text: str, code: int, words: list[str]) -> None:
    tried = run("try", "odd", "--text", text)

    assert tried.code == code
    assert [word for word in words if word not in tried.out] == []


@pytest.mark.usefixtures("word_count")
def test_try_takes_a_task_as_a_network_sends_it(run: Run) -> None:
    record = {
        "taskId": "t9",
        "type": "word_count",
        "bounty": "7",
        "input": {"text": "a"},
    }
    Path("task.json").write_text(json.dumps({"raw": record}))

    answer = run("try", "word_count", "--task", "task.json", "--json").answer

    assert (answer["task_id"], answer["result"]) == ("t9", "1")
    assert answer["would"] == "submit, complete, +7 credits"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "is not valid JSON"),
        ("[1]", "does not hold a task"),
        (None, "cannot be read"),
    ],
)
@pytest.mark.usefixtures("word_count")
def test_a_file_without_a_task_is_told(
    run: Run, content: str | None, words: str
) -> None:
    if content is not None:
        Path("task.json").write_text(content)

    refused = run("try", "word_count", "--task", "task.json")

    assert (refused.code, words in refused.err) == (2, True), refused.err


@pytest.mark.usefixtures("word_count")
def test_try_wants_one_task_and_only_one(run: Run) -> None:
    none = run("try", "word_count")
    two = run("try", "word_count", "--text", "x", "--from-market", "t1")

    assert (none.code, two.code) == (2, 2)
    assert "name one task" in none.err
    assert "name one task at a time" in two.err


@pytest.mark.endurance
@pytest.mark.usefixtures("word_count")
def test_try_takes_a_task_of_the_public_list_without_joining(
    run: Run, sandbox: str
) -> None:
    listed = run("market", "--public", "--base-url", sandbox, "--json").answer["tasks"]
    wanted = next(task for task in listed if task["kind"] == "word_count")

    tried = run(
        *("try", "word_count", "--from-market", wanted["task_id"]),
        *("--base-url", sandbox, "--json"),
    )
    missed = run("try", "word_count", "--from-market", "t0", "--base-url", sandbox)

    assert (tried.code, tried.answer["run"]) == (0, "ok")
    assert (missed.code, "the public list has no task 't0'" in missed.err) == (2, True)
    assert not list(Path().glob("**/identity.json"))


# -- explain ---------------------------------------------------------------------


def test_explain_tells_what_is_wrong_and_what_is_right(run: Run) -> None:
    told = run("explain", "e102")

    assert told.out.startswith("E102: something that the file imports is not there")
    assert "```" not in told.out
    assert run("explain", "E102", "--json").answer["code"] == "E102"
    assert "E116" in run("explain").out


def test_explain_answers_a_wrong_code_with_the_nearest(run: Run) -> None:
    missed = run("explain", "E1102")

    assert missed.code == 2
    assert "Did you mean E1" in missed.err


# -- strategies list and show ----------------------------------------------------


def test_list_shows_the_figures_of_an_agent_that_has_worked(
    run: Run, lived: Path
) -> None:
    answer = run("strategies", "list", "--data-dir", str(lived), "--json").answer
    shown = run("strategies", "list", "--data-dir", str(lived)).out

    assert sum(row["done"] for row in answer["strategies"]) == 4
    assert all(row["credits"] > 0 for row in answer["strategies"] if row["done"])
    assert all(row["wants_24h"] >= row["done"] for row in answer["strategies"])
    assert shown.splitlines()[0].split() == [
        *("NAME", "VER", "STATE", "FROM", "WANTS/24H", "DONE", "FAIL", "CREDITS"),
    ]


@pytest.mark.usefixtures("word_count")
def test_where_no_agent_has_run_the_figures_are_no_claim(run: Run) -> None:
    (row,) = run("strategies", "list", "--json").answer["strategies"]

    assert row["done"] is None


@pytest.mark.usefixtures("odd")
def test_show_tells_each_parameter_with_its_limits_and_its_origin(run: Run) -> None:
    shown = run("strategies", "show", "odd", "--set", "strategies.params.odd.pause=9")
    answer = run("strategies", "show", "Odd", "--json").answer

    rows = {line.split()[0]: line for line in shown.out.splitlines() if line.strip()}
    assert "9.0" in rows["pause"]
    assert "float, more than 0, less than 100" in rows["pause"]
    assert "command line" in rows["pause"]
    assert "plain | fancy" in rows["mode"]
    assert "default" in rows["mode"]
    assert answer["wants"]["own_method"] is True
    assert answer["figures"] is None


@pytest.mark.usefixtures("odd")
def test_show_tells_what_a_process_is_kept_from(run: Run) -> None:
    there = run(
        "strategies", "show", "odd", "--set", "strategies.runners.odd=process", "--json"
    )

    trusted = run(
        "strategies", "show", "odd", "--set", 'strategies.trusted=["odd"]', "--json"
    )
    assert trusted.answer["isolation"] == {}
    assert there.answer["runner"] == "process"
    assert there.answer["isolation"]


@pytest.mark.usefixtures("word_count")
def test_a_disabled_strategy_is_shown_and_is_no_failure(run: Run) -> None:
    listed = run("strategies", "list", "--set", 'strategies.disabled=["word_count"]')

    assert listed.code == 0
    assert " disabled " in listed.out


def test_list_shows_where_each_is_from_when_yours_are_beside_the_ready_ones(
    run: Run, word_count: Path
) -> None:
    (word_count.parent / "links.py").write_text(BROKEN)

    listed = run("strategies", "list", "--set", "strategies.ready=true").out
    rows = {line.split()[0]: line for line in listed.splitlines() if line.strip()}

    assert "strategies/word_count.py:" in rows["word_count"]
    assert " summary.py:" in rows["summary"]
    assert " (ready) " in rows["summary"]
    assert "LOAD FAILED" in rows["links"]
    assert "Yours, in place of the ready ones: links\n" in listed
    assert "loaded from strategies and the ready strategies; 1 of " in listed


def test_list_says_how_many_do_not_run(run: Run, word_count: Path) -> None:
    (word_count.parent / "broken.py").write_text(BROKEN)

    listed = run("strategies", "list")

    assert listed.code == 1
    assert "broken      -      LOAD FAILED E102  strategies/broken.py:3" in listed.out
    assert "1 of 2 do not run" in listed.out


def test_a_strategy_in_quarantine_is_shown_with_its_reason(
    run: Run, word_count: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    directory = DataDirectory(data)
    directory.prepare()
    # As the daemon has it: nobody trusts it.
    loaded = replace(load(word_count.parent).strategies[0], runner="process")
    (made_of,) = generation_of(Registry([loaded])).fingerprints.values()
    ill = Health(
        strategy="word_count",
        fingerprint=made_of,
        condition=Condition.MISCONFIGURED,
        problem="no key",
        fix="set one",
    )
    with (
        Journal(directory.journal, SystemClock().now) as journal,
        journal.tx("illness"),
    ):
        journal.strategy_health.put(ill)

    listed = run("strategies", "list", "--data-dir", str(data))
    word_count.write_text(word_count.read_text() + "# mended\n")
    mended = run("strategies", "list", "--data-dir", str(data))

    assert listed.code == 1
    assert " QUARANTINED " in listed.out
    assert "until its file or its settings change; last: no key; set one" in listed.out
    assert (mended.code, " active " in mended.out) == (0, True)


# -- a stranger's file -----------------------------------------------------------

THIEF = """
import os
from pathlib import Path
from journeyman import Example, strategy

for way in (
    lambda: os.environ["THE_KEY"],
    lambda: Path("/proc/{daemon}/environ").read_bytes(),
    lambda: Path({data!r}, "identity.json").read_text(),
    lambda: Path({mark!r}).touch(),
):
    try:
        way()
    except (OSError, KeyError):
        continue
    raise RuntimeError("it got something")

@strategy(tags={{"x"}}, examples=[Example({{"text": "a", "tags": ["x"]}}, expect="a")])
def thief(task):
    return str(task.text)
"""


@pytest.mark.skipif(
    available_confinement()["files"] == NOT_ENFORCED, reason="no Landlock here"
)
@pytest.mark.parametrize(
    "command",
    [
        ("check", "FILE"),
        ("check",),
        ("try", "FILE", "--text", "a", "--set", 'strategies.trusted=["thief"]'),
        ("try", "thief", "--text", "a"),
        ("strategies", "show", "thief"),
        ("strategies", "list"),
    ],
)
def test_a_file_that_nobody_has_read_gets_nothing_when_it_is_imported(
    run: Run,
    command: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("THE_KEY", "the owner's")
    data, elsewhere = tmp_path / "data", tmp_path / "elsewhere"
    mark = tmp_path / "mark"
    for folder in (data, elsewhere, Path("strategies")):
        folder.mkdir(exist_ok=True)
    (data / "identity.json").write_text("the token")
    text = THIEF.format(daemon=os.getpid(), data=str(data), mark=str(mark))
    for folder in (elsewhere, Path("strategies")):
        (folder / "thief.py").write_text(text)
    named = [one.replace("FILE", str(elsewhere / "thief.py")) for one in command]

    done = run(*named, "--data-dir", str(data), "--json")

    assert done.code == 0, done
    assert not mark.exists()
