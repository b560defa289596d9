"""The log events of the page."""

from journeyman.observability.events import declare

STARTED = declare(
    "web.started", "info", "address has_password", "The page can be opened."
)
UNAVAILABLE = declare(
    "web.unavailable",
    "warning",
    "host port problem",
    "The page cannot be served; the daemon works all the same.",
    "Choose another web.port, or end what uses this one.",
)
LOGIN_REFUSED = declare(
    "web.login_refused",
    "warning",
    "client",
    "Somebody gave a wrong password for the page.",
    "If it was not you: set web.host to 127.0.0.1, or choose a long password.",
)
