"""Every setting, in sections: its type, its bounds, its default and what it does.

The text below a setting says what it does and why its default is what it is. A
`default_is` says in words what no value in a file could say. An `option` is the
command line's name for the setting. All three reach the reference by the schema.
"""

import re
from collections.abc import Sequence
from datetime import date
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from string import Template
from typing import Annotated, Any, ClassVar, Literal, Self
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from platformdirs import user_data_path
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    SecretStr,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from journeyman.domain.credits import CREDITS_PER_USD
from journeyman.domain.retry import RetryPolicy

MAX_SECONDS = 366 * 86_400
"""A year: more is a slip of the finger, and would overflow a timer somewhere."""


def unit(name: str) -> Any:  # noqa: ANN401 - as the library's own `Field`
    """Return what names the unit of a number."""
    return Field(json_schema_extra={"unit": name})


Seconds = Annotated[
    float, Field(gt=0, le=MAX_SECONDS, allow_inf_nan=False), unit("seconds")
]
Days = Annotated[float, Field(gt=0, le=3_660, allow_inf_nan=False), unit("days")]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Bytes = Annotated[int, Field(ge=1), unit("bytes")]
Credits = Annotated[int, Field(ge=0), unit("credits")]
Cents = Annotated[int, Field(ge=0), unit("US cents")]

Names = Annotated[tuple[str, ...], Field(strict=False)]
"""A list of names; not strict, because TOML has lists and no tuples."""

Tables = dict[str, dict[str, JsonValue]]

Runners = dict[str, Literal["loop", "thread", "process", "cluster"]]
"""By the name of a strategy."""


def _expand(value: object) -> object:
    # Validation is strict, which takes a Path only; TOML and the environment have text.
    if not isinstance(value, str) or not value:
        return value
    try:
        return Path(value).expanduser()
    except RuntimeError as error:  # ~somebody, who does not exist
        raise ValueError("names an unknown home directory") from error


Folder = Annotated[Path, BeforeValidator(_expand)]
"""A path; `~` stands for the home directory."""


Folders = Annotated[tuple[Folder, ...], Field(strict=False)]
"""A list of paths; not strict, because TOML has lists and no tuples."""


def _check_address(address: str) -> str:
    try:
        parts = urlsplit(address)
        _ = parts.port  # reading it is what checks it
    except ValueError as error:
        raise ValueError(f"is not an address: {error}") from error
    if parts.scheme not in {"http", "https"}:
        raise ValueError("must begin with http:// or https://")
    if not parts.hostname:
        raise ValueError("has no host; write for example https://network.example")
    if parts.username is not None or parts.password is not None:
        raise ValueError("must not contain a user name or a password")
    if parts.query or parts.fragment:
        raise ValueError("must not contain a query (?) or a fragment (#)")
    if any(letter.isspace() or not letter.isprintable() for letter in address):
        raise ValueError("must not contain spaces or control characters")
    return address.rstrip("/")


Address = Annotated[
    str,
    AfterValidator(_check_address),
    Field(json_schema_extra={"format": "uri"}),
]
"""An http or https address with a host; kept without its last slash."""


def _known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ValueError, OSError) as error:  # ZoneInfoNotFoundError is a KeyError
        raise ValueError(f"is not the name of a time zone: {error}") from error
    except KeyError as error:
        raise ValueError(
            "is not a known time zone; write for example Europe/Berlin"
        ) from error
    return name


def _checked_cron(text: str) -> str:
    fields = text.split()
    if len(fields) != CRON_FIELDS:
        raise ValueError("must have five fields: minute, hour, day, month, weekday")
    # A digit is a trap: for crontab 0 is Sunday, and for APScheduler it is Monday.
    if any(map(str.isdigit, fields[-1])):
        raise ValueError("must name weekdays by their names, such as mon-fri")
    return text


def _checked_template(text: str) -> str:
    template = Template(text)
    if not template.is_valid():
        raise ValueError("has a $ that begins no name; write $$ for the sign itself")
    unknown = [name for name in template.get_identifiers() if name not in PLACEHOLDERS]
    if unknown:
        known = ", ".join(f"${name}" for name in PLACEHOLDERS)
        raise ValueError(f"contains ${unknown[0]}; there are {known}")
    return text


