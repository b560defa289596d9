"""A user's strategy runs in a process of its own, with all that a trusted one has."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from tests.daemon.conftest import MakeSite, Site

from journeyman.daemon.strategies import ready_strategies
from journeyman.daemon.untrusted import load_as_trusted
from journeyman.domain.tasks import NewTask, Task, TaskId
from journeyman.settings.sections import StrategySettings
from journeyman.strategies import loading
from journeyman.strategies.api import Skip, skip
from journeyman.strategies.child.description import (
    DescriptionError,
    Origin,
    definition_from,
    description_of,
)
from journeyman.strategies.child.kernel import children_of
from journeyman.strategies.loading.loader import load as load_strategies
from journeyman.strategies.loading.registry import Registry
from journeyman.strategies.loading.shipped import LIST, is_shipped, render
from journeyman.strategies.loading.source import Source, parse
from journeyman.strategies.running.child import Isolation
from journeyman.strategies.running.describing import Describer
from journeyman.strategies.running.dry_run import DryRunContext, dry_run
from journeyman.strategies.running.hooks import HookCaller
from journeyman.strategies.running.runner import Runner
from journeyman.strategies.running.template import Template

THIEF = """
import gc, os, sys
from pathlib import Path
from journeyman import Result, Strategy

DATA = Path({data!r})
SEEN = []

def look(where):
    # Seven ways: the file, the variables, the memory, and what is imported.
    for way in (
        lambda: (DATA / "identity.json").read_text(),
        lambda: os.environ["THE_KEY"],
        lambda: Path("/proc/{daemon}/environ").read_bytes(),
        lambda: sys.modules["journeyman.daemon.daemon"],
        lambda: next(o for o in gc.get_objects() if type(o).__name__ == "Identity"),
        lambda: Path("/etc/shadow").read_text(),
        lambda: os.kill({daemon}, 0) if os.getpid() == {daemon} else 1 / 0,
    ):
        try:
            way()
        except BaseException:
            continue
        SEEN.append(where)

look("import")

class Thief(Strategy):
    def __init__(self):
        look("init")

    def wants(self, task):
        look("wants")
        return True

    def on_start(self, ctx):
        look("on_start")
        self.started = os.getpid()

    def on_outcome(self, task, outcome, ctx):
        look("on_outcome")
        ctx.log.info("outcome", seen=SEEN, state=outcome.state)

    def on_stop(self, ctx):
        look("on_stop")
        ctx.log.info("stopped", seen=SEEN, mine=os.getpid() == self.started)

    def status(self):
        look("status")
        return SEEN

    async def run(self, task, ctx):
        look("run")
        ctx.log.info("ran", seen=SEEN, daemon=os.getpid() == {daemon})
        ctx.state["runs"] = ctx.state.get("runs", 0) + 1
        return Result(str(len(task.text.split())))
