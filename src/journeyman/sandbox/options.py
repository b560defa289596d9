"""How a sandbox is set up, by keyword or from a TOML file."""

import tomllib
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
)

from journeyman.sandbox.errors import SandboxError
from journeyman.sandbox.kinds import KINDS

DEFAULT_BASE_URL = "http://127.0.0.1:8080"


def _known(kinds: tuple[str, ...]) -> tuple[str, ...]:
    for kind in kinds:
        if kind not in KINDS:
            raise ValueError(f"no kind {kind!r}; there are {', '.join(KINDS)}")
    return kinds


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
    kinds: Annotated[tuple[str, ...], AfterValidator(_known)] = Field(
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
