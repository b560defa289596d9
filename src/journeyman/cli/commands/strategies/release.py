"""`journeyman strategies release`: end a quarantine early."""

from typing import Annotated, Any

import typer

from journeyman.cli.completion import strategy_names
from journeyman.cli.session import Session, command
from journeyman.control.verbs import RELEASE, StrategyName
from journeyman.domain.errors import NotRunningError
from journeyman.domain.text import escape


@command("release", example="journeyman strategies release count_words")
def release_strategy(
    session: Session,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            autocompletion=strategy_names,
            help="A strategy in quarantine.",
        ),
    ],
) -> None:
    """Release a strategy from quarantine, to be given work again.

    Use it when the cause was neither in its file nor in its settings: a change of
    either releases it anyway.
    """
    try:
        released: Any = session.daemon().call(RELEASE, StrategyName(name))
    except NotRunningError:
        # Imported here: where a daemon runs, nothing that sends is needed.
        from journeyman.daemon.commands import release_in_journal

        with session.writable_journal() as journal:
            released = release_in_journal(journal, name)
    text = f"{escape(name)} is given work again."
    session.answer(released, lambda: print(text))
