"""The command line: one file per command under `commands`; parse, call, print."""

from journeyman.cli.app import main

__all__ = ["main"]
