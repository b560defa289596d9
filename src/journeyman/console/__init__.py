"""The running daemon seen over HTTP."""

from journeyman.console.app import Desk, build_app

__all__ = ["Desk", "build_app"]
