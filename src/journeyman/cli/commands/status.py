"""`journeyman status`: an agent at a glance."""

import json
from collections.abc import Mapping
from typing import Any

from journeyman.cli.output import answer, counted, duration, facts, neutral, say, table
from journeyman.cli.session import Session, command
from journeyman.cli.strategies import FIGURES, strategy_figures
from journeyman.domain.errors import NotRunningError


@command("status", example="journeyman status --data-dir demo/data")
def status(session: Session) -> None:
    """Show the agent at a glance, and why it does no more.

    It asks the running daemon. Where none runs it reads the journal, and says so.
    """
    seen = look(session)

    def show() -> None:
        facts(sheet(seen))
        if seen["strategies"]:
            say()
            table(
                ["strategy", *FIGURES],
                [
                    [name, *strategy_figures(s)]
                    for name, s in seen["strategies"].items()
                ],
            )

    answer(as_json=session.as_json, data=seen, show=show)


Status = Mapping[str, Any]
LIFE = (
    *("completed", "lost", "declined", "failed", "rejected", "skipped", "wanted"),
    *("claiming", "claimed", "executing", "executed", "submitting", "submitted"),
    "completing",
)
"""The states in the order in which a person asks for them."""


def sheet(status: Status) -> dict[str, str]:
    """Give label and text for each line; an empty text is left out."""
    return {
        "state": _state(status),
        "agent": _agent(status),
        "token": _token(status),
        "held back": "\n".join(map(_held_back, status.get("held_back", ()))),
        "credits": _credits(status),
        "now": _now(status),
        "this run": _this_run(status),
        "all time": _all_time(status),
        "skipped": counted(status["skipped_because"].items())
        if status["skipped_because"]
        else "",
        "top-ups": "\n".join(map(_top_up, status["open_top_ups"])),
        "problems": _problems(status),
        "cannot": "\n".join(status.get("resting", {}).values()),
        "quarantine": "\n".join(
            _ill(name, ill) for name, ill in status.get("strategy_health", {}).items()
        ),
        "in shadow": ", ".join(status.get("shadow_strategies", ())),
        "strategies say": "\n".join(
            f"{name}: {_said(said)}"
            for name, said in status.get("strategy_status", {}).items()
        ),
        "data": str(status["data_directory"]),
    }


def _state(status: Status) -> str:
    if status["running"]:
        since = duration(status["up_seconds"])
        word = "PAUSED" if status["obstacle"] == "paused" else "RUNNING"
        why = status["obstacle"] if word == "RUNNING" else ""
        process = f"for {since} (process {status['pid']})"
        return f"{word} {process}{f', claims nothing: {why}' if why else ''}"
    if status["held_by"]:
        return (
            f"STARTING (process {status['held_by']} holds the data directory and takes "
            "no commands yet; its log says more)"
        )
    return "STOPPED (start it with `journeyman run`)"


def _agent(status: Status) -> str:
    if status["registration_unknown"]:
        return (
            "registration_unknown: a registration was sent and may have made an agent, "
            "but no answer came back; `journeyman run` asks again with the same key, a "
            "few times a day"
        )
    if not status["agent_id"]:
        return "has not joined a network yet"
    return f"{status['agent_id']} on {status['base_url']}"


def _token(status: Status) -> str:
    rejected = status.get("token_rejected")
    if not rejected:
        return ""
    since, said = rejected["rejected_since"][:16], neutral(rejected["message"])
    return (
        f"REJECTED by the network since {since} UTC ({said}); results are kept, and it "
        "is asked again once a minute. To begin anew: journeyman join --replace"
    )


def _held_back(held: Mapping[str, Any]) -> str:
    until = str(held["until"])[11:19]
    return f"{held['what']} until {until} UTC: {neutral(str(held['reason']))}"


def _credits(status: Status) -> str:
    moved = ", ".join(
        f"{kind} {amount:+d}" for kind, amount in status["ledger"].items() if amount
    )
    held = status["held_credits"]
    return f"{status['balance']} ({moved or 'nothing booked'})" + (
        f", of which {held} are held for posts of unknown outcome" if held else ""
    )


def _now(status: Status) -> str:
    slots = f" of {status['slots']} slots" if status["running"] else ""
    return f"{status['in_flight']} in flight{slots} · {status['waiting']} waiting"


def _this_run(status: Status) -> str:
    return (
        counted(status["this_run"].items()).replace("_", " ")
        if "this_run" in (status)
        else ""
    )


def _all_time(status: Status) -> str:
    tasks = status["tasks"]
    return counted(
        [
            ("seen", status["tasks_seen"]),
            *((name, tasks[name]) for name in LIFE if tasks.get(name)),
        ],
    )


def _top_up(top_up: Mapping[str, Any]) -> str:
    usd = top_up["cents"] / 100
    return (
        f"{top_up['spend_id']}: {top_up['credits']} credits for USD {usd:.2f}, "
        f"not paid as far as we know: {neutral(top_up['url'])}"
    )


def _ill(name: str, ill: Mapping[str, Any]) -> str:
    wait = ill["retry_in"]
    until = f" for {duration(wait)} more" if wait else ""
    fix = f" ({ill['fix']})" if ill["fix"] else ""
    return f"{name}: {ill['condition']}{until}: {neutral(ill['problem'] + fix)}"


def _said(said: object) -> str:
    return neutral(said if isinstance(said, str) else json.dumps(said))


def _problems(status: Status) -> str:
    count = len(status.get("strategy_problems", ()))
    if not count:
        return ""
    return f"{count} strategy files were refused: journeyman strategies list"


def look(session: Session) -> dict[str, Any]:
    """Give what `journeyman status --json` prints.

    Raises:
        NotRunningError: no daemon runs, and none ever did here.
        TimedOutError: one runs and does not answer.
    """
    with session.daemon() as daemon:
        try:
            return dict(daemon.status())
        except NotRunningError:
            return _left_behind(session)


def _left_behind(session: Session) -> dict[str, Any]:
    from journeyman.daemon.commands import health_of_strategies, journal_status
    from journeyman.daemon.environment import SystemClock

    directory, identity = session.directory(), session.identity()
    with session.journal() as journal:
        return {
            "running": False,
            "held_by": directory.held_by(),
            "agent_id": identity.agent_id if identity else None,
            "base_url": identity.base_url if identity else None,
            "data_directory": str(directory.path),
            "strategy_health": health_of_strategies(journal, SystemClock().now()),
            **journal_status(journal),
        }
