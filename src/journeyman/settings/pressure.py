"""The settings about a network that suffers: pauses, breakers, absent endpoints."""

from pydantic import Field

from journeyman.settings.sections import Section
from journeyman.settings.values import Seconds


class PressureSettings(Section):
    """How a network is spared that is overloaded, down, or lacks an endpoint."""

    max_retry_after_seconds: Seconds = Field(
        3_600,
        le=3_600,
        description="The longest pause that the network may ask for (`Retry-After`). "
        "An hour is more than any limit needs, and keeps a slip of the network's from "
        "stopping us for a year.",
    )
    failures: int = Field(
        5,
        ge=1,
        le=100,
        description="After so many failures in a row an endpoint, or the whole "
        "network, is asked only by a probe now and then. Requests that were on "
        "their way together count as one. Five are no coincidence, and cost a dead "
        "network little.",
        json_schema_extra={"unit": "failures"},
    )
    probe_seconds: Seconds = Field(
        60,
        description="How often a network that is down, an endpoint that is broken, or "
        "a token that is refused is tried again: at most one request in this time. "
        "Work resumes at most this long after it is well.",
    )
    absent_recheck_seconds: Seconds = Field(
        3_600,
        description="How often to look again for an endpoint that the network does not "
        "have. The first looks come after a minute and after ten, since an endpoint "
        "may only be restarting.",
    )


class PostingSettings(Section):
    """Whether tasks are posted at all, and how the first one is."""

    enabled: bool = Field(
        default=True,
        description="Whether tasks may be posted: by a command, or by a strategy. "
        "What each may cost is in [budget].",
    )
    look_at_first: bool = Field(
        default=True,
        description="The first post on a network is made alone: a second is sent only "
        "after the first was seen in a listing, or the balance moved as expected. The "
        "contract does not show what posting does, so that it may mean something else.",
    )
