"""`journeyman ledger`: every credit that came, went or is owed, and why."""

import json
from contextlib import nullcontext
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from journeyman.cli.output import (
    moment,
    print_csv,
    print_fields,
    print_table,
    print_text,
)
from journeyman.cli.plotting import Point, print_bars, require_image, write_image
from journeyman.cli.session import CsvOption, Session, command
from journeyman.cli.spans import SinceOption, UntilOption, period_as_json, period_of
from journeyman.daemon.system import SystemClock
from journeyman.domain.credits import MILLIONTHS
from journeyman.domain.errors import UsageError
from journeyman.domain.tasks import SpendId, TaskId, TaskState
from journeyman.domain.text import duration, escape
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import (
    AGENT,
    RECEIVABLE,
    Entry,
    EntrySum,
    Ledger,
    Receivable,
    SumBy,
)
from journeyman.journal.ledger_archives import (
    STAY,
    archived_entries,
    archived_entry,
)
from journeyman.journal.maintenance import ledger_faults

BROKEN = 1


ENTRY_COLUMNS = (
    *("id", "at", "kind", "amount", "gains", "loses", "balance", "confidence"),
    *("expected", "claimed", "observed", "subject", "strategy", "note", "cost"),
)
SUM_COLUMNS = ("received", "paid", "cost", "net")
SHOWN = 20
"""Entries, where neither a number nor a time is asked for."""


@command("ledger", example="journeyman ledger --by strategy")
def ledger(
    session: Session,
    context: typer.Context,
    *,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How many of the last: 20, or with --csv, --since or --until all.",
        ),
    ] = None,
    by: Annotated[
        SumBy | None,
        typer.Option(
            help="Show sums instead of entries: by strategy, day, kind of entry, or "
            "the agent that posted the task.",
        ),
    ] = None,
    since: SinceOption = None,
    until: UntilOption = None,
    as_csv: CsvOption = False,
) -> None:
    """Show the last entries of the ledger, and its totals."""
    if context.invoked_subcommand is not None:
        return
    zone = session.zone()
    begin, end = period_of(since, until, SystemClock().now(), zone)
    session.require_one_format(as_csv=as_csv)
    if limit is None and not (as_csv or begin or end or by):
        limit = SHOWN
    # The last ones are in the journal, however old.
    is_short = limit is not None and limit < STAY and not (begin or end or by)
    with (
        session.journal() as journal,
        nullcontext()
        if is_short
        else archived_entries(journal, session.directory().archives, begin, end),
    ):
        book = journal.ledger
        entries = book.recent(limit, begin, end) if limit else book.entries(begin, end)
        columns = (by.value, *SUM_COLUMNS) if by else ENTRY_COLUMNS
        rows = (
            (_sum_as_json(one, by) for one in book.sums(by, begin, end, zone=zone))
            if by
            else (_as_json(entry) for entry in entries)
        )
        if as_csv:
            print_csv(columns, ([row[one] for one in columns] for row in rows))
            return
        data: dict[str, Any] = {
            **period_as_json(begin, end),
            "balance": book.balance(),
            "totals": _totals(book, begin, end),
            "accounts": book.accounts(),
            "sums" if by else "entries": list(rows),
        }
    session.answer(data, lambda: _show(data, by))


def _totals(
    book: Ledger, since: datetime | None, until: datetime | None
) -> dict[str, int]:
    """Return the credits of each kind of entry, in a time where one is named."""
    if since is None and until is None:
        return book.totals()
    return {
        one.group: one.received - one.paid
        for one in book.sums(SumBy.KIND, since, until)
    }


def _as_json(entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.entry_id,
        "at": entry.at.isoformat(timespec="seconds"),
        "kind": entry.kind,
        "amount": entry.amount,
        "gains": entry.account,
        "loses": entry.contra,
        "balance": entry.balance,
        "confidence": entry.confidence,
        "expected": entry.expected,
        "claimed": entry.claimed,
        "observed": entry.observed,
        "subject": entry.subject,
        "strategy": entry.strategy,
        "note": entry.note,
        "cost": entry.cost / MILLIONTHS,
    }


def _sum_as_json(one: EntrySum, by: SumBy) -> dict[str, Any]:
    cost = None if one.cost is None else one.cost / MILLIONTHS
    return {
        by.value: one.group,
        "received": one.received,
        "paid": one.paid,
        "cost": cost,
        "net": round(one.received - one.paid - (cost or 0), 6),
    }


