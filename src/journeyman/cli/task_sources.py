"""Where `journeyman try` takes its task from: words, a file, or the public list."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from journeyman.cli.session import Session
from journeyman.domain import Task, TaskId, UntrustedText
from journeyman.domain.errors import UsageError

if TYPE_CHECKING:
    from journeyman.domain import Outcome
    from journeyman.network import Listing, NetworkClient
    from journeyman.strategies.loaded import Loaded

MAX_BYTES = 10_000_000
"""Of a task's file: far more than a network may send."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """What was said about the task; exactly one source is wanted."""

    text: str | None
    file: Path | None
    market_id: str | None
    changes: Mapping[str, Any]
    """Fields of the task; None: what the source says."""


def find_task(session: Session, loaded: "Loaded", wanted: Wanted) -> Task:
    """Make, read or fetch the task.

    Raises:
        UsageError: no source is named, or several, or it holds no task.
        NetworkError: the public list cannot be read.
        ConfigurationError: no network is named.
    """
    sources = (wanted.text, wanted.file, wanted.market_id)
    named = [source for source in sources if source is not None]
    if len(named) != 1:
        raise UsageError(
            "name one task to try it on" if not named else "one task at a time",
            'Give --text "...", or --task FILE.json, or --from-market ID.',
        )
    task = _from_source(session, loaded, wanted)
    said = {name: value for name, value in wanted.changes.items() if value is not None}
    return replace(task, **said)


def _from_source(session: Session, loaded: "Loaded", wanted: Wanted) -> Task:
    if wanted.file is not None:
        return _from_file(wanted.file)
    if wanted.market_id is not None:
        return _from_market(session, wanted.market_id)
    return of_text(loaded, wanted.text or "")


def of_text(loaded: "Loaded", text: str) -> Task:
    """Make a task that the strategy should want: its first example's, with this text.

    Without examples it has the kind, the tags and the reward that the strategy names.
    """
    cls = type(loaded.instance)
    examples = loaded.instance.examples
    if examples:
        task = examples[0].task
        given = _with_text(task.input, text)
        return replace(task, text=UntrustedText(text), input=given)
    return Task(
        id=TaskId("tried"),
        kind=min(cls.kinds, default=""),
        tags=tuple(sorted(cls.tags)),
        reward=max(1, cls.min_reward),
        text=text,
        description=text,
        input={"text": text} if "text" in cls.inputs else None,
    )


def _with_text(given: Any, text: str) -> Any:  # noqa: ANN401 - a task's input is any JSON
    if isinstance(given, Mapping) and "text" in given:
        return {**given, "text": text}
    return given


def _from_file(path: Path) -> Task:
    from journeyman.network import Dialect, ListingReader

    record = _json(path)
    # What `journeyman tasks show ID --raw --json` prints is welcome, too.
    record = record.get("raw", record) if isinstance(record, dict) else record
    if not isinstance(record, dict):
        raise UsageError(
            f"{path} holds no task: {type(record).__name__} where an object was wanted",
            'Write for example {"kind": "word_count", "text": "to be", "reward": 2}.',
        )
    listing = ListingReader(Dialect()).listing([{"id": "from_file", **record}])
    if not listing.tasks:
        raise UsageError(
            f"{path} holds no task that can be read: {listing.problem}",
            "Compare it with what `journeyman market --json` prints.",
        )
    return listing.tasks[0]


def _json(path: Path) -> Any:  # noqa: ANN401 - any JSON
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UsageError(f"{path} is too large for a task", "Name another file.")
        return json.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}",
            "Name a file that holds one task as JSON.",
        ) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{path} is not JSON: {error}", "Name a file that holds one task as JSON."
        ) from error


def _from_market(session: Session, task_id: str) -> Task:
    from journeyman.cli.reading import read

    async def ask(
        client: "NetworkClient",
        _identified: bool,  # noqa: FBT001 - the shape of a Question
    ) -> "Outcome[Listing]":
        return await client.public_marketplace()

    listing = read(session, "the public marketplace", ask)
    for task in listing.tasks:
        if task.id == task_id:
            return task
    raise UsageError(
        f"the public list has no task {task_id!r}",
        f"It has {len(listing.tasks)}; `journeyman market --public` shows them.",
    )
