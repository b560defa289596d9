"""Live updates: first everything, then what has changed, until the daemon stops."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from typing import cast

import anyio
from starlette.responses import StreamingResponse

from journeyman.testing import FakeClock
from journeyman.web.live import MOST_WATCHERS, Live


async def read(stream: AsyncIterator[str]) -> dict[str, str]:
    line = await anext(stream)
    return dict(json.loads(line.removeprefix("data: ")))


def opened(live: Live, shown: dict[str, str]) -> AsyncIterator[str]:
    answer = live.stream(lambda: dict(shown))
    return cast("AsyncIterator[str]", cast("StreamingResponse", answer).body_iterator)


async def test_only_what_has_changed_is_sent_again() -> None:
    clock = FakeClock()
    live, shown = Live(clock), {"bar": "working", "log": "a"}
    stream = opened(live, shown)
    first = await read(stream)
    shown["log"] = "b"

    async with anyio.create_task_group() as group:

        async def wait_a_second() -> None:
            await anyio.wait_all_tasks_blocked()
            clock.advance(1)

        group.start_soon(wait_a_second)
        second = await read(stream)

    assert first == {"bar": "working", "log": "a"}
    assert second == {"log": "b"}
    await cast("AsyncGenerator[str, None]", stream).aclose()


async def test_a_command_is_shown_at_once() -> None:
    live, shown = Live(FakeClock()), {"bar": "working"}
    stream = opened(live, shown)
    await read(stream)
    shown["bar"] = "paused"

    async with anyio.create_task_group() as group:

        async def command() -> None:
            await anyio.wait_all_tasks_blocked()
            live.look()

        group.start_soon(command)
        assert await read(stream) == {"bar": "paused"}
    await cast("AsyncGenerator[str, None]", stream).aclose()


async def test_streams_end_when_the_daemon_stops() -> None:
    live = Live(FakeClock())
    stream = opened(live, {"bar": "working"})
    await read(stream)

    async with anyio.create_task_group() as group:

        async def stop() -> None:
            await anyio.wait_all_tasks_blocked()
            live.close()

        group.start_soon(stop)
        assert [part async for part in stream] == []
    assert live.watchers == 0


async def test_one_page_too_many_is_refused() -> None:
    live = Live(FakeClock())
    live.watchers = MOST_WATCHERS

    assert live.stream(dict).status_code == 503
