"""Each bad day has one clear message, its exit code, and no traceback."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Program = Callable[..., subprocess.CompletedProcess[str]]

UNREACHABLE = "http://127.0.0.1:1"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        pytest.param("run", 4, ["no network is named", "--sandbox"], id="no-address"),
        pytest.param("nonsense", 2, ["'nonsense'", "--help"], id="no-such-command"),
        pytest.param("run --fast", 2, ["--fast", "run --help"], id="no-such-option"),
        pytest.param("tasks --limit no", 2, ["--limit", "integer"], id="not-a-number"),
        pytest.param("strategies", 2, ["Missing command"], id="half-a-command"),
        pytest.param("run --set slots", 2, ["KEY=VALUE"], id="no-assignment"),
        pytest.param(
            "run --sandbox --base-url http://a.example",
            *(2, ["exclude each other"]),
            id="two-networks",
        ),
        pytest.param(
            "run --set work.slotz=4", 4, ["work.slotz", "work.slots"], id="no-setting"
        ),
        pytest.param(
            "run --slots 0", 4, ["work.slots", "0", "1 to 256"], id="out-of-range"
        ),
        pytest.param(
            "run --base-url ftp://a.example", 4, ["http://"], id="no-http-address"
        ),
        pytest.param("run --config gone.toml", 4, ["gone.toml"], id="no-such-config"),
        pytest.param("sandbox --config gone.toml", 4, ["gone.toml"], id="no-options"),
        pytest.param("sandbox --tasks -1", 2, ["--tasks", "-1"], id="negative"),
        pytest.param("sandbox --kinds chess", 2, ["chess", "word_count"], id="kind"),
        pytest.param("status", 3, ["no agent has ever run"], id="nothing-there"),
        pytest.param("tasks", 3, ["no agent has ever run"], id="no-journal"),
        pytest.param("health", 3, ["no daemon runs"], id="health-of-nobody"),
        pytest.param("pause", 3, ["no agent has ever run"], id="pause-nobody"),
        pytest.param("resume", 3, ["no agent has ever run"], id="resume-nobody"),
        pytest.param("stop", 3, ["no daemon runs"], id="stop-nobody"),
        pytest.param("market", 4, ["no network is named"], id="market-of-nowhere"),
        pytest.param("topup", 2, ["exactly one"], id="top-up-of-nothing"),
        pytest.param("topup --credits 0", 2, ["credits"], id="top-up-of-zero"),
        pytest.param(
            "post --title x --reward 1 --input {no", 2, ["not valid JSON"], id="no-json"
        ),
        pytest.param(
            "post --title x --reward 1 --input @gone", 2, ["@gone"], id="no-file"
        ),
        pytest.param(
            f"market --base-url {UNREACHABLE}", 7, ["marketplace"], id="unreachable"
        ),
        pytest.param(
            f"discover --base-url {UNREACHABLE}", 7, ["none of"], id="no-documents"
        ),
    ],
)
def test_a_mistake_is_told_in_a_few_words(
    run: Run, arguments: str, code: int, words: list[str]
) -> None:
    done = run(*arguments.split())

    assert done.code == code, done
    assert done.err.startswith("journeyman: ")
    assert all(word in done.err for word in words), done.err
    assert "Traceback" not in done.err


def test_with_json_a_mistake_is_an_object_on_stderr(run: Run) -> None:
    done = run("health", "--json")

    assert done.out == ""
    assert done.error["exit_code"] == done.code == 3
    assert "journeyman run" in done.error["fix"]


@pytest.mark.parametrize("name", ["page", "array"])
def test_a_wrong_address_is_told_and_stands_in_no_other_networks_way(
    run: Run, odd: str, sandbox: str, name: str
) -> None:
    for _ in range(2):
        done = run("join", "--base-url", f"{odd}/{name}", "--data-dir", "data")

        assert done.code == 6
        assert f"{odd}/{name}" in done.err
        assert "network.base_url" in done.err
        assert not Path("data", "identity.json").exists()

    assert run("join", "--base-url", sandbox, "--data-dir", "data").code == 0


def test_an_unread_registration_is_replaced_or_imported_at_the_owners_word(
    run: Run, odd: str, sandbox: str, tmp_path: Path
) -> None:
    run("join", "--base-url", f"{odd}/array", "--data-dir", "data")
    known = {"format": 1, "agent_id": "a", "access_token": "t", "base_url": odd}
    (tmp_path / "found.json").write_text(json.dumps(known))

    done = run("join", "--replace", "--base-url", sandbox, "--data-dir", "data")
    assert done.code == 0, done
    run("join", "--base-url", f"{odd}/array", "--data-dir", "other")
    done = run("identity", "import", "found.json", "--data-dir", "other")

    assert done.code == 0, done
    assert Path("other", "identity.json").exists()


def test_a_network_cannot_send_escape_sequences_to_the_terminal(
    run: Run, odd: str
) -> None:
    done = run("market", "--base-url", f"{odd}/escape")

    assert done.code == 7
    assert "\x1b" not in done.err


def test_a_data_directory_that_cannot_be_made_is_named(
    run: Run, tmp_path: Path, sandbox: str
) -> None:
    (tmp_path / "file").write_text("")

    done = run("join", "--base-url", sandbox, "--data-dir", "file/data")

    assert done.code == 1
    assert "file/data" in done.err
    assert "--data-dir" in done.err


def test_a_port_that_is_taken_is_named(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        done = run("sandbox", "--port", str(port))

    assert done.code == 1
    assert f"port {port}" in done.err


def test_a_config_file_with_mistakes_is_told_line_by_line(
    run: Run, tmp_path: Path
) -> None:
    file = tmp_path / "bad.toml"
    file.write_text('[work]\nslotz = 4\n\n[network]\nlimit = "many"\n')

    done = run("config", "show", "--config", str(file))

    assert done.code == 4
    assert "bad.toml:2: work.slotz" in done.err
    assert "bad.toml:5: network.limit" in done.err


def test_another_network_never_sees_the_token(run: Run, lived: Path, odd: str) -> None:
    done = run("join", "--base-url", f"{odd}/page", "--data-dir", str(lived))
    market = run("market", "--base-url", f"{odd}/page", "--data-dir", str(lived))

    assert done.code == 6
    assert market.code == 7


def test_a_reader_that_has_enough_is_no_error(program: Program, lived: Path) -> None:
    command = f"{sys.executable} -m journeyman tasks --data-dir {lived}"

    done = program("/bin/sh", "-c", f"({command}; echo $? >&2) | true")

    # It may have been faster than `true`.
    assert done.stderr.strip() in {"0", "141"}


def test_a_terminal_without_the_letters_still_gets_an_answer(
    program: Program, lived: Path
) -> None:
    done = program(
        *(sys.executable, "-m", "journeyman", "status", "--data-dir", str(lived)),
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )

    assert done.returncode == 0
    assert "\\xb7" in done.stdout, "the middle dot, written out"


def test_a_bug_is_told_as_one_without_a_traceback(
    run: Run, lived: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("journeyman.daemon.status.journal_status", fail)

    plain = run("status", "--data-dir", str(lived))
    monkeypatch.setenv("JOURNEYMAN_DEBUG", "1")
    full = run("status", "--data-dir", str(lived))

    assert plain.code == full.code == 1
    assert "a bug: ZeroDivisionError" in plain.err
    assert "Traceback" not in plain.err
    assert "JOURNEYMAN_DEBUG=1" in plain.err
    assert "Traceback" in full.err


@pytest.mark.endurance
def test_an_error_in_a_group_is_found(
    program: Program, tmp_path: Path, sandbox: str
) -> None:
    # The daemon's task groups wrap what is raised inside them.
    (tmp_path / "file").write_text("")

    done = program(
        *(sys.executable, "-m", "journeyman", "run", "--json"),
        *("--base-url", sandbox, "--data-dir", str(tmp_path / "file")),
    )

    assert done.returncode == 1
    assert "cannot be written" in json.loads(done.stderr)["problem"]
