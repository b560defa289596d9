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

__all__ = [
    "CATALOGUE",
    "CONTEXT_FIELDS",
    "Event",
    "Log",
    "UndeclaredEventError",
    "UndeclaredFieldError",
    "declare",
    "render_reference",
]
