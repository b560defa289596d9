"""`journeyman ledger`: every credit that came or went."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from journeyman.cli.output import answer, facts, say, table
from journeyman.cli.session import Session, command

if TYPE_CHECKING:
    from journeyman.journal.journal import Journal
    from journeyman.journal.ledger import Entry

BROKEN = 1


class By(StrEnum):
    """What the entries may be added up by."""

    STRATEGY = "strategy"


@command("ledger", example="journeyman ledger --verify")
def ledger(
    session: Session,
    *,
    limit: Annotated[int, typer.Option(min=1, help="How many of the last.")] = 20,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Check the chain of all entries; exit 1 if bad."),
    ] = False,
    by: Annotated[
        By | None,
        typer.Option(help="Show what each brought and cost, not the entries."),
    ] = None,
) -> int:
    """Show the last entries of the ledger, and its totals."""
    with session.journal() as journal:
        data = _read(journal, limit, verify=verify)
        if by is not None:
            data["strategies"] = _shares(journal)
    show = _show if by is None else _show_shares
    answer(as_json=session.as_json, data=data, show=lambda: show(data))
    return BROKEN if data["fault"] else 0


def _read(journal: "Journal", limit: int, *, verify: bool) -> dict[str, Any]:
    return {
        "balance": journal.ledger.balance(),
        "totals": journal.ledger.totals(),
        "entries": [_entry(entry) for entry in journal.ledger.recent(limit)],
        "verified": verify,
        "fault": journal.ledger.first_fault() if verify else None,
    }


def _entry(entry: "Entry") -> dict[str, Any]:
    return {
        "id": entry.entry_id,
        "at": entry.at.isoformat(timespec="seconds"),
        "kind": entry.kind,
        "amount": entry.amount,
        "balance": entry.balance,
        "confidence": entry.confidence,
        "subject": entry.subject,
        "strategy": entry.strategy,
        "note": entry.note,
        "cost": _credits(entry.cost),
    }


def _shares(journal: "Journal") -> list[dict[str, Any]]:
    return [
        {
            "strategy": share.strategy,
            "received": share.received,
            "paid": share.paid,
            "cost": _credits(share.cost),
            "net": share.received - share.paid - _credits(share.cost),
        }
        for share in journal.ledger.shares()
    ]


def _credits(millionths: int) -> float:
    from journeyman.domain.credits import MILLIONTHS

    return millionths / MILLIONTHS


def _show(data: dict[str, Any]) -> None:
    columns = ["id", "at", "kind", "amount", "balance", "confidence", "subject"]
    if any(entry["cost"] for entry in data["entries"]):
        columns.insert(columns.index("balance"), "cost")
    table(columns, [[entry[name] for name in columns] for entry in data["entries"]])
    _show_totals(data)


def _show_shares(data: dict[str, Any]) -> None:
    columns = ("strategy", "received", "paid", "cost", "net")
    rows = [
        [
            share["strategy"] or "(none)",
            f"{share['received']:+d}",
            f"{-share['paid']:+d}",
            f"{share['cost']:.3f}",
            f"{share['net']:+.3f}",
        ]
        for share in data["strategies"]
    ]
    table(columns, rows)
    say()
    say("Cost is what work cost you outside of the network; it moves no credits.")
    _show_totals(data)


def _show_totals(data: dict[str, Any]) -> None:
    say()
    # Costs move no credits, so their total is always 0.
    moved = {kind: sum_ for kind, sum_ in data["totals"].items() if kind != "cost"}
    totals = (f"{kind} {amount:+d}" for kind, amount in moved.items())
    facts({"balance": str(data["balance"]), "totals": ", ".join(totals)})
    if data["verified"]:
        say(f"BROKEN: {data['fault']}" if data["fault"] else "The chain is whole.")
