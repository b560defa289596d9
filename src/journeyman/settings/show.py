"""The settings as rows, for `journeyman config show`."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from journeyman.settings.knobs import Key, Knob, knobs
from journeyman.settings.layers import DEFAULT, leaves
from journeyman.settings.load import Loaded
from journeyman.settings.problems import HIDDEN, is_secret


@dataclass(frozen=True, kw_only=True, slots=True)
class SettingRow:
    """One setting, as a person should see it."""

    key: str
    """Dotted: `network.base_url`."""
    value: str
    """As JSON; `***` for a secret; the default in words, in brackets, for none."""
    origin: str
    description: str


def rows(loaded: Loaded) -> list[SettingRow]:
    """Give a row for each setting, and one for each strategy parameter that is set."""
    values = loaded.settings.model_dump(mode="json")
    return [
        row
        for knob in knobs().values()
        for row in _rows(loaded, knob, values[knob.key[0]][knob.key[1]])
    ]


def _rows(loaded: Loaded, knob: Knob, value: object) -> Iterator[SettingRow]:
    if not (isinstance(value, dict) and value):
        yield _row(loaded, knob, knob.key, value)
        return
    for key, inner in leaves(value, knob.key):
        yield _row(loaded, knob, key, inner)


def _row(loaded: Loaded, knob: Knob, key: Key, value: object) -> SettingRow:
    dotted = ".".join(key)
    # Only text can be a secret: a `max_tokens = 500` is none.
    hidden = is_secret(dotted) and isinstance(value, str)
    return SettingRow(
        key=dotted,
        value=HIDDEN if hidden else _shown(knob, value),
        origin=loaded.origin.get(dotted, loaded.origin.get(knob.dotted, DEFAULT)),
        description=knob.description,
    )


def _shown(knob: Knob, value: object) -> str:
    if value is None:
        return f"({knob.default_is})"
    if isinstance(value, float):
        return f"{value:.15g}"
    return json.dumps(value, ensure_ascii=False)
