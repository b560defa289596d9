"""The bridge: a process beside the daemon that is the client of its owner's scheduler.

Dask's client unpickles what a scheduler sends, and who controls that can run code in
it. So it is not in the daemon: this process has neither the token nor the journal nor
the daemon's environment, is confined like a strategy's child, and passes on JSON. It
ends when the daemon closes its input, and all that it asked for ends with it.
"""

import json
import logging
import os
import sys
import traceback
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any, NoReturn

import anyio
import dask
import distributed
from anyio.abc import TaskGroup
from distributed import Client, Future
from distributed.security import Security

import journeyman
from journeyman.strategies.child import messages
from journeyman.strategies.child.confinement import common_places, confine
from journeyman.strategies.cluster import remote

POLL_SECONDS = 2.0
"""How often the scheduler is asked which workers it has; and whether it answers."""
RETRY_SECONDS = 5.0
"""Between two attempts to connect."""
MEMORY_MB = 4_096
PIECE = 65_536
PACKAGES = ("journeyman", "distributed", "dask")
"""Whose versions must be equal; of Python the first two numbers."""


def main() -> NoReturn:
    """Serve the daemon over standard input and output until it closes the input."""
    replies = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    code = 1
    try:
        config = messages.read_frame(sys.stdin.fileno())
        if config is not None:
            _confine(config)
            anyio.run(_Bridge(config, replies).serve)
        code = 0
    except BaseException as error:  # noqa: BLE001 - the daemon is told
        trace = "".join(traceback.format_exception(error))
        with suppress(OSError):
            messages.write_all(replies, messages.pack({"crashed": trace}))
    finally:
        # Dask has threads that do not end by themselves.
        os._exit(code)


def _confine(config: Mapping[str, Any]) -> None:
    """Give up what a client does not need: files, signals, privileges."""
    confine(
        messages.ChildConfig(
            strategy="cluster",
            file=__file__,
            distribution="",
            params={},
            home=os.devnull,
            private=config["private"],
            files=[path for path in config["tls"].values() if path],
            hosts=("*",),
            untouchable=(),
            memory_mb=MEMORY_MB,
            open_files=1024,
        ),
        common_places(),
    )


class _LostError(Exception):
    """The scheduler cannot be used any more; the message says why."""


