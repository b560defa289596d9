"""What each problem code means, why there is such a rule, and what to write instead.

One Markdown file for each code lies beside this module, so that an installed
journeyman can explain itself. Its code blocks are tested: what it calls wrong provokes
the code, and what it calls right loads.
"""

import re
from dataclasses import dataclass
from importlib import resources
from typing import Final

from journeyman.strategies.problems import CODES

FOLDER: Final = "explanations"
TITLE: Final = "Problem codes of strategies"
INTRODUCTION: Final = (
    "Every reason for which a strategy is not loaded has a code that never changes "
    "its meaning. `journeyman explain E102` shows the same text in a terminal.\n\n"
    "This page is written by `journeyman explain --write`."
)
BLOCK: Final = r"^## {}\n+```\w+\n(.*?)^```"


@dataclass(frozen=True, slots=True)
class Explanation:
    """One code, explained."""

    code: str
    meaning: str
    text: str
    """Markdown: why, then what is wrong and what is right."""

    @property
    def wrong(self) -> str:
        """Give the example that provokes the problem."""
        return self._block("Wrong")

    @property
    def right(self) -> str:
        """Give the same example without the problem."""
        return self._block("Right")

    def _block(self, heading: str) -> str:
        pattern = BLOCK.format(heading)
        found = re.search(pattern, self.text, re.MULTILINE | re.DOTALL)
        return found[1] if found else ""


def explain(code: str) -> Explanation | None:
    """Give the explanation of a code, in capital letters or small; None: no code."""
    wanted = code.strip().upper()
    if wanted not in CODES:
        return None
    place = resources.files("journeyman.strategies") / FOLDER / f"{wanted}.md"
    return Explanation(wanted, CODES[wanted], place.read_text("utf-8").strip())


def render_page() -> str:
    """Give the reference page: all explanations, in the order of their codes."""
    parts = [f"# {TITLE}", INTRODUCTION]
    for code in sorted(CODES):
        explanation = explain(code)
        if explanation is not None:
            text = re.sub(r"^##", "###", explanation.text, flags=re.MULTILINE)
            parts += [f"## {code}: {explanation.meaning}", text]
    return "\n\n".join(parts) + "\n"
