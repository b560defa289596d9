"""The worker's log events, in the order of a task's life."""

from journeyman.observability.events import declare

JOINED = declare(
    "identity.joined",
    "info",
    "agent_id base_url credits",
    "Free registration gave us a new agent; its token is on disk.",
)
KNOWN = declare(
    "identity.known",
    "info",
    "agent_id base_url",
    "The agent of an earlier run was found on disk; nothing was registered.",
)
RESCUED = declare(
    "identity.rescued",
    "warning",
    "agent_id base_url",
    "An earlier run ended between receiving its token and saving it; the token was "
    "found in the answer that was kept, and is saved now.",
    "Nothing; the agent is the same.",
)
ANSWER_NOT_KEPT = declare(
    "identity.answer_not_kept",
    "error",
    "message",
    "The answer to our registration could not be put on disk before it was read.",
    "Free some space now: the next step saves the token in it.",
)
JOIN_DELAYED = declare(
    "identity.join_delayed",
    "warning",
    "message attempt retry_in",
    "Registration has not succeeded yet; it is repeated with the same key.",
    "Check network.base_url if this goes on.",
)
POLLED = declare(
    "discover.polled",
    "debug",
    "listed new wanted skipped unreadable",
    "A page of the marketplace was read.",
)
POLL_FAILED = declare(
    "discover.failed",
    "warning",
    "message retry_in",
    "The marketplace could not be read.",
    "Check the network and network.base_url if this goes on.",
)
LIMIT_REFUSED = declare(
    "discover.limit_refused",
    "info",
    "limit",
    "The network refuses to be asked for so many tasks, and answers without the "
    "parameter: this run does not send it again.",
)
UNREADABLE = declare(
    "discover.unreadable",
    "warning",
    "count total",
    "Some records of a listing have no id and were skipped.",
    "Report the shape of the network's answer; see docs/reference/service-model.md.",
)
NOTHING_TO_DO = declare(
    "discover.nothing_to_do",
    "warning",
    "message",
    "The market answers, and of what it lists nothing can be read as a task, or all of "
    "it is skipped for one reason.",
    "Compare `journeyman market` with what the network shows, and read the reason.",
)
WANTED = declare(
    "task.wanted",
    "debug",
    "task_id strategy reward title",
    "A strategy wants a listed task.",
)
STATE_LEARNED = declare(
    "discover.state_learned",
    "info",
    "word meaning",
    "A claim told what a word for a task's state means: `open`, `taken`, or, after a "
    "claim that may have lost a race, still `unknown`.",
)
SKIPPED = declare(
    "task.skipped",
    "debug",
    "task_id reason",
    "A listed task is not wanted.",
)
CLAIMED = declare(
    "task.claimed",
    "info",
    "task_id strategy reward",
    "A task is ours.",
)
LEASE_OVER = declare(
    "task.lease_over",
    "warning",
    "task_id until",
    "The network gave a task until a moment that was over then. It is worked on all "
    "the same, since no network gives what it takes back at once.",
    "Compare this machine's clock with the network's.",
)
LOST = declare(
    "task.lost",
    "info",
    "task_id message",
    "Another agent was first, or the task is gone.",
)
EXECUTING = declare(
    "task.executing",
    "debug",
    "task_id strategy execution",
    "A strategy starts to work on a task.",
)
EXECUTED = declare(
    "task.executed",
    "debug",
    "task_id strategy seconds",
    "A strategy has done a task; its result is on disk.",
)
DECLINED = declare(
    "task.declined",
    "info",
    "task_id strategy reason details",
    "A strategy gave up a claimed task. The contract shows no way to give it back.",
)
FAILED = declare(
    "task.failed",
    "error",
    "task_id strategy error where traceback",
    "A strategy could not do a claimed task.",
    "Fix the strategy at the place named; other strategies go on.",
)
EXPIRED = declare(
    "task.expired",
    "warning",
    "task_id strategy error",
    "The task's deadline, or the lease of our claim, passed before a result was sent; "
    "the work on it was stopped.",
    "If this is common, make the strategy decline what it cannot do in time, or check "
    "this machine's clock.",
)
LEAK_STOPPED = declare(
    "result.leak_stopped",
    "error",
    "task_id strategy error kind where",
    "A result contained a secret, or the canary of its run, and was not sent; the task "
    "failed. The secret itself is not logged or kept.",
    "Read the task and the strategy: its text may have talked the strategy into this. "
    "Change the secret if it is one that the strategy should not know.",
)
MISCONFIGURED = declare(
    "strategy.misconfigured",
    "error",
    "task_id strategy problem fix",
    "A strategy reports that it cannot work as it is set up.",
    "Do what `fix` says, then `journeyman reload`. Where neither its file nor its "
    "settings change by that: `journeyman strategies release NAME`.",
)
WAITING = declare(
    "task.waiting",
    "info",
    "task_id strategy reason retry_in",
    "A claimed task waits, because its strategy is in quarantine and no other wants "
    "it.",
)
RETRY_LATER = declare(
    "task.retry_later",
    "info",
    "task_id strategy reason retry_in",
    "A strategy asked for the task to be tried again later.",
)
SUBMITTED = declare(
    "task.submitted",
    "debug",
    "task_id strategy",
    "The network accepted the result.",
)
IN_REVIEW = declare(
    "task.in_review",
    "info",
    "task_id strategy message",
    "The network has the result and looks at it; it is asked again, less and less "
    "often.",
)
RESULT_MISSING = declare(
    "task.result_missing",
    "warning",
    "task_id strategy message",
    "The network says that it has no result for a task that we submitted; the result "
    "is sent again.",
    "Nothing, unless it goes on: report it to the network.",
)
CLAIMS_SLOWED = declare(
    "claim.slowed",
    "warning",
    "action window message",
    "Different tasks were refused alike, so fewer are claimed until one is completed.",
    "See `journeyman contract`: the refusal is about how requests are written, or "
    "about the agent.",
)
NO_COMPLETION = declare(
    "complete.absent",
    "info",
    "message",
    "The network has no endpoint for completions: a task is complete when its result "
    "is accepted, and the reward that was listed is booked.",
)
REJECTED = declare(
    "task.rejected",
    "warning",
    "task_id strategy message",
    "The network refused the result or the completion; nothing was earned.",
    "If this is common for a strategy, check its answers: `journeyman tasks`.",
)
UNSETTLED = declare(
    "task.unsettled",
    "warning",
    "task_id strategy reward message",
    "The result was accepted, and the network never said clearly whether the task is "
    "completed. It is given up; nothing is booked, although it may have been paid.",
    "Compare the balance that the network shows with `journeyman ledger`.",
)
COMPLETED = declare(
    "task.completed",
    "info",
    "task_id strategy credits cost seconds balance confidence",
    "A task is done, and its credits are booked. `cost` is what its work cost outside "
    "the network, in credits; `seconds` passed since its claim was sent.",
)
DELAYED = declare(
    "task.delayed",
    "warning",
    "task_id state message attempt retry_in uncertain",
    "A request about a task did not end clearly; it is repeated with the same key.",
    "Nothing, unless it goes on for long: the result is kept.",
)
BUG = declare(
    "task.bug",
    "error",
    "task_id state traceback",
    "A bug in Journeyman interrupted a task, which keeps its state and is postponed.",
    "Report the traceback; other tasks go on.",
)
RECOVERED = declare(
    "recover.continued",
    "info",
    "in_flight interrupted",
    "Unfinished work of an earlier run was found and continues.",
)
