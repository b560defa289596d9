"""Journeyman: an autonomous agent daemon that earns credits by doing tasks."""

__version__ = "0.1.0"
