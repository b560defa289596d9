"""`journeyman strategies sync`: install the libraries that strategies name."""

import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from journeyman.cli import catalog
from journeyman.cli.output import plural, print_table
from journeyman.cli.session import Session, command
from journeyman.daemon.strategies import strategy_folders
from journeyman.domain.text import escape
from journeyman.journal import files
from journeyman.strategies.loading.installing import (
    InstallerError,
    call_installer,
    new_folder,
)
from journeyman.strategies.loading.libraries import (
    Libraries,
    LibrariesError,
    lock_file,
    named_in,
)
from journeyman.strategies.loading.loader import strategy_files
from journeyman.strategies.loading.source import strategy_stem

COLUMNS = ("strategy", "libraries", "state")


@dataclass(frozen=True, kw_only=True, slots=True)
class Named:
    """A strategy's file, and the libraries that it names."""

    file: Path
    libraries: Libraries


@command("sync", example="journeyman strategies sync")
def sync(
    session: Session,
    *,
    strategies: catalog.StrategiesOption = None,
    lock: Annotated[
        bool,
        typer.Option(
            "--lock", help="First write the versions and hashes of each beside it."
        ),
    ] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove what no strategy names any more.")
    ] = False,
) -> int:
    """Install the libraries that strategies name in their files.

    Each strategy has its own, in the data directory; nothing is installed into
    Journeyman, and no code of a library runs: only wheels are taken.
    """
    chosen = {"strategies.directory": str(strategies) if strategies else None}
    folders = strategy_folders(session.load(chosen).settings.strategies)
    root = session.directory().libraries
    found, rows = _named_in(folders)
    for named in found:
        if lock:
            _say(f"{named.file.name}: locking ...")
            named = _locked(named)  # noqa: PLW2901 - from here on the locked one counts
        rows.append(_installed(named, root))
    removed = _prune(root, rows) if prune else None
    rows.sort(key=lambda row: str(row["strategy"]))
    failed = [row for row in rows if row["state"] == "failed"]
    data = {"directory": str(root), "strategies": rows, "removed": removed or []}
    session.answer(data, lambda: _show(data, failed))
    if prune and removed is None:
        _say("nothing was removed: what the failed ones need is not known")
    return InstallerError.exit_code if failed else 0


def _named_in(folders: Iterable[Path]) -> tuple[list[Named], list[dict[str, Any]]]:
    """Return the files that name libraries, and rows of those that name them wrongly.

    Raises:
        StateError: a folder cannot be read.
    """
    found: list[Named] = []
    rows: list[dict[str, Any]] = []
    paths: list[Path] = []
    for folder in folders:
        unreadable = f"{folder} cannot be read"
        with files.disk_errors(unreadable, "Create it, or name another."):
            paths += strategy_files(folder)
    for path in paths:
        try:
            libraries = named_in(path, path.read_text("utf-8-sig"))
        except LibrariesError as error:
            problem = f"{path}:{error.line}: {error}\n{error.fix}"
            rows.append(_row(path, [], "failed", problem))
        except (OSError, UnicodeError) as error:
            rows.append(_row(path, [], "failed", f"{path}: {error}"))
        else:
            found += [Named(file=path, libraries=libraries)] if libraries else []
    return found, rows


def _row(
    path: Path, named: Sequence[str], state: str, problem: str = "", folder: str = ""
) -> dict[str, Any]:
    return {
        "strategy": strategy_stem(path),
        "libraries": list(named),
        "state": state,
        "folder": folder,
        "problem": problem,
    }


# -- installing ----------------------------------------------------------------------


def _installed(named: Named, root: Path) -> dict[str, Any]:
    folder = named.libraries.folder(root)
    known = (named.file, named.libraries.requirements)
    if folder.is_dir():
        return _row(*known, "was there", folder=folder.name)
    _say(f"{named.file.name}: {', '.join(named.libraries.requirements)} ...")
    problem = f"{root} cannot be written to"
    try:
        with files.disk_errors(
            problem, "Free some space or give this user write access."
        ):
            root.mkdir(mode=files.PRIVATE_DIRECTORY, parents=True, exist_ok=True)
            with new_folder(named.libraries, folder) as words:
                call_installer(words)
    except InstallerError as error:
        return _row(*known, "failed", str(error))
    return _row(*known, "installed", folder=folder.name)


# -- locking and pruning -------------------------------------------------------------


def _locked(named: Named) -> Named:
    """Write the lock file of a strategy, and return it with that.

    Raises:
        InstallerError: uv is not here, or finds no versions that fit together.
    """
    uv = shutil.which("uv")
    if uv is None:
        raise InstallerError(
            "only uv can lock, and it is not here", "Install it, or omit --lock."
        )
    with tempfile.TemporaryDirectory() as place:
        wanted = Path(place, "wanted.in")
        wanted.write_text("\n".join(named.libraries.requirements), encoding="utf-8")
        words = [uv, "pip", "compile", "--quiet", "--no-annotate", "--no-header"]
        python, out = ["--python", sys.executable], Path(place, "locked.txt")
        # As they are installed: a version without wheels would be refused then.
        options = ["--only-binary", ":all:", "--generate-hashes"]
        options += ["--output-file", str(out)]
        call_installer([*words, *python, *options, str(wanted)])
        lock = out.read_bytes()
    files.write_atomically(lock_file(named.file), lock)
    # In a container another user reads both.
    shutil.copymode(named.file, lock_file(named.file))
    requirements = named.libraries.requirements
    return Named(file=named.file, libraries=Libraries(requirements, lock.decode()))


def _prune(root: Path, rows: Iterable[Mapping[str, Any]]) -> list[str] | None:
    """Remove the folders of libraries that no strategy names; return their names.

    None where nothing was removed, since what some strategy needs is not known.
    """
    if any(row["state"] == "failed" for row in rows):
        return None
    if not root.is_dir():
        return []
    wanted = {row["folder"] for row in rows}
    gone = [path for path in sorted(root.iterdir()) if path.name not in wanted]
    for path in gone:
        shutil.rmtree(path, ignore_errors=True)
    return [path.name for path in gone]


def _show(data: Mapping[str, Any], failed: Sequence[Mapping[str, Any]]) -> None:
    if not data["strategies"]:
        print("no strategy names libraries of its own (PEP 723)")
        return
    rows = [
        (row["strategy"], ", ".join(row["libraries"]) or "-", row["state"])
        for row in data["strategies"]
    ]
    print_table(COLUMNS, rows)
    for row in failed:
        print()
        print(escape(f"{row['strategy']}: {row['problem']}", keep="\n"))
    print()
    if data["removed"]:
        print(f"{plural(len(data['removed']), 'folder')} removed that nothing names")
    if any(row["state"] == "installed" for row in data["strategies"]):
        print("a daemon that runs loads them at its next `journeyman reload`")
    elif not failed:
        print("all are there")


def _say(text: str) -> None:
    """Tell how far the work is, where it does not mix with the answer."""
    print(text, file=sys.stderr)
