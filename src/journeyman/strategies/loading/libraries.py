"""A strategy's own libraries: what its file names, and the folder where they lie.

The file names them as inline script metadata (PEP 723). `journeyman strategies sync`
installs them, each set in a folder of its own, which only the strategy's child imports
from: two strategies may have two versions of one library.
"""

import hashlib
import json
import platform
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from journeyman.strategies.loading.reading import read_file

BEGIN, END = "# /// script", "# ///"
REQUIRES_PYTHON, DEPENDENCIES = "requires-python", "dependencies"
SYNC = "journeyman strategies sync"


class LibrariesError(ValueError):
    """What a file names cannot be installed; the message says why."""

    def __init__(self, message: str, fix: str, line: int) -> None:
        super().__init__(message)
        self.fix = fix
        self.line = line


@dataclass(frozen=True, slots=True)
class Libraries:
    """What one file names."""

    requirements: tuple[str, ...]
    lock: str = ""
    """The requirements with their hashes, from the lock file; empty without one."""

    def folder(self, root: Path) -> Path:
        """Return where they lie beneath `root`: files that name the same share it."""
        python = f"{sys.implementation.cache_tag}-{platform.machine()}"
        named = json.dumps([python, sorted(self.requirements), self.lock])
        digest = hashlib.sha256(named.encode()).hexdigest()[:16]
        return root / f"{python}-{digest}"


def lock_file(strategy: Path) -> Path:
    """Return the lock file of a strategy: requirements with hashes, as pip reads them.

    For `words.py` it is `words.lock` beside it; for a folder, `strategy.lock` in it.
    """
    if strategy.name == "__init__.py":
        return strategy.with_name("strategy.lock")
    return strategy.with_suffix(".lock")


def named_in(path: Path, text: str) -> Libraries | None:
    """Return what a file names; None where it names nothing.

    Raises:
        LibrariesError: its metadata is invalid, or asks for another Python, or its lock
            file cannot be read.
    """
    found = _metadata(text)
    if found is None:
        return None
    line, table = found
    _require_python(table.get(REQUIRES_PYTHON, ""), line)
    requirements = _requirements(table.get(DEPENDENCIES, []), line)
    return Libraries(requirements, _lock(path, line)) if requirements else None


def _lock(path: Path, line: int) -> str:
    lock = lock_file(path)
    try:
        return lock.read_text("utf-8") if lock.is_file() else ""
    except (OSError, UnicodeDecodeError) as error:
        message = f"its lock file {lock} cannot be read: {error}"
        fix = f"give this user access to it, or write it anew: `{SYNC} --lock`"
        raise LibrariesError(message, fix, line) from error


def installed_for(path: Path, root: Path | None) -> str:
    """Return the folder with what a file names; empty where there is none, or yet none.

    Args:
        path: the strategy's file.
        root: where the folders of all strategies are; None: nowhere.
    """
    if root is None:
        return ""
    try:
        named = named_in(path, read_file(path).decode("utf-8-sig"))
    except (OSError, ValueError):
        # Whoever loads the file says what is wrong with it.
        return ""
    folder = named.folder(root) if named else None
    # Absolute: a child works in a folder of its own.
    return str(folder.absolute()) if folder and folder.is_dir() else ""


def _metadata(text: str) -> tuple[int, dict[str, Any]] | None:
    """Return the line in which the metadata begins, and the metadata (PEP 723)."""
    if BEGIN not in text:
        return None
    import tomllib

    lines = text.splitlines()
    begins = [number for number, line in enumerate(lines, 1) if line == BEGIN]
    if not begins:
        return None
    first = begins[0]
    if len(begins) > 1:
        fix = f"keep one block that begins with `{BEGIN}`"
        raise LibrariesError("there are two blocks of metadata", fix, begins[1])
    content = _commented(lines[first:])
    if END not in content:
        raise LibrariesError("the metadata does not end", f"end it with `{END}`", first)
    # The last end counts: the text of the TOML may contain what looks like one.
    content = content[: len(content) - 1 - content[::-1].index(END)]
    toml = "\n".join(line[2:] for line in content)
    try:
        return first, tomllib.loads(toml)
    except tomllib.TOMLDecodeError as error:
        message = f"the metadata is not valid TOML: {error}"
        fix = f'write `# {DEPENDENCIES} = ["name>=1"]` between the two marks'
        raise LibrariesError(message, fix, first) from error


def _commented(lines: list[str]) -> list[str]:
    """Return the lines from the first on that are comments."""
    comments: list[str] = []
    for line in lines:
        if line != "#" and not line.startswith("# "):
            break
        comments.append(line)
    return comments


def _require_python(wanted: object, line: int) -> None:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        allowed = SpecifierSet(wanted if isinstance(wanted, str) else "?")
    except InvalidSpecifier as error:
        message = f"{REQUIRES_PYTHON} is not a version specifier: {wanted!r}"
        raise LibrariesError(message, 'write it as ">=3.11"', line) from error
    here = platform.python_version()
    if not allowed.contains(here, prereleases=True):
        message = f"it requires Python {wanted}, and this is {here}"
        fix = "run Journeyman with such a Python, or widen requires-python"
        raise LibrariesError(message, fix, line)


def _requirements(given: object, line: int) -> tuple[str, ...]:
    from packaging.requirements import InvalidRequirement, Requirement

    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        message = f"{DEPENDENCIES} is not a list of strings"
        raise LibrariesError(message, 'write it as ["name>=1", "other"]', line)
    for one in given:
        try:
            Requirement(one)
        except InvalidRequirement as error:
            message = f"not a requirement: {one!r} ({str(error).partition(chr(10))[0]})"
            fix = 'write it as pip takes it: "name>=1.2,<2"'
            raise LibrariesError(message, fix, line) from error
    return tuple(given)