class _Bridge:
    """One daemon's orders, and the connection to its scheduler."""

    def __init__(self, config: Mapping[str, Any], replies: int) -> None:
        self._config = config
        self._replies = replies
        self._client: Client | None = None
        self._topic = ""
        self._usable: list[str] = []
        """Addresses of the workers whose versions are ours."""
        self._mismatched = False
        self._runs: dict[int, anyio.CancelScope] = {}

    async def serve(self) -> None:
        """Carry orders until the daemon closes its end."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._stay_connected)
            async for message in _frames(sys.stdin.fileno()):
                self._take(message, group)
            group.cancel_scope.cancel()

    def _take(self, message: messages.Message, group: TaskGroup) -> None:
        match message:
            case {"order": dict(order), "resources": dict(resources)}:
                run = order["request"]["run"]
                group.start_soon(self._carry, run, messages.pack(order), resources)
            case {"cancel": int(run)} if run in self._runs:
                self._runs[run].cancel()
            case _:
                pass

    def _tell(self, **message: object) -> None:
        messages.write_all(self._replies, messages.pack(message))

    # -- the connection ----------------------------------------

    async def _stay_connected(self) -> None:
        while True:
            try:
                await self._connect()
                await self._watch()
            except (_LostError, OSError, TimeoutError, ValueError) as error:
                self._tell(lost=_text(error))
            client, self._client = self._client, None
            for scope in self._runs.values():
                scope.cancel()
            if client is not None:
                await _close(client)
            await anyio.sleep(RETRY_SECONDS)

    async def _connect(self) -> None:
        tls, seconds = self._config["tls"], self._config["connect_seconds"]
        has_tls = any(tls.values())
        security = Security(
            tls_ca_file=tls["ca"],
            tls_client_cert=tls["certificate"],
            tls_client_key=tls["key"],
            require_encryption=has_tls,
        )
        client = Client(
            self._config["scheduler"],
            security=security if has_tls else None,
            asynchronous=True,
            set_as_default=False,
            timeout=seconds,
            name=remote.NAME,
        )
        self._client = await client
        self._topic = f"{remote.NAME} {client.id}"
        client.subscribe_topic(self._topic, self._report)

    async def _watch(self) -> None:
        """Tell the daemon which workers there are, until the scheduler is lost."""
        told: object = None
        scheduler = known = None
        mismatches: dict[str, list[str]] = {}
        while True:
            identity = await self._identity()
            if scheduler not in (None, identity["id"]):
                raise _LostError("the scheduler was started anew")
            scheduler = identity["id"]
            workers = identity["workers"]
            if known != sorted(workers):
                # One that was just lost is asked too, until the scheduler knows that;
                # then no answer comes in time, and all are asked at the next look.
                with suppress(TimeoutError):
                    mismatches = await self._mismatches()
                    known = sorted(workers)
            self._usable = [one for one in known or () if one not in mismatches]
            self._mismatched = len(self._usable) < len(workers)
            seen = {
                "workers": [
                    _worker(workers[one], one)
                    for one in self._usable
                    if one in workers and workers[one]["status"] == "running"
                ],
                "mismatches": sorted({one for m in mismatches.values() for one in m}),
            }
            if seen != told:
                told = seen
                self._tell(cluster=seen)
            await anyio.sleep(POLL_SECONDS)

    async def _identity(self) -> dict[str, Any]:
        assert self._client is not None  # noqa: S101 - only called while connected
        with anyio.fail_after(self._config["connect_seconds"]):
            if self._client.status != "running":
                raise _LostError("the connection to the scheduler was lost")
            identity: dict[str, Any] = await self._client.scheduler.identity(
                n_workers=-1
            )
            return identity

    async def _mismatches(self) -> dict[str, list[str]]:
        """Return what is not as here: by the worker's address, or `scheduler`."""
        assert self._client is not None  # noqa: S101 - as above
        with anyio.fail_after(self._config["connect_seconds"]):
            versions = await self._client.get_versions(packages=["journeyman"])
        found = {
            where: list(_differences(where, info))
            for where, info in {
                "scheduler": versions["scheduler"],
                **versions["workers"],
            }.items()
        }
        return {where: listed for where, listed in found.items() if listed}

    # -- the runs ----------------------------------------

    async def _carry(self, run: int, order: bytes, resources: dict[str, float]) -> None:
        client = self._client
        if client is None:
            self._tell(run=run, lost="there is no connection to the scheduler")
            return
        key = f"{remote.NAME}-{client.id}-{run}"
        with anyio.CancelScope() as scope:
            self._runs[run] = scope
            future = client.submit(
                remote.carry_out,
                order,
                key,
                self._topic,
                key=key,
                pure=False,
                resources=resources or None,
                workers=self._usable if self._mismatched else None,
            )
            try:
                self._pass_on(run, await future)
            except Exception as error:  # noqa: BLE001 - whatever the cluster sends
                self._tell(run=run, lost=_text(error))
            finally:
                del self._runs[run]
                await _give_up(future)
        if scope.cancelled_caught:
            self._tell(run=run, lost="the connection to the scheduler was lost")

    def _pass_on(self, run: int, answer: object) -> None:
        if not isinstance(answer, bytes):
            raise _LostError(f"the worker answered with a {type(answer).__name__}")
        self._tell(run=run, answer=messages.unpack(answer))

    def _report(self, event: tuple[float, str]) -> None:
        """Pass on what a worker reports of a run; the daemon checks it."""
        with suppress(ValueError, TypeError):
            message = json.loads(event[1])
            if isinstance(message, dict) and message.get("run") in self._runs:
                self._tell(
                    **{
                        name: message[name]
                        for name in ("run", "began", "report")
                        if name in message
                    }
                )


async def _close(client: Client) -> None:
    with anyio.CancelScope(shield=True), anyio.move_on_after(2), suppress(Exception):
        await client.close(timeout=1)


async def _give_up(future: Future) -> None:
    """Let the cluster forget a run; what still runs, its worker then ends."""
    with anyio.CancelScope(shield=True), anyio.move_on_after(2), suppress(Exception):
        if future.done():
            future.release()
        else:
            await future.cancel()


async def _frames(descriptor: int) -> AsyncIterator[messages.Message]:
    os.set_blocking(descriptor, False)
    buffer = messages.FrameBuffer()
    while True:
        while (message := buffer.take()) is not None:
            yield message
        await anyio.wait_readable(descriptor)
        piece = os.read(descriptor, PIECE)
        if not piece:
            return
        buffer.add(piece)


def _worker(info: Mapping[str, Any], address: str) -> dict[str, object]:
    threads, resources = info["nthreads"], dict(info.get("resources") or {})
    return {"address": address, "threads": threads, "resources": resources}


def _differences(where: str, info: Mapping[str, Any]) -> list[str]:
    """Return in words which versions are not ours."""
    there = info.get("packages") or {}
    ours = {
        "journeyman": journeyman.__version__,
        "distributed": distributed.__version__,
        "dask": dask.__version__,
    }
    python = ".".join(str(there.get("python")).split(".")[:2])
    pairs = [(name, there.get(name), ours[name]) for name in PACKAGES]
    pairs.append(("python", python, ".".join(map(str, sys.version_info[:2]))))
    return [
        f"{where} has {f'{name} {found}' if found else f'no {name}'}, here is {mine}"
        for name, found, mine in pairs
        if found != mine
    ]


def _text(error: BaseException) -> str:
    return str(error) or type(error).__name__
