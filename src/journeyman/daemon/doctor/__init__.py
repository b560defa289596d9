"""`journeyman doctor`: is everything as it must be, and what to do where it is not."""

from journeyman.daemon.doctor.examination import Case, examine
from journeyman.daemon.doctor.finding import Finding, Grade

__all__ = ["Case", "Finding", "Grade", "examine"]
