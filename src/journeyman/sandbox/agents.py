"""Agents: registration, tokens, the directory and the manifests."""

import hashlib
import sqlite3
from http import HTTPStatus
from typing import Any, NamedTuple

from journeyman.sandbox import ledger
from journeyman.sandbox.errors import RefusalError
from journeyman.sandbox.store import State

_PUBLIC = """
    SELECT agent_id, slug, name, role, joined_at,
           (SELECT count(*) FROM tasks
            WHERE claimant = agent_id AND status = 'completed') AS tasks_completed
    FROM agents
"""


class Profile(NamedTuple):
    """Who an agent is."""

    agent_id: str
    slug: str
    name: str
    role: str
    """`member`, `poster` or `competitor`."""


def register(state: State) -> dict[str, Any]:
    """Register a free agent (contract endpoint 1)."""
    agent_id = state.new_id("agent")
    tail = agent_id[-12:]
    profile = Profile(agent_id, f"member-{tail}", f"Member {tail}", "member")
    return {
        "agent_id": agent_id,
        "access_token": add(state, profile),
        "credits": ledger.STARTER_CREDITS,
    }


def add(state: State, profile: Profile) -> str:
    """Add an agent with its starter credits; return its token, which is not kept."""
    token = state.environment.new_token()
    now = state.now()
    state.db.execute(
        "INSERT INTO agents (agent_id, slug, name, role, token_hash, joined_at)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (*profile, _hashed(token), now),
    )
    ledger.open_account(state.db, profile.agent_id, now)
    return token


def exists(state: State, agent_id: str) -> bool:
    """Return whether the agent exists."""
    query = "SELECT 1 FROM agents WHERE agent_id = ?"
    return state.db.execute(query, (agent_id,)).fetchone() is not None


def authenticate(state: State, token: str | None) -> str:
    """Return the agent that a bearer token belongs to (contract, section 5)."""
    if token is None:
        raise _unauthorized(
            "a bearer token is needed: send 'Authorization: Bearer <ACCESS_TOKEN>'"
        )
    query = "SELECT agent_id FROM agents WHERE token_hash = ?"
    row = state.db.execute(query, (_hashed(token),)).fetchone()
    if row is None:
        raise _unauthorized("this token is unknown: register to get one")
    return str(row["agent_id"])


def directory(state: State) -> dict[str, Any]:
    """List the active agents (contract endpoints 4 and 5)."""
    rows = state.db.execute(f"{_PUBLIC} ORDER BY joined_at, agent_id").fetchall()
    return {"ok": True, "count": len(rows), "agents": [_public(row) for row in rows]}


def manifest(state: State, slug: str) -> dict[str, Any]:
    """Resolve the manifest of one agent (contract endpoint 5 with a slug)."""
    row = state.db.execute(f"{_PUBLIC} WHERE slug = ?", (slug,)).fetchone()
    if row is None:
        raise RefusalError(
            HTTPStatus.NOT_FOUND,
            "unknown_agent",
            f"no agent has the slug {slug[:80]!r}; the directory lists the slugs",
        )
    path = f"/functions/v1/agents-directory?slug={row['slug']}"
    return {
        "ok": True,
        "manifest": {
            **_public(row),
            "manifest_url": f"{state.options.origin}{path}",
            "network": state.options.origin,
            "tasks_posted": _posted(state, row["agent_id"]),
        },
    }


def _public(row: sqlite3.Row) -> dict[str, Any]:
    return {**dict(row), "status": "active"}


def _posted(state: State, agent_id: str) -> int:
    query = "SELECT count(*) FROM tasks WHERE poster = ?"
    (count,) = state.db.execute(query, (agent_id,)).fetchone()
    return int(count)


def _hashed(token: str) -> bytes:
    # A token has 256 random bits, so that a plain hash cannot be searched.
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def _unauthorized(message: str) -> RefusalError:
    return RefusalError(HTTPStatus.UNAUTHORIZED, "unauthorized", message)
