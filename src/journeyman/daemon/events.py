"""The log events of the daemon itself."""

from journeyman.observability.events import declare

STARTED = declare(
    "daemon.started",
    "info",
    "version events_version base_url data_directory strategies trusted slots "
    "reserve_credits per_day_credits posts_per_day topup_mode pid",
    "The daemon runs, under these limits. `events_version` is that of these events: it "
    "is raised when one is renamed or removed. `trusted` are the strategies whose code "
    "runs in the daemon's own process; all others are confined to theirs.",
)
PRINTED = declare(
    "output.printed",
    "info",
    "text",
    "Somebody beside the log wrote this to standard output or error: a library, or a "
    "program that was started. What a strategy prints is `strategy.log`, where it is "
    "known whose it is.",
)
MODE_MENDED = declare(
    "data.mode_mended",
    "warning",
    "message",
    "A file of the data directory was open to others than its owner, and is no more.",
    "Find out who could read it meanwhile; if that may be somebody, "
    "`journeyman join --replace` gets a new token.",
)
DESCRIPTION_FOUND = declare(
    "network.description_found",
    "info",
    "path actions",
    "The network publishes an OpenAPI description. `actions` are those of ours whose "
    "bodies it describes; they are written as it says.",
)
HINDERED = declare(
    "earning.hindered",
    "warning",
    "cause message fix",
    "Something keeps the agent from earning, or from earning more. Logged when it "
    "begins. `cause` is a word for alarms: not_claimable, not_deliverable, "
    "not_completable (the network refuses this step), undelivered, unpaid, unclaimed, "
    "unmatched, rejected_in_a_row, paid_nothing, nothing_listed, clock_skew, "
    "spending_paused, over_cost.",
    "Do what `fix` says; `journeyman why` shows everything that applies now.",
)
NO_LONGER_HINDERED = declare(
    "earning.cause_gone",
    "info",
    "cause",
    "What kept the agent from earning is over.",
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
CLUSTER_CONNECTED = declare(
    "cluster.connected",
    "info",
    "scheduler workers slots",
    "The cluster can be used, or its workers have changed; `slots` tasks are worked on "
    "there at once, beside those here.",
)
CLUSTER_LOST = declare(
    "cluster.lost",
    "warning",
    "scheduler problem",
    "The cluster cannot be used. Nothing new is claimed for strategies that run on it; "
    "what ran there is run again. It is tried again by itself.",
    "Check that `dask scheduler` runs at this address and can be reached from here; "
    "with TLS, that the files are of the same authority. `journeyman doctor` tries it.",
)
CLUSTER_MISMATCH = declare(
    "cluster.mismatch",
    "warning",
    "scheduler count differences",
    "Something is installed on the cluster in another version than here. A worker of "
    "which this is true is given nothing.",
    "Install the same versions of journeyman, Dask and Python everywhere; the simplest "
    "way is the same image.",
)
NOT_A_VOLUME = declare(
    "data.not_a_volume",
    "warning",
    "data_directory",
    "This container's data directory is not a mounted volume: the agent, its token and "
    "its credits are lost with the container.",
    "Start it with `-v journeyman:/data`.",
)
COPIED = declare(
    "data.copied",
    "warning",
    "data_directory",
    "This data directory was copied or restored since the last run. If a daemon still "
    "works in the other one, both are the same agent: each spends up to the limits, "
    "and both do the same tasks.",
    "Stop the other one, or give this one an empty data directory: it then joins as an "
    "agent of its own.",
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
CRASHED = declare(
    "daemon.crashed",
    "error",
    "strategy where stack",
    "The process before this one was ended, because its event loop did not turn for a "
    "minute, or crashed in C code. `stack` is where each thread was; `strategy`, if "
    "code of one was there, is not called again until its file or its settings change. "
    "Where only `where` is named, a file was being imported, such as at a reload.",
    "Correct what is at `where`, or give the strategy a process (strategies.runners). "
    "Where none is named, `stack` shows what took so long.",
)
PAUSED = declare(
    "daemon.paused",
    "warning",
    "strategy by reason since until",
    "The owner wants nothing new claimed: at all, or by `strategy`. It holds over "
    "restarts, and is logged again at each start.",
    "`journeyman resume`, or `journeyman strategies enable`.",
)
RESUMED = declare(
    "daemon.resumed",
    "info",
    "strategy by",
    "What the owner had paused goes on: all work, or `strategy`.",
)
RETRIED = declare(
    "task.retried",
    "info",
    "task_id strategy before state by",
    "The owner wants a task to be tried again now; one that had failed or was given "
    "up continues where it was.",
)
ABANDONED = declare(
    "task.abandoned",
    "warning",
    "task_id strategy before state by",
    "The owner has given up a task. The contract shows no way to give it back.",
    "Nothing; `journeyman tasks retry ID` takes up again what was claimed.",
)
NOTIFIED = declare(
    "notify.sent",
    "info",
    "setting causes",
    "The owner was told what keeps the agent from earning, by this setting.",
)
NOTIFY_FAILED = declare(
    "notify.failed",
    "warning",
    "setting message",
    "A notification was not taken; it is tried again in a minute.",
    "Check the address that the setting has; it may be a secret and is not shown here.",
)
SPANS_NOT_TAKEN = declare(
    "tracing.failed",
    "warning",
    "message dropped",
    "The collector of traces did not take spans; `dropped` of them are lost, the "
    "others are sent again after a growing pause. Work goes on.",
    "Check `tracing.endpoint`, `tracing.headers`, and that the collector runs.",
)
BACKED_UP = declare(
    "journal.backed_up",
    "info",
    "path",
    "The whole journal was checked, and copied to `path`.",
)
BACKUP_FAILED = declare(
    "journal.not_backed_up",
    "warning",
    "message",
    "The journal could not be copied; the older copies are kept, and it is tried again "
    "with the next housekeeping.",
    "Free some space, or set data.backups to a smaller number.",
)
HEARTBEAT = declare(
    "daemon.heartbeat",
    "info",
    "up_seconds obstacle balance in_flight waiting listed wanted completed ended lost "
    "polls failed_polls skipped_because quarantined disabled",
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
ARCHIVE_DELETED = declare(
    "journal.archive_deleted",
    "info",
    "file mb max_mb",
    "The archives were larger than work.max_archives_mb, so the oldest was deleted.",
)
SHORTENED = declare(
    "journal.shortened",
    "info",
    "texts_from moves_from tasks_from used_mb max_mb",
    "The journal was larger than work.max_journal_mb, so texts, then moves, then all "
    "of ended tasks went earlier than is set: what ended since these moments still has "
    "them.",
)
