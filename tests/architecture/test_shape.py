"""Sizes, doors and promises that no other tool checks."""

import ast
import importlib
import pkgutil
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import journeyman

SOURCE = Path(journeyman.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
READY = Path(__file__).parents[2] / "strategies"
LONGEST_FUNCTION = 50
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def _place(file: Path, node: ast.stmt | ast.expr) -> str:
    return f"{file.relative_to(SOURCE)}:{node.lineno}"


def _functions(file: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(_tree(file)) if isinstance(node, FUNCTIONS))


def test_no_function_is_longer_than_fifty_lines() -> None:
    # Its body: a command's options are a table of its arguments.
    long = [
        f"{_place(file, one)} {one.name}"
        for file in FILES
        for one in _functions(file)
        if (one.end_lineno or 0) - one.body[0].lineno >= LONGEST_FUNCTION
    ]

    assert long == []


def test_every_module_says_in_its_first_line_what_it_is() -> None:
    silent = [file for file in FILES if not ast.get_docstring(_tree(file))]

    assert silent == []


def _opens_a_transaction(block: ast.With | ast.AsyncWith) -> bool:
    calls = [item.context_expr for item in block.items]
    return any(
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in {"tx", "savepoint"}
        for call in calls
    )


def _waits(node: ast.AST) -> bool:
    waiting = (ast.Await, ast.AsyncFor, ast.AsyncWith)
    return any(isinstance(inner, waiting) for inner in ast.walk(node))


def test_nothing_is_awaited_inside_a_transaction() -> None:
    waiting = [
        _place(file, node)
        for file in FILES
        for node in ast.walk(_tree(file))
        if isinstance(node, ast.With | ast.AsyncWith)
        and _opens_a_transaction(node)
        and any(_waits(statement) for statement in node.body)
    ]

    assert waiting == []


def test_what_a_transaction_shares_with_others_is_a_plain_function() -> None:
    # `journal.commit(write)`: an async `write` would never run.
    found = [
        _place(file, one)
        for file in FILES
        for one in _functions(file)
        if one.name == "write" and isinstance(one, ast.AsyncFunctionDef)
    ]

    assert found == []


def _declared(file: Path) -> Iterator[str]:
    for node in _tree(file).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            called = node.value.func
            if isinstance(called, ast.Name) and called.id == "declare":
                yield from (one.id for one in node.targets if isinstance(one, ast.Name))


def test_every_declared_event_is_used_somewhere() -> None:
    words = {file: {*re.findall(r"\w+", file.read_text("utf-8"))} for file in FILES}
    files_with = Counter(word for found in words.values() for word in found)
    unused = [
        f"{file.relative_to(SOURCE)}: {name}"
        for file in FILES
        if file.name == "events.py"
        for name in _declared(file)
        if files_with[name] == 1
    ]

    assert unused == []


def test_every_name_that_a_module_promises_is_there_once_and_in_order() -> None:
    modules = [
        module.name
        for module in pkgutil.walk_packages(journeyman.__path__, "journeyman.")
        if not module.name.endswith("__main__")
        and "ready_strategies" not in module.name
    ]
    for name in ("journeyman", *modules):
        module = importlib.import_module(name)
        promised = getattr(module, "__all__", [])

        assert [one for one in promised if not hasattr(module, one)] == [], name
        assert sorted(promised) == sorted(set(promised)), name
        constants = [one for one in promised if one.isupper()]
        assert constants == sorted(constants), name


def test_no_public_class_name_stands_for_two_things() -> None:
    # The sandbox is another program, and reads the contract in its own words.
    places: dict[str, list[str]] = {}
    ours = [file for file in FILES if "sandbox" not in file.relative_to(SOURCE).parts]
    for file in (*ours, *READY.rglob("*.py")):
        for node in _tree(file).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(f"{file}:{node.lineno}")

    assert {name: one for name, one in places.items() if len(one) > 1} == {}
