"""`journeyman budget`: what may be spent, and what is left of it."""

from typing import Annotated, Any

import typer

from journeyman.cli.output import moment, print_fields, print_table, print_text
from journeyman.cli.session import Session, command
from journeyman.control.verbs import BUDGET
from journeyman.daemon.spending import growth_of, limits_of, plans_of
from journeyman.daemon.status import budget_status
from journeyman.daemon.system import SystemClock
from journeyman.domain.errors import NotRunningError
from journeyman.domain.text import escape
from journeyman.economy.credit_state import EFFECTS, CreditState


@command("budget", example="journeyman budget --data-dir demo/data")
def budget(
    session: Session,
    *,
    why: Annotated[
        bool,
        typer.Option(
            "--why",
            help="Say of each posting plan whether it may post now: by which rule, "
            "from which figures, and what would change it.",
        ),
    ] = False,
) -> None:
    """Show each limit on spending: used, held, left, when it is free.

    Held is what was reserved for requests whose end is not known; it counts as spent.
    It asks the running daemon; if none runs, it reads the settings and the journal.
    """
    found = _ask(session)
    session.answer(found, lambda: _explain(found) if why else _show(found))


def _ask(session: Session) -> dict[str, Any]:
    try:
        return session.daemon().call(BUDGET)
    except NotRunningError:
        settings = session.load().settings
        limits, plans = limits_of(settings), plans_of(settings)
        with session.journal() as journal:
            growth = growth_of(settings, plans, journal)
            return budget_status(limits, journal, SystemClock().now(), plans, growth)


def _show(found: dict[str, Any]) -> None:
    held = f", of which {found['held']} are held" if found["held"] else ""
    print_fields(
        {
            "credits": f"{found['balance']}{held}; {found['reserve_credits']} are "
            "never spent (budget.reserve_credits)",
            "state": _state(found["credit_state"]),
            "spendable": f"{found['spendable']} now, {found['per_post_credits']} at "
            "most for one post (budget.per_post_credits)",
            "paused": _pause(found["unexplained"]),
            "worst case": f"{found['worst_case_credits']} credits more may leave today "
            f"of those held now, and payment pages for USD "
            f"{found['worst_case_cents'] / 100:.2f} be asked for",
        }
    )
    print()
    rows = [
        [*_cells(one), one["held"], one["left"], _frees(one)] for one in _all(found)
    ]
    columns = ["limit", "unit", "most", "used", "held", "left", "free at (utc)"]
    print_table(columns, rows, drop=["unit", "free at (utc)"])
    print()
    print_text(f"Days and months are those of {found['time_zone']} (budget.time_zone).")


def _explain(found: dict[str, Any]) -> None:
    if not found["plans"]:
        print_text(
            "There is no posting plan; what you or a strategy post is decided by the "
            "limits alone: journeyman budget."
        )
    for number, one in enumerate(found["plans"]):
        if number:
            print()
        says = "may post now" if one["may_post"] else "does not post now"
        print(f"{escape(one['plan'])} {says}, for {one['cost']} credits")
        print_text(one["why"])


def _pause(unexplained: dict[str, Any]) -> str:
    if not unexplained["paused"]:
        return ""
    until = moment(unexplained["frees_at"])
    return f"nothing is spent until {until} UTC: {unexplained['paused']}"


def _state(name: str) -> str:
    effect = EFFECTS[CreditState(name)]
    return f"{name}: {effect}" if effect else name


def _all(found: dict[str, Any]) -> list[dict[str, Any]]:
    costs = [
        one
        | {
            "setting": f"{one['setting']} ({one['strategy']})",
            "unit": "credits",
            "held": 0,
            "left": max(0, int(one["limit"] - one["used"])),
        }
        for one in found["costs"]
    ]
    return [*found["limits"], found["unexplained"], *costs]


def _cells(one: dict[str, Any]) -> list[str]:
    return [one["setting"], one["unit"], f"{one['limit']:g}", f"{one['used']:g}"]


def _frees(one: dict[str, Any]) -> str:
    return moment(one["frees_at"]) if one["frees_at"] else ""
