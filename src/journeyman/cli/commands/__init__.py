"""The commands, a file each. Heavy imports stay inside the functions."""
