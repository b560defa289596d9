"""Whether text alone can answer a task: judged by its words, before it is claimed.

It costs nothing, knows English only, and errs towards yes: what it lets through, the
model itself may still decline.
"""

import re

from journeyman import Task

_QUOTED = re.compile(
    r"\"[^\"]*\"|\u201c[^\u201d]*\u201d|`[^`]*`|(?<!\w)'[^'\n]*'(?!\w)"
)
"""What a task quotes is what it is about, and not what it asks for."""
_ORDER = r"(?:^|[.!?;:\n]\s*|\b(?:please|then|to|must|should)\s+)"
"""Before a verb: it asks for something, and does not just speak of it."""
_THIS = r"(?:a|an|the|this|that|our|my|your)\s+"
_NEEDS = {
    "a picture, a sound or a film": [
        (
            _ORDER + rf"(?:draw|paint|photograph)\s+{_THIS}"
            r"(?!(?:\w+\s+)?(?:conclusion|comparison|parallel|distinction|lesson))"
        ),
        _ORDER + rf"(?:film|record)\s+(?:yourself|{_THIS})",
        (
            r"\b(?:create|generate|make|design|produce)\s+(?:\w+\s+){0,3}"
            r"(?:image|picture|photo|logo|video|drawing|illustration|song|podcast)s?\b"
        ),
    ],
    "material that is not in the task": [
        r"\b(?:attached|attachment)\b",
        (
            rf"\b(?:see|in|look at|watch|listen to|transcribe)\s+{_THIS}"
            r"(?:image|picture|photo|screenshot|video|recording|audio)\b"
        ),
    ],
    "the present state of the world": [
        r"\b(?:search|browse)\s+the\s+(?:web|internet)\b",
        r"\b(?:current|today's)\s+(?:\w+\s+)?(?:price|weather|exchange rate|score)s?\b",
        _ORDER + r"(?:visit|open|fetch|scrape|crawl|download)\s.{0,80}https?://",
    ],
    "an act outside of the task": [
        _ORDER + r"(?:phone|buy|donate|upload|deploy|install|retweet)\s",
        _ORDER + r"(?:sign up|subscribe to|register (?:at|on|with)|log in)\b",
        (
            _ORDER + rf"(?:call|follow)\s+(?:{_THIS})?(?:\w+\s+)?"
            r"(?:number|shop|office|hotline|account|channel|profile)\b"
        ),
        (
            r"\b(?:post|tweet|publish)\s+(?:\w+\s+){0,5}(?:on|to|in)\s+"
            r"(?:x|twitter|reddit|facebook|instagram|linkedin|discord|telegram)\b"
        ),
        r"\bsend\s+(?:\w+\s+){0,4}(?:e-?mails?|sms|messages?)\s+to\b",
    ],
}
_PATTERNS = [
    (need, re.compile(pattern, re.IGNORECASE))
    for need, patterns in _NEEDS.items()
    for pattern in patterns
]


def need_beyond_text(task: Task) -> str:
    """Return what a task asks for that no text can be; empty if nothing is found."""
    # Not the material: a story may say "call me", and ask for nothing.
    asked = _QUOTED.sub(" ", f"{task.title}\n{task.description}")
    for need, pattern in _PATTERNS:
        if pattern.search(asked):
            return need
    return ""
