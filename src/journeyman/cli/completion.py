"""What a shell completes: ids of tasks, states, and names of strategies.

A completion that cannot be looked up is none: nobody wants an error at a Tab. Commands
import this for their help, so what only a completion needs is imported by it.
"""

from collections.abc import Iterator
from contextlib import suppress

import typer

from journeyman.cli.session import Session
from journeyman.domain.errors import JourneymanError
from journeyman.domain.tasks import TaskState

TASKS_OFFERED = 50


def task_ids(ctx: typer.Context, incomplete: str) -> Iterator[tuple[str, str]]:
    """Yield the ids of the tasks that changed last, each with its state and title."""
    with suppress(JourneymanError), _session(ctx).journal() as journal:
        for record in journal.tasks.recent(None, TASKS_OFFERED):
            if record.task_id.startswith(incomplete):
                yield record.task_id, f"{record.state}: {record.task.title.escaped()}"


def top_up_ids(ctx: typer.Context, incomplete: str) -> Iterator[tuple[str, str]]:
    """Yield the ids of the top-ups that wait or have expired, each with its state."""
    with suppress(JourneymanError), _session(ctx).journal() as journal:
        for spend in journal.spends.top_ups():
            if spend.spend_id.startswith(incomplete) and spend.state not in SETTLED:
                yield spend.spend_id, f"{spend.state}: {spend.credits} credits"


SETTLED = {"settled", "released", "declined", "carried"}
"""States of a top-up about which the owner has nothing to say any more."""


def states(incomplete: str) -> list[str]:
    """Return the states that a task may be in."""
    return [state for state in TaskState if state.startswith(incomplete)]


def strategy_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the names of strategies: those with a file, and those that had work.

    No file is imported: what a strategy does when it is loaded is not for a Tab.
    """
    from journeyman.daemon.strategies import strategy_folders
    from journeyman.strategies.loading.source import strategy_stem

    session, found = _session(ctx), set[str]()
    with suppress(JourneymanError, OSError):
        found |= {
            strategy_stem(path)
            for folder in strategy_folders(session.load().settings.strategies)
            for path in folder.iterdir()
            if path.name[0].isalpha() and (path.suffix == ".py" or path.is_dir())
        }
    with suppress(JourneymanError), session.journal() as journal:
        found |= journal.tasks.outcomes_by_strategy().keys()
    return sorted(name for name in found if name.startswith(incomplete))


def _session(ctx: typer.Context) -> Session:
    given = ctx.params
    return Session(
        config=given.get("config"),
        data_dir=given.get("data_dir"),
        base_url=given.get("base_url"),
        assignments=given.get("assignments"),
    )
