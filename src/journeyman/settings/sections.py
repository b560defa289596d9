"""The settings about doing work: network, data, strategies, schedule, slots.

A description says what the setting does and why its default is what it is. A
`default_is` says in words what no value in a file could say. An `option` is the
command line's name for the setting. All three reach the reference by the schema.
"""

from pathlib import Path

from platformdirs import user_data_path
from pydantic import BaseModel, ConfigDict, Field

from journeyman.settings.values import (
    Address,
    Bytes,
    Credits,
    Days,
    Folder,
    Names,
    Runners,
    Seconds,
    Tables,
)


def _user_data() -> Path:
    return user_data_path("journeyman", appauthor=False)


class Section(BaseModel):
    """What all sections share: nothing unknown, nothing converted, nothing changed."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        use_attribute_docstrings=False,
    )


class NetworkSettings(Section):
    """Which network to join, and how patient and how polite to be with it."""

    base_url: Address | None = Field(
        None,
        description="The address of the network. There is no default, because the "
        "choice of a network is the owner's: the token goes there and nowhere else.",
        examples=["https://network.example"],
        json_schema_extra={
            "option": "--base-url",
            "default_is": "not set; `journeyman run` asks for it",
        },
    )
    portal_url: Address | None = Field(
        None,
        description="The address of the portal, which hosts the discovery documents.",
        examples=["https://portal.example"],
        json_schema_extra={"default_is": "the same as `base_url`"},
    )
    limit: int = Field(
        50,
        ge=1,
        le=1_000,
        description="How many tasks to ask for in one listing. The contract shows no "
        "maximum; 50 fills every slot several times and stays a small answer.",
        json_schema_extra={"unit": "tasks"},
    )
    total_timeout_seconds: Seconds = Field(
        30,
        description="The longest that one request may take in all. After that its "
        "outcome is unknown, and is reconciled.",
    )
    connect_timeout_seconds: Seconds = Field(
        5,
        description="The longest to wait for a connection. Short, because a request "
        "that never connected is safe to repeat.",
    )
    max_body_bytes: Bytes = Field(
        1_048_576,
        description="The largest answer that is read; the rest is refused. It keeps a "
        "broken network from filling the memory.",
    )
    max_connections: int = Field(
        40,
        ge=1,
        le=1_000,
        description="The most connections open at once. A few more than the default "
        "slots need, so that listing is never stuck behind work.",
        json_schema_extra={"unit": "connections"},
    )


class DataSettings(Section):
    """Where everything is kept that must outlive the process."""

    directory: Folder = Field(
        default_factory=_user_data,
        description="The directory of the identity and the journal. Losing it loses "
        "the agent and its credits, so in a container it must be a mounted volume; "
        "the image sets it to /data.",
        examples=["/var/lib/journeyman"],
        json_schema_extra={
            "option": "--data-dir",
            "default_is": "the user's data directory, "
            "`~/.local/share/journeyman` on Linux",
        },
    )
    min_free_mb: int = Field(
        64,
        ge=0,
        description="While less is free on the disk of the data directory, no new task "
        "is claimed; work in flight goes on. 64 MiB hold the results of many hours. "
        "0 watches nothing.",
        json_schema_extra={"unit": "MiB"},
    )


class StrategySettings(Section):
    """Which strategies decide about tasks and do them."""

    directory: Folder | None = Field(
        None,
        description="The directory of the strategy files that are loaded.",
        examples=["strategies"],
        json_schema_extra={
            "option": "--strategies",
            "default_is": "`./strategies` if it exists, else the ready strategies "
            "that come with Journeyman",
        },
    )
    disabled: Names = Field(
        (),
        description="Names of strategies that are loaded and shown but given no work.",
        examples=[["count_words"]],
    )
    shadow: Names = Field(
        (),
        description="Names of strategies that are asked about each task and given "
        "none: `journeyman strategies scoreboard` tells what they would have done. "
        "`journeyman strategies promote` puts one to work.",
        examples=[["word_count"]],
        json_schema_extra={"option": "--shadow"},
    )
    watch: bool = Field(
        default=False,
        description="Load the strategies anew, as `journeyman reload` does, when one "
        "of their files changes. Off, because a file that is being edited should not "
        "go to work at each save.",
    )
    installed: Names = Field(
        (),
        description="Names of strategies that installed packages bring, to load beside "
        "the files. None is loaded unless it is named here, since a package may be "
        "installed for another reason; `journeyman strategies list` shows what there "
        "is.",
        examples=[["seo_bot"]],
    )
    timeout_seconds: Seconds = Field(
        300,
        description="The longest that one task may take, where its strategy names no "
        "time of its own. Five minutes is ample for the ready strategies, and "
        "gives a slot back within reason when one hangs.",
    )
    runners: Runners = Field(
        default_factory=dict,
        description="Where single strategies run, whatever they declare: `loop`, "
        "`thread` or `process`. A process of its own has limits and can be killed; "
        "see [isolation].",
        examples=[{"count_words": "process"}],
    )
    params: Tables = Field(
        default_factory=dict,
        description="Values for the parameters of strategies, a table for each: "
        "`[strategies.params.count_words]`. The strategy checks them.",
        examples=[{"count_words": {"max_words": 50_000}}],
    )


class ScheduleSettings(Section):
    """How often the daemon does what it does by the clock."""

    discover_every_seconds: Seconds = Field(
        30,
        description="How often to look for tasks. It looks again at once while slots "
        "are free and the last look found work.",
        json_schema_extra={"option": "--discover-every"},
    )
    discover_max_seconds: Seconds = Field(
        300,
        description="The longest pause between two looks while there is nothing to "
        "do; the pause doubles up to it. Never less than `discover_every_seconds`.",
    )
    deliver_every_seconds: Seconds = Field(
        5,
        description="How often to try again what is due: claims, results and "
        "completions that did not get through.",
    )
    heartbeat_every_seconds: Seconds = Field(
        60,
        description="How often to log a summary: what was seen, wanted and done, and "
        "what was not, and why.",
    )
    topup_check_every_seconds: Seconds = Field(
        300,
        description="How often to look whether credits run short; see [topup].",
    )
    spend_every_seconds: Seconds = Field(
        300,
        description="How often strategies are asked what they want to post. Five "
        "minutes, since each post waits for people or agents anyway.",
    )
    watch_every_seconds: Seconds = Field(
        2,
        description="How often to look whether a strategy file has changed, where "
        "`strategies.watch` is on. A change counts when two looks in a row see the "
        "same, so that a file that is being written is let be.",
    )
    housekeeping_every_seconds: Seconds = Field(
        3_600,
        description="How often to fold the journal's write-ahead log into its file, "
        "to look how much room the disk has, and to forget what was passed over long "
        "ago.",
    )


class WorkSettings(Section):
    """How much to work on at once, how long, and for how little."""

    slots: int = Field(
        8,
        ge=1,
        le=256,
        description="How many tasks are worked on at once. Eight keeps a small machine "
        "busy, since most of a task's time is spent waiting for the network.",
        json_schema_extra={"unit": "tasks"},
    )
    max_tasks: int | None = Field(
        None,
        ge=1,
        description="Stop, as after SIGTERM, when so many tasks have ended.",
        examples=[30],
        json_schema_extra={
            "unit": "tasks",
            "option": "--max-tasks",
            "default_is": "no limit",
        },
    )
    once: bool = Field(
        default=False,
        description="Look for tasks once, do those, and stop. For cron and for trying "
        "a strategy out.",
        json_schema_extra={"option": "--once"},
    )
    max_attempts: int = Field(
        3,
        ge=1,
        le=100,
        description="How often a task is worked on before it counts as failed. The "
        "attempt in which the daemon was killed counts too, so a task that kills it "
        "cannot do so for ever.",
        json_schema_extra={"unit": "attempts"},
    )
    grace_seconds: Seconds = Field(
        30,
        description="How long work in flight may take to end after SIGTERM. What is "
        "not done by then continues at the next start. Give the container a longer "
        "stop time-out than this.",
    )
    min_reward: Credits = Field(
        0,
        description="Tasks that pay less are skipped. Zero takes also the tasks whose "
        "reward the network does not show.",
    )
    forget_skipped_days: Days = Field(
        30,
        description="After how long a task that was passed over, and has not changed "
        "since, is forgotten, so that the journal of a busy network does not grow for "
        "ever. One that is still listed is then decided about again. What was claimed "
        "is never forgotten.",
    )
    result_max_age_days: Days = Field(
        7,
        description="How long a result that the network has not accepted is tried "
        "again before it is given up.",
    )
