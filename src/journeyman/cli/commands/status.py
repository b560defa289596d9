"""`journeyman status`: what the agent is doing, and why it is not doing more."""

import io
import json
import shutil
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout, suppress
from typing import Annotated, Any

import anyio
import typer

from journeyman.cli import output
from journeyman.cli.session import Session, command
from journeyman.daemon.system import SystemClock
from journeyman.domain.credits import MILLIONTHS
from journeyman.domain.errors import JourneymanError, UsageError
from journeyman.domain.text import duration, escape
from journeyman.economy.budget import Period, start_of
from journeyman.economy.credit_state import EFFECTS, CreditState
from journeyman.journal.ledger import EntryKind, SumBy

WATCH_SECONDS = 1.0
FELT_SECONDS = 0.5
"""A turn of the event loop that took longer is told."""
CLEAR = "\x1b[H\x1b[2J"
"""Puts the cursor into the first corner, and clears the screen (ECMA-48)."""
Status = Mapping[str, Any]
"""What `journeyman status --json` prints."""
STATE_ORDER = (
    *("completed", "lost", "declined", "failed", "rejected", "skipped", "wanted"),
    *("claiming", "claimed", "executing", "executed", "submitting", "submitted"),
    "completing",
)
"""The states of tasks in the order in which people ask for them."""


@command("status", example="journeyman status --data-dir demo/data")
def status(
    session: Session,
    *,
    watch: Annotated[
        bool,
        typer.Option("--watch", help="Show it anew each second, until Ctrl-C."),
    ] = False,
) -> None:
    """Show the agent's state, and why it is not doing more.

    It asks the running daemon. If none runs, it reads the journal, and says so.
    """
    if watch:
        _watch(session)
    else:
        _show(session, session.status())


def _watch(session: Session) -> None:
    """Fill one screen of the terminal again and again.

    Raises:
        UsageError: there is no terminal.
    """
    if session.as_json or not sys.stdout.isatty():
        raise UsageError(
            "--watch needs a terminal",
            "For programs: journeyman status --json, as often as you like.",
        )
    with suppress(KeyboardInterrupt):
        anyio.run(_repaint, session)


async def _repaint(session: Session) -> None:
    clock = SystemClock()
    while True:
        screen = _Screen()
        found = session.status()
        with redirect_stdout(screen):
            print(f"{clock.now():%Y-%m-%d %H:%M:%S} UTC, until Ctrl-C\n")
            _show(session, found)
        size = shutil.get_terminal_size()
        lines = [line[: size.columns] for line in screen.getvalue().splitlines()]
        print(f"{CLEAR}{chr(10).join(lines[: size.lines - 1])}", flush=True)
        await clock.sleep(WATCH_SECONDS)


class _Screen(io.StringIO):
    """Takes what is printed for a terminal."""

    def isatty(self) -> bool:
        return True


def _show(session: Session, found: Status) -> None:
    found = {**found, "today": _today(session)}

    def show() -> None:
        output.print_fields(status_fields(found))
        if found["causes"]:
            print()
            print(
                f"{output.plural(len(found['causes']), 'cause')} of earning less: "
                "journeyman why"
            )
        if found["strategies"]:
            print()
            output.print_table(
                ["strategy", *output.TASK_COUNTS],
                [
                    [name, *output.task_counts(states)]
                    for name, states in found["strategies"].items()
                ],
                drop=["waiting", "at work"],
            )

    session.answer(found, show)


def _today(session: Session) -> dict[str, Any] | None:
    """Return what was booked today; None where the journal cannot be read.

    A daemon is not asked: the entries of the day are read here, beside it.
    """
    with suppress(JourneymanError), session.journal() as journal:
        today = start_of(Period.DAY, SystemClock().now(), session.zone())
        kinds = {one.group: one for one in journal.ledger.sums(SumBy.KIND, today)}
        earned, spent = kinds.get(EntryKind.EARNED), kinds.get(EntryKind.SPENT)
        cost = kinds.get(EntryKind.COST)
        return {
            "earned": earned.received if earned else 0,
            "spent": spent.paid if spent else 0,
            "cost": (cost.cost or 0) / MILLIONTHS if cost else None,
        }
    return None


def status_fields(status: Status) -> dict[str, str]:
    """Return label and text of each line; an empty text is not printed."""
    strategy_health = status.get("strategy_health", {})
    strategy_status = status.get("strategy_status", {})
    return {
        "state": _state(status),
        "agent": _agent(status),
        "token": _token(status),
        "journal": _journal(status),
        "can earn": escape(status.get("can_earn", "")),
        "pauses": "\n".join(map(_pause, status.get("pauses", ()))),
        "credits": _credits(status),
        "today": _booked_today(status.get("today")),
        "credit state": _credit_state(status),
        "now": _now(status),
        "cluster": cluster_text(status.get("cluster")),
        "event loop": _event_loop(status.get("event_loop")),
        "this run": _counted(status, "this_run").replace("_", " "),
        "all time": _all_time(status),
        "skipped": _counted(status, "skipped_because"),
        "top-ups": "\n".join(map(_top_up, status["open_top_ups"])),
        "problems": _problems(status),
        "blocked": "\n".join(status.get("blocked_actions", {}).values()),
        "quarantine": "\n".join(
            _quarantine(name, health) for name, health in strategy_health.items()
        ),
        "disabled": "\n".join(
            f"{name} {escape(one['text'])}"
            for name, one in status.get("disabled_strategies", {}).items()
        ),
        "in shadow": ", ".join(status.get("shadow_strategies", ())),
        "strategy status": "\n".join(
            f"{name}: {escape(each if isinstance(each, str) else json.dumps(each))}"
            for name, each in strategy_status.items()
        ),
        "data": str(status["data_directory"]),
    }


