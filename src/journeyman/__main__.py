"""`python -m journeyman`."""

import sys

from journeyman.cli import start

if __name__ == "__main__":
    sys.exit(start())
