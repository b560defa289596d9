"""Running a strategy: on the event loop, in a thread, in a separate process."""
