"""What runs on a worker of the cluster: a strategy's run, in a confined child there.

A worker imports nothing of a strategy. It keeps the same pools of supervised children
as a daemon, so that limits, time-outs and endings are those of a local child.
"""

import asyncio
import hashlib
import json
import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import anyio
from distributed import Worker, WorkerPlugin, get_worker

from journeyman import __version__
from journeyman.strategies.child import messages
from journeyman.strategies.child.metadata import remove_folder
from journeyman.strategies.loading.installing import (
    InstallerError,
    new_folder,
    require_success,
    told,
)
from journeyman.strategies.loading.libraries import Libraries
from journeyman.strategies.running.child import Isolation
from journeyman.strategies.running.process import EndOfRun, ProcessRunner

NAME = "journeyman"
"""Of the plugin that a worker keeps between runs."""
GONE = frozenset({"cancelled", "released", "forgotten"})
"""States of a task on a worker in which nobody waits for it any more."""


async def carry_out(packed: bytes, key: str, topic: str) -> bytes:
    """Do one run on this worker, and return how it ended, packed.

    Args:
        packed: the order, as `strategies.running.cluster` has packed it.
        key: Dask's name for this run.
        topic: where its client listens for what is reported meanwhile.
    """
    order = messages.unpack(packed)
    if order["version"] != __version__:
        return messages.pack({"mismatch": __version__})
    worker = get_worker()
    if NAME not in worker.plugins:
        # By the first run and not by the client: so it outlives a restart of any part.
        await worker.plugin_add(plugin=ChildrenOfWorker(worker), name=NAME)
    plugin: ChildrenOfWorker = worker.plugins[NAME]
    ended = await plugin.run(order, key, topic)
    return messages.pack({"ended": asdict(ended)})


class ChildrenOfWorker(WorkerPlugin):  # type: ignore[misc] # Dask is not installed for all
    """The children of one worker, and the runs that may be cancelled."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._folder = Path(worker.local_directory) / f"{NAME}-{os.getpid()}"
        self._scopes: dict[str, anyio.CancelScope] = {}
        self._runners: dict[Isolation, tuple[ProcessRunner, anyio.Event]] = {}
        self._closing = anyio.Event()
        self._services: list[asyncio.Task[None]] = []
        self._installs: dict[Path, anyio.Lock] = {}
        """By the folder with the libraries of strategies: taken by who installs it."""

    def transition(
        self,
        key: object,
        start: object,  # noqa: ARG002 - the library's signature
        finish: object,
        **_: object,
    ) -> None:
        """End a run that nobody waits for: it was cancelled, or its client is gone."""
        if finish in GONE and isinstance(key, str) and key in self._scopes:
            self._scopes[key].cancel()

    async def teardown(self, worker: Worker) -> None:  # noqa: ARG002 - as above
        """End all children, with the worker."""
        for scope in self._scopes.values():
            scope.cancel()
        self._closing.set()
        for service in self._services:
            await service
        remove_folder(self._folder)

    async def run(self, order: dict[str, Any], key: str, topic: str) -> EndOfRun:
        """Do one run, and report what it logs, prints and costs meanwhile."""
        run: int = order["request"]["run"]

        def tell(**fields: object) -> None:
            # As text: what comes from a child need not be what msgpack can carry.
            self._worker.log_event(topic, json.dumps({"run": run, **fields}))

        with anyio.CancelScope() as scope:
            self._scopes[key] = scope
            try:
                libraries = await self._libraries(order)
                # Its time begins now: libraries may take longer than a run may.
                tell(began=self._worker.address)
                config = replace(self._config(order), libraries=libraries)
                pools = await self._runner(order)
                assert pools.template is not None  # noqa: S101 - it is, while it is running
                fingerprint = order["fingerprint"]
                name = _digest(config)
                pool = pools.pool_for(name, config, fingerprint, pools.template)
                return await pools.carry_out(
                    pool,
                    messages.pack(order["request"]),
                    run,
                    order["limit"],
                    lambda report: tell(report=report),
                )
            except (InstallerError, OSError) as error:
                tell(began=self._worker.address)
                problem = f"its libraries cannot be installed there\n{error}"
                return EndOfRun("not started", problem)
            finally:
                del self._scopes[key]
        return EndOfRun("gone", "it was cancelled")

    async def _libraries(self, order: dict[str, Any]) -> str:
        """Install what a strategy names, if it is not here yet; return the folder.

        The installer ends with the run that needs it; the next run begins anew.

        Raises:
            InstallerError: it cannot be installed.
        """
        if not order["libraries"]:
            return ""
        named = Libraries(
            tuple(order["libraries"]["requirements"]), order["libraries"]["lock"]
        )
        root = self._folder / "libraries"
        folder = named.folder(root)
        root.mkdir(parents=True, exist_ok=True)
        async with self._installs.setdefault(folder, anyio.Lock()):
            if not folder.is_dir():
                with new_folder(named, folder) as words:
                    environment = told(os.environ)
                    require_success(
                        await anyio.run_process(words, env=environment, check=False)
                    )
        return str(folder)

    def _config(self, order: dict[str, Any]) -> messages.ChildConfig:
        """Write the files of a strategy that are not here yet; return its child's."""
        given = messages.ChildConfig(**order["config"])
        key_file = getattr(self._worker.security, "tls_worker_key", None)
        keys = [key_file] if key_file and Path(key_file).is_file() else []
        return replace(
            given,
            file=str(self._file(order["files"], given.file)),
            private=tuple(str(Path(one).resolve()) for one in keys),
            untouchable=(os.getpid(), os.getpgrp()),
        )

    def _file(self, files: dict[str, str], main: str) -> Path:
        """Write files below a folder of their content's name; return the main one."""
        digest = _digest(files)
        folder = self._folder / "files" / digest
        if not folder.exists() and files:
            new = folder.with_suffix(".new")
            for name, text in files.items():
                path = new / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text.encode("utf-8", "surrogateescape"))
            new.rename(folder)
        return folder / main

    async def _runner(self, order: dict[str, Any]) -> ProcessRunner:
        """Return the pools for these limits; the first run of each starts them."""
        given = order["isolation"]
        lists = {"environment": tuple(given["environment"]), "private": ()}
        isolation = Isolation(**given | lists)
        if isolation not in self._runners:
            homes = self._folder / "homes" / _digest(given)
            runner = ProcessRunner(
                isolation=replace(isolation, homes=homes), grace_seconds=order["grace"]
            )
            is_ready = anyio.Event()
            self._runners[isolation] = runner, is_ready
            # Dask owns this loop: there is no task group of ours to start it in.
            loop = asyncio.get_running_loop()
            self._services.append(loop.create_task(self._serve(runner, is_ready)))
        runner, is_ready = self._runners[isolation]
        await is_ready.wait()
        return runner

    async def _serve(self, runner: ProcessRunner, is_ready: anyio.Event) -> None:
        async with runner.running():
            is_ready.set()
            await self._closing.wait()


def _digest(content: object) -> str:
    """Return a short name for what is equal, as JSON."""
    plain = asdict(content) if isinstance(content, messages.ChildConfig) else content
    text = json.dumps(plain, sort_keys=True).encode()
    return hashlib.blake2b(text, digest_size=8).hexdigest()
