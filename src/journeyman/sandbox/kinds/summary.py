"""Choosing the sentences that say most of what a text says."""

from collections import Counter
from itertools import chain
from random import Random

from journeyman.sandbox.kinds.kind import (
    Answer,
    Draft,
    Fields,
    Kind,
    WrongAnswerError,
    read_strings,
    require_length,
)
from journeyman.sandbox.kinds.words import significant_words
from journeyman.sandbox.material import Material

_ENOUGH_PERCENT = 80
"""Of the worth that the greedy choice reaches."""


def _make_summary(rng: Random, material: Material) -> Draft:
    passage = rng.choice(material.passages)
    available = len(passage.sentences)
    length = rng.randint(min(5, available), available)
    start = rng.randint(0, available - length)
    sentences = list(passage.sentences[start : start + length])
    stop_words = list(material.stop_words)
    count = rng.randint(2, 3)
    return Draft(
        title=f"Summarise a passage in {count} of its sentences",
        description=(
            f"Choose {count} of `sentences`, which are taken from {passage.origin}, "
            "that together say most. Significant words are runs of the letters a to z "
            "after lower-casing, at least 4 letters long, not in `stop_words`. The "
            "worth of a choice is the sum, over the distinct significant words in it, "
            "of how often each occurs in all the sentences. Accepted from 80 % of the "
            "worth that picking the best next sentence each time reaches. Answer with "
            "a list of the sentences, word for word, in their original order."
        ),
        input={"sentences": sentences, "count": count, "stop_words": stop_words},
        reward=rng.randint(7, 9),
        answer=_greedy(sentences, stop_words, count),
    )


class _Scale:
    """Weighs choices of one text's sentences."""

    def __init__(self, sentences: list[str], stop_words: list[str]) -> None:
        self._words = {one: significant_words(one, stop_words) for one in sentences}
        self._weights = Counter(chain.from_iterable(self._words.values()))

    def worth(self, chosen: list[str]) -> int:
        covered = set(chain.from_iterable(self._words[one] for one in chosen))
        return sum(self._weights[word] for word in covered)


def _greedy(sentences: list[str], stop_words: list[str], count: int) -> list[str]:
    scale = _Scale(sentences, stop_words)
    chosen: list[str] = []
    while len(chosen) < count:
        rest = [sentence for sentence in sentences if sentence not in chosen]
        # max() keeps the first of equals, which is the earlier sentence.
        chosen.append(max(rest, key=lambda one: scale.worth([*chosen, one])))
    return sorted(chosen, key=sentences.index)


def _check_summary(task_input: Fields, answer: Answer, result: object) -> None:
    sentences = task_input["sentences"]
    chosen = read_strings(result)
    require_length(chosen, len(answer))
    for position, sentence in enumerate(chosen, start=1):
        if sentence not in sentences:
            raise WrongAnswerError(f"entry {position} is not one of the sentences")
    places = [sentences.index(sentence) for sentence in chosen]
    if places != sorted(set(places)):
        raise WrongAnswerError("the sentences repeat or are out of their order")
    scale = _Scale(sentences, task_input["stop_words"])
    reached = scale.worth(chosen)
    if reached * 100 < _ENOUGH_PERCENT * scale.worth(answer):
        raise WrongAnswerError(f"the choice is worth {reached}, which is too little")


KINDS = (
    Kind(
        name="summary",
        tags=("text", "summary"),
        make=_make_summary,
        check=_check_summary,
    ),
)
