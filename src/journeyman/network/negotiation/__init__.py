"""Finding out in which shape a network wants an action, and remembering it."""

from journeyman.network.negotiation.memory import (
    Learned,
    PassingMemory,
    ShapeMemory,
    read_learned,
)
from journeyman.network.negotiation.negotiation import Negotiation
from journeyman.network.negotiation.trial import Sent
from journeyman.network.negotiation.writing import Writing, key_for

__all__ = [
    "Learned",
    "Negotiation",
    "PassingMemory",
    "Sent",
    "ShapeMemory",
    "Writing",
    "key_for",
    "read_learned",
]
