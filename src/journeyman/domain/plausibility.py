"""Rules of plausibility: which money and addresses of a network are believed.

Whatever fails is kept and shown as doubtful, and nothing is booked or opened because of
it. Amounts in another currency never come here: reading takes them for no credits.
"""

import math
import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

MOST_CREDITS = 1_000_000
"""For one task, or as a balance: 10,000 US dollars at the contract's rate. More is
likelier a number in another unit, or an attack on the budgets that follow from it."""
MOST_TIMES_LISTED = 10
"""What is named beyond so many times the listed reward is no bonus, but a mistake."""
MOST_GROWTH = 10
"""Beyond MOST_CREDITS, a balance is plausible up to so many times the booked one."""
_ADDRESS = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]{1,2048}")
"""RFC 3986, section 2. What a browser would repair, such as a backslash, is no part."""


def doubt_about_earning(credits_: float, listed: int) -> str:
    """Return why a task cannot have earned so much; empty if it can.

    `listed` is the reward that was promised, in credits; 0 if none was.
    """
    if credits_ < 0:
        return f"{credits_} credits were named for work that was done"
    most = min(MOST_CREDITS, listed * MOST_TIMES_LISTED if listed > 0 else MOST_CREDITS)
    if credits_ > most:
        return f"{credits_} credits were named, and {max(listed, 0)} had been listed"
    return ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pay:
    """What is believed of the pay that an answer names."""

    credits: int
    is_proven: bool
    """Two of our sources say the same; else the answer's word stands alone."""
    note: str = ""
    """What an entry says of the rest; empty where there is none."""


def believed_pay(named: float, listed: int, risen: int | None) -> Pay:
    """Return what to book of pay that no `doubt_about_earning` is about.

    An answer that names what was listed (`listed`; 0: nothing was), or by which a shown
    balance has risen (`risen`; None: none was shown), is proven. The word of an answer
    alone is believed up to the listing, and no further: budgets follow from what is
    booked. A ledger has whole credits, so a fraction is said and not booked.
    """
    whole, listed = math.floor(named), max(0, listed)
    if risen == whole or (listed and named == listed):
        return Pay(credits=whole, is_proven=True, note=_fraction(named))
    credits_ = min(whole, listed) if listed else whole
    note = _fraction(named)
    if listed and whole != listed:
        note = f"{named} credits were named, and {listed} had been listed"
    if credits_ < whole:
        note += "; the rest is booked when a balance shows it"
    return Pay(credits=credits_, is_proven=False, note=note)


def _fraction(named: float) -> str:
    if named == math.floor(named):
        return ""
    return f"{named} credits were named, and only whole ones are booked"


def doubt_about_fee(fee: float, reward: int) -> str:
    """Return why a post cannot have cost such a fee; empty if it can."""
    if 0 <= fee <= reward:
        return _fraction(fee)
    return f"a fee of {fee} credits was named for a post of {reward}"


def doubt_about_balance(shown: int, booked: int) -> str:
    """Return why a balance cannot be ours; empty if it can. Both are in credits."""
    if shown < 0:
        return f"a balance of {shown} credits was shown"
    if shown > max(MOST_CREDITS, booked * MOST_GROWTH):
        return f"a balance of {shown} credits was shown, and {booked} are booked"
    return ""


def doubt_about_page(address: str, network: str) -> str:
    """Return why nobody should open an address and pay there; empty if it may be.

    It has to be https, except between a network on this machine, such as the sandbox,
    and a page on it. `network` is the address of the network that named it.
    """
    if not _ADDRESS.fullmatch(address):
        return "it has characters that no address has, or too many"
    try:
        parts = urlsplit(address)
        has_host = bool(parts.hostname and (parts.port is None or parts.port >= 0))
    except ValueError:
        return "it is no address"
    if parts.scheme not in {"https", "http"} or not has_host:
        return "it does not lead to a web page"
    return _doubt_about_host(parts, urlsplit(network))


def _doubt_about_host(parts: SplitResult, network: SplitResult) -> str:
    if "@" in parts.netloc:
        return "it carries a user name or a password"
    if not _is_here(parts):
        return "" if parts.scheme == "https" else "it is not https"
    return "" if _is_here(network) else "it is on this machine, and the network is not"


def _is_here(parts: SplitResult) -> bool:
    """Return whether an address is on this machine (RFC 6761, section 6.3)."""
    host = parts.hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
