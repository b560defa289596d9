"""Recorded tasks through new code: what it would decide, and what it would make."""
