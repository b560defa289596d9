"""The settings about doing work: network, data, strategies, schedule, slots.

A description says what the setting does and why its default is what it is. A
`default_is` says in words what no value in a file could say. An `option` is the
command line's name for the setting. All three reach the reference by the schema.
"""

from pathlib import Path
from typing import Annotated, Literal, TypeAlias
from urllib.parse import SplitResult, urlsplit

from platformdirs import user_data_path
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ValidationInfo,
    field_validator,
)
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

LONGEST_SECONDS = 366 * 86_400
"""A year: longer is a slip of the finger, and would overflow a timer somewhere."""


def _expand(value: object) -> object:
    # Validation is strict, which takes a Path only; TOML and the environment have text.
    if not isinstance(value, str) or not value:
        return value
    try:
        return Path(value).expanduser()
    except RuntimeError as error:  # ~somebody, who does not exist
        raise ValueError("names a home directory that is not known") from error


def _split(address: str) -> SplitResult:
    try:
        parts = urlsplit(address)
        _ = parts.port  # reading it is what checks it
    except ValueError as error:
        raise ValueError(f"is not an address: {error}") from error
    return parts


def _check_address(address: str) -> str:
    parts = _split(address)
    if parts.scheme not in {"http", "https"}:
        raise ValueError("must begin with http:// or https://")
    if not parts.hostname:
        raise ValueError("names no host; wanted for example https://network.example")
    if parts.username is not None or parts.password is not None:
        raise ValueError("must not hold a user name or a password")
    if parts.query or parts.fragment:
        raise ValueError("must not hold a query (?) or a fragment (#)")
    if any(letter.isspace() or not letter.isprintable() for letter in address):
        raise ValueError("must not hold spaces or control characters")
    return address.rstrip("/")


Address: TypeAlias = Annotated[
    str,
    AfterValidator(_check_address),
    Field(json_schema_extra={"format": "uri"}),
]
"""An http or https address with a host; kept without its last slash."""

Folder: TypeAlias = Annotated[Path, BeforeValidator(_expand)]
"""A path; `~` stands for the home directory."""

Names: TypeAlias = Annotated[tuple[str, ...], Field(strict=False)]
"""A list of names; not strict, because TOML has lists and no tuples."""

Tables: TypeAlias = dict[str, dict[str, JsonValue]]

Runners: TypeAlias = dict[str, Literal["loop", "thread", "process"]]
"""By the name of a strategy."""

Seconds: TypeAlias = Annotated[
    float,
    Field(
        gt=0,
        le=LONGEST_SECONDS,
        allow_inf_nan=False,
        json_schema_extra={"unit": "seconds"},
    ),
]
Days: TypeAlias = Annotated[
    float,
    Field(gt=0, le=3_660, allow_inf_nan=False, json_schema_extra={"unit": "days"}),
]
Bytes: TypeAlias = Annotated[int, Field(ge=1, json_schema_extra={"unit": "bytes"})]
Credits: TypeAlias = Annotated[int, Field(ge=0, json_schema_extra={"unit": "credits"})]
Cents: TypeAlias = Annotated[int, Field(ge=0, json_schema_extra={"unit": "US cents"})]


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


class ChoosingSettings(Section):
    """Which of the tasks that wait for a slot is claimed first."""

    order: Literal["expected", "reward", "first"] = Field(
        "expected",
        description="`expected`: the most credits for each second of a slot, by the "
        "reward, what the strategy says, and how such tasks went before. `reward`: the "
        "best paid. `first`: in the order in which they were seen.",
    )
    exploration: float = Field(
        0.5,
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="How far the order `expected` trusts to luck where little is known "
        "of a kind of task: 0 never tries what looks worse, 1 tries it as often as the "
        "evidence leaves room for it to be better.",
        json_schema_extra={"unit": "standard deviations"},
    )


