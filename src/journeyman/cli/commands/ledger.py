"""`journeyman ledger`: every credit that came or went."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from journeyman.cli.output import moment, print_fields, print_table
from journeyman.cli.session import Session, command
from journeyman.domain.credits import MILLIONTHS
from journeyman.journal.journal import Journal

BROKEN = 1


class SumBy(StrEnum):
    """What the entries may be added up by."""

    STRATEGY = "strategy"


@command("ledger", example="journeyman ledger --verify")
def ledger(
    session: Session,
    *,
    limit: Annotated[int, typer.Option(min=1, help="How many of the last.")] = 20,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify", help="Check the chain of all entries; exit 1 if broken."
        ),
    ] = False,
    by: Annotated[
        SumBy | None,
        typer.Option(help="Show sums instead of entries."),
    ] = None,
) -> int:
    """Show the last entries of the ledger, and its totals."""
    with session.journal() as journal:
        data = {
            "balance": journal.ledger.balance(),
            "totals": journal.ledger.totals(),
            "entries": _entries(journal, limit),
            "verified": verify,
            "fault": journal.ledger.first_fault() if verify else None,
        }
        if by is not None:
            data["strategies"] = _by_strategy(journal)
    session.answer(data, lambda: _show(data))
    return BROKEN if data["fault"] else 0


def _entries(journal: Journal, limit: int) -> list[dict[str, Any]]:
    return [
        {
            "id": entry.entry_id,
            "at": entry.at.isoformat(timespec="seconds"),
            "kind": entry.kind,
            "amount": entry.amount,
            "balance": entry.balance,
            "confidence": entry.confidence,
            "subject": entry.subject,
            "strategy": entry.strategy,
            "note": entry.note,
            "cost": entry.cost / MILLIONTHS,
        }
        for entry in journal.ledger.recent(limit)
    ]


def _by_strategy(journal: Journal) -> list[dict[str, Any]]:
    return [
        {
            "strategy": share.strategy,
            "received": share.received,
            "paid": share.paid,
            "cost": share.cost / MILLIONTHS,
            "net": share.received - share.paid - share.cost / MILLIONTHS,
        }
        for share in journal.ledger.shares()
    ]


def _show(data: dict[str, Any]) -> None:
    if "strategies" in data:
        _show_by_strategy(data["strategies"])
    else:
        _show_entries(data["entries"])
    print()
    # Costs move no credits, so their total is always 0.
    totals = {kind: amount for kind, amount in data["totals"].items() if kind != "cost"}
    text = ", ".join(f"{kind} {amount:+d}" for kind, amount in totals.items())
    print_fields({"balance": str(data["balance"]), "totals": text})
    if data["verified"]:
        print(f"BROKEN: {data['fault']}" if data["fault"] else "The chain is intact.")


def _show_entries(entries: list[dict[str, Any]]) -> None:
    columns = ["id", "at", "kind", "amount", "balance", "confidence", "subject"]
    if any(entry["cost"] for entry in entries):
        columns.insert(columns.index("balance"), "cost")
    rows = [
        [moment(entry[name]) if name == "at" else entry[name] for name in columns]
        for entry in entries
    ]
    print_table(columns, rows, drop=["confidence", "id", "balance", "cost"])


def _show_by_strategy(shares: list[dict[str, Any]]) -> None:
    rows = [
        [
            share["strategy"] or "(none)",
            f"{share['received']:+d}",
            f"{-share['paid']:+d}",
            f"{share['cost']:.3f}",
            f"{share['net']:+.3f}",
        ]
        for share in shares
    ]
    print_table(("strategy", "received", "paid", "cost", "net"), rows)
    print()
    print("Cost is what work cost you outside the network; it moves no credits.")
