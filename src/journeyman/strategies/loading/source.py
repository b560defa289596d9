"""A strategy file, read and parsed but not executed."""

import ast
from dataclasses import dataclass
from pathlib import Path

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
    """The text of one file and its syntax tree."""

    path: Path
    text: str
    tree: ast.Module

    def line_of(self, name: str) -> int | None:
        """Return the line in which a top-level class or function is defined."""
        for node in self.tree.body:
            if isinstance(node, DEFINITIONS) and node.name == name:
                return node.lineno
        return None

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
    source = parse(path)
    return source if isinstance(source, Problem) else _refusal(source) or source


def parse(path: Path) -> Source | Problem:
    """Read and parse any Python file."""
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


def _parse(path: Path, data: bytes) -> Source | Problem:
    try:
        # From bytes, so that a declared encoding and a byte-order mark are respected.
        tree = ast.parse(data, str(path))
        text = data.decode("utf-8-sig")
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
    return Source(path, text, tree)


def _refusal(source: Source) -> Problem | None:
    """Return the problem of a file that need not be executed to be refused."""
    if not imports_journeyman(source):
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
    for line, value in _declared_versions(source.tree):
        if value != API_VERSION:
            # Before the import, which would only fail on names that do not exist here.
            return source.problem(
                "E107",
                f"api = {value!r}, but this journeyman supports api {API_VERSION}",
                f"set `api = {API_VERSION}`, or install a journeyman that supports it",
                line,
            )
    return None


def imports_journeyman(source: Source) -> bool:
    """Return whether a file imports journeyman at all."""
    return any(_names_journeyman(node) for node in ast.walk(source.tree))


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
