"""Running a strategy: on the event loop, in a thread, in a process of its own."""
