"""The transport of the simulated daemon, and the faults that its requests have."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import httpx2 as httpx
from tests.simulation.faults import FAULTS, Connection
from tests.simulation.monitors import RequestMonitor
from tests.simulation.network import NetworkRequest, NetworkResponse
from tests.simulation.plan import Plan
from tests.simulation.process import Process
from tests.simulation.virtual_time import seeded

CallLater = Callable[[float, Callable[[], object]], None]


class FaultSchedule:
    """Decides which request of a run has which fault, in the order of the requests."""

    def __init__(self, plan: Plan, point: Callable[[], int]) -> None:
        """`point` returns the number of the last crash point."""
        self._plan = plan
        self._point = point
        self._passed = 0
        self._random = seeded(plan.seed, "weather")
        self.requests = 0
        """How many have left so far."""
        self.counts: Counter[str] = Counter()
        """How often each fault has occurred."""
        self.points_with_faults: list[int] = []
        """After which crash point each of them occurred."""

    def next_fault(self, seconds: float, path: str) -> str:
        """Return the fault of the request that leaves now; empty if none."""
        self.requests += 1
        planned = self._plan.fault_at.get(self.requests, "") or self._planned(path)
        name = planned or self._by_chance(seconds)
        if name:
            self.counts[name] += 1
            self.points_with_faults.append(self._point())
        return name

    def _planned(self, path: str) -> str:
        planned = self._plan.fault_on
        if planned is None or planned.about not in path:
            return ""
        self._passed += 1
        return planned.kind if self._passed == planned.number else ""

    def _by_chance(self, seconds: float) -> str:
        plan = self._plan
        if seconds >= plan.fault_seconds:
            return ""
        for outage in plan.outages:
            if outage.is_active(seconds):
                return outage.fault
        if plan.faults and self._random.random() < plan.fault_rate:
            return self._random.choice(plan.faults)
        return ""


@dataclass(kw_only=True, eq=False)
class SimulatedTransport(httpx.AsyncBaseTransport):
    """Carries the requests of one process to the network, and their answers back.

    It has the time-outs itself: the client's own transport is not there.
    """

    process: Process
    fault_schedule: FaultSchedule
    monitor: RequestMonitor
    handle: Callable[[NetworkRequest], NetworkResponse]
    call_later: CallLater
    suspended: Callable[[], float]
    """For how long the daemon's machine was suspended, in all."""
    random: Random

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request."""
        if not self.process.is_alive:
            raise httpx.ConnectError("this process was killed", request=request)
        network_request = _network_request(request, await request.aread())
        self.process.point("before request", network_request.path)
        fault = self.fault_schedule.next_fault(
            self.process.loop.time(), network_request.path
        )
        call = self.monitor.sent(network_request, str(request.url.host), fault)
        suspended_before = self.suspended()
        try:
            response = await self._exchange(request, network_request, fault, call)
            self._require_no_suspension_since(suspended_before, request)
        except BaseException as error:
            if self.process.is_alive:
                self.monitor.failed(call, type(error).__name__)
            raise
        self.process.point("before answer", network_request.path)
        if self.process.is_alive:
            self.monitor.answered(call, response.status_code, response.headers)
        return response

    def _require_no_suspension_since(
        self, suspended_before: float, request: httpx.Request
    ) -> None:
        """Break connections that were open while the machine was suspended."""
        if self.suspended() != suspended_before:
            raise httpx.ReadError("connection reset", request=request)

    async def _exchange(
        self,
        request: httpx.Request,
        network_request: NetworkRequest,
        fault: str,
        call: int,
    ) -> httpx.Response:
        connection = Connection(
            request=request,
            network_request=network_request,
            random=self.random,
            handle=self.handle,
            call_later=self.call_later,
            on_bytes=lambda count: self.monitor.read(call, count),
            on_close=lambda: self.monitor.closed(call),
        )
        if fault:
            return await FAULTS[fault](connection)
        await connection.travel()
        answer = connection.serve()
        await connection.travel()
        return connection.response(answer)


def _network_request(request: httpx.Request, body: bytes) -> NetworkRequest:
    return NetworkRequest(
        method=request.method,
        path=request.url.path,
        query=request.url.query,
        headers=tuple((name.lower(), value) for name, value in request.headers.raw),
        body=body,
    )