class ContainmentSettings(Section):
    """What a strategy may do wrong before it is given no work for a while."""

    errors: int = Field(
        5,
        ge=1,
        le=1_000,
        description="So many crashes and time-outs of one strategy within "
        "`window_seconds`, and it rests. Five are no accident, and cost little; what "
        "the network refuses is not counted, since that may be the network's mistake.",
        json_schema_extra={"unit": "errors"},
    )
    window_seconds: Seconds = Field(
        600,
        description="How long an error counts. Ten minutes tell a strategy that is "
        "broken from one that meets an odd task now and then.",
    )
    first_rest_seconds: Seconds = Field(
        60,
        description="How long the first rest lasts. Then the strategy is tried with "
        "one task; done, it works as before. Short, because the cause is often "
        "outside: a service that it asks, say.",
    )
    longest_rest_seconds: Seconds = Field(
        3_600,
        description="Each rest after a failed try is twice as long as the one before, "
        "up to this: one task an hour is what a broken strategy may cost at most.",
    )
    longest_hold_seconds: Seconds = Field(
        3_600,
        description="How long a claimed task waits for a strategy in quarantine, where "
        "no other wants it; then it counts as failed. An hour lets an owner mend the "
        "strategy, and does not keep the task from others for a day.",
    )
    hook_seconds: Seconds = Field(
        10,
        description="The longest that one call of `on_start`, `on_stop`, `on_outcome` "
        "or `post` may take. The start and the end of the daemon wait for the first "
        "two, so this stays well under `work.grace_seconds`.",
    )


AUTO = "auto"

Table: TypeAlias = dict[str, JsonValue]
"""Where the values of one action go."""


# Few have dialects of their own, and the client is slow to import: PLC0415 below.


def _named(name: str) -> str:
    from journeyman.network.shapes import checked_name  # noqa: PLC0415  # see above

    return checked_name(name)


def _usable(tables: dict[str, Table]) -> dict[str, Table]:
    from journeyman.network.shapes import writing_dialect  # noqa: PLC0415  # see above

    writing_dialect("own", tables)
    return tables


Name: TypeAlias = Annotated[str, AfterValidator(_named)]
Dialect: TypeAlias = Annotated[dict[str, Table], AfterValidator(_usable)]
"""By action."""


class ContractSettings(Section):
    """How requests are written whose bodies the contract does not show."""

    dialects: dict[Name, Dialect] = Field(
        default_factory=dict,
        description="Shapes of your own, for a network that wants what none of the "
        "ready ones (`snake`, `camel`, `id-only`, `wrapped`) is. A table for each "
        "action: `[contract.dialects.NAME.claim]`; its fields are explained in "
        "docs/reference/dialect.md. They are tried before the ready ones.",
        examples=[{"acme": {"claim": {"task_id": "job.uuid"}}}],
    )
    dialect: str = Field(
        AUTO,
        description="The dialect that every action is written in. `auto` finds out by "
        "trying, and remembers what the network understood. With a name nothing is "
        "tried; an action that the named dialect does not describe is found out.",
    )
    max_candidates: int = Field(
        6,
        ge=1,
        le=50,
        description="How many shapes of one action the network may refuse in a day "
        "(UTC) before no more are tried. Enough for the ready dialects and two that "
        "are made of what the refusals say.",
        json_schema_extra={"unit": "shapes"},
    )

    @field_validator("dialect")
    @classmethod
    def _is_there(cls, name: str, info: ValidationInfo) -> str:
        own = info.data.get("dialects", {})
        if name == AUTO or name in own:
            return name
        from journeyman.network.shapes import READY  # noqa: PLC0415  # see above

        names = [AUTO, *(ready.name for ready in READY), *own]
        if name not in names:
            raise ValueError(f"names no dialect; wanted one of {', '.join(names)}")
        return name


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