def _show(data: dict[str, Any], by: SumBy | None) -> None:
    if not data["sums" if by else "entries"]:
        print("Nothing was booked in this time.")
    elif by is None:
        _show_entries(data["entries"])
    else:
        _show_sums(data["sums"], by)
    print()
    # Costs move no credits, so their total is always 0.
    totals = {kind: amount for kind, amount in data["totals"].items() if kind != "cost"}
    text = ", ".join(f"{kind} {amount:+d}" for kind, amount in totals.items())
    is_part = data["since"] or data["until"]
    print_fields(
        {
            "balance": str(data["balance"]) + (", now" if is_part else ""),
            "totals": (text or "none") + (", in this time" if is_part else ""),
            "owed": str(data["accounts"].get(RECEIVABLE, 0)),
        }
    )


def _show_entries(entries: list[dict[str, Any]]) -> None:
    columns = ["id", "at", "kind", "amount", "gains", "balance", "confidence"]
    columns += ["subject"]
    if any(entry["cost"] for entry in entries):
        columns.insert(columns.index("balance"), "cost")
    rows = [[_cell(name, entry[name]) for name in columns] for entry in entries]
    drop = ["gains", "confidence", "id", "balance", "cost"]
    print_table(columns, rows, drop=drop)


def _cell(name: str, value: Any) -> Any:  # noqa: ANN401 - a value of JSON
    if name == "at":
        return moment(value)
    # An account of one task or post is named after it; the subject says which.
    return value.partition(":")[0] if name == "gains" else value


def _show_sums(sums: list[dict[str, Any]], by: SumBy) -> None:
    rows = [
        [
            one[by.value] or "(none)",
            f"{one['received']:+d}",
            f"{-one['paid']:+d}",
            *("-" if one["cost"] is None else f"{one['cost']:.3f}",),
            *(f"{one['net']:+.0f}" if one["cost"] is None else f"{one['net']:+.3f}",),
        ]
        for one in sums
    ]
    print_table((by.value, *SUM_COLUMNS), rows)
    print()
    print_text(
        "Cost is what strategies reported as theirs outside the network, `-` if "
        "nothing; it moves no credits."
    )


@command("verify", example="journeyman ledger verify --data-dir /data")
def verify(session: Session) -> int:
    """Check the ledger: its chain, its sums, and that tasks and spends agree.

    It reads everything; a daemon may run meanwhile. The exit code is 1 if anything is
    wrong.
    """
    with session.journal() as journal:
        found = ledger_faults(journal, session.directory().archives)
        entries, _ = journal.ledger.head()

    def show() -> None:
        for fault in found:
            print(f"BROKEN: {escape(fault)}")
        if found:
            print("Stop the daemon, then: journeyman journal restore")
        else:
            noun = "entry" if entries == 1 else "entries"
            print_text(
                f"{entries} {noun}: the chain and the sums are intact, and all tasks "
                "and spends agree."
            )

    session.answer({"entries": entries, "faults": found}, show)
    return BROKEN if found else 0


@command("show", example="journeyman ledger show 12")
def show_entry(
    session: Session,
    entry_id: Annotated[
        int, typer.Argument(metavar="ENTRY", min=1, help="The entry's number.")
    ],
) -> None:
    """Show one entry with its cause: the request, the answer, and what led there."""
    with session.journal() as journal:
        entry = journal.ledger.entry(entry_id) or archived_entry(
            journal, session.directory().archives, entry_id
        )
        if entry is None:
            raise UsageError(
                f"there is no entry {entry_id}",
                "`journeyman ledger` lists the last ones, with their numbers.",
            )
        data = {
            **_as_json(entry),
            "key": entry.key,
            "cause": entry.cause,
            "request": entry.request,
            "hash": entry.hash,
            **_cause(journal, entry),
        }
    session.answer(data, lambda: _show_entry(data))


def _cause(journal: Journal, entry: Entry) -> dict[str, Any]:
    """Return what the journal keeps of the request and the answer of an entry."""
    spend = journal.spends.get(SpendId(entry.subject))
    history = journal.tasks.history(TaskId(entry.subject))
    return {
        "spend": None
        if spend is None
        else {
            "state": spend.state,
            "request": dict(spend.request),
            "answer": dict(spend.answer),
            "reason": spend.reason,
        },
        "history": [
            {**asdict(event), "at": event.at.isoformat(timespec="seconds")}
            for event in history
        ],
    }


