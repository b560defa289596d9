"""`journeyman strategies new`: a strategy file and its test, ready to change."""

import keyword
import re
from importlib import resources
from pathlib import Path
from string import Template
from typing import Annotated, Final

import typer

from journeyman.cli.output import answer, say
from journeyman.cli.session import Session, command
from journeyman.domain.errors import StateError, UsageError

TEMPLATES: Final = ("minimal", "full", "llm", "shell")
NAME: Final = r"[a-z][a-z0-9_]{0,63}"


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
    """Write a strategy that works, and its test; nothing is ever overwritten."""
    _require_name(name)
    _require_template(template)
    folder = strategies or _folder(session)
    files = {
        folder / f"{name}.py": _render(template, name),
        folder / "tests" / f"test_{name}.py": _render(f"test_{template}", name),
    }
    _require_room(list(files))
    for path, text in files.items():
        _write(path, text)
    made, test = files
    shown = name if folder == _folder(session) else str(made)
    steps = [
        f"journeyman check {shown}",
        f'journeyman try {shown} --text "to be or not"',
        f"pytest {test.parent}",
    ]
    data = {"strategy": str(made), "test": str(test), "next": steps}
    answer(
        as_json=session.as_json,
        data=data,
        show=lambda: _show(template, made, test, steps),
    )


def _folder(session: Session) -> Path:
    """Give the owner's own folder: never the one that came with Journeyman."""
    from journeyman.daemon.strategies import LOCAL

    configured = session.load().settings.strategies.directory
    return LOCAL if configured is None else configured


def _require_name(name: str) -> None:
    if re.fullmatch(NAME, name) and not keyword.iskeyword(name):
        if not name.startswith("test_"):
            return
        raise UsageError(
            f"{name!r} would be taken for a test and never loaded",
            f"Leave the `test_` away: journeyman strategies new {name[5:] or 'mine'}",
        )
    words = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name.removesuffix(".py")).lower()
    near = re.sub(r"[^a-z0-9]+", "_", words).strip("_")
    is_fine = re.fullmatch(NAME, near) and not keyword.iskeyword(near)
    raise UsageError(
        f"{name!r} cannot name a strategy",
        "A name is a module's name: lower-case letters, digits and `_`, a letter "
        "first, and no word of Python's own."
        + (f"\nPerhaps: journeyman strategies new {near}" if is_fine else ""),
    )


def _require_template(template: str) -> None:
    if template not in TEMPLATES:
        raise UsageError(
            f"there is no template {template!r}",
            f"The templates are {', '.join(TEMPLATES)}.",
        )


def _require_room(paths: list[Path]) -> None:
    taken = [str(path) for path in paths if path.exists()]
    if taken:
        raise UsageError(
            f"already there: {' and '.join(taken)}",
            "Choose another name, or take the file away; nothing was written.",
        )


def _render(template: str, name: str) -> str:
    place = resources.files("journeyman.cli") / "templates" / f"{template}.txt"
    text = Template(place.read_text("utf-8"))
    return text.substitute(name=name, Name=_class_name(name))


def _class_name(name: str) -> str:
    """Give a class name whose strategy has this name: WordCount, but Vec_2d."""
    from journeyman.strategies.loading.candidates import snake_case

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


def _show(template: str, made: Path, test: Path, steps: list[str]) -> None:
    others = ", ".join(other for other in TEMPLATES if other != template)
    width = max(len(str(made)), len(str(test)))
    say(f"created {made!s:<{width}}  (template: {template}; also: {others})")
    say(f"created {test!s:<{width}}")
    for number, step in enumerate(steps):
        say(f"{'next:   ' if number == 0 else '        '}{step}")
