"""What can go wrong with one request, by name.

Each fault is a way in which a request and its answer may fare, between a network that
works and a daemon that works. A fault that says "all was done" lets the network process
the request, and then tells the daemon something else.
"""

from collections.abc import Mapping
from types import MappingProxyType

from journeyman.simulation.faults import answers, connections, refusals
from journeyman.simulation.faults.making import Fault

FAULTS: Mapping[str, Fault] = MappingProxyType(
    {
        fault.__name__: fault
        for fault in (
            connections.refuse,
            connections.no_such_host,
            connections.handshake_failed,
            connections.connect_timeout,
            connections.drop_before,
            connections.reset_after,
            connections.cut_short,
            connections.timeout_before,
            connections.timeout_after,
            connections.late_ghost,
            connections.replay,
            connections.long_tail,
            refusals.error_500_before,
            refusals.error_500_after,
            refusals.unavailable_503,
            refusals.throttled_429,
            refusals.throttled_429_valid,
            refusals.throttled_429_garbage,
            refusals.redirect_302,
            refusals.redirect_307,
            refusals.spurious_401,
            refusals.spurious_404,
            answers.truncated,
            answers.garbage_200,
            answers.byte_order_mark,
            answers.empty_200,
            answers.no_content_204,
            answers.doubled_headers,
            answers.odd_names,
            answers.odd_types,
            answers.html_200,
            answers.deep_json,
            answers.not_a_number,
            answers.slow_drip,
            answers.huge_body,
            answers.gzip_bomb,
        )
    },
)

NEVER_LEFT = frozenset(
    {"refuse", "no_such_host", "handshake_failed", "connect_timeout"}
)
"""Those of a connection that was never made: nothing can have arrived."""

__all__ = ["FAULTS", "NEVER_LEFT", "Fault"]
