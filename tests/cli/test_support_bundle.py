"""`journeyman support-bundle`: enough to help with, and no secret in any spelling."""

import base64
import html
import json
import shutil
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from journeyman.cli.commands.support_bundle import clean_lines
from journeyman.journal.identity import load_identity
from journeyman.observability.redaction import Redactor

Run = Callable[..., Any]
Spelling = Callable[[str], str]
SPELLINGS: list[Spelling] = [
    str,
    lambda text: json.dumps(json.dumps(text)),
    lambda text: quote(text, ""),
    lambda text: quote(quote(text, ""), ""),
    lambda text: base64.b64encode(text.encode()).decode(),
    lambda text: base64.urlsafe_b64encode(f"user:{text}".encode()).decode(),
    lambda text: text.encode().hex(),
    html.escape,
    lambda text: "".join(f"&#{ord(letter)};" for letter in text),
    lambda text: "".join(f"\\u{ord(letter):04x}" for letter in text),
]


def read(path: Path) -> dict[str, str]:
    with zipfile.ZipFile(path) as bundle:
        return {name: bundle.read(name).decode() for name in bundle.namelist()}


def test_it_holds_what_helps_and_can_be_read_by_its_owner_alone(
    run: Run, lived: Path, tmp_path: Path
) -> None:
    path = tmp_path / "bundle.zip"

    told = run("support-bundle", "--output", str(path), "--data-dir", str(lived))

    files = read(path)
    assert told.code == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(files["versions.json"])["libraries"]["anyio"]
    origins = {
        one["setting"]: one["origin"] for one in json.loads(files["settings.json"])
    }
    assert origins["data.directory"] == "command line --data-dir"
    assert json.loads(files["status.json"])["tasks"]["completed"] == 4
    assert json.loads(files["archives.json"]) == []
    assert json.loads(files["contract.json"])["openapi"].startswith("3.1")
    events = [json.loads(line)["event"] for line in files["log.jsonl"].splitlines()]
    assert events[-1] == "daemon.stopped"


def test_no_secret_is_in_it(
    run: Run, lived: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, path = tmp_path / "data", tmp_path / "bundle.zip"
    shutil.copytree(lived, data, ignore=shutil.ignore_patterns("*.sock"))
    identity = load_identity(data / "identity.json")
    assert identity is not None
    secrets = {
        "token": identity.access_token.reveal(),
        "password": "correct-horse-battery",
        "webhook": "https://chat.example/hooks/T0P-of-the-world",
        "key": "sk-live-0123456789abcdef",
        "header": "gateway-key-9876543210",
    }
    monkeypatch.setenv("OPENAI_API_KEY", secrets["key"])
    monkeypatch.setenv("JOURNEYMAN_WEB__PASSWORD", secrets["password"])
    lines = [
        json.dumps({"event": "output.printed", "text": f"<{spell(secret)}>"})
        for secret in secrets.values()
        for spell in SPELLINGS
    ]
    with (data / "journeyman.log").open("a") as log:
        log.write("\n".join([*lines, "{ a line that a crash cut sho"]) + "\n")

    file = tmp_path / "secret.toml"
    file.write_text(
        f'notify.webhook = "{secrets["webhook"]}"\n'
        f'network.headers = {{ x-gateway = "{secrets["header"]}" }}\n'
    )

    told = run(
        *("support-bundle", "--output", str(path), "--data-dir", str(data)),
        *("--config", str(file)),
    )

    assert told.code == 0, told.err
    text = "\n".join(read(path).values())
    left = [
        (name, spell(secret))
        for name, secret in secrets.items()
        for spell in SPELLINGS
        if spell(secret) in text
    ]
    assert left == []
    assert text.count('"event": "output.printed"') == len(lines)


@pytest.mark.endurance
@settings(max_examples=50, deadline=None)
@given(
    secret=st.text("abcdefghijkABCDEFGHIJK0123456789-._~+/=", min_size=12, max_size=40),
    spellings=st.lists(st.sampled_from(SPELLINGS), min_size=1, max_size=4),
    around=st.text(max_size=10),
)
def test_a_token_in_any_spelling_on_any_line_is_taken_out(
    secret: str, spellings: list[Spelling], around: str
) -> None:
    redactor = Redactor()
    redactor.add(secret)
    text = "\n".join(f"{around}<{spell(secret)}>{around}" for spell in spellings)

    cleaned = clean_lines(text, redactor)

    assert not redactor.knows(cleaned)
    for spell in spellings:
        assert spell(secret) not in cleaned


def test_an_agent_that_never_ran_and_wrong_settings_are_told_in_it(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, nowhere = tmp_path / "bundle.zip", str(tmp_path / "nothing")
    monkeypatch.setenv("JOURNEYMAN_WORK__SLOTS", "none")

    told = run("support-bundle", "--output", str(path), "--json", "--data-dir", nowhere)

    files = read(path)
    assert told.answer["parts"] == [*files]
    assert "no agent has ever run" in files["status.json"]
    assert "work.slots" in files["settings.json"]
    assert json.loads(files["versions.json"])["python"]


def test_a_file_is_never_replaced(run: Run, lived: Path, tmp_path: Path) -> None:
    path = tmp_path / "bundle.zip"
    path.write_text("mine")

    told = run("support-bundle", "--output", str(path), "--data-dir", str(lived))

    assert told.code == 2
    assert path.read_text() == "mine"
