"""The start of the bridge: `python -I .../cluster/__main__.py [PATH...]`.

It is run as a file, so that the import path can be made the daemon's before anything of
journeyman is imported; see `strategies.child.__main__`.
"""

import sys

if __name__ == "__main__":
    sys.path += [path for path in sys.argv[1:] if path not in sys.path]

    from journeyman.strategies.cluster.bridge import main

    main()
