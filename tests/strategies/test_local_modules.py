"""Files beside a strategy: found by a dot, loaded anew, and blamed where they fail."""

import sys
from collections.abc import Callable
from pathlib import Path

from journeyman.domain.tasks import Task, TaskId
from journeyman.strategies.api import Context
from journeyman.strategies.loading.loader import load
from journeyman.strategies.loading.problems import Problem
from journeyman.strategies.loading.registry import Registry, load_registry
from journeyman.strategies.outcomes import StrategyError
from journeyman.strategies.running.runner import Runner

ECHO = """
from journeyman import strategy
{imports}

@strategy(tags={{"echo"}})
def {name}(task):
    return {value}
"""


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def echo(imports: str, value: str = "1", name: str = "echo") -> str:
    return ECHO.format(imports=imports, value=value, name=name)


def output(registry: Registry, name: str = "echo") -> object:
    return registry.find(name).run(None)


def only_problem(folder: Path) -> Problem:
    loading = load(folder)
    assert loading.strategies == ()
    (problem,) = loading.problems
    return problem


def test_a_helper_is_found_by_a_dot(folder: Path) -> None:
    put(folder, "_tables.py", "ROWS = 3")
    put(folder, "a.py", echo("from ._tables import ROWS", "ROWS"))

    loaded = load_registry(folder).find("echo")

    assert loaded.run(None) == 3
    assert [path.name for path in loaded.sources] == ["_tables.py", "a.py"]


def test_a_helper_may_itself_use_others_and_a_folder_of_them(folder: Path) -> None:
    put(folder, "_a.py", "from . import _b\nfrom .words import stop\n")
    put(folder, "_b.py", "N = 1")
    put(folder, "words/__init__.py", "")
    put(folder, "words/stop.py", "from .. import _b\nALL = ['the'] * _b.N\n")
    put(folder, "e.py", echo("from . import _a", "_a.stop.ALL"))

    registry = load_registry(folder)

    assert output(registry) == ["the"]
    assert len(registry.find("echo").sources) == 5


def test_a_folder_without_init_holds_helpers_too(folder: Path) -> None:
    put(folder, "words/stop.py", "ALL = ['the']")
    put(folder, "e.py", echo("from .words.stop import ALL", "ALL"))

    # As Python's own namespace packages, through the finder that Python has.
    assert output(load_registry(folder)) == ["the"]


def test_a_lazy_import_inside_run_finds_the_helper_of_its_own_generation(
    folder: Path,
) -> None:
    put(folder, "_late.py", "N = 1")
    put(folder, "e.py", echo("", "__import__('importlib').import_module"))
    put(
        folder,
        "e.py",
        "from journeyman import strategy\n\n@strategy(tags={'echo'})\n"
        "def echo(task):\n    from ._late import N\n    return N\n",
    )
    old = load_registry(folder)
    assert output(old) == 1
    put(folder, "_late.py", "N = 2")
    new = load_registry(folder)

    assert (output(old), output(new)) == (1, 2)


def test_two_strategies_do_not_share_a_helper(folder: Path) -> None:
    put(folder, "_box.py", "KEPT = []")
    lines = "from ._box import KEPT\nKEPT.append(__name__)"
    put(folder, "a.py", echo(lines, "len(KEPT)", "first"))
    put(folder, "b.py", echo(lines, "len(KEPT)", "second"))

    registry = load_registry(folder)

    assert (output(registry, "first"), output(registry, "second")) == (1, 1)


def test_an_edit_of_a_helper_within_one_second_is_seen(folder: Path) -> None:
    put(folder, "e.py", echo("from . import _n", "_n.N"))
    for number in (1, 2, 3):
        put(folder, "_n.py", f"N = {number}")
        assert output(load_registry(folder)) == number

    assert not (folder / "__pycache__").exists()


def test_the_fingerprint_changes_with_a_helper(folder: Path) -> None:
    put(folder, "e.py", echo("from . import _n"))
    prints = set()
    for number in (1, 2, 2):
        put(folder, "_n.py", f"N = {number}")
        prints.add(load_registry(folder).find("echo").fingerprint)

    assert len(prints) == 2


