"""What the daemon tells: the catalogue of events, logging, redaction."""

from journeyman.observability.catalogue import (
    CATALOGUE,
    Event,
    declare,
    render_reference,
)
from journeyman.observability.log import (
    CONTEXT_FIELDS,
    Log,
    UndeclaredEventError,
    UndeclaredFieldError,
)
from journeyman.observability.rendering import UNSAFE_CHARACTERS

__all__ = [
    "CATALOGUE",
    "CONTEXT_FIELDS",
    "UNSAFE_CHARACTERS",
    "Event",
    "Log",
    "UndeclaredEventError",
    "UndeclaredFieldError",
    "declare",
    "render_reference",
]
