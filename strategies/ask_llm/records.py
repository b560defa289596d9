"""How results of each kind were taken before: for the chance, and for the next try."""

from typing import Any

HOPE = 0.75
"""The chance of a first result of a kind, until it is known better."""
DOUBT = 2.0
"""As many results' worth of evidence is that hope."""
FADING = 0.98
"""About the last fifty results of a kind count."""
MOST_KINDS = 50
LONGEST_REASON = 300


class KindRecords:
    """What became of results, by kind; kept in the strategy's state."""

    def __init__(self) -> None:
        """Start knowing nothing."""
        self._kinds: dict[str, dict[str, Any]] = {}

    def open(self, state: dict[str, Any]) -> None:
        """Go on from what is kept, and keep what comes."""
        self._kinds = state.setdefault("kinds", {})

    def chance(self, kind: str) -> float:
        """Return how likely a result of a kind is to be paid, from 0 to 1."""
        known = self._kinds.get(kind, {})
        paid, refused = known.get("paid", 0.0), known.get("refused", 0.0)
        return (paid + HOPE * DOUBT) / (paid + refused + DOUBT)  # type: ignore[no-any-return]  # numbers

    def last_refusal(self, kind: str) -> str:
        """Return what was last said against a result of a kind."""
        return str(self._kinds.get(kind, {}).get("why", ""))

    def count(self, kind: str, *, is_paid: bool, why: str = "") -> None:
        """Remember what became of a result."""
        known = self._kinds.pop(kind, {})
        known = {
            "paid": known.get("paid", 0.0) * FADING + is_paid,
            "refused": known.get("refused", 0.0) * FADING + (not is_paid),
            "why": known.get("why", "") if is_paid else why[:LONGEST_REASON],
        }
        # Put last again: the kind that was done the longest ago is forgotten first.
        self._kinds[kind] = known
        while len(self._kinds) > MOST_KINDS:
            del self._kinds[next(iter(self._kinds))]
