"""Every setting of the daemon: its type, its default, and where its value is from."""
