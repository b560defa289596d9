"""Loading strategies from files and installed packages, and validating them."""
