"""The log events of the network client; bodies and tokens are never logged."""

from journeyman.observability.events import declare

NETWORK_REQUEST = declare(
    "network.request",
    "debug",
    "endpoint method path status seconds outcome",
    "A request ended; `status` is empty when no answer came.",
)
NETWORK_REQUEST_FAILED = declare(
    "network.request_failed",
    "warning",
    "endpoint path status outcome message",
    "A request was not sent, or its outcome is unknown.",
    "Nothing at first: it is tried again. If it stays, check the address, the"
    " connection, and whether the service is up.",
)
NETWORK_RECORDS_UNREADABLE = declare(
    "network.records_unreadable",
    "warning",
    "endpoint unreadable total message",
    "A listing has records that cannot be used as tasks; logged once per endpoint.",
    "Look at the listing with `journeyman market --json`; `[contract.listing]` says how"
    " it is read, and `journeyman contract` prints one where no task was.",
)
REQUEST_REWRITTEN = declare(
    "network.request_rewritten",
    "info",
    "endpoint missing unknown message",
    "A network did not understand the body of an action; another one is tried."
    " `missing` and `unknown` are the fields that its refusal named.",
)
REQUEST_UNDERSTOOD = declare(
    "network.request_understood",
    "info",
    "endpoint fields refused",
    "An action was understood with these fields, as it is written on this network from"
    " now on. `refused` is how many others were not.",
)
REQUEST_DOUBTED = declare(
    "network.request_doubted",
    "warning",
    "endpoint message",
    "A body of a form that has worked begins to be refused; others are tried.",
    "Nothing at first. If it goes on, ask whether the network's interface has changed.",
)
REQUEST_NOT_UNDERSTOOD = declare(
    "network.request_not_understood",
    "error",
    "endpoint refused retry_in message",
    "An action was refused in every form that was tried. It pauses for `retry_in`"
    " seconds, and what it needs is kept; then other forms are tried.",
    "Read in `message` what the network wants, and describe it in the settings under"
    " [contract.requests]; `journeyman contract` shows what is known.",
)
REQUEST_PAUSED = declare(
    "network.request_paused",
    "debug",
    "endpoint cause seconds message",
    "A request was not sent because of a pause; it is made later and does not count"
    " as an attempt.",
)
REQUEST_SUGGESTED = declare(
    "network.request_suggested",
    "info",
    "endpoint names message",
    "The configured language model was asked what a refusal may mean that no rule can"
    " read. The search tries the `names` that it proposed. `message` says why it could"
    " not be asked.",
)
THROTTLED = declare(
    "network.throttled",
    "warning",
    "endpoint retry_in rate concurrency message",
    "The network asks for fewer requests. `endpoint` is `service` where all requests"
    " are meant. Nothing is sent there for `retry_in` seconds, and then at most `rate`"
    " requests a second and `concurrency` at once (empty: any).",
    "Nothing: the limits recover by themselves. If this is common, lower work.slots.",
)
THROTTLING_ENDED = declare(
    "network.throttling_ended",
    "info",
    "endpoint",
    "The endpoint, or the whole service, takes requests at the usual rate again.",
)
BREAKER_OPENED = declare(
    "network.breaker_opened",
    "warning",
    "scope retry_in message",
    "Several requests in a row failed. `scope` is an endpoint, or `service` for all of"
    " them: only a probe is sent now and then, until one succeeds.",
    "Check whether the service is up and network.base_url is right. Work goes on by"
    " itself when it answers again.",
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
    "endpoint consequence check_again_in message",
    "The network does not have this endpoint of the contract. What needs it waits, the"
    " rest goes on.",
    "Check network.base_url. Nothing else is needed: the endpoint is checked again.",
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
    "The network does not accept our token, and said so twice. Nothing is sent but one"
    " request a minute that checks it again; results are kept.",
    "Look at the agent on the network: it may be blocked. A new agent is registered"
    " only on request: `journeyman join --replace`.",
)
IDENTITY_ACCEPTED = declare(
    "identity.accepted",
    "info",
    "endpoint",
    "The network accepts our token again; work goes on.",
)
BUG = declare(
    "network.bug",
    "error",
    "doing traceback",
    "A bug in Journeyman kept it from `doing` something with what the network sent. It"
    " is tried again when it is due.",
    "Report the traceback; everything else goes on.",
)
