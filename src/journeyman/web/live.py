"""Live updates: what changed on a page is sent to it as server-sent events."""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import anyio
from starlette.responses import Response, StreamingResponse

from journeyman.domain.clock import Clock

EVERY_SECONDS: Final = 1.0
MOST_WATCHERS: Final = 16
"""Pages that are kept up to date at once; each costs a rendering a second."""
_TOO_MANY: Final = 503

Render = Callable[[], Mapping[str, str]]
"""Returns the HTML of each section of a page, by its id."""


@dataclass(eq=False)
class Live:
    """The pages that are open somewhere."""

    clock: Clock
    watchers: int = 0
    _is_closed: bool = field(init=False, default=False)
    _woken: anyio.Event = field(init=False, default_factory=anyio.Event)

    def close(self) -> None:
        """End all streams: the daemon stops."""
        self._is_closed = True
        self.look()

    def look(self) -> None:
        """Look now: something was commanded."""
        self._woken.set()
        self._woken = anyio.Event()

    def stream(self, render: Render) -> Response:
        """Answer with what changes from now on."""
        if self.watchers >= MOST_WATCHERS:
            return Response("too many pages are open", _TOO_MANY)
        return StreamingResponse(self._changes(render), media_type="text/event-stream")

    async def _changes(self, render: Render) -> AsyncIterator[str]:
        """Yield the sections that are new, and at least a sign of life."""
        shown: Mapping[str, str] = {}
        self.watchers += 1
        try:
            while not self._is_closed:
                now = render()
                new = {
                    name: html for name, html in now.items() if html != shown.get(name)
                }
                shown = now
                yield f"data: {json.dumps(new)}\n\n"
                await self._wait()
        finally:
            self.watchers -= 1

    async def _wait(self) -> None:
        woken = self._woken
        async with anyio.create_task_group() as group:

            async def look() -> None:
                await woken.wait()
                group.cancel_scope.cancel()

            group.start_soon(look)
            await self.clock.sleep(EVERY_SECONDS)
            group.cancel_scope.cancel()
