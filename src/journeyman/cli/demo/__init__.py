"""The demonstration: a sandbox and a daemon, two real processes, for a minute."""
