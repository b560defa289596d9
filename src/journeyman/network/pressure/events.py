"""What pressure writes to the log: when it begins, and when it is over."""

from journeyman.observability import declare

HELD = declare(
    "network.held",
    "debug",
    "endpoint cause seconds message",
    "A request was not let go; it is made later and counts as no attempt.",
)
THROTTLED = declare(
    "network.throttled",
    "warning",
    "endpoint retry_in rate width message",
    "The network asks for fewer requests. Nothing is sent to this endpoint until then, "
    "and then at most `rate` requests a second and `width` at once (empty: any).",
    "Nothing: the pace recovers by itself. If this is common, lower work.slots.",
)
EASED = declare(
    "network.eased",
    "info",
    "endpoint",
    "The endpoint takes requests at the usual pace again.",
)
BREAKER_OPENED = declare(
    "network.breaker_opened",
    "warning",
    "scope retry_in message",
    "Requests failed one after the other. `scope` is an endpoint, or `service` for all "
    "of them: only a probe is sent now and then, until one succeeds.",
    "Check whether the service is up and network.base_url is right. Work goes on by "
    "itself when it answers again.",
)
BREAKER_CLOSED = declare(
    "network.breaker_closed",
    "info",
    "scope",
    "A probe succeeded: requests are sent as usual again.",
)
ENDPOINT_ABSENT = declare(
    "network.endpoint_absent",
    "warning",
    "endpoint consequence look_again_in message",
    "The network does not have this endpoint of the contract. What needs it waits, the "
    "rest goes on.",
    "Check network.base_url. Nothing else is needed: it is looked for again.",
)
ENDPOINT_FOUND = declare(
    "network.endpoint_found",
    "info",
    "endpoint",
    "An endpoint that was absent answers again.",
)
IDENTITY_REJECTED = declare(
    "identity.rejected",
    "error",
    "message retry_in",
    "The network does not accept our token, and said so twice. Nothing is claimed or "
    "sent but one request a minute that asks again; results are kept.",
    "Look at the agent's standing on the network. A new agent is never made by itself; "
    "`journeyman join --replace` makes one.",
)
IDENTITY_ACCEPTED = declare(
    "identity.accepted",
    "info",
    "endpoint",
    "The network accepts our token again; work goes on.",
)
