"""`journeyman strategies new`: a strategy file and its test, ready to change."""

import keyword
import re
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import Annotated

import typer

from journeyman.cli.session import Session, command
from journeyman.daemon.strategies import LOCAL
from journeyman.domain.errors import StateError, UsageError
from journeyman.strategies.loading.definitions import snake_case

TEMPLATES = ("minimal", "full", "llm", "shell")
NAME = r"[a-z][a-z0-9_]{0,63}"


@command("new", example="journeyman strategies new word_count")
def new_strategy(
    session: Session,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Such as word_count: a module's name.")
    ],
    *,
    template: Annotated[
        str, typer.Option(metavar="|".join(TEMPLATES), help="What to begin with.")
    ] = TEMPLATES[0],
    strategies: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where to put the file.")
    ] = None,
) -> None:
    """Create a working strategy and its test.

    Nothing is ever overwritten.
    """
    _require_name(name)
    if template not in TEMPLATES:
        raise UsageError(
            f"there is no template {template!r}",
            f"The templates are {', '.join(TEMPLATES)}.",
        )
    # Never the folder that came with Journeyman.
    own_folder = session.load().settings.strategies.directory or LOCAL
    folder = strategies or own_folder
    strategy, test = folder / f"{name}.py", folder / "tests" / f"test_{name}.py"
    _require_absent(strategy, test)
    _write(strategy, _render(template, name))
    _write(test, _render(f"test_{template}", name))
    shown = name if folder == own_folder else str(strategy)
    steps = [
        *_missing(template),
        f"journeyman check {shown}",
        f'journeyman try {shown} --text "to be or not"',
        f"pytest {test.parent}",
    ]
    data = {"strategy": str(strategy), "test": str(test), "next": steps}
    session.answer(data, lambda: _show(template, strategy, test, steps))


def _missing(template: str) -> list[str]:
    """Return the commands that install what the files import, where it is missing."""
    needed = {"pytest": "pytest"}
    if template == "llm":
        needed["pydantic_ai"] = "'journeyman[llm]'"
    lacking = [package for name, package in needed.items() if find_spec(name) is None]
    return [f"pip install {' '.join(lacking)}"] if lacking else []


def _require_name(name: str) -> None:
    if _is_name(name) and not name.startswith("test_"):
        return
    if _is_name(name):
        raise UsageError(
            f"{name!r} would be taken for a test and never loaded",
            f"Omit the `test_`: journeyman strategies new {name[5:] or 'mine'}",
        )
    words = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name.removesuffix(".py")).lower()
    near = re.sub(r"[^a-z0-9]+", "_", words).strip("_")
    raise UsageError(
        f"{name!r} cannot name a strategy",
        "A name is a module's name: lower-case letters, digits and `_`, beginning with "
        "a letter, and not a keyword of Python."
        + (f"\nPerhaps: journeyman strategies new {near}" if _is_name(near) else ""),
    )


def _is_name(name: str) -> bool:
    return bool(re.fullmatch(NAME, name)) and not keyword.iskeyword(name)


def _require_absent(*paths: Path) -> None:
    existing = [str(path) for path in paths if path.exists()]
    if existing:
        raise UsageError(
            f"already there: {' and '.join(existing)}",
            "Choose another name, or move the file away; nothing was written.",
        )


def _render(template: str, name: str) -> str:
    file = resources.files("journeyman.cli") / "templates" / f"{template}.txt"
    text = Template(file.read_text("utf-8"))
    return text.substitute(name=name, Name=_class_name(name))


def _class_name(name: str) -> str:
    """Return a class name whose strategy has this name: WordCount, but Vec_2d."""
    words = [word.capitalize() for word in name.split("_")]
    usual = "".join(words)
    return usual if snake_case(usual) == name else "_".join(words)


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise StateError(
            f"{path} cannot be written: {error.strerror}",
            "Choose another folder with --strategies DIR.",
        ) from error


def _show(template: str, strategy: Path, test: Path, steps: list[str]) -> None:
    others = ", ".join(other for other in TEMPLATES if other != template)
    width = max(len(str(strategy)), len(str(test)))
    print(f"created {strategy!s:<{width}}  (template: {template}; also: {others})")
    print(f"created {test}")
    for number, step in enumerate(steps):
        print(f"{'        ' if number else 'next:   '}{step}")
