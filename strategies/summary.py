"""Extractive summary: a strategy that scores its chances and reports its progress."""

import re
from collections import Counter

from journeyman import (
    Context,
    Decision,
    Decline,
    Example,
    Result,
    Strategy,
    Task,
    param,
    score,
)

EXAMPLE = {
    "sentences": [
        "Whales are mammals.",
        "Some whales sing.",
        "Mammals breathe air, and whales come up to breathe.",
    ],
    "count": 2,
    "stop_words": ["some"],
}


class Summary(Strategy):
    """Picks the sentences that cover the most frequent words of a text."""

    api, version = 1, "1.0.0"
    kinds = {"summary"}
    tags = {"text", "summary"}
    inputs = {"sentences": list, "count": int, "stop_words": list}
    examples = [
        Example({"kind": "summary", "input": EXAMPLE}, expect=EXAMPLE["sentences"][1:])
    ]

    max_sentences: int = param(1_000, ge=1, le=10_000, help="decline longer texts")
    max_characters: int = param(200_000, ge=1, help="decline longer texts")
    chance: float = param(0.95, ge=0, le=1, help="how often graders like our choice")

    def wants(self, task: Task) -> Decision:
        """Want what fits, at a little less than certainty: taste is involved."""
        decision = super().wants(task)
        return score(self.chance) if decision is True else decision

    def run(
        self, sentences: list[str], count: int, stop_words: list[str], ctx: Context
    ) -> Result:
        """Take the best next sentence, so often; ties go to the earlier one."""
        if not 0 <= count <= len(sentences) <= self.max_sentences:
            raise Decline("too many sentences", given=len(sentences), wanted=count)
        if not all(isinstance(item, str) for item in [*sentences, *stop_words]):
            raise Decline("a sentence or a stop word is not a text")
        if sum(map(len, sentences)) > self.max_characters:
            raise Decline("the text is too long")
        found = [re.findall("[a-z]{4,}", sentence.lower()) for sentence in sentences]
        frequency = Counter(word for words in found for word in words)
        fresh = [set(words) - set(stop_words) for words in found]
        left = list(range(len(sentences)))
        chosen: list[int] = []
        while len(chosen) < count and not ctx.cancelled:
            worth = [sum(frequency[word] for word in words) for words in fresh]
            best = max(left, key=worth.__getitem__)
            left.remove(best)
            chosen.append(best)
            fresh = [words - fresh[best] for words in fresh]
            ctx.progress(len(chosen) / count, note=f"{len(chosen)} of {count}")
        evidence = {"method": "greedy cover of frequent words"}
        return Result([sentences[index] for index in sorted(chosen)], evidence=evidence)
