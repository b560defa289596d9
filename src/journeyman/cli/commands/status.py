"""`journeyman status`: an agent at a glance."""

from journeyman.cli.command import command
from journeyman.cli.output import answer, facts, say, table
from journeyman.cli.session import Session


@command("status", example="journeyman status --data-dir demo/data")
def status(session: Session) -> None:
    """Show the agent at a glance, and why it does no more.

    It asks the running daemon. Where none runs it reads the journal, and says so.
    """
    from journeyman.cli.glance import look
    from journeyman.cli.status_sheet import sheet
    from journeyman.cli.strategy_figures import FIGURES, strategy_figures

    seen = look(session)

    def show() -> None:
        facts(sheet(seen))
        if seen["strategies"]:
            say()
            table(
                ["strategy", *FIGURES],
                [
                    [name, *strategy_figures(s)]
                    for name, s in seen["strategies"].items()
                ],
            )

    answer(as_json=session.as_json, data=seen, show=show)
