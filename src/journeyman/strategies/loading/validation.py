"""Validating a strategy: every problem is reported at once, not only the first."""

import difflib
import hashlib
import inspect
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, get_args

from journeyman.domain.text import describe
from journeyman.strategies import watchdog
from journeyman.strategies.api import (
    API_VERSION,
    Example,
    Needs,
    NeedsError,
    Param,
    ParamError,
    RunnerName,
    Strategy,
)
from journeyman.strategies.loading import loaded
from journeyman.strategies.loading.confined import ConfinedStrategy
from journeyman.strategies.loading.definitions import StrategyDefinition
from journeyman.strategies.loading.importing import local_sources
from journeyman.strategies.loading.problems import Problem, did_you_mean
from journeyman.strategies.loading.source import Source


def check_declarations(definition: StrategyDefinition) -> Iterator[Problem]:
    """Check `api`, `name`, `version` and the other class attributes."""
    cls = definition.strategy
    if type(cls.api) is not int or cls.api != API_VERSION:
        fix = f"set `api = {API_VERSION}`, or install a journeyman that supports it"
        message = f"api = {cls.api!r}, but this journeyman supports api {API_VERSION}"
        yield definition.problem("E107", message, fix)
    for attribute, is_valid, fix in _rules(definition):
        if not is_valid:
            message = f"{attribute} = {getattr(cls, attribute)!r} is not valid"
            yield definition.problem("E110", message, fix)


def _rules(definition: StrategyDefinition) -> Iterator[tuple[str, bool, str]]:
    """Yield each attribute's name, whether it is valid, and what to write instead."""
    cls = definition.strategy
    is_name = bool(re.fullmatch(r"[a-z][a-z0-9_]{0,63}", definition.name))
    yield "name", is_name, "use lower-case letters, digits and `_`, such as word_count"
    yield "version", isinstance(cls.version, str), 'write a string, such as "1.0.0"'
    fix = 'write "loop", "thread" or "process", or leave it out'
    yield "runner", cls.runner in (None, *get_args(RunnerName)), fix
    seconds: object = cls.timeout
    is_time = seconds is None or (
        isinstance(seconds, int | float) and 0 < seconds < math.inf
    )
    yield "timeout", is_time, "write a number of seconds above 0"
    yield "needs", isinstance(cls.needs, Needs), 'write Needs(hosts={"..."}, ...)'
    are_examples = isinstance(cls.examples, list | tuple) and all(
        isinstance(item, Example) for item in cls.examples
    )
    yield "examples", are_examples, "write a list of Example(...)"
    for attribute in ("kinds", "tags"):
        value = getattr(cls, attribute)
        # A plain string is a collection of strings too: the most common mistake.
        are_words = isinstance(value, set | frozenset | list | tuple) and all(
            isinstance(item, str) for item in value
        )
        fix = f'write a set of strings, such as {attribute} = {{"echo"}}'
        yield attribute, are_words, fix
    are_inputs = isinstance(cls.inputs, dict) and all(
        isinstance(name, str) and isinstance(kind, type)
        for name, kind in cls.inputs.items()
    )
    fix = 'write names and types, such as inputs = {"text": str}'
    yield "inputs", are_inputs, fix
    is_reward = isinstance(cls.min_reward, int)
    yield "min_reward", is_reward, "write a whole number of credits"


ORDINARY = (
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
)


def check_methods(definition: StrategyDefinition) -> Iterator[Problem]:
    """Check `run`, `wants` and the hooks, and that no method looks like a hook."""
    cls = definition.strategy
    run = getattr(cls, "run", None)
    if not callable(run):
        fix = "add `async def run(self, task, ctx)`, or `def run(self, task, ctx)`"
        yield definition.problem("E105", f"{cls.__name__} has no run method", fix)
    else:
        yield from _signature(definition, "run")
        yield from _form(definition, run)
    yield from _signature(definition, "wants")
    if inspect.iscoroutinefunction(cls.wants):
        fix = "write `def wants(self, task)`; it is asked for every task in a listing"
        yield definition.problem("E106", "wants must not be async", fix)
    if not (
        cls.wants is not Strategy.wants
        or cls.kinds
        or cls.tags
        or cls.inputs
        or cls.min_reward
    ):
        message = "it does not declare which tasks it wants"
        fix = 'add `kinds = {"..."}` or `tags = {"..."}`, or a method wants(self, task)'
        yield definition.problem("E112", message, _meant_instead(cls) or fix)
    for hook in loaded.HOOKS:
        if hasattr(cls, hook):
            yield from _hook(definition, hook)
    yield from _unknown_hooks(definition)


