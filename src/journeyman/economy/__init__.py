"""The economy: bookkeeping, budgets, posting, top-ups."""
