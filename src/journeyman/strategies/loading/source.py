"""A strategy file, read and parsed but not executed."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType

from journeyman.strategies.api import API_VERSION
from journeyman.strategies.loading.libraries import LibrariesError, named_in
from journeyman.strategies.loading.problems import Problem
from journeyman.strategies.loading.reading import MAX_BYTES, read_file

DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def strategy_stem(path: Path) -> str:
    """Return the name of a strategy file: for `__init__.py`, that of its folder."""
    return path.parent.name if path.name == "__init__.py" else path.stem


@dataclass(frozen=True, slots=True)
class Source:
    """The text of one file, and what is needed of its syntax tree, which is large."""

    path: Path
    text: str = ""
    code: CodeType | None = None
    """What runs."""
    lines: Mapping[str, int] = field(default_factory=dict)
    """Where each top-level class and function is defined, by name."""
    imports_journeyman: bool = False

    def text_at(self, line: int | None) -> str:
        """Return one line of the text; empty when there is no such line."""
        lines = self.text.splitlines()
        return lines[line - 1] if line and line <= len(lines) else ""

    def problem(
        self, code: str, message: str, fix: str, line: int | None = None
    ) -> Problem:
        """Return a problem that points at a line of this file."""
        return Problem(
            code=code,
            path=self.path,
            line=line,
            source_line=self.text_at(line),
            message=message,
            fix=fix,
        )


def read(path: Path) -> Source | Problem:
    """Read and parse a strategy, and refuse what need not be executed to be refused."""
    parsed = _read(path)
    if isinstance(parsed, Problem):
        return parsed
    source, tree = parsed
    return _refusal(source, tree) or source


def parse(path: Path) -> Source | Problem:
    """Read and parse any Python file."""
    parsed = _read(path)
    return parsed if isinstance(parsed, Problem) else parsed[0]


def _read(path: Path) -> tuple[Source, ast.Module] | Problem:
    try:
        data = read_file(path)
    except OSError as error:
        reason = error.strerror or str(error)
        fix = "make it readable for the user that runs journeyman, or remove it"
        return Problem(code="E114", path=path, message=reason, fix=fix)
    if len(data) > MAX_BYTES:
        message = f"the file is too large for a strategy: over {MAX_BYTES} bytes"
        fix = "move data into a separate file"
        return Problem(code="E114", path=path, message=message, fix=fix)
    return _parse(path, data)


def _parse(path: Path, data: bytes) -> tuple[Source, ast.Module] | Problem:
    try:
        # From bytes, so that a declared encoding and a byte-order mark are respected.
        tree = ast.parse(data, str(path))
        text = data.decode("utf-8-sig")
        code = compile(tree, str(path), "exec", dont_inherit=True)
    except SyntaxError as error:
        return Problem(
            code="E101",
            path=path,
            line=error.lineno,
            column=error.offset,
            source_line=(error.text or "").rstrip("\n"),
            message=f"syntax error: {error.msg}",
            fix=f"correct it; `python -m py_compile {path.name}` checks it alone",
        )
    except (RecursionError, MemoryError):
        # Both come without a word of it, and MemoryError where there is enough.
        message = "not readable as Python: an expression in it is nested too deeply"
        fix = "split it into several, or move data into a file that is not Python"
        return Problem(code="E101", path=path, message=message, fix=fix)
    except ValueError as error:
        message = f"not readable as Python: {error}"
        fix = "save it as a plain UTF-8 text file"
        return Problem(code="E101", path=path, message=message, fix=fix)
    return Source(path, text, code, _lines(tree), _imports_journeyman(tree)), tree


def _lines(tree: ast.Module) -> Mapping[str, int]:
    # Backwards, as the first of a name is the one that is shown.
    found = [node for node in reversed(tree.body) if isinstance(node, DEFINITIONS)]
    return {node.name: node.lineno for node in found}


def _refusal(source: Source, tree: ast.Module) -> Problem | None:
    """Return the problem of a file that need not be executed to be refused."""
    if not source.imports_journeyman:
        return source.problem(
            "E104",
            "no strategy in this file: it does not import journeyman",
            "begin with `from journeyman import Strategy, Task, Context, Result`, "
            "or rename the file to begin with `_` if it is a helper",
        )
    try:
        named_in(source.path, source.text)
    except LibrariesError as error:
        return source.problem("E117", str(error), error.fix, error.line)
    for line, value in _declared_versions(tree):
        if value != API_VERSION:
            # Before the import, which would only fail on names that do not exist here.
            return source.problem(
                "E107",
                f"api = {value!r}, but this journeyman supports api {API_VERSION}",
                f"set `api = {API_VERSION}`, or install a journeyman that supports it",
                line,
            )
    return None


def _imports_journeyman(tree: ast.Module) -> bool:
    return any(_names_journeyman(node) for node in ast.walk(tree))


def _names_journeyman(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").partition(".")[0] == "journeyman"
    if isinstance(node, ast.Import):
        return any(name.name.partition(".")[0] == "journeyman" for name in node.names)
    return False


def _declared_versions(tree: ast.Module) -> list[tuple[int, object]]:
    """Return each literal `api = N` in a class, also in `api, version = N, "..."`."""
    found: list[tuple[int, object]] = []
    for owner in tree.body:
        for node in owner.body if isinstance(owner, ast.ClassDef) else ():
            if isinstance(node, ast.Assign):
                pairs = [
                    pair
                    for target in node.targets
                    for pair in _pairs(target, node.value)
                ]
                found += [(node.lineno, v) for name, v in pairs if name == "api"]
    return found


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[str, object]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        both = zip(target.elts, value.elts, strict=False)
        return [pair for name, item in both for pair in _pairs(name, item)]
    if isinstance(target, ast.Name) and isinstance(value, ast.Constant):
        return [(target.id, value.value)]
    return []
