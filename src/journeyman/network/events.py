"""What the network client writes to the log. Bodies and tokens never are."""

from journeyman.observability import declare

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
