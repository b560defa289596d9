"""A wake-up: one coroutine waits, others notify it; no notification is lost."""

import asyncio

from anyio.lowlevel import checkpoint, checkpoint_if_cancelled


class Wakeup:
    """An event that resets itself when it was received.

    The daemon waits for wake-ups more often than for anything else, so this is a bare
    future with a timer: a third of the cost of an event in a scope with a deadline.
    """

    def __init__(self) -> None:
        self._is_notified = False
        self._waiter: asyncio.Future[None] | None = None

    def notify(self) -> None:
        """Wake whoever waits, or the next one to do so."""
        self._is_notified = True
        self._wake()

    async def wait(self, timeout: float | None = None) -> bool:  # noqa: ASYNC109 - a time-out is a normal end
        """Wait at most `timeout` seconds; return whether it was notified.

        The limit counts on the loop's monotonic time, so that a wall clock that is
        set back can stall nothing.
        """
        if self._is_notified:
            await checkpoint()
        else:
            await self._notified_or_timeout(timeout)
            # A notification that comes together with a cancellation would hide it. A
            # loop that then starts what is cancelled at once would go on forever.
            await checkpoint_if_cancelled()
        was_notified, self._is_notified = self._is_notified, False
        return was_notified

    async def _notified_or_timeout(self, seconds: float | None) -> None:
        loop = asyncio.get_running_loop()
        self._waiter = loop.create_future()
        timer = None if seconds is None else loop.call_later(seconds, self._wake)
        try:
            await self._waiter
        finally:
            self._waiter = None
            if timer is not None:
                timer.cancel()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
