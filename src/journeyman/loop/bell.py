"""A bell: one coroutine waits, others ring; rings while nobody waits are not lost."""

import anyio


class Bell:
    """An event that resets itself when it was heard."""

    def __init__(self) -> None:
        self._event = anyio.Event()

    def ring(self) -> None:
        """Wake whoever waits, or the next one to do so."""
        self._event.set()

    async def wait(self, timeout: float | None = None) -> bool:  # noqa: ASYNC109 - a bell that is not rung is a normal end
        """Wait for a ring, at most `timeout` seconds; tell whether it rang.

        The limit counts on the loop's monotonic time, so that a wall clock that is
        set back can stall nothing.
        """
        with anyio.move_on_after(timeout):
            await self._event.wait()
        rang = self._event.is_set()
        self._event = anyio.Event()
        return rang
