"""The settings about strategies that misbehave: when they rest, and for how long."""

from pydantic import Field

from journeyman.settings.sections import Section
from journeyman.settings.values import Seconds


class ContainmentSettings(Section):
    """What a strategy may do wrong before it is given no work for a while."""

    errors: int = Field(
        5,
        ge=1,
        le=1_000,
        description="So many crashes and time-outs of one strategy within "
        "`window_seconds`, and it rests. Five are no accident, and cost little; what "
        "the network refuses is not counted, since that may be the network's mistake.",
        json_schema_extra={"unit": "errors"},
    )
    window_seconds: Seconds = Field(
        600,
        description="How long an error counts. Ten minutes tell a strategy that is "
        "broken from one that meets an odd task now and then.",
    )
    first_rest_seconds: Seconds = Field(
        60,
        description="How long the first rest lasts. Then the strategy is tried with "
        "one task; done, it works as before. Short, because the cause is often "
        "outside: a service that it asks, say.",
    )
    longest_rest_seconds: Seconds = Field(
        3_600,
        description="Each rest after a failed try is twice as long as the one before, "
        "up to this: one task an hour is what a broken strategy may cost at most.",
    )
    longest_hold_seconds: Seconds = Field(
        3_600,
        description="How long a claimed task waits for a strategy in quarantine, where "
        "no other wants it; then it counts as failed. An hour lets an owner mend the "
        "strategy, and does not keep the task from others for a day.",
    )
    hook_seconds: Seconds = Field(
        10,
        description="The longest that one call of `on_start`, `on_stop`, `on_outcome` "
        "or `post` may take. The start and the end of the daemon wait for the first "
        "two, so this stays well under `work.grace_seconds`.",
    )
