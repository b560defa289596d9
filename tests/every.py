"""How much is tried of what takes long: every case, or every so many."""

import os

EVERY = int(os.environ.get("TEST_EVERY", "1"))
"""As the Makefile says; 1: every case."""
