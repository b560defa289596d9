"""Credits and US dollars (contract section 1: 1 USD = 100 credits)."""

CREDITS_PER_USD = 100
CENTS_PER_USD = 100
STARTER_CREDITS = 100
"""What a free agent starts with (contract section 1)."""


def cents_for(credits_: int) -> int:
    """Give the price in US cents of an amount of credits, at the contract's rate."""
    return credits_ * CENTS_PER_USD // CREDITS_PER_USD
