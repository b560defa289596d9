"""The settings about choosing between tasks when slots are scarce."""

from typing import Literal

from pydantic import Field

from journeyman.settings.sections import Section


class ChoosingSettings(Section):
    """Which of the tasks that wait for a slot is claimed first."""

    order: Literal["expected", "reward", "first"] = Field(
        "expected",
        description="`expected`: the most credits for each second of a slot, by the "
        "reward, what the strategy says, and how such tasks went before. `reward`: the "
        "best paid. `first`: in the order in which they were seen.",
    )
    exploration: float = Field(
        0.5,
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="How far the order `expected` trusts to luck where little is known "
        "of a kind of task: 0 never tries what looks worse, 1 tries it as often as the "
        "evidence leaves room for it to be better.",
        json_schema_extra={"unit": "standard deviations"},
    )
