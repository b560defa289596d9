"""What a child says while it works and at its end, taken with care."""

from contextlib import suppress

from journeyman.domain import JSON
from journeyman.strategies.api import Context
from journeyman.strategies.child.frames import FrameError, Message
from journeyman.strategies.loaded import Loaded
from journeyman.strategies.runners.process.child import Child
from journeyman.strategies.wording import printable


class Hearing:
    """Passes on one run's words to its context: log, progress, costs, output, state."""

    def __init__(self, context: Context, child: Child) -> None:
        self._context = context
        self._child = child

    def hear(self, message: Message) -> None:
        """Take a line of the log, the progress, or a cost; pass over anything else."""
        match message:
            case {"log": str(level), "event": str(event), "fields": dict(fields)}:
                self._log(level, event, fields)
            case {"progress": int() | float() as fraction, "note": str(note)}:
                self._context.progress(fraction, printable(note))
            case {"cost": int() | float() as credits_, "note": str(note)}:
                # What comes from there may be any JSON, also no fair number.
                with suppress(ValueError):
                    self._context.report_cost(credits_, printable(note))
            case _:
                pass

    def note_change(self, loaded: Loaded) -> None:
        """Tell, once for each child, that it runs other files than the daemon asked."""
        child = self._child
        if child.fingerprint != loaded.fingerprint and not child.tasks_done:
            self._context.log.warning(
                "its files have changed since the daemon loaded them: its new process "
                "runs them as they are now; `journeyman reload` lets the daemon follow"
            )

    def read_output(self) -> None:
        """Log what the strategy printed."""
        output = self._child.output
        for line in output.take():
            self._context.log.info("printed", text=line)
        output.begin()

    def read_end(self, told: Message) -> None:
        """Take over the state as the run left it, and tell of lines that were dropped.

        Raises:
            FrameError: it is no such message.
        """
        match told:
            case {
                "state": {"set": dict(changed), "gone": list(gone)},
                "dropped": count,
            }:
                self._apply(changed, gone)
                if count:
                    self._context.log.warning("lines of this log dropped", lines=count)
            case _:
                raise FrameError("a run ended without its state")

    def _apply(self, changed: dict[str, JSON], gone: list[str]) -> None:
        state = self._context.state
        for name in gone:
            state.pop(name, None)
        state.update(changed)

    def _log(self, level: str, event: str, fields: dict[str, object]) -> None:
        log = self._context.log
        tell = {"debug": log.debug, "warning": log.warning, "error": log.error}
        known = {name: value for name, value in fields.items() if name.isidentifier()}
        tell.get(level, log.info)(printable(event), **known)
