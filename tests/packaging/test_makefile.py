"""What the Makefile promises: its help, its gate, and a set-up that recovers."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

MAKE = shutil.which("make")
LOCKS = ("requirements/dev.lock", "requirements/uv.lock")
pytestmark = pytest.mark.skipif(MAKE is None, reason="make is not installed")

# Stands in for python3: it makes an environment whose pip writes down its call and
# fails for as long as a file named `offline` lies in the folder.
FAKE_PYTHON = """\
#!/bin/sh
echo "$*" >> calls
case "$*" in
  *"-m venv"*) mkdir -p env/bin && cp "$0" env/bin/python ;;
  *"-m pip"*) test ! -e offline ;;
esac
"""


def run(
    *arguments: str, cwd: Path, path: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command as a user would, not as a child of `make test`."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    environment |= {"PATH": path or environment["PATH"]}
    return subprocess.run(  # noqa: S603 - the commands are written in this file
        arguments, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


def make(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return run(MAKE or "make", *arguments, cwd=cwd)


@pytest.fixture
def project(root: Path, tmp_path: Path) -> Path:
    """A folder with the Makefile, what it depends on, and a stand-in for Python."""
    (tmp_path / "requirements").mkdir()
    for name in ("Makefile", "pyproject.toml", *LOCKS):
        shutil.copy(root / name, tmp_path / name)
    python = tmp_path / "python"
    python.write_text(FAKE_PYTHON, encoding="utf-8")
    python.chmod(0o755)
    return tmp_path


def setup(project: Path) -> subprocess.CompletedProcess[str]:
    return make("setup", "PYTHON=./python", "VENV=env", cwd=project)


def calls(project: Path, word: str) -> int:
    return (project / "calls").read_text(encoding="utf-8").count(word)


def test_help_is_what_make_says_first_and_names_every_target(root: Path) -> None:
    text = (root / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^\.PHONY: (\S+)$", text, re.MULTILINE))

    said = make(cwd=root).stdout

    assert set(re.findall(r"^  make (\S+) +\S", said, re.MULTILINE)) == targets


def test_check_runs_format_lint_types_layers_and_tests(root: Path) -> None:
    planned = make("--dry-run", "check", cwd=root).stdout

    for tool in ("ruff format --check", "ruff check", "mypy", "lint-imports", "pytest"):
        assert f"/{tool}" in planned


def test_without_a_usable_python_it_says_what_to_install(project: Path) -> None:
    ended = make("setup", "PYTHON=/nowhere/python3", "VENV=env", cwd=project)

    assert ended.returncode != 0
    assert "No Python 3.11 or newer" in ended.stderr
    assert "make PYTHON=" in ended.stderr


def test_an_interrupted_set_up_is_done_again_from_its_start(project: Path) -> None:
    (project / "offline").touch()
    assert setup(project).returncode != 0
    (project / "offline").unlink()

    again = setup(project)

    assert again.returncode == 0
    assert calls(project, "-m venv --clear") == 2


def test_a_finished_set_up_is_not_done_again(project: Path) -> None:
    setup(project)

    again = setup(project)

    assert again.returncode == 0
    assert "Setting up" not in again.stdout
    assert calls(project, "-m venv") == 1


def test_a_changed_lock_makes_the_environment_anew(project: Path) -> None:
    setup(project)
    lock = project / "requirements/dev.lock"
    later = (project / "env" / ".installed").stat().st_mtime + 10
    os.utime(lock, (later, later))

    setup(project)

    assert calls(project, "-m venv --clear") == 2


def test_set_up_installs_by_hash_only(project: Path) -> None:
    setup(project)

    installs = [
        line
        for line in (project / "calls").read_text(encoding="utf-8").splitlines()
        if "-m pip" in line
    ]
    assert len(installs) == 3
    assert "--require-hashes -r requirements/uv.lock" in installs[0]
    assert "--require-hashes -r requirements/dev.lock" in installs[1]
    assert "--no-deps --no-build-isolation" in installs[2]


def test_where_uv_works_pip_installs_nothing_else(project: Path) -> None:
    python = project / "python"
    said = '#!/bin/sh\\necho uv "$*" >> calls\\n'
    uv = f"printf '{said}' > env/bin/uv; chmod +x env/bin/uv"
    python.write_text(
        FAKE_PYTHON.replace("env/bin/python ;;", f"env/bin/python; {uv} ;;")
    )

    setup(project)

    assert calls(project, "uv pip install") == 1
    assert calls(project, "--require-hashes -r requirements/dev.lock") == 1
    assert calls(project, "-m pip") == 2


def test_ci_fails_when_the_gate_fails_and_says_what_ran_when_it_passes(
    root: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "project"
    (folder / ".ci").mkdir(parents=True)
    shutil.copy(root / ".ci" / "run", folder / ".ci")
    gate = tmp_path / "make"
    gate.write_text('#!/bin/sh\necho "$*" >> calls\ntest ! -e broken\n')
    gate.chmod(0o755)
    for tool in ("chromium", "npx"):
        (tmp_path / tool).symlink_to(gate)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"

    passed = run(str(folder / ".ci" / "run"), cwd=tmp_path, path=path)
    (folder / "broken").touch()
    failed = run(str(folder / ".ci" / "run"), cwd=tmp_path, path=path)

    assert passed.returncode == 0
    suites = (
        *("check", "endurance", "foreign-quick", "foreign-unheard"),
        *("foreign-drawn", "foreign"),
        *("contract-matrix", "simulate", "books", "sweeps", "torture", "manifests"),
        *("evening", "browser", "prism"),
    )
    ran = ", ".join(f"make {suite}" for suite in suites)
    assert passed.stdout.startswith(f"passed: {ran} (image not built")
    calls = (folder / "calls").read_text("utf-8").splitlines()
    assert [call.split()[0] for call in calls] == [
        *suites,
        "check",
    ]
    assert failed.returncode != 0
    assert "passed" not in failed.stdout
