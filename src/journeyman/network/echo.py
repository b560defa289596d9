"""An answer that repeats our own token loses it before anybody reads the answer.

What a network sends is logged, kept in the journal and handed to strategies. A network
that puts our token into an error, a title or the name of a field must not carry it to
any of these places.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property

from journeyman.domain import JSON
from journeyman.network.http import Reply
from journeyman.observability.redaction import HIDDEN, spellings_of

_ESCAPED = "\\u00"
"""How JSON writes a plain letter that wants to hide (RFC 8259, section 7)."""
_BROKEN = r"(?:\s|\\[nrt])*"
"""What may stand between two letters: a line's end, also as JSON writes it."""


class Echo:
    """Finds certain secrets in answers, in any spelling, and broken across lines."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        spellings = {form for secret in secrets for form in spellings_of(secret)}
        self._spellings = sorted(spellings, key=lambda form: (-len(form), form))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """Made when a network first repeats a secret: hardly any ever does."""
        patterns = (_BROKEN.join(map(re.escape, form)) for form in self._spellings)
        return re.compile("|".join(patterns))

    def hidden_from(self, reply: Reply) -> Reply:
        """Give a reply without them; the same one where it has none."""
        if not self._spellings:
            return reply
        headers = reply.headers
        if any(map(self._may_be_in, headers.values())):
            headers = {name: self._clean(value) for name, value in headers.items()}
            reply = replace(reply, headers=headers)
        if not self._may_be_in(reply.text):
            return reply
        return replace(
            reply,
            body=self._clean_value(reply.body),
            text=self._clean(reply.text),
            problem=self._clean(reply.problem),
        )

    def _may_be_in(self, text: str) -> bool:
        """Look quickly: nearly all answers have nothing to hide."""
        if _ESCAPED in text:
            return True
        whole = "".join(text.replace("\\n", "").replace("\\r", "").split())
        return any(form in whole for form in self._spellings)

    def _clean(self, text: str) -> str:
        return self._pattern.sub(HIDDEN, text)

    def _clean_value(self, value: JSON) -> JSON:
        if isinstance(value, str):
            return self._clean(value)
        if isinstance(value, list):
            return [self._clean_value(item) for item in value]
        if isinstance(value, dict):
            return {self._clean(k): self._clean_value(v) for k, v in value.items()}
        return value
