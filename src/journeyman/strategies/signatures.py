"""Do a strategy's methods take what they are given?"""

import difflib
import inspect
from collections.abc import Callable, Iterator
from typing import Any, Final

from journeyman.strategies.api import Strategy
from journeyman.strategies.candidates import Candidate
from journeyman.strategies.hooks import AT_ONCE, HOOKS, NEVER_CALLED
from journeyman.strategies.problems import Problem

ORDINARY: Final = (
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
)


def check_methods(candidate: Candidate) -> Iterator[Problem]:
    """Check `run`, `wants`, and that nothing else waits to be called."""
    cls = candidate.strategy
    run = getattr(cls, "run", None)
    if not callable(run):
        fix = "add `async def run(self, task, ctx)`, or a plain `def`"
        yield candidate.problem("E105", f"{cls.__name__} has no run method", fix)
    else:
        yield from _signature(candidate, "run")
        yield from _form(candidate, run)
    yield from _signature(candidate, "wants")
    if inspect.iscoroutinefunction(cls.wants):
        fix = "write `def wants(self, task)`; it is asked for every task in a listing"
        yield candidate.problem("E106", "wants must not be async", fix)
    yield from _silence(candidate)
    for hook in HOOKS:
        if hasattr(cls, hook):
            yield from _hook(candidate, hook)
    yield from _strangers(candidate)


def _hook(candidate: Candidate, hook: str) -> Iterator[Problem]:
    """Check one hook: its arguments, and that its form can be called."""
    yield from _signature(candidate, hook)
    method = getattr(candidate.strategy, hook)
    if inspect.isasyncgenfunction(method) or (
        inspect.isgeneratorfunction(method) and hook != "post"
    ):
        fix = "return the value in place of `yield`"
        yield candidate.problem("E106", f"{hook} must not be a generator", fix)
    if hook in AT_ONCE and inspect.iscoroutinefunction(method):
        fix = f"write `def {hook}(self)`; remember in on_outcome what it should tell"
        yield candidate.problem("E106", f"{hook} must not be async", fix)


def _strangers(candidate: Candidate) -> Iterator[Problem]:
    """Refuse what looks like a hook and would silently never be called."""
    cls = candidate.strategy
    for name in sorted(dir(cls)):
        if name in NEVER_CALLED:
            message = f"{name} is never called: {NEVER_CALLED[name]}"
        elif name.startswith("on_") and name not in HOOKS:
            message = f"{name} would never be called by this version"
        else:
            continue
        near = difflib.get_close_matches(name, HOOKS, n=1)
        hint = f"did you mean {near[0]!r}? Otherwise " if near else ""
        fix = f"{hint}remove it, or name it _{name} if you call it yourself"
        yield candidate.problem("E113", message, fix)


def _silence(candidate: Candidate) -> Iterator[Problem]:
    """Refuse a strategy that would claim everything merely because it says nothing."""
    cls = candidate.strategy
    says = cls.wants is not Strategy.wants
    if not (says or cls.kinds or cls.tags or cls.inputs or cls.min_reward):
        message = "it never says which tasks it wants"
        fix = 'add `kinds = {"..."}` or `tags = {"..."}`, or a method wants(self, task)'
        yield candidate.problem("E112", message, fix)


def _form(candidate: Candidate, run: Callable[..., Any]) -> Iterator[Problem]:
    """Refuse a run that is a generator, or asynchronous in a thread."""
    if inspect.isgeneratorfunction(run) or inspect.isasyncgenfunction(run):
        fix = "return one Result in place of `yield`"
        yield candidate.problem("E106", "run must not be a generator", fix)
    if candidate.strategy.runner == "thread" and inspect.iscoroutinefunction(run):
        fix = 'write a plain `def run`, or take `runner = "thread"` away'
        yield candidate.problem("E110", "an async run cannot run in a thread", fix)


def _signature(candidate: Candidate, method: str) -> Iterator[Problem]:
    allowed = _allowed(candidate.strategy, method)
    names = arguments_of(candidate.strategy, method)
    given = ", ".join(("self", *allowed))
    fix = f"write `def {method}({given})`; leave out what you do not need"
    if names is None:
        message = f"{method} must be a method with ordinary arguments"
        yield candidate.problem("E106", message, fix)
    elif unknown := [name for name in names if name not in allowed]:
        message = f"{method} takes {unknown[0]!r}, which it is never given"
        yield candidate.problem("E106", message, fix)


def arguments_of(cls: type[Strategy], method: str) -> tuple[str, ...] | None:
    """Name the arguments to be given; None when the signature cannot be served."""
    try:
        parameters = list(inspect.signature(getattr(cls, method)).parameters.values())
    except (TypeError, ValueError):
        return None
    if inspect.isfunction(inspect.getattr_static(cls, method)):
        if not parameters:
            return None
        parameters = parameters[1:]  # self
    if any(parameter.kind not in ORDINARY for parameter in parameters):
        return None
    allowed = _allowed(cls, method)
    return tuple(
        parameter.name
        for parameter in parameters
        if parameter.default is parameter.empty or parameter.name in allowed
    )


def _allowed(cls: type[Strategy], method: str) -> tuple[str, ...]:
    """Name the arguments that a method may ask for."""
    if method == "run":
        return ("task", "ctx", *cls.inputs)
    return HOOKS.get(method, ("task",))
