"""Errors out of the groups that task groups put them into."""

from collections.abc import Iterator
from contextlib import contextmanager

from journeyman.domain.errors import JourneymanError


@contextmanager
def one_error() -> Iterator[None]:
    """Raise a problem of ours by itself, though task groups have wrapped it.

    A group that holds anything else is a bug, and is raised as it is.
    """
    error: JourneymanError | None = None
    try:
        yield
    except BaseExceptionGroup as group:
        error = _the_error_in(group)
        if error is None:
            raise
    # Outside of the handler: an error whose context is the group that holds it would
    # be a circle, which not everything that prints errors survives.
    if error is not None:
        raise error


def _the_error_in(group: BaseExceptionGroup[BaseException]) -> JourneymanError | None:
    told, bugs = group.split(JourneymanError)
    if told is None or bugs is not None:
        return None
    first: BaseException = told
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return first if isinstance(first, JourneymanError) else None
