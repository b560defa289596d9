"""What a failed request to the model means for the task."""

from collections.abc import Callable
from functools import partial

from journeyman import Decline, Misconfigured, RetryLater

LATER_SECONDS = 60.0
"""Where the provider gives no time."""
LONGEST_SECONDS = 900.0

Ending = Callable[[str], Exception]
"""Makes the deliberate end of a run; given the failure in words."""


def ending_for(error: Exception, words: str) -> Exception | None:
    """Return the deliberate end of a run that an error of pydantic-ai stands for.

    Args:
        error: what was raised.
        words: the same in words, without any secret.

    None: it stands for none, and is a bug.
    """
    if isinstance(error, Decline | Misconfigured | RetryLater):
        return error
    for kinds, ending in _endings(getattr(error, "retry_after", None)):
        if isinstance(error, kinds):
            return ending(words)
    return None


def is_free(error: Exception) -> bool:
    """Return whether the provider certainly did not charge for the failed request."""
    from pydantic_ai import exceptions as known  # noqa: PLC0415 - it is heavy

    if isinstance(error, known.ModelConnectionError):
        return error.phase in {"pool", "connect"}
    return isinstance(
        error,
        known.ModelRequestRejectedError
        | known.ModelRateLimitError
        | known.ModelQuotaExceededError,
    )


def describe(error: Exception) -> str:
    """Describe a failure without the provider's text, which may repeat the request."""
    status = getattr(error, "status_code", None)
    code = getattr(error, "provider_error_code", None)
    kind = type(error).__name__.removeprefix("_HTTP")
    details = [kind, status and f"status {status}", code and str(code)[:40]]
    return ", ".join(filter(None, details))


def _endings(
    retry_after: float | None,
) -> list[tuple[type[Exception] | tuple[type[Exception], ...], Ending]]:
    """Return what each kind of error stands for; the first that fits counts."""
    from pydantic_ai import exceptions as known  # noqa: PLC0415 - it is heavy

    wait = min(max(retry_after or LATER_SECONDS, 1.0), LONGEST_SECONDS)
    fix = "correct the parameters model, base_url, api_key_env and api_key_file"
    return [
        (
            (known.ModelAuthenticationError, known.ModelNotFoundError),
            lambda words: Misconfigured(f"the provider refuses: {words}", fix=fix),
        ),
        (
            known.ModelQuotaExceededError,
            lambda words: RetryLater(
                f"the provider's account is empty: {words}", after=LONGEST_SECONDS
            ),
        ),
        (
            known.ModelContextWindowExceededError,
            lambda _: Decline("the task is too long for the model"),
        ),
        (
            known.ModelRequestRejectedError,
            lambda words: Decline(f"the provider does not take the task: {words}"),
        ),
        (
            known.ModelAPIError,
            lambda words: RetryLater(f"the provider is not ready: {words}", after=wait),
        ),
        (
            known.UsageLimitExceeded,
            lambda _: Decline("over budget: it needs more tokens or requests"),
        ),
        (
            known.ContentFilterError,
            lambda _: Decline("the provider's filter stopped it"),
        ),
        (
            known.UnexpectedModelBehavior,
            lambda _: Decline("the model gave no usable answer"),
        ),
        (TimeoutError, lambda words: RetryLater(f"out of time: {words}", after=wait)),
        (known.UserError, partial(Misconfigured, fix=fix)),
    ]
