"""`journeyman init`: two files that the daemon starts with, or none."""

import os
import pty
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped] # it ships no types

from journeyman.cli.commands.init import (
    MODEL_CREDITS,
    MODEL_STRATEGY,
    MODELS,
    move_together,
)
from journeyman.daemon.strategies import ready_strategies
from journeyman.settings.sources import load_settings
from journeyman.testing import load_strategy

Run = Callable[..., Any]
Program = Callable[..., subprocess.CompletedProcess[str]]
WRITTEN = ["compose.yaml", "journeyman.toml"]
END_OF_INPUT = "\x04"
DEPLOYED = Path(__file__).parents[2] / "deploy/compose.yaml"
HAS_ITS_OWN = {"build", "environment", "volumes"}


@contextmanager
def typed(monkeypatch: pytest.MonkeyPatch, *lines: str) -> Iterator[None]:
    """Type these lines on a terminal, which is our stdin."""
    keyboard, terminal = pty.openpty()
    with os.fdopen(keyboard, "w") as keys, os.fdopen(terminal) as stdin:
        keys.write("".join(f"{line}\n" for line in lines) + END_OF_INPUT)
        keys.flush()
        monkeypatch.setattr("sys.stdin", stdin)
        yield


def service_in(compose: Path) -> dict[str, Any]:
    services: dict[str, dict[str, Any]] = yaml.safe_load(compose.read_text())[
        "services"
    ]
    return services["journeyman"]


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def unused_address() -> str:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{one.getsockname()[1]}"


def test_with_yes_it_writes_what_it_proposes_and_asks_nothing(
    run: Run, sandbox: str, tmp_path: Path
) -> None:
    done = run("init", "--base-url", sandbox, "--per-day-credits", "30", "--yes")

    assert done.code == 0, done.err
    assert names_in(tmp_path) == WRITTEN
    loaded = load_settings(environ={}, cwd=tmp_path)
    assert loaded.files == [tmp_path / "journeyman.toml"]
    assert loaded.settings.network.base_url == sandbox
    assert loaded.settings.budget.per_day_credits == 30
    # So that they stay when the first strategy of one's own comes.
    assert loaded.settings.strategies.ready
    assert loaded.settings.strategies.params == {}
    made, ours = map(service_in, (tmp_path / "compose.yaml", DEPLOYED))
    assert made.pop("network_mode") == "host"
    assert "./journeyman.toml:/app/config/journeyman.toml:ro" in made.pop("volumes")
    # In all else the container may do what ours may, and no more.
    assert made == {key: ours[key] for key in ours.keys() - HAS_ITS_OWN}


def test_who_has_strategies_gets_those_alone_in_a_container_too(
    run: Run, sandbox: str, tmp_path: Path
) -> None:
    Path("strategies").mkdir()
    Path("strategies/echo.py").write_text(
        "from journeyman import strategy\n\n\n"
        "@strategy(tags={'echo'})\ndef echo(task):\n    return task.text\n"
    )

    done = run("init", "--base-url", sandbox, "--yes")

    assert done.code == 0, done.err
    assert "Your own strategies: echo" in done.out
    assert not load_settings(environ={}, cwd=tmp_path).settings.strategies.ready
    made = service_in(tmp_path / "compose.yaml")
    assert "./strategies:/strategies:ro" in made["volumes"]
    assert made["environment"] == {"JOURNEYMAN_STRATEGIES__READY": "false"}


