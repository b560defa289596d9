"""What the network client writes to the log. Bodies and tokens never are."""

from journeyman.observability.events import declare

NETWORK_REQUEST = declare(
    "network.request",
    "debug",
    "endpoint method path status seconds outcome",
    "One request ended; `status` is empty when no answer came.",
)
NETWORK_TROUBLE = declare(
    "network.trouble",
    "warning",
    "endpoint path status outcome message",
    "A request was not sent, or it is not known what became of it.",
    "Nothing at first: it is tried again. If it stays, check the address, the"
    " connection, and whether the service is up.",
)
NETWORK_RECORDS_UNREADABLE = declare(
    "network.records_unreadable",
    "warning",
    "endpoint unreadable total message",
    "A listing has records that cannot be used as tasks; said once per endpoint.",
    "Look at the listing with `journeyman market --json`. If its fields have names"
    " that we do not know, name them in the dialect settings.",
)
NETWORK_DIALECT_TRIED = declare(
    "network.dialect_tried",
    "info",
    "endpoint dialect instead_of missing unknown message",
    "A network did not understand the body of an action; another shape is tried."
    " `missing` and `unknown` are the fields that its refusal named.",
)
NETWORK_DIALECT_LEARNED = declare(
    "network.dialect_learned",
    "info",
    "endpoint dialect refused",
    "An action was understood in this shape; it is used on this network from now on."
    " `refused` is how many others were not.",
)
NETWORK_DIALECT_DOUBTED = declare(
    "network.dialect_doubted",
    "warning",
    "endpoint dialect message",
    "A shape that has worked begins to be refused; others are tried, once a day.",
    "Nothing at first. If it goes on, ask whether the network's interface has changed.",
)
NETWORK_DIALECT_EXHAUSTED = declare(
    "network.dialect_exhausted",
    "error",
    "endpoint dialect refused message",
    "An action was refused in every shape that was tried today. `dialect` is the one"
    " that stays in use; without it, the action rests until tomorrow (UTC), and what"
    " it needs is kept.",
    "Read in `message` what the network wants, and describe it in the settings under"
    " [contract.dialects]; `journeyman contract dialects --explain ACTION` shows what"
    " is sent.",
)


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
