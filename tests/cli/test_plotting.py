"""The balance over time: bars in a terminal, and images where the library is there."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.cli.conftest import Run

from journeyman.cli import plotting

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def test_the_balance_is_shown_as_bars_that_end_with_what_is_there(
    run: Run, lived: Path
) -> None:
    where = ("--data-dir", str(lived))

    points = run("ledger", "plot", *where, "--json").answer["points"]
    told = run("ledger", "plot", *where).out.splitlines()

    assert points[0]["balance"] == 100
    assert str(points[-1]["balance"]) in told[-1]
    assert plotting.BAR in told[-1]
    none = run("ledger", "plot", *where, "--until", "2000-01-01").out
    assert none == "Nothing was booked in this time.\n"


def test_a_balance_between_two_entries_is_that_of_the_first() -> None:
    points = [(NOON, 100), (NOON + timedelta(hours=3), 40)]

    shown = plotting.sampled(points, 4)

    assert [credits_ for _, credits_ in shown] == [100, 100, 100, 40]
    assert plotting.sampled(points[:1], 4) == points[:1]


@pytest.mark.endurance  # the library takes a second to import
@pytest.mark.parametrize(
    ("name", "begins"), [("b.png", b"\x89PNG"), ("b.svg", b"<?xml")]
)
def test_an_image_is_written(run: Run, lived: Path, name: str, begins: bytes) -> None:
    done = run("ledger", "plot", "--data-dir", str(lived), "--out", name)

    assert (done.code, done.out) == (0, f"wrote {name}\n")
    assert Path(name).read_bytes().startswith(begins)


@pytest.mark.parametrize(
    ("name", "says"),
    [("b.pdf", "ends in .png or .svg"), ("/nowhere/b.png", "cannot be written")],
)
def test_a_file_that_cannot_be_drawn_is_refused(
    run: Run, lived: Path, name: str, says: str
) -> None:
    done = run("ledger", "plot", "--data-dir", str(lived), "--out", name)

    assert done.code != 0
    assert says in done.err


def test_without_the_library_it_says_what_to_install(
    run: Run, lived: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plotting, "find_spec", lambda _name: None)

    image = run("ledger", "plot", "--data-dir", str(lived), "--out", "b.svg")
    bars = run("ledger", "plot", "--data-dir", str(lived))

    assert "pip install 'journeyman[plot]'" in image.err
    assert (image.code, bars.code) == (4, 0)