def test_a_forgotten_generation_leaves_no_module_behind(folder: Path) -> None:
    put(folder, "_n.py", "N = 1")
    put(folder, "forgotten_echo.py", echo("from . import _n", "_n.N"))
    old, new = load_registry(folder), load_registry(folder)

    old.forget()

    names = [name for name in sys.modules if "forgotten_echo" in name]
    package = new.find("echo").module.partition(".")[0]
    assert names
    assert all(name.startswith(package) for name in names)
    assert (output(old), output(new)) == (1, 1)


def test_a_failing_helper_is_blamed_at_its_own_line(folder: Path) -> None:
    helper = put(folder, "_broken.py", "x = 1\nraise ValueError('no table')\n")
    path = put(folder, "a.py", echo("from . import _broken"))

    problem = only_problem(folder)

    assert (problem.code, problem.where) == ("E103", f"{helper}:2")
    assert problem.source_line == "raise ValueError('no table')"
    assert problem.affected_file == path
    assert f"because of this, {path} is not loaded" in str(problem)
    assert not [name for name in sys.modules if "_broken" in name]


async def test_a_bug_inside_a_helper_is_told_at_the_helper_s_line(
    folder: Path, runner: Runner, make_context: Callable[..., Context]
) -> None:
    put(folder, "_maths.py", "def half(n):\n    return 1 / n\n")
    put(folder, "e.py", echo("from ._maths import half", "half(0)"))
    loaded = load_registry(folder).find("echo")

    task = Task(id=TaskId("t1"))
    ended = await runner.run(loaded, task, make_context(), timeout_seconds=9)

    assert isinstance(ended, StrategyError)
    assert ended.where == "strategies/_maths.py:2 in half"
    assert ended.traceback.count("File ") == 2


def test_a_helper_that_is_no_python_is_shown_with_its_caret(folder: Path) -> None:
    put(folder, "_broken.py", "def half(:\n")
    put(folder, "a.py", echo("from ._broken import half"))

    problem = only_problem(folder)

    assert (problem.code, problem.path.name, problem.line) == ("E101", "_broken.py", 1)


def test_a_plain_import_of_a_file_beside_it_is_answered_with_the_dot(
    folder: Path,
) -> None:
    put(folder, "_tables.py", "ROWS = 3")
    put(folder, "a.py", echo("import _tables"))

    problem = only_problem(folder)

    assert problem.code == "E102"
    assert "write `from . import _tables`" in problem.fix


def test_a_missing_helper_is_told_without_our_synthetic_names(folder: Path) -> None:
    for line in ("from ._gone import x", "from . import _gone"):
        put(folder, "a.py", echo(line))

        problem = only_problem(folder)

        assert problem.code == "E102"
        assert "_gone" in problem.message
        assert "journeyman_strategy_" not in str(problem)


def test_a_folder_whose_init_imports_journeyman_is_a_strategy(folder: Path) -> None:
    put(folder, "seo/__init__.py", "import journeyman\nfrom .core import Seo, _Base\n")
    put(
        folder,
        "seo/core.py",
        "from journeyman import Strategy\n\n\nclass _Base(Strategy):\n"
        "    tags = {'seo'}\n    def run(self, task):\n        return 1\n\n\n"
        "class Seo(_Base):\n    pass\n",
    )
    put(folder, "tests/test_seo.py", "raise ValueError")

    registry = load_registry(folder)

    loaded = registry.find("seo")
    assert registry.problems == ()
    assert (loaded.path.name, loaded.line) == ("core.py", 10)
    assert registry.find(str(folder / "seo")) is loaded


def test_a_folder_that_fails_is_named_by_its_folder(folder: Path) -> None:
    put(folder, "seo/__init__.py", "import journeyman\nraise ValueError\n")

    loading = load(folder, {"seo": {"x": 1}})

    assert [problem.code for problem in loading.problems] == ["E103"]
