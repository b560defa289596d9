"""The log events of the daemon itself."""

from journeyman.observability.events import declare

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
    "A strategy file was refused; the other files are loaded.",
    "Do what `fix` says, then `journeyman reload`.",
)
NO_STRATEGIES = declare(
    "strategy.none",
    "warning",
    "directory",
    "No strategy is loaded, so no task is wanted.",
    "Put a strategy file into the directory, or set strategies.directory.",
)
ISOLATION_COMPLETE = declare(
    "isolation.complete",
    "info",
    "network files signals memory_of_others",
    "Strategies run in separate processes, confined by what the fields name.",
)
ISOLATION_INCOMPLETE = declare(
    "isolation.incomplete",
    "warning",
    "network files signals memory_of_others",
    "Strategies run in separate processes, but this system cannot confine them in "
    "every respect.",
    "Read docs/explanation/isolation.md; a newer kernel, or a container for this "
    "daemon alone, helps.",
)
NOT_A_VOLUME = declare(
    "data.not_a_volume",
    "warning",
    "data_directory",
    "This container's data directory is not a mounted volume: the agent, its token and "
    "its credits are lost with the container.",
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
    "polls failed_polls skipped_because quarantined",
    "The daemon is alive; what it has done in this run, and why it skipped tasks.",
)
DRAINING = declare(
    "daemon.draining",
    "info",
    "reason in_flight grace_seconds",
    "Nothing more is claimed; the daemon waits for work in flight.",
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
FORGOTTEN = declare(
    "journal.forgotten",
    "info",
    "tasks days",
    "Skipped tasks that have not changed for so many days were forgotten.",
)
