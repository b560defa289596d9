"""Which strategies are ours: those whose whole content was shipped with this version.

Neither a name nor a folder tells that: a user's file may have both. The digests of what
was shipped are in a list inside the package, which `make generate` writes and a test
holds to the ready strategies.
"""

import hashlib
import sys
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from journeyman.strategies.loading.reading import read_file

LIST = "shipped.txt"


def is_shipped(file: Path) -> bool:
    """Return whether a strategy, with all files of its folder, is one of ours.

    Args:
        file: the strategy's file; for a folder, its `__init__.py`.
    """
    try:
        return all(digest_of(path) in _digests() for path in files_of(file))
    except OSError:
        return False


def files_of(file: Path) -> Iterator[Path]:
    """Yield the files that a strategy is made of."""
    return file.parent.rglob("*.py") if file.name == "__init__.py" else iter([file])


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file's content.

    Raises:
        OSError: it is no regular file, or cannot be read now.
    """
    return hashlib.sha256(read_file(path)).hexdigest()


def shipped_names() -> frozenset[str]:
    """Return the names of the ready strategies, whether they are loaded or not."""
    paths = (Path(path) for _, path in _list())
    return frozenset(path.parts[0].removesuffix(".py") for path in paths)


def _digests() -> frozenset[str]:
    return frozenset(digest for digest, _ in _list())


def _list() -> Iterator[list[str]]:
    """Yield each digest with its path."""
    text = resources.files(__package__).joinpath(LIST).read_text("utf-8")
    return (line.split(maxsplit=1) for line in text.splitlines())


def render(folder: Path) -> str:
    """Return the list for a folder of ready strategies: a digest and a path each."""
    paths = sorted(folder.rglob("*.py"))
    lines = [f"{digest_of(path)}  {path.relative_to(folder)}\n" for path in paths]
    return "".join(lines)


if __name__ == "__main__":
    Path(__file__).with_name(LIST).write_text(render(Path(sys.argv[1])), "utf-8")
