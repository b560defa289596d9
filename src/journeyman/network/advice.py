"""What an owner can do about a request that has failed: one answer for all commands.

A definite no stays one: only what may pass by itself is said to be worth another try.
"""

import re

from journeyman.domain.outcomes import Failure, NotSent, Refusal, Refused, Unknown

_WANTS_KEY = re.compile(
    r"\b(?:api|subscription|access|client)[ _-]?(?:key|id)\b|apikey"
)
"""In a 401: words of a gateway, which speak of no token."""
SET_HEADER = (
    "It is likely a gateway before the service that wants a header of its own, such as "
    "an API key that the network's documentation gives to everybody. Set it in the "
    'configuration, under [network]: headers = { apikey = "..." }.'
)
UNTRUSTED = "the service's certificate is not accepted"
"""The beginning of what is said of it."""
CHECK_CERTIFICATE = (
    "Check base_url and this machine's clock and root certificates; if they are right, "
    "the service has to renew or correct its own. Nothing is sent over a connection "
    "that cannot be trusted; it is used again once it can."
)
_ADVICE = {
    Refusal.ABSENT: "There is no such endpoint at this address: check it (--base-url, "
    "setting network.base_url).",
    Refusal.CONFLICT: "The state of things at the network does not allow it.",
    Refusal.INVALID: "The network did not understand the request, or does not take "
    "such values; it would say the same again. `journeyman contract` shows what is "
    "known.",
    Refusal.PENDING: "What it depends on is still under way: wait a while.",
    Refusal.THROTTLED: "The network asks for patience: wait a while.",
    Refusal.FULL: "The agent holds as many tasks there as it may: finish one first.",
    Refusal.UNAFFORDABLE: "The agent has too few credits there.",
    Refusal.REJECTED: "The network has looked at it and said no.",
    Refusal.OTHER: "The network has said no, for the reason above; it would say the "
    "same again.",
}


def advice_for(failure: Failure, *, has_token: bool) -> str:
    """Return what can be done; `has_token` says whether our token was sent."""
    match failure:
        case Refused(refusal=Refusal.UNAUTHORIZED, message=message):
            return _for_unauthorized(message, has_token=has_token)
        case Refused(refusal=refusal):
            return _ADVICE.get(refusal, _ADVICE[Refusal.OTHER])
        case Unknown(status=status) if status is not None and status < 400:  # noqa: PLR2004  # the class of a status
            return "Another service may have answered: check network.base_url."
        case NotSent(message=message) if message.startswith(UNTRUSTED):
            return CHECK_CERTIFICATE
        case NotSent() | Unknown():
            return (
                "Check the address (--base-url, setting network.base_url) and that the "
                "service runs; then try again."
            )


def _for_unauthorized(message: str, *, has_token: bool) -> str:
    if not has_token or _WANTS_KEY.search(message.lower()):
        return SET_HEADER
    return (
        "The network does not accept the agent, or its token, for this. Keep the data "
        "directory, and ask the operator of the service."
    )
