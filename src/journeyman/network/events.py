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