"""


async def test_a_users_strategy_finds_no_secret_wherever_it_looks(
    make_site: MakeSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_KEY", "of another service")
    site = await make_site(tasks=1)
    file = site.folder / "strategies" / "count_words.py"
    file.write_text(THIEF.format(data=str(site.data), daemon=os.getpid()))

    others = children_of(os.getpid())
    await site.run(work__once=True, strategies__trusted=())

    assert "task.completed" in site.log.names
    told = said(site, "ran") + said(site, "outcome") + said(site, "stopped")
    assert [details["seen"] for details in told] == ["[]"] * 3
    assert told[0]["daemon"] is False
    (started,) = site.log.named("daemon.started")
    assert started["strategies"] == ["thief"]
    assert started["trusted"] == []
    assert set(children_of(os.getpid())) <= set(others)


async def test_what_the_owner_trusts_by_name_runs_in_the_daemon(
    make_site: MakeSite,
) -> None:
    site = await make_site(tasks=1)
    file = site.folder / "strategies" / "mine.py"
    file.write_text(THIEF.format(data=str(site.data), daemon=os.getpid()))
    (site.folder / "strategies" / "count_words.py").unlink()

    await site.run(work__once=True, strategies__trusted=("mine",))

    assert said(site, "ran")[0]["daemon"] is True
    (started,) = site.log.named("daemon.started")
    assert started["trusted"] == ["thief"]


async def test_what_was_open_to_others_is_private_after_a_start(site: Site) -> None:
    await site.run(work__max_tasks=1)
    for name in ("", "identity.json", "journal.db"):
        (site.data / name).chmod(0o755)

    await site.run(work__once=True)

    told = [str(line["message"]) for line in site.log.named("data.mode_mended")]
    assert told == [
        f"{site.data} was 0755",
        f"{site.data / 'identity.json'} was 0755",
        f"{site.data / 'journal.db'} was 0755",
    ]
    modes = [path.stat().st_mode & 0o077 for path in (site.data, *site.data.iterdir())]
    assert set(modes) == {0}


def said(site: Site, message: str) -> list[dict[str, object]]:
    return [
        dict(line["details"])  # type: ignore[call-overload] # a dict, as written
        for line in site.log.named("strategy.log")
        if line["message"] == message
    ]


def test_only_the_content_makes_a_strategy_ours(tmp_path: Path) -> None:
    ready = ready_strategies() / "count_words.py"
    copy = tmp_path / "renamed.py"
    copy.write_bytes(ready.read_bytes())
    same_name = tmp_path / "count_words.py"
    same_name.write_bytes(ready.read_bytes() + b"\nimport os\n")
    folder = tmp_path / "ask_llm"
    folder.mkdir()
    for file in (ready_strategies() / "ask_llm").glob("*.py"):
        (folder / file.name).write_bytes(file.read_bytes())

    assert is_shipped(ready)
    assert is_shipped(copy)
    assert not is_shipped(same_name)
    assert is_shipped(folder / "__init__.py")
    (folder / "more.py").write_text("import os\n")
    assert not is_shipped(folder / "__init__.py")


def test_the_list_of_what_is_shipped_is_that_of_the_ready_strategies() -> None:
    listed = Path(loading.__file__).with_name(LIST).read_text()

    assert listed == render(ready_strategies()), "run `make generate`"


EVERYTHING = '''
"""Everything that a declaration can hold."""
from journeyman import Decline, Example, Needs, NewTask, Strategy, param, score, skip

class Everything(Strategy):
    """Does what the task says."""
    version, kinds, tags = "2.0", {"k"}, ("t",)
    inputs = {"n": int, "odd": set}
    min_reward = 3
    timeout = 12
    needs = Needs(hosts={"example.com"}, memory_mb=99)
    examples = [
        Example({"text": "x"}, expect="x"), Example({"text": ""}, expect=Decline)
    ]
    most = param(5, ge=1, le=9, help="how many")
    word = param("a", choices=["a", "b"])

    def wants(self, task):
        if task.title == "no":
            return skip(f"not {self.word}", specific=False)
        return {"yes": True, "score": score(0.5, cost=1), "odd": "yes"}[task.title]

    def post(self, ctx):
        yield NewTask("a", "b", 1, tags=("t",))
        yield "no task"

    def status(self):
        return {"word": self.word}

    async def run(self, task, ctx, n):
        if not task.text:
            raise Decline("empty")
        return task.text
'''


FORGES = """
import os, journeyman
from journeyman.strategies.child.messages import pack
for descriptor in range(3, 20):
    try:
        os.write(descriptor, pack({"ready": True}))
    except OSError:
        pass
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "strategies"
    made.mkdir()
    return made


Load = Callable[..., Awaitable[Registry]]


@pytest.fixture(scope="module")
def template() -> Iterator[Template]:
    with Template() as one_for_all:
        yield one_for_all


@pytest.fixture
def load(folder: Path, template: Template) -> Load:
    """Load the folder as a daemon does that trusts nobody."""

    async def loaded(**params: object) -> Registry:
        settings = StrategySettings(directory=folder, params=params)  # type: ignore[arg-type] # tables
        describer = Describer(isolation=Isolation(), template=template)
        return await load_as_trusted(settings, describer)

    return loaded


