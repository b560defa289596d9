"""The journal and the identity: everything that must survive a kill."""

from journeyman.journal.database import CommitObserver
from journeyman.journal.directory import DataDirectory, DirectoryLock
from journeyman.journal.identity import load_identity, save_identity
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import Confidence, Entry, EntryKind, Ledger, NewEntry
from journeyman.journal.records import TaskEvent, TaskRecord
from journeyman.journal.spends import Spend, SpendKind, Spends, SpendState
from journeyman.journal.tasks import IllegalMoveError, StaleMoveError, Tasks

__all__ = [
    "CommitObserver",
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
    "load_identity",
    "save_identity",
]
