"""New generations of strategies while the daemon works."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.daemon.simulated import Household

from journeyman.control.verbs import StopRequest
from journeyman.daemon.commands import OwnerCommands
from journeyman.domain.errors import StateError
from journeyman.strategies.loading.importing import PREFIX

WORKER = """
    import anyio
    from journeyman import Example, Strategy

    from . import _parts


    class Worker(Strategy):
        api, version = 1, "1"
        kinds = {{"work"}}
        examples = [Example({{"kind": "work", "text": "x"}}, expect="{word}")]

        async def on_start(self, ctx):
            ctx.state["starts"] = ctx.state.get("starts", 0) + 1
            ctx.log.info("start", of="{word}")

        async def on_stop(self, ctx):
            ctx.log.info("stop", of="{word}")

        async def run(self, task, ctx):
            ctx.state["runs"] = ctx.state.get("runs", 0) + 1
            await anyio.sleep(_parts.SECONDS if task.text != "x" else 0)
            ctx.log.info("done", of="{word}")
            return "{word}"
"""


BUGGY = """
    from journeyman import Strategy


    class Worker(Strategy):
        kinds = {"work"}

        async def run(self, task):
            raise ValueError("a bug")
"""


@pytest.fixture
def home(tmp_path: Path) -> Household:
    made = Household(tmp_path)
    made.write("_parts.py", "SECONDS = 100\n")
    made.write("worker.py", WORKER.format(word="old"))
    return made


@pytest.fixture(autouse=True)
def _no_module_is_left() -> Iterator[None]:
    before = {name for name in sys.modules if name.startswith(PREFIX)}
    yield
    for name in [n for n in sys.modules if n.startswith(PREFIX) and n not in before]:
        del sys.modules[name]


def _told(home: Household, message: str) -> list[str]:
    return [str(details["of"]) for details in home.said(message)]


def test_work_in_flight_ends_on_the_old_ones_and_new_work_begins_on_the_new(
    home: Household,
) -> None:
    home.network.offer(4)
    report: dict[str, Any] = {}

    async def owner(commands: OwnerCommands) -> None:
        await anyio.sleep(20)
        assert (await commands.status())["carried"] == 4
        home.write("worker.py", WORKER.format(word="new"))
        report.update(await commands.reload())
        assert _told(home, "stop") == []
        home.network.offer(3)
        await anyio.sleep(1_000)

    home.live(owner)

    assert (report["reloaded"], report["changed"]) == (True, ["worker"])
    assert sorted(_told(home, "done")) == ["new"] * 3 + ["old"] * 4
    # The old one ends when its last task has, the new one with the daemon.
    assert _told(home, "start") == ["old", "new"]
    assert _told(home, "stop") == ["old", "new"]
    with home.journal() as journal:
        assert journal.tasks.counts() == {"completed": 7}
        assert journal.strategy_states.get("worker") == {"starts": 2, "runs": 7}


def test_a_helper_file_that_changed_is_loaded_too(home: Household) -> None:
    reports: list[Any] = []

    async def owner(commands: OwnerCommands) -> None:
        for text in ("SECONDS = 7\n", "SECONDS = 'odd'\n", "SECONDS = (\n"):
            home.write("_parts.py", text)
            reports.append(await commands.reload())

    home.live(owner)

    assert [one["reloaded"] for one in reports] == [True, True, False]
    assert reports[0]["changed"] == ["worker"]
    assert "_parts.py" in str(reports[2]["problems"])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("def (", "E101", id="no Python"),
        pytest.param("from journeyman import Nothing", "E102", id="a wrong import"),
        pytest.param("import journeyman\n1 / 0", "E103", id="it raises"),
        pytest.param(
            WORKER.format(word="old").replace('return "old"', 'return "other"'),
            "expected 'old', got 'other'",
            id="an example fails",
        ),
    ],
)
def test_whatever_is_wrong_the_old_ones_work_on(
    home: Household, text: str, told: str
) -> None:
    report: dict[str, Any] = {}

    async def owner(commands: OwnerCommands) -> None:
        await anyio.sleep(20)
        home.write("worker.py", text)
        report.update(await commands.reload())
        home.network.offer(2)
        await anyio.sleep(500)
        assert (await commands.status())["loaded_strategies"] == ["worker"]

    home.live(owner)

    assert not report["reloaded"]
    assert told in str(report["problems"])
    assert home.log.named("strategies.reload_refused")[0]["problems"]
    assert _told(home, "done") == ["old", "old"]
    assert _told(home, "start") == ["old"]


def test_one_bad_file_keeps_the_good_ones_old_and_all_problems_are_told(
    home: Household,
) -> None:
    report: dict[str, Any] = {}

    async def owner(commands: OwnerCommands) -> None:
        home.write("worker.py", WORKER.format(word="new"))
        home.write("bad.py", "def (")
        home.write("worse.py", "import journeyman\n1 / 0\n")
        report.update(await commands.reload())

    home.live(owner)

    assert [problem[:4] for problem in report["problems"]] == ["E101", "E103"]
    assert report["strategies"] == ["worker"]
    assert "new" not in _told(home, "start")


def test_settings_that_cannot_even_be_read_keep_the_old_ones(home: Household) -> None:
    reports: list[Any] = []
    home.network.offer(1)

    async def owner(commands: OwnerCommands) -> None:
        home.settings_file_is_gone = True
        reports.append(await commands.reload())
        await anyio.sleep(500)

    home.live(owner)

    assert "FileNotFoundError" in reports[0]["problems"][0]
    assert _told(home, "done") == ["old"]


def test_strategies_come_and_go(home: Household) -> None:
    reports: list[Any] = []

    async def owner(commands: OwnerCommands) -> None:
        home.write("second.py", WORKER.format(word="2").replace("Worker", "Second"))
        reports.append(await commands.reload())
        (home.folder / "worker.py").unlink()
        reports.append(await commands.reload())

    home.live(owner)

    assert reports[0]["added"] == ["second"]
    assert reports[1]["removed"] == ["worker"]
    assert home.log.named("strategies.reloaded")[1]["strategies"] == ("second",)
    assert sorted(_told(home, "start")) == ["2", "2", "old", "old"]
    assert sorted(_told(home, "stop")) == ["2", "2", "old", "old"]


def test_tasks_passed_over_are_looked_at_again_at_once(home: Household) -> None:
    home.network.offer(2, kind="other")

    async def owner(commands: OwnerCommands) -> None:
        await anyio.sleep(1_000)
        text = WORKER.format(word="new").replace('"work"', '"other"')
        home.write("worker.py", text)
        await commands.reload()
        await anyio.sleep(5)
        assert (await commands.status())["carried"] == 2

    home.live(owner)


def test_params_are_read_again_and_other_settings_wait_for_a_restart(
    home: Household,
) -> None:
    text = """
        from journeyman import Strategy, param


        class Loud(Strategy):
            kinds = {"loud"}
            much: int = param(1, le=10)

            def status(self):
                return f"{self.much} loud"

            async def run(self, task):
                return "x"
    """
    home.write("loud.py", text)
    reports: list[Any] = []

    async def owner(commands: OwnerCommands) -> None:
        home.changes |= {"strategies.params": {"loud": {"much": 3}}, "work.slots": 2}
        reports.append(await commands.reload())
        assert (await commands.status())["strategy_status"] == {"loud": "3 loud"}
        home.changes["strategies.params"] = {"loud": {"much": 11}}
        reports.append(await commands.reload())
        home.changes |= {"strategies.params": {}, "strategies.disabled": ("loud",)}
        reports.append(await commands.reload())
        home.changes["work.slots"] = -1
        reports.append(await commands.reload())

    home.live(owner)

    assert reports[0]["changed"] == ["loud"]
    assert reports[0]["needs_restart"] == ["work.slots"]
    assert "E108" in reports[1]["problems"][0]
    assert reports[2]["removed"] == ["loud"]
    assert "work.slots" in reports[3]["problems"][0]


def test_reloads_at_the_same_time_come_one_after_the_other(home: Household) -> None:
    async def owner(commands: OwnerCommands) -> None:
        home.write("worker.py", WORKER.format(word="new"))
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(commands.reload)

    home.live(owner)

    changed = [told["changed"] for told in home.log.named("strategies.reloaded")]
    assert changed == [("worker",), (), ()]
    assert _told(home, "start") == ["old", "new", "new", "new"]
    assert sorted(_told(home, "stop")) == ["new", "new", "new", "old"]


def test_a_daemon_that_drains_loads_nothing_more(home: Household) -> None:
    home.network.offer(1)
    refusals = []

    async def owner(commands: OwnerCommands) -> None:
        await anyio.sleep(20)
        home.write("worker.py", WORKER.format(word="new"))
        commands.stop(StopRequest())
        await anyio.sleep(1)
        try:
            await commands.reload()
        except StateError as error:
            refusals.append(error.problem)

    home.live(owner)

    assert refusals == ["the daemon is stopping and does not reload"]
    assert _told(home, "done") in ([], ["old"])


def test_files_that_are_watched_are_loaded_when_they_have_come_to_rest(
    home: Household,
) -> None:
    home.changes["strategies.watch"] = True

    async def owner(_commands: OwnerCommands) -> None:
        await anyio.sleep(10)
        assert home.log.named("strategies.reloaded") == []
        for word in ("half", "new"):
            path = home.write("worker.py", WORKER.format(word=word))
            stamp = path.stat().st_mtime_ns + len(home.log.lines)
            os.utime(path, ns=(stamp, stamp))
            await anyio.sleep(2)
        await anyio.sleep(10)
        home.write("worker.py", "def (")
        await anyio.sleep(100)

    home.live(owner)

    (told,) = home.log.named("strategies.reloaded")
    assert told["reason"] == "a strategy file has changed"
    assert _told(home, "start")[-1] == "new"
    assert len(home.log.named("strategies.reload_refused")) == 1


def test_an_old_generation_is_forgotten_when_it_has_ended(home: Household) -> None:
    def living() -> list[str]:
        return [name for name in sys.modules if name.startswith(f"{PREFIX}worker")]

    async def owner(commands: OwnerCommands) -> None:
        first = living()
        for word in ("a", "b", "c"):
            home.write("worker.py", WORKER.format(word=word))
            await commands.reload()
            home.write("worker.py", "def (")
            await commands.reload()
        await anyio.sleep(1)
        assert len(living()) == len(first)

    home.live(owner)


def test_a_new_version_of_the_file_leaves_the_quarantine(home: Household) -> None:
    home.write("worker.py", BUGGY)
    home.network.offer(5)
    seen: list[Any] = []

    async def owner(commands: OwnerCommands) -> None:
        await anyio.sleep(10)
        seen.append((await commands.status())["strategy_health"])
        home.network.offer(1)
        await anyio.sleep(10)
        home.write("worker.py", WORKER.format(word="new"))
        await commands.reload()
        seen.append((await commands.status())["strategy_health"])
        await anyio.sleep(1_000)

    home.live(owner)

    assert seen[0]["worker"]["condition"] == "quarantined"
    assert seen[1] == {}
    assert _told(home, "done") == ["new"]
