"""What is said when a command cannot do what it was asked."""

import json
import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from journeyman.cli.text import neutral
from journeyman.domain.errors import JourneymanError


@dataclass(frozen=True, kw_only=True, slots=True)
class Complaint:
    """What is wrong and where, what to do next, and the exit code."""

    problem: str
    fix: str = ""
    exit_code: int = 1
    details: str = ""
    """The traceback of a bug, for developers."""

    @classmethod
    def about_usage(cls, error: Exception) -> Self:
        """Tell of a command line that cannot be understood."""
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "journeyman"
        tell = getattr(error, "format_message", error.__str__)
        return cls(
            problem=tell(),
            fix=f"Try `{command} --help`.",
            exit_code=getattr(error, "exit_code", 2),
        )

    @classmethod
    def about_interruption(cls, exit_code: int) -> Self:
        """Tell that Ctrl-C was heard."""
        fix = "What was committed is kept; the next start goes on from there."
        return cls(problem="interrupted", fix=fix, exit_code=exit_code)

    def as_text(self) -> str:
        """Give `journeyman: problem`, and below it, indented, what to do."""
        lines = [f"journeyman: {self.problem}".rstrip()]
        lines += [f"  {line}" for line in self.fix.splitlines()]
        # A problem may quote what a network sent.
        shown = "\n".join(neutral(part) for line in lines for part in line.split("\n"))
        return f"{shown}\n{self.details}".rstrip()

    def as_json(self) -> str:
        """Give one line of JSON."""
        return json.dumps(asdict(self))


def complaint_about(error: BaseException) -> Complaint:
    """Find the words for an exception, also one inside an exception group."""
    leaves = list(_leaves(error))
    strangers = [leaf for leaf in leaves if not isinstance(leaf, JourneymanError)]
    if strangers:
        return _about_bug(error, strangers[0])
    told = next(leaf for leaf in leaves if isinstance(leaf, JourneymanError))
    return Complaint(problem=told.problem, fix=told.fix, exit_code=told.exit_code)


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _about_bug(error: BaseException, leaf: BaseException) -> Complaint:
    return Complaint(
        problem=f"a bug: {type(leaf).__name__}: {leaf}{_place(leaf)}",
        fix="Please report it, with the traceback. Nothing that was committed is lost.",
        details="".join(traceback.format_exception(error)),
    )


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return ""
    return f" (at {Path(frames[-1].filename).name}:{frames[-1].lineno})"