DECLARING = ("kinds", "tags", "inputs", "min_reward")


def _meant_instead(cls: type[Strategy]) -> str:
    """Return the declaration that one of the class's own names looks like."""
    for name in vars(cls):
        if near := difflib.get_close_matches(name, DECLARING, n=1, cutoff=0.75):
            return f"did you mean `{near[0]}`? it says `{name}`"
    return ""


def _hook(definition: StrategyDefinition, hook: str) -> Iterator[Problem]:
    """Check one hook: its arguments, and that its form can be called."""
    yield from _signature(definition, hook)
    method = getattr(definition.strategy, hook)
    if inspect.isasyncgenfunction(method) or (
        inspect.isgeneratorfunction(method) and hook != "post"
    ):
        fix = "return the value instead of yielding it"
        yield definition.problem("E106", f"{hook} must not be a generator", fix)
    if hook in loaded.SYNC_ONLY and inspect.iscoroutinefunction(method):
        fix = f"write `def {hook}(self)`; store what it returns in on_outcome"
        yield definition.problem("E106", f"{hook} must not be async", fix)


def _unknown_hooks(definition: StrategyDefinition) -> Iterator[Problem]:
    """Refuse a method that looks like a hook and would silently never be called."""
    cls = definition.strategy
    for name in sorted(dir(cls)):
        if name in loaded.NEVER_CALLED:
            message = f"{name} is never called: {loaded.NEVER_CALLED[name]}"
        elif name.startswith("on_") and name not in loaded.HOOKS:
            message = f"{name} is not a hook, and is never called"
        else:
            continue
        hint = did_you_mean(name, loaded.HOOKS)
        otherwise = f"remove it, or name it _{name} if you call it yourself"
        fix = f"{hint} Otherwise {otherwise}" if hint else otherwise
        yield definition.problem("E113", message, fix)


def _form(definition: StrategyDefinition, run: Callable[..., Any]) -> Iterator[Problem]:
    """Refuse a run that is a generator, or `async` in a thread."""
    if inspect.isgeneratorfunction(run) or inspect.isasyncgenfunction(run):
        fix = "return one Result instead of yielding it"
        yield definition.problem("E106", "run must not be a generator", fix)
    if definition.strategy.runner == "thread" and inspect.iscoroutinefunction(run):
        fix = 'write a plain `def run`, or remove `runner = "thread"`'
        yield definition.problem("E110", "an async run cannot run in a thread", fix)


def _signature(definition: StrategyDefinition, method: str) -> Iterator[Problem]:
    allowed = _allowed(definition.strategy, method)
    names = arguments_of(definition.strategy, method)
    given = ", ".join(("self", *allowed))
    fix = f"write `def {method}({given})`; leave out what you do not need"
    if names is None:
        message = f"{method} must be a method with ordinary arguments"
        yield definition.problem("E106", message, fix)
    elif unknown := [name for name in names if name not in allowed]:
        message = f"{method} takes {unknown[0]!r}, which is never passed to it"
        yield definition.problem("E106", message, fix)


def arguments_of(cls: type[Strategy], method: str) -> tuple[str, ...] | None:
    """Return the arguments to pass; None when the signature cannot be satisfied."""
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
    """Return the arguments that a method may take."""
    if method == "run":
        return ("task", "ctx", *cls.inputs)
    return loaded.HOOKS.get(method, ("task",))


CREATE_SECONDS = 30.0


def validate(
    definition: StrategyDefinition, settings: Mapping[str, object]
) -> loaded.LoadedStrategy | list[Problem]:
    """Check one strategy, create it, and set its parameters.

    Args:
        definition: what the file defines.
        settings: parameters from the configuration, by name.
    """
    is_confined = issubclass(definition.strategy, ConfinedStrategy)
    problems = list(check_declarations(definition))
    if not is_confined:  # else its own process has checked them
        problems += check_methods(definition)
    if problems:
        return problems
    instance = _create(definition)
    if isinstance(instance, Problem):
        return [instance]
    if problems := list(_apply(definition, instance, settings)):
        return problems
    if isinstance(instance, ConfinedStrategy):
        return _confined(definition, instance)
    return _loaded(definition, instance)


