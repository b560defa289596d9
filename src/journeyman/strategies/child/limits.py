"""The limits that the kernel keeps for a process: memory, CPU, files."""

import math
import resource
from contextlib import suppress
from pathlib import Path

from journeyman.strategies.child.messages import ChildConfig

MIB = 1_048_576


_MORE_TO_KILL = 500
"""Points of 1000: when memory runs out, this process goes before the daemon does."""


_OOM_SCORE = Path("/proc/self/oom_score_adj")


def set_limits(config: ChildConfig) -> None:
    """Set the limits of this process and of those that it starts, for good."""
    memory, files = config.memory_mb * MIB, config.file_mb * MIB
    # Of private memory; the supervisor adds up what is shared.
    _limit(resource.RLIMIT_DATA, memory)
    _limit(resource.RLIMIT_FSIZE, files)
    _limit(resource.RLIMIT_NOFILE, config.open_files)
    _limit(resource.RLIMIT_CORE, 0)
    with suppress(OSError):  # not Linux, or no /proc
        _OOM_SCORE.write_text(str(_MORE_TO_KILL))


def allow_cpu_seconds(seconds: float) -> None:
    """Allow so much more CPU time than was used so far; then SIGXCPU ends it."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    total = math.ceil(used.ru_utime + used.ru_stime + seconds)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if hard != resource.RLIM_INFINITY:
        total = min(total, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (total, hard))


def _limit(what: int, value: int) -> None:
    """Lower a limit for good; one that is lower already stays."""
    _, hard = resource.getrlimit(what)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(what, (value, value))
