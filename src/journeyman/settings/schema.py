"""Every setting described: what it is called, what it takes and what it does.

All of it is read from the JSON schema of the settings, which is what editors use too,
and only when it is asked for: most commands need no more than the names.
"""

import ast
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from itertools import pairwise
from typing import Any, cast

from journeyman.settings import sections as models
from journeyman.settings.sections import Section, Settings

Key = tuple[str, ...]
"""Where a value stands: `("network", "base_url")`, or deeper inside a table."""

PREFIX = "JOURNEYMAN_"


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """One setting."""

    key: Key
    kind: str
    """The JSON type: boolean, integer, number, string, array or object."""
    inner: str
    """Of the values in a table, where all are of one; else empty."""
    wanted: str
    """What a value must be, in words: `a whole number from 1 to 256 (tasks)`."""
    default: object
    """As in a file; None where no value in a file could say it."""
    default_is: str
    """The default in words, where `default` is None; else empty."""
    example: object
    """A value as in a file, where the default would not show what one looks like."""
    option: str
    """The command line's own name for it, such as `--base-url`; may be empty."""

    @property
    def description(self) -> str:
        """What it does, and why its default is what it is."""
        section, name = self.key
        return _texts()[_model(section).__name__, name]

    @property
    def dotted(self) -> str:
        """The key as people write it: `network.base_url`."""
        return ".".join(self.key)

    @property
    def variable(self) -> str:
        """The key as the environment has it: `JOURNEYMAN_NETWORK__BASE_URL`."""
        return PREFIX + "__".join(self.key).upper()


@dataclass(frozen=True, slots=True)
class SettingSection:
    """One section of the settings, such as `[network]`."""

    name: str
    description: str
    settings: tuple[Setting, ...]


def json_schema() -> dict[str, Any]:
    """Return the schema of a configuration file (JSON Schema, draft 2020-12)."""
    schema = Settings.model_json_schema()
    for section in schema["properties"].values():
        # The defaults are those of the single settings; repeated here they would
        # go stale in an editor's hints, and one depends on the home directory.
        section.pop("default", None)
    for model, section in schema["$defs"].items():
        properties = section.get("properties", {})
        for name, field in properties.items():
            described = {**field, "description": _texts()[model, name]}
            properties[name] = dict(sorted(described.items()))
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "The settings of Journeyman"
    return schema


@cache
def _texts() -> Mapping[tuple[str, str], str]:
    """Return the text below each setting in the code, by model and name.

    Pydantic's `use_attribute_docstrings` would read them at each start.
    """
    return {
        # A text of several lines in the code is one paragraph.
        (model.name, ast.unparse(field.target)): " ".join(below.value.value.split())
        for model in ast.parse(inspect.getsource(models)).body
        if isinstance(model, ast.ClassDef)
        for field, below in pairwise(model.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and isinstance(below.value.value, str)
    }


@cache
def sections() -> tuple[SettingSection, ...]:
    """Return all sections with their settings, in the order of reading."""
    return tuple(map(_section, Settings.model_fields))


@cache
def _section(name: str) -> SettingSection:
    schema = _model(name).model_json_schema()
    fields = schema["properties"].items()
    settings = tuple(_describe((name, field), one) for field, one in fields)
    return SettingSection(name, schema["description"], settings)


def _model(section: str) -> type[Section]:
    return cast("type[Section]", Settings.model_fields[section].annotation)


@cache
def setting_keys() -> Sequence[Key]:
    """Return the key of every setting, in the order of reading."""
    return [
        (section, name)
        for section in Settings.model_fields
        for name in _model(section).model_fields
    ]


@cache
def settings_by_key() -> Mapping[Key, Setting]:
    """Return every setting by its key."""
    return {one.key: one for section in sections() for one in section.settings}


def setting_of(key: Key) -> Setting | None:
    """Return the setting that a value belongs to, also one deep inside its tables."""
    if key[:2] not in setting_keys():
        return None
    found = next(one for one in _section(key[0]).settings if one.key == key[:2])
    return found if len(key) == len(found.key) or found.kind == "object" else None


def is_section(key: Key) -> bool:
    """Return whether settings stand below this key."""
    return not key or (len(key) == 1 and key[0] in Settings.model_fields)


def refusal(key: Key) -> str:
    """Return why no setting has this key; empty when one has it."""
    if key in setting_keys() or setting_of(key):
        return ""
    dotted = ".".join(key)
    if is_section(key):
        return f"{dotted}: is a section; write its settings below [{dotted}]"
    near = _suggestion(key)
    return f"{dotted}: no such setting" + (f"; did you mean {near}?" if near else "")


def _suggestion(key: Key) -> str:
    near = get_close_matches(key[0], Settings.model_fields, n=1)
    if len(key) == 1 and near:
        return f"[{near[0]}]"
    known = settings_by_key().values()
    same = [one.dotted for one in known if one.key[-1] == key[-1]]
    if len(same) == 1:
        return same[0]
    close = get_close_matches(".".join(key), [one.dotted for one in known], n=1)
    return close[0] if close else ""


def _describe(key: Key, field: Mapping[str, Any]) -> Setting:
    # A file cannot say the `null` of an optional setting.
    choices = field.get("anyOf", [field])
    value = next(choice for choice in choices if choice["type"] != "null")
    default = field.get("default")
    unit = value.get("unit", field.get("unit"))
    return Setting(
        key=key,
        kind=value["type"],
        inner=_inner(value),
        wanted=_wanted(value) + (f" ({unit})" if unit else ""),
        default=default,
        default_is=field.get("default_is", "" if default is not None else "empty"),
        example=next(iter(field.get("examples", ())), None),
        option=field.get("option", ""),
    )


def _inner(value: Mapping[str, Any]) -> str:
    inner = value.get("additionalProperties")
    return str(inner.get("type", "")) if isinstance(inner, Mapping) else ""


def _wanted(value: Mapping[str, Any]) -> str:
    kind = value["type"]
    if "enum" in value:
        return "one of " + ", ".join(value["enum"])
    if kind == "object":
        return _wanted_table(value["additionalProperties"])
    if kind in {"integer", "number"}:
        noun = "a whole number" if kind == "integer" else "a number"
        return noun + _wanted_range(value)
    words = {
        "boolean": "true or false",
        "array": "a list of names",
        "string": "text",
        "path": "a path",
        "uri": "an http or https address",
        "password": f"a text of {value.get('minLength', 1)} characters or more",
    }
    return words[value.get("format", kind)]


def _wanted_table(inner: Mapping[str, Any]) -> str:
    if "enum" in inner:
        return f"a table of names with one of {', '.join(inner['enum'])} for each"
    if inner.get("type") == "integer":
        return "a table of names with a whole number, 0 or more, for each"
    if inner.get("type") == "string":
        return "a table of names with a text for each"
    return "tables"


def _wanted_range(value: Mapping[str, Any]) -> str:
    low, high = value.get("minimum"), value.get("maximum")
    if "exclusiveMinimum" in value:
        return f" above {value['exclusiveMinimum']}, at most {high}"
    if high is not None:
        return f" from {low} to {high}"
    return f", {low} or more"
