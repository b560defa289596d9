"""The strategy that runs a program: any language, and nothing of it left behind."""

import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from journeyman.domain.tasks import Task
from journeyman.testing import (
    FakeAgent,
    Run,
    assert_strategy_conforms,
    load_strategy,
    task,
)

ROOT = Path(__file__).parents[2]
STRATEGY = ROOT / "strategies" / "run_command.py"
PAGE = ROOT / "docs" / "how-to" / "shell-strategy.md"

Do = Callable[..., Run]


def a_task(text: str = "to be or not") -> Task:
    return task(text, kind="word_count", reward=3)


@pytest.fixture
def do(agent: FakeAgent) -> Do:
    """Run one task with a shell command, in a thread: that is quicker to begin."""

    class InAThread(load_strategy(STRATEGY)):  # type: ignore[misc]  # made by a file
        name = "run_command"
        runner = "thread"

    def do(command: str, given: Task | None = None, **params: object) -> Run:
        settings: dict[str, object] = {"shell": True, "task_kinds": "word_count"}
        settings |= {"command": command, **params}
        return agent.run(InAThread, given or a_task(), **settings)

    return do


def test_a_program_gets_the_task_and_gives_the_result(do: Do) -> None:
    run = do("cat")

    told = json.loads(str(run.result.output))
    assert (told["text"], told["kind"], told["reward"]) == (
        "to be or not",
        "word_count",
        3,
    )


@pytest.mark.parametrize(
    ("printed", "output", "evidence"),
    [
        ("four words", "four words", {}),
        ("4", "4", {}),
        ('{"words": 4}', '{"words": 4}', {}),
        ('{"output": [4, null]}', [4, None], {}),
        ('{"output": 4, "evidence": {"by": "awk"}}', 4, {"by": "awk"}),
    ],
)
def test_it_prints_plain_text_or_json_with_evidence(
    do: Do, printed: str, output: object, evidence: dict[str, str]
) -> None:
    run = do(f"printf %s '{printed}'")

    assert (run.result.output, run.result.evidence) == (output, evidence)


@pytest.mark.parametrize(
    ("command", "outcome", "reason"),
    [
        ("echo too hard >&2; exit 65", "declined", "too hard"),
        ("exit 69", "declined", "the program declined it (exit code 69)"),
        ("echo busy >&2; exit 75", "retry_later", "busy"),
        ("echo no licence >&2; exit 78", "misconfigured", "no licence"),
        ("echo one >&2; echo two >&2; exit 3", "failed", "exit code 3: one | two"),
        ("kill -9 $$", "failed", "signal 9: no message"),
        ("true", "failed", "it printed nothing"),
        (r"printf '\377'", "failed", "not valid UTF-8"),
    ],
)
def test_its_exit_code_says_how_it_went(
    do: Do, command: str, outcome: str, reason: str
) -> None:
    run = do(command)

    assert run.outcome == outcome
    assert reason in run.reason


def test_a_program_that_does_not_read_the_task_is_no_failure(do: Do) -> None:
    assert do("exec <&-; echo 4", a_task("x" * 1_000_000)).result.output == "4"


def test_nothing_in_a_task_is_ever_part_of_the_command(do: Do) -> None:
    orders = "$(echo owned) `echo owned`; echo owned; '\" --help"

    run = do("cat", a_task(orders))

    assert json.loads(str(run.result.output))["text"] == orders


def test_a_flood_is_a_failure_and_fills_no_memory(do: Do) -> None:
    run = do("head -c 3000000 /dev/zero", max_bytes=1_000)

    assert run.outcome == "failed"
    assert "more than 1000 bytes" in run.reason


def test_a_program_that_hangs_is_killed_with_all_that_it_started(
    do: Do, tmp_path: Path
) -> None:
    line = tmp_path / "line"
    os.mkfifo(line)
    reader = os.open(line, os.O_RDONLY | os.O_NONBLOCK)

    run = do(f"sleep 60 > {line} & sleep 60", seconds=0.2)

    os.set_blocking(reader, True)
    # It ends only when nobody is left who could write.
    assert os.read(reader, 1) == b""
    os.close(reader)
    assert "not done within 0.2 s" in run.reason


def test_it_gets_no_more_of_the_environment_than_is_named(
    do: Do, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("JOURNEYMAN_TOKEN", "AWS_SECRET", "MY_KEY"):
        monkeypatch.setenv(name, "secret")

    run = do("env", environment="MY_KEY JOURNEYMAN_TOKEN")

    names = {line.partition("=")[0] for line in str(run.result.output).splitlines()}
    assert "MY_KEY" in names
    assert names.isdisjoint({"JOURNEYMAN_TOKEN", "AWS_SECRET"})


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("no-such-program --fast", "there is no program 'no-such-program'"),
        ("'", "quotation"),
    ],
)
def test_a_wrong_command_is_told_to_its_owner_at_the_start(
    do: Do, command: str, reason: str
) -> None:
    with pytest.raises(Exception, match=reason) as raised:
        do(command, shell=False)

    assert type(raised.value).__name__ == "Misconfigured"


def test_without_a_command_it_wants_nothing(agent: FakeAgent) -> None:
    run = agent.run(STRATEGY, a_task())

    assert run.outcome == "skipped"
    assert "no command is configured" in run.reason


def test_it_is_a_good_citizen() -> None:
    count = 'python3 -c "import sys; print(len(sys.stdin.read()))"'

    assert_strategy_conforms(STRATEGY, command=count, task_kinds="word_count")


PROGRAMS = re.findall(
    r"^```(bash|python)\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL
)


@pytest.mark.parametrize(("language", "program"), PROGRAMS)
def test_the_programs_of_the_page_work_in_a_process_of_their_own(
    agent: FakeAgent, tmp_path: Path, language: str, program: str
) -> None:
    mine = tmp_path / "strategies"
    mine.mkdir()
    shutil.copy(STRATEGY, mine)
    (mine / "count").write_text(program)
    (mine / "count").chmod(0o755)
    params = {"command": "./count", "task_kinds": "word_count"}

    done = agent.run(mine / "run_command.py", a_task(), **params)
    empty = agent.run(mine / "run_command.py", a_task(""), **params)

    assert str(done.result.output) == "4"
    assert (empty.outcome, empty.reason) == ("declined", "there is nothing to count")
    assert done.result.evidence == ({} if language == "bash" else {"first": "to"})


def test_both_languages_are_on_the_page() -> None:
    assert [language for language, _ in PROGRAMS] == ["bash", "python"]


def test_in_its_process_a_program_has_no_network(agent: FakeAgent) -> None:
    reach = "import socket; socket.socket(socket.AF_INET, socket.SOCK_STREAM)"
    params = {"command": f'{sys.executable} -c "{reach}"', "task_kinds": "word_count"}

    run = agent.run(STRATEGY, a_task(), **params)

    assert run.outcome == "failed"
    assert "Permission" in run.reason
