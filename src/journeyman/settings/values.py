"""The kinds of value a setting can have, each with its unit and its bounds."""

from pathlib import Path
from typing import Annotated, Literal, TypeAlias
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue

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
