"""Looking for secrets in a result before it leaves: ours, anybody's, and the canary.

A task's text is somebody's words, and a strategy that hands them to a language model or
a shell may be talked into telling what it knows. So a result is read once more before
it counts. What is found is named by kind and place, never quoted.

A pattern alone is no proof: an answer about passwords says `password = ...` too. So a
value counts only if it looks random, and only if the task itself did not hold it.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from journeyman.domain.tasks import JSON, Result, Task
from journeyman.observability.redaction import SENSITIVE, spellings_of

OURS: Final = "our own secret"
CANARY: Final = "the canary of its run"
SHORTEST_RANDOM: Final = 20
"""In characters; what is shorter may well be a word."""
LEAST_ENTROPY: Final = 3.2
"""In bits for each character. English words have about 2.5 to 3, hex digits 4."""


@dataclass(frozen=True, slots=True)
class Form:
    """What a kind of secret looks like."""

    kind: str
    hints: tuple[str, ...]
    """In lower case; one of them is in every text that the pattern could match."""
    pattern: re.Pattern[str]
    """Its only group, if it has one, is the secret."""
    looks_random: bool = False
    """True: what merely has this form counts only if it looks random as well."""


# Each pattern reads a text once: where it may begin is never inside of what it reads.
FORMS: Final = (
    # RFC 7468, section 10, and its likes.
    Form(
        "a private key",
        ("private key-----",),
        re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----"),
    ),
    # RFC 7519, section 3; `eyJ` is the start of `{"`.
    Form(
        "a JSON web token",
        (".eyj",),
        re.compile(r"(?<![\w-])eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]*"),
    ),
    Form(
        "a service's key",
        ("akia", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "xox", "aiza"),
        re.compile(
            r"\b(?:AKIA[0-9A-Z]{16}|gh[pousr]_\w{36,}|github_pat_\w{22,}"
            r"|xox[abpr]-[\w-]{20,}|AIza[\w-]{35})\b"
        ),
    ),
    Form("a service's key", ("sk-",), re.compile(r"\bsk-([\w-]{20,})"), True),
    # RFC 6750, section 2.1.
    Form(
        "a bearer token",
        ("bearer",),
        re.compile(r"\bbearer\s+([\w.~+/-]{20,}=*)", re.IGNORECASE),
        True,
    ),
    # RFC 3986, section 3.2.1: user:password@ before a host.
    Form(
        "a password in an address",
        ("://",),
        re.compile(r"://[^\s/:@]+:([^\s/@]{6,})@"),
    ),
    Form(
        "a named secret",
        ("token", "key", "secret", "passw", "authorization", "cookie"),
        re.compile(
            rf"""(?:{SENSITIVE})["']?\s*[:=]\s*["']?([^\s"',;]+)""", re.IGNORECASE
        ),
        True,
    ),
)


@dataclass(frozen=True, slots=True)
class Leak:
    """A secret in a result."""

    kind: str
    where: str
    """Such as `output['rows'][3]`."""

    def __str__(self) -> str:
        return f"the result holds {self.kind} (in {self.where})"


class LeakScan:
    """Looks through results; knows our own secrets by asking for each text."""

    def __init__(self, is_ours: Callable[[str], bool]) -> None:
        """Take what tells whether a text holds a secret of ours, however spelled."""
        self._is_ours = is_ours

    def find(self, result: Result, task: Task, canary: str) -> Leak | None:
        """Give the first leak of a result, worst kinds first; None for a clean one."""
        texts = list(_texts(result.output, "output"))
        texts += _texts(dict(result.evidence), "evidence")
        forms = spellings_of(canary) if canary else ()
        checks: tuple[tuple[str, Callable[[str], bool]], ...] = (
            (OURS, self._is_ours),
            (CANARY, lambda text: any(form in text for form in forms)),
        )
        for kind, check in checks:
            for where, text in texts:
                if check(text):
                    return Leak(kind, where)
        return next(_by_pattern(texts, task), None)


def _by_pattern(texts: list[tuple[str, str]], task: Task) -> Iterator[Leak]:
    given: str | None = None
    for where, text in texts:
        for kind, secret in _secrets_in(text):
            given = _given_by(task) if given is None else given
            if secret not in given:
                yield Leak(kind, where)


def _secrets_in(text: str) -> Iterator[tuple[str, str]]:
    low = text.lower()
    for form in FORMS:
        if any(hint in low for hint in form.hints):
            for found in form.pattern.finditer(text):
                secret = found[found.lastindex or 0]
                if not form.looks_random or looks_random(secret):
                    yield form.kind, secret


def looks_random(text: str) -> bool:
    """Tell whether a text is more like a key than like words."""
    if len(text) < SHORTEST_RANDOM or not any(char.isdigit() for char in text):
        return False
    counts, length = Counter(text).values(), len(text)
    entropy = -sum(n / length * math.log2(n / length) for n in counts)
    return entropy >= LEAST_ENTROPY


def _given_by(task: Task) -> str:
    """Give all that a task says, as plain text: what it holds is no secret of ours."""
    texts = [task.title, task.description, task.text, *task.tags]
    texts += (text for _, text in _texts(task.input, ""))
    texts += (text for _, text in _texts(dict(task.raw), ""))
    return "\n".join(texts)


def _texts(value: JSON, where: str) -> Iterator[tuple[str, str]]:
    """Give every text in a value, names of keys too, and where it stands."""
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            place = f"{where}[{key[:40]!r}]"
            yield f"a key of {where}", key
            # As it would be read beside its name: {"api_key": "..."}.
            if isinstance(inner, str):
                yield place, f"{key}: {json.dumps(inner, ensure_ascii=False)}"
            yield from _texts(inner, place)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _texts(inner, f"{where}[{index}]")
