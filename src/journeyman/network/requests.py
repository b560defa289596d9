"""The bodies that we send: by the contract where it shows them, else by dialect."""

import json
from collections.abc import Mapping
from dataclasses import asdict

from journeyman.domain import JSON, AgentId, NewTask, Result, TaskId
from journeyman.network.dialect import Dialect, Shape
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
    """Give the fields of contract section 2; optional ones only when they are set."""
    return {name: value for name, value in asdict(request).items() if value is not None}


class ActionBodies:
    """Builds the bodies of the runtime actions (contract: not shown)."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect

    def claim(self, task_id: TaskId, agent_id: AgentId) -> dict[str, JSON]:
        values: dict[str, JSON] = {"task_id": task_id, "agent_id": agent_id}
        return self._shaped(self._dialect.claim, values)

    def submit(
        self,
        task_id: TaskId,
        agent_id: AgentId,
        result: Result,
    ) -> dict[str, JSON]:
        values: dict[str, JSON] = {
            "task_id": task_id,
            "agent_id": agent_id,
            "result": result.output,
            "evidence": dict(result.evidence),
        }
        return self._shaped(self._dialect.submit, values)

    def complete(self, task_id: TaskId, agent_id: AgentId) -> dict[str, JSON]:
        values: dict[str, JSON] = {"task_id": task_id, "agent_id": agent_id}
        return self._shaped(self._dialect.complete, values)

    def post_task(self, new: NewTask, agent_id: AgentId) -> dict[str, JSON]:
        values: dict[str, JSON] = {
            "agent_id": agent_id,
            "title": new.title,
            "description": new.description,
            "reward": new.reward,
            "kind": new.kind,
            "tags": list(new.tags),
            "input": new.input,
        }
        return self._shaped(self._dialect.post_task, values)

    def _shaped(self, shape: Shape, values: Mapping[str, JSON]) -> dict[str, JSON]:
        return {
            wire: values[ours]
            for wire, ours in shape.items()
            if not (ours in self._dialect.optional and values[ours] in _EMPTY)
        }


_EMPTY: tuple[JSON, ...] = (None, "", [], {})
