"""What can be wrong with a strategy file: stable codes, and how a problem is shown."""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

CODES = {
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
    "E117": "the libraries that the file names cannot be installed",
}
"""Every code and its meaning; a code never changes its meaning."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return "did you mean ...?" for the known name most like this one, or nothing."""
    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else ""


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
    """From 1; None where the problem is in no one line."""
    source_line: str = ""
    column: int | None = None
    """From 1; where the caret points, when known."""
    strategy_file: Path | None = None
    """The strategy that is not loaded because of it, where `path` is another file."""

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise ValueError(f"problem code {self.code!r} is not declared in CODES")

    @property
    def affected_file(self) -> Path:
        """The file of the strategy that is not loaded because of it."""
        return self.strategy_file or self.path

    @property
    def where(self) -> str:
        """`file:line`, as editors understand it."""
        return str(self.path) if self.line is None else f"{self.path}:{self.line}"

    def __str__(self) -> str:
        lines = [f"{self.code} {self.where}: {self.message}"]
        if self.strategy_file is not None:
            lines.append(f"    because of this, {self.strategy_file} is not loaded")
        if self.line is not None and self.source_line.strip():
            gutter = f"    {self.line} | "
            lines.append(gutter + self.source_line)
            lines.append(" " * (len(gutter) - 2) + "| " + self._caret())
        lines.append(f"    fix: {self.fix}")
        return "\n".join(lines)

    def _caret(self) -> str:
        line = self.source_line
        column = self.column or len(line) - len(line.lstrip()) + 1
        # A tab is repeated, so that the caret lines up with the text above it.
        before = ("\t" if char == "\t" else " " for char in line[: column - 1])
        return "".join(before) + "^"


FOLDER = "explanations"
TITLE = "Problem codes of strategies"
INTRODUCTION = (
    "Every reason for which a strategy is not loaded has a code that never changes "
    "its meaning. `journeyman explain E102` shows the same text in a terminal.\n\n"
    "This page is written by `journeyman explain --write`."
)
BLOCK = r"^## {}\n+```\w+\n(.*?)^```"


@dataclass(frozen=True, slots=True)
class Explanation:
    """One code, explained."""

    code: str
    meaning: str
    text: str
    """Markdown: why, then what is wrong and what is right."""

    def example(self, heading: str) -> str:
        """Return the code under the heading "Wrong" or "Right"."""
        pattern = BLOCK.format(heading)
        found = re.search(pattern, self.text, re.MULTILINE | re.DOTALL)
        return found[1] if found else ""


def explain(code: str) -> Explanation | None:
    """Return the explanation of a code, in any case of letters; None: no such code."""
    wanted = code.strip().upper()
    if wanted not in CODES:
        return None
    file = resources.files("journeyman.strategies") / FOLDER / f"{wanted}.md"
    return Explanation(wanted, CODES[wanted], file.read_text("utf-8").strip())


def render_page() -> str:
    """Return the reference page: all explanations, in the order of their codes."""
    parts = [f"# {TITLE}", INTRODUCTION]
    for code in sorted(CODES):
        explanation = explain(code)
        if explanation is not None:
            text = re.sub(r"^##", "###", explanation.text, flags=re.MULTILINE)
            parts += [f"## {code}: {explanation.meaning}", text]
    return "\n\n".join(parts) + "\n"
