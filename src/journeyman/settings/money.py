"""The settings about money: what may be spent, and what may be bought."""

from typing import Literal

from pydantic import Field

from journeyman.settings.sections import Section
from journeyman.settings.values import Cents, Credits


class BudgetSettings(Section):
    """What the daemon may spend; every limit is checked before the request."""

    reserve_credits: Credits = Field(
        20,
        description="The floor that is never spent. A fifth of the starter credits, "
        "so that a mistake leaves enough to go on.",
    )
    per_day_credits: Credits = Field(
        50,
        description="The most that is spent in one day (UTC), whatever it is for.",
    )
    per_post_credits: Credits = Field(
        25,
        description="The most that one posted task may cost.",
    )
    posts_per_day: int = Field(
        10,
        ge=0,
        description="The most tasks that are posted in one day (UTC). It bounds a "
        "strategy that posts in a loop.",
        json_schema_extra={"unit": "posts"},
    )
    per_strategy_credits: Credits = Field(
        10,
        description="The most that one strategy may spend on posts in one day (UTC), "
        "within the other limits. Low, so that a file that was dropped in cannot "
        "spend the day's budget; 0 lets no strategy post.",
    )
    strategy_credits: dict[str, Credits] = Field(
        default_factory=dict,
        description="The same for single strategies, by name.",
        examples=[{"proofreading": 25}],
    )


class TopUpSettings(Section):
    """Whether more credits may be asked for; Journeyman itself never pays."""

    mode: Literal["off", "ask", "auto"] = Field(
        "off",
        description="What happens when credits run short. `off`: nothing. `ask`: the "
        "log says so, and the owner runs `journeyman topup`. `auto`: the payment page "
        "is asked for, within the caps below. In every mode a person pays.",
    )
    below_credits: Credits = Field(
        20,
        description="Credits run short below this. By default it is the reserve, "
        "below which nothing can be posted.",
    )
    credits: int = Field(
        500,
        ge=1,
        description="How much to ask for in mode `auto`: 5 US dollars' worth.",
        json_schema_extra={"unit": "credits"},
    )
    plan: str = Field(
        "credit_pack",
        min_length=1,
        description="The `plan` of the checkout request. An assumption: the contract "
        "does not show which values are allowed.",
    )
    price_id: str = Field(
        "price_custom",
        min_length=1,
        description="The `price_id` of the checkout request. An assumption: the "
        "contract shows no list of prices.",
    )
    per_day_cents: Cents = Field(
        500,
        description="The most that is asked for in one day (UTC).",
    )
    per_month_cents: Cents = Field(
        2_000,
        description="The most that is asked for in one month (UTC).",
    )
    product_label: str = Field(
        "Journeyman credits",
        description="The `product_label` of the checkout request: what the person who "
        "pays reads.",
    )
    source: str = Field(
        "journeyman",
        description="The `source` of the checkout request: who asked for it.",
    )
