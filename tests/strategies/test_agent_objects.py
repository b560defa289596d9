"""The recipes for objects of agent libraries: installed, confined, and paid.

Their libraries are none of Journeyman's: `strategies sync` takes them from the package
index, as a reader of the page would.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.every import whole_only
from tests.one_task import in_one_task
from tests.strategies.llm_provider import READ, WRITTEN, Provider, provider, refuses

# Long: an index may be slow, and pip is slower than uv.
pytestmark = [pytest.mark.endurance, pytest.mark.timeout(1_200), whole_only]

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "agents.md"
FILE = re.compile(r"^```\w+\n(# (\S+)\n.*?)^```", re.MULTILINE | re.DOTALL)
ABOUT_LIBRARIES = PAGE.read_text("utf-8").partition("## An object of a library")[2]
KINDS = {
    "my_agent": "question_answering",
    "my_graph": "rewriting",
    "my_openai_agent": "classification",
}
SMALL = '# /// script\n# dependencies = ["langchain-protocol"]\n# ///\n'
"""Names the smallest of what the recipes need, to ask whether an index is there."""


@dataclass(frozen=True)
class Owner:
    """Somebody with a folder, a key, and a terminal in it."""

    folder: Path
    environment: dict[str, str]

    async def type(self, *words: str) -> Any:  # noqa: ANN401 - JSON
        """Type a command that succeeds; return what it answers."""
        done = await anyio.run_process(
            [sys.executable, "-m", "journeyman", *words],
            cwd=self.folder,
            env=self.environment,
            check=False,
        )
        assert done.returncode == 0, (done.stdout + done.stderr).decode()
        return json.loads(done.stdout) if "--json" in words else None


def environment_for(folder: Path, **more: str) -> dict[str, str]:
    data = {"JOURNEYMAN_DATA__DIRECTORY": str(folder / "data")}
    return os.environ | data | {"XDG_CONFIG_HOME": str(folder)} | more


def path_to_an_installer(folder: Path) -> str:
    """Return a PATH with an installer that reaches its index: with uv, or without.

    uv does not read pip's configuration, which may be the one that names the index.
    """
    strategy = folder / "strategies" / "small.py"
    strategy.parent.mkdir(parents=True)
    strategy.write_text(SMALL)
    said = ""
    for path in (f"{Path(sys.executable).parent}:{os.defpath}", os.defpath):
        done = subprocess.run(
            [sys.executable, "-m", "journeyman", "strategies", "sync"],
            cwd=folder,
            env=environment_for(folder, PATH=path, UV_NO_CACHE="1"),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            return path
        said += done.stdout
    pytest.skip(f"no package index can be reached: {said}")


@pytest.fixture
async def model() -> AsyncIterator[Provider]:
    async with in_one_task(provider()) as made:
        yield made


@pytest.fixture
def owner(tmp_path: Path, model: Provider) -> Owner:
    """Someone who has written down the files of the page."""
    path = path_to_an_installer(tmp_path / "probe")
    folder = tmp_path / "mine"
    for text, name in FILE.findall(ABOUT_LIBRARIES):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    told = {"OPENAI_API_KEY": "the owner's", "OPENAI_BASE_URL": model.url}
    told |= {"OPENAI_AGENTS_DISABLE_TRACING": "1", "PATH": path}
    return Owner(folder, environment_for(folder, **told))


@pytest.fixture
def network() -> Iterator[str]:
    """The address of a sandbox with a task of each kind that the recipes want."""
    options = ("--tasks", "3", "--kinds", ",".join(KINDS.values()))
    words = ("sandbox", "--json", "--port", "0", *options, "--until-stdin-closes")
    with subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-m", "journeyman", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["base_url"]
        assert process.stdin is not None
        process.stdin.close()


async def expect_to_wait(owner: Owner, name: str, kind: str) -> None:
    tried = await owner.type("try", name, "--kind", kind, "--text", "x", "--json")
    assert (tried["run"], tried["cost"]) == ("retry_later", 0)


async def test_they_wait_for_a_busy_model_ask_it_with_the_owners_key_and_are_paid(
    owner: Owner, model: Provider, network: str
) -> None:
    await owner.type("strategies", "sync")
    model.replies.append(refuses(429, x_should_retry="false"))
    async with anyio.create_task_group() as group:
        for name, kind in KINDS.items():
            group.start_soon(expect_to_wait, owner, name, kind)
    model.replies.clear()
    model.asked.clear()

    await owner.type("run", "--once", "--base-url", network)

    earned = await owner.type("ledger", "--by", "strategy", "--json")
    of = {row["strategy"]: row for row in earned["sums"]}
    cost = pytest.approx((READ * 0.025 + WRITTEN * 0.2) / 1_000)
    assert {name: of[name]["cost"] for name in KINDS} == dict.fromkeys(KINDS, cost)
    assert all(of[name]["received"] > 0 for name in KINDS)
    assert {asked.authorization for asked in model.asked} == {"Bearer the owner's"}
    assert len(model.asked) == len(KINDS)
