"""Answers to the sandbox's prose, by rules: what stands in for a language model."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

Fields = dict[str, Any]

DAY = r"\d{1,2} [A-Z][a-z]+ \d{4}"
NAME = r"([A-Z][a-z]+ [A-Z][a-z]+)"
TELLING = {
    "complaint": ("broken", "disappointed", "charged me"),
    "praise": ("thank you", "delight", "Well done"),
    "order": ("send me", "to buy", "aside for us"),
}


def extraction(task: Fields) -> Fields:
    text = task["text"]
    days = [datetime.strptime(day, "%d %B %Y") for day in re.findall(DAY, text)]  # noqa: DTZ007 - a day
    return {
        "city": _first(r"(?:held in|place in|comes to) (.+?)(?:, which| on \d)", text),
        # Registration ends before it.
        "date": f"{max(days):%Y-%m-%d}",
        # Students pay less.
        "price": max(map(int, re.findall(r"(\d+) credits", text))),
        "contact": _first(f"; {NAME} answers|Write to {NAME}|ask {NAME}", text),
    }


def classification(task: Fields) -> str:
    for label, words in TELLING.items():
        if any(word in task["text"] for word in words):
            return label
    return "question"


def question_answering(task: Fields) -> str:
    question, text = task["question"], task["text"]
    patterns = {
        "What is the capital of (.+)\\?": r"(.+?) in [A-Z][\w ]+ is the capital of {}",
        "On which continent does (.+) lie": "{} in ([A-Z][A-Za-z ]+) is the capital",
        "Which element is written (.+)\\?": r"(\w+), written {},",
        "Which number has (.+)\\?": r"(?i:{}), written \w+, is element number (\d+)",
    }
    for asked, told in patterns.items():
        if about := re.match(asked, question):
            facts = re.split(r"(?<=[a-z0-9])\. ", text)
            found = (re.search(told.format(re.escape(about[1])), one) for one in facts)
            return str(next(filter(None, found))[1])
    raise AssertionError(question)


def rewriting(task: Fields) -> str:
    one, other = task["keep"]
    return f"The passage tells of {one} and {other}."


SOLVERS: dict[str, Callable[[Fields], Any]] = {
    "extraction": extraction,
    "classification": classification,
    "question_answering": question_answering,
    "rewriting": rewriting,
}


def _first(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    assert found, (pattern, text)
    return str(next(filter(None, found.groups())))
