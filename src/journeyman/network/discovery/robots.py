"""Obeying robots.txt: which of the portal's pages we may read (RFC 9309)."""

from protego import Protego

from journeyman.domain import Confirmed, Outcome, Refused
from journeyman.network.receipts import Document

PATH = "/robots.txt"
PRODUCT = "journeyman"
"""Our product token: what a `User-agent` line must name to mean us (section 2.2.1)."""
_HOST = "http://portal.invalid"
"""Rules are about paths; the matcher wants an address."""


class Robots:
    """The rules for us in one robots.txt."""

    def __init__(self, rules: Protego | None, *, unreachable: str = "") -> None:
        self._rules = rules
        self.unreachable = unreachable
        """Why the rules could not be had, so that nothing may be read; or empty."""

    def allows(self, path: str) -> bool:
        """Tell whether we may read a page."""
        if self.unreachable:
            return False
        return self._rules is None or self._rules.can_fetch(f"{_HOST}{path}", PRODUCT)


def robots_from(outcome: Outcome[Document]) -> Robots:
    """Read the rules from the answer to a request for them.

    A definite no means that there are no rules (section 2.3.1.3). Where the server
    could not be reached or failed, everything is disallowed (section 2.3.1.4).
    """
    if isinstance(outcome, Confirmed):
        return Robots(Protego.parse(outcome.value.text))
    if isinstance(outcome, Refused):
        return Robots(None)
    return Robots(None, unreachable=outcome.message)
