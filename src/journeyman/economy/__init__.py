"""The economy: bookkeeping, budgets, posting, top-ups."""

from journeyman.economy.allowance import Allowances
from journeyman.economy.bookkeeping import (
    book_cost,
    book_earning,
    book_starter,
    cost_today,
    earned_by,
)
from journeyman.economy.budget import OWNER, Limits, OverBudget, Standing, standing
from journeyman.economy.first_post import PostingRules
from journeyman.economy.posting import Accepted, NotAccepted, Posting
from journeyman.economy.reconcile import BalanceWatch
from journeyman.economy.shortage import Refill, Shortage, TopUpMode
from journeyman.economy.topup import NotOpened, Offer, Opened, TopUp

__all__ = [
    "OWNER",
    "Accepted",
    "Allowances",
    "BalanceWatch",
    "Limits",
    "NotAccepted",
    "NotOpened",
    "Offer",
    "Opened",
    "OverBudget",
    "Posting",
    "PostingRules",
    "Refill",
    "Shortage",
    "Standing",
    "TopUp",
    "TopUpMode",
    "book_cost",
    "book_earning",
    "book_starter",
    "cost_today",
    "earned_by",
    "standing",
]