def test_a_terminal_is_asked_until_each_answer_is_right(
    run: Run, sandbox: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    limits = ("", "many", "40", "", "3")
    name, key = "openai:gpt-5-mini", "sk-live-0123456789"
    model = (name, key, "OPENAI_API_KEY", "", "1,2", "nothing", "5")

    with typed(
        monkeypatch, "no address", sandbox, *limits, *model, "sumary", "summary"
    ):
        done = run("init")

    assert done.code == 0, done.err
    assert "Did you mean summary?" in done.out
    assert "OPENAI_API_KEY is not set here" in done.out
    written = (tmp_path / "journeyman.toml").read_text()
    assert "sk-live" not in written + done.out
    settings = load_settings(environ={}, cwd=tmp_path).settings
    assert settings.budget.per_day_credits == 40
    assert settings.work.slots == 3
    assert "count_words" in settings.strategies.disabled
    assert "ask_llm" not in settings.strategies.disabled
    assert settings.strategies.params["ask_llm"] == {
        "model": "openai:gpt-5-mini",
        "api_key_env": "OPENAI_API_KEY",
        "credits_per_1k_input": 1.0,
        "credits_per_1k_output": 2.0,
        "credits_per_day": 5.0,
    }
    compose = (tmp_path / "compose.yaml").read_text()
    assert "OPENAI_API_KEY: ${OPENAI_API_KEY:?" in compose
    assert "docker build --tag journeyman ." in compose


def test_who_wants_no_model_has_none_though_a_key_is_in_the_environment(
    run: Run, tmp_path: Path, sandbox: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-live-0123456789")

    done = run("init", "--base-url", sandbox, "--yes", "--model", "off")

    assert done.code == 0, done.err
    settings = load_settings(environ={}, cwd=tmp_path).settings
    assert settings.strategies.params == {"ask_llm": {"model": "off"}}


@pytest.mark.parametrize(
    ("options", "limit"), [((), 20), (("--model-credits", "7"), 7)]
)
def test_a_key_in_the_environment_proposes_its_model_within_a_budget(
    run: Run,
    tmp_path: Path,
    sandbox: str,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    limit: int,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-live-0123456789")

    done = run("init", "--base-url", sandbox, "--yes", *options)

    assert done.code == 0, done.err
    model = "anthropic:claude-haiku-4-5"
    assert f"{model} is asked for at most {limit} credits (0." in done.out
    settings = load_settings(environ={}, cwd=tmp_path).settings
    assert settings.strategies.params["ask_llm"] == {
        "model": model,
        "api_key_env": "ANTHROPIC_API_KEY",
        "credits_per_day": limit,
    }
    compose = (tmp_path / "compose.yaml").read_text()
    assert "ANTHROPIC_API_KEY: ${ANTHROPIC_API_KEY:?" in compose


def test_at_an_address_of_ones_own_no_model_is_proposed(
    run: Run, tmp_path: Path, sandbox: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-live-0123456789")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")

    done = run("init", "--base-url", sandbox, "--yes")

    assert done.code == 0, done.err
    settings = load_settings(environ={}, cwd=tmp_path).settings
    assert settings.strategies.params == {"ask_llm": {"model": "off"}}


def test_what_is_proposed_is_what_the_strategy_would_ask() -> None:
    ask_llm = load_strategy(ready_strategies() / MODEL_STRATEGY / "__init__.py")
    found = sys.modules[f"{ask_llm.__module__.rpartition('.')[0]}.connection"]

    assert found.KEYS == MODELS
    assert vars(ask_llm)["credits_per_day"].default == MODEL_CREDITS


def test_who_ends_the_input_finds_nothing_written(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with typed(monkeypatch):
        done = run("init")

    assert done.code == 130
    assert "Nothing was written." in done.err
    assert names_in(tmp_path) == []


def test_without_a_terminal_it_says_which_option_is_missing(
    run: Run, tmp_path: Path
) -> None:
    done = run("init", "--json")

    assert done.code == 2
    assert done.error["problem"].startswith("--base-url is missing")
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("name", WRITTEN)
def test_a_file_is_never_replaced_without_force(
    run: Run, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text("mine")

    done = run("init", "--base-url", "http://127.0.0.1:9", "--yes")

    assert done.code == 2
    assert f"already there: {name}" in done.err
    assert names_in(tmp_path) == [name]
    assert (tmp_path / name).read_text() == "mine"


def test_an_address_without_a_service_writes_nothing(run: Run, tmp_path: Path) -> None:
    done = run("init", "--base-url", unused_address(), "--yes")

    assert done.code == 7
    assert "Connection refused" in done.err
    assert names_in(tmp_path) == []


def test_a_portal_is_recognised_and_where_the_token_goes_is_left_to_the_owner(
    run: Run, odd: str, tmp_path: Path
) -> None:
    done = run("init", "--base-url", f"{odd}/portal", "--yes", "--json")

    assert done.code == 7
    assert "it is the portal" in done.error["problem"]
    named = f"--base-url https://service.example --portal-url {odd}/portal"
    assert f"journeyman init {named}" in done.error["fix"]
    assert names_in(tmp_path) == []


def test_a_key_in_place_of_its_variable_is_refused_and_not_repeated(
    run: Run, sandbox: str, tmp_path: Path
) -> None:
    model = ("--model", "openai:gpt-5-mini", "--model-key-env", "sk_live_0123456789")

    done = run("init", "--base-url", sandbox, "--yes", *model)

    assert done.code == 4
    assert "sk_live" not in done.out + done.err
    assert names_in(tmp_path) == []


def test_what_is_broken_off_between_the_files_leaves_the_old_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class BrokenOff(tuple[str, ...]):
        """Names, of which the first reader gets one."""

        __slots__ = ()
        reads = 0

        def __iter__(self) -> Iterator[str]:
            BrokenOff.reads += 1
            yield self[0]
            if BrokenOff.reads == 1:
                raise KeyboardInterrupt
            yield self[1]

    monkeypatch.chdir(tmp_path)
    staging = tmp_path / "staging"
    staging.mkdir()
    for name in WRITTEN:
        (staging / name).write_text("new")
    (tmp_path / WRITTEN[0]).write_text("old")

    with pytest.raises(KeyboardInterrupt):
        move_together(staging, BrokenOff(WRITTEN))

    assert (tmp_path / WRITTEN[0]).read_text() == "old"
    assert not (tmp_path / WRITTEN[1]).exists()


@pytest.mark.endurance
def test_a_model_without_a_price_or_a_key_is_refused(
    run: Run, sandbox: str, tmp_path: Path
) -> None:
    model = ("init", "--base-url", sandbox, "--yes", "--model", "openai:gpt-5-mini")

    without_key = run(*model)
    without_price = run(*model, "--model-key-env", "OPENAI_API_KEY")

    assert (without_key.code, without_price.code) == (2, 2)
    assert "--model needs a key or an address" in without_key.err
    assert "--model-prices is missing" in without_price.err
    assert names_in(tmp_path) == []


@pytest.mark.endurance
def test_the_daemon_starts_with_it_and_earns(
    run: Run, program: Program, sandbox: str, tmp_path: Path
) -> None:
    run("init", "--base-url", sandbox, "--yes")

    done = program(
        *(sys.executable, "-m", "journeyman", "run", "--data-dir", "data"),
        *("--max-tasks", "2"),
        cwd=tmp_path,
    )

    assert done.returncode == 0, done.stdout
    assert done.stdout.count("task.completed") >= 2


@pytest.mark.endurance
def pressed_until_it_ends(process: subprocess.Popen[bytes]) -> bytes:
    """Press Ctrl-C as a person does, again where nothing happened; return its stderr.

    Python looks for signals before it reads: one that comes between the two waits for
    the end of the read, which nobody's typing ends here.
    """
    for _ in range(60):
        process.send_signal(signal.SIGINT)
        try:
            return process.communicate(timeout=1)[1]
        except subprocess.TimeoutExpired:
            continue
    process.kill()
    raise AssertionError("Ctrl-C did not end it")


def test_ctrl_c_at_a_question_ends_it_and_writes_nothing(tmp_path: Path) -> None:
    keyboard, terminal = pty.openpty()
    with (
        os.fdopen(keyboard),
        os.fdopen(terminal) as stdin,
        subprocess.Popen(
            [sys.executable, "-m", "journeyman", "init"],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
        ) as process,
    ):
        assert process.stdout is not None
        asked = b""
        while b"address" not in asked:
            asked += process.stdout.read(1)
        said = pressed_until_it_ends(process)

    assert process.returncode == 130
    assert b"Nothing was written." in said
    assert names_in(tmp_path) == []