def _checked_input(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        _checked_template(value)
    elif isinstance(value, dict):
        for one in value.values():
            _checked_input(one)
    elif isinstance(value, list):
        for one in value:
            _checked_input(one)
    return value


CRON_FIELDS = 5
PLACEHOLDERS = ("date", "day", "month", "time", "week", "weekday", "year")
"""What a text of a posting plan may name, behind a dollar sign."""
TimeZone = Annotated[str, AfterValidator(_known_zone)]
"""A name of the IANA database."""

Table = dict[str, JsonValue]
"""Where the values of one action go."""


def _usable(tables: dict[str, Table]) -> dict[str, Table]:
    # Few people need it, and the client is slow to import.
    from journeyman.network.service_model.configured import (  # noqa: PLC0415
        configured_shape,
    )

    for action, table in tables.items():
        configured_shape(action, table)
    return tables


def _readable(places: dict[str, str]) -> dict[str, str]:
    from journeyman.network.service_model.configured import (  # noqa: PLC0415
        configured_places,
    )

    configured_places(places)
    return places


def _sendable(headers: dict[str, str], *, login: bool = False) -> dict[str, str]:
    from journeyman.network.headers import (  # noqa: PLC0415 - see above
        OWN_HEADERS,
        header_problems,
    )

    own = OWN_HEADERS - {"authorization"} if login else OWN_HEADERS
    # No environment variable can have a hyphen, and few gateways take an underscore.
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    problems = [f"headers{problem}" for problem in header_problems(dict(headers), own)]
    if problems:
        raise ValueError("; ".join(problems))
    return headers


Headers = Annotated[dict[str, str], AfterValidator(_sendable)]
"""By name."""
LoginHeaders = Annotated[dict[str, str], AfterValidator(partial(_sendable, login=True))]
"""By name; `Authorization` may be one of them."""


class Section(BaseModel):
    """The base of all sections: no unknown key, no conversion, no change."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class NetworkSettings(Section):
    """Which network to join, and how patient and how polite to be with it."""

    base_url: Address | None = Field(
        None,
        examples=["https://network.example"],
        json_schema_extra={
            "option": "--base-url",
            "default_is": "not set; `journeyman run` asks for it",
        },
    )
    """The address of the network. There is no default, because the choice of a network
    is the owner's: the token goes there and nowhere else."""
    portal_url: Address | None = Field(
        None,
        examples=["https://portal.example"],
        json_schema_extra={"default_is": "the same as `base_url`"},
    )
    """The address of the portal, which hosts the discovery documents."""
    headers: Headers = Field(
        default_factory=dict, examples=[{"apikey": "the key of the gateway"}]
    )
    """Headers that a gateway before the network demands with each request, such as an
    API key that it gives to everybody. They are sent to the origin of `base_url` alone,
    and are never shown or logged. A value may come from the environment, such as
    `JOURNEYMAN_NETWORK__HEADERS__X_API_KEY`, or, with `_FILE` behind it, from a file;
    an underscore in a name stands for a hyphen."""
    limit: Annotated[int, Field(ge=1, le=1_000), unit("tasks")] = 50
    """How many tasks to ask for in one listing. The contract shows no maximum; 50 fills
    every slot several times and stays a small answer."""
    total_timeout_seconds: Seconds = 30
    """The longest that one request may take in all. After that its outcome is unknown,
    and is reconciled."""
    connect_timeout_seconds: Seconds = 5
    """The longest to wait for a connection. Short, because a request that never
    connected is safe to repeat."""
    max_body_bytes: Bytes = 1_048_576
    """The largest answer that is read; the rest is refused. It keeps a broken network
    from filling the memory."""
    max_connections: Annotated[int, Field(ge=1, le=1_000), unit("connections")] = 40
    """The most connections open at once. A few more than the default slots need, so
    that listing is never stuck behind work."""


class ContractSettings(Section):
    """How requests are written, and listings read, where the contract shows no body."""

    openapi: Folder | None = Field(
        None,
        examples=["network.openapi.json"],
        json_schema_extra={"option": "--openapi", "default_is": "none"},
    )
    """An OpenAPI 3 description of the network as JSON or YAML, such as its operator
    gives. The bodies of actions are written as it says; it outranks one that the
    network publishes."""
    requests: Annotated[dict[str, Table], AfterValidator(_usable)] = Field(
        default_factory=dict, examples=[{"claim": {"task_id": "job.uuid"}}]
    )
    """How an action is written, where Journeyman cannot find out by itself: a table for
    each action, such as `[contract.requests.claim]`, with the place of each value. It
    is used as it is, and nothing else is tried. `journeyman contract` prints one to
    begin with; docs/reference/service-model.md explains the fields."""
    listing: Annotated[dict[str, str], AfterValidator(_readable)] = Field(
        default_factory=dict,
        examples=[{"records": "board.members", "id": "wish.no"}],
    )
    """Where a listing has its tasks, and these their fields, where Journeyman cannot
    find out by itself: `records` is the place of the list, all others are places in a
    record of it. What is not named is found out. `journeyman contract` prints a table
    to begin with; docs/reference/service-model.md explains the fields."""


class SuggestionSettings(Section):
    """Which language model may say what a refusal means that no rule can read."""

    model: str = Field("", examples=["openai:gpt-5-mini"])
    """The model, as pydantic-ai names it; it needs the extra `llm`. Empty, and so off,
    because the words of a refusal go to whoever runs the model, and a call costs money.
    It is shown these words, without values of ours, and the names that we sent; it
    proposes names of fields, which are then tried. There are five calls at most for
    each action."""
    base_url: Address | None = Field(
        None,
        examples=["http://localhost:11434/v1"],
        json_schema_extra={"default_is": "the provider's own"},
    )
    """The address of a server that speaks as OpenAI's does, such as one on this
    machine. A key is sent there over https only, or to this machine."""
    api_key_env: str = Field("", examples=["OPENAI_API_KEY"])
    """The environment variable with the key, which itself is never a setting. With
    neither this nor a file, the provider uses its own variable."""
    api_key_file: Folder | None = Field(
        None, examples=["/run/secrets/llm"], json_schema_extra={"default_is": "none"}
    )
    """The file with the key."""
    output: Literal["tool", "native", "prompted"] = "tool"
    """How the model is made to answer in our form. `prompted` suits models without
    tools."""


class DataSettings(Section):
    """Where everything is kept that must outlive the process."""

    directory: Folder = Field(
        default_factory=lambda: user_data_path("journeyman", appauthor=False),
        examples=["/var/lib/journeyman"],
        json_schema_extra={
            "option": "--data-dir",
            "default_is": "the user's data directory, "
            "`~/.local/share/journeyman` on Linux",
        },
    )
    """The directory of the identity and the journal. Losing it loses the agent and its
    credits, so in a container it must be a mounted volume; the image sets it to
    /data."""
    min_free_mb: Annotated[int, Field(ge=0), unit("MiB")] = 64
    """While less is free on the disk of the data directory, no new task is claimed;
    work in flight goes on. 64 MiB hold the results of many hours. 0 turns this off."""
    backups: Annotated[int, Field(ge=0, le=100), unit("copies")] = 3
    """How many copies of the journal are kept in `backups/` of the data directory; one
    is made each day, after all of the journal was checked. Each takes as much room as
    the journal. Three go back far enough for an owner who looks after a weekend. 0
    makes none, and checks nothing."""


class StrategySettings(Section):
    """Which strategies decide about tasks and do them."""

    directory: Folder | None = Field(
        None,
        examples=["strategies"],
        json_schema_extra={
            "option": "--strategies",
            "default_is": "`./strategies` if it exists, else the ready strategies "
            "that come with Journeyman",
        },
    )
    """The directory of your strategy files. A strategy of its own name replaces a ready
    one; any two others of one name are refused."""
    more_directories: Folders = Field((), examples=[["/srv/team/strategies"]])
    """Directories of strategy files that are loaded beside that one, such as those of a
    team."""
    ready: bool = False
    """Load the ready strategies, too. Off, because whoever names a directory may want
    these strategies and no others; without any directory they are loaded anyway, and
    the container's image sets it."""
    disabled: Names = Field((), examples=[["count_words"]])
    """Names of strategies that are loaded and shown but given no work."""
    shadow: Names = Field(
        (), examples=[["word_count"]], json_schema_extra={"option": "--shadow"}
    )
    """Names of strategies that are asked about each task and given none: `journeyman
    strategies scoreboard` shows what they would have done. `journeyman strategies
    promote` activates one."""
    watch: bool = False
    """Reload the strategies, as `journeyman reload` does, when one of their files
    changes. Off, because a file that is being edited should not be used after each
    save."""
    installed: Names = Field((), examples=[["seo_bot"]])
    """Names of strategies that installed packages bring, to load beside the files. None
    is loaded unless it is named here, since a package may be installed for another
    reason; `journeyman strategies list` shows what there is."""
    timeout_seconds: Seconds = 300
    """The longest that one task may take, where its strategy does not set one.
    Five minutes is ample for the ready strategies, and gives a slot back within reason
    when one hangs."""
    hook_timeout_seconds: Seconds = 10
    """The longest that one call of `on_start`, `on_stop`, `on_claim`, `on_outcome`,
    `on_result` or `post` may take. The start and the end of the daemon wait for the
    first two, so this stays well under `work.grace_seconds`."""
    trusted: Names = Field((), examples=[["count_words"]])
    """Names of strategy files, folders and installed strategies whose code may run in
    the daemon's own process, beside the token: those that you have read. All others,
    but the ready strategies as they were shipped, run in processes of their own and are
    confined; see [isolation]. `*` trusts all, as tests do."""
    runners: Runners = Field(
        default_factory=dict, examples=[{"count_words": "process"}]
    )
    """Where single strategies run, whatever they declare: `loop`, `thread`, `process`
    or `cluster`. The first two are for strategies that are trusted. A process of its
    own has limits and can be killed; see [isolation]. On the [cluster] it is the same
    process, on another machine."""
    params: Tables = Field(
        default_factory=dict, examples=[{"count_words": {"max_words": 50_000}}]
    )
    """Values for the parameters of strategies, a table for each:
    `[strategies.params.count_words]`. The strategy checks them."""


class IsolationSettings(Section):
    """What a strategy that runs in its own process may use.

    `strategies.runners` and the strategies themselves decide which do so, and
    `strategies.timeout_seconds` how long they may take.
    """

    cpu_seconds: Seconds = 300
    """The CPU time of one task, for each process that works on it; then it is killed.
    As long as a task may take by default, so that it stops what computes in many
    threads at once."""
    memory_mb: Annotated[int, Field(ge=64), unit("MiB")] = 512
    """The memory of a strategy's process, and of all that it starts together. Ample for
    text work, and eight of them fit a small machine. `needs.memory_mb` of a strategy
    overrides it."""
    file_mb: Annotated[int, Field(ge=1), unit("MiB")] = 256
    """The largest file that a strategy may write."""
    open_files: Annotated[int, Field(ge=32), unit("files")] = 256
    """How many files and sockets one process may have open."""
    processes: Annotated[int, Field(ge=0), unit("processes")] = 32
    """How many processes a strategy may start beside its own. It is checked twice a
    second, so a burst may be larger before it is ended."""
    output_bytes: Bytes = 65_536
    """How much of what a strategy prints for one task goes to the log, an event for
    each line, which counts as 16 bytes at least; and how much it may log. The rest is
    left out and counted. In a process, 256 times as much ends it."""
    warm_children: Annotated[int, Field(ge=0, le=64), unit("processes")] = 2
    """How many processes of each strategy may wait for its next task, which then begins
    within a millisecond instead of some ten."""
    idle_seconds: Seconds = 10
    """How long a process waits for its next task; then it ends. One is started when it
    is needed, so a daemon that has nothing to do has no such processes."""
    tasks_per_child: Annotated[int, Field(ge=1), unit("tasks")] = 100
    """A process is replaced after so many tasks, so that what it leaks does not add up.
    1 gives each task a fresh one."""
    environment: Names = Field((), examples=[["OPENAI_API_KEY"]])
    """Variables of the daemon's environment that strategies get beside PATH, LANG,
    LC_*, TZ and the places of certificates, such as an API key. Journeyman's own are
    never passed on."""


class ClusterSettings(Section):
    """The Dask cluster that strategies may run on; needs the extra `cluster`.

    Which strategies do, `strategies.runners` says. Whoever reaches a scheduler can run
    code on its workers: use TLS, unless the network between is your own.
    """

    scheduler: (
        Annotated[str, Field(pattern=r"^(tcp|tls)://[^/\s]+:[0-9]{1,5}$")] | None
    ) = Field(
        None,
        examples=["tls://scheduler.example:8786"],
        json_schema_extra={"default_is": "no cluster"},
    )
    """The address of the scheduler: `tcp://` or `tls://`, a host and a port."""
    tls_ca_file: Folder | None = Field(
        None,
        examples=["/etc/journeyman/ca.pem"],
        json_schema_extra={"default_is": "none, for `tcp://`"},
    )
    """The certificate of the authority that has signed the scheduler's."""
    tls_cert_file: Folder | None = Field(
        None,
        examples=["/etc/journeyman/cert.pem"],
        json_schema_extra={"default_is": "none, for `tcp://`"},
    )
    """Our own certificate, which the scheduler asks for."""
    tls_key_file: Folder | None = Field(
        None,
        examples=["/etc/journeyman/key.pem"],
        json_schema_extra={"default_is": "none, for `tcp://`"},
    )
    """Its private key. Not in the data directory, which what speaks to the cluster may
    not read."""
    connect_seconds: Seconds = 10
    """How long the scheduler may take to answer; then it counts as lost, and is tried
    again."""
    wait_seconds: Seconds = 300
    """How long a claimed task waits for a worker that is free and has what the strategy
    needs; then it is put off for as long. With `work.max_attempts` it says how long a
    cluster may be away before tasks fail."""
    max_slots: Annotated[int, Field(ge=1, le=1_024), unit("tasks")] = 256
    """How many tasks are worked on there at once, at most. There are as many slots,
    beside `work.slots`, as the workers have threads, up to this."""


class QuarantineSettings(Section):
    """When a strategy, or a kind of its work, is given no more, and for how long."""

    errors: Annotated[int, Field(ge=1, le=1_000), unit("errors")] = 5
    """After this many errors and time-outs within `window_seconds` a strategy is
    quarantined: it is given no work. Five are not chance, and cost little. So many
    results of one kind that together brought nothing, net of their cost, end its work
    of this kind alone; twice as many once such work was accepted."""
    window_seconds: Seconds = 600
    """How long an error counts. Ten minutes tell a strategy that is broken from one
    that meets an odd task now and then."""
    initial_seconds: Seconds = 60
    """How long the first quarantine lasts. Then the strategy is tried with one task; if
    that succeeds, it works as before. Short, because the cause is often outside, such
    as a service that it calls."""
    max_seconds: Seconds = 3_600
    """Each quarantine after a failed trial lasts twice as long as the one before, up to
    this: a broken strategy costs at most one task an hour."""
    max_wait_seconds: Seconds = 3_600
    """How long a claimed task waits for a strategy in quarantine, where no other wants
    it; then it counts as failed. An hour lets an owner fix the strategy, and does not
    keep the task from others for a day."""


class RecordingSettings(Section):
    """Which decisions are recorded, for `journeyman replay`."""

    days: Days = 30
    """How long a decision about a task is kept, with what strategies in shadow decided.
    A month shows what a new version of a strategy would have done."""
    max_mb: Annotated[int, Field(ge=0, le=100_000), unit("MiB")] = 64
    """How large the recordings may grow; the oldest go first. 64 MiB hold some 50,000
    tasks with short texts. 0 records nothing."""
    max_text_characters: Annotated[
        int, Field(ge=0, le=1_000_000), unit("characters")
    ] = 10_000
    """Longer texts of a task are cut in the recording, and a longer input is left out.
    Such a task is marked when it is replayed."""


class PromotionSettings(Section):
    """When a strategy that was promoted is demoted automatically."""

    watch_tasks: Annotated[int, Field(ge=0, le=10_000), unit("tasks")] = 20
    """How many of its first tasks are watched after `journeyman strategies promote`.
    Twenty tell a strategy that fails often from one that had bad luck. 0 turns this
    off."""
    failure_margin: Annotated[Share, unit("share, 0 to 1")] = 0.2
    """It is demoted when the failure rate of these tasks exceeds that of all strategies
    before by more than this, and at least three have failed. A failure is a task that
    failed, or whose result the network refused."""


class ScheduleSettings(Section):
    """How often the daemon does what it does at an interval."""

    discover_every_seconds: Seconds = Field(
        30, json_schema_extra={"option": "--discover-every"}
    )
    """How often to look for tasks. It looks again at once while slots are free and the
    last look found work."""
    discover_max_seconds: Seconds = 300
    """The longest interval between two looks while there is nothing to do; the interval
    doubles up to it. Never less than `discover_every_seconds`."""
    deliver_every_seconds: Seconds = 10
    """How often to try again what is due: claims, results and completions that did not
    get through. Each look wakes the daemon, also where there is nothing."""
    heartbeat_every_seconds: Seconds = 60
    """How often to log a summary: what was seen, wanted and done, and what was not, and
    why."""
    topup_check_every_seconds: Seconds = 300
    """How often to look whether credits run short; see [topup]."""
    spend_every_seconds: Seconds = 300
    """How often strategies are asked what they want to post. Five minutes, since each
    post waits for people or agents anyway."""
    follow_every_seconds: Seconds = 600
    """How often the listings are asked for what became of our posts, where discovery
    does not show it. Never while no post is open."""
    watch_every_seconds: Seconds = 2
    """How often to look whether a strategy file has changed, where `strategies.watch`
    is on. A change counts when two looks in a row see the same, so that a file that is
    still being written is not loaded."""
    housekeeping_every_seconds: Seconds = 3_600
    """How often to checkpoint the journal's write-ahead log, to check the free disk
    space, and to forget tasks that were skipped long ago."""


class WorkSettings(Section):
    """How much to work on at once, how long, and for how little."""

    slots: Annotated[int, Field(ge=1, le=256), unit("tasks")] = 8
    """How many tasks are worked on at once. Eight keeps a small machine busy, since
    most of a task's time is spent waiting for the network."""
    max_tasks: Annotated[int, Field(ge=1), unit("tasks")] | None = Field(
        None,
        examples=[30],
        json_schema_extra={"option": "--max-tasks", "default_is": "no limit"},
    )
    """Stop, as after SIGTERM, when so many tasks have ended."""
    once: bool = Field(False, json_schema_extra={"option": "--once"})
    """Look for tasks once, do those, and stop. For cron and for trying a strategy
    out."""
    max_attempts: Annotated[int, Field(ge=1, le=100), unit("attempts")] = 3
    """How often a task is worked on before it counts as failed. The attempt in which
    the daemon was killed counts too, so a task that kills it cannot do so forever."""
    grace_seconds: Seconds = 30
    """How long work in flight may take to end after SIGTERM. What is not done by then
    continues at the next start. Give the container a longer stop time-out than this."""
    min_reward: Credits = 0
    """Tasks that pay less are skipped. Zero takes also the tasks whose reward the
    network does not show."""
    forget_skipped_days: Days = 30
    """After how long a skipped task that has not changed since is forgotten, so that
    the journal of a busy network does not grow forever. One that is still listed is
    then decided about again. What was claimed is never forgotten."""
    keep_texts_days: Days = 90
    """How long the texts of an ended task and its result are kept, and what answers of
    the network gave for its later requests. They are most of the journal. The task
    itself, and what was paid for it, stay."""
    keep_events_days: Days = 365
    """How long every move of an ended task is kept; after that, only the last."""
    keep_tasks_days: Days = 365
    """How long anything of an ended task is kept. After that, and not before its texts
    and moves have gone, it is known by a number of 8 bytes, so that it is not claimed
    again when it is listed again, and its ledger entries go into archives, which are
    never deleted: `archives/ledger-2026-11.jsonl.gz`. Entries of the last 40 days, and
    the last 5,000, stay."""
    max_journal_mb: Annotated[int, Field(ge=0, le=10_000_000), unit("MiB")] = 4_096
    """How large the journal may grow with that. Beyond it texts, then moves,
    then all else of ended tasks go earlier, the oldest first, though never within a
    day. What stays, whatever is set: the ledger of 40 days, 0.8 KB a paid task, and 22
    bytes for each task for ever. 0 sets no limit."""
    archive: bool = False
    """Keep what is taken out of the journal so, in compressed files of the data
    directory, one for each month: `archives/2026-11.jsonl.gz`. A task takes about a
    tenth of what it took in the journal. False: it is gone."""
    max_archives_mb: Annotated[int, Field(ge=0, le=10_000_000), unit("MiB")] = 10_240
    """How large all archives together may grow. Beyond it the oldest are deleted, never
    the newest. 0 sets no limit."""
    result_max_age_days: Days = 7
    """How long a result that the network has not accepted is tried again before it is
    given up."""
    write_off_days: Days = 90
    """After how long a delivered result of which nobody says whether it is paid is not
    counted as owed any more. Longer than most reviews; a network that takes its time
    needs more. Credits that come later are booked all the same."""


class RankingSettings(Section):
    """Which of the tasks that wait for a slot is claimed first."""

    order: Literal["expected", "reward", "first"] = "expected"
    """`expected`: the most credits for each second of a slot, by the reward, what the
    strategy says, and how such tasks went before. `reward`: the best paid. `first`: in
    the order in which they were seen."""
    exploration: Annotated[Share, unit("standard deviations")] = 0.5
    """How much the order `expected` explores kinds of task of which little is known: 0
    never tries what looks worse, 1 tries it as often as the evidence leaves room for it
    to be better."""


class RateLimitSettings(Section):
    """How requests pause while the network is overloaded, down, or lacks endpoints."""

    max_retry_after_seconds: Seconds = 3_600
    """The longest pause that the network may ask for (`Retry-After`); a longer one is
    cut to this. An hour is more than any rate limit needs, and keeps a mistake of the
    network from stopping the agent for a year."""
    failures: Annotated[int, Field(ge=1, le=100), unit("failures")] = 5
    """After this many failures in a row the circuit breaker of an endpoint, or of the
    whole network, opens: only a probe is sent now and then. Requests that were under
    way together count as one. Five are not chance, and cost a dead network
    little."""
    probe_every_seconds: Seconds = 60
    """How often a network that is down, an endpoint that is broken, or a token that is
    refused is tried again: at most one request in this time. Work resumes at most this
    long after it recovers."""
    absent_recheck_seconds: Seconds = 3_600
    """The longest time between two checks for an endpoint that the network does not
    have. The first come sooner; see `retry.absent_seconds`."""


class RetrySettings(Section):
    """When something is tried again that failed, was refused, or had to wait."""

    base_seconds: Seconds = RetryPolicy.base_seconds
    """The unit of the back-off: the first wait is drawn between half and twice this,
    and the limit doubles with each attempt."""
    max_seconds: Seconds = RetryPolicy.max_seconds
    """The longest back-off. Five minutes spare the network, and work does not stand
    still for long after an outage."""
    max_unreachable_seconds: Seconds = RetryPolicy.max_unreachable_seconds
    """The longest back-off while nobody answers. Shorter, because the circuit breaker
    spares the network then, and work should resume within a minute once it answers
    again."""
    jitter: Annotated[Share, unit("share, 0 to 1")] = RetryPolicy.jitter
    """The share of a fixed wait that is added at random, so that agents which were
    stopped together do not return together."""
    max_jitter_seconds: Seconds = RetryPolicy.max_jitter_seconds
    """The most that `jitter` adds. Half a minute spreads any crowd."""
    claim_refusals: Annotated[int, Field(ge=1, le=1_000), unit("answers")] = (
        RetryPolicy.claim_refusals
    )
    """How many 403 or 404 answers in a row end a claim. One is never trusted: gateways
    give them for a service that restarts."""
    result_refusals: Annotated[int, Field(ge=1, le=10_000), unit("answers")] = (
        RetryPolicy.result_refusals
    )
    """The same for a submission or a completion. Work that is done is worth more
    patience: some hours of a gateway that says "no such task". A third of them ends a
    submission while the network accepts those of other tasks."""
    contradictions: Annotated[int, Field(ge=1, le=1_000), unit("answers")] = (
        RetryPolicy.contradictions
    )
    """How many other refusals in a row end work that is done, where they do not judge
    it. Two, because one 400 or 409 may be an accident, and the same twice is not."""
    contradiction_seconds: Seconds = RetryPolicy.contradiction_seconds
    """How long to wait between two of them."""
    review_seconds: Seconds = RetryPolicy.review_seconds
    """How soon to ask again after the network said that it looks at the work. Each
    later wait is longer by half, up to `max_seconds`."""
    refusal_seconds: Seconds = RetryPolicy.refusal_seconds
    """The shortest wait between two such answers: a restart takes its time."""
    paused_seconds: Seconds = RetryPolicy.paused_seconds
    """How long a task waits at most before it asks again whether its request may be
    sent. Ten minutes, because another request may end a long pause early."""
    registrations_per_start: Annotated[int, Field(ge=1, le=100), unit("attempts")] = (
        RetryPolicy.registrations_per_start
    )
    """How often a start tries to register before it gives up and says why. Three
    outlast a short fault; a wrong address should be reported soon."""
    unknown_registrations_per_day: Annotated[
        int, Field(ge=1, le=100), unit("registrations")
    ] = RetryPolicy.unknown_registrations_per_day
    """How many registrations of unknown outcome are sent in a day (UTC). Each could
    make another agent on a network that ignores the idempotency key."""
    quarantine_seconds: Seconds = RetryPolicy.quarantine_seconds
    """How often a claimed task looks for a strategy while its own is in quarantine: a
    reload may have brought another one that wants it."""
    bug_seconds: Seconds = RetryPolicy.bug_seconds
    """How long a task is left alone after a bug of Journeyman, so that it cannot
    spin."""
    token_seconds: Seconds = RetryPolicy.token_seconds
    """How soon a second request confirms that the token is refused. Soon, because a
    single 401 is never trusted and work waits meanwhile."""
    probe_seconds: Seconds = RetryPolicy.probe_seconds
    """How long other requests wait while a probe of what is failing is under way; see
    `rate_limit.probe_every_seconds`."""
    absent_seconds: Seconds = RetryPolicy.absent_seconds
    """How soon to check again for an endpoint that the network lacks, since it may only
    be restarting. Each later check waits ten times as long, up to
    `rate_limit.absent_recheck_seconds`."""
    post_seconds: Seconds = RetryPolicy.post_seconds
    """How often to look for a first post that no listing shows yet; see
    `posting.verify_first`."""
    top_up_seconds: Seconds = RetryPolicy.top_up_seconds
    """How long to wait after a request for a payment page that gave none. An hour,
    because each request leaves a row in the journal."""

    def policy(self) -> RetryPolicy:
        """Return these figures as the policy that every layer takes."""
        return RetryPolicy(**self.model_dump())


Cron = Annotated[str, AfterValidator(_checked_cron)]
"""Five fields, as of crontab."""
PlanText = Annotated[str, AfterValidator(_checked_template)]
"""A text in which `$date` and the like stand for the slot's."""


class PlanSettings(Section):
    """A task that is posted again and again."""

    title: Annotated[PlanText, Field(min_length=1)]
    """What is to be done, in a few words."""
    reward: Annotated[int, Field(ge=1), unit("credits")]
    """What each post pays."""
    per_month_credits: Credits
    """The most that this plan spends in a month, within all other limits."""
    cron: Cron = ""
    """When to post, as five fields of crontab, in `budget.time_zone`: `0 9 * * mon`."""
    every_seconds: Annotated[float, Field(ge=60, le=MAX_SECONDS)] | None = None
    """Or how often: a minute or more, counted from midnight UTC."""
    description: PlanText = ""
    """What is to be done, in full; else the title."""
    kind: str = ""
    """The network's word for such work."""
    tags: Names = ()
    """Words by which others find it."""
    input: Annotated[JsonValue, AfterValidator(_checked_input)] = None
    """What to work on."""
    growth: bool = False
    """It is posted to be seen, and only while that brings more than it costs: see
    [growth]."""
    max_posts: Annotated[int, Field(ge=1)] | None = None
    """The plan ends after so many posts."""
    until: Annotated[date, Field(strict=False)] | None = None
    """The plan ends when this day ends, in `budget.time_zone`."""

    @model_validator(mode="after")
    def _one_rhythm(self) -> Self:
        if bool(self.cron) == (self.every_seconds is not None):
            raise ValueError("needs either cron or every_seconds")
        return self


def _named(plans: dict[str, PlanSettings]) -> dict[str, PlanSettings]:
    for name in plans:
        if not PLAN_NAME.fullmatch(name):
            raise ValueError(
                f"names a plan {name!r}; use up to 40 of a-z, 0-9, _ and -, and begin "
                "with a letter or a digit"
            )
    return plans


Plans = Annotated[dict[str, PlanSettings], AfterValidator(_named)]
PLAN_NAME = re.compile("[a-z0-9][a-z0-9_-]{0,39}")


class PostingSettings(Section):
    """Whether tasks are posted at all, and how the first one is."""

    enabled: bool = True
    """Whether tasks may be posted: by a command, or by a strategy. What each may cost
    is in [budget]."""
    verify_first: bool = True
    """The first post on a network is made alone: a second is sent only after the first
    was seen in a listing, or the balance changed as expected. The contract does not
    show what posting does; it may mean something else."""
    follow_days: Days = 30
    """For how long a post is looked for in the listings, until its end is known."""
    late_seconds: Seconds = 3_600
    """For how long a slot of a plan that was missed is made up for, such as after a
    restart. An hour, since a daily question is of little use in the evening."""
    plan: Plans = Field(
        default_factory=dict,
        examples=[
            {
                "weekly": {
                    "title": "Proofread the notes of $week",
                    "reward": 5,
                    "per_month_credits": 25,
                    "cron": "0 9 * * mon",
                }
            }
        ],
    )
    """Tasks to post again and again: a table for each, such as
    `[posting.plan.weekly]`. docs/how-to/spend.md explains the fields. Each slot has one
    post, across restarts and lost answers; one that was not posted because of a limit
    is tried again for `late_seconds`."""


class GrowthSettings(Section):
    """When a post for growth is worth its cost; docs/how-to/spend.md explains it.

    It concerns the plans with `growth = true` alone. The contract says that credits are
    for growth, too, and shows nothing that a post brings: it is measured.
    """

    enabled: bool = False
    """Whether plans with `growth = true` post at all."""
    share: Annotated[Share, unit("share, 0 to 1")] = 0.1
    """The most that growth spends, of what work earned in the last 30 days. A tenth:
    what is tried in vain is hardly missed."""
    trials: Annotated[int, Field(ge=2, le=50), unit("posts")] = 5
    """Posts of a plan that are measured before it is judged, and again each 30 days.
    With fewer, chance decides."""
    window_hours: Annotated[float, Field(gt=0, le=168), unit("hours")] = 24
    """For how long after a post its effect is looked for. A day, since earnings follow
    the hours of the day."""


class BudgetSettings(Section):
    """What the daemon may spend; every limit is checked before the request."""

    reserve_credits: Credits = 20
    """The floor that is never spent. A fifth of the starter credits, so that a mistake
    leaves enough to go on."""
    low_credits: Credits = 40
    """Below this, credits are low: the posting plan and strategies post nothing, and
    what you post yourself still goes, down to the reserve. Work goes on in any case."""
    per_hour_credits: Credits = 50
    """The most that is spent on posts in one hour. As much as in a day, and so without
    an effect until you lower it, where posts should be spread over the day."""
    per_day_credits: Credits = 50
    """The most that is spent on posts in one day."""
    per_month_credits: Credits = 500
    """The most that is spent on posts in one month: ten full days, so that a mistake
    that nobody sees does not go on for all of them."""
    per_post_credits: Credits = 25
    """The most that one posted task may cost."""
    posts_per_day: Annotated[int, Field(ge=0), unit("posts")] = 10
    """The most tasks that are posted in one day. It bounds a strategy that posts in a
    loop."""
    per_strategy_credits: Credits = 10
    """The most that one strategy may spend on posts in one day, within the other
    limits. Low, so that a new strategy file cannot spend the day's budget; with 0 no
    strategy can post."""
    strategy_credits: dict[str, Credits] = Field(
        default_factory=dict, examples=[{"proofreading": 25}]
    )
    """The same for single strategies, by name."""
    cost_per_day_credits: Annotated[
        float, Field(ge=0, allow_inf_nan=False), unit("credits")
    ] = 500
    """What one strategy may cost outside of the network in one day, such as a language
    model, as it reports by `ctx.report_cost`: 5 US dollars' worth. One that has cost as
    much is given no new task until the next day; work in flight is finished, so a few
    tasks more may be paid for."""
    unexplained_per_day_credits: Credits = 50
    """The most that may leave the balance in one day without a cause of ours. Past it,
    nothing is posted and no payment page is asked for until the next day, since
    somebody else may be spending with the token; work goes on. As much as a day's
    posts, so that small fees which a network does not name stop nothing."""
    time_zone: TimeZone = Field("UTC", examples=["Europe/Berlin"])
    """Whose hours, days and months these and those of [topup] are, by the name in the
    IANA database."""


class CurrencySettings(Section):
    """The owner's currency, in which profit is shown beside credits."""

    code: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = Field("USD", examples=["EUR"])
    """Its code in ISO 4217."""
    credits_per_unit: Annotated[
        float, Field(gt=0, allow_inf_nan=False), unit("credits")
    ] = float(CREDITS_PER_USD)
    """How many credits one unit of it is worth. The contract has 100 for one US
    dollar."""


class PackSettings(Section):
    """A pack of credits that a top-up may ask for; its name is its price id."""

    credits: Annotated[int, Field(ge=1), unit("credits")]
    """How many it has."""
    cents: Annotated[int | None, Field(ge=1), unit("US cents")] = None
    """Its price. By default a cent for each credit, as the contract has it."""
    plan: Annotated[str, Field(min_length=1)] = "credit_pack"
    """The `plan` of its checkout request. A subscription is refused."""
    label: str = ""
    """What the person who pays reads; by default `product_label`."""
    reason: str = ""
    """Why its price is not a cent for each credit, such as a discount."""

    @model_validator(mode="after")
    def _is_plausible(self) -> Self:
        if "subscri" in self.plan.lower():
            raise ValueError(
                "is a subscription; a pack is paid once. To ask for one yourself, run "
                "journeyman topup --credits N --subscription"
            )
        if self.cents not in (None, self.credits) and not self.reason:
            raise ValueError(
                f"costs {self.cents} cents for {self.credits} credits, which is not "
                "1 USD for 100 credits; if it is right, say why in `reason`"
            )
        return self


class TopUpSettings(Section):
    """Whether more credits may be asked for; Journeyman itself never pays."""

    mode: Literal["off", "ask", "auto"] = "off"
    """What happens when credits run short. `off`: nothing. `ask`: a top-up is proposed,
    and the payment page requested when the owner runs `journeyman topup approve`.
    `auto`: the page is requested, within the caps below. In every mode a person
    pays."""
    below_credits: Credits = 20
    """Credits run short below this. The default is the reserve, below which nothing can
    be posted."""
    target_credits: Credits = 100
    """The smallest pack is taken that lifts the credits over this. The default is what
    a new agent starts with."""
    packs: dict[str, PackSettings] = Field(
        default_factory=dict, examples=[{"price_credits_500": {"credits": 500}}]
    )
    """The packs to choose from, by price id. Without any, those that `journeyman topup
    packs --read` found; without these too, the one of `price_id` and `credits`."""
    expires_after_hours: Annotated[
        float, Field(gt=0, le=24 * 366, allow_inf_nan=False), unit("hours")
    ] = 24.0
    """How long a proposal waits for approval and a page for payment, and how long a
    top-up that was declined is not proposed again. A day, as payment pages have it."""
    credits: Annotated[int, Field(ge=1), unit("credits")] = 500
    """How much to ask for where there are no packs: 5 US dollars' worth."""
    plan: Annotated[str, Field(min_length=1)] = "credit_pack"
    """The `plan` of the checkout request. An assumption: the contract does not show
    which values are allowed."""
    price_id: Annotated[str, Field(min_length=1)] = "price_custom"
    """The `price_id` of the checkout request. An assumption: the contract shows no list
    of prices."""
    per_day_cents: Cents = 500
    """The most that is asked for in one day, in `budget.time_zone`."""
    per_month_cents: Cents = 2_000
    """The most that is asked for in one month, in `budget.time_zone`."""
    product_label: str = "Journeyman credits"
    """The `product_label` of the checkout request: what the person who pays reads."""
    source: str = "journeyman"
    """The `source` of the checkout request: who asked for it."""


class LogSettings(Section):
    """What the log looks like and how much it says."""

    format: Literal["auto", "json", "text"] = "auto"
    """`json` is one object a line, for machines. `text` is for people. `auto` is text
    on a terminal and json elsewhere."""
    level: Literal["debug", "info", "warning", "error"] = "info"
    """The lowest level that is logged. `info` shows the life of every task."""
    levels: dict[str, Literal["debug", "info", "warning", "error"]] = {}
    """Other levels for areas, the first words of events: `{ network = "debug" }`."""
    file_mb: Annotated[int, Field(ge=0, le=10_000), unit("MiB")] = 20
    """How much of the log is kept in the data directory, as JSON, for `journeyman
    logs`; the oldest lines go first. 0 keeps none."""


class WebSettings(Section):
    """The page that shows the agent in a browser and steers it; needs the extra `web`.

    Whoever opens the page can stop the agent, and can read what it works on.
    """

    enabled: bool = Field(False, json_schema_extra={"option": "--web"})
    """Whether the daemon serves the page. Off, because a port that nobody needs should
    not be open."""
    host: Annotated[str, Field(min_length=1)] = "127.0.0.1"
    """The address on which it is served. Any other than the machine's own, such as
    `0.0.0.0` in a container, asks for a password."""
    port: Annotated[int, Field(ge=0, le=65_535), unit("TCP port")] = 8420
    """The port. With 0 it is any that is free; the log shows which."""
    names: Names = Field((), examples=[["agent.example"]])
    """Names under which the page is opened, beside `localhost` and addresses in digits,
    such as that of a proxy before it. Other names are refused, since any web site could
    lead a name of its own to this machine."""
    password: Annotated[SecretStr, Field(min_length=12)] | None = Field(
        None,
        examples=["a long one of your own"],
        json_schema_extra={"default_is": "none"},
    )
    """What a person types in, or a program sends as a bearer token; at least 12
    characters. Best from a file, which JOURNEYMAN_WEB__PASSWORD_FILE names. Without
    one, everybody who can log in to this machine can open the page."""

    @model_validator(mode="after")
    def _ask_for_a_password(self) -> Self:
        if self.enabled and self.password is None and not is_loopback(self.host):
            raise ValueError(
                f"host is {self.host!r}, which others can reach: set a password, or "
                "host to 127.0.0.1"
            )
        return self


def _http_only(address: SecretStr) -> SecretStr:
    try:
        parts = urlsplit(address.get_secret_value())
        is_address = parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        is_address = False
    if not is_address:
        # Without the value: it may be a secret.
        raise ValueError("must be an http or https address")
    return address


class NotifySettings(Section):
    """Where the owner is told what keeps the agent from earning.

    What is new is folded into one message: paused, a token that is refused, a payment
    page that waits, and everything else that `journeyman why` finds.
    """

    webhook: Annotated[SecretStr, AfterValidator(_http_only)] | None = Field(
        None,
        examples=["https://chat.example/hooks/a-secret"],
        json_schema_extra={"default_is": "none"},
    )
    """An address to which each message is posted as JSON. Its field `text` is what chat
    services such as Slack and Mattermost show. Kept as a secret."""
    targets: Annotated[tuple[SecretStr, ...], Field(strict=False)] = Field(
        (), examples=[["mailto://user:password@example.org"]]
    )
    """Addresses as Apprise knows them, for mail and some hundred services; they need
    the extra `notify`. Kept as secrets."""
    patience_minutes: Annotated[
        float, Field(ge=0, le=24 * 60, allow_inf_nan=False), unit("minutes")
    ] = 5.0
    """What goes by itself within this time is not told."""
    repeat_hours: Annotated[
        float, Field(gt=0, le=24 * 366, allow_inf_nan=False), unit("hours")
    ] = 24.0
    """What was told is not told again within this time, also after a restart."""
    idle_hours: Annotated[
        float, Field(ge=0, le=24 * 366, allow_inf_nan=False), unit("hours")
    ] = 6.0
    """It is told when nothing was earned for so long; 0: it is not."""
    low_credits: Credits = 20
    """It is told when less can be spent. The default is the reserve."""


class TracingSettings(Section):
    """Traces of tasks for OpenTelemetry; they need the extra `otel`.

    Each task is a trace, with a span for each of its steps and each request.
    """

    endpoint: Address | None = Field(
        None,
        examples=["http://127.0.0.1:4318"],
        json_schema_extra={"default_is": "none"},
    )
    """Where a collector takes OTLP over HTTP, without `/v1/traces`. Without it nothing
    is traced."""
    headers: LoginHeaders = Field(
        default_factory=dict, examples=[{"authorization": "Basic a-secret"}]
    )
    """Headers that the collector asks for. They are never shown or logged."""
    service_name: Annotated[str, Field(min_length=1, max_length=100)] = "journeyman"
    """`service.name` of the spans, by which a collector tells programs apart."""


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Settings(BaseSettings):
    """All settings of the daemon, read by `load_settings`."""

    model_config = SettingsConfigDict(extra="forbid", frozen=True, strict=True)

    network: NetworkSettings = NetworkSettings()
    contract: ContractSettings = ContractSettings()
    suggestions: SuggestionSettings = SuggestionSettings()
    data: DataSettings = Field(default_factory=DataSettings)
    strategies: StrategySettings = StrategySettings()
    isolation: IsolationSettings = IsolationSettings()
    cluster: ClusterSettings = ClusterSettings()
    quarantine: QuarantineSettings = QuarantineSettings()
    recording: RecordingSettings = RecordingSettings()
    promotion: PromotionSettings = PromotionSettings()
    schedule: ScheduleSettings = ScheduleSettings()
    work: WorkSettings = WorkSettings()
    ranking: RankingSettings = RankingSettings()
    rate_limit: RateLimitSettings = RateLimitSettings()
    retry: RetrySettings = RetrySettings()
    posting: PostingSettings = PostingSettings()
    growth: GrowthSettings = GrowthSettings()
    budget: BudgetSettings = BudgetSettings()
    topup: TopUpSettings = TopUpSettings()
    currency: CurrencySettings = CurrencySettings()
    log: LogSettings = LogSettings()
    web: WebSettings = WebSettings()
    notify: NotifySettings = NotifySettings()
    tracing: TracingSettings = Field(default_factory=TracingSettings)

    sources: ClassVar[Sequence[PydanticBaseSettingsSource]] = ()
    """The strongest first; `load_settings` names them."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - the library's signature
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - as above
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - as above
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - as above
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return `sources` alone: nothing is read behind the caller's back."""
        return (init_settings, *cls.sources)
