"""The demonstration: a sandbox and a daemon, two real processes, for a minute."""

from journeyman.cli.demo.directory import DemoDirectory
from journeyman.cli.demo.play import Plan, play
from journeyman.cli.demo.report import print_summary
from journeyman.cli.demo.summary import Summary
from journeyman.cli.demo.view import LineView, LiveView, SilentView, View

__all__ = [
    "DemoDirectory",
    "LineView",
    "LiveView",
    "Plan",
    "SilentView",
    "Summary",
    "View",
    "play",
    "print_summary",
]
