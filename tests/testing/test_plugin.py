"""What `journeyman strategies new` writes passes, with the fixtures of our plugin."""

import subprocess
import sys
from pathlib import Path

import pytest

from journeyman.cli import main
from journeyman.cli.commands.strategies.new import TEMPLATES

pytestmark = pytest.mark.endurance

PLUGIN = "journeyman.testing.plugin"
FIXTURES = '''
def test_the_fixtures_come_with_journeyman(agent, task, market):
    """Each is named as an argument, and nothing is imported."""
    word_count = "strategies/minimal_one.py"
    done = agent.run(word_count, task("a b", kind="word_count"))
    market.post("a b c", kind="word_count", reward=2)

    assert done.result.text == "2"
    assert market.work(word_count).credits == 102
'''


def _run_pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # Not pytest-asyncio: it warns where no project configures it.
    options = ("-q", "-p", "no:cacheprovider", "-p", "no:asyncio", "-W", "error")
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "pytest", *options, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


def test_every_template_s_tests_pass_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for template in TEMPLATES:
        made = main(["strategies", "new", f"{template}_one", "--template", template])
        assert made == 0
    (tmp_path / "test_fixtures.py").write_text(FIXTURES)

    done = _run_pytest(tmp_path, "strategies/tests", "test_fixtures.py")

    assert done.returncode == 0, done.stdout + done.stderr


def test_the_plugin_brings_nothing_heavy_into_a_run_that_does_not_use_it() -> None:
    heavy = {"anyio", "fastapi", "pydantic", "httpx2", "sqlite3", "journeyman.sandbox"}
    code = (
        "import sys\n"
        "import pytest\n"
        "before = set(sys.modules)\n"
        f"import {PLUGIN}\n"
        f"print(*sorted({heavy!r} & (set(sys.modules) - before)))\n"
    )

    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == ""


def test_the_first_level_needs_no_server() -> None:
    code = (
        "import sys; from journeyman.testing import FakeAgent, task; "
        "print(*sorted({'fastapi', 'uvicorn', 'httpx2', 'pydantic', 'sqlite3', "
        "'journeyman.sandbox', 'journeyman.settings'} & set(sys.modules)))"
    )

    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == ""
