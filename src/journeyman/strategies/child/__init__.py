"""What runs inside a strategy's own process: a supervisor, and its fork, a worker.

Only the standard library and the author's API, so that a child starts fast and stays
small. The daemon's side is `strategies.running.child`; `messages` is their protocol.
"""
