"""The log events of strategies: quarantine, hooks, reload, promotion, their logs."""

from journeyman.observability.events import declare

QUARANTINED = declare(
    "strategy.quarantined",
    "error",
    "strategy kind problem fix task_id errors retry_in",
    "A strategy made too many errors, or cannot work as it is set up, and is given no "
    "work; or its last results of one `kind` brought nothing, net of their cost, and "
    "it is given no more of these. After `retry_in` seconds one task is its trial run; "
    "null: only a change of its file or its settings can help.",
    "Read `problem`, correct the strategy and `journeyman reload`; or release it as it "
    "is: `journeyman strategies release NAME`.",
)


TRIAL_RUN = declare(
    "strategy.trial_run",
    "info",
    "strategy kind task_id",
    "The quarantine period of a strategy, or of one `kind` of its work, is over, and "
    "this one task is its trial run. Success ends the quarantine; a failure begins one "
    "that is twice as long.",
)


RELEASED = declare(
    "strategy.released",
    "info",
    "strategy kind reason",
    "A strategy, or one `kind` of its work, is out of quarantine.",
)


BLOCKS = declare(
    "strategy.blocks",
    "warning",
    "strategy seconds where",
    "A strategy held the event loop for 100 ms or more without awaiting: no other task "
    "and no command went on meanwhile. Told once for each version of it.",
    "Await what takes long at the place named, make `run` a plain `def`, or give the "
    "strategy a process (strategies.runners).",
)


WANTS_FAILED = declare(
    "strategy.wants_failed",
    "warning",
    "strategy task_id problem where",
    "A strategy's `wants` raised, took too long, or returned something invalid. The "
    "task is not for it, and the error counts like one in `run`.",
    "Correct `wants` at the place named, then `journeyman reload`; `journeyman try "
    "NAME --from-market TASK` shows it again.",
)


HOOK_FAILED = declare(
    "strategy.hook_failed",
    "warning",
    "strategy hook error where traceback",
    "A hook of a strategy failed or took too long. Its tasks are not affected.",
    "Correct the hook at the place named, then `journeyman reload`.",
)


HOOK_DISABLED = declare(
    "strategy.hook_disabled",
    "warning",
    "strategy hook failures",
    "A hook has failed so often in a row that it is no longer called.",
    "Correct the hook, then `journeyman reload`: the new version is called again.",
)


OUTCOMES_DROPPED = declare(
    "strategy.outcomes_dropped",
    "warning",
    "strategy waiting",
    "A strategy's on_outcome is slower than its tasks end; the oldest outcome that "
    "waited was dropped.",
    "Make on_outcome fast, for example by only noting what a later run reads.",
)


SLOW_IMPORT = declare(
    "strategy.slow_import",
    "info",
    "strategy seconds",
    "How long the import of a strategy's file took, with what it imports; told from "
    "100 ms on, at a start and at a reload.",
)


RELOADED = declare(
    "strategies.reloaded",
    "info",
    "reason strategies shadow added changed removed needs_restart",
    "A new generation of strategies is active; work in flight ends on the old one. "
    "Changed settings in `needs_restart` take effect at the next start.",
)


RELOAD_REFUSED = declare(
    "strategies.reload_refused",
    "error",
    "reason problems",
    "The strategies were not reloaded: something is wrong with them or with the "
    "settings. The old generation goes on.",
    "Correct each of `problems`, then `journeyman reload`.",
)


IN_SHADOW = declare(
    "strategies.in_shadow",
    "info",
    "strategies",
    "These strategies are asked about each task and are given none.",
)


PROMOTED = declare(
    "strategies.promoted",
    "info",
    "strategy version watch_tasks",
    "A strategy left the shadow: it gets tasks from now on. The first `watch_tasks` "
    "are watched.",
)


DEMOTED = declare(
    "strategies.demoted",
    "warning",
    "strategy ended failed failures_before",
    "A promoted strategy failed more often than was usual before (`failures_before` is "
    "a share, 0 to 1). It is in shadow again and is given no tasks.",
    "Look at its failed tasks with `journeyman tasks --state failed`; correct it, "
    "`journeyman reload`, and promote it again.",
)


PROMOTION_CONFIRMED = declare(
    "strategies.promotion_confirmed",
    "info",
    "strategy ended failed",
    "The first tasks of a promoted strategy went well enough; it is no longer watched.",
)


STRATEGY_SAID = declare(
    "strategy.log",
    "info",
    "task_id strategy severity message details",
    "A strategy wrote to its log.",
)


STRATEGY_TRANSCRIPT = declare(
    "strategy.transcript",
    "info",
    "task_id strategy role said",
    "What a strategy said to a model, or the model to it; `journeyman why TASK` shows "
    "it. Cut to 2,000 characters, and without secrets, as all that is logged.",
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
