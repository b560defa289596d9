"""What can go wrong in a way that the owner must hear about.

JourneymanError             exit code 1
|- UsageError               2   the command line asks for something impossible
|- NotRunningError          3   no daemon answers for this data directory
|- ConfigurationError       4   settings or a plugin
|- TimedOutError            5
|- SafetyError              6   a rule that protects money or identity says no
|- NetworkError             7   the network is unreachable or refuses us
|- BrokenOffError         130   whoever was asked broke off
`- StateError               1   the data directory, the journal, the identity
   `- AlreadyRunningError   6   another daemon holds the data directory
"""

from collections.abc import Iterator
from contextlib import contextmanager


class JourneymanError(Exception):
    """A problem that the user is shown in two sentences, without a traceback."""

    exit_code = 1

    def __init__(self, problem: str, fix: str = "") -> None:
        """Take what is wrong and where (`problem`), and what to do next (`fix`)."""
        super().__init__(f"{problem}\n{fix}" if fix else problem)
        self.problem = problem
        self.fix = fix


class UsageError(JourneymanError):
    """The command line asks for something impossible."""

    exit_code = 2


class NotRunningError(JourneymanError):
    """No daemon answers for this data directory."""

    exit_code = 3


class ConfigurationError(JourneymanError):
    """A setting or a plugin is wrong."""

    exit_code = 4


class TimedOutError(JourneymanError):
    """Something did not happen in time."""

    exit_code = 5


class SafetyError(JourneymanError):
    """A rule that protects money or identity says no."""

    exit_code = 6


class NetworkError(JourneymanError):
    """The network is unreachable, refuses us, or is not what we were told."""

    exit_code = 7


class BrokenOffError(JourneymanError):
    """Whoever was asked broke off, by Ctrl-C or by the end of the input."""

    exit_code = 130


class StateError(JourneymanError):
    """The data directory, the journal or the identity cannot be used."""


class AlreadyRunningError(StateError):
    """Another daemon holds the data directory."""

    exit_code = 6


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
