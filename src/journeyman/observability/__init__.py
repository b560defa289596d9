"""What the daemon tells: the catalogue of events, logging, redaction."""

from journeyman.observability.catalogue import CATALOGUE, Event, declare
from journeyman.observability.log import Log

__all__ = ["CATALOGUE", "Event", "Log", "declare"]
