"""The log events of the daemon itself."""

from journeyman.observability import declare

STARTED = declare(
    "daemon.started",
    "info",
    "version base_url data_directory strategies slots reserve_credits "
    "per_day_credits posts_per_day topup_mode pid",
    "The daemon runs, under these limits.",
)
STRATEGY_PROBLEM = declare(
    "strategy.not_loaded",
    "error",
    "code path line problem fix",
    "A strategy file was refused; the other files are in force.",
    "Do what `fix` says, then restart.",
)
NO_STRATEGIES = declare(
    "strategy.none",
    "warning",
    "directory",
    "No strategy is loaded, so no task can be wanted.",
    "Put a strategy file into the directory, or set strategies.directory.",
)
NOT_A_VOLUME = declare(
    "data.not_a_volume",
    "warning",
    "data_directory",
    "This container's data directory is not a mounted volume: the agent, its token and "
    "its credits die with the container.",
    "Start it with `-v journeyman:/data`.",
)
DISK_NEARLY_FULL = declare(
    "data.disk_nearly_full",
    "warning",
    "path free_mb min_free_mb",
    "Less is free than data.min_free_mb (MiB). Nothing new is claimed; work in flight "
    "goes on.",
    "Free some space; claims start again by themselves.",
)
DISK_HAS_ROOM = declare(
    "data.disk_has_room",
    "info",
    "path free_mb min_free_mb",
    "Enough is free again; tasks are claimed as before.",
)
HEARTBEAT = declare(
    "daemon.heartbeat",
    "info",
    "up_seconds obstacle balance in_flight waiting listed wanted completed ended lost "
    "polls failed_polls skipped_because",
    "The daemon is alive; what it has done in this run, and why it passed tasks over.",
)
DRAINING = declare(
    "daemon.draining",
    "info",
    "reason in_flight grace_seconds",
    "Nothing more is claimed; work in flight may end.",
)
GRACE_OVER = declare(
    "daemon.grace_over",
    "warning",
    "in_flight",
    "Work in flight did not end in time and is broken off; it continues at the next "
    "start.",
    "Raise work.grace_seconds if this is common.",
)
STOPPED = declare(
    "daemon.stopped",
    "info",
    "reason balance completed ended in_flight",
    "The daemon has stopped; nothing is lost.",
)
CONTROL_UNAVAILABLE = declare(
    "control.unavailable",
    "warning",
    "path problem",
    "The control socket could not be opened: status, health, pause, post and top-up "
    "cannot reach this daemon.",
    "Use a shorter --data-dir path on a local file system.",
)
STRATEGY_SAID = declare(
    "strategy.log",
    "info",
    "task_id strategy severity message details",
    "A strategy wrote to its log.",
)
STRATEGY_DEBUG = declare(
    "strategy.debug",
    "debug",
    "task_id strategy severity message details",
    "A strategy wrote to its log at debug level.",
)
STRATEGY_WARNED = declare(
    "strategy.warning",
    "warning",
    "task_id strategy severity message details",
    "A strategy wrote a warning or an error to its log.",
    "Read the message; it is the strategy author's.",
)
