"""Times between zones: reading a field whose name Python keeps for itself."""

from datetime import datetime
from zoneinfo import ZoneInfo

from journeyman import Decline, Example, Task, strategy

EXAMPLE = {
    "datetime": "1995-07-04T12:30:00",
    "from": "Europe/Berlin",
    "to": "Asia/Tokyo",
}


def zone(name: str) -> ZoneInfo:
    """Return a zone of the IANA database, or decline."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise Decline("unknown time zone", zone=name[:50]) from error


@strategy(
    version="1.0.0",
    kinds={"date_zone"},
    tags={"dates", "zones"},
    inputs={"datetime": str, "from": str, "to": str},
    examples=[
        Example(
            {"kind": "date_zone", "input": EXAMPLE}, expect="1995-07-04T19:30:00+09:00"
        ),
        Example(
            {"kind": "date_zone", "input": EXAMPLE | {"to": "Mars/Base"}},
            expect=Decline,
        ),
    ],
)
def date_zone(task: Task) -> str:
    """Convert a time from one zone to another."""
    given = task.input
    try:
        local = datetime.fromisoformat(given["datetime"])
    except ValueError as error:
        raise Decline(
            "not an ISO 8601 time", datetime=given["datetime"][:50]
        ) from error
    if local.tzinfo is not None:
        raise Decline("the time already has an offset", datetime=given["datetime"])
    try:
        there = local.replace(tzinfo=zone(given["from"])).astimezone(zone(given["to"]))
    except OverflowError as error:
        raise Decline("the time is at the end of the calendar") from error
    return there.isoformat()
