"""`journeyman strategies show`: one strategy, with its parameters and its results."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from journeyman.cli import catalog
from journeyman.cli.commands.strategies.shadow import shadow_score
from journeyman.cli.output import print_fields, print_table
from journeyman.cli.session import Session, command
from journeyman.domain.errors import JourneymanError
from journeyman.journal.track_records import Group, TrackRecord
from journeyman.strategies.api import Param
from journeyman.strategies.api.strategy import decides_itself
from journeyman.strategies.child.confinement import (
    available_confinement as available_isolation,
)
from journeyman.strategies.loading.loaded import PROCESSES, LoadedStrategy
from journeyman.strategies.loading.validation import params_of


@command("show", example="journeyman strategies show count_words")
def show_strategy(
    session: Session,
    name: catalog.StrategyArgument,
    *,
    strategies: catalog.StrategiesOption = None,
) -> None:
    """Show what a strategy wants and needs, and its results."""
    available = catalog.AvailableStrategies.load(session, strategies, [name])
    loaded = available.find(name)
    history = catalog.StrategyHistory.read(session, available)
    data = {
        **_declarations(loaded),
        "state": history.state_of(loaded),
        "quarantine_reason": history.quarantine_reason(loaded),
        "parameters": _parameters(loaded, available),
        "figures": history.figures(loaded.name),
        "forecast": compare_forecast(history.track_records, loaded.name),
        "shadow": _shadow(session, loaded.name),
        "status": _status(session, loaded.name),
    }
    session.answer(data, lambda: _show(data))


def _declarations(loaded: LoadedStrategy) -> dict[str, Any]:
    cls = type(loaded.instance)
    needs = asdict(loaded.needs)
    return {
        "name": loaded.name,
        "version": loaded.version,
        "api": loaded.instance.api,
        "description": loaded.description,
        "from": f"{loaded.path}:{loaded.line}",
        "files": list(map(str, loaded.sources)),
        "distribution": loaded.distribution,
        "fingerprint": loaded.fingerprint,
        "wants": {
            "kinds": sorted(cls.kinds),
            "tags": sorted(cls.tags),
            "inputs": {name: kind.__name__ for name, kind in cls.inputs.items()},
            "min_reward": cls.min_reward,
            "own_method": decides_itself(cls),
        },
        "runner": loaded.runner,
        "timeout_seconds": loaded.timeout,
        # What this system keeps a strategy's process from, and by what.
        "isolation": dict(available_isolation()) if loaded.runner in PROCESSES else {},
        "needs": {
            **needs,
            "hosts": list(needs["hosts"]),
            "files": list(needs["files"]),
            "labels": list(needs["labels"]),
        },
        "hooks": sorted(loaded.hooks),
        "examples": len(loaded.instance.examples),
    }


def _parameters(
    loaded: LoadedStrategy, available: catalog.AvailableStrategies
) -> list[dict[str, Any]]:
    origin = available.settings.origin
    return [
        {
            "name": name,
            "value": loaded.params[name],
            "default": param.default,
            "allowed": _allowed(param),
            "origin": origin.get(f"strategies.params.{loaded.name}.{name}", "default"),
            "help": param.help,
        }
        for name, param in params_of(type(loaded.instance)).items()
    ]


def _allowed(param: Param) -> str:
    """Return the values that it takes: `int, 1 or more, less than 10`."""
    if param.choices is not None:
        return " | ".join(map(str, param.choices))
    words = {
        "ge": "{} or more",
        "le": "{} or less",
        "gt": "more than {}",
        "lt": "less than {}",
    }
    limits = (words[sign].format(bound) for sign, bound in param.bounds.items())
    return ", ".join((param.type.__name__, *limits))


def compare_forecast(
    records: Mapping[Group, TrackRecord], strategy: str
) -> dict[str, Any] | None:
    """Sum up what was expected and what came; None if none of its tasks has ended."""
    ours = [record for (name, _), record in records.items() if name == strategy]
    if not ours:
        return None
    return {
        "tasks": sum(one.tasks for one in ours),
        "expected_credits": round(sum(one.expected_credits for one in ours), 1),
        "credits": sum(one.credits for one in ours),
        "expected_seconds": round(sum(one.expected_seconds for one in ours), 1),
        "seconds": round(sum(one.actual_seconds for one in ours), 1),
    }


def _shadow(session: Session, name: str) -> dict[str, Any] | None:
    try:
        score = shadow_score(session, name)
    except JourneymanError:
        return None
    return asdict(score) if score else None


def _status(session: Session, name: str) -> Any:  # noqa: ANN401 - the strategy's own JSON
    """Return what its `status` returns in the running daemon; None if none runs."""
    try:
        return session.status().get("strategy_status", {}).get(name)
    except JourneymanError:
        return None


def _show(data: dict[str, Any]) -> None:
    status = data["status"]
    print_fields(
        {
            "strategy": f"{data['name']} {data['version']} (api {data['api']})",
            "does": data["description"],
            "state": data["state"],
            "quarantine": data["quarantine_reason"],
            "from": data["distribution"] or data["from"],
            "files": "\n".join(data["files"]) if len(data["files"]) > 1 else "",
            "wants": _wants(data["wants"]),
            "runs": _runs(data),
            "isolation": " · ".join(
                f"{k}: {by}" for k, by in data["isolation"].items()
            ),
            "needs": _needs(data["needs"]),
            "hooks": ", ".join(data["hooks"]),
            "examples": str(data["examples"]),
            "so far": _so_far(data["figures"]),
            "expected": forecast_in_words(data["forecast"]),
            "in shadow": _in_shadow(data["shadow"]),
            "status": status if isinstance(status, str) else _json(status),
        },
    )
    if data["state"] != catalog.ACTIVE:
        print()
        print("Why less is earned than could be: journeyman why")
    if data["parameters"]:
        print()
        columns = ("value", "allowed", "origin", "help")
        rows = [
            [row["name"], *(str(row[column]) for column in columns)]
            for row in data["parameters"]
        ]
        print_table(
            ("parameter", *columns),
            rows,
            texts=("help", "allowed"),
            drop=("origin", "allowed"),
        )


def _json(status: object) -> str:
    return json.dumps(status) if status else ""


def _wants(wants: dict[str, Any]) -> str:
    inputs = ", ".join(f"{name}: {kind}" for name, kind in wants["inputs"].items())
    parts = {
        "kinds": ", ".join(wants["kinds"]),
        "tags": ", ".join(wants["tags"]),
        "inputs": inputs,
        "reward": f"{wants['min_reward']} or more" if wants["min_reward"] else "",
    }
    own_method = "decided by its `wants` method" if wants["own_method"] else ""
    return " · ".join(filter(None, (_joined(parts), own_method)))


def _joined(parts: dict[str, str]) -> str:
    return " · ".join(f"{label} {text}" for label, text in parts.items() if text)


def _runs(data: dict[str, Any]) -> str:
    limit = data["timeout_seconds"]
    timeout = "with the time limit of the settings"
    if limit is not None:
        timeout = f"at most {limit:g} s"
    return f"{data['runner']}, {timeout}"


def _needs(needs: dict[str, Any]) -> str:
    return _joined(
        {
            "hosts": ", ".join(needs["hosts"]),
            "files": ", ".join(needs["files"]),
            "memory": f"{needs['memory_mb']} MiB" if needs["memory_mb"] else "",
            "credits": f"{needs['credits']:g} a run" if needs["credits"] else "",
            "GPUs": f"{needs['gpus']:g}" if needs["gpus"] else "",
            "labels": ", ".join(needs["labels"]),
        }
    )


def _so_far(figures: dict[str, int] | None) -> str:
    if figures is None:
        return ""
    return (
        f"{figures['done']} done · {figures['failed']} failed · "
        f"{figures['credits']:+d} credits · wanted {figures['wants_24h']} in 24 h"
    )


def forecast_in_words(forecast: dict[str, Any] | None) -> str:
    """Return it in a line; empty if there is nothing to compare."""
    if forecast is None:
        return ""
    return (
        f"of {forecast['tasks']} tasks that ended: "
        f"{forecast['expected_credits']:g} credits, {forecast['credits']} came · "
        f"{forecast['expected_seconds']:g} s, they took {forecast['seconds']:g} s"
    )


def _in_shadow(score: dict[str, Any] | None) -> str:
    if score is None:
        return ""
    return (
        f"would want {score['wanted']} of {score['asked']} tasks · "
        f"{score['errors']} errors · journeyman strategies scoreboard "
        f"{score['strategy']}"
    )
