"""The dialects that come with Journeyman, in the order in which they are tried."""

from journeyman.network.dialects.shape import WritingDialect, writing_dialect

SNAKE = writing_dialect(
    "snake",
    {
        "claim": {"task_id": "task_id", "agent_id": "agent_id"},
        "submit": {
            "task_id": "task_id",
            "agent_id": "agent_id",
            "result": "result",
            "evidence": "evidence",
        },
        "complete": {"task_id": "task_id", "agent_id": "agent_id"},
        "post_task": {
            "agent_id": "agent_id",
            "title": "title",
            "description": "description",
            "reward": "reward",
            "kind": "kind",
            "tags": "tags",
            "input": "input",
        },
    },
)
"""As in the bodies that the contract does show; tried first."""

CAMEL = writing_dialect(
    "camel",
    {
        "claim": {"task_id": "taskId", "agent_id": "agentId"},
        "submit": {
            "task_id": "taskId",
            "agent_id": "agentId",
            "result": "result",
            "evidence": "evidence",
        },
        "complete": {"task_id": "taskId", "agent_id": "agentId"},
        "post_task": {
            "agent_id": "agentId",
            "title": "title",
            "description": "description",
            "reward": "reward",
            "kind": "kind",
            "tags": "tags",
            "input": "input",
        },
    },
)
"""As in the checkout's answer (contract section 2: sessionId, agentId)."""

ID_ONLY = writing_dialect(
    "id-only",
    {
        "claim": {"task_id": "id"},
        "submit": {"task_id": "id", "result": "result"},
        "complete": {"task_id": "id"},
        "post_task": {
            "title": "title",
            "description": "description",
            "reward": "reward",
            "kind": "kind",
            "tags": "tags",
            "input": "input",
        },
    },
)
"""For networks that take the agent from its token."""

WRAPPED = writing_dialect(
    "wrapped",
    {
        "claim": {"task_id": "task.id", "agent_id": "agent.id"},
        "submit": {
            "task_id": "task.id",
            "agent_id": "agent.id",
            "result": "submission.result",
            "evidence": "submission.evidence",
        },
        "complete": {"task_id": "task.id", "agent_id": "agent.id"},
        "post_task": {
            "agent_id": "agent.id",
            "title": "task.title",
            "description": "task.description",
            "reward": "task.reward",
            "kind": "task.kind",
            "tags": "task.tags",
            "input": "task.input",
        },
    },
)
"""Objects in an object."""

READY: tuple[WritingDialect, ...] = (SNAKE, CAMEL, ID_ONLY, WRAPPED)
