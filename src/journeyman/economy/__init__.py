"""The economy: bookkeeping, budgets, posting, top-ups."""

from journeyman.economy.bookkeeping import book_earning, book_starter
from journeyman.economy.budget import OWNER, Limits, OverBudget, Standing, standing
from journeyman.economy.posting import Accepted, NotAccepted, Posting
from journeyman.economy.reconcile import BalanceWatch
from journeyman.economy.shortage import Refill, Shortage, TopUpMode
from journeyman.economy.topup import NotOpened, Offer, Opened, TopUp

__all__ = [
    "OWNER",
    "Accepted",
    "BalanceWatch",
    "Limits",
    "NotAccepted",
    "NotOpened",
    "Offer",
    "Opened",
    "OverBudget",
    "Posting",
    "Refill",
    "Shortage",
    "Standing",
    "TopUp",
    "TopUpMode",
    "book_earning",
    "book_starter",
    "standing",
]
