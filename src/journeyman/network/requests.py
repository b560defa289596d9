"""What our requests say: by the contract where it shows it, else by our own names."""

import json
from collections.abc import Mapping
from dataclasses import asdict

from journeyman.domain.tasks import JSON, AgentId, NewTask, Result, TaskId
from journeyman.network.receipts import CheckoutRequest


def encoded(body: Mapping[str, JSON]) -> bytes:
    """Write a body as JSON, the same bytes for the same body.

    Raises:
        ValueError: a number in it is not finite, so that JSON cannot say it.
        TypeError: something in it is no JSON value at all.
    """
    # ASCII, because half a surrogate pair in a result has no UTF-8.
    text = json.dumps(dict(body), allow_nan=False, separators=(",", ":"))
    return text.encode("ascii")


def checkout_body(request: CheckoutRequest) -> dict[str, JSON]:
    """Return the fields of contract section 2; optional ones only when they are set."""
    return {name: value for name, value in asdict(request).items() if value is not None}


def task_values(task_id: TaskId, agent_id: AgentId) -> dict[str, JSON]:
    """Return what a claim and a completion say, by the names of `domain.ACTIONS`."""
    return {"task_id": task_id, "agent_id": agent_id}


def submit_values(
    task_id: TaskId, agent_id: AgentId, result: Result
) -> dict[str, JSON]:
    """Return what a submission says."""
    return {
        **task_values(task_id, agent_id),
        "result": result.output,
        "evidence": dict(result.evidence),
    }


def post_values(new: NewTask, agent_id: AgentId) -> dict[str, JSON]:
    """Return what a post says."""
    return {
        "agent_id": agent_id,
        "title": new.title,
        "description": new.description,
        "reward": new.reward,
        "kind": new.kind,
        "tags": list(new.tags),
        "input": new.input,
    }
