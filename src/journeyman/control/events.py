"""The log events of the control socket."""

from journeyman.observability.events import declare

CONTROL_UNAVAILABLE = declare(
    "control.unavailable",
    "warning",
    "path problem",
    "The control socket could not be opened: status, health, pause, post and top-up "
    "cannot reach this daemon.",
    "Use a shorter --data-dir path on a local file system.",
)
