"""Counting words, and finding the words that a text is about."""

from collections import Counter
from random import Random

from journeyman.sandbox.kinds.kind import (
    Answer,
    Draft,
    Fields,
    Kind,
    WrongAnswerError,
    read_number,
    read_strings,
    require_length,
)
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


def _make_word_count(rng: Random, material: Material) -> Draft:
    passage = rng.choice(material.passages)
    words = passage.words
    length = rng.randint(30, len(words) - 20)
    start = rng.randint(0, len(words) - length)
    window = words[start : start + length]
    text = "".join(word + rng.choice(_GAPS) for word in window[:-1]) + window[-1]
    return Draft(
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


def _check_word_count(_input: Fields, answer: Answer, result: object) -> None:
    count = read_number(result)
    if count != answer:
        # Of a number that no float can hold, no digit is worth showing.
        told = f"{float(count):g}" if abs(count) < _MANY else "so large a number"
        raise WrongAnswerError(f"{told} is not the number of words")


def _make_keywords(rng: Random, material: Material) -> Draft:
    passage = rng.choice(material.passages)
    sentences = passage.sentences
    length = rng.randint(min(5, len(sentences) - 1), len(sentences))
    start = rng.randint(0, len(sentences) - length)
    text = " ".join(sentences[start : start + length])
    stop_words = list(material.stop_words)
    count = rng.randint(3, 8)
    return Draft(
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


def _check_keywords(_input: Fields, answer: Answer, result: object) -> None:
    words = read_strings(result)
    require_length(words, len(answer))
    if sorted(words) != sorted(answer):
        strange = sorted(set(words) - set(answer))
        named = f": {strange[0][:40]!r} is not one of them" if strange else ""
        raise WrongAnswerError(f"these are not the most frequent words{named}")
    if words != answer:
        raise WrongAnswerError("the right words, in the wrong order")


KINDS = (
    Kind(
        name="word_count",
        tags=("text", "count"),
        make=_make_word_count,
        check=_check_word_count,
    ),
    Kind(
        name="keywords",
        tags=("text", "keywords"),
        make=_make_keywords,
        check=_check_keywords,
    ),
)
