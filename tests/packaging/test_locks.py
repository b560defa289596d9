"""The lock files pin everything by hash, agree with each other, and name no host."""

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LOCKS = (
    "requirements/run.lock",
    "requirements/dev.lock",
    "requirements/build.lock",
    "requirements/uv.lock",
    "requirements/browser.lock",
    "requirements/web.lock",
    "requirements/cluster.lock",
    "requirements/image.lock",
    "requirements/notify.lock",
    "requirements/manifests.lock",
)
SHIPPED = (
    "requirements/run.lock",
    "requirements/build.lock",
    "requirements/web.lock",
    "requirements/cluster.lock",
    "requirements/image.lock",
    "requirements/notify.lock",
)
PIN = re.compile(r"(?P<name>[a-z0-9-]+)==(?P<version>[^ ]+)( ; [^\\]+)? \\")
HASH = re.compile(r"    --hash=sha256:[0-9a-f]{64}( \\)?")

Pins = dict[str, set[str]]


def pins(lock: Path) -> Pins:
    """The versions of each package; several where platforms differ."""
    found: Pins = defaultdict(set)
    for line in lock.read_text(encoding="utf-8").splitlines():
        if match := PIN.fullmatch(line):
            found[match["name"]].add(match["version"])
    return found


def unmet(requirements: list[str], pinned: Pins) -> list[str]:
    """The requirements that no pin, or a pin outside their range, answers."""
    return [
        str(wanted)
        for wanted in map(Requirement, requirements)
        if not (versions := pinned.get(canonicalize_name(wanted.name)))
        or not all(wanted.specifier.contains(version) for version in versions)
    ]


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_holds_pins_and_their_hashes_and_no_host_or_path(
    root: Path, lock: str
) -> None:
    lines = (root / lock).read_text(encoding="utf-8").splitlines()

    assert [s for s in lines if not PIN.fullmatch(s) and not HASH.fullmatch(s)] == []
    pinned_last = [i for i, s in enumerate(lines) if PIN.fullmatch(s)]
    assert [lines[i] for i in pinned_last if not HASH.fullmatch(lines[i + 1])] == []


def test_the_runtime_lock_answers_every_dependency_of_the_project(
    root: Path, pyproject: dict[str, Any]
) -> None:
    wanted = pyproject["project"]["dependencies"]

    assert unmet(wanted, pins(root / "requirements/run.lock")) == []


def test_the_development_lock_answers_the_project_and_its_dev_group(
    root: Path, pyproject: dict[str, Any]
) -> None:
    wanted = (
        pyproject["project"]["dependencies"] + pyproject["dependency-groups"]["dev"]
    )

    assert unmet(wanted, pins(root / "requirements/dev.lock")) == []


@pytest.mark.parametrize(
    ("lock", "extra"),
    [
        ("image", "llm"),
        ("web", "web"),
        ("cluster", "cluster"),
        ("notify", "notify"),
    ],
)
def test_the_lock_of_an_image_answers_the_project_and_its_extras(
    root: Path, pyproject: dict[str, Any], lock: str, extra: str
) -> None:
    extras = pyproject["project"]["optional-dependencies"]
    wanted = pyproject["project"]["dependencies"] + extras["web"] + extras["otel"]
    wanted += extras[extra]

    assert unmet(wanted, pins(root / f"requirements/{lock}.lock")) == []


def test_the_browser_lock_answers_its_group(
    root: Path, pyproject: dict[str, Any]
) -> None:
    wanted = pyproject["dependency-groups"]["browser"]

    assert unmet(wanted, pins(root / "requirements/browser.lock")) == []


def test_the_build_lock_answers_the_build_system(
    root: Path, pyproject: dict[str, Any]
) -> None:
    wanted = pyproject["build-system"]["requires"]

    assert unmet(wanted, pins(root / "requirements/build.lock")) == []


@pytest.mark.parametrize("lock", SHIPPED)
def test_what_is_tested_is_what_is_shipped(root: Path, lock: str) -> None:
    tested = pins(root / "requirements/dev.lock")

    shipped = pins(root / lock)

    assert {n: v for n, v in shipped.items() if tested.get(n) != v} == {}
