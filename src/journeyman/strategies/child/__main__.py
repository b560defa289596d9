"""The start of the template: `python -I .../child/__main__.py SOCKET warm [PATH...]`.

It is run as a file and not by `-m`: `-I` ignores PYTHONPATH, so that the import path
must be made that of the daemon before anything of journeyman is imported.
"""

import sys

if __name__ == "__main__":
    _, descriptor, warmth, *paths = sys.argv
    sys.path[:] = paths

    from journeyman.strategies.child.template import serve

    serve(int(descriptor), is_warm=warmth == "warm")
