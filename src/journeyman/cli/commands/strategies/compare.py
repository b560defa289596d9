"""`journeyman strategies compare`: which of two would have brought more."""

from dataclasses import dataclass
from random import Random
from typing import Any

from journeyman.cli import catalog
from journeyman.cli.output import plural, print_fields, print_table, print_text
from journeyman.cli.recordings import (
    IN_WORDS,
    STRATEGY_FAILED,
    Chosen,
    LastOption,
    judge_recordings,
    seen_from,
    span,
    sums_as_json,
)
from journeyman.cli.session import Session, command
from journeyman.cli.spans import SinceOption, time_of
from journeyman.daemon.backtest import (
    CONFIDENCE,
    RESAMPLES,
    Interval,
    Judged,
    StrategySums,
    add_up,
    paired_bootstrap,
)
from journeyman.daemon.system import SystemClock
from journeyman.domain.errors import UsageError
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.registry import Registry

SEED = 1
"""The same tasks give the same interval, however often they are asked."""
FEW = 30
"""With fewer tasks that differ, the interval is narrower than it should be."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """Two strategies, each alone on the same recorded tasks."""

    strategies: tuple[LoadedStrategy, LoadedStrategy]
    judged: list[tuple[Judged, ...]]

    @property
    def differences(self) -> list[float]:
        """By how many credits the second did better, by task."""
        return [second.net - first.net for first, second in self.judged]

    @property
    def totals(self) -> tuple[StrategySums, ...]:
        """What each would have done."""
        return tuple(
            add_up([pair[side] for pair in self.judged])[loaded.name]
            for side, loaded in enumerate(self.strategies)
        )


@command("compare", example="journeyman strategies compare count_words word_count")
def compare(
    session: Session,
    a: catalog.StrategyArgument,
    b: catalog.StrategyArgument,
    *,
    last: LastOption = 1_000,
    since: SinceOption = None,
    strategies: catalog.StrategiesOption = None,
) -> int:
    """Show which of two strategies would have brought more.

    Each is asked about the recorded tasks, as if it were alone. The difference has a
    confidence interval of 95 %: where 0 is in it, neither is proven to be better.
    Nothing is sent. The exit code is 1 if a strategy fails at a task.
    """
    available = catalog.AvailableStrategies.load(session, strategies, [a, b])
    both = (available.find(a), available.find(b))
    if both[0].path == both[1].path and both[0].name == both[1].name:
        raise UsageError(
            f"{a!r} and {b!r} are the same strategy",
            "Name two. To compare two versions, name the file of the other one.",
        )
    chosen = Chosen(
        last=last, earliest=time_of(since, SystemClock().now(), session.zone())
    )
    sets = [Registry([one]) for one in both]
    judged = judge_recordings(session, available, sets, chosen)
    found = Comparison(strategies=both, judged=judged)
    interval = paired_bootstrap(found.differences, Random(SEED))  # noqa: S311 - repeatable on purpose
    session.answer(_as_json(found, interval), lambda: _show(found, interval))
    return STRATEGY_FAILED if any(one.errors for one in found.totals) else 0


def _as_json(found: Comparison, interval: Interval) -> dict[str, Any]:
    sides = zip("ab", found.strategies, found.totals, strict=True)
    return {
        **span(found.judged),
        **{side: _side_as_json(loaded, sums) for side, loaded, sums in sides},
        "difference": {
            "total": round(sum(found.differences), 3),
            "per_task": round(interval.mean, 6),
            "per_task_low": round(interval.low, 6),
            "per_task_high": round(interval.high, 6),
            "confidence": CONFIDENCE,
            "method": f"paired percentile bootstrap, {RESAMPLES} samples",
            "tasks_that_differ": _count_differing(found),
        },
        "better": {1: "b", -1: "a", 0: None}[interval.sign],
    }


def _side_as_json(loaded: LoadedStrategy, sums: StrategySums) -> dict[str, Any]:
    return {
        "strategy": loaded.name,
        "version": loaded.version,
        "from": f"{loaded.path}:{loaded.line}",
        **sums_as_json(sums),
    }


def _count_differing(found: Comparison) -> int:
    return sum(difference != 0 for difference in found.differences)


def _show(found: Comparison, interval: Interval) -> None:
    first, last = (found.judged[index][0].decision.at for index in (0, -1))
    print_fields(
        {
            "judged by": seen_from(len(found.judged), first, last),
            **{
                label: f"{one.name} {one.version} ({catalog.relative_path(one.path)})"
                for label, one in zip("AB", found.strategies, strict=True)
            },
        }
    )
    print()
    print_table(["", "A", "B"], [*_rows(*found.totals)])
    print()
    print_text(_verdict(found, interval))


def _rows(a: StrategySums, b: StrategySums) -> list[list[str | int]]:
    rows: list[list[str | int]] = [
        ["wants tasks", a.wanted, b.wanted],
        ["earns", f"{a.earned:.1f}", f"{b.earned:.1f}"],
        ["costs", f"{a.cost:.1f}", f"{b.cost:.1f}"],
        ["leaves", f"{a.net:.1f}", f"{b.net:.1f}"],
    ]
    for basis, words in IN_WORDS.items():
        if a.bases[basis] or b.bases[basis]:
            rows.append([f"tasks {words}", a.bases[basis], b.bases[basis]])
    if a.errors or b.errors:
        rows.append(["errors in wants", a.errors, b.errors])
    return rows


def _verdict(found: Comparison, interval: Interval) -> str:
    differing = _count_differing(found)
    if not differing:
        return "They leave the same: no task brings one of them more than the other."
    total = sum(found.differences)
    count = len(found.judged)
    low, high = interval.low * count, interval.high * count
    by_task = (
        f"{interval.mean:+.3f} a task, {interval.low:+.3f} to {interval.high:+.3f}"
    )
    lines = [
        f"B less A: {total:+.1f} credits ({by_task})",
        f"95 % sure: {low:+.1f} to {high:+.1f} credits",
    ]
    better = {1: "B", -1: "A"}.get(interval.sign, "Neither")
    is_sure = differing >= FEW and interval.sign
    proven = "is" if is_sure else "seems" if interval.sign else "is proven to be"
    lines.append(f"{better} {proven} better.")
    if differing < FEW:
        lines.append(
            f"They differ in {plural(differing, 'task')} only: that is few, and the "
            "interval is too narrow. Record more tasks before you rely on it."
        )
    return "\n".join(lines)
