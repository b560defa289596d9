"""Fixtures whose context must be entered and left in one and the same task."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeVar

T = TypeVar("T")


@asynccontextmanager
async def in_one_task(context: AbstractAsyncContextManager[T]) -> AsyncIterator[T]:
    """Enter and leave `context` in a task of its own.

    pytest-asyncio sets a fixture up in one task and tears it down in another, which
    anyio's task groups and cancel scopes refuse.
    """
    opened: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    close = asyncio.Event()

    async def keep_open() -> None:
        try:
            async with context as value:
                opened.set_result(value)
                await close.wait()
        except Exception as error:
            if opened.done():
                raise
            opened.set_exception(error)

    task = asyncio.create_task(keep_open())  # noqa: TID251 - what this module is for
    try:
        yield await opened
    finally:
        close.set()
        await task
