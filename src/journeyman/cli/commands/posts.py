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
from journeyman.journal.journal import Journal
from journeyman.journal.posts import PostState
from journeyman.journal.spends import Spend, SpendState
from journeyman.network.sightings import read_sighting

LONGEST_RESULT = 60
ENDS = (PostState.IN_WORK, PostState.DONE, PostState.OVER, PostState.REFUNDED)
"""What says more of a post than that it was accepted."""
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

    The journal says what was posted, and what the daemon has seen of it since: its end,
    its result, and whether its reward came back. The network's public listing says what
    it shows of it now.
    """
    with session.journal() as journal:
        kept = [_kept(journal, one) for one in journal.spends.recent_posts(limit)]
    looks = bool(kept) and not offline
    listed, problem = _listed(session) if looks else ([], "")
    data = {
        "posts": [_with_listing(post, listed) for post in kept],
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
    return list(listing.every_task()), ""


def _kept(journal: Journal, spend: Spend) -> dict[str, Any]:
    """Return what the journal knows of a post."""
    followed = journal.posts.get(spend.spend_id)
    return {
        "at": spend.at.isoformat(timespec="seconds"),
        "spend_id": spend.spend_id,
        "task_id": spend.task_id or None,
        "title": spend.request.get("title", ""),
        "cost": spend.credits,
        "fee": spend.fee,
        "in_escrow": journal.ledger.in_escrow(spend.spend_id),
        "outcome": WORDS.get(spend.state, str(spend.state)),
        "reason": spend.reason,
        "by": spend.strategy,
        "slot": spend.slot,
        "state": followed.state if followed else None,
        "listed": None,
        "result": followed.result if followed else None,
    }


def _with_listing(post: dict[str, Any], listed: list[Task]) -> dict[str, Any]:
    """Return a post with what a listing shows of it now."""
    found = next((one for one in listed if post["task_id"] == one.id), None)
    if found is None:
        return post
    seen = read_sighting(found)
    result = post["result"] if seen.result is None else seen.result
    return post | {"listed": seen.status or "listed", "result": result}


def _show(data: dict[str, Any]) -> None:
    if not data["posts"]:
        print("Nothing was posted yet.")
        return

    def result(one: dict[str, Any]) -> str:
        text = json.dumps(one["result"], ensure_ascii=False)
        if one["result"] is None:
            text = "-"
        return escape(text, longest=LONGEST_RESULT)

    missing = "not listed" if data["listing_read"] else "-"
    columns = ["at", "task", "title", "cost", "outcome", "by", "listing", "result"]
    rows = [
        [
            moment(one["at"]),
            one["task_id"] or "-",
            one["title"],
            one["cost"],
            one["state"] if one["state"] in ENDS else one["outcome"],
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
