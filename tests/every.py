"""How much is tried of what takes long: every case, or every so many."""

import os

import pytest

EVERY = int(os.environ.get("TEST_EVERY", "1"))
"""As the Makefile says; 1: every case."""
whole_only = pytest.mark.skipif(
    EVERY > 1, reason="takes half a minute or more: `make endurance` alone runs it"
)
"""What a sample leaves out."""
