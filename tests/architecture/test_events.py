"""Every event is declared, says what it means, and is emitted by its declaration."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

import journeyman
from journeyman.observability.events import CATALOGUE, Event

SOURCE = Path(journeyman.__file__).parent
NAME = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+")


def _declared() -> list[Event]:
    for file in sorted(SOURCE.rglob("events.py")):
        parts = file.relative_to(SOURCE).with_suffix("").parts
        importlib.import_module(".".join(("journeyman", *parts)))
    return list(CATALOGUE.values())


def _complaints(event: Event) -> Iterator[str]:
    if not NAME.fullmatch(event.name):
        yield f"{event.name}: wants a lower-case name with a dot: area.what_happened"
    if not event.meaning.endswith("."):
        yield f"{event.name}: the meaning wants to be a sentence"
    if event.level in {"warning", "error"} and not event.action:
        yield f"{event.name}: what should an operator do about it?"


def _is_emit(node: ast.AST) -> TypeGuard[ast.Call]:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "emit"
        and bool(node.args)
    )


def _emits(file: Path) -> Iterator[ast.Call]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return (node for node in ast.walk(tree) if _is_emit(node))


def test_every_event_is_named_and_explained() -> None:
    assert [text for event in _declared() for text in _complaints(event)] == []


def test_no_event_is_emitted_by_a_text() -> None:
    texts = [
        f"{file.relative_to(SOURCE)}:{call.lineno}"
        for file in sorted(SOURCE.rglob("*.py"))
        for call in _emits(file)
        if isinstance(call.args[0], ast.Constant | ast.JoinedStr)
    ]

    assert texts == [], "declare the event in events.py and emit the declaration"
