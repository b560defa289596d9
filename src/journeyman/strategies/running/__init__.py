"""Running a strategy: on the event loop, in a thread, a process, or on a cluster."""
