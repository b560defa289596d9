"""Write the files that are made from the settings: `python -m ...settings.generate`.

It writes `config/journeyman.toml`, `config/journeyman.schema.json` and
`docs/reference/configuration.md` below the directory that is given, or below the
current one. A test proves that the files in the repository are current.
"""

import argparse
import json
from pathlib import Path

from journeyman.settings.model import json_schema
from journeyman.settings.reference import render_markdown
from journeyman.settings.template import render_toml

SCHEMA_NAME = "journeyman.schema.json"


def documents() -> dict[Path, str]:
    """Give the text of each generated file by its place in the repository."""
    schema = json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"
    return {
        Path("config/journeyman.toml"): render_toml(SCHEMA_NAME),
        Path("config", SCHEMA_NAME): schema,
        Path("docs/reference/configuration.md"): render_markdown(),
    }


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description="Write the configuration's documents.")
    parser.add_argument("root", nargs="?", type=Path, default=Path())
    root: Path = parser.parse_args().root
    for place, text in documents().items():
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        (root / place).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
