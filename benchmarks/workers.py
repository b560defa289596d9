"""Workers that do the same tasks of the same network, each as its users would write it.

Each runs in a process of its own and prints one JSON object: `seconds`, `cpu_seconds`
(of this process) and `tasks`. What is measured lies between the start of the first task
and the end of the last; joining and importing are not.

    python benchmarks/workers.py httpx2 http://127.0.0.1:8000 --slots 8 --tasks 600
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Awaitable, Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import anyio
import httpx2 as httpx
from daemons import daemon  # type: ignore[import-not-found] # beside this file

from journeyman.observability.events import Event, Log

FUNCTIONS = "/functions/v1"
JOIN = f"{FUNCTIONS}/create-free-agent-public"
LISTING = f"{FUNCTIONS}/get-marketplace-tasks"
ACTIONS = tuple(
    f"{FUNCTIONS}/{action}-public"
    for action in ("claim-task", "submit-task-result", "complete-task")
)
PAGE = 200

Task = dict[str, Any]
Ask = Callable[[str, dict[str, object] | None], Awaitable[Any]]
"""Sends one request, a GET without a body, and returns the JSON that was answered."""


class Stopwatch:
    """Wall and CPU time since it was started."""

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Begin at nought."""
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def read(self, tasks: int) -> dict[str, float]:
        """Return what has passed."""
        cpu = time.process_time() - self._cpu
        wall = time.perf_counter() - self._wall
        return {"seconds": wall, "cpu_seconds": cpu, "tasks": tasks}


def body_of(path: str, task: Task) -> dict[str, object]:
    """Return what is sent to one of the three actions."""
    body: dict[str, object] = {"task_id": task["task_id"]}
    if path == ACTIONS[1]:
        body["result"] = len(task["input"]["text"].split())
    return body


async def do_all(ask: Ask, slots: int, tasks: int) -> dict[str, float]:
    """List, claim, submit and complete so many tasks, so many of them at once."""
    watch, left, work = Stopwatch(), tasks, list[Task]()

    async def fill_a_slot() -> None:
        nonlocal left
        while left > 0:
            left -= 1
            if not work:
                work.extend((await ask(LISTING, None))["tasks"])
            task = work.pop()
            for path in ACTIONS:
                await ask(path, body_of(path, task))

    async with asyncio.TaskGroup() as group:
        for _ in range(slots):
            group.create_task(fill_a_slot())
    return watch.read(tasks)


async def with_httpx2(url: str, slots: int, tasks: int) -> dict[str, float]:
    """Do them in a bare loop of the HTTP library that the daemon uses."""
    limits = httpx.Limits(max_connections=slots + 4)
    async with httpx.AsyncClient(base_url=url, limits=limits) as client:

        async def ask(path: str, body: dict[str, object] | None) -> Any:  # noqa: ANN401 - any JSON
            if body is None:
                reply = await client.get(path, params={"limit": PAGE})
            else:
                reply = await client.post(path, json=body)
            return reply.raise_for_status().json()

        joined = await ask(JOIN, {})
        client.headers["Authorization"] = f"Bearer {joined['access_token']}"
        return await do_all(ask, slots, tasks)


async def with_aiohttp(url: str, slots: int, tasks: int) -> dict[str, float]:
    """Do them in a bare loop of another HTTP library."""
    aiohttp: Any = import_module("aiohttp")
    connector = aiohttp.TCPConnector(limit=slots + 4)
    async with aiohttp.ClientSession(url, connector=connector) as client:

        async def ask(path: str, body: dict[str, object] | None) -> Any:  # noqa: ANN401 - any JSON
            method = "GET" if body is None else "POST"
            query = {"limit": PAGE} if body is None else None
            async with client.request(method, path, json=body, params=query) as reply:
                reply.raise_for_status()
                return await reply.json()

        joined = await ask(JOIN, {})
        client.headers["Authorization"] = f"Bearer {joined['access_token']}"
        return await do_all(ask, slots, tasks)