def _create(definition: StrategyDefinition) -> Strategy | Problem:
    try:
        return watchdog.call(CREATE_SECONDS, definition.strategy)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything
        fix = "make __init__ work without arguments; declare settings with param(...)"
        message = f"creating it raised {describe(error)}"
        return definition.problem("E111", message, fix)


def _apply(
    definition: StrategyDefinition, instance: Strategy, settings: Mapping[str, object]
) -> Iterator[Problem]:
    declared = params_of(definition.strategy)
    for key, value in settings.items():
        if key not in declared:
            known = ", ".join(declared) or "none"
            fix = did_you_mean(key, declared) or f"its parameters: {known}"
            message = f"the configuration sets {key!r}, which is not a parameter"
            yield definition.problem("E108", message, fix)
            continue
        try:
            setattr(instance, key, value)
        except ParamError as error:
            fix = f"correct strategies.{definition.name}.{key} in the configuration"
            yield definition.problem("E108", str(error), fix)
    try:
        instance.needs.filled(_values(instance))
    except NeedsError as error:
        fix = "correct the parameter, or the needs in the file"
        yield definition.problem("E108", str(error), fix)


def params_of(cls: type[Strategy]) -> dict[str, Param]:
    """Return the parameters that a strategy declares, its bases' first."""
    return {
        name: value
        for base in reversed(cls.__mro__)
        for name, value in vars(base).items()
        if isinstance(value, Param)
    }


def _values(instance: Strategy) -> dict[str, bool | int | float | str]:
    """Return the value of each parameter, as its owner set it."""
    return {name: getattr(instance, name) for name in params_of(type(instance))}


def _loaded(
    definition: StrategyDefinition, instance: Strategy
) -> loaded.LoadedStrategy:
    cls, params = definition.strategy, _values(instance)
    run = getattr(instance, "run")  # noqa: B009 - the base class does not declare it
    sources = local_sources(cls.__module__) or (definition.source,)
    default: RunnerName = "loop" if inspect.iscoroutinefunction(run) else "thread"
    return loaded.LoadedStrategy(
        name=definition.name,
        class_name=cls.__name__,
        version=cls.version,
        description=(inspect.cleandoc(cls.__doc__ or "").splitlines() or [""])[0],
        path=definition.source.path,
        line=definition.line,
        file=definition.file,
        module=cls.__module__,
        sources=tuple(source.path for source in sources),
        fingerprint=_fingerprint(sources),
        runner=cls.runner or default,
        timeout=cls.needs.seconds if cls.timeout is None else cls.timeout,
        needs=cls.needs.filled(params),
        instance=instance,
        run=run,
        run_arguments=arguments_of(cls, "run") or (),
        params=params,
        hooks=_hooks_of(instance),
        distribution=definition.distribution,
        import_seconds=definition.import_seconds,
    )


def _confined(
    definition: StrategyDefinition, instance: ConfinedStrategy
) -> loaded.LoadedStrategy:
    cls, described = type(instance), instance.description
    params = _values(instance)
    return loaded.LoadedStrategy(
        name=definition.name,
        class_name=cls.__name__,
        version=cls.version,
        description=cls.__doc__ or "",
        path=definition.source.path,
        line=definition.line,
        file=definition.file,
        sources=described.sources,
        fingerprint=described.fingerprint,
        runner="process",
        timeout=cls.timeout,
        needs=cls.needs.filled(params),
        instance=instance,
        run=None,
        run_arguments=described.run_arguments,
        params=params,
        hooks={
            name: loaded.Hook(name, loaded.HOOKS[name], is_async, _elsewhere)
            for name, is_async in described.hooks
        },
        distribution=definition.distribution,
        import_seconds=definition.import_seconds,
        is_confined=True,
    )


def _elsewhere() -> NoReturn:
    raise RuntimeError("the hooks of a confined strategy are called in its process")


def _hooks_of(instance: Strategy) -> dict[str, loaded.Hook]:
    found = {}
    for name in loaded.HOOKS:
        method = getattr(instance, name, None)
        if callable(method):
            arguments = arguments_of(type(instance), name) or ()
            is_async = inspect.iscoroutinefunction(method)
            found[name] = loaded.Hook(name, arguments, is_async, method)
    return found


def _fingerprint(sources: Sequence[Source]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for source in sources:
        text = f"{source.path.name}\0{len(source.text)}\0{source.text}"
        digest.update(text.encode(errors="surrogatepass"))
    return digest.hexdigest()
