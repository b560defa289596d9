"""How a request of ours may look where the contract does not show it (design 5)."""

from journeyman.network.dialects.candidates import (
    Candidate,
    candidates_for,
    next_candidate,
)
from journeyman.network.dialects.complaint import Complaint, complaint_in
from journeyman.network.dialects.ready import READY, SNAKE
from journeyman.network.dialects.shape import (
    ActionShape,
    WritingDialect,
    checked_name,
    remembered_shape,
    writing_dialect,
)

__all__ = [
    "READY",
    "SNAKE",
    "ActionShape",
    "Candidate",
    "Complaint",
    "WritingDialect",
    "candidates_for",
    "checked_name",
    "complaint_in",
    "next_candidate",
    "remembered_shape",
    "writing_dialect",
]
