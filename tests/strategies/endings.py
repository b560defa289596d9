"""Comparing deliberate endings: exceptions are equal only to themselves."""


def is_like(outcome: object, expected: object) -> bool:
    """Return whether two endings are of one kind and carry the same."""
    return type(outcome) is type(expected) and vars(outcome) == vars(expected)
