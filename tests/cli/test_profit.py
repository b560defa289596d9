"""`journeyman profit`, and times and tables as they are typed and printed."""

import csv
import io
from collections.abc import Callable
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from journeyman.cli.output import print_csv
from journeyman.cli.spans import period_of, time_of
from journeyman.domain.errors import UsageError
from journeyman.testing import FakeClock

Run = Callable[..., Any]
NOW = FakeClock().now()


def test_profit_adds_up_by_whatever_it_is_shown(run: Run, lived: Path) -> None:
    where = ("--data-dir", str(lived), "--json")
    whole = run("profit", *where).answer["total"]

    assert whole["tasks"] == 4
    assert whole["earned"] == run("status", *where).answer["ledger"]["earned"]
    assert whole["profit_in_currency"] == whole["profit"] / 100
    assert whole["credits_per_slot_hour"] > 0
    for by in ("strategy", "kind", "day"):
        answer = run("profit", "--by", by, *where).answer
        assert sum(one["earned"] for one in answer["groups"]) == whole["earned"]
        assert all(one[by] for one in answer["groups"])
        assert answer["total"] == whole


def test_a_cost_that_is_not_known_is_not_shown_as_0(run: Run, lived: Path) -> None:
    where = ("--data-dir", str(lived))

    assert run("profit", *where, "--json").answer["total"]["cost"] is None
    assert "unknown: no strategy reported any" in run("profit", *where).out
    row = run("profit", "--by", "day", *where).out.splitlines()[1].split()
    assert row[4] == "-"


def test_profit_is_told_in_the_owners_currency(run: Run, lived: Path) -> None:
    euro = ("--set", "currency.code=EUR", "--set", "currency.credits_per_unit=125")
    where = ("--data-dir", str(lived))

    answer = run("profit", *where, *euro, "--json").answer
    refused = run("profit", *where, "--set", "currency.credits_per_unit=0")

    total = answer["total"]
    assert answer["currency"] == "EUR"
    assert total["profit_in_currency"] == pytest.approx(total["profit"] / 125)
    assert "EUR" in run("profit", *where, *euro).out
    assert refused.code == 4


def test_before_the_first_task_nothing_was_earned(run: Run, lived: Path) -> None:
    where = ("--data-dir", str(lived), "--until", "2020-01-01")

    total = run("profit", *where, "--json").answer["total"]

    assert (total["tasks"], total["earned"], total["slot_seconds"]) == (0, 0, None)
    assert run("profit", "--by", "day", *where).code == 0
    printed = run("profit", "--by", "day", "--csv", *where).out
    assert printed.startswith("day,tasks,")
    assert len(printed.splitlines()) == 1


def test_profit_is_written_for_spreadsheets(run: Run, lived: Path) -> None:
    where = ("--data-dir", str(lived))

    printed = run("profit", "--by", "strategy", "--csv", *where).out
    both = run("profit", "--csv", *where, "--json")

    rows = list(csv.DictReader(io.StringIO(printed)))
    assert all(int(row["earned"]) > 0 and row["cost"] == "" for row in rows)
    assert both.code == 2
    assert "--csv and --json" in both.error["problem"]


def test_a_spreadsheet_runs_nothing_that_a_stranger_wrote(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_csv(["title", "amount"], [["=SUM(A1)", -3], ["a,b\x1b", None]])

    assert capsys.readouterr().out == 'title,amount\n\'=SUM(A1),-3\n"a,b\\x1b",\n'


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("2026-11-20", "2026-11-20T00:00:00+00:00"),
        ("2026-11-20T18:30", "2026-11-20T18:30:00+00:00"),
        ("2026-11-20T18:30+02:00", "2026-11-20T16:30:00+00:00"),
        ("7d", (NOW - timedelta(days=7)).isoformat()),
    ],
)
def test_a_time_is_a_date_or_so_long_ago(typed: str, meant: str) -> None:
    assert str(time_of(typed, NOW, UTC)).replace(" ", "T") == meant


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("2026-10-25", "2026-10-24T22:00:00+00:00"),
        ("2026-10-26", "2026-10-25T23:00:00+00:00"),
        ("2026-10-26T18:30", "2026-10-26T17:30:00+00:00"),
        ("2026-10-26T18:30Z", "2026-10-26T18:30:00+00:00"),
    ],
)
def test_a_date_is_one_of_the_owners(typed: str, meant: str) -> None:
    berlin = ZoneInfo("Europe/Berlin")

    assert str(time_of(typed, NOW, berlin)).replace(" ", "T") == meant


@pytest.mark.parametrize("typed", ["yesterday", "", "7", "2026-13-01", "7y"])
def test_what_is_no_time_is_refused_with_examples(typed: str) -> None:
    with pytest.raises(UsageError, match="neither a span of time nor a date") as error:
        time_of(typed, NOW, UTC, "--until")

    assert "2026-11-20" in error.value.fix
    assert "--until" in error.value.problem


def test_a_period_has_a_beginning_before_its_end() -> None:
    assert period_of("2d", "1d", NOW, UTC) == (NOW - timedelta(2), NOW - timedelta(1))
    with pytest.raises(UsageError, match="is not before"):
        period_of("1d", "2d", NOW, UTC)
