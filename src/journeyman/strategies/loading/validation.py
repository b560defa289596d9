"""Is a strategy fit to run? Every problem is told at once, not only the first."""

import difflib
import hashlib
import inspect
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, get_args

from journeyman.domain.text import describe
from journeyman.strategies import watchdog
from journeyman.strategies.api import (
    API_VERSION,
    Example,
    Needs,
    Param,
    ParamError,
    RunnerName,
    Strategy,
)
from journeyman.strategies.loading.candidates import StrategyCandidate
from journeyman.strategies.loading.importing import closure
from journeyman.strategies.loading.loaded import (
    AT_ONCE,
    HOOKS,
    NEVER_CALLED,
    LoadedStrategy,
    hooks_of,
)
from journeyman.strategies.loading.problems import Problem
from journeyman.strategies.loading.source import Source


def check_declarations(candidate: StrategyCandidate) -> Iterator[Problem]:
    """Check `api`, `name`, `version` and the other class attributes."""
    cls = candidate.strategy
    if type(cls.api) is not int or cls.api != API_VERSION:
        fix = f"set `api = {API_VERSION}`, or install a journeyman that fits"
        message = f"api = {cls.api!r}, but this journeyman speaks api {API_VERSION}"
        yield candidate.problem("E107", message, fix)
    for attribute, is_fine, fix in _rules(candidate):
        if not is_fine:
            message = f"{attribute} = {getattr(cls, attribute)!r} makes no sense"
            yield candidate.problem("E110", message, fix)


def _rules(candidate: StrategyCandidate) -> Iterator[tuple[str, bool, str]]:
    """Give each declaration's name, whether it is fine, and what to write instead."""
    cls = candidate.strategy
    is_name = bool(re.fullmatch(r"[a-z][a-z0-9_]{0,63}", candidate.name))
    yield "name", is_name, "use lower-case letters, digits and `_`, such as word_count"
    yield "version", isinstance(cls.version, str), 'write a string, such as "1.0.0"'
    fix = 'write "loop", "thread" or "process", or leave it out'
    yield "runner", cls.runner in (None, *get_args(RunnerName)), fix
    yield "timeout", _is_seconds(cls.timeout), "write a number of seconds above 0"
    yield "needs", isinstance(cls.needs, Needs), 'write Needs(hosts={"..."}, ...)'
    yield "examples", _are_examples(cls.examples), "write a list of Example(...)"
    for attribute in ("kinds", "tags"):
        value = getattr(cls, attribute)
        fix = f'write a set of strings, such as {attribute} = {{"echo"}}'
        yield attribute, _are_words(value), fix
    fix = 'write names and types, such as inputs = {"text": str}'
    yield "inputs", _are_inputs(cls.inputs), fix
    is_reward = isinstance(cls.min_reward, int)
    yield "min_reward", is_reward, "write a whole number of credits"


def _is_seconds(value: object) -> bool:
    if value is None:
        return True
    return isinstance(value, int | float) and 0 < value < math.inf


def _are_examples(value: object) -> bool:
    return isinstance(value, list | tuple) and all(
        isinstance(item, Example) for item in value
    )


def _are_inputs(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(name, str) and isinstance(kind, type) for name, kind in value.items()
    )


def _are_words(value: object) -> bool:
    # A plain string is a collection of letters: the commonest slip of all.
    return isinstance(value, set | frozenset | list | tuple) and all(
        isinstance(item, str) for item in value
    )


ORDINARY: Final = (
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
)


def check_methods(candidate: StrategyCandidate) -> Iterator[Problem]:
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


def _hook(candidate: StrategyCandidate, hook: str) -> Iterator[Problem]:
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


def _strangers(candidate: StrategyCandidate) -> Iterator[Problem]:
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


def _silence(candidate: StrategyCandidate) -> Iterator[Problem]:
    """Refuse a strategy that would claim everything merely because it says nothing."""
    cls = candidate.strategy
    says = cls.wants is not Strategy.wants
    if not (says or cls.kinds or cls.tags or cls.inputs or cls.min_reward):
        message = "it never says which tasks it wants"
        fix = 'add `kinds = {"..."}` or `tags = {"..."}`, or a method wants(self, task)'
        yield candidate.problem("E112", message, fix)


