"""The journal and the identity: everything that must survive a kill."""

from journeyman.journal.answer import Answer, AnswerFile
from journeyman.journal.database import CommitObserver
from journeyman.journal.directory import DataDirectory, DirectoryLock
from journeyman.journal.identity import (
    export_identity,
    load_identity,
    replace_identity,
    save_identity,
)
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import Confidence, Entry, EntryKind, Ledger, NewEntry
from journeyman.journal.records import TaskEvent, TaskRecord
from journeyman.journal.spends import Spend, SpendKind, Spends, SpendState
from journeyman.journal.tasks import IllegalMoveError, StaleMoveError, Tasks
from journeyman.journal.upkeep import Compacted, back_up, compact, faults

__all__ = [
    "Answer",
    "AnswerFile",
    "CommitObserver",
    "Compacted",
    "Confidence",
    "DataDirectory",
    "DirectoryLock",
    "Entry",
    "EntryKind",
    "IllegalMoveError",
    "Journal",
    "Ledger",
    "NewEntry",
    "Spend",
    "SpendKind",
    "SpendState",
    "Spends",
    "StaleMoveError",
    "TaskEvent",
    "TaskRecord",
    "Tasks",
    "back_up",
    "compact",
    "export_identity",
    "faults",
    "load_identity",
    "replace_identity",
    "save_identity",
]
