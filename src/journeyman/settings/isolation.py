"""The settings about strategies that run in processes of their own: their limits."""

from pydantic import Field

from journeyman.settings.sections import Section
from journeyman.settings.values import Bytes, Names, Seconds


class IsolationSettings(Section):
    """What a strategy that runs in its own process may use.

    Which do so is said by `strategies.runners` and by the strategies themselves; how
    long they may take, by `strategies.timeout_seconds`.
    """

    cpu_seconds: Seconds = Field(
        300,
        description="The CPU time of one task, for each process that works on it; then "
        "it is killed. As long as a task may take by default, so that it stops what "
        "computes in many threads at once.",
    )
    memory_mb: int = Field(
        512,
        ge=64,
        description="The memory of a strategy's process, and of all that it starts "
        "together. Ample for text work, and eight of them fit a small machine. A "
        "strategy that names `needs.memory_mb` gets that.",
        json_schema_extra={"unit": "MiB"},
    )
    file_mb: int = Field(
        256,
        ge=1,
        description="The largest file that a strategy may write.",
        json_schema_extra={"unit": "MiB"},
    )
    open_files: int = Field(
        256,
        ge=32,
        description="How many files and sockets one process may have open.",
        json_schema_extra={"unit": "files"},
    )
    processes: int = Field(
        32,
        ge=0,
        description="How many processes a strategy may start beside its own. It is "
        "looked at twice a second, so a burst may be larger before it is ended.",
        json_schema_extra={"unit": "processes"},
    )
    output_bytes: Bytes = Field(
        65_536,
        description="How much of what a strategy prints for one task goes to the log, "
        "and how much it may log. The rest is dropped and counted; 256 times as much "
        "ends it.",
    )
    warm_children: int = Field(
        2,
        ge=0,
        le=64,
        description="How many processes of each strategy may wait for a task, which "
        "then begins within a millisecond. One is started ahead, more when more tasks "
        "are worked on at once; a waiting one costs some 20 MiB.",
        json_schema_extra={"unit": "processes"},
    )
    tasks_per_child: int = Field(
        100,
        ge=1,
        description="A process is replaced after so many tasks, so that what it leaks "
        "does not add up. 1 gives each task a fresh one.",
        json_schema_extra={"unit": "tasks"},
    )
    environment: Names = Field(
        (),
        description="Variables of the daemon's environment that strategies get beside "
        "PATH, LANG, LC_*, TZ and the places of certificates; an API key, say. "
        "Journeyman's own are never passed on.",
        examples=[["OPENAI_API_KEY"]],
    )
