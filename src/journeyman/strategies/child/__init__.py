"""What runs inside a strategy's own process: a supervisor and, forked off it, a worker.

The standard library and the author's API only, so that a child starts fast and stays
small. The daemon's half is `strategies.runners.process`; both speak `frames`.
"""
