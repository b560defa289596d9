"""How simulated time can go wrong, and how a simulated process dies.

Exception
|- HiddenThreadError   something asked for a thread, which no seed can repeat
|- DeadlockError       something waits, and nothing that is scheduled can wake it
|- LivelockError       something is done again and again, and no time passes
`- NotInstantError     the simulated network waited where it must answer at once
KeyboardInterrupt
`- Killed              the process was killed, as by SIGKILL
"""


class HiddenThreadError(RuntimeError):
    """A thread was asked for; what it does when is not a function of the seed."""

    def __init__(self, function: object) -> None:
        """Name what should have run in the thread."""
        super().__init__(
            f"{function!r} asked for a thread inside simulated time; make it async",
        )


class DeadlockError(RuntimeError):
    """Everything waits and nothing is scheduled: real time would pass for ever."""

    def __init__(self, seconds: float) -> None:
        """Say when, in simulated seconds."""
        super().__init__(f"everything waits for ever, from {seconds:.3f} s on")


class LivelockError(RuntimeError):
    """Something spins: in real time it would use a whole processor for nothing."""

    def __init__(self, seconds: float) -> None:
        """Say when, in simulated seconds."""
        super().__init__(f"something spins, and no time passes, at {seconds:.3f} s")


class NotInstantError(RuntimeError):
    """The network in memory waited for something; it must answer in one step."""


class Killed(KeyboardInterrupt):
    """The simulated process is dead; nothing that it still does counts.

    A KeyboardInterrupt, because that alone leaves an asyncio task, the event loop and
    the guards around strategies without being taken for a failure of theirs.
    """
