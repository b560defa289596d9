"""Archives: what housekeeping takes out of the journal, compressed, by month.

A file holds what was dropped of the tasks that ended in one month (UTC), as lines of
JSON. Each step of housekeeping adds a member to it (RFC 1952, section 2.2): nothing is
written again, and `zcat` reads all of it as one text.

Nothing is lost and nothing stands twice, whenever the process dies. Where a file ends,
and how much is about to be added, is in the journal before that is written; the commit
that drops the same from the journal says that it was. What a process added and did not
drop is cut off and written anew.
"""

import gzip
import json
import os
import shutil
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from journeyman.domain.tasks import JSON, TERMINAL
from journeyman.journal import files
from journeyman.journal.journal import Journal
from journeyman.journal.tasks import TEXTS_DROPPED, TaskRecord

ENDING = ".jsonl.gz"
LENGTH_FACT = "archive."
"""The name of the file follows: how long it is, and how much is being added."""
_MONTH = len("2026-11")

Record = Mapping[str, JSON]
"""What one line says: of which task, when that ended, and what was dropped of it."""


@dataclass(frozen=True, slots=True)
class Archive:
    """One file."""

    path: Path
    bytes: int

    @property
    def month(self) -> str:
        """In which its tasks ended, such as 2026-11."""
        return self.path.name[:_MONTH]


def archives_in(folder: Path) -> list[Archive]:
    """Return all archives, oldest first."""
    found = sorted(folder.glob(f"????-??*{ENDING}"))
    return [Archive(one, one.stat().st_size) for one in found]


def archive_of(journal: Journal, folder: Path, task: TaskRecord) -> Path | None:
    """Return the archive that texts and result of a task went to, if there is one."""
    ended = task.updated_at.isoformat()
    is_dropped = task.state in TERMINAL and ended <= str(
        journal.facts.get(TEXTS_DROPPED) or ""
    )
    month = [one.path for one in archives_in(folder) if ended.startswith(one.month)]
    return month[-1] if is_dropped and task.strategy and month else None


def archived(folder: Path, ended_at: str, task_id: str) -> Iterator[dict[str, Any]]:
    """Yield what the archives say of a task that ended then."""
    for path in sorted(folder.glob(f"{ended_at[:_MONTH]}*{ENDING}")):
        yield from _about(path, task_id)


def _about(path: Path, task_id: str) -> Iterator[dict[str, Any]]:
    quoted = json.dumps(task_id)
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                if quoted in line and (found := json.loads(line))["task_id"] == task_id:
                    yield found
    except (EOFError, zlib.error):
        return  # The daemon is just adding to it.


@dataclass(eq=False)
class GrowingFiles:
    """Files that get one gzip member after another, each once, whenever we die."""

    folder: Path
    journal: Journal
    keeps_known: bool = False
    """Whether a file that is longer than the journal knows goes on from what it knows:
    what is put aside is then a copy."""
    _added: tuple[str, int] | None = field(init=False, default=None)
    """The file that was written last, and how long it is now."""

    def append(self, name: str, text: str, fix: str = "") -> None:
        """Add a text to a file, and sync it; `note_dropped` says that it stays.

        Raises:
            StateError: the disk refused. `fix` says what else may be done.
        """
        path = self.folder / name
        with files.disk_errors(
            f"the archive {path} cannot be written",
            f"Free some space, or give this user write access to it. {fix}".rstrip(),
        ):
            self.folder.mkdir(mode=files.PRIVATE_DIRECTORY, exist_ok=True)
            self._append(path, gzip.compress(text.encode(), mtime=0))

    def note_dropped(self) -> None:
        """Note, in the commit that drops it, that what was added last stays."""
        if self._added:
            name, length = self._added
            self._note(name, length)

    def is_whole(self, name: str) -> bool:
        """Return whether a file has all that the journal knows of it."""
        path = self.folder / name
        return path.exists() and path.stat().st_size >= self._known(path)[0]

    def _append(self, path: Path, member: bytes) -> None:
        descriptor = self._opened(path)
        try:
            length = os.fstat(descriptor).st_size
            with self.journal.tx("archive"):
                self._note(path.name, length, adding=len(member))
            files.write_all(descriptor, member)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        files.sync_directory(self.folder)
        self._added = path.name, length + len(member)

    def _opened(self, path: Path) -> int:
        """Open an archive at the end of what the journal knows of it.

        One of which it does not know the end is put aside: an older journal was
        restored, and what stands in it may come a second time.
        """
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        length, adding = self._known(path)
        size = path.stat().st_size if path.exists() else 0
        if size and not length <= size <= length + adding:
            aside = free_name(path)
            if self.keeps_known and size > length:
                shutil.copyfile(path, aside)
                aside.chmod(files.PRIVATE_FILE)
                files.sync_file(aside)
                files.sync_directory(self.folder)
            else:
                path.rename(aside)
        descriptor = os.open(path, flags, files.PRIVATE_FILE)
        if os.fstat(descriptor).st_size > length:
            os.ftruncate(descriptor, length)
        return descriptor

    def _known(self, path: Path) -> tuple[int, int]:
        """Return how long a file is, and how much was about to be added to it."""
        fact: Any = self.journal.facts.get(LENGTH_FACT + path.name)
        length, adding = fact or (0, 0)
        return length, adding

    def _note(self, name: str, length: int, *, adding: int = 0) -> None:
        self.journal.facts.put(LENGTH_FACT + name, [length, adding])


@dataclass(eq=False)
class Archives:
    """The folder of archives, for the one daemon that writes to it."""

    folder: Path
    journal: Journal
    clean: Callable[[str], str]
    """Takes our own secrets out of a line."""
    _files: GrowingFiles = field(init=False)

    def __post_init__(self) -> None:
        self._files = GrowingFiles(self.folder, self.journal)

    def add(self, records: Sequence[Record], until: str) -> str:
        """Write down what is about to be dropped, all until then; return until when.

        The records are in the order in which their tasks ended. Of several months, only
        the first is written. `note_dropped` belongs into the commit that drops them.

        Raises:
            StateError: the disk refused; nothing may be dropped.
        """
        month = str(records[0]["ended_at"])[:_MONTH]
        some = [one for one in records if str(one["ended_at"]).startswith(month)]
        text = "".join(f"{self.clean(json.dumps(one))}\n" for one in some)
        fix = "Or keep no archives: work.archive = false."
        self._files.append(f"{month}{ENDING}", text, fix)
        return until if len(some) == len(records) else str(some[-1]["ended_at"])

    def note_dropped(self) -> None:
        """Note, in the commit that drops it, that what was added last stays."""
        self._files.note_dropped()

    def bound(self, most_bytes: int) -> list[Archive]:
        """Delete the oldest archives while all are larger, and return them.

        Never the newest.
        """
        found = archives_in(self.folder)
        size, deleted = sum(one.bytes for one in found), []
        for one in found[:-1]:
            if size <= most_bytes:
                break
            one.path.unlink(missing_ok=True)
            size -= one.bytes
            deleted.append(one)
        return deleted


def free_name(path: Path, taken: Collection[str] = ()) -> Path:
    """Return the first name for an archive of the same month that is not taken."""
    month = path.name.removesuffix(ENDING).partition(".")[0]
    names = (f"{month}.{number}{ENDING}" for number in count(1))
    free = (path.with_name(one) for one in names if one not in taken)
    return next(one for one in free if not one.exists())
