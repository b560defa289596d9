"""The start of a child: `python -I .../child/__main__.py STRATEGY FDS [PATH...]`.

It is run as a file and not by `-m`: `-I` ignores PYTHONPATH, so that the import path
must be made that of the daemon before anything of journeyman is imported.
"""

import sys

if __name__ == "__main__":
    _, _, channels, *paths = sys.argv
    sys.path += [path for path in paths if path not in sys.path]

    from journeyman.strategies.child.supervisor import supervise

    supervise([int(number) for number in channels.split(",")])
