"""`journeyman contract dialects`: what may be sent, and what is in force."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from journeyman.network.shapes import ACTIONS

Run = Callable[..., Any]

OWN = """
[contract]
dialect = "acme"

[contract.dialects.acme.claim]
task_id = "job.uuid"
headers = { apikey = "sb-secret" }
"""


def test_the_ready_dialects_are_listed_before_any_network_is_named(run: Run) -> None:
    shown = run("contract", "dialects", "--json")

    assert shown.code == 0
    assert [*shown.answer["dialects"]] == ["snake", "camel", "id-only", "wrapped"]
    assert shown.answer["base_url"] is None
    current = shown.answer["current"]
    assert {one["state"] for one in current.values()} == {"not tried yet"}


def test_what_a_network_understood_is_shown_as_current(run: Run, lived: Path) -> None:
    shown = run("contract", "dialects", "--data-dir", str(lived), "--json")
    current = shown.answer["current"]

    assert current["claim"]["dialect"] == "snake"
    assert current["submit"]["state"] == "understood"
    assert current["complete"]["since"]
    assert current["post_task"]["state"] == "not tried yet"
    text = run("contract", "dialects", "--data-dir", str(lived)).out
    assert "task_id > task.id" in text


def test_an_own_dialect_comes_first_and_can_be_pinned(run: Run, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(OWN)

    shown = run("contract", "dialects", "--config", "own.toml", "--json")

    assert next(iter(shown.answer["dialects"])) == "acme"
    assert shown.answer["current"]["claim"]["state"] == "pinned by the settings"
    assert shown.answer["current"]["submit"]["dialect"] == "snake"


def test_an_explained_request_is_shown_in_every_dialect(run: Run) -> None:
    shown = run(
        *("contract", "dialects", "--explain", "claim"),
        *("--base-url", "http://127.0.0.1:9", "--json"),
    )

    bodies = {one["dialect"]: one["body"] for one in shown.answer}
    assert bodies["camel"] == {"taskId": "TASK-ID", "agentId": "AGENT-ID"}
    assert [*bodies] == ["snake", "camel", "id-only", "wrapped"]
    claim = "http://127.0.0.1:9/functions/v1/claim-task-public"
    assert {one["url"] for one in shown.answer} == {claim}


def test_an_explained_request_shows_no_secret(
    run: Run, lived: Path, tmp_path: Path
) -> None:
    (tmp_path / "own.toml").write_text(OWN)
    data = ("--data-dir", str(lived), "--config", "own.toml")

    shown = run("contract", "dialects", "--explain", "claim", *data)
    settings = run("config", "show", *data)

    assert "Authorization: Bearer ***" in shown.out
    assert "Apikey: ***" in shown.out
    assert "sb-secret" not in shown.out + settings.out


def test_only_the_dialect_that_was_named_is_explained(run: Run) -> None:
    arguments = ("--explain", "submit", "--dialect", "wrapped")

    shown = run("contract", "dialects", *arguments)

    assert shown.out.startswith("# wrapped\nPOST ")
    assert shown.out.count("POST ") == 1


def test_what_there_is_none_of_is_told_with_what_there_is(run: Run) -> None:
    action = run("contract", "dialects", "--explain", "steal")
    dialect = run("contract", "dialects", "--dialect", "klingon")

    assert (action.code, dialect.code) == (2, 2)
    assert all(name in action.err for name in ACTIONS)
    assert "snake, camel, id-only, wrapped" in dialect.err


def test_a_dialect_that_leaves_an_action_open_says_so(run: Run, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(OWN)
    arguments = ("--explain", "submit", "--dialect", "acme", "--config", "own.toml")

    shown = run("contract", "dialects", *arguments)

    assert shown.code == 2
    assert "'acme' does not describe submit" in shown.err
