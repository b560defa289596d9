"""How a sandbox is set up, by keyword or from a TOML file."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
)

from journeyman.sandbox.error_bodies import VocabularyName
from journeyman.sandbox.errors import SandboxError
from journeyman.sandbox.kinds import KINDS
from journeyman.sandbox.layouts import ContainerName, Naming, RecordForm, ValueForm
from journeyman.sandbox.requests import DialectName
from journeyman.sandbox.surface import ENDPOINTS

ChaosLevel = Literal["off", "mild", "hard"]
Trouble = Literal[
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
FAULTS: tuple[Trouble, ...] = get_args(Trouble)
LASTING: frozenset[Trouble] = frozenset({"expired_token", "lost_lease"})
"""They outlive their request, so they come a quarter as often as the others."""
SHARES: Mapping[ChaosLevel, float] = MappingProxyType(
    {"off": 0.0, "mild": 0.05, "hard": 0.3},
)
"""Of the requests to the contract's endpoints, how many meet a trouble."""


DEFAULT_BASE_URL = "http://127.0.0.1:8080"


def _one_of(known: Iterable[str]) -> AfterValidator:
    """Refuse names that there are not."""
    names = list(known)

    def check(given: tuple[str, ...]) -> tuple[str, ...]:
        for name in given:
            if name not in names:
                raise ValueError(f"there is no {name!r}; there are {', '.join(names)}")
        return given

    return AfterValidator(check)


def _web_origin(url: str) -> str:
    if url and not url.startswith(("http://", "https://")):
        raise ValueError("it must begin with http:// or https://")
    return url.rstrip("/")


class SandboxOptions(BaseModel):
    """Everything that can be chosen about a sandbox; each field has a default."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    data: Path | None = Field(
        default=None,
        description="The SQLite file to keep and continue; none keeps all in memory.",
    )
    tasks: int = Field(
        default=40,
        ge=0,
        le=100_000,
        description="How many tasks are made at the first start.",
    )
    seed: int = Field(
        default=1,
        description="The same seed makes the same tasks, their ids included.",
    )
    refill: bool = Field(
        default=False,
        description="Make new tasks, so that this many are open at all times.",
    )
    kinds: Annotated[tuple[str, ...], _one_of(KINDS)] = Field(
        default=(),
        description="Only these kinds of task; none named means all.",
    )
    rivals: int = Field(
        default=0,
        ge=0,
        le=1000,
        description="Other agents that compete for tasks.",
    )
    rival_every: float = Field(
        default=1.0,
        gt=0,
        description="Seconds between two steps of one rival, on average.",
    )
    latency_seconds: float = Field(
        default=0.0,
        ge=0,
        le=60,
        description="Seconds that every answer of the contract takes longer.",
    )
    base_url: Annotated[str, AfterValidator(_web_origin)] = Field(
        default="",
        description="The address that clients use; none is the one listened on.",
    )

    dialect: DialectName = Field(
        default="snake",
        description="How the bodies of actions are named; see `strict`.",
    )
    strict: bool = Field(
        default=False,
        description="Take bodies in the dialect only, without any unknown field.",
    )
    errors: VocabularyName = Field(
        default="json",
        description="How errors look.",
    )
    container: ContainerName = Field(
        default="tasks",
        description="Where in a listing the tasks are.",
    )
    naming: Naming | Literal[""] = Field(
        default="",
        description="How names in answers are spelled; empty is as the dialect does.",
    )
    records: RecordForm = Field(
        default="plain",
        description="What surrounds a task's fields.",
    )
    values: ValueForm = Field(
        default="plain",
        description="How amounts, moments, tags and ids are written.",
    )
    silent: bool = Field(
        default=False,
        description="Answer each action that is granted with an empty object.",
    )
    absent: Annotated[
        tuple[str, ...], _one_of(endpoint.name for endpoint in ENDPOINTS)
    ] = Field(
        default=(),
        description="Endpoints that are not there: they answer 404.",
    )
    chaos: ChaosLevel = Field(
        default="off",
        description="How often something goes wrong.",
    )
    chaos_only: Annotated[tuple[str, ...], _one_of(FAULTS)] = Field(
        default=(),
        description="Only these troubles; none named means all.",
    )

    @property
    def chaos_level(self) -> ChaosLevel:
        """How often something goes wrong; to name troubles is to want some."""
        return "mild" if self.chaos == "off" and self.chaos_only else self.chaos

    @property
    def origin(self) -> str:
        """The address to name in documents, without a slash at its end."""
        return self.base_url or DEFAULT_BASE_URL


def load_options(path: Path) -> SandboxOptions:
    """Read options from a TOML file, the keys being the field names.

    Raises:
        SandboxError: the file is missing, is no TOML, or has a wrong or unknown key.
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
