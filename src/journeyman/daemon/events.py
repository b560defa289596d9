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
    "Do what `fix` says, then `journeyman reload`.",
)
NO_STRATEGIES = declare(
    "strategy.none",
    "warning",
    "directory",
    "No strategy is loaded, so no task can be wanted.",
    "Put a strategy file into the directory, or set strategies.directory.",
)
ISOLATION_HOLDS = declare(
    "isolation.holds",
    "info",
    "network files signals memory_of_others",
    "Strategies run in processes of their own, and this is what keeps them in.",
)
ISOLATION_LACKS = declare(
    "isolation.lacks",
    "warning",
    "network files signals memory_of_others",
    "Strategies run in processes of their own, but this system does not keep them from "
    "everything.",
    "Read docs/explanation/isolation.md; a newer kernel, or a container for this "
    "daemon alone, helps.",
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
    "polls failed_polls skipped_because quarantined",
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
HOOK_FAILED = declare(
    "strategy.hook_failed",
    "warning",
    "strategy hook error where traceback",
    "A hook of a strategy failed or took too long. Its tasks are not touched by that.",
    "Mend the hook at the place named, then `journeyman reload`.",
)
HOOK_MUTED = declare(
    "strategy.hook_muted",
    "warning",
    "strategy hook failures",
    "A hook has failed so often in a row that it is not called any more.",
    "Mend the hook, then `journeyman reload`: the new version is called again.",
)
OUTCOMES_DROPPED = declare(
    "strategy.outcomes_dropped",
    "warning",
    "strategy waiting",
    "A strategy's on_outcome is slower than its tasks end; the oldest outcome that "
    "waited was dropped.",
    "Make on_outcome quick, or have it only note what a later run looks at.",
)
RELOADED = declare(
    "strategies.reloaded",
    "info",
    "reason strategies shadow added changed removed needs_restart",
    "A new generation of strategies is in force; work in flight ends on the old one. "
    "Settings in `needs_restart` differ from the files, and are not.",
)
RELOAD_REFUSED = declare(
    "strategies.reload_refused",
    "error",
    "reason problems",
    "The strategies were not loaded anew: something is wrong with them or with the "
    "settings. The old generation works on.",
    "Correct each of `problems`, then `journeyman reload`.",
)
IN_SHADOW = declare(
    "strategies.in_shadow",
    "info",
    "strategies",
    "These strategies are asked about each task and get none.",
)
PROMOTED = declare(
    "strategies.promoted",
    "info",
    "strategy version watch_tasks",
    "A strategy left the shadow: it gets tasks from now on. The first `watch_tasks` "
    "are watched.",
)
CALLED_BACK = declare(
    "strategies.called_back",
    "warning",
    "strategy ended failed failures_before",
    "A promoted strategy failed more often than was usual before (`failures_before` is "
    "a share, 0 to 1). It is in shadow again and gets no tasks.",
    "Look at its failed tasks with `journeyman tasks --state failed`; mend it, "
    "`journeyman reload`, and promote it again.",
)
SETTLED = declare(
    "strategies.promotion_settled",
    "info",
    "strategy ended failed",
    "The first tasks of a promoted strategy went well enough; it is not watched any "
    "more.",
)
FORGOTTEN = declare(
    "journal.forgotten",
    "info",
    "tasks days",
    "Tasks that were passed over, and have not changed for so many days, were "
    "forgotten.",
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
COST_BOOKED = declare(
    "cost.booked",
    "info",
    "task_id strategy credits note",
    "A strategy reported what its work cost outside of the network, such as a language "
    "model's tokens. No credits moved.",
)
COST_WAITS = declare(
    "cost.not_booked",
    "warning",
    "task_id strategy credits error",
    "The disk refused to book a cost; it is booked together with the next one.",
    "Free some space. A restart before that forgets the cost.",
)
