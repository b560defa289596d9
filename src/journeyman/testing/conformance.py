"""The rules that every strategy must keep, whatever it does."""

import json
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import anyio

from journeyman.daemon.system import SystemClock
from journeyman.domain.tasks import Task
from journeyman.strategies.api.outcomes import Misconfigured
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.registry import Registry
from journeyman.strategies.outcomes import RunOutcome, StrategyError, TimedOut
from journeyman.strategies.running.dry_run import DryRunContext, dry_run, run_examples
from journeyman.strategies.running.odd_tasks import tasks_for, usual_tasks
from journeyman.strategies.running.runner import Runner
from journeyman.testing.agent import Subject, load

LIMIT_SECONDS = 10.0
"""The limit of one run on an odd task."""
SOON_SECONDS = 1.0
"""How soon an asynchronous run must end once it is cancelled."""
WANTS_SECONDS = 0.5
"""The limit of `wants`, which is asked about each task in a listing."""


@dataclass(slots=True)
class _Findings:
    strategy: str
    faults: list[str] = field(default_factory=list)

    def add(self, rule: str, detail: str) -> None:
        self.faults.append(f"{rule}: {detail}")


def assert_strategy_conforms(strategy: Subject, /, **params: object) -> None:
    """Check a strategy against what the daemon and the network will do to it.

    It must load; its examples must pass; `wants` must be quick, give the same answer
    to the same task, and never fail; `run` must not fail on odd tasks, change the
    task, or leave invalid JSON in `ctx.state`; and it must end once cancelled.

    Args:
        strategy: its file, its class, or the function under `@strategy`.
        params: values for its parameters.

    Raises:
        StrategyNotLoadedError: it does not load.
        AssertionError: every rule that it breaks, a line for each.
    """
    loaded = load(strategy, params)
    findings = _Findings(loaded.name)
    anyio.run(partial(_probe, loaded, findings))
    if findings.faults:
        listing = "\n".join(f"  - {fault}" for fault in findings.faults)
        raise AssertionError(
            f"{loaded.name} breaks {len(findings.faults)} rules:\n{listing}"
        )


async def _probe(loaded: LoadedStrategy, findings: _Findings) -> None:
    for probe in (_examples, _wants, _runs, _cancellation, _status):
        await probe(loaded, findings)


async def _examples(loaded: LoadedStrategy, findings: _Findings) -> None:
    for outcome in await run_examples(loaded):
        if not outcome.passed:
            findings.add(
                "an example fails", f"number {outcome.number}: {outcome.message}"
            )


async def _wants(loaded: LoadedStrategy, findings: _Findings) -> None:
    clock = SystemClock()
    for name, task in tasks_for(loaded):
        before, began = _frozen(task), clock.monotonic()
        first, second = (_verdict(loaded, task) for _ in range(2))
        seconds = (clock.monotonic() - began) / 2
        if first.startswith(("wants raised", "wants returned")):
            findings.add("wants fails", f"on {name}: {first}")
        if first != second:
            findings.add("wants changes its mind", f"on {name}: {first!r}, {second!r}")
        if seconds > WANTS_SECONDS:
            findings.add("wants is slow", f"on {name}: {seconds:.1f} s")
        if _frozen(task) != before:
            findings.add("wants changes the task", f"on {name}")


async def _runs(loaded: LoadedStrategy, findings: _Findings) -> None:
    async with Runner().running() as runner:
        for name, task in tasks_for(loaded):
            await _run(loaded, findings, runner, name, task)


async def _run(
    loaded: LoadedStrategy, findings: _Findings, runner: Runner, name: str, task: Task
) -> None:
    before, context = _frozen(task), DryRunContext()
    done = await dry_run(
        loaded, task, context, timeout_seconds=LIMIT_SECONDS, runner=runner
    )
    if fault := _fault(done.outcome):
        findings.add("run fails", f"on {name}: {fault}")
    if _frozen(task) != before:
        findings.add("run changes the task", f"on {name}")
    if problem := _not_json(context.state):
        findings.add("the state is not valid JSON", f"after {name}: {problem}")


async def _cancellation(loaded: LoadedStrategy, findings: _Findings) -> None:
    """Cancel at the first await, as a daemon that stops does."""
    if loaded.runner != "loop":
        return
    clock = SystemClock()
    for name, task in usual_tasks(loaded):
        began = clock.monotonic()
        with anyio.CancelScope() as scope:
            scope.cancel()
            await dry_run(loaded, task, timeout_seconds=LIMIT_SECONDS)
        if (late := clock.monotonic() - began) > SOON_SECONDS:
            findings.add(
                "run continues after it is cancelled", f"{late:.1f} s on {name}"
            )


async def _status(loaded: LoadedStrategy, findings: _Findings) -> None:
    hook = loaded.hooks.get("status")
    if hook is None:
        return
    try:
        answer = hook.bind()()
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything
        findings.add("status fails", repr(error))
        return
    if not isinstance(answer, str | dict) or _not_json(answer):
        findings.add("status returns neither text nor a JSON object", repr(answer))


def _verdict(loaded: LoadedStrategy, task: Task) -> str:
    return Registry([loaded]).choose(task).verdicts[0].reason


def _fault(outcome: RunOutcome | None) -> str:
    match outcome:
        case StrategyError() | TimedOut():
            return str(outcome)
        case Misconfigured():
            return f"{outcome}; pass the parameters that it needs"
        case _:
            return ""


def _frozen(task: Task) -> str:
    """Return the task in a form that shows any change of it."""
    return repr((task, task.raw))


def _not_json(value: Any) -> str:  # noqa: ANN401 - whatever a strategy left there
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        return str(error)
    return ""
