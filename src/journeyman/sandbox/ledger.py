"""Credits: moved by entries between accounts, created only at two of them."""

import sqlite3
from typing import Any

STARTER_CREDITS = 100
"""What a free agent starts with (contract, section 1)."""
STARTER_GRANTS = "starter_grants"
PAID_CHECKOUTS = "paid_checkouts"
ESCROW = "escrow"
FEES = "fees"


def move(
    db: sqlite3.Connection,
    *,
    reason: str,
    reference: str,
    source: str,
    target: str,
    amount: int,
    at: str,
) -> None:
    """Book one entry; each (reason, reference) can be booked only once."""
    db.execute(
        "INSERT INTO entries (reason, reference, source, target, amount, booked_at)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (reason, reference, source, target, amount, at),
    )
    change = "UPDATE accounts SET balance = balance + ? WHERE account = ?"
    db.execute(change, (-amount, source))
    db.execute(change, (amount, target))


def open_account(db: sqlite3.Connection, agent_id: str, at: str) -> None:
    """Open the account of a new agent, with its starter credits."""
    db.execute("INSERT INTO accounts (account) VALUES (?)", (agent_id,))
    move(
        db,
        reason="starter",
        reference=agent_id,
        source=STARTER_GRANTS,
        target=agent_id,
        amount=STARTER_CREDITS,
        at=at,
    )


def balance_of(db: sqlite3.Connection, account: str) -> int:
    """Return the credits of an account."""
    query = "SELECT balance FROM accounts WHERE account = ?"
    (balance,) = db.execute(query, (account,)).fetchone()
    return int(balance)


def summary(db: sqlite3.Connection) -> dict[str, Any]:
    """Add everything up twice, from the entries and from the balances.

    `difference` is the credits created less all balances. `balanced` means more: every
    balance equals its entries, and escrow has exactly the rewards of the tasks that
    are neither completed nor expired.
    """
    created = {name: _created(db, name) for name in (STARTER_GRANTS, PAID_CHECKOUTS)}
    escrow = balance_of(db, ESCROW)
    agents = _agents(db)
    balances = {
        "agents": sum(agent["balance"] for agent in agents),
        "escrow": escrow,
        "fees": balance_of(db, FEES),
    }
    difference = sum(created.values()) - sum(balances.values())
    return {
        "balanced": difference == 0
        and not _has_wrong_balance(db)
        and escrow == _unpaid_rewards(db),
        "created": created,
        "balances": balances,
        "difference": difference,
        "agents": agents,
        "tasks": task_counts(db),
    }


def task_counts(db: sqlite3.Connection) -> dict[str, int]:
    """Count the tasks in each state."""
    counts = dict.fromkeys(("open", "claimed", "submitted", "completed"), 0)
    query = "SELECT status, count(*) FROM tasks GROUP BY status"
    return counts | dict(db.execute(query).fetchall())


def _created(db: sqlite3.Connection, source: str) -> int:
    query = "SELECT coalesce(sum(amount), 0) FROM entries WHERE source = ?"
    (amount,) = db.execute(query, (source,)).fetchone()
    return int(amount)


def _agents(db: sqlite3.Connection) -> list[dict[str, Any]]:
    query = """
        WITH flows AS (
            SELECT target AS account, reason, amount FROM entries
            UNION ALL
            SELECT source, 'spent', amount FROM entries
        )
        SELECT agent_id, balance,
               coalesce(sum(amount) FILTER (WHERE reason = 'starter'), 0) AS starter,
               coalesce(sum(amount) FILTER (WHERE reason = 'checkout'), 0) AS bought,
               coalesce(sum(amount) FILTER (WHERE reason = 'reward'), 0) AS earned,
               coalesce(sum(amount) FILTER (WHERE reason = 'refund'), 0) AS refunded,
               coalesce(sum(amount) FILTER (WHERE reason = 'spent'), 0) AS spent
        FROM agents
        JOIN accounts ON accounts.account = agent_id
        LEFT JOIN flows ON flows.account = agent_id
        GROUP BY agent_id
        ORDER BY joined_at, agent_id
    """
    return [dict(row) for row in db.execute(query)]


def _has_wrong_balance(db: sqlite3.Connection) -> bool:
    query = """
        WITH flows AS (
            SELECT target AS account, amount FROM entries
            UNION ALL
            SELECT source, -amount FROM entries
        )
        SELECT accounts.account FROM accounts
        LEFT JOIN flows USING (account)
        GROUP BY accounts.account
        HAVING balance != coalesce(sum(amount), 0)
    """
    return db.execute(query).fetchone() is not None


def _unpaid_rewards(db: sqlite3.Connection) -> int:
    query = (
        "SELECT coalesce(sum(reward), 0) FROM tasks "
        "WHERE status NOT IN ('completed', 'expired')"
    )
    (rewards,) = db.execute(query).fetchone()
    return int(rewards)
