"""Learning what is in strategy files without importing them: children describe them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from journeyman.strategies.child.description import (
    DescriptionError,
    Origin,
    definition_from,
    problem_from,
)
from journeyman.strategies.loading.definitions import (
    InstalledStrategy,
    StrategyDefinition,
    installed_strategies,
)
from journeyman.strategies.loading.importing import IMPORT_SECONDS
from journeyman.strategies.loading.loader import Described
from journeyman.strategies.loading.problems import Problem
from journeyman.strategies.loading.source import Source, read
from journeyman.strategies.printed import last_lines
from journeyman.strategies.running.child import (
    Child,
    ChildGoneError,
    Isolation,
    describing_config,
    launch,
    new_home,
)
from journeyman.strategies.running.process import end_shielded
from journeyman.strategies.running.template import Template

AT_ONCE = 4
"""Files; each has a child of its own, so that no file can meddle with another."""

Found = Sequence[StrategyDefinition | Problem]


@dataclass(frozen=True, kw_only=True, slots=True)
class Describer:
    """Has confined children import strategy files, and describe what is in them."""

    isolation: Isolation
    template: Template

    async def describe(self, files: Sequence[Path], names: Sequence[str]) -> Described:
        """Return what is in these files, and behind the entry points of these names."""
        found: dict[Path | str, Found] = {}
        limiter = anyio.CapacityLimiter(AT_ONCE)
        points = installed_strategies() if names else ()

        async def learn(key: Path | str, origin: Origin, entry_point: str) -> None:
            async with limiter:
                found[key] = await self._ask(origin, entry_point)

        async with anyio.create_task_group() as group:
            for file in files:
                source = read(file)
                if isinstance(source, Problem):
                    found[file] = [source]
                else:
                    group.start_soon(learn, file, Origin(source, file.resolve()), "")
            for point in points:
                if point.name in names:
                    group.start_soon(learn, point.name, _origin_of(point), point.name)
        return found

    async def _ask(self, origin: Origin, entry_point: str) -> Found:
        home = new_home(self.isolation)
        config = describing_config(origin.file, entry_point, self.isolation, home)
        child = Child(launch(config, self.template))
        problem = f"importing it took longer than {IMPORT_SECONDS:g} s"
        try:
            with anyio.move_on_after(IMPORT_SECONDS):
                return list(_read(await child.describe(), origin))
        except ChildGoneError as error:
            problem = str(error)
        except (DescriptionError, TypeError) as error:
            problem = f"its process described it wrongly: {error}"
        finally:
            await end_shielded(child)
        printed = last_lines(child.output.take())
        why = problem or f"importing it ended its process: {child.exit_reason}"
        fix = "correct what the file does at its top; it should only define things"
        return [origin.source.problem("E103", "\n".join([why, *printed]), fix)]


def _read(
    message: Mapping[str, Any], origin: Origin
) -> Iterator[StrategyDefinition | Problem]:
    if not (message.get("described") or message.get("problems")):
        raise DescriptionError("it sent neither a strategy nor a problem")
    for one in message.get("described", ()):
        yield definition_from(one, origin)
    for one in message.get("problems", ()):
        yield problem_from(one, origin)


def _origin_of(point: InstalledStrategy) -> Origin:
    place = Path(f"{point.distribution} ({point.target})")
    source = Source(place)
    return Origin(source, Path("/nowhere"), point.distribution)
