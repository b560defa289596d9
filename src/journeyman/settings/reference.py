"""`docs/reference/configuration.md`: a table of the settings for each section."""

from collections.abc import Iterator

from journeyman.settings.knobs import Knob, KnobSection, sections
from journeyman.settings.template import toml_value

_HEAD = """\
# Configuration

Every setting has a default. Journeyman needs only the address of a network.

A value comes from the strongest source that has it:

1. the command line, such as `--base-url`;
2. the environment: `JOURNEYMAN_SECTION__KEY`, with two underscores between the
   section and the key, such as `JOURNEYMAN_NETWORK__BASE_URL`. An empty variable
   counts as not set. A list is written `a,b` or as JSON.
   `JOURNEYMAN_SECTION__KEY_FILE` names a file that holds the value, as secrets are
   handed to containers; white space around it is removed. A strategy's parameter
   is `JOURNEYMAN_STRATEGIES__PARAMS__COUNT_WORDS__MAX_WORDS`;
3. the files given with `--config FILE`, of which later ones are stronger. Without
   `--config`, `config/journeyman.toml` in the current directory is read if it
   exists, else `journeyman.toml` in the user's configuration directory
   (`~/.config/journeyman` on Linux);
4. the default.

`journeyman config show --origin` tells where each value came from. A key that no
setting has, a value of a wrong type, and a file that cannot be read are errors.
All of them are reported at once, with the file and the line, and the exit code is 4.

`config/journeyman.toml` has every setting, commented out. Its schema is
`config/journeyman.schema.json`, which editors use for hints.

This page is made by `python -m journeyman.settings.generate`, from the code.
"""


def render_markdown() -> str:
    """Give the text of the page."""
    lines = [_HEAD]
    for section in sections():
        lines += _section(section)
    return "\n".join(lines)


def _section(section: KnobSection) -> Iterator[str]:
    yield f"## {section.name}"
    yield ""
    yield section.description
    yield ""
    yield "| setting | value | default | what it does | also |"
    yield "|---|---|---|---|---|"
    for knob in section.knobs:
        yield _row(knob)
    yield ""


def _row(knob: Knob) -> str:
    unit = f" ({knob.unit})" if knob.unit else ""
    default = knob.default_is or f"`{toml_value(knob.default)}`"
    also = f"`{knob.variable}`"
    if knob.option:
        also = f"`{knob.option}`, {also}"
    cells = (f"`{knob.dotted}`", knob.wanted + unit, default, knob.description, also)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
