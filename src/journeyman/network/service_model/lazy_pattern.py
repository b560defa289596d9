"""Regular expressions that are compiled when they are first used.

A hundred of them read refusals, which a daemon meets in its first minutes and most
commands never: compiled at import, they cost each `journeyman status` 50 ms.
"""

import re
from collections.abc import Callable, Iterator


class LazyPattern:
    """What `re.compile` returns, so far as it is used, but cheap to make.

    A pattern that is wrong raises `re.error` at the first use.
    """

    __slots__ = ("_compiled", "_flags", "pattern")

    def __init__(self, pattern: str, flags: re.RegexFlag = re.NOFLAG) -> None:
        self.pattern = pattern
        self._flags = flags
        self._compiled: re.Pattern[str] | None = None

    def search(self, text: str) -> re.Match[str] | None:
        return self.compiled.search(text)

    def match(self, text: str) -> re.Match[str] | None:
        return self.compiled.match(text)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        return self.compiled.fullmatch(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return self.compiled.finditer(text)

    def findall(self, text: str) -> list[str]:
        return self.compiled.findall(text)

    def sub(self, to: str | Callable[[re.Match[str]], str], text: str) -> str:
        return self.compiled.sub(to, text)

    def split(self, text: str, maxsplit: int = 0) -> list[str]:
        return self.compiled.split(text, maxsplit)

    @property
    def compiled(self) -> re.Pattern[str]:
        """Return the expression itself."""
        if self._compiled is None:
            self._compiled = re.compile(self.pattern, self._flags)
        return self._compiled


def any_case(pattern: str) -> LazyPattern:
    """Return a pattern that is the same for capitals and small letters."""
    return LazyPattern(pattern, re.IGNORECASE)
