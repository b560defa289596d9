"""`python -m journeyman`."""

import sys

from journeyman.cli import main

if __name__ == "__main__":
    sys.exit(main())
