"""The daemon's wire into the simulated network, with whatever weather is over it."""

from collections.abc import Callable
from random import Random

import httpx2 as httpx
from tests.simulation.faults import FAULTS
from tests.simulation.plan import Weather
from tests.simulation.process import Process
from tests.simulation.server import Answer, Asked, Wire
from tests.simulation.watch import Watch

CallLater = Callable[[float, Callable[[], object]], None]


class SimulatedTransport(httpx.AsyncBaseTransport):
    """Carries requests of one life to the network, and their answers back.

    It has the time-outs itself: the client's own transport is not there.
    """

    def __init__(
        self,
        *,
        process: Process,
        weather: Weather,
        watch: Watch,
        handle: Callable[[Asked], Answer],
        call_later: CallLater,
        suspended: Callable[[], float],
        random: Random,
    ) -> None:
        self._process = process
        self._weather = weather
        self._watch = watch
        self._handle = handle
        self._call_later = call_later
        self._suspended = suspended
        self._random = random

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request."""
        if not self._process.is_alive:
            raise httpx.ConnectError("this process is dead", request=request)
        asked = _asked(request, await request.aread())
        self._process.point("before request", asked.path)
        fault = self._weather.over(self._process.loop.time(), asked.path)
        call = self._watch.sent(asked, str(request.url.host), fault)
        slept = self._suspended()
        try:
            response = await self._carry(request, asked, fault, call)
            self._require_awake_since(slept, request)
        except BaseException as error:
            if self._process.is_alive:
                self._watch.failed(call, type(error).__name__)
            raise
        self._process.point("before answer", asked.path)
        if self._process.is_alive:
            self._watch.answered(call, response.status_code, response.headers)
        return response

    def _require_awake_since(self, slept: float, request: httpx.Request) -> None:
        """No connection outlives the sleep of its machine."""
        if self._suspended() != slept:
            raise httpx.ReadError("connection reset", request=request)

    async def _carry(
        self,
        request: httpx.Request,
        asked: Asked,
        fault: str,
        call: int,
    ) -> httpx.Response:
        wire = Wire(
            request=request,
            asked=asked,
            random=self._random,
            handle=self._handle,
            call_later=self._call_later,
            on_bytes=lambda count: self._watch.read(call, count),
            on_close=lambda: self._watch.closed(call),
        )
        if fault:
            return await FAULTS[fault](wire)
        await wire.travel()
        answer = wire.serve()
        await wire.travel()
        return wire.response(answer)


def _asked(request: httpx.Request, body: bytes) -> Asked:
    return Asked(
        method=request.method,
        path=request.url.path,
        query=request.url.query,
        headers=tuple((name.lower(), value) for name, value in request.headers.raw),
        body=body,
    )
