"""The options of a sandbox, by keyword or from a TOML file."""

import tomllib
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from journeyman.sandbox.contract import ENDPOINTS
from journeyman.sandbox.errors import ErrorFormatName, SandboxError
from journeyman.sandbox.kinds import KINDS

DEFAULT_BASE_URL = "http://127.0.0.1:8080"

RequestFormat = Literal["snake", "camel", "id-only", "wrapped"]
ListingFormat = Literal[
    "tasks",
    "data",
    "items",
    "results",
    "bare",
    "nested",
    "keyed",
    "edges",
    "embedded",
    "paged",
]
Naming = Literal["snake", "camel", "pascal", "kebab"]
RecordFormat = Literal["plain", "attributes", "graphql"]
ValueFormat = Literal["plain", "texts", "numbers", "objects"]
Wrapper = Literal["none", "data", "input", "action"]
IdFormat = Literal["prefixed", "integer", "uuid"]
IdName = Literal["id", "task_id", "job_id", "pk"]
StateWords = Literal["plain", "unusual", "german", "codes"]
Pagination = Literal["none", "cursor", "page", "offset", "link"]
Payment = Literal["on-completion", "on-submission", "after-review"]
ChaosLevel = Literal["off", "mild", "hard"]
Fault = Literal[
    "latency",
    "throttled",
    "throttled_silently",
    "unavailable",
    "error_before",
    "error_after",
    "dropped_before",
    "dropped_after",
    "truncated",
    "malformed",
    "page",
    "byte_order_mark",
    "expired_token",
    "lost_lease",
]
FAULTS: tuple[Fault, ...] = get_args(Fault)


def _one_of(known: Iterable[str]) -> AfterValidator:
    """Refuse unknown names."""
    names = list(known)

    def check(given: tuple[str, ...]) -> tuple[str, ...]:
        for name in given:
            if name not in names:
                raise ValueError(f"there is no {name!r}; use one of {', '.join(names)}")
        return given

    return AfterValidator(check)


def _web_origin(url: str) -> str:
    if url and not url.startswith(("http://", "https://")):
        raise ValueError("it must start with http:// or https://")
    return url.rstrip("/")


class SandboxOptions(BaseModel):
    """All options of a sandbox; each has a default."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True
    )

    data: Path | None = None
    """The SQLite file to keep and continue; without one, nothing is kept."""
    tasks: int = Field(40, ge=0, le=100_000)
    """How many tasks are created at the first start."""
    seed: int = 1
    """The same seed creates the same tasks, with the same ids."""
    refill: bool = False
    """Create new tasks, so that `tasks` are open at all times."""
    kinds: Annotated[tuple[str, ...], _one_of(KINDS)] = ()
    """Only these kinds of task; empty means all."""
    competitors: int = Field(0, ge=0, le=1000)
    """Other agents that compete for tasks."""
    competitor_interval_seconds: float = Field(1.0, gt=0)
    """Seconds between two steps of one competitor, on average."""
    latency_seconds: float = Field(0.0, ge=0, le=60)
    """Seconds by which each answer of the contract is delayed."""
    base_url: Annotated[str, AfterValidator(_web_origin)] = ""
    """The address that clients use; empty means the one listened on."""
    request_format: RequestFormat = "snake"
    """How the bodies of actions are written; see `strict`."""
    strict: bool = False
    """Accept only bodies in that format, without unknown fields."""
    wrapper: Wrapper = "none"
    """The object around each body; `action` names it after the action."""
    receipts: bool = False
    """Submitting takes what claiming gave, completing what submitting gave."""
    error_format: ErrorFormatName = "json"
    """How errors are written."""
    listing_format: ListingFormat = "tasks"
    """Where the tasks are in a listing."""
    naming: Naming | Literal[""] = ""
    """How names in answers are spelled; empty follows the requests."""
    record_format: RecordFormat = "plain"
    """What surrounds the fields of a task."""
    value_format: ValueFormat = "plain"
    """How amounts, times and tags are written."""
    id_format: IdFormat = "prefixed"
    """How the ids of tasks are made."""
    id_name: IdName = "id"
    """What a task's id is called."""
    state_words: StateWords = "plain"
    """The words for how far a task has come."""
    lists_taken: bool = False
    """Listings also show tasks that are claimed, submitted or completed."""
    own_posts: bool = False
    """Discovering also shows an agent what became of its own posts, with results."""
    post_hours: float = Field(0.0, ge=0, le=8760, allow_inf_nan=False)
    """A client's post that nobody claims expires after so long, and its reward goes
    back; 0 means never."""
    post_fee: int = Field(0, ge=0, le=100)
    """Credits that a client's post costs beside its reward."""
    pagination: Pagination = "none"
    """How the rest of a long listing is asked for."""
    page_size: int = Field(10, ge=1, le=200)
    """The most tasks on one page, where there are pages."""
    payment: Payment = "on-completion"
    """What pays a task; `on-submission` leaves no completion to ask for."""
    review_seconds: float = Field(5.0, ge=0)
    """How long after a submission a completion is pending, if `after-review`."""
    checkout_hours: float = Field(24.0, gt=0, le=8760, allow_inf_nan=False)
    """How long a payment page can be paid; then it has expired."""
    pause_every: int = Field(0, ge=0)
    """After so many requests all endpoints answer 429 for a second; 0 means never."""
    empty_answers: bool = False
    """Answer each action that succeeds with an empty object."""
    undescribed: bool = False
    """Publish no OpenAPI description, which would say how requests are written."""
    absent_endpoints: Annotated[
        tuple[str, ...], _one_of(endpoint.name for endpoint in ENDPOINTS)
    ] = ()
    """Endpoints that do not exist: they answer 404."""
    chaos: ChaosLevel = "off"
    """How often a fault is injected."""
    faults: Annotated[tuple[str, ...], _one_of(FAULTS)] = ()
    """Only these faults; empty means all."""

    @property
    def chaos_level(self) -> ChaosLevel:
        """How often a fault is injected; naming faults without a level means `mild`."""
        return "mild" if self.chaos == "off" and self.faults else self.chaos

    @property
    def absent(self) -> frozenset[str]:
        """The endpoints that do not exist, by name."""
        unpaid = {"complete_task"} if self.payment == "on-submission" else set()
        return frozenset(unpaid.union(self.absent_endpoints))

    @property
    def origin(self) -> str:
        """The address that documents name, without a trailing slash."""
        return self.base_url or DEFAULT_BASE_URL


def load_options(path: Path) -> SandboxOptions:
    """Read options from a TOML file, the keys being the field names.

    Raises:
        SandboxError: the file cannot be read, is not valid TOML, or has a wrong key.
    """
    try:
        values = tomllib.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise SandboxError(
            f"{path}: cannot be read: {error.strerror}",
            "Name an existing file; config/sandbox.toml is an example.",
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SandboxError(f"{path}: not valid TOML: {error}") from error
    return _validated(path, values)


def _validated(path: Path, values: dict[str, Any]) -> SandboxOptions:
    try:
        return SandboxOptions.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            raise SandboxError(
                f"{path}: unknown key {key!r}",
                _suggestion(key, list(SandboxOptions.model_fields)),
            ) from error
        raise SandboxError(
            f"{path}: {key}: {first['msg']}, got {first['input']!r}",
            f"{SandboxOptions.model_fields[str(first['loc'][0])].description}",
        ) from error


def _suggestion(key: str, known: Sequence[str]) -> str:
    near = get_close_matches(key, known, n=1)
    return f"Did you mean {near[0]!r}?" if near else f"Keys are {', '.join(known)}."
