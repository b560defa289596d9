"""How much of what one run prints becomes lines of the log, in every runner alike."""

from collections.abc import Iterable

LEAST_BYTES = 16
"""What a line counts as at least: the event around it is longer than that."""
LAST_LINES = 12
LONGEST_LAST = 200
"""Characters of each; a line may be as long as all that a run may print."""


class PrintedLines:
    """Takes the lines of one run until its limit; counts what is beyond."""

    def __init__(self, limit: int) -> None:
        """Take up to `limit` bytes."""
        self._left = limit
        self.left_out = 0
        """Bytes that did not fit."""

    def take(self, line: bytes) -> str:
        """Return as much of a line as fits; empty: there is nothing to tell."""
        if not line.strip():
            return ""
        kept = line[: self._left]
        self._left = max(0, self._left - max(len(line) + 1, LEAST_BYTES))
        self.left_out += len(line) - len(kept)
        return kept.decode(errors="replace")

    @property
    def note(self) -> str:
        """The last line of a run that printed more than fits; else empty."""
        if not self.left_out:
            return ""
        return f"({self.left_out} bytes more were left out: isolation.output_bytes)"


def last_lines(lines: Iterable[str]) -> list[str]:
    """Return the last lines, each of a length that fits into a message."""
    return [
        line if len(line) <= LONGEST_LAST else f"{line[:LONGEST_LAST]}…"
        for line in list(lines)[-LAST_LINES:]
    ]
