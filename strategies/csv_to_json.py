"""A table into records: how to bound what untrusted input can make of itself."""

import csv as tables
import io

from journeyman import Decline, Example, strategy

MAX_CHARACTERS = 500_000  # of the table, and of the records that it becomes


@strategy(
    version="1.0.0",
    kinds={"csv_to_json"},
    tags={"data", "csv", "json"},
    inputs={"csv": str},
    examples=[
        Example(
            {"kind": "csv_to_json", "input": {"csv": 'id,say\n1,"a, b"\n2,\n'}},
            expect=[{"id": "1", "say": "a, b"}, {"id": "2", "say": ""}],
        ),
        Example(
            {"kind": "csv_to_json", "input": {"csv": "id,say\n1\n"}}, expect=Decline
        ),
    ],
)
def csv_to_json(csv: str) -> list[dict[str, str]]:
    """Turn each record of a CSV table into an object, every cell unchanged."""
    if len(csv) > MAX_CHARACTERS:
        raise Decline("the table is too large", characters=len(csv))
    try:
        lines = [row for row in tables.reader(io.StringIO(csv, newline="")) if row]
    except tables.Error as error:
        raise Decline("the table is malformed", why=str(error)) from error
    if not lines:
        raise Decline("the table has no header")
    header, *rows = lines
    if len(set(header)) < len(header):
        raise Decline("two columns have the same name", header=header[:50])
    # Each record repeats the names: a wide header over many rows could be enormous.
    if len(rows) * sum(len(name) + 6 for name in header) > MAX_CHARACTERS:
        raise Decline("the records would be too large", rows=len(rows))
    if any(len(row) != len(header) for row in rows):
        raise Decline("a row has more or fewer cells than the header")
    return [dict(zip(header, row, strict=True)) for row in rows]
