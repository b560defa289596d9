"""Work on plain language: extracting, classifying, answering, rewriting.

What a result must be is stated in the task, so that rules can judge it, and no opinion.
"""

import re
from datetime import date, timedelta
from random import Random

from journeyman.sandbox.kinds import kind
from journeyman.sandbox.kinds.texts import significant_words
from journeyman.sandbox.material import Country, Material

# -- extraction ----------------------------------------------------------------------

_PEOPLE = (
    "Amina Haddad", "Bruno Keller", "Chen Wei", "Dolores Ortega", "Elif Kaya",
    "Farid Nazari", "Grace Mensah", "Hanna Virtanen", "Ivan Petrov", "Joana Lopes",
)  # fmt: skip
_EVENTS = ("a workshop", "a lecture", "an exhibition", "a reading", "a round table")
_FACTS = ("city", "date", "price", "contact")


def _make_extraction(rng: Random, material: Material) -> kind.Draft:
    day = date(2027, 1, 1) + timedelta(days=rng.randrange(700))
    price = rng.randrange(20, 200, 5)
    contact, speaker = rng.sample(_PEOPLE, 2)
    city = rng.choice(material.countries).capital
    notice = rng.choice(material.notices).format(
        event=rng.choice(_EVENTS),
        subject=rng.choice(material.elements).name.lower(),
        city=city,
        day=_in_words(day),
        until=_in_words(day - timedelta(days=rng.randint(7, 40))),
        price=price,
        reduced=price // 2,
        contact=contact,
        speaker=speaker,
    )
    return kind.Draft(
        title="Extract four facts from a notice",
        description=(
            "Read `text`, a notice of an event, and extract four facts. Answer with a "
            "JSON object: `city`, where it is held; `date`, when, as YYYY-MM-DD; "
            "`price`, of a full ticket in credits, as a number; `contact`, the full "
            "name of the person who answers questions."
        ),
        input={"text": notice[0].upper() + notice[1:], "fields": list(_FACTS)},
        reward=rng.randint(4, 6),
        answer={
            "city": city,
            "date": day.isoformat(),
            "price": price,
            "contact": contact,
        },
    )


