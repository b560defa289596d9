"""Requests made from a sandbox's own OpenAPI description, the right and the wrong."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import cycle
from typing import Any

import httpx2 as httpx
import schemathesis
from anyio.from_thread import start_blocking_portal
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation, BaseSchema

from journeyman.sandbox import SandboxOptions, serving

JOIN = "/functions/v1/create-free-agent-public"
IDS = frozenset({"task_id", "taskId", "id"})
AGENTS = frozenset({"agent_id", "agentId", "agent"})


class Target:
    """A sandbox over real HTTP, with an agent on it."""

    def __init__(self, base_url: str) -> None:
        with httpx.Client(base_url=base_url, trust_env=False) as client:
            token = client.post(JOIN, json={}).json()["access_token"]
            listed = client.get("/sandbox/ledger").json()
        assert listed["balanced"]
        self.base_url = base_url
        self.headers = {"Authorization": f"Bearer {token}"}
        self.schema: BaseSchema = schemathesis.openapi.from_url(
            f"{base_url}/openapi.json"
        )

    def ledger(self) -> dict[str, Any]:
        with httpx.Client(base_url=self.base_url, trust_env=False) as client:
            ledger: dict[str, Any] = client.get("/sandbox/ledger").json()
            return ledger


@contextmanager
def sandbox_to_fuzz(**options: Any) -> Iterator[Target]:  # noqa: ANN401 - as SandboxOptions takes them
    """Run one; it has an event loop of its own, since the fuzzer has none."""
    chosen = SandboxOptions(tasks=20, **options)
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serving(chosen)) as base_url,
    ):
        yield Target(base_url)


def fuzz(target: Target, examples: int, task_ids: list[str]) -> Counter[int]:
    """Send so many right and so many wrong requests to each endpoint.

    Gives how often each status came; every second body names a task that exists.
    Raises AssertionError for a 5xx, with the request as a curl command.
    """
    statuses: Counter[int] = Counter()
    for found in target.schema.get_all_operations():
        assert isinstance(found, Ok), found
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            # An endpoint without parameters cannot be asked wrongly.
            with suppress(Unsatisfiable):
                statuses += _sent(target, found.ok(), mode, (examples, task_ids))
    return statuses


def _sent(
    target: Target,
    operation: APIOperation[Any, Any, Any, Any],
    mode: GenerationMode,
    size: tuple[int, list[str]],
) -> Counter[int]:
    examples, task_ids = size
    statuses: Counter[int] = Counter()
    aims = cycle((None, *task_ids))

    @seed(20261121)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def send(case: Any) -> None:  # noqa: ANN401 - schemathesis gives it no public type
        case.body = aimed(case.body, next(aims))
        answer = case.call(headers=target.headers)
        statuses[int(answer.status_code)] += 1
        assert answer.status_code < 500, f"{answer.text}\n{case.as_curl_command()}"

    send()
    return statuses


def aimed(body: Any, task_id: str | None) -> Any:  # noqa: ANN401 - a JSON value
    """Name a task that exists, as our own agent, so that more than a 404 comes."""
    if task_id is None or not isinstance(body, dict):
        return body
    return {
        name: task_id
        if name in IDS and isinstance(value, str)
        else aimed(value, task_id)
        for name, value in body.items()
        if name not in AGENTS
    }
