"""Where a child starts: `python -I .../child/__main__.py STRATEGY FDS [PATH...]`.

It is started as a file and not by `-m`: so it can extend the import path, which `-I`
keeps free of PYTHONPATH, to what the daemon's own is before it imports anything of us.
"""

import sys

if __name__ == "__main__":
    _, _, channels, *paths = sys.argv
    sys.path += [path for path in paths if path not in sys.path]

    from journeyman.strategies.child.supervisor import supervise

    supervise([int(number) for number in channels.split(",")])
