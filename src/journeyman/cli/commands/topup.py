"""`journeyman topup`: ask for a payment page; a person pays, or does not."""

from typing import Annotated, Any

import typer

from journeyman.cli.agent import act
from journeyman.cli.output import print_fields, print_table
from journeyman.cli.session import Session, command
from journeyman.control import verbs
from journeyman.daemon.status import journal_status
from journeyman.domain.errors import UsageError
from journeyman.domain.tasks import SpendId


@command("topup", example="journeyman topup --credits 200")
def topup(
    session: Session,
    *,
    credits_: Annotated[
        int | None,
        typer.Option("--credits", min=1, metavar="N", help="Ask to buy N credits."),
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="List the top-ups that are not paid yet.")
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
    """Request a payment page, and print its address.

    Journeyman never pays. 100 credits cost 1 US dollar, and the limits in the settings
    ([topup]) are checked before anything is sent.
    """
    choices = (credits_, list_ or None, confirm, cancel)
    if sum(choice is not None for choice in choices) != 1:
        raise UsageError(
            "topup takes exactly one of --credits, --list, --confirm and --cancel",
            "For example: journeyman topup --credits 200",
        )
    if list_:
        _list(session)
    elif credits_ is not None:
        _request(session, credits_)
    else:
        _settle(session, SpendId(confirm or cancel or ""), paid=confirm is not None)


def _list(session: Session) -> None:
    with session.journal() as journal:
        waiting: Any = journal_status(journal)["open_top_ups"]
    columns = ("spend_id", "credits", "cents")
    rows = [
        [*(top_up[name] for name in columns), top_up["url"] or top_up["doubt"]]
        for top_up in waiting
    ]
    headings = ["top-up", "credits", "cents", "address, or why there is none to open"]
    session.answer(
        waiting, lambda: print_table(headings, rows, drop=["cents", "credits"])
    )


def _request(session: Session, credits_: int) -> None:
    page: Any = act(session, verbs.TOP_UP, verbs.TopUpRequest(credits_))

    def show() -> None:
        print_fields(
            {
                "address": str(page["url"]),
                "price": f"USD {page['cents'] / 100:.2f} for {page['credits']} credits",
                "top-up": str(page["spend_id"]),
            },
        )
        print(
            "Open the address and pay there. Nothing is booked until the credits are "
            f"seen, or until you run `journeyman topup --confirm {page['spend_id']}`."
        )

    session.answer(page, show)


def _settle(session: Session, spend_id: SpendId, *, paid: bool) -> None:
    verb = verbs.CONFIRM_TOP_UP if paid else verbs.CANCEL_TOP_UP
    settled = act(session, verb, verbs.TopUpName(spend_id))
    word = "booked" if paid else "forgotten"
    text = f"{settled['credits']} credits {word}; the balance is {settled['balance']}."
    session.answer(settled, lambda: print(text))