@pytest.fixture
def runner(template: Template) -> Runner:
    return Runner(isolation=Isolation(), template=template, consult_seconds=60)


async def test_the_daemon_knows_all_that_a_confined_strategy_declares(
    folder: Path, load: Load
) -> None:
    (folder / "everything.py").write_text(EVERYTHING)

    registry = await load(everything={"word": "b"})

    assert registry.problems == ()
    (loaded,) = registry.strategies
    cls = type(loaded.instance)
    assert (loaded.name, loaded.class_name, loaded.version) == (
        "everything",
        "Everything",
        "2.0",
    )
    assert loaded.description == "Does what the task says."
    assert (loaded.path, loaded.line) == (folder / "everything.py", 5)
    assert (loaded.runner, loaded.is_confined) == ("process", True)
    assert (loaded.timeout, loaded.needs.memory_mb) == (12, 99)
    assert loaded.params == {"most": 5, "word": "b"}
    assert sorted(loaded.hooks) == ["post", "status"]
    assert loaded.run_arguments == ("task", "ctx", "n")
    assert (cls.kinds, cls.tags, cls.min_reward) == ({"k"}, {"t"}, 3)
    assert [one.task.text for one in cls.examples] == ["x", ""]


async def test_its_needs_may_be_what_its_owner_wrote_into_a_parameter(
    folder: Path, load: Load
) -> None:
    (folder / "caller.py").write_text(
        "from journeyman import Needs, Strategy, param\n"
        "class Caller(Strategy):\n"
        "    kinds = {'call'}\n"
        "    needs = Needs(hosts={'{hosts}', 'c.example'}, files={'{files}'})\n"
        "    hosts: str = param('')\n"
        "    files: str = param('')\n"
        "    def run(self, task): ...\n"
    )

    registry = await load(caller={"hosts": "a.example b.example:80"})

    (loaded,) = registry.strategies
    assert loaded.needs.hosts == ("a.example", "b.example:80", "c.example")
    assert loaded.needs.files == ()


async def test_its_parameters_may_have_any_ordinary_name(
    folder: Path, load: Load
) -> None:
    (folder / "quiz.py").write_text(
        "from journeyman import Strategy, param\n"
        "class Quiz(Strategy):\n"
        "    kinds = {'quiz'}\n"
        "    answers: str = param('all')\n"
        "    blocked: bool = param(False)\n"
        "    def run(self, task): ...\n"
    )

    registry = await load(quiz={"answers": "few"})

    assert registry.problems == ()
    assert registry.strategies[0].params == {"answers": "few", "blocked": False}


async def test_problems_are_told_as_if_the_daemon_had_found_them(
    folder: Path, load: Load
) -> None:
    (folder / "broken.py").write_text("from journeyman import Strategy\n1 / 0\n")
    (folder / "exits.py").write_text(
        "import os, journeyman\nprint('bye', flush=True)\nos._exit(3)\n"
    )
    (folder / "everything.py").write_text(EVERYTHING)
    (folder / "forges.py").write_text(FORGES)

    registry = await load(everything={"most": 10, "mosst": 1}, nobody={"x": 1})

    told = [(one.code, one.path.name, one.line) for one in registry.problems]
    assert told == [
        ("E108", "strategies", None),
        ("E103", "broken.py", 2),
        ("E108", "everything.py", 5),
        ("E108", "everything.py", 5),
        ("E103", "exits.py", None),
        ("E103", "forges.py", None),
    ]
    texts = [str(one) for one in registry.problems]
    assert "ZeroDivisionError" in texts[1]
    assert "exit code 3" in texts[4]
    assert "bye" in texts[4]
    assert "neither a strategy nor a problem" in texts[5]


@pytest.mark.parametrize(
    "name", ["__bool__", "__getattr__", "_answers", "wants", "a b"]
)
def test_no_parameter_changes_what_stands_for_a_strategy_in_the_daemon(
    folder: Path, name: str
) -> None:
    (folder / "everything.py").write_text(EVERYTHING)
    (one,) = load_strategies(folder).strategies
    said = json.loads(json.dumps(description_of(one)))
    said["params"][name] = said["params"].pop("word")
    source = parse(one.path)
    assert isinstance(source, Source)

    with pytest.raises(DescriptionError, match="cannot be named"):
        definition_from(said, Origin(source, one.path))


