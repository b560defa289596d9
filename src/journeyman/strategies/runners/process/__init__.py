"""Strategies in processes of their own: warm children, limited, watched and killed."""

from journeyman.strategies.runners.process.isolation import Isolation
from journeyman.strategies.runners.process.runner import ProcessRunner

__all__ = ["Isolation", "ProcessRunner"]
