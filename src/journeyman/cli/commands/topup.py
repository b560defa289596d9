"""`journeyman topup`: ask for a payment page; a person pays, or does not."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

import typer

from journeyman.cli.agent import act
from journeyman.cli.completion import top_up_ids
from journeyman.cli.output import print_fields, print_table
from journeyman.cli.session import Session, command
from journeyman.control import verbs
from journeyman.daemon.spending import packs_of
from journeyman.daemon.status import top_up_as_json
from journeyman.domain.errors import UsageError
from journeyman.domain.tasks import SpendId
from journeyman.journal.spends import SpendKind

TopUpId = Annotated[
    str,
    typer.Argument(metavar="ID", help="The top-up's id.", autocompletion=top_up_ids),
]


@command("topup", example="journeyman topup --credits 200")
def topup(
    session: Session,
    context: typer.Context,
    *,
    credits_: Annotated[
        int | None,
        typer.Option("--credits", min=1, metavar="N", help="Ask to buy N credits."),
    ] = None,
    subscription: Annotated[
        bool,
        typer.Option("--subscription", help="Accept a page that is paid repeatedly."),
    ] = False,
    list_: Annotated[
        bool, typer.Option("--list", help="The same as `topup list`.")
    ] = False,
    confirm: Annotated[
        str | None,
        typer.Option(metavar="ID", help="The same as `topup confirm ID`."),
    ] = None,
    cancel: Annotated[
        str | None,
        typer.Option(metavar="ID", help="The same as `topup cancel ID`."),
    ] = None,
) -> None:
    """Request a payment page, and print its address.

    Journeyman never pays. 100 credits cost 1 US dollar, and the limits in the settings
    ([topup]) are checked before anything is sent. The same asked for again, while the
    first page waits, is the first page.
    """
    if context.invoked_subcommand is not None:
        return
    choices = (credits_, list_ or None, confirm, cancel)
    if sum(choice is not None for choice in choices) != 1:
        raise UsageError(
            "topup takes exactly one of --credits, --list, --confirm and --cancel",
            "For example: journeyman topup --credits 200",
        )
    if list_:
        _list(session, every=False)
    elif credits_ is not None:
        request = verbs.TopUpRequest(credits_, subscription)
        _show_page(session, act(session, verbs.TOP_UP, request))
    else:
        _settle(session, SpendId(confirm or cancel or ""), paid=confirm is not None)


@command("list", example="journeyman topup list")
def list_top_ups(
    session: Session,
    *,
    every: Annotated[
        bool, typer.Option("--all", help="Also those that are settled or given up.")
    ] = False,
) -> None:
    """List the top-ups that wait for you, with their pages.

    Those in the state `proposed` wait for `journeyman topup approve`, and `open` ones
    to be paid at their address. Of an `unknown` one it is not known whether the network
    made a page.
    """
    _list(session, every=every)


@command("approve", example="journeyman topup approve topup_34701d40")
def approve(session: Session, spend_id: TopUpId) -> None:
    """Approve a proposed top-up: its payment page is requested.

    Its price is checked before; if it has changed, nothing is requested and the exit
    code is 6. Journeyman never pays: open the address that is printed.
    """
    name = verbs.TopUpName(SpendId(spend_id))
    _show_page(session, act(session, verbs.APPROVE_TOP_UP, name))


@command("confirm", example="journeyman topup confirm topup_34701d40")
def confirm_top_up(session: Session, spend_id: TopUpId) -> None:
    """Book a top-up that you have paid.

    It is needed only where the network shows no balance: credits that are seen to
    arrive are booked by themselves. One that expired or was cancelled may be confirmed
    too, since its page could still be paid.
    """
    _settle(session, SpendId(spend_id), paid=True)


@command("cancel", example="journeyman topup cancel topup_34701d40")
def cancel_top_up(session: Session, spend_id: TopUpId) -> None:
    """Forget a top-up that you will not pay.

    Its cents no longer count against the caps. The daemon proposes no other one before
    this one would have expired.
    """
    _settle(session, SpendId(spend_id), paid=False)


@command("packs", example="journeyman topup packs --read")
def packs(
    session: Session,
    *,
    read: Annotated[
        bool,
        typer.Option("--read", help="Read the network's documents, and keep theirs."),
    ] = False,
) -> None:
    """List the packs of credits that may be asked for.

    They come from [topup.packs] of the settings; without any there, from the network's
    documents, which are read only with --read. A subscription is never among them.
    """
    if read:
        _read_packs(session)
        return
    with session.journal() as journal:
        found = packs_of(session.load().settings, journal).all()
    known = [asdict(pack) for pack in found]
    session.answer({"packs": known}, lambda: _show_packs(known))


def _read_packs(session: Session) -> None:
    answer: Any = act(session, verbs.READ_PACKS, None)

    def show() -> None:
        if answer["packs"]:
            _show_packs(answer["packs"])
        else:
            print("The documents offer no pack that is priced and paid once.")
        if answer["passed_over"]:
            print()
            rows = [
                [one["label"] or one["price_id"], one["problem"]]
                for one in answer["passed_over"]
            ]
            print_table(["passed over", "because"], rows, texts=["because"])
        if not answer["are_used"]:
            print()
            print("The packs in [topup.packs] of the settings are used, not these.")

    session.answer(answer, show)


def _show_packs(known: list[dict[str, Any]]) -> None:
    rows = [
        [
            pack["price_id"],
            pack["credits"],
            f"{pack['cents'] / 100:.2f}",
            pack["plan"],
            pack["label"],
            pack["path"] or "the settings",
        ]
        for pack in known
    ]
    headings = ["price id", "credits", "usd", "plan", "label", "from"]
    print_table(headings, rows, texts=["label"], drop=["plan", "label"])


def _list(session: Session, *, every: bool) -> None:
    with session.journal() as journal:
        spends = journal.spends
        found = spends.top_ups() if every else spends.unsettled(SpendKind.TOP_UP)
        top_ups: list[dict[str, Any]] = list(map(top_up_as_json, found))
    columns = ("spend_id", "state", "credits", "cents")
    rows = [
        [*(top_up[name] for name in columns), _until(top_up), _next(top_up)]
        for top_up in top_ups
    ]
    headings = [
        "top-up",
        "state",
        "credits",
        "cents",
        "until (UTC)",
        "address, or what next",
    ]

    def show() -> None:
        if rows:
            print_table(headings, rows, drop=["until (UTC)", "cents", "credits"])
        else:
            print("No top-up waits.")

    session.answer(top_ups, show)


def _until(top_up: Mapping[str, Any]) -> str:
    """Return when it expires, to the minute."""
    return (top_up["expires_at"] or "")[:16].replace("T", " ")


def _next(top_up: Mapping[str, Any]) -> str:
    if top_up["url"]:
        return str(top_up["url"])
    if top_up["state"] == "proposed":
        return f"journeyman topup approve {top_up['spend_id']}"
    return str(top_up["doubt"])


def _show_page(session: Session, page: Any) -> None:  # noqa: ANN401 - an answer's JSON
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
            f"seen, or until you run `journeyman topup confirm {page['spend_id']}`."
        )

    session.answer(page, show)


def _settle(session: Session, spend_id: SpendId, *, paid: bool) -> None:
    verb = verbs.CONFIRM_TOP_UP if paid else verbs.CANCEL_TOP_UP
    settled = act(session, verb, verbs.TopUpName(spend_id))
    word = "booked" if paid else "forgotten"
    text = f"{settled['credits']} credits {word}; the balance is {settled['balance']}."
    session.answer(settled, lambda: print(text))
