"""Is a strategy a good citizen? What every strategy owes, whatever it does."""

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import anyio

from journeyman.daemon.system import SystemClock
from journeyman.domain import Task, TaskId
from journeyman.strategies.examples import run_examples
from journeyman.strategies.loaded import Loaded
from journeyman.strategies.registry import Registry
from journeyman.strategies.rehearsal import Stage, new_runner, rehearse
from journeyman.strategies.runners import Broken, Crashed, Ended, Runner, TimedOut
from journeyman.testing.loading import Subject, load
from journeyman.testing.odd_tasks import odd_tasks

LIMIT_SECONDS: Final = 10.0
"""What one run on an odd task may take."""
SOON_SECONDS: Final = 1.0
"""How soon an asynchronous run is over once it is cancelled."""
WANTS_SECONDS: Final = 0.5
"""What `wants` may take for the largest task; it is asked for each one in a listing."""


@dataclass(slots=True)
class _Findings:
    strategy: str
    faults: list[str] = field(default_factory=list)

    def add(self, rule: str, detail: str) -> None:
        self.faults.append(f"{rule}: {detail}")


def assert_strategy_conforms(strategy: Subject, /, **params: object) -> None:
    """Put a strategy through what the daemon and the network will do to it.

    It must load; its examples must pass; `wants` must be quick, give the same answer
    to the same task, and never fail; `run` must not fail on odd tasks, change the
    task, or leave in `ctx.state` what is no JSON; and once cancelled it must end.

    Args:
        strategy: its file, its class, or the function under `@strategy`.
        params: values for its parameters.

    Raises:
        NotLoadedError: it does not load.
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


async def _probe(loaded: Loaded, findings: _Findings) -> None:
    for probe in (_examples, _wants, _runs, _cancellation, _status):
        await probe(loaded, findings)


async def _examples(loaded: Loaded, findings: _Findings) -> None:
    for outcome in await run_examples(loaded):
        if not outcome.passed:
            findings.add(
                "an example fails", f"number {outcome.number}: {outcome.message}"
            )


async def _wants(loaded: Loaded, findings: _Findings) -> None:
    clock = SystemClock()
    for name, task in _tasks(loaded):
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


async def _runs(loaded: Loaded, findings: _Findings) -> None:
    async with new_runner().running() as runner:
        for name, task in _tasks(loaded):
            await _run(loaded, findings, runner, name, task)


async def _run(
    loaded: Loaded, findings: _Findings, runner: Runner, name: str, task: Task
) -> None:
    before, stage = _frozen(task), Stage()
    rehearsal = await rehearse(
        loaded, task, stage, timeout_seconds=LIMIT_SECONDS, runner=runner
    )
    if fault := _fault(rehearsal.ended):
        findings.add("run fails", f"on {name}: {fault}")
    if _frozen(task) != before:
        findings.add("run changes the task", f"on {name}")
    if lack := _not_json(stage.state):
        findings.add("the state is no JSON", f"after {name}: {lack}")


async def _cancellation(loaded: Loaded, findings: _Findings) -> None:
    """Cancel at the first await, as a daemon that is told to stop does."""
    if loaded.runner != "loop":
        return
    clock = SystemClock()
    for name, task in _usual(loaded):
        began = clock.monotonic()
        with anyio.CancelScope() as scope:
            scope.cancel()
            await rehearse(loaded, task, timeout_seconds=LIMIT_SECONDS)
        if (late := clock.monotonic() - began) > SOON_SECONDS:
            findings.add("run goes on when it is cancelled", f"{late:.1f} s on {name}")


async def _status(loaded: Loaded, findings: _Findings) -> None:
    hook = loaded.hooks.get("status")
    if hook is None:
        return
    try:
        told = hook.bind()()
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything
        findings.add("status fails", repr(error))
        return
    if not isinstance(told, str | dict) or _not_json(told):
        findings.add("status gives neither text nor a JSON object", repr(told))


def _tasks(loaded: Loaded) -> Iterator[tuple[str, Task]]:
    usual = list(_usual(loaded))
    yield from usual
    yield from odd_tasks(usual[0][1])


def _usual(loaded: Loaded) -> Iterator[tuple[str, Task]]:
    """Give tasks that it should want: its examples', else by what it declares."""
    examples = loaded.instance.examples
    for number, example in enumerate(examples, start=1):
        yield f"example {number}", copy.deepcopy(example.task)
    if not examples:
        cls = type(loaded.instance)
        yield (
            "a task by its declarations",
            Task(
                id=TaskId("usual"),
                kind=min(cls.kinds, default=""),
                tags=tuple(sorted(cls.tags)),
                reward=max(1, cls.min_reward),
                text="to be or not to be",
                input={name: kind() for name, kind in cls.inputs.items()} or None,
            ),
        )


def _verdict(loaded: Loaded, task: Task) -> str:
    return Registry([loaded]).choose(task).verdicts[0].reason


def _fault(ended: Ended | None) -> str:
    match ended:
        case Crashed(error, where):
            return f"{error} ({where})"
        case TimedOut(seconds):
            return f"still at it after {seconds:g} s"
        case Broken(problem):
            return f"{problem}; give it the parameters that it needs"
        case _:
            return ""


def _frozen(task: Task) -> str:
    """Give the task in a form that shows whether anything in it was changed."""
    return repr((task, task.raw))


def _not_json(value: Any) -> str:  # noqa: ANN401 - whatever a strategy left there
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        return str(error)
    return ""