def _in_words(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


def _check_extraction(_input: kind.Fields, answer: kind.Answer, result: object) -> None:
    found = kind.read_object(result)
    if found.keys() != answer.keys():
        raise kind.WrongAnswerError(f"expected exactly {', '.join(_FACTS)}")
    wrong = [
        name for name in _FACTS if _plain(str(found[name])) != _plain(str(answer[name]))
    ]
    if wrong:
        raise kind.WrongAnswerError(f"wrong: {', '.join(wrong)}")


def _plain(text: str) -> str:
    """Return a text without what makes no difference: case, full stop, blanks."""
    return " ".join(text.casefold().split()).removesuffix(".")


# -- classification ------------------------------------------------------------------

_THINGS = (
    "lamp",
    "kettle",
    "suitcase",
    "tent",
    "clock",
    "radio",
    "armchair",
    "compass",
)


def _make_classification(rng: Random, material: Material) -> kind.Draft:
    message = rng.choice(material.messages)
    return kind.Draft(
        title="Classify a message of a customer",
        description=(
            "Read `text`, which a customer has written to a shop, and say what it is: "
            "one of `labels`. Answer with the label alone."
        ),
        input={
            "text": message.text.format(
                thing=rng.choice(_THINGS), days=rng.randint(3, 30)
            ),
            "labels": sorted({one.label for one in material.messages}),
        },
        reward=rng.randint(2, 4),
        answer=message.label,
    )


def _check_classification(
    task_input: kind.Fields, answer: kind.Answer, result: object
) -> None:
    label = _plain(kind.read_string(result))
    if label not in task_input["labels"]:
        raise kind.WrongAnswerError("that is not one of the labels")
    if label != answer:
        raise kind.WrongAnswerError(f"it is not of the class {label!r}")


# -- answering questions -------------------------------------------------------------


def _make_question(rng: Random, material: Material) -> kind.Draft:
    countries = rng.sample(material.countries, 3)
    elements = rng.sample(material.elements, 2)
    facts = [_about(country) for country in countries]
    facts += [
        f"{one.name}, written {one.symbol}, is element number {one.number}."
        for one in elements
    ]
    rng.shuffle(facts)
    country, element = countries[0], elements[0]
    question, answer = rng.choice(
        [
            (f"What is the capital of {country.name}?", country.capital),
            (f"On which continent does {country.capital} lie?", country.continent),
            (f"Which element is written {element.symbol}?", element.name),
            (f"Which number has {element.name.lower()}?", str(element.number)),
        ]
    )
    return kind.Draft(
        title="Answer a question about a text",
        description=(
            f"{question} The answer is in `text`. Answer with the name or the number "
            "alone, as it is written there."
        ),
        input={"text": " ".join(facts), "question": question},
        reward=rng.randint(3, 4),
        answer=answer,
    )


def _about(country: Country) -> str:
    return f"{country.capital} in {country.continent} is the capital of {country.name}."


def _check_question(_input: kind.Fields, answer: kind.Answer, result: object) -> None:
    if _plain(kind.read_string(result)) != _plain(answer):
        raise kind.WrongAnswerError("that is not the answer")


# -- rewriting -----------------------------------------------------------------------

_SHORTEST, _LONGEST = 15, 45
"""Of a sentence that is rewritten, in words."""
_FEWEST = 6
_WORD = re.compile(r"[a-z]+(?:['\u2019-][a-z]+)*")


def _make_rewriting(rng: Random, material: Material) -> kind.Draft:
    passage, sentence, words = rng.choice(
        [
            (passage, sentence, words)
            for passage in material.passages
            for sentence in passage.sentences
            if _SHORTEST <= len(sentence.split()) <= _LONGEST
            and len(words := _telling(sentence, material)) >= 4  # noqa: PLR2004 - 2 to keep, 2 to avoid
        ]
    )
    keep, avoid = words[:2], words[2:4]
    longest = max(_FEWEST + 4, len(sentence.split()) // 2)
    return kind.Draft(
        title="Rewrite a sentence in fewer words",
        description=(
            f"Rewrite `text`, which is taken from {passage.origin}, as one sentence of "
            f"{_FEWEST} to {longest} words. It begins with a capital letter and ends "
            "with a full stop, the only one. It contains each word of `keep` and none "
            "of `avoid`. Answer with the sentence alone."
        ),
        input={
            "text": sentence,
            "least_words": _FEWEST,
            "most_words": longest,
            "keep": keep,
            "avoid": avoid,
        },
        reward=rng.randint(6, 8),
        answer=f"This sentence speaks of {keep[0]} and {keep[1]}.",
    )


def _telling(sentence: str, material: Material) -> list[str]:
    """Return what can be asked for or forbidden in a sentence, the longest first."""
    whole = _WORD.findall(sentence.lower())
    words = set(significant_words(sentence, list(material.stop_words)))
    # Not a part of a word with an apostrophe, and nothing that our answer contains.
    fit = words.intersection(whole) - {"sentence", "speaks"}
    return sorted(fit, key=lambda word: (-len(word), word))


def _check_rewriting(
    task_input: kind.Fields, _answer: kind.Answer, result: object
) -> None:
    sentence = kind.read_string(result)
    length, words = len(sentence.split()), _WORD.findall(sentence.lower())
    least, most = task_input["least_words"], task_input["most_words"]
    if not least <= length <= most:
        raise kind.WrongAnswerError(f"{length} words, not {least} to {most}")
    if not sentence[0].isupper():
        raise kind.WrongAnswerError("it does not begin with a capital letter")
    if not sentence.endswith(".") or sentence.count(".") != 1:
        raise kind.WrongAnswerError("it does not end with its only full stop")
    for word in task_input["keep"]:
        if word not in words:
            raise kind.WrongAnswerError(f"{word!r} is missing")
    for word in task_input["avoid"]:
        if word in words:
            raise kind.WrongAnswerError(f"{word!r} is in it")


KINDS = (
    kind.Kind("extraction", ("text", "extract"), _make_extraction, _check_extraction),
    kind.Kind(
        "classification",
        ("text", "classify"),
        _make_classification,
        _check_classification,
    ),
    kind.Kind(
        "question_answering", ("text", "question"), _make_question, _check_question
    ),
    kind.Kind("rewriting", ("text", "rewrite"), _make_rewriting, _check_rewriting),
)
