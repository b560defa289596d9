"""A local network to try agents on: an independent implementation of the contract.

It imports nothing of the agent, so that one misreading of the contract cannot hide
in both.
"""

from journeyman.sandbox.app import create_app, serving
from journeyman.sandbox.errors import SandboxError
from journeyman.sandbox.options import SandboxOptions, load_options
from journeyman.sandbox.store import SandboxEnvironment

__all__ = [
    "SandboxEnvironment",
    "SandboxError",
    "SandboxOptions",
    "create_app",
    "load_options",
    "serving",
]
