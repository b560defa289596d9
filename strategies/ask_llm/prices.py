"""What a model costs: as configured, or else by the table of genai-prices.

The table is part of the library and never fetched: it is as old as its version.
"""

from importlib import metadata

from journeyman import Misconfigured

from .budget import Prices  # noqa: TID252 - see __init__
from .connection import ModelChoice  # noqa: TID252 - see __init__

LIBRARY = "genai-prices"
CREDITS_PER_USD = 100
SAMPLE_TOKENS = 1_000


def table_prices(choice: ModelChoice) -> Prices:
    """Return the prices of a provider's model, as the table has them.

    Raises:
        Misconfigured: they are not known, and none is guessed.
    """
    provider, _, name = choice.model.partition(":")
    if choice.base_url or not name:
        # Somebody else's server may ask any price for a model of the same name.
        raise _unknown(choice.model)
    try:
        from genai_prices import Usage, calc_price  # noqa: PLC0415 - it is heavy

        usage = Usage(input_tokens=SAMPLE_TOKENS, output_tokens=SAMPLE_TOKENS)
        found = calc_price(usage, name, provider_id=provider)
    except (ImportError, LookupError):
        raise _unknown(choice.model) from None
    return Prices(
        read=float(found.input_price) * CREDITS_PER_USD,
        written=float(found.output_price) * CREDITS_PER_USD,
        source=f"{LIBRARY} {metadata.version(LIBRARY)}",
    )


def _unknown(model: str) -> Misconfigured:
    return Misconfigured(
        f"the price of the model {model!r} is not known, so no budget can hold",
        fix="set credits_per_1k_input and credits_per_1k_output (1 credit is 1 US "
        "cent), or free = true",
    )