@pytest.mark.parametrize(
    ("title", "wanted", "reason"),
    [
        ("yes", True, "reward 4"),
        ("no", False, "not a"),
        ("score", True, "0.5 x reward 4 - cost 1 = 1"),
        ("odd", False, "wants returned 'yes': return True, False, skip(...) or sco"),
        ("other", False, "wants raised KeyError: 'other'"),
    ],
)
async def test_its_own_wants_decides_in_its_process(
    folder: Path, load: Load, runner: Runner, title: str, wanted: object, reason: str
) -> None:
    (folder / "everything.py").write_text(EVERYTHING)
    (loaded,) = (await load()).strategies
    task = Task(id=TaskId("t1"), title=title, reward=4, text="x", input={"n": 1})

    done = await dry_run(loaded, task, runner=runner)

    assert done.verdict.wanted is wanted
    assert done.verdict.reason.startswith(reason)


@pytest.mark.parametrize(
    ("text", "wanted", "reason"),
    [("short", True, "reward 4"), ("too long", False, "over 5 characters")],
)
async def test_what_it_says_of_an_input_decides_in_its_process(
    folder: Path, load: Load, runner: Runner, text: str, *, wanted: bool, reason: str
) -> None:
    (folder / "picky.py").write_text(
        "from journeyman import Strategy\n"
        "class Picky(Strategy):\n"
        "    kinds = {'k'}\n"
        "    inputs = {'text': str}\n"
        "    def input_problem(self, task):\n"
        "        long = len(task.input['text']) > 5\n"
        "        return 'over 5 characters' if long else ''\n"
        "    def run(self, text): return text\n"
    )
    (loaded,) = (await load()).strategies
    task = Task(id=TaskId("t1"), kind="k", reward=4, input={"text": text})

    done = await dry_run(loaded, task, runner=runner)

    assert (done.verdict.wanted, done.verdict.reason) == (wanted, reason)


async def test_one_process_keeps_its_loop_and_what_on_start_has_made(
    folder: Path, load: Load, runner: Runner
) -> None:
    (folder / "client.py").write_text("""
import asyncio
from journeyman import Strategy

class Client(Strategy):
    tags = {"x"}

    async def on_start(self, ctx):
        self.loop = asyncio.get_running_loop()
        self.lock = asyncio.Lock()

    async def run(self, task, ctx):
        async with self.lock:
            await asyncio.sleep(0)
        asyncio.create_task(asyncio.sleep(1e6))
        return self.loop is asyncio.get_running_loop()
""")
    (loaded,) = (await load()).strategies
    task = Task(id=TaskId("t1"), tags=("x",))
    async with runner.running():
        ends = [await dry_run(loaded, task, runner=runner) for _ in range(2)]

    assert [getattr(ended.outcome, "output", ended) for ended in ends] == [True, True]


async def test_a_process_is_given_what_came_back_for_a_post(
    folder: Path, load: Load, runner: Runner
) -> None:
    (folder / "asker.py").write_text("""
from journeyman import Strategy

class Asker(Strategy):
    tags = {"x"}

    def on_result(self, post, result, ctx):
        ctx.state["got"] = [type(post).__name__, post.title, list(post.tags), result]

    def run(self, task):
        return 1
""")
    (loaded,) = (await load()).strategies
    post = NewTask(title="Count", description="these", reward=4, tags=("a",))
    context = DryRunContext(state={}).make("asker", None, folder)
    async with runner.running():
        answer = await HookCaller(runner=runner, block_limit=1).call(
            loaded,
            loaded.hooks["on_result"],
            context,
            limit=10,
            post=post,
            result={"words": 7},
        )

    assert answer.failure is None
    assert context.state["got"] == ["NewTask", "Count", ["a"], {"words": 7}]


