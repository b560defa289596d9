"""Keywords by frequency: the function form, with the input's fields as arguments."""

import re
from collections import Counter

from journeyman import Decline, Example, strategy

MAX_CHARACTERS = 500_000
MIN_LETTERS = 4

EXAMPLE = {
    "text": "The raven and the writing desk; a raven, a desk, and Alice.",
    "count": 3,
    "stop_words": ["writing"],
}


@strategy(
    version="1.0.0",
    kinds={"keywords"},
    tags={"text", "keywords"},
    inputs={"text": str, "count": int, "stop_words": list},
    examples=[
        Example(
            {"kind": "keywords", "input": EXAMPLE}, expect=["desk", "raven", "alice"]
        ),
        Example({"kind": "keywords", "input": EXAMPLE | {"count": -1}}, expect=Decline),
    ],
)
def keywords(text: str, count: int, stop_words: list[str]) -> list[str]:
    """Return the most frequent words of a text, most frequent first."""
    if len(text) > MAX_CHARACTERS or count < 0:
        raise Decline("the text is too long, or the count is invalid", count=count)
    words = re.findall(f"[a-z]{{{MIN_LETTERS},}}", text.lower())
    ignored = {word for word in stop_words if isinstance(word, str)}
    frequency = Counter(word for word in words if word not in ignored)
    ranking = sorted(frequency, key=lambda word: (-frequency[word], word))
    return ranking[:count]