def _form(candidate: StrategyCandidate, run: Callable[..., Any]) -> Iterator[Problem]:
    """Refuse a run that is a generator, or asynchronous in a thread."""
    if inspect.isgeneratorfunction(run) or inspect.isasyncgenfunction(run):
        fix = "return one Result in place of `yield`"
        yield candidate.problem("E106", "run must not be a generator", fix)
    if candidate.strategy.runner == "thread" and inspect.iscoroutinefunction(run):
        fix = 'write a plain `def run`, or take `runner = "thread"` away'
        yield candidate.problem("E110", "an async run cannot run in a thread", fix)


def _signature(candidate: StrategyCandidate, method: str) -> Iterator[Problem]:
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


CREATE_SECONDS: Final = 30.0


def validate(
    candidate: StrategyCandidate, settings: Mapping[str, object]
) -> LoadedStrategy | list[Problem]:
    """Look at one strategy, create it, and set its parameters.

    Args:
        candidate: what the file defines.
        settings: parameters from the configuration, by name.
    """
    problems = [*check_declarations(candidate), *check_methods(candidate)]
    if problems:
        return problems
    instance = _create(candidate)
    if isinstance(instance, Problem):
        return [instance]
    if problems := list(_apply(candidate, instance, settings)):
        return problems
    return _loaded(candidate, instance)


def _create(candidate: StrategyCandidate) -> Strategy | Problem:
    try:
        return watchdog.call(CREATE_SECONDS, candidate.strategy)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything
        fix = "make __init__ work without arguments; settings come by param(...)"
        message = f"creating it raised {describe(error)}"
        return candidate.problem("E111", message, fix)


def _apply(
    candidate: StrategyCandidate, instance: Strategy, settings: Mapping[str, object]
) -> Iterator[Problem]:
    declared = params_of(candidate.strategy)
    for key, value in settings.items():
        if key not in declared:
            near = difflib.get_close_matches(key, declared, n=1)
            known = ", ".join(declared) or "none"
            fix = f"did you mean {near[0]!r}?" if near else f"its parameters: {known}"
            message = f"the configuration sets {key!r}, which is no parameter of it"
            yield candidate.problem("E108", message, fix)
            continue
        try:
            setattr(instance, key, value)
        except ParamError as error:
            fix = f"correct strategies.{candidate.name}.{key} in the configuration"
            yield candidate.problem("E108", str(error), fix)


def params_of(cls: type[Strategy]) -> dict[str, Param]:
    """Give the parameters that a strategy declares, its bases' first."""
    return {
        name: value
        for base in reversed(cls.__mro__)
        for name, value in vars(base).items()
        if isinstance(value, Param)
    }


def _loaded(candidate: StrategyCandidate, instance: Strategy) -> LoadedStrategy:
    cls = candidate.strategy
    run = getattr(instance, "run")  # noqa: B009 - the base class does not declare it
    sources = closure(cls.__module__) or (candidate.source,)
    default: RunnerName = "loop" if inspect.iscoroutinefunction(run) else "thread"
    return LoadedStrategy(
        name=candidate.name,
        class_name=cls.__name__,
        version=cls.version,
        description=(inspect.cleandoc(cls.__doc__ or "").splitlines() or [""])[0],
        path=candidate.source.path,
        line=candidate.line,
        file=candidate.file,
        module=cls.__module__,
        sources=tuple(source.path for source in sources),
        fingerprint=_fingerprint(sources),
        runner=cls.runner or default,
        timeout=cls.needs.seconds if cls.timeout is None else cls.timeout,
        needs=cls.needs,
        instance=instance,
        run=run,
        run_arguments=arguments_of(cls, "run") or (),
        params={name: getattr(instance, name) for name in params_of(cls)},
        hooks=hooks_of(instance, arguments_of),
        distribution=candidate.distribution,
    )


def _fingerprint(sources: Sequence[Source]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for source in sources:
        text = f"{source.path.name}\0{len(source.text)}\0{source.text}"
        digest.update(text.encode(errors="surrogatepass"))
    return digest.hexdigest()
