"""`journeyman profit`: what work brought and cost, in credits and in money."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from journeyman.cli.output import print_csv, print_fields, print_table, print_text
from journeyman.cli.session import CsvOption, Session, command
from journeyman.cli.spans import SinceOption, UntilOption, period_as_json, period_of
from journeyman.daemon.system import SystemClock
from journeyman.domain.credits import MILLIONTHS
from journeyman.domain.text import duration
from journeyman.journal.ledger_archives import archived_entries
from journeyman.journal.profit import Profit, ProfitBy, profits, unexplained

ALL = "all"
"""The heading of the sums where no group was asked for."""


@command("profit", example="journeyman profit --by strategy --since 7d")
def profit(
    session: Session,
    *,
    by: Annotated[
        ProfitBy | None,
        typer.Option(help="Show each strategy, kind of task or day by itself."),
    ] = None,
    since: SinceOption = None,
    until: UntilOption = None,
    as_csv: CsvOption = False,
) -> None:
    """Show what work earned and cost, by strategy, kind of task or day.

    Profit is what was paid, less what posts took and what strategies reported as their
    cost outside the network. What is not known is shown as `-`, and is not 0.
    """
    zone, currency = session.zone(), session.load().settings.currency
    period = period_of(since, until, SystemClock().now(), zone)
    session.require_one_format(as_csv=as_csv)
    with (
        session.journal() as journal,
        archived_entries(journal, session.directory().archives, *period),
    ):
        groups = profits(journal.database, by, *period, zone=zone)
        difference = unexplained(journal.database, *period)
    rate = currency.credits_per_unit
    data: dict[str, Any] = {
        **period_as_json(*period),
        "currency": currency.code,
        "credits_per_unit": rate,
        "total": _as_json(Profit.of_all(groups), None, rate),
        "unexplained_credits": difference,
    }
    if by is not None:
        data["groups"] = [_as_json(one, by, rate) for one in groups]
    if as_csv:
        _write_csv(data, by)
    else:
        session.answer(data, lambda: _show(data, by))


def _as_json(one: Profit, by: ProfitBy | None, rate: float) -> dict[str, Any]:
    return {
        **({by.value: one.group} if by else {}),
        "tasks": one.tasks,
        "pay_unknown": one.pay_unknown,
        "earned": one.earned,
        "spent": one.spent,
        "cost": None if one.cost is None else one.cost / MILLIONTHS,
        "profit": _rounded(one.credits),
        "profit_in_currency": _rounded(
            None if one.credits is None else one.credits / rate
        ),
        "slot_seconds": _rounded(one.slot_seconds),
        "credits_per_slot_hour": _rounded(one.credits_per_slot_hour),
    }


def _rounded(number: float | None) -> float | None:
    """Return a number without the noise of its last binary digits."""
    return None if number is None else round(number, 6)


def _write_csv(data: dict[str, Any], by: ProfitBy | None) -> None:
    names = [*([by.value] if by else ()), *data["total"]]
    rows: Sequence[dict[str, Any]] = data["groups"] if by else [data["total"]]
    print_csv(names, [[row[name] for name in names] for row in rows])


def _show(data: dict[str, Any], by: ProfitBy | None) -> None:
    total, code = data["total"], data["currency"]
    if by is None:
        _show_total(total, code)
    else:
        rows = [
            *([row[by.value] or "(none)", *_cells(row)] for row in data["groups"]),
            [ALL, *_cells(total)],
        ]
        columns = [by.value, "tasks", "earned", "spent", "cost", "profit", code]
        print_table([*columns, "per slot hour"], rows, drop=["spent", "cost", "tasks"])
    print()
    for note in _notes(data):
        print_text(note)


def _cells(row: dict[str, Any]) -> list[str]:
    return [
        str(row["tasks"]),
        _number(row["earned"], "d"),
        str(row["spent"]),
        _number(row["cost"], ".3f"),
        # Only a reported cost has parts of a credit.
        _number(row["profit"], "+.0f" if row["cost"] is None else "+.3f"),
        _number(row["profit_in_currency"], "+.2f"),
        _number(row["credits_per_slot_hour"], ".1f"),
    ]


def _number(number: float | None, form: str) -> str:
    return "-" if number is None else format(number, form)


def _show_total(total: dict[str, Any], code: str) -> None:
    tasks, earned, spent, cost, credits_, money, hourly = _cells(total)
    held = total["slot_seconds"]
    print_fields(
        {
            "tasks": f"{tasks} completed",
            "earned": "unknown" if earned == "-" else f"{earned} credits",
            "spent": f"{spent} credits, on posts",
            "cost": "unknown: no strategy reported any"
            if cost == "-"
            else f"{cost} credits, outside the network",
            "profit": "unknown" if credits_ == "-" else f"{credits_} credits",
            "in money": "unknown" if money == "-" else f"{code} {money}",
            "per hour": "unknown: the journal does not have the times"
            if held is None or hourly == "-"
            else f"{hourly} credits for each hour of a slot; tasks held one for "
            f"{duration(held)}",
        }
    )


def _notes(data: dict[str, Any]) -> list[str]:
    """Return what a reader of the figures should know."""
    total = data["total"]
    rate = f"{data['currency']} 1 is {data['credits_per_unit']:g} credits"
    notes = [f"{rate} (currency.credits_per_unit). `-` is unknown."]
    if data.get("groups"):
        notes.append("Per slot hour: credits earned in each hour of a slot.")
    if total["cost"] is None:
        notes.append("No strategy reported a cost, so profit is before any.")
    if total["pay_unknown"]:
        notes.append(
            f"The pay of {total['pay_unknown']} completed tasks is not known, and not "
            "counted."
        )
    if data["unexplained_credits"]:
        notes.append(
            f"The balance moved by {data['unexplained_credits']:+d} credits that "
            "nothing of ours explains; they are not counted."
        )
    return notes
