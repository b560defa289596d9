"""Strategies in service: which are active, rest, shadow; their hooks and posts."""
