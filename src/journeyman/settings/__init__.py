"""Every knob of the daemon, with its unit, its default and its reason (design 9)."""
