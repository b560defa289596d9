"""Strategies that installed packages bring: off until they are listed."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from journeyman.strategies.loading.definitions import (
    InstalledStrategy,
    installed_strategies,
)
from journeyman.strategies.loading.loader import load

SEO = """
from journeyman import Strategy

class SeoBot(Strategy):
    name = "seo_bot"
    version = "2.1.0"
    tags = {"seo"}

    def run(self, task):
        return "x"
"""

Install = Callable[[str, str], Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Put a distribution on the path, as an installer leaves it behind."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))

    def put(module: str, entry_points: str) -> Path:
        (site / "seo_for_tests.py").write_text(module)
        info = site / "journeyman_seo-2.1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: journeyman-seo\nVersion: 2.1.0\n"
        )
        (info / "entry_points.txt").write_text(
            f"[journeyman.strategies]\n{entry_points}\n"
        )
        return site

    yield put
    sys.modules.pop("seo_for_tests", None)


def test_nothing_of_an_installed_package_runs_until_it_is_listed(
    install: Install, folder: Path
) -> None:
    install("raise SystemExit('I ran')", "seo_bot = seo_for_tests:SeoBot")

    assert load(folder).strategies == ()
    assert load(folder).problems == ()
    assert "seo_for_tests" not in sys.modules


def test_what_is_installed_is_shown_with_its_package_and_version(
    install: Install,
) -> None:
    install(SEO, "seo_bot = seo_for_tests:SeoBot")

    assert installed_strategies() == [
        InstalledStrategy("seo_bot", "seo_for_tests:SeoBot", "journeyman-seo 2.1.0")
    ]


@pytest.mark.parametrize("target", ["seo_for_tests:SeoBot", "seo_for_tests"])
def test_a_listed_one_is_loaded_from_a_class_or_a_module(
    install: Install, folder: Path, target: str
) -> None:
    site = install(SEO, f"seo_bot = {target}")

    loading = load(folder, installed=["seo_bot"])

    (loaded,) = loading.strategies
    assert loading.problems == ()
    assert (loaded.name, loaded.distribution) == ("seo_bot", "journeyman-seo 2.1.0")
    assert (loaded.path, loaded.line) == (site / "seo_for_tests.py", 4)
    assert loaded.sources == (site / "seo_for_tests.py",)


def test_its_parameters_are_checked_like_a_file_s(
    install: Install, folder: Path
) -> None:
    install(SEO, "seo_bot = seo_for_tests:SeoBot")

    loading = load(folder, {"seo_bot": {"most": 3}}, ["seo_bot"])

    assert [problem.code for problem in loading.problems] == ["E108"]


def test_a_name_that_nothing_brings_is_answered_with_the_nearest(
    install: Install, folder: Path
) -> None:
    install(SEO, "seo_bot = seo_for_tests:SeoBot")

    (problem,) = load(folder, installed=["seo-bot"]).problems

    assert problem.code == "E116"
    assert "did you mean 'seo_bot'?" in problem.fix


@pytest.mark.parametrize(
    ("module", "code", "words"),
    [
        ("import no_such_library", "E102", "no module 'no_such_library'"),
        ("raise SystemExit", "E103", "the file raised SystemExit"),
        ("SeoBot = 3", "E104", "is not a strategy"),
        (SEO.replace("def run", "def walk"), "E105", "has no run method"),
    ],
)
def test_a_broken_one_is_a_problem_and_stops_nobody(
    install: Install, folder: Path, module: str, code: str, words: str
) -> None:
    install(module, "seo_bot = seo_for_tests:SeoBot")
    (folder / "echo.py").write_text(
        "from journeyman import strategy\n\n@strategy(tags={'echo'})\n"
        "def echo(task): return 1\n"
    )

    loading = load(folder, installed=["seo_bot"])

    assert [loaded.name for loaded in loading.strategies] == ["echo"]
    (problem,) = loading.problems
    assert (problem.code, words in problem.message) == (code, True), problem
