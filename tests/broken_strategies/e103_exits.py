import sys

from journeyman import strategy

sys.exit("a plugin must not end the daemon")
