"""What programs ask for: whether the daemon lives, whether it can earn, its metrics."""

from dataclasses import dataclass

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from journeyman.daemon.commands import OwnerCommands
from journeyman.web.access import Access
from journeyman.web.metrics import Meters, exposition

ALIVE, READY, METRICS = "/healthz", "/readyz", "/metrics"
OK, UNAVAILABLE = 200, 503


@dataclass(frozen=True, eq=False, slots=True)
class Monitoring:
    """Answers on the paths that monitoring systems ask by convention."""

    commands: OwnerCommands
    access: Access
    meters: Meters

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route(ALIVE, self.alive),
            Route(READY, self.ready),
            Route(METRICS, self.metrics),
        ]

    async def alive(self, _request: Request) -> Response:
        """Answer 503 where only a restart can help: the loop for looks is stuck."""
        is_alive = bool(self.commands.health()["healthy"])
        word = "alive" if is_alive else "stuck"
        return PlainTextResponse(f"{word}\n", OK if is_alive else UNAVAILABLE)

    async def ready(self, request: Request) -> Response:
        """Answer 503 where nothing can be earned now; a restart would not help.

        Why is told, by the names of the causes, to whoever may open the page. A probe
        needs the status alone; that a token was refused or a disk is full is nothing
        for a stranger who reaches the port.
        """
        causes = self.commands.parts.find_causes()
        stopping = dict.fromkeys(one.name for one in causes if one.stops_all)
        if not stopping:
            return PlainTextResponse("ready\n")
        is_told = await self.access.is_open_to(request)
        why = f": {', '.join(stopping)}" if is_told else ""
        return PlainTextResponse(f"not ready{why}\n", UNAVAILABLE)

    async def metrics(self, _request: Request) -> Response:
        """Answer with all metrics, in the text format of Prometheus."""
        text = exposition(self.commands.parts, self.meters)
        return Response(text, media_type=CONTENT_TYPE_LATEST)