def _show_entry(data: dict[str, Any]) -> None:
    way = (data["loses"], data["gains"])[:: 1 if data["amount"] >= 0 else -1]
    moved = f"{abs(data['amount'])} from {way[0]} to {way[1]}"
    shown = {
        "entry": f"{data['id']} ({data['key']})",
        "at": f"{moment(data['at'])} UTC",
        "kind": data["kind"],
        "credits": moved if data["gains"] else "none moved",
        "balance": str(data["balance"]),
        **{name: _known(data[name]) for name in ("expected", "claimed", "observed")},
        "confidence": data["confidence"],
        "strategy": data["strategy"],
        "note": data["note"],
        "cost": f"{data['cost']:g}" if data["cost"] else "",
        "cause": data["cause"] or "not kept: booked by an earlier version",
        "request": data["request"],
        "hash": data["hash"],
    }
    if spend := data["spend"]:
        shown["sent"] = json.dumps(spend["request"], ensure_ascii=False)
        answer = json.dumps(spend["answer"], ensure_ascii=False)
        shown["answer"] = answer if spend["answer"] else "named nothing that is kept"
        shown["spend"] = f"{spend['state']} ({spend['reason']})".removesuffix(" ()")
    print_fields(shown)
    if data["history"]:
        print()
        columns = ["at", "after", "reason"]
        rows = [[_cell(name, one[name]) for name in columns] for one in data["history"]]
        print_table(columns, rows, texts=["reason"])
        print()
        print(f"All of it: journeyman why {escape(data['subject'])}")


def _known(credits_: int | None) -> str:
    return "unknown" if credits_ is None else str(credits_)


@command("plot", example="journeyman ledger plot --since 7d --out balance.svg")
def plot(
    session: Session,
    *,
    since: SinceOption = None,
    until: UntilOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write a .png or .svg instead (extra `plot`)."
        ),
    ] = None,
) -> None:
    """Plot the balance over time: in the terminal, or into an image."""
    begin, end = period_of(since, until, SystemClock().now(), session.zone())
    if out is not None:
        require_image(out)
    with (
        session.journal() as journal,
        archived_entries(journal, session.directory().archives, begin, end),
    ):
        entries = journal.ledger.entries(begin, end)
        points = [(one.at, one.balance) for one in entries if one.account == AGENT]
    if out is not None and points:
        write_image(points, out)
    data = {
        **period_as_json(begin, end),
        "file": str(out) if out and points else None,
        "points": [
            {"at": at.isoformat(timespec="seconds"), "balance": balance}
            for at, balance in points
        ],
    }
    session.answer(data, lambda: _show_plot(points, out))


def _show_plot(points: list[Point], out: Path | None) -> None:
    if not points:
        print("Nothing was booked in this time.")
    elif out is None:
        print_bars(points)
    else:
        print(f"wrote {escape(str(out))}")


@command("receivables", example="journeyman ledger receivables --json")
def receivables(session: Session) -> None:
    """Show what is owed for delivered work, the oldest first."""
    now = SystemClock().now()
    with session.journal() as journal:
        data = [
            {
                "task_id": one.task_id,
                "strategy": one.strategy,
                "credits": one.credits or None,
                "since": one.since.isoformat(timespec="seconds"),
                "seconds": max(0, round((now - one.since).total_seconds())),
                "state": _network_state(one),
                "reason": one.reason,
            }
            for one in journal.ledger.receivables()
        ]
    session.answer(data, lambda: _show_receivables(data))


def _network_state(one: Receivable) -> str:
    """Return where delivered work stands at the network, as far as it told."""
    if one.state == TaskState.COMPLETED:
        return "completed, pay in doubt"
    if one.state == TaskState.REJECTED:
        return "given up, unsettled"
    return "in review" if one.reviews else "no answer yet"


def _show_receivables(data: list[dict[str, Any]]) -> None:
    if not data:
        print("Nothing is owed: all work that was delivered is settled.")
        return
    rows = [
        [
            *(one["task_id"], one["strategy"]),
            "-" if one["credits"] is None else one["credits"],
            *(duration(one["seconds"]), one["state"], one["reason"]),
        ]
        for one in data
    ]
    columns = ["task", "strategy", "credits", "for", "state", "reason"]
    print_table(columns, rows, texts=["reason"], drop=["reason", "strategy"])
    print()
    print(f"owed  {sum(one['credits'] or 0 for one in data)} credits")