def _counted(status: Status, key: str) -> str:
    return output.counted(status[key].items()) if status.get(key) else ""


def _state(status: Status) -> str:
    if status["running"]:
        obstacle = status["obstacle"]
        for_long = f"for {duration(status['up_seconds'])} (process {status['pid']})"
        if paused := status.get("paused"):
            return f"PAUSED {escape(paused['text'])}; running {for_long}"
        return f"RUNNING {for_long}" + (
            f", claims nothing: {obstacle}" if obstacle else ""
        )
    paused = status.get("paused")
    and_paused = f", and PAUSED {escape(paused['text'])}" if paused else ""
    if status["held_by"]:
        return (
            f"STARTING{and_paused} (process {status['held_by']} holds the data "
            "directory and takes no commands yet; see its log)"
        )
    if paused:
        return f"STOPPED{and_paused}"
    return "STOPPED (start it with `journeyman run`)"


def _agent(status: Status) -> str:
    if status["registration_unknown"]:
        return (
            "registration_unknown: a registration was sent and may have created an "
            "agent, but no answer came back that shows one; `journeyman run` says what "
            "to do, or asks again with the same key, a few times a day"
        )
    if not status["agent_id"]:
        return "has not joined a network yet"
    return f"{status['agent_id']} on {status['base_url']}"


def _token(status: Status) -> str:
    rejected = status.get("token_rejected")
    if not rejected:
        return ""
    return (
        f"REJECTED by the network since {rejected['rejected_since'][:16]} UTC "
        f"({escape(rejected['message'])}); results are kept, and the network is asked "
        "again once a minute. To start over as a new agent: journeyman join --replace"
    )


def _journal(status: Status) -> str:
    found_at = status.get("older_journal_found_at")
    if not found_at:
        return ""
    at = found_at[:16].replace("T", " ")
    return (
        f"OLDER than the one that was here before, as was found at {at} UTC: what was "
        "spent since counts against the limits, and the tasks since are not known. "
        "Compare `journeyman ledger` with what the network shows, then: journeyman "
        "journal acknowledge"
    )


def _pause(pause: Mapping[str, Any]) -> str:
    until = str(pause["until"])[11:19]
    return f"{pause['what']} until {until} UTC: {escape(pause['reason'])}"


def _credits(status: Status) -> str:
    moved = ", ".join(
        f"{kind} {amount:+d}" for kind, amount in status["ledger"].items() if amount
    )
    reserved, owed = status["reserved_credits"], status["owed_credits"]
    return (
        f"{status['balance']} ({moved or 'nothing booked'})"
        + (
            f", of which {reserved} are reserved for posts of unknown outcome"
            if reserved
            else ""
        )
        + (f"; {owed} more are owed for delivered work" if owed else "")
    )


def _booked_today(today: Mapping[str, Any] | None) -> str:
    if today is None:
        return ""
    cost = today["cost"]
    known = "no cost reported" if cost is None else f"cost {cost:g} outside the network"
    return f"earned {today['earned']}, spent {today['spent']}, {known}"


def _credit_state(status: Status) -> str:
    state = CreditState(status.get("credit_state", CreditState.NORMAL))
    return f"{state}: {EFFECTS[state]}" if EFFECTS[state] else ""


def _now(status: Status) -> str:
    slots = f" of {status['slots']} slots" if status["running"] else ""
    return f"{status['in_flight']} in flight{slots} · {status['waiting']} waiting"


def cluster_text(cluster: Mapping[str, Any] | None) -> str:
    """Return how much of the owner's cluster is used; empty where there is none."""
    if cluster is None:
        return ""
    if cluster["problem"]:
        return f"not used: {escape(cluster['problem'])}"
    workers = output.plural(cluster["workers"], "worker")
    unused = (
        "; others have another version: journeyman doctor"
        if cluster["mismatches"]
        else ""
    )
    return f"{cluster['busy']} of {cluster['slots']} slots on {workers}{unused}"


def _event_loop(loop: Mapping[str, Any] | None) -> str:
    """Return how long it was held up, where that can be felt."""
    if loop is None or loop["longest_turn_seconds"] < FELT_SECONDS:
        return ""
    return (
        f"answered nobody for up to {loop['longest_turn_seconds']:.2g} s in the last "
        f"{duration(loop['within_seconds'])}"
    )


def _all_time(status: Status) -> str:
    tasks = status["tasks"]
    by_state = ((name, tasks[name]) for name in STATE_ORDER if tasks.get(name))
    return output.counted([("seen", status["tasks_seen"]), *by_state])


def _top_up(top_up: Mapping[str, Any]) -> str:
    spend_id = top_up["spend_id"]
    price = f"{top_up['credits']} credits for USD {top_up['cents'] / 100:.2f}"
    if top_up["state"] == "proposed":
        return f"{price}, proposed: journeyman topup approve {spend_id}"
    if top_up["url"]:
        return f"{price}, not paid as far as we know: {escape(top_up['url'])}"
    return (
        f"{price}, unknown whether there is a page ({escape(top_up['doubt'])}): "
        f"journeyman topup cancel {spend_id}"
    )


def _problems(status: Status) -> str:
    count = len(status.get("strategy_problems", ()))
    if not count:
        return ""
    files = output.plural(count, "strategy file")
    return f"{files} not loaded: journeyman strategies list"


def _quarantine(name: str, health: Mapping[str, Any]) -> str:
    wait = health["retry_in"]
    until = f" for {duration(wait)} more" if wait else ""
    fix = f" ({health['fix']})" if health["fix"] else ""
    return f"{name}: {health['condition']}{until}: {escape(health['problem'] + fix)}"
