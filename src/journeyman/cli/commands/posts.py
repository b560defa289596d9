"""`journeyman posts`: the tasks that we posted, and what became of them."""

import json
from typing import Annotated, Any

import typer

from journeyman.cli.agent import read
from journeyman.cli.output import moment, print_table, print_text
from journeyman.cli.session import Session, command
from journeyman.domain.errors import NetworkError
from journeyman.domain.tasks import Task
from journeyman.domain.text import escape
from journeyman.journal.spends import Spend, SpendState

RESULTS = ("result", "results", "output", "submission")
"""Names under which a network may show what was handed in for a task."""
LONGEST_RESULT = 60
WORDS = {
    SpendState.RESERVED: "being sent",
    SpendState.SETTLED: "posted",
    SpendState.RELEASED: "not posted",
    SpendState.UNKNOWN: "unknown",
    SpendState.CARRIED: "carried",
}


@command("posts", example="journeyman posts --limit 5")
def posts(
    session: Session,
    *,
    limit: Annotated[int, typer.Option(min=1, help="How many of the last.")] = 20,
    offline: Annotated[
        bool, typer.Option("--offline", help="Do not look into the listing.")
    ] = False,
) -> None:
    """List the tasks that we posted: cost, outcome, state in the listing.

    The journal says what was posted. The network's public listing says what it shows of
    it now: its state, and a result, where it shows any.
    """
    with session.journal() as journal:
        spends = journal.spends.recent_posts(limit)
    looks = bool(spends) and not offline
    listed, problem = _listed(session) if looks else ([], "")
    data = {
        "posts": [_post(spend, listed) for spend in spends],
        "listing_read": looks and not problem,
        "problem": problem,
    }
    session.answer(data, lambda: _show(data))


def _listed(session: Session) -> tuple[list[Task], str]:
    try:
        listing = read(
            session, "the marketplace", lambda client, _: client.public_marketplace()
        )
    except NetworkError as error:
        return [], error.problem
    return list(listing.tasks), ""


def _post(spend: Spend, listed: list[Task]) -> dict[str, Any]:
    found = next((one for one in listed if spend.task_id == one.id), None)
    raw = found.raw if found else {}
    return {
        "at": spend.at.isoformat(timespec="seconds"),
        "spend_id": spend.spend_id,
        "task_id": spend.task_id or None,
        "title": spend.request.get("title", ""),
        "cost": spend.credits,
        "outcome": WORDS.get(spend.state, str(spend.state)),
        "reason": spend.reason,
        "by": spend.strategy,
        "slot": spend.slot,
        "listed": (found.status or "listed") if found else None,
        "result": next((raw[name] for name in RESULTS if raw.get(name)), None),
    }


def _show(data: dict[str, Any]) -> None:
    if not data["posts"]:
        print("Nothing was posted yet.")
        return

    def result(one: dict[str, Any]) -> str:
        text = json.dumps(one["result"], ensure_ascii=False) if one["result"] else "-"
        return escape(text, longest=LONGEST_RESULT)

    missing = "not listed" if data["listing_read"] else "-"
    columns = ["at", "task", "title", "cost", "outcome", "by", "listing", "result"]
    rows = [
        [
            moment(one["at"]),
            one["task_id"] or "-",
            one["title"],
            one["cost"],
            one["outcome"],
            one["by"],
            one["listed"] or missing,
            result(one),
        ]
        for one in data["posts"]
    ]
    print_table(
        columns, rows, titles=["title", "result"], drop=["result", "by", "title", "at"]
    )
    if data["problem"]:
        print()
        print_text(f"The listing is not known: {data['problem']}.")
