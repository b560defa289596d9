"""`journeyman strategies disable` and `enable`: whether a strategy is given work."""

from typing import Annotated, Any

import typer

from journeyman.cli.completion import strategy_names
from journeyman.cli.owner_pauses import ForOption, ReasonOption, ask, hours_of, who
from journeyman.cli.session import Session, command
from journeyman.control.verbs import DISABLE, ENABLE, DisableRequest, StrategyName
from journeyman.daemon import owner_pauses
from journeyman.domain.text import escape

_NameArgument = Annotated[
    str,
    typer.Argument(metavar="NAME", autocompletion=strategy_names, help="A strategy."),
]


@command(
    "disable", example='journeyman strategies disable count_words --reason "too slow"'
)
def disable_strategy(
    session: Session,
    name: _NameArgument,
    *,
    reason: ReasonOption = "",
    for_: ForOption = None,
) -> None:
    """Disable a strategy: it ends what it has claimed, and gets nothing new.

    It holds over restarts and changes of its file, until `strategies enable`. Without a
    daemon it is written down for the next start.
    """
    request = DisableRequest(by=who(), reason=reason, hours=hours_of(for_), name=name)
    answer: Any = ask(session, DISABLE, request, owner_pauses.disable)
    text = f"{answer['strategy']} is disabled {answer['disabled']['text']}"
    session.answer(answer, lambda: print(escape(text)))


@command("enable", example="journeyman strategies enable count_words")
def enable_strategy(session: Session, name: _NameArgument) -> None:
    """Enable a strategy that was disabled: it is given work again."""
    answer = ask(session, ENABLE, StrategyName(name), owner_pauses.enable)
    session.answer(answer, lambda: print(f"{escape(name)} is given work again."))
