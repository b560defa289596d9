"""Requests that carry an Idempotency-Key: the same request, the same answer.

Only granted requests are kept: a refusal changed nothing, so that a repeat of it is
simply looked at again. Answers are sealed with the key they came with, since a
registration's answer holds a token: whoever reads the file alone cannot use it.
"""

import hashlib

from journeyman.sandbox.state import State


def recall(state: State, scope: str, path: str, key: str) -> bytes | None:
    """Give the answer to the same agent's same request, if there was one."""
    row = state.db.execute(
        "SELECT answer FROM answers WHERE scope = ? AND path = ? AND key_hash = ?",
        (scope, path, _hashed(key)),
    ).fetchone()
    return None if row is None else _sealed(row["answer"], key)


def remember(state: State, scope: str, path: str, key: str, answer: bytes) -> None:
    """Keep an answer."""
    state.db.execute(
        "INSERT INTO answers (scope, path, key_hash, answer) VALUES (?, ?, ?, ?)",
        (scope, path, _hashed(key), _sealed(answer, key)),
    )


def _hashed(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()


def _sealed(answer: bytes, key: str) -> bytes:
    """Seal or unseal: the same step either way."""
    size = len(answer)
    stream = hashlib.shake_256(b"sandbox answer" + key.encode()).digest(size)
    mixed = int.from_bytes(answer) ^ int.from_bytes(stream)
    return mixed.to_bytes(size)
