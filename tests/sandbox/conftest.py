"""A sandbox in memory, and agents on it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import httpx2 as httpx
import pytest
from tests.one_task import in_one_task

from journeyman.sandbox import SandboxOptions, create_app

BASE_URL = "http://127.0.0.1:8080"
Join = Callable[[httpx.AsyncClient], Awaitable[httpx.AsyncClient]]


@pytest.fixture
async def open_sandbox() -> AsyncIterator[Callable[..., Awaitable[httpx.AsyncClient]]]:
    """Open sandboxes with the options that a test names."""
    async with AsyncExitStack() as stack:

        async def opened(
            **options: Any,  # noqa: ANN401 - as SandboxOptions takes them
        ) -> httpx.AsyncClient:
            app = create_app(SandboxOptions(**options))
            running = in_one_task(app.router.lifespan_context(app))
            await stack.enter_async_context(running)
            transport = httpx.ASGITransport(app)
            client = httpx.AsyncClient(transport=transport, base_url=BASE_URL)
            return await stack.enter_async_context(client)

        yield opened


@pytest.fixture
async def join() -> AsyncIterator[Join]:
    """Register agents; each comes as a client that sends its token."""
    async with AsyncExitStack() as stack:

        async def joined(visitor: httpx.AsyncClient) -> httpx.AsyncClient:
            answer = await visitor.post(
                "/functions/v1/create-free-agent-public", json={}
            )
            agent = answer.json()
            member = httpx.AsyncClient(
                transport=visitor._transport,
                base_url=BASE_URL,
                headers={
                    "Authorization": f"Bearer {agent['access_token']}",
                    "X-Agent": agent["agent_id"],
                },
            )
            return await stack.enter_async_context(member)

        yield joined


@pytest.fixture
async def visitor(
    open_sandbox: Callable[..., Awaitable[httpx.AsyncClient]],
) -> httpx.AsyncClient:
    """Nobody yet, on a sandbox with a few tasks of counting words."""
    return await open_sandbox(tasks=6, kinds=("word_count",))


@pytest.fixture
async def member(visitor: httpx.AsyncClient, join: Join) -> httpx.AsyncClient:
    """An agent there."""
    return await join(visitor)


@pytest.fixture
async def other(visitor: httpx.AsyncClient, join: Join) -> httpx.AsyncClient:
    """Another agent there."""
    return await join(visitor)
