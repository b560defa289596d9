"""Counting words, and finding the words and the sentences that a text is about."""

from collections import Counter
from itertools import chain
from random import Random

from journeyman.sandbox.kinds import kind
from journeyman.sandbox.material import Material

SHORTEST_SIGNIFICANT = 4
"""In letters."""
_MANY = 10**15
_GAPS = (" ",) * 12 + ("  ", "\n", "\t", " \n ")


def significant_words(text: str, stop_words: list[str]) -> list[str]:
    """List the words that count for `keywords` and `summary`, repeats included."""
    spaced = "".join(char if "a" <= char <= "z" else " " for char in text.lower())
    return [
        word
        for word in spaced.split()
        if len(word) >= SHORTEST_SIGNIFICANT and word not in stop_words
    ]


def _make_word_count(rng: Random, material: Material) -> kind.Draft:
    passage = rng.choice(material.passages)
    words = passage.words
    length = rng.randint(30, len(words) - 20)
    start = rng.randint(0, len(words) - length)
    window = words[start : start + length]
    text = "".join(word + rng.choice(_GAPS) for word in window[:-1]) + window[-1]
    return kind.Draft(
        title="Count the words of a passage",
        description=(
            f"Count the words of `text`, which is taken from {passage.origin}. "
            "A word is a run of characters parted by white space. "
            "Answer with the number."
        ),
        input={"text": text},
        reward=2 + length // 100,
        answer=length,
    )


def _check_word_count(_input: kind.Fields, answer: kind.Answer, result: object) -> None:
    count = kind.read_number(result)
    if count != answer:
        # Of a number that no float can hold, no digit is worth showing.
        told = f"{float(count):g}" if abs(count) < _MANY else "so large a number"
        raise kind.WrongAnswerError(f"{told} is not the number of words")


def _make_keywords(rng: Random, material: Material) -> kind.Draft:
    passage = rng.choice(material.passages)
    sentences = passage.sentences
    length = rng.randint(min(5, len(sentences) - 1), len(sentences))
    start = rng.randint(0, len(sentences) - length)
    text = " ".join(sentences[start : start + length])
    stop_words = list(material.stop_words)
    count = rng.randint(3, 8)
    return kind.Draft(
        title=f"Find {count} keywords",
        description=(
            f"Find the {count} most frequent words of `text`, which is taken from "
            f"{passage.origin}. Most frequent first, ties in alphabetical order. "
            "Words are runs of the letters a to z after lower-casing, at least 4 "
            "letters long, not in `stop_words`. Answer with a list of strings."
        ),
        input={"text": text, "count": count, "stop_words": stop_words},
        reward=rng.randint(4, 5),
        answer=_most_frequent(text, stop_words, count),
    )


def _most_frequent(text: str, stop_words: list[str], count: int) -> list[str]:
    counted = Counter(significant_words(text, stop_words))
    ranked = sorted(counted, key=lambda word: (-counted[word], word))
    return ranked[:count]


def _check_keywords(_input: kind.Fields, answer: kind.Answer, result: object) -> None:
    words = kind.read_strings(result)
    kind.require_length(words, len(answer))
    if sorted(words) != sorted(answer):
        strange = sorted(set(words) - set(answer))
        named = f": {strange[0][:40]!r} is not one of them" if strange else ""
        raise kind.WrongAnswerError(f"these are not the most frequent words{named}")
    if words != answer:
        raise kind.WrongAnswerError("the right words, in the wrong order")


_ENOUGH_PERCENT = 80
"""Of the worth that the greedy choice reaches."""


def _make_summary(rng: Random, material: Material) -> kind.Draft:
    passage = rng.choice(material.passages)
    available = len(passage.sentences)
    length = rng.randint(min(5, available), available)
    start = rng.randint(0, available - length)
    sentences = list(passage.sentences[start : start + length])
    stop_words = list(material.stop_words)
    count = rng.randint(2, 3)
    return kind.Draft(
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


def _check_summary(
    task_input: kind.Fields, answer: kind.Answer, result: object
) -> None:
    sentences = task_input["sentences"]
    chosen = kind.read_strings(result)
    kind.require_length(chosen, len(answer))
    for position, sentence in enumerate(chosen, start=1):
        if sentence not in sentences:
            raise kind.WrongAnswerError(f"entry {position} is not one of the sentences")
    places = [sentences.index(sentence) for sentence in chosen]
    if places != sorted(set(places)):
        raise kind.WrongAnswerError("the sentences repeat or are out of their order")
    scale = _Scale(sentences, task_input["stop_words"])
    reached = scale.worth(chosen)
    if reached * 100 < _ENOUGH_PERCENT * scale.worth(answer):
        raise kind.WrongAnswerError(
            f"the choice is worth {reached}, which is too little"
        )


KINDS = (
    kind.Kind("word_count", ("text", "count"), _make_word_count, _check_word_count),
    kind.Kind("keywords", ("text", "keywords"), _make_keywords, _check_keywords),
    kind.Kind("summary", ("text", "summary"), _make_summary, _check_summary),
)
