"""Questions to whoever sits at the terminal; each can be answered by an option."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import typer

from journeyman.cli.output import print_text
from journeyman.domain.errors import BrokenOffError, ConfigurationError, UsageError
from journeyman.domain.text import escape

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Questions:
    """Asks what no option has answered."""

    takes_proposals: bool
    """Nothing is asked: the proposals are the answers."""
    has_terminal: bool

    @classmethod
    def here(cls, *, takes_proposals: bool, as_json: bool) -> "Questions":
        """Return questions to this process's terminal, if it has one.

        With `--json` nothing is asked, since stdout holds the answer and nothing else.
        """
        has_terminal = sys.stdin.isatty() and not as_json
        return cls(takes_proposals=takes_proposals, has_terminal=has_terminal)

    @property
    def may_ask(self) -> bool:
        """Whether somebody would answer."""
        return self.has_terminal and not self.takes_proposals

    def ask(
        self,
        text: str,
        *,
        option: str,
        given: str | None,
        proposal: str | None,
        read: Callable[[str], T],
    ) -> T:
        """Return an answer as `read` returns it; one that it refuses is asked again.

        Args:
            text: The question.
            option: The option that answers it.
            given: What was given for the option; None: nothing was.
            proposal: What an empty answer means; None: an answer is needed.
            read: Checks an answer, and raises a ConfigurationError with what is wrong.

        Raises:
            ConfigurationError: the option's value is refused.
            UsageError: nobody can be asked.
            BrokenOffError: Ctrl-C, or the end of the input.
        """
        if given is not None:
            return read(given)
        if self.takes_proposals and proposal is not None:
            return read(proposal)
        if not self.may_ask:
            raise self._unanswered(option, has_proposal=proposal is not None)
        while True:
            try:
                return read(_prompt(text, proposal))
            except ConfigurationError as error:
                print_text(f"{error.problem}\n{error.fix}".strip())

    def _unanswered(self, option: str, *, has_proposal: bool) -> UsageError:
        why = "there is no terminal to ask on"
        if self.takes_proposals:
            why = "there is nothing to propose for it"
        yes = ", or --yes, which takes what is proposed" if has_proposal else ""
        return UsageError(
            f"{option} is missing, and {why}",
            f"Give {option}{yes}. `journeyman init --help` shows all options.",
        )

    def confirm(self, text: str) -> bool:
        """Return whether the answer is yes, which an empty one means.

        Raises:
            BrokenOffError: Ctrl-C, or the end of the input.
        """
        try:
            return typer.confirm(escape(text), default=True)
        except typer.Abort:
            raise _at_the_prompt() from None


def _prompt(text: str, proposal: str | None) -> str:
    """Ask once; an empty proposal is not shown, since the text says what it means."""
    try:
        answer = typer.prompt(
            escape(text), default=proposal, show_default=bool(proposal)
        )
    except typer.Abort:
        raise _at_the_prompt() from None
    return str(answer).strip()


def _at_the_prompt() -> BrokenOffError:
    print()  # the question's line has not ended
    return broken_off()


def broken_off() -> BrokenOffError:
    """Return the error of somebody who does not want to go on."""
    return BrokenOffError("interrupted", "Nothing was written.")
