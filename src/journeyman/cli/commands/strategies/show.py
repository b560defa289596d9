"""`journeyman strategies show`: one strategy, with its parameters and its figures."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from journeyman.cli.output import answer, facts, say, table
from journeyman.cli.session import Session, command
from journeyman.domain.errors import JourneymanError

if TYPE_CHECKING:
    from journeyman.cli.strategies import Past, StrategyFolder
    from journeyman.journal.track_records import Group, TrackRecord
    from journeyman.strategies.api import Needs, Param
    from journeyman.strategies.loading.loaded import LoadedStrategy


def forecast_beside_outcome(
    records: "Mapping[Group, TrackRecord]", strategy: str
) -> dict[str, Any] | None:
    """Sum up a strategy's kinds; None where none of its tasks has ended."""
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


def in_words(figures: dict[str, Any] | None) -> str:
    """Say it in a line; empty where there is nothing to say."""
    if figures is None:
        return ""
    return (
        f"of {figures['tasks']} tasks that ended: "
        f"{figures['expected_credits']:g} credits, {figures['credits']} came · "
        f"{figures['expected_seconds']:g} s, they took {figures['seconds']:g} s"
    )


@command("show", example="journeyman strategies show count_words")
def show_strategy(
    session: Session,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Its name, class, file or path.")
    ],
    *,
    strategies: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The strategy files to load.")
    ] = None,
) -> None:
    """Show one strategy: what it wants and needs, its parameters, how it fares."""
    from journeyman.cli.strategies import open_strategies, past, pick

    shelf = open_strategies(session, strategies)
    loaded = pick(shelf, name)
    data = _describe(loaded, shelf, past(session, shelf))
    data["shadow"] = _shadow(session, loaded.name)
    data["says"] = _said(session, loaded)
    answer(as_json=session.as_json, data=data, show=lambda: _show(data))


def _said(session: Session, loaded: "LoadedStrategy") -> Any:  # noqa: ANN401 - the strategy's own JSON
    """Give what its `status` tells the running daemon; None where none answers."""
    try:
        with session.daemon() as daemon:
            status: dict[str, Any] = dict(daemon.status())
    except JourneymanError:
        return None
    return status.get("strategy_status", {}).get(loaded.name)


def _shadow(session: Session, name: str) -> dict[str, Any] | None:
    """Give what it would have done in shadow; None where it never was there."""
    from journeyman.cli.commands.strategies.shadow import brief, row_of

    score = brief(session, name)
    return row_of(score) if score else None


def _describe(
    loaded: "LoadedStrategy", shelf: "StrategyFolder", known: "Past | None"
) -> dict[str, Any]:
    from journeyman.cli.strategies import state_of, trouble

    return {
        "name": loaded.name,
        "version": loaded.version,
        "api": loaded.instance.api,
        "description": loaded.description,
        "state": state_of(loaded, shelf, known),
        "trouble": trouble(loaded, known),
        "from": f"{loaded.path}:{loaded.line}",
        "files": list(map(str, loaded.sources)),
        "distribution": loaded.distribution,
        "fingerprint": loaded.fingerprint,
        "wants": _wants(loaded),
        "runner": loaded.runner,
        "timeout_seconds": loaded.timeout,
        "isolation": _isolation(loaded),
        "needs": _needs(loaded.needs),
        "hooks": sorted(loaded.hooks),
        "examples": len(loaded.instance.examples),
        "parameters": _parameters(loaded, shelf),
        **_figures(loaded, known),
    }


def _wants(loaded: "LoadedStrategy") -> dict[str, Any]:
    from journeyman.strategies.api import Strategy

    cls = type(loaded.instance)
    return {
        "kinds": sorted(cls.kinds),
        "tags": sorted(cls.tags),
        "inputs": {name: kind.__name__ for name, kind in cls.inputs.items()},
        "min_reward": cls.min_reward,
        "own_method": cls.wants is not Strategy.wants,
    }


def _isolation(loaded: "LoadedStrategy") -> dict[str, str]:
    """Tell what this system keeps a strategy's process from, and by what."""
    from journeyman.strategies.child.confinement import available

    return dict(available()) if loaded.runner == "process" else {}


