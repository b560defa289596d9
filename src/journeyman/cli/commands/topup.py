"""`journeyman topup`: ask for a payment page; a person pays, or does not."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from journeyman.cli.output import answer, facts, say, table
from journeyman.cli.session import Session, command
from journeyman.domain.errors import UsageError
from journeyman.domain.tasks import JSON, SpendId

if TYPE_CHECKING:
    from journeyman.daemon.agent import Agent

NOT_BOOKED = (
    "Open the address and pay there. Nothing is booked until the credits are seen, "
    "or until you say `journeyman topup --confirm {spend_id}`."
)


@command("topup", example="journeyman topup --credits 200")
def topup(
    session: Session,
    *,
    credits_: Annotated[
        int | None,
        typer.Option("--credits", min=1, metavar="N", help="Ask to buy N credits."),
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="List the pages that wait to be paid.")
    ] = False,
    confirm: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Book a top-up that you have paid."),
    ] = None,
    cancel: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Forget a top-up that you will not pay."),
    ] = None,
) -> None:
    """Ask for a payment page, and give you its address.

    Journeyman never pays. 100 credits cost 1 US dollar, and the caps of the settings
    ([topup]) are checked before anything is sent.
    """
    _require_one(credits_, list_ or None, confirm, cancel)
    if list_:
        _list(session)
    elif credits_ is not None:
        _ask(session, credits_)
    else:
        _settle(session, SpendId(confirm or cancel or ""), paid=confirm is not None)


def _require_one(*choices: object) -> None:
    if sum(choice is not None for choice in choices) != 1:
        raise UsageError(
            "topup wants exactly one of --credits, --list, --confirm and --cancel",
            "For example: journeyman topup --credits 200",
        )


def _ask(session: Session, credits_: int) -> None:
    from journeyman.cli.agent import act
    from journeyman.daemon.commands import top_up

    page = act(
        session,
        lambda daemon: daemon.top_up(credits_),
        lambda agent: top_up(agent, credits_),
    )
    answer(as_json=session.as_json, data=page, show=lambda: _show_page(page))


def _show_page(page: dict[str, Any]) -> None:
    facts(
        {
            "address": str(page["url"]),
            "price": f"USD {page['cents'] / 100:.2f} for {page['credits']} credits",
            "top-up": str(page["spend_id"]),
        },
    )
    say(NOT_BOOKED.format(spend_id=page["spend_id"]))


def _settle(session: Session, spend_id: SpendId, *, paid: bool) -> None:
    from journeyman.cli.agent import act
    from journeyman.daemon.commands import settle_top_up

    async def alone(agent: "Agent") -> dict[str, JSON]:
        return settle_top_up(agent, spend_id, paid=paid)

    done = act(
        session,
        lambda daemon: daemon.settle_top_up(spend_id, paid=paid),
        alone,
    )
    word = "booked" if paid else "forgotten"
    answer(
        as_json=session.as_json,
        data=done,
        show=lambda: say(
            f"{done['credits']} credits {word}; the balance is {done['balance']}.",
        ),
    )


def _list(session: Session) -> None:
    from journeyman.daemon.commands import journal_status

    with session.journal() as journal:
        waiting: Any = journal_status(journal)["open_top_ups"]
    answer(
        as_json=session.as_json,
        data=waiting,
        show=lambda: table(
            ["top-up", "credits", "cents", "address"],
            [[w["spend_id"], w["credits"], w["cents"], w["url"]] for w in waiting],
        ),
    )
