"""`config/journeyman.toml`: every setting, explained and commented out."""

import json
from collections.abc import Iterator
from textwrap import wrap

from journeyman.settings.knobs import Knob, KnobSection, sections

WIDTH = 80
"""In columns; it fits beside another window."""

_HEAD = """\
The settings of Journeyman. Everything below is commented out and shows the default,
or an example where there is none. Remove the `# ` in front of a setting to change it.

Stronger than this file are the environment (JOURNEYMAN_SECTION__KEY) and the command
line. `journeyman config show` tells where each value came from.

Made by `python -m journeyman.settings.generate`, from the code."""


def render_toml(schema: str) -> str:
    """Give the text of the file; editors find the schema by the name given."""
    lines = [f"#:schema {schema}", ""]
    for paragraph in _HEAD.split("\n\n"):
        lines += [*_comment(paragraph), "#"]
    lines.pop()
    for section in sections():
        lines += ["", "", *_section(section)]
    return "\n".join(lines) + "\n"


def toml_value(value: object) -> str:
    """Write a value as TOML; what a setting can hold is nearly the same as JSON."""
    if isinstance(value, dict):
        pairs = (f"{name} = {toml_value(inner)}" for name, inner in value.items())
        return f"{{ {', '.join(pairs)} }}" if value else "{}"
    return json.dumps(value, ensure_ascii=False)


def _section(section: KnobSection) -> Iterator[str]:
    yield from _comment(section.description)
    yield f"[{section.name}]"
    for knob in section.knobs:
        yield ""
        yield from _knob(knob)


def _knob(knob: Knob) -> Iterator[str]:
    yield from _comment(knob.description)
    yield from _comment(_facts(knob))
    value = knob.example if knob.default is None else knob.default
    yield f"# {knob.key[-1]} = {toml_value(value)}"


def _facts(knob: Knob) -> str:
    unit = f" ({knob.unit})" if knob.unit else ""
    default = knob.default_is or toml_value(knob.default)
    wanted = knob.wanted[0].upper() + knob.wanted[1:]
    facts = f"{wanted}{unit}. Default: {default}."
    if knob.default is not None and knob.example is not None:
        facts += f" For example {toml_value(knob.example)}."
    return facts


def _comment(text: str) -> list[str]:
    return wrap(
        text,
        WIDTH,
        initial_indent="# ",
        subsequent_indent="# ",
        break_on_hyphens=False,
    )
