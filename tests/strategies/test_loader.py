"""What the loader takes and what it refuses, with which words."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.loading.loader import load
from journeyman.strategies.loading.problems import CODES, Problem

BROKEN = Path(__file__).parent.parent / "broken_strategies"
FINE = """
from journeyman import strategy


@strategy(tags={"echo"})
def NAME(task):
    return task.text
"""


def put(folder: Path, name: str, source: str) -> Path:
    path = folder / name
    path.write_text(source)
    return path


def only_problem(folder: Path) -> Problem:
    loading = load(folder)
    assert loading.strategies == ()
    (problem,) = loading.problems
    return problem


@pytest.mark.parametrize(
    "path", sorted(BROKEN.glob("e*.py")), ids=lambda path: str(path.stem)
)
def test_a_broken_file_is_refused_with_the_code_in_its_name(path: Path) -> None:
    found = [problem for problem in load(BROKEN).problems if problem.path == path]

    assert {problem.code for problem in found} == {path.stem[:4].upper()}
    assert all(problem.fix and problem.message for problem in found)


def test_nothing_of_a_folder_of_broken_files_is_loaded() -> None:
    assert load(BROKEN).strategies == ()


def test_every_code_is_provoked_by_some_test() -> None:
    by_files = {path.stem[:4].upper() for path in BROKEN.glob("e*.py")}

    # Provoked here, and by the tests of names and of installed strategies.
    assert set(CODES) - by_files == {"E100", "E114", "E115", "E116"}


def test_a_problem_code_that_is_not_in_the_table_cannot_be_used() -> None:
    with pytest.raises(ValueError, match="E999"):
        Problem(code="E999", path=Path("x.py"), message="m", fix="f")


def test_one_broken_file_stops_nobody(folder: Path) -> None:
    put(folder, "a.py", "from journeyman import Nothing")
    put(folder, "b.py", FINE.replace("NAME", "echo"))
    put(folder, "c.py", "from journeyman import skip\nraise KeyboardError")

    loading = load(folder)

    assert [loaded.name for loaded in loading.strategies] == ["echo"]
    assert [problem.code for problem in loading.problems] == ["E102", "E103"]


def test_a_failed_import_leaves_no_module_behind(folder: Path) -> None:
    put(folder, "half_done.py", "import journeyman\nx = 1\nraise ValueError")

    load(folder)

    assert not [name for name in sys.modules if "half_done" in name]


def test_ctrl_c_during_an_import_gets_through(folder: Path) -> None:
    put(folder, "interrupted.py", "import journeyman\nraise KeyboardInterrupt")

    with pytest.raises(KeyboardInterrupt):
        load(folder)
    assert not [name for name in sys.modules if "interrupted" in name]


def test_a_problem_is_shown_with_its_line_a_caret_and_the_fix(folder: Path) -> None:
    path = put(folder, "a.py", "import journeyman\nif True:\n\timport nowhere.at_all\n")

    first, source, caret, fix = str(only_problem(folder)).splitlines()

    assert first == f"E102 {path}:3: no module 'nowhere'"
    assert source == "    3 | \timport nowhere.at_all"
    assert caret == "      | \t^"
    assert fix.startswith("    fix: name the package that provides 'nowhere' in the ")


def test_the_caret_of_a_syntax_error_points_at_the_spot(folder: Path) -> None:
    put(folder, "a.py", "import journeyman\nx = = 1\n")

    lines = str(only_problem(folder)).splitlines()

    assert lines[1:3] == ["    2 | x = = 1", "      |     ^"]


def test_a_missing_folder_is_one_problem(tmp_path: Path) -> None:
    problem = only_problem(tmp_path / "nowhere")

    assert (problem.code, problem.line) == ("E100", None)


def test_a_file_that_cannot_be_read_is_a_problem(folder: Path) -> None:
    (folder / "a.py").symlink_to(folder / "gone")

    assert only_problem(folder).code == "E114"


def test_nothing_waits_for_a_file_that_is_none(folder: Path) -> None:
    os.mkfifo(folder / "pipe.py")
    (folder / "endless.py").symlink_to("/dev/zero")

    problems = load(folder).problems

    assert [one.code for one in problems] == ["E114", "E114"]
    assert "endless.py is no regular file" in problems[0].message


def test_an_enormous_file_is_not_parsed(folder: Path) -> None:
    put(folder, "a.py", "#" * 1_000_001)

    assert only_problem(folder).code == "E114"


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"x = '\xff'", id="not UTF-8"),
        pytest.param(b"x = 1\0", id="a null byte"),
        pytest.param(b"x = " + b"(" * 5000, id="nested without end"),
    ],
)
def test_a_file_that_is_no_text_of_python_is_a_syntax_problem(
    folder: Path, data: bytes
) -> None:
    (folder / "a.py").write_bytes(data)

    assert only_problem(folder).code == "E101"


def test_a_byte_order_mark_is_no_problem(folder: Path) -> None:
    (folder / "a.py").write_text(FINE.replace("NAME", "echo"), encoding="utf-8-sig")

    assert [loaded.line for loaded in load(folder).strategies] == [6]


def test_helpers_tests_hidden_files_and_folders_are_left_out(folder: Path) -> None:
    for name in ("_helper.py", "test_echo.py", ".hidden.py", "notes.txt"):
        put(folder, name, "this is not python")
    (folder / "package.py").mkdir()

    loading = load(folder)

    assert (loading.strategies, loading.problems) == ((), ())


def test_two_files_with_one_name_are_both_listed_and_neither_loaded(
    folder: Path,
) -> None:
    put(folder, "a.py", FINE.replace("NAME", "echo"))
    put(folder, "b.py", FINE.replace("NAME", "echo"))
    put(folder, "c.py", FINE.replace("NAME", "other"))

    loading = load(folder)

    assert [loaded.name for loaded in loading.strategies] == ["other"]
    assert [p.path.name for p in loading.problems if p.code == "E109"] == [
        "a.py",
        "b.py",
    ]


def test_all_problems_of_a_strategy_are_told_at_once(folder: Path) -> None:
    put(
        folder,
        "a.py",
        "from journeyman import Strategy\nclass A(Strategy):\n    timeout = -1\n",
    )

    codes = [problem.code for problem in load(folder).problems]

    assert codes == ["E105", "E110", "E112"]


def test_no_bytecode_is_written_beside_the_file(folder: Path) -> None:
    put(folder, "a.py", FINE.replace("NAME", "echo"))

    load(folder)

    assert [path.name for path in folder.iterdir()] == ["a.py"]


def test_the_name_is_the_class_name_in_snake_case(
    load_file: Callable[..., LoadedStrategy],
) -> None:
    loaded = load_file("""
        from journeyman import Strategy

        class CSVToJSON(Strategy):
            '''Turns tables into records.

            More words.
            '''
            version = "2.1"
            kinds = {"csv"}
            timeout = 3

            async def run(self, task):
                return "x"
    """)

    assert (loaded.name, loaded.class_name) == ("csv_to_json", "CSVToJSON")
    assert loaded.description == "Turns tables into records."
    assert (loaded.version, loaded.runner, loaded.timeout) == ("2.1", "loop", 3)


def test_a_base_class_that_starts_with_an_underscore_is_no_strategy(
    load_file: Callable[..., LoadedStrategy],
) -> None:
    loaded = load_file("""
        from journeyman import Strategy, param

        class _Base(Strategy):
            limit: int = param(3, ge=1)

            def run(self, task):
                return self.limit

        class Real(_Base):
            tags = {"real"}
    """)

    assert (loaded.name, loaded.runner, loaded.params) == (
        "real",
        "thread",
        {"limit": 3},
    )


LIMITED = """
    from journeyman import Strategy, param

    class Mine(Strategy):
        tags = {"mine"}
        most: int = param(3, ge=1, lt=10)
        ratio: float = param(0.5, gt=0, le=1)
        mode: str = param("fast", choices=("fast", "exact"))

        def run(self, task):
            return self.most
