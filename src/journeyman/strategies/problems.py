"""What can be wrong with a strategy file: stable codes, and how a problem is shown."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

CODES: Final = {
    "E100": "the folder of strategies cannot be read",
    "E101": "the file is not valid Python",
    "E102": "something that the file imports is not there",
    "E103": "the file raised an exception while it was imported",
    "E104": "the file has no strategy in it",
    "E105": "the strategy has no run method",
    "E106": "a method takes other arguments than it is given",
    "E107": "the strategy was written for another version of the API",
    "E108": "a parameter is declared wrongly, unknown, or out of its range",
    "E109": "two strategies have the same name",
    "E110": "a declaration on the strategy has a value that makes no sense",
    "E111": "the strategy raised an exception while it was created",
    "E112": "the strategy never says which tasks it wants",
    "E113": "the strategy has a hook that is never called",
    "E114": "the file cannot be read",
    "E115": "no strategy has this name",
    "E116": "a strategy that the settings list as installed is not installed",
}
"""Every code and its meaning; a code never changes its meaning."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """One reason why a file, or one strategy in it, was not loaded."""

    code: str
    """A key of CODES."""
    path: Path
    message: str
    fix: str
    """What to do next."""
    line: int | None = None
    """From 1; None where no line is to blame."""
    source_line: str = ""
    column: int | None = None
    """From 1; where the caret points to, when known."""
    strategy_file: Path | None = None
    """The strategy that cannot be loaded for it, where `path` is a file beside it."""

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise ValueError(f"problem code {self.code!r} is not declared in CODES")

    @property
    def culprit(self) -> Path:
        """Give the file of the strategy that is not loaded for it."""
        return self.strategy_file or self.path

    @property
    def where(self) -> str:
        """Give `file:line`, as editors understand it."""
        return str(self.path) if self.line is None else f"{self.path}:{self.line}"

    def __str__(self) -> str:
        lines = [f"{self.code} {self.where}: {self.message}"]
        if self.strategy_file is not None:
            lines.append(f"    for this, {self.strategy_file} is not loaded")
        if self.line is not None and self.source_line.strip():
            gutter = f"    {self.line} | "
            lines.append(gutter + self.source_line)
            lines.append(" " * (len(gutter) - 2) + "| " + self._caret())
        lines.append(f"    fix: {self.fix}")
        return "\n".join(lines)

    def _caret(self) -> str:
        line = self.source_line
        column = self.column or len(line) - len(line.lstrip()) + 1
        # A tab stays a tab under a tab, so that the caret stands where the eye is.
        before = ("\t" if char == "\t" else " " for char in line[: column - 1])
        return "".join(before) + "^"
