"""Is a strategy fit to run? Every problem is told at once, not only the first."""

import difflib
import hashlib
import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from journeyman.strategies import watchdog
from journeyman.strategies.api import Param, ParamError, RunnerName, Strategy
from journeyman.strategies.candidates import Candidate
from journeyman.strategies.declarations import check_declarations
from journeyman.strategies.hooks import hooks_of
from journeyman.strategies.loaded import Loaded
from journeyman.strategies.local_modules import closure
from journeyman.strategies.problems import Problem
from journeyman.strategies.signatures import arguments_of, check_methods
from journeyman.strategies.source import Source
from journeyman.strategies.wording import describe

CREATE_SECONDS: Final = 30.0


def validate(
    candidate: Candidate, settings: Mapping[str, object]
) -> Loaded | list[Problem]:
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


def _create(candidate: Candidate) -> Strategy | Problem:
    try:
        return watchdog.call(CREATE_SECONDS, candidate.strategy)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything
        fix = "make __init__ work without arguments; settings come by param(...)"
        message = f"creating it raised {describe(error)}"
        return candidate.problem("E111", message, fix)


def _apply(
    candidate: Candidate, instance: Strategy, settings: Mapping[str, object]
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


def _loaded(candidate: Candidate, instance: Strategy) -> Loaded:
    cls = candidate.strategy
    run = getattr(instance, "run")  # noqa: B009 - the base class does not declare it
    sources = closure(cls.__module__) or (candidate.source,)
    default: RunnerName = "loop" if inspect.iscoroutinefunction(run) else "thread"
    return Loaded(
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