@pytest.mark.parametrize(
    ("reward", "answer"),
    [(1, skip("too dear")), (2, skip("the day is spent", for_now=True)), (3, None)],
)
async def test_a_process_may_refuse_a_task_just_before_its_claim(
    folder: Path, load: Load, runner: Runner, reward: int, answer: Skip | None
) -> None:
    (folder / "purse.py").write_text("""
from journeyman import Strategy, skip

class Purse(Strategy):
    tags = {"x"}

    async def on_claim(self, task, ctx):
        if task.reward == 1:
            return skip("too dear")
        if task.reward == 2:
            return skip("the day is spent", for_now=True)

    def run(self, task):
        return 1
""")
    (loaded,) = (await load()).strategies
    async with runner.running():
        answered = await HookCaller(runner=runner, block_limit=1).call(
            loaded,
            loaded.hooks["on_claim"],
            DryRunContext().make("purse", None, folder),
            limit=10,
            task=Task(id=TaskId("t1"), tags=("x",), reward=reward),
        )

    assert (answered.failure, answered.value) == (None, answer)


async def test_a_no_for_now_of_a_process_decides_nothing(
    folder: Path, load: Load, runner: Runner
) -> None:
    (folder / "later.py").write_text("""
from journeyman import Strategy, skip

class Later(Strategy):
    def wants(self, task):
        return skip("the day is spent", for_now=True)

    def run(self, task):
        return 1
""")
    (loaded,) = (await load()).strategies
    task = Task(id=TaskId("t1"))
    async with runner.running():
        await runner.consult(loaded, [task], DryRunContext().make("x", None, folder))

    choice = Registry([loaded]).choose(task)

    assert (choice.is_undecided, choice.reason) == (True, "the day is spent")


@pytest.mark.endurance
async def test_a_wants_that_blocks_is_asked_once(
    folder: Path, load: Load, runner: Runner
) -> None:
    (folder / "stuck.py").write_text("""
import time
from journeyman import Strategy

class Stuck(Strategy):
    def wants(self, task):
        while True:
            try:
                time.sleep(1e6)
            except BaseException:
                pass

    def run(self, task):
        return 1
""")
    (loaded,) = (await load()).strategies
    task = Task(id=TaskId("t1"))
    runner.consult_seconds = 0.5

    first = await dry_run(loaded, task, runner=runner)
    second = await dry_run(loaded, task, runner=runner)

    assert first.verdict.reason == "wants blocked its process; it is not asked again"
    assert second.verdict == first.verdict


LIVELY = """
import asyncio, subprocess, sys, urllib.request
from concurrent.futures import ThreadPoolExecutor
from journeyman import Needs, Strategy

class Lively(Strategy):
    tags = {"x"}
    needs = Needs(hosts={"127.0.0.1"})

    async def run(self, task):
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(4) as pool:
            pooled = await asyncio.gather(
                *(loop.run_in_executor(pool, pow, 2, n) for n in range(8))
            )
        reader, writer = await asyncio.open_connection("127.0.0.1", int(task.text))
        writer.write(b"GET / HTTP/1.0\\r\\n\\r\\n")
        answer = await reader.read()
        writer.close()
        url = f"http://127.0.0.1:{task.text}/"
        plain = await asyncio.to_thread(lambda: urllib.request.urlopen(url).read())
        program = await asyncio.create_subprocess_exec(
            sys.executable, "-c", "print(6 * 7)", stdout=subprocess.PIPE
        )
        printed, _ = await program.communicate()
        return [pooled, answer.decode()[-2:], plain.decode(), printed.decode().strip()]
"""


async def test_clients_thread_pools_and_programs_work_in_a_child(
    folder: Path, load: Load, runner: Runner
) -> None:
    (folder / "lively.py").write_text(LIVELY)
    (loaded,) = (await load()).strategies

    async def answer(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.0 200 OK\r\n\r\nok")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        task = Task(id=TaskId("t1"), tags=("x",), text=str(port))
        done = await dry_run(loaded, task, runner=runner)

    assert getattr(done.outcome, "output", done) == [
        [1, 2, 4, 8, 16, 32, 64, 128],
        "ok",
        "ok",
        "42",
    ]
