"""Plants every bug, and writes down which suite found it: `make mutants`.

    python -m tests.mutants [--page docs/reference/mutants.md] [--search] [NAME ...]

Without `--search` each bug of the simulation is planted in one run that is chosen for
it; with it the simulation is not told where the bug is, and takes an hour.
The exit code is how many were not found.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from tests.mutants.catalogue import FOUND_BY_SIMULATION, FOUND_BY_TESTS, SourceMutant
from tests.simulation.mutants import MUTANTS, Mutant, search
from tests.simulation.run import RunResult, simulate

ROOT = Path(__file__).parents[2]
MISSED = "**nothing**"
PAGE = """# Planted bugs

A promise is worth what is found when it is broken. Each bug below was planted, and a
suite had to find it; `make mutants` does that again and writes this page. What the
simulation finds is an [invariant](invariants.md) that does not hold.

| promise | planted bug | found by | how |
|---|---|---|---|
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """One planted bug, and what found it."""

    promise: str
    bug: str
    suite: str
    how: str

    @property
    def row(self) -> str:
        """A row of the page."""
        return f"| {self.promise} | {self.bug} | {self.suite} | {self.how} |\n"


def by_simulation(names: Sequence[str], *, searches: bool) -> Iterator[Finding]:
    """Plant the bugs that the simulation has to find, or search for them."""
    mutants = {mutant.name: mutant for mutant in MUTANTS}
    for promise, bugs in FOUND_BY_SIMULATION.items():
        for name in bugs:
            if names and name not in names:
                continue
            mutant, bug = mutants[name], name.replace("_", " ")
            if searches:
                way, runs, result = search(mutant)
                after = f", {way}, after {runs} runs"
            else:
                result, after = _found(mutant), ""
            if result is None:
                yield Finding(promise, bug, MISSED, "simulation")
                continue
            broken = result.violations[0].invariant if result.violations else "I-17"
            yield Finding(promise, bug, "simulation", broken + after)


def _found(mutant: Mutant) -> RunResult | None:
    """Return the run that is chosen for a bug, if it does not pass."""
    with mutant.applied():
        result = simulate(mutant.shows_in)
    return None if result.passed else result


def by_tests(names: Sequence[str]) -> Iterator[Finding]:
    """Run the tests that have to fail, each against a copy of the source."""
    for promise, mutants in FOUND_BY_TESTS.items():
        for mutant in mutants:
            if names and mutant.name not in names:
                continue
            is_found = not passes(mutant)
            suite = f"`{mutant.found_by}`" if is_found else MISSED
            yield Finding(promise, mutant.name, suite, f"`{mutant.file}`")


def passes(mutant: SourceMutant) -> bool:
    """Return whether the tests beside a mutant pass although it is planted.

    Raises:
        ValueError: its place is not in the source exactly once.
        RuntimeError: the tests could not be run.
    """
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        shutil.copytree(ROOT / "src", source)
        file = source / "journeyman" / mutant.file
        file.write_text(planted(mutant, file.read_text()))
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        done = subprocess.run(  # noqa: S603 - ourselves
            [*command, f"tests/{mutant.found_by}"],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": f"{source}:{ROOT}"},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode not in {0, 1}:
        raise RuntimeError(f"{mutant.name}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.returncode == 0


def planted(mutant: SourceMutant, source: str) -> str:
    """Return the text of a file with the bug in it.

    Raises:
        ValueError: its place is not there exactly once.
    """
    if source.count(mutant.right) != 1:
        raise ValueError(f"{mutant.name}: its place in {mutant.file} is not there once")
    return source.replace(mutant.right, mutant.wrong)


def main() -> int:
    """Plant the bugs, print what found them, and write the page if it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", type=Path, help="where to write the table")
    parser.add_argument("--search", action="store_true", help="do not say where")
    parser.add_argument("names", nargs="*", help="of bugs; none: all")
    chosen = parser.parse_args()
    findings: list[Finding] = []
    simulated = by_simulation(chosen.names, searches=chosen.search)
    for finding in chain(by_tests(chosen.names), simulated):
        findings.append(finding)
        sys.stdout.write(finding.row)
        sys.stdout.flush()
    if chosen.page:
        order = [*FOUND_BY_SIMULATION]
        findings.sort(key=lambda one: order.index(one.promise))
        chosen.page.write_text(PAGE + "".join(one.row for one in findings))
    missed = sum(one.suite == MISSED for one in findings)
    sys.stdout.write(f"{len(findings)} planted, {missed} not found\n")
    return missed


if __name__ == "__main__":
    sys.exit(main())