class BudgetSettings(Section):
    """What the daemon may spend; every limit is checked before the request."""

    reserve_credits: Credits = Field(
        20,
        description="The floor that is never spent. A fifth of the starter credits, "
        "so that a mistake leaves enough to go on.",
    )
    per_day_credits: Credits = Field(
        50,
        description="The most that is spent in one day (UTC), whatever it is for.",
    )
    per_post_credits: Credits = Field(
        25,
        description="The most that one posted task may cost.",
    )
    posts_per_day: int = Field(
        10,
        ge=0,
        description="The most tasks that are posted in one day (UTC). It bounds a "
        "strategy that posts in a loop.",
        json_schema_extra={"unit": "posts"},
    )
    per_strategy_credits: Credits = Field(
        10,
        description="The most that one strategy may spend on posts in one day (UTC), "
        "within the other limits. Low, so that a file that was dropped in cannot "
        "spend the day's budget; 0 lets no strategy post.",
    )
    strategy_credits: dict[str, Credits] = Field(
        default_factory=dict,
        description="The same for single strategies, by name.",
        examples=[{"proofreading": 25}],
    )


class TopUpSettings(Section):
    """Whether more credits may be asked for; Journeyman itself never pays."""

    mode: Literal["off", "ask", "auto"] = Field(
        "off",
        description="What happens when credits run short. `off`: nothing. `ask`: the "
        "log says so, and the owner runs `journeyman topup`. `auto`: the payment page "
        "is asked for, within the caps below. In every mode a person pays.",
    )
    below_credits: Credits = Field(
        20,
        description="Credits run short below this. By default it is the reserve, "
        "below which nothing can be posted.",
    )
    credits: int = Field(
        500,
        ge=1,
        description="How much to ask for in mode `auto`: 5 US dollars' worth.",
        json_schema_extra={"unit": "credits"},
    )
    plan: str = Field(
        "credit_pack",
        min_length=1,
        description="The `plan` of the checkout request. An assumption: the contract "
        "does not show which values are allowed.",
    )
    price_id: str = Field(
        "price_custom",
        min_length=1,
        description="The `price_id` of the checkout request. An assumption: the "
        "contract shows no list of prices.",
    )
    per_day_cents: Cents = Field(
        500,
        description="The most that is asked for in one day (UTC).",
    )
    per_month_cents: Cents = Field(
        2_000,
        description="The most that is asked for in one month (UTC).",
    )
    product_label: str = Field(
        "Journeyman credits",
        description="The `product_label` of the checkout request: what the person who "
        "pays reads.",
    )
    source: str = Field(
        "journeyman",
        description="The `source` of the checkout request: who asked for it.",
    )


class RateLimitSettings(Section):
    """How a network is spared that is overloaded, down, or lacks an endpoint."""

    max_retry_after_seconds: Seconds = Field(
        3_600,
        le=3_600,
        description="The longest pause that the network may ask for (`Retry-After`). "
        "An hour is more than any limit needs, and keeps a slip of the network's from "
        "stopping us for a year.",
    )
    failures: int = Field(
        5,
        ge=1,
        le=100,
        description="After so many failures in a row an endpoint, or the whole "
        "network, is asked only by a probe now and then. Requests that were on "
        "their way together count as one. Five are no coincidence, and cost a dead "
        "network little.",
        json_schema_extra={"unit": "failures"},
    )
    probe_seconds: Seconds = Field(
        60,
        description="How often a network that is down, an endpoint that is broken, or "
        "a token that is refused is tried again: at most one request in this time. "
        "Work resumes at most this long after it is well.",
    )
    absent_recheck_seconds: Seconds = Field(
        3_600,
        description="How often to look again for an endpoint that the network does not "
        "have. The first looks come after a minute and after ten, since an endpoint "
        "may only be restarting.",
    )


