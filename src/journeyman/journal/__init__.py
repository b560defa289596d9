"""The journal and the identity: everything that must survive a kill."""

from journeyman.journal.answer import Answer, AnswerFile
from journeyman.journal.database import CommitObserver, DiskRefusal
from journeyman.journal.directory import DataDirectory, DirectoryLock
from journeyman.journal.identity import (
    export_identity,
    load_identity,
    replace_identity,
    save_identity,
)
from journeyman.journal.journal import Journal
from journeyman.journal.ledger import (
    Confidence,
    Entry,
    EntryKind,
    Ledger,
    NewEntry,
    Share,
)
from journeyman.journal.observations import Observations
from journeyman.journal.records import TaskEvent, TaskRecord
from journeyman.journal.replacement import (
    PutAside,
    newcomer_directory,
    put_in_place,
)
from journeyman.journal.scores import Score, scoreboard
from journeyman.journal.shadows import (
    Promoted,
    Shadows,
    ShadowScore,
    ShadowVerdict,
    Standing,
)
from journeyman.journal.sighting import (
    Ending,
    NewSighting,
    Opinion,
    Sighting,
    encode_opinions,
    shown,
)
from journeyman.journal.spends import Spend, SpendKind, Spends, SpendState
from journeyman.journal.strategy_health import Condition, Health, StrategyHealth
from journeyman.journal.tape import Tape
from journeyman.journal.tasks import IllegalMoveError, StaleMoveError, Tasks
from journeyman.journal.track_records import (
    Forecast,
    Group,
    Judged,
    TrackRecord,
    TrackRecords,
)
from journeyman.journal.upkeep import (
    Compacted,
    back_up,
    compact,
    faults,
    quick_faults,
)
from journeyman.journal.waiting import Waiting, WaitingTasks

__all__ = [
    "Answer",
    "AnswerFile",
    "CommitObserver",
    "Compacted",
    "Condition",
    "Confidence",
    "DataDirectory",
    "DirectoryLock",
    "DiskRefusal",
    "Ending",
    "Entry",
    "EntryKind",
    "Forecast",
    "Group",
    "Health",
    "IllegalMoveError",
    "Journal",
    "Judged",
    "Ledger",
    "NewEntry",
    "NewSighting",
    "Observations",
    "Opinion",
    "Promoted",
    "PutAside",
    "Score",
    "ShadowScore",
    "ShadowVerdict",
    "Shadows",
    "Share",
    "Sighting",
    "Spend",
    "SpendKind",
    "SpendState",
    "Spends",
    "StaleMoveError",
    "Standing",
    "StrategyHealth",
    "Tape",
    "TaskEvent",
    "TaskRecord",
    "Tasks",
    "TrackRecord",
    "TrackRecords",
    "Waiting",
    "WaitingTasks",
    "back_up",
    "compact",
    "encode_opinions",
    "export_identity",
    "faults",
    "load_identity",
    "newcomer_directory",
    "put_in_place",
    "quick_faults",
    "replace_identity",
    "save_identity",
    "scoreboard",
    "shown",
]