async def by_polling(url: str, _slots: int, tasks: int) -> dict[str, float]:
    """Do them one after the other, as a script of twenty lines would."""
    with httpx.Client(base_url=url) as client:
        token = client.post(JOIN, json={}).json()["access_token"]
        client.headers["Authorization"] = f"Bearer {token}"
        watch, done = Stopwatch(), 0
        while done < tasks:
            listed = client.get(LISTING, params={"limit": PAGE}).json()["tasks"]
            for task in listed[: tasks - done]:
                for path in ACTIONS:
                    client.post(path, json=body_of(path, task)).raise_for_status()
                done += 1
        return watch.read(tasks)


async def with_dbos(url: str, slots: int, tasks: int) -> dict[str, float]:
    """Do them as durable workflows of three steps, on SQLite."""
    dbos: Any = import_module("dbos").DBOS
    with tempfile.TemporaryDirectory() as folder:
        database = f"sqlite:///{folder}/dbos.sqlite"
        config: Any = {"name": "bench", "system_database_url": database}
        dbos(config=config | {"log_level": "ERROR", "run_admin_server": False})
        limits = httpx.Limits(max_connections=slots + 4)
        async with httpx.AsyncClient(base_url=url, limits=limits) as client:

            async def send(path: str, body: dict[str, object]) -> Any:  # noqa: ANN401 - any JSON
                return (await client.post(path, json=body)).raise_for_status().json()

            step = dbos.step()(send)

            async def do_one(task: Task) -> None:
                for path in ACTIONS:
                    await step(path, body_of(path, task))

            joined = (await client.post(JOIN, json={})).json()
            client.headers["Authorization"] = f"Bearer {joined['access_token']}"
            dbos.launch()
            try:
                return await _durably(client, dbos.workflow()(do_one), slots, tasks)
            finally:
                dbos.destroy()


async def _durably(
    client: httpx.AsyncClient,
    do_one: Callable[[Task], Awaitable[None]],
    slots: int,
    tasks: int,
) -> dict[str, float]:
    watch, left, work = Stopwatch(), tasks, list[Task]()

    async def fill_a_slot() -> None:
        nonlocal left
        while left > 0:
            left -= 1
            if not work:
                listed = await client.get(LISTING, params={"limit": PAGE})
                work.extend(listed.json()["tasks"])
            await do_one(work.pop())

    async with asyncio.TaskGroup() as group:
        for _ in range(slots):
            group.create_task(fill_a_slot())
    return watch.read(tasks)


class TimedLog:
    """A log that reads a stopwatch when the daemon starts and stops working."""

    def __init__(self, log: Log, watch: Stopwatch, found: dict[str, float]) -> None:
        self._log, self._watch, self._found = log, watch, found

    def emit(self, event: Event, **fields: object) -> None:
        """Write one event, and take the time of two of them."""
        if event.name == "daemon.started":
            self._watch.start()
        if event.name == "daemon.stopped":
            self._found |= self._watch.read(int(str(fields["ended"])))
        self._log.emit(event, **fields)

    def bind(self, **context: object) -> "TimedLog":
        """Return a log that adds these fields, and tells the same stopwatch."""
        return TimedLog(self._log.bind(**context), self._watch, self._found)


async def as_daemon(url: str, slots: int, tasks: int) -> dict[str, float]:
    """Let the daemon do them, with its journal and its log on disk."""
    found: dict[str, float] = {}
    settings = {
        "network.limit": PAGE,
        "network.max_connections": slots + 4,
        "work.slots": slots,
        "work.max_tasks": tasks,
    }
    with tempfile.TemporaryDirectory() as name:

        def timed(log: Log) -> TimedLog:
            return TimedLog(log, Stopwatch(), found)

        await daemon(url, Path(name), timed, settings)
    return found


WORKERS = {
    "daemon": as_daemon,
    "httpx2": with_httpx2,
    "aiohttp": with_aiohttp,
    "polling": by_polling,
    "dbos": with_dbos,
}


def main() -> None:
    """Run one worker, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("worker", choices=WORKERS)
    parser.add_argument("url")
    parser.add_argument("--slots", type=int, default=8)
    parser.add_argument("--tasks", type=int, default=600)
    chosen = parser.parse_args()
    work = WORKERS[chosen.worker]
    print(json.dumps(anyio.run(work, chosen.url, chosen.slots, chosen.tasks)))


if __name__ == "__main__":
    main()
