"""`journeyman ledger`: every credit that came or went."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from journeyman.cli.command import command
from journeyman.cli.output import answer, facts, say, table
from journeyman.cli.session import Session

if TYPE_CHECKING:
    from journeyman.journal import Entry, Journal

BROKEN = 1


@command("ledger", example="journeyman ledger --verify")
def ledger(
    session: Session,
    *,
    limit: Annotated[int, typer.Option(min=1, help="How many of the last.")] = 20,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Check the chain of all entries; exit 1 if bad."),
    ] = False,
) -> int:
    """Show the last entries of the ledger, and its totals."""
    with session.journal() as journal:
        data = _read(journal, limit, verify=verify)
    answer(as_json=session.as_json, data=data, show=lambda: _show(data))
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
    }


def _show(data: dict[str, Any]) -> None:
    columns = ("id", "at", "kind", "amount", "balance", "confidence", "subject")
    table(columns, [[entry[name] for name in columns] for entry in data["entries"]])
    say()
    totals = (f"{kind} {amount:+d}" for kind, amount in data["totals"].items())
    facts({"balance": str(data["balance"]), "totals": ", ".join(totals)})
    if data["verified"]:
        say(f"BROKEN: {data['fault']}" if data["fault"] else "The chain is whole.")