class PostingSettings(Section):
    """Whether tasks are posted at all, and how the first one is."""

    enabled: bool = Field(
        default=True,
        description="Whether tasks may be posted: by a command, or by a strategy. "
        "What each may cost is in [budget].",
    )
    look_at_first: bool = Field(
        default=True,
        description="The first post on a network is made alone: a second is sent only "
        "after the first was seen in a listing, or the balance moved as expected. The "
        "contract does not show what posting does, so that it may mean something else.",
    )


class RecordingSettings(Section):
    """What is kept of the market, for `journeyman replay`."""

    days: Days = Field(
        30,
        description="How long a decision about a task is kept, and what strategies in "
        "shadow said to it. A month shows what a new version of a strategy would have "
        "done.",
    )
    max_mb: int = Field(
        64,
        ge=0,
        le=100_000,
        description="How large the tape may grow; the oldest decisions go first. "
        "64 MiB hold some 50,000 tasks with short texts. 0 keeps no tape.",
        json_schema_extra={"unit": "MiB"},
    )
    text_characters: int = Field(
        10_000,
        ge=0,
        le=1_000_000,
        description="Longer texts of a task are cut on the tape, and a longer input is "
        "left out. Such a task is marked when it is replayed.",
        json_schema_extra={"unit": "characters"},
    )


class PromotionSettings(Section):
    """When a strategy that was promoted goes back into the shadow by itself."""

    watch_tasks: int = Field(
        20,
        ge=0,
        le=10_000,
        description="So many of its first tasks are watched after `journeyman "
        "strategies promote`. Twenty tell a strategy that fails often from one that "
        "had bad luck. 0 watches nothing.",
        json_schema_extra={"unit": "tasks"},
    )
    more_failures: float = Field(
        0.2,
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="It goes back when the share of failures among these tasks is "
        "higher by more than this than the share of all strategies before, and at "
        "least three have failed. A failure is a task that failed, or whose result the "
        "network refused.",
        json_schema_extra={"unit": "share, 0 to 1"},
    )


SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"


class LogSettings(Section):
    """What the log looks like and how much it says."""

    format: Literal["auto", "json", "text"] = Field(
        "auto",
        description="`json` is one object a line, for machines. `text` is for people. "
        "`auto` is text on a terminal and json elsewhere.",
    )
    level: Literal["debug", "info", "warning", "error"] = Field(
        "info",
        description="The least that is logged. `info` tells the life of every task.",
    )


class Settings(BaseSettings):
    """Every knob of the daemon. Made by `load_settings`, which knows the sources."""

    model_config = SettingsConfigDict(extra="forbid", frozen=True, strict=True)

    network: NetworkSettings = NetworkSettings()
    contract: ContractSettings = ContractSettings()
    data: DataSettings = Field(default_factory=DataSettings)
    strategies: StrategySettings = StrategySettings()
    schedule: ScheduleSettings = ScheduleSettings()
    work: WorkSettings = WorkSettings()
    choosing: ChoosingSettings = ChoosingSettings()
    recording: RecordingSettings = RecordingSettings()
    promotion: PromotionSettings = PromotionSettings()
    containment: ContainmentSettings = ContainmentSettings()
    isolation: IsolationSettings = IsolationSettings()
    rate_limit: RateLimitSettings = RateLimitSettings()
    posting: PostingSettings = PostingSettings()
    budget: BudgetSettings = BudgetSettings()
    topup: TopUpSettings = TopUpSettings()
    log: LogSettings = LogSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - the library's signature
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - as above
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - as above
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - as above
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read nothing behind the caller's back: `load_settings` hands sources in."""
        return (init_settings,)


def json_schema() -> dict[str, object]:
    """Give the schema of a configuration file (JSON Schema, draft 2020-12)."""
    schema = Settings.model_json_schema()
    for name in schema["properties"]:
        # The defaults are those of the single settings; repeated here they would
        # go stale in an editor's hints, and one depends on the home directory.
        schema["properties"][name].pop("default", None)
    schema["$schema"] = SCHEMA_DIALECT
    schema["title"] = "The settings of Journeyman"
    return schema
