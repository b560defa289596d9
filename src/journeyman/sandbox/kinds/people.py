"""Work for a person: it shows what a worker passes over."""

from random import Random

from journeyman.sandbox.kinds.kind import Answer, Draft, Fields, Kind, WrongAnswerError
from journeyman.sandbox.material import Material

_LANGUAGES = ("Finnish", "Georgian", "Quechua", "Swahili", "Welsh")


def _make_translation(rng: Random, material: Material) -> Draft:
    passage = rng.choice(material.passages)
    language = rng.choice(_LANGUAGES)
    return Draft(
        title=f"Translate a sentence into {language}",
        description=(
            f"Translate `text`, which is taken from {passage.origin}, into {language}, "
            "so that a native speaker enjoys it. A person reads the result."
        ),
        input={"text": rng.choice(passage.sentences), "language": language},
        reward=rng.randint(10, 12),
        answer=None,
    )


def _make_drawing(rng: Random, material: Material) -> Draft:
    subject = f"the skyline of {rng.choice(material.countries).capital} at dusk"
    return Draft(
        title="Draw a picture",
        description=f"Draw {subject}. A person looks at the result.",
        input={"subject": subject},
        reward=rng.randint(8, 10),
        answer=None,
    )


def _check(_input: Fields, _answer: Answer, _result: object) -> None:
    raise WrongAnswerError("this is work for a person, and no person was convinced")


KINDS = (
    Kind(
        "translation",
        ("text", "translation"),
        _make_translation,
        _check,
        for_people=True,
    ),
    Kind("drawing", ("image",), _make_drawing, _check, for_people=True),
)