def _needs(needs: "Needs") -> dict[str, Any]:
    return {
        "hosts": list(needs.hosts),
        "files": list(needs.files),
        "seconds": needs.seconds,
        "memory_mb": needs.memory_mb,
        "credits": needs.credits,
    }


def _parameters(
    loaded: "LoadedStrategy", shelf: "StrategyFolder"
) -> list[dict[str, Any]]:
    from journeyman.strategies.loading.validation import params_of

    origin = shelf.settings.origin
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


def _allowed(param: "Param") -> str:
    """Say which values it takes: `int, 1 or more, less than 10`."""
    if param.choices is not None:
        return " | ".join(map(str, param.choices))
    words = {"ge": "{} or more", "le": "{} or less", "gt": "more than {}"}
    limits = (
        words.get(sign, "less than {}").format(bound)
        for sign, bound in param.bounds.items()
    )
    return ", ".join((param.type.__name__, *limits))


def _figures(loaded: "LoadedStrategy", known: "Past | None") -> dict[str, Any]:
    foreseen = forecast_beside_outcome(known.records, loaded.name) if known else None
    score = known.scores.get(loaded.name) if known else None
    if score is None:
        return {"figures": None, "foresight": foreseen}
    return {
        "figures": {
            "wants_24h": score.wanted,
            "done": score.completed,
            "failed": score.failed,
            "credits": score.credits,
        },
        "foresight": foreseen,
    }


def _show(data: dict[str, Any]) -> None:
    facts(
        {
            "strategy": f"{data['name']} {data['version']} (api {data['api']})",
            "does": data["description"],
            "state": data["state"],
            "trouble": data["trouble"],
            "from": data["distribution"] or data["from"],
            "files": "\n".join(data["files"]) if len(data["files"]) > 1 else "",
            "wants": _wanted(data["wants"]),
            "runs": _place(data),
            "kept": " · ".join(f"{k}: {by}" for k, by in data["isolation"].items()),
            "needs": _needed(data["needs"]),
            "hooks": ", ".join(data["hooks"]),
            "examples": str(data["examples"]),
            "so far": _so_far(data["figures"]),
            "expected": in_words(data["foresight"]),
            "in shadow": _in_shadow(data["shadow"]),
            "says": _text(data["says"]),
        },
    )
    if data["parameters"]:
        say()
        columns = ("parameter", "value", "allowed", "origin", "help")
        table(
            columns,
            [
                [row["name"], *(str(row[column]) for column in columns[1:])]
                for row in data["parameters"]
            ],
        )


def _text(said: Any) -> str:  # noqa: ANN401 - any JSON
    return said if isinstance(said, str) else json.dumps(said) if said else ""


def _wanted(wants: dict[str, Any]) -> str:
    inputs = ", ".join(f"{name}: {kind}" for name, kind in wants["inputs"].items())
    parts = {
        "kinds": ", ".join(wants["kinds"]),
        "tags": ", ".join(wants["tags"]),
        "inputs": inputs,
        "reward": f"{wants['min_reward']} or more" if wants["min_reward"] else "",
    }
    said = [f"{label} {text}" for label, text in parts.items() if text]
    return " · ".join([*said, *(["asks its own wants"] if wants["own_method"] else [])])


def _place(data: dict[str, Any]) -> str:
    limit = data["timeout_seconds"]
    return f"{data['runner']}, " + (
        "the owner's time limit" if limit is None else f"at most {limit:g} s"
    )


def _needed(needs: dict[str, Any]) -> str:
    said = {
        "hosts": ", ".join(needs["hosts"]),
        "files": ", ".join(needs["files"]),
        "memory": f"{needs['memory_mb']} MiB" if needs["memory_mb"] else "",
        "credits": f"{needs['credits']:g} a run" if needs["credits"] else "",
    }
    return " · ".join(f"{label} {text}" for label, text in said.items() if text)


def _in_shadow(score: dict[str, Any] | None) -> str:
    if score is None:
        return ""
    return (
        f"would want {score['wanted']} of {score['asked']} tasks · "
        f"{score['errors']} errors · journeyman strategies scoreboard "
        f"{score['strategy']}"
    )


def _so_far(figures: dict[str, int] | None) -> str:
    if figures is None:
        return ""
    return (
        f"{figures['done']} done · {figures['failed']} failed · "
        f"{figures['credits']:+d} credits · wanted {figures['wants_24h']} in 24 h"
    )
