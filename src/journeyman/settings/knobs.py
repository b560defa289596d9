"""Each setting described: for messages, for `config show`, for the reference.

All of it is read out of the JSON schema, so that a setting is written down once.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from journeyman.settings.model import json_schema

Key: TypeAlias = tuple[str, ...]
"""Where a value stands: `("network", "base_url")`, or deeper inside a table."""

Schema: TypeAlias = Mapping[str, Any]

PREFIX = "JOURNEYMAN_"


@dataclass(frozen=True, kw_only=True, slots=True)
class Knob:
    """One setting."""

    key: Key
    kind: str
    """The JSON type: boolean, integer, number, string, array or object."""
    wanted: str
    """What a value must be, in words: `a whole number from 1 to 256`."""
    default: object
    """As in a file; None where no value in a file could say it."""
    default_is: str
    """The default in words, where `default` is None; else empty."""
    example: object
    """A value as in a file, where the default would not show what one looks like."""
    unit: str
    option: str
    """The command line's own name for it, such as `--base-url`; may be empty."""
    description: str

    @property
    def dotted(self) -> str:
        """The key as people write it: `network.base_url`."""
        return ".".join(self.key)

    @property
    def variable(self) -> str:
        """The key as the environment has it: `JOURNEYMAN_NETWORK__BASE_URL`."""
        return PREFIX + "__".join(self.key).upper()


@dataclass(frozen=True, slots=True)
class KnobSection:
    """One section of the settings, such as `[network]`."""

    name: str
    description: str
    knobs: tuple[Knob, ...]


def sections() -> tuple[KnobSection, ...]:
    """Describe all settings, in the order in which people should read them."""
    return tuple(_sections(json_schema()))


def knobs() -> dict[Key, Knob]:
    """Find a setting's description by its key."""
    return {knob.key: knob for section in sections() for knob in section.knobs}


def _sections(schema: Schema) -> Iterator[KnobSection]:
    for name, reference in schema["properties"].items():
        section = schema["$defs"][reference["$ref"].rpartition("/")[2]]
        fields = section["properties"].items()
        made = tuple(_knob((name, field), found) for field, found in fields)
        yield KnobSection(name, section["description"], made)


def _knob(key: Key, field: Schema) -> Knob:
    value = _value_schema(field)
    default = field.get("default")
    return Knob(
        key=key,
        kind=value["type"],
        wanted=_wanted(value),
        default=default,
        default_is=field.get("default_is", "" if default is not None else "empty"),
        example=next(iter(field.get("examples", ())), None),
        unit=value.get("unit", field.get("unit", "")),
        option=field.get("option", ""),
        description=field["description"],
    )


def _value_schema(field: Schema) -> Schema:
    """Leave the `null` of an optional setting aside: a file cannot say it."""
    found: Schema = next(
        (choice for choice in field.get("anyOf", ()) if choice["type"] != "null"),
        field,
    )
    return found


def _wanted(value: Schema) -> str:
    if "enum" in value:
        return "one of " + ", ".join(value["enum"])
    if value["type"] in {"integer", "number"}:
        return _wanted_number(value)
    if value["type"] == "string":
        formats = {"path": "a path", "uri": "an http or https address"}
        return formats.get(value.get("format", ""), "text")
    if value["type"] == "object":
        return _wanted_table(value["additionalProperties"])
    return {"boolean": "true or false", "array": "a list of names"}[value["type"]]


def _wanted_table(inner: Schema) -> str:
    if "enum" in inner:
        return f"a table of names with one of {', '.join(inner['enum'])} for each"
    if inner.get("type") == "integer":
        return "a table of names with a whole number, 0 or more, for each"
    return "tables"


def _wanted_number(value: Schema) -> str:
    noun = "a whole number" if value["type"] == "integer" else "a number"
    low, high = value.get("minimum"), value.get("maximum")
    if "exclusiveMinimum" in value:
        return f"{noun} above {value['exclusiveMinimum']}, at most {high}"
    if low is not None and high is not None:
        return f"{noun} from {low} to {high}"
    return f"{noun}, {low} or more" if low is not None else noun
