"""Pyright agrees with mypy about what authors write; `make lint` runs mypy on it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from journeyman.cli import main
from journeyman.cli.commands.strategies.new import TEMPLATES

EXAMPLES = Path(__file__).with_name("strategy_api.py")


def test_pyright_finds_nothing_in_the_examples_and_in_what_new_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for template in TEMPLATES:
        main(["strategies", "new", f"{template}_one", "--template", template])
    settings = {
        # What an editor uses where nobody has configured it.
        "typeCheckingMode": "standard",
        "enableTypeIgnoreComments": True,
        "include": [str(EXAMPLES), str(tmp_path / "strategies")],
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "-p", "."]

    done = subprocess.run(  # noqa: S603 - a tool of ours
        [*command, "--pythonpath", sys.executable],
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )

    found = json.loads(done.stdout)
    told = [
        f"{one['file']}:{one['range']['start']['line'] + 1}: {one['message']}"
        for one in found["generalDiagnostics"]
    ]
    assert told == []
    assert found["summary"]["filesAnalyzed"] == 1 + 2 * len(TEMPLATES)
