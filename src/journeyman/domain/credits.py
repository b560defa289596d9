"""Credits and US dollars (contract section 1: 1 USD = 100 credits)."""

import math

CREDITS_PER_USD = 100
CENTS_PER_USD = 100
STARTER_CREDITS = 100
"""What a free agent starts with (contract section 1)."""
MILLIONTHS = 1_000_000
"""Of a credit: costs outside of the network, such as tokens, are counted in these."""


def cents_for(credits_: int) -> int:
    """Return the price in US cents of an amount of credits, at the contract's rate."""
    return credits_ * CENTS_PER_USD // CREDITS_PER_USD


def millionths_of(credits_: float) -> int:
    """Return an amount of credits in whole millionths, rounded up: no cost is lost."""
    return math.ceil(round(credits_ * MILLIONTHS, 6))
