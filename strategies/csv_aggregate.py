"""Aggregating a table: declining malformed data with details, logging what was done."""

import io
from collections import defaultdict
from csv import DictReader
from csv import Error as CsvError
from math import fsum

from journeyman import Context, Decline, Example, Result, Strategy, param

OPERATIONS = {
    "sum": fsum,
    "mean": lambda numbers: fsum(numbers) / len(numbers),
    "min": min,
    "max": max,
    "count": len,
}
LARGEST = 1e15  # above it, a float no longer tells hundredths apart

EXAMPLE = {
    "csv": "town,people\nUr,3\nUruk,40\nUr,4.5\nEridu,\n",
    "group_by": "town",
    "value": "people",
    "operation": "sum",
}


def number(cell: str) -> float:
    """Read a cell, or decline: a guess would be wrong."""
    try:
        value = float(cell)
    except ValueError:
        raise Decline("a cell is not a number", cell=cell[:50]) from None
    if not abs(value) <= LARGEST:
        raise Decline("a number is too large to add exactly", cell=cell[:50])
    return value


class CsvAggregate(Strategy):
    """Sums, averages or counts a column of a CSV table by groups."""

    api, version = 1, "1.0.0"
    kinds = {"csv_aggregate"}
    tags = {"data", "csv", "aggregate"}
    inputs = {"csv": str, "group_by": str, "value": str, "operation": str}
    examples = [
        Example(
            {"kind": "csv_aggregate", "input": EXAMPLE},
            expect={"Ur": 7.5, "Uruk": 40.0, "Eridu": 0},
        ),
        Example(
            {"kind": "csv_aggregate", "input": EXAMPLE | {"operation": "mean"}},
            expect={"Ur": 3.75, "Uruk": 40.0},
        ),
    ]

    max_characters: int = param(500_000, ge=1, help="decline larger tables")

    def run(
        self, csv: str, group_by: str, value: str, operation: str, ctx: Context
    ) -> Result:
        """Collect the cells of each group, then reduce each group."""
        if operation not in OPERATIONS or len(csv) > self.max_characters:
            raise Decline("unknown operation, or a large table", operation=operation)
        groups = self.collect(csv, group_by, value)
        ctx.log.info("grouped", groups=len(groups), operation=operation)
        output = {}
        for group, cells in groups.items():
            if operation == "count":
                output[group] = len(cells)
            elif cells:
                output[group] = OPERATIONS[operation]([number(cell) for cell in cells])
            elif operation == "sum":
                output[group] = 0
        return Result(output, evidence={"groups": len(groups)})

    def collect(self, csv: str, group_by: str, value: str) -> dict[str, list[str]]:
        """Return the cells of each group that are not empty."""
        rows = DictReader(io.StringIO(csv, newline=""))
        groups = defaultdict(list)
        try:
            if not {group_by, value} <= set(rows.fieldnames or ()):
                raise Decline("a column is missing", columns=rows.fieldnames)
            for row in rows:
                cell = (row[value] or "").strip()
                groups[row[group_by] or ""] += [cell] if cell else []
        except CsvError as error:
            raise Decline("the table is malformed", why=str(error)) from error
        return groups
