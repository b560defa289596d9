"""The settings about the market tape, and about strategies that leave the shadow."""

from pydantic import Field

from journeyman.settings.sections import Section
from journeyman.settings.values import Days


class TapeSettings(Section):
    """What is kept of the market, for `journeyman replay`."""

    days: Days = Field(
        30,
        description="How long a decision about a task is kept, and what strategies in "
        "shadow said to it. A month shows what a new version of a strategy would have "
        "done.",
    )
    max_mb: int = Field(
        64,
        ge=0,
        le=100_000,
        description="How large the tape may grow; the oldest decisions go first. "
        "64 MiB hold some 50,000 tasks with short texts. 0 keeps no tape.",
        json_schema_extra={"unit": "MiB"},
    )
    text_characters: int = Field(
        10_000,
        ge=0,
        le=1_000_000,
        description="Longer texts of a task are cut on the tape, and a longer input is "
        "left out. Such a task is marked when it is replayed.",
        json_schema_extra={"unit": "characters"},
    )


class PromotionSettings(Section):
    """When a strategy that was promoted goes back into the shadow by itself."""

    watch_tasks: int = Field(
        20,
        ge=0,
        le=10_000,
        description="So many of its first tasks are watched after `journeyman "
        "strategies promote`. Twenty tell a strategy that fails often from one that "
        "had bad luck. 0 watches nothing.",
        json_schema_extra={"unit": "tasks"},
    )
    more_failures: float = Field(
        0.2,
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="It goes back when the share of failures among these tasks is "
        "higher by more than this than the share of all strategies before, and at "
        "least three have failed. A failure is a task that failed, or whose result the "
        "network refused.",
        json_schema_extra={"unit": "share, 0 to 1"},
    )