"""


def test_settings_from_the_configuration_are_used(
    load_file: Callable[..., LoadedStrategy],
) -> None:
    loaded = load_file(LIMITED, most=9, ratio=1, mode="exact")

    assert loaded.params == {"most": 9, "ratio": 1.0, "mode": "exact"}


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("most", 0, "most = 0: must be 1 or more"),
        ("most", 10, "most = 10: must be less than 10"),
        ("most", "3", "most = '3': expected int, not str"),
        ("most", True, "most = True: expected int, not bool"),
        ("ratio", 0, "ratio = 0.0: must be more than 0"),
        ("ratio", 1.5, "ratio = 1.5: must be 1 or less"),
        ("ratio", float("nan"), "ratio = nan: give a finite number"),
        ("mode", "odd", "mode = 'odd': choose one of 'fast', 'exact'"),
        ("moste", 3, "the configuration sets 'moste', which is not a parameter"),
    ],
)
def test_a_setting_that_is_not_allowed_refuses_the_strategy(
    folder: Path, key: str, value: object, message: str
) -> None:
    put(folder, "mine.py", LIMITED.replace("\n    ", "\n"))

    loading = load(folder, {"mine": {key: value}})

    assert loading.strategies == ()
    assert [(p.code, p.message) for p in loading.problems] == [("E108", message)]


@pytest.mark.parametrize(
    ("need", "value", "message"),
    [
        ("hosts={'{hosts}'}", "https://a.example", "needs: hosts has 'https://a.exam"),
        (
            "hosts={'{host}'}",
            "a",
            "needs: hosts has '{host}', which is not a parameter",
        ),
    ],
)
def test_needs_that_no_parameter_fills_rightly_refuse_the_strategy(
    folder: Path, need: str, value: str, message: str
) -> None:
    source = (
        "from journeyman import Needs, Strategy, param\n"
        "class Mine(Strategy):\n"
        "    kinds = {'call'}\n"
        f"    needs = Needs({need})\n"
        "    hosts: str = param('')\n"
        "    def run(self, task): ...\n"
    )
    put(folder, "mine.py", source)

    loading = load(folder, {"mine": {"hosts": value}})

    assert [p.code for p in loading.problems] == ["E108"]
    assert loading.problems[0].message.startswith(message)


def test_settings_for_a_strategy_that_is_not_there_are_told(folder: Path) -> None:
    put(folder, "a.py", FINE.replace("NAME", "echo"))

    loading = load(folder, {"ecko": {"x": 1}})

    (problem,) = loading.problems
    assert (problem.code, problem.fix) == ("E108", "did you mean 'echo'?")
    assert len(loading.strategies) == 1


@pytest.mark.parametrize(
    ("written", "meant"), [("kind", "kinds"), ("tag", "tags"), ("input", "inputs")]
)
def test_a_declaration_with_a_wrong_name_is_recognised(
    folder: Path, written: str, meant: str
) -> None:
    source = f"""
from journeyman import Strategy


class Mine(Strategy):
    {written} = {{"x"}}

    def run(self, task):
        return 1
"""
    put(folder, "mine.py", source)

    problem = only_problem(folder)

    assert problem.code == "E112"
    assert problem.fix == f"did you mean `{meant}`? it says `{written}`"
