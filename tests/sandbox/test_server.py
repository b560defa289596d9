"""The sandbox over real HTTP: races, ports, signals, restarts."""

import json
import signal
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path

import anyio
import httpx2 as httpx
import pytest

from journeyman.sandbox import SandboxError, SandboxOptions, serving

JOIN = "/functions/v1/create-free-agent-public"
CLAIM = "/functions/v1/claim-task-public"
DISCOVER = "/functions/v1/get-marketplace-tasks"


async def new_token(client: httpx.AsyncClient) -> dict[str, str]:
    token = (await client.post(JOIN, json={})).json()["access_token"]
    return {"Authorization": f"Bearer {token}"}


@pytest.mark.endurance
async def test_one_of_fifty_claims_at_once_wins() -> None:
    answers: list[int] = []
    async with (
        serving(SandboxOptions(tasks=1)) as base_url,
        httpx.AsyncClient(base_url=base_url) as client,
    ):
        tokens = [await new_token(client) for _ in range(50)]
        listed = (await client.get(DISCOVER, headers=tokens[0])).json()
        body = {"task_id": listed["tasks"][0]["id"]}

        async def claim(headers: dict[str, str]) -> None:
            answer = await client.post(CLAIM, json=body, headers=headers)
            answers.append(answer.status_code)

        async with anyio.create_task_group() as group:
            for headers in tokens:
                group.start_soon(claim, headers)

    assert sorted(answers) == [200] + [409] * 49


async def test_the_documents_name_the_address_that_was_bound() -> None:
    async with (
        serving(SandboxOptions(tasks=0)) as base_url,
        httpx.AsyncClient(base_url=base_url) as client,
    ):
        agent = (await client.get("/.well-known/agent.json")).json()

    assert agent["url"] == base_url
    assert not base_url.endswith(":0")


async def test_a_chosen_base_url_is_kept() -> None:
    options = SandboxOptions(tasks=0, base_url="http://sandbox.test/")
    async with serving(options) as base_url:
        assert base_url == "http://sandbox.test"


async def test_a_body_that_is_too_large_is_told_so_over_tcp() -> None:
    async with (
        serving(SandboxOptions(tasks=0)) as base_url,
        httpx.AsyncClient(base_url=base_url) as client,
    ):
        answer = await client.post(
            JOIN,
            content=b" " * 5_000_000,
            headers={"Content-Type": "application/json"},
        )

    assert answer.status_code == 413


async def test_a_taken_port_is_told_with_what_to_do() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        with pytest.raises(SandboxError) as caught:
            async with serving(SandboxOptions(tasks=0), "127.0.0.1", port):
                pass

    assert caught.value.problem == f"port {port} on 127.0.0.1 is taken"
    assert "another port" in caught.value.fix


@pytest.mark.parametrize(
    ("host", "port"), [("127.0.0.1", 70_000), ("192.0.2.1", 0), ("no.invalid", 0)]
)
async def test_an_address_that_cannot_be_listened_on_is_told(
    host: str, port: int
) -> None:
    with pytest.raises(SandboxError) as caught:
        async with serving(SandboxOptions(tasks=0), host, port):
            pass

    assert str(port) in caught.value.problem
    assert caught.value.fix


@pytest.mark.parametrize(
    "stop",
    [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.endurance)],
)
def test_a_signal_stops_it_cleanly_and_a_restart_continues(
    stop: signal.Signals, tmp_path: Path
) -> None:
    options = ["--json", "--port", "0", "--tasks", "5"]
    command = [sys.executable, "-m", "journeyman", "sandbox", *options]
    command += ["--data", str(tmp_path / "sandbox.db")]
    headers: dict[str, str] = {}
    seen = []
    for _ in range(2):
        with subprocess.Popen(  # noqa: S603 - this interpreter and our own program
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            base_url = json.loads(process.stdout.readline())["base_url"]
            with httpx.Client(base_url=base_url) as client:
                if not headers:
                    token = client.post(JOIN, json={}).json()["access_token"]
                    headers = {"Authorization": f"Bearer {token}"}
                seen.append(client.get(DISCOVER, headers=headers).json()["tasks"])
                process.send_signal(stop)
                assert process.wait(timeout=60) == 0, process.stderr.read()
            assert process.stdout.read() == ""
            assert process.stderr.read() == ""

    assert seen[0] == seen[1]
    assert len(seen[0]) == 5


async def test_data_has_one_sandbox_at_a_time(tmp_path: Path) -> None:
    options = SandboxOptions(data=tmp_path / "sandbox.db", tasks=1)
    async with serving(options):
        with pytest.raises(SandboxError, match="cannot be used") as caught:
            async with serving(options):
                pass

    assert "no other sandbox" in caught.value.fix


async def test_a_token_is_nowhere_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "sandbox.db"
    async with (
        serving(SandboxOptions(data=path, tasks=0)) as base_url,
        httpx.AsyncClient(base_url=base_url) as client,
    ):
        headers = {"Idempotency-Key": "an-unguessable-key"}
        agent = (await client.post(JOIN, json={}, headers=headers)).json()

    content = path.read_bytes()
    assert agent["agent_id"].encode() in content
    assert agent["access_token"].encode() not in content
    assert b"an-unguessable-key" not in content


@pytest.mark.parametrize("content", [b"not a database at all" * 99, None])
async def test_foreign_data_is_refused_and_left_alone(
    content: bytes | None, tmp_path: Path
) -> None:
    path = tmp_path / "other.db"
    if content is None:
        with sqlite3.connect(path) as db:
            db.execute("CREATE TABLE precious (thing)")
        db.close()
    else:
        path.write_bytes(content)
    before = path.read_bytes()

    with pytest.raises(SandboxError, match=r"other\.db"):
        async with serving(SandboxOptions(data=path)):
            pass

    assert path.read_bytes() == before


async def test_data_of_an_earlier_version_is_refused_by_its_version(
    tmp_path: Path,
) -> None:
    path = tmp_path / "old.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE tasks (made)")
        db.execute("PRAGMA user_version = 1")
    db.close()

    with pytest.raises(SandboxError, match=r"old\.db.*schema version 1") as caught:
        async with serving(SandboxOptions(data=path)):
            pass

    assert "a new file" in caught.value.fix


async def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="nowhere"):
        async with serving(SandboxOptions(data=tmp_path / "nowhere" / "x.db")):
            pass
