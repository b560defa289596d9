"""A network that is faster than every client: what is measured are the clients.

One process, one event loop, no framework: it reads just enough of HTTP/1.1 to answer
the endpoints of the contract, knows nothing of its agents, and never runs out of tasks.
It prints its address, and ends with its standard input.

    python benchmarks/server.py [--listed 200] [--kind word_count]
"""

import argparse
import asyncio
import itertools
import json
import sys
from typing import cast

WORDS = "a worker who takes jobs is paid by the day and moves on"
AGENT = (
    b'{"agent_id": "agent_1", "access_token": "token-of-the-benchmark", "credits": 100}'
)


class Market:
    """Open tasks, always as many, each new one in place of one that was claimed."""

    def __init__(self, listed: int, kind: str) -> None:
        self._numbers = itertools.count()
        self._kind = kind
        self._listing = b""
        self._open: dict[str, None] = {}
        self._listed = listed

    def listing(self) -> bytes:
        """Return the open tasks as the body of an answer."""
        if len(self._open) < self._listed:
            while len(self._open) < self._listed:
                self._open[f"task_{next(self._numbers)}"] = None
            tasks = [_task(task_id, self._kind) for task_id in self._open]
            self._listing = json.dumps({"tasks": tasks}).encode()
        return self._listing

    def act(self, path: str, body: bytes) -> bytes:
        """Claim, submit or complete a task; return the body of the answer."""
        task_id = json.loads(body)["task_id"]
        if path.endswith("/claim-task-public"):
            self._open.pop(task_id, None)
            return _state(task_id, "claimed")
        if path.endswith("/submit-task-result-public"):
            return _state(task_id, "submitted")
        return _state(task_id, "completed")[:-1] + b', "credits_awarded": 3}'


def _task(task_id: str, kind: str) -> dict[str, object]:
    return {
        "task_id": task_id,
        "title": "Count the words",
        "description": "How many words are there?",
        "kind": kind,
        "reward": 3,
        "input": {"text": WORDS},
        "status": "open",
    }


def _state(task_id: str, state: str) -> bytes:
    return f'{{"task_id": "{task_id}", "status": "{state}"}}'.encode()


class Connection(asyncio.Protocol):
    """One client: requests in, answers out, in their order."""

    def __init__(self, market: Market) -> None:
        self._market = market
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Answer every request that is whole."""
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            head = self._received[:end].decode("latin-1")
            length = _length(head)
            rest = end + 4 + length
            if len(self._received) < rest:
                return
            body, self._received = self._received[end + 4 : rest], self._received[rest:]
            self._answer(head.split(" ", 2)[1].partition("?")[0], body)

    def _answer(self, path: str, body: bytes) -> None:
        status, answer = b"200 OK", b""
        if path.endswith("/create-free-agent-public"):
            answer = AGENT
        elif path.endswith(("-marketplace-tasks", "/public-marketplace")):
            answer = self._market.listing()
        elif path.endswith(("-task-public", "-result-public")):
            answer = self._market.act(path, body)
        else:
            status, answer = b"404 Not Found", b"{}"
        head = b"HTTP/1.1 %b\r\ncontent-type: application/json\r\n" % status
        length = b"content-length: %d\r\n\r\n" % len(answer)
        self._transport.write(head + length + answer)


def _length(head: str) -> int:
    for line in head.split("\r\n")[1:]:
        name, _, value = line.partition(":")
        if name.lower() == "content-length":
            return int(value)
    return 0


async def serve(listed: int, kind: str) -> None:
    """Serve on any free port of this machine until standard input closes."""
    loop, market = asyncio.get_running_loop(), Market(listed, kind)
    server = await loop.create_server(lambda: Connection(market), "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    print(f"http://{host}:{port}", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--listed", type=int, default=200, help="open tasks at a time")
    parser.add_argument("--kind", default="word_count", help="of the tasks")
    chosen = parser.parse_args()
    asyncio.run(serve(chosen.listed, chosen.kind))


if __name__ == "__main__":
    main()
