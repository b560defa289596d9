"""Nothing that an author does gets out of a runner but one of six endings."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator

import anyio
import anyio.lowlevel
import pytest
from tests.strategies.endings import is_like

from journeyman.domain.tasks import JSON, Result, Task, TaskId
from journeyman.strategies.api import BudgetView, Context
from journeyman.strategies.api.outcomes import Decline, Misconfigured, RetryLater
from journeyman.strategies.loading.loaded import LoadedStrategy
from journeyman.strategies.outcomes import RunOutcome, StrategyError, TimedOut
from journeyman.strategies.running.runner import Runner

Run = Callable[..., Awaitable[RunOutcome]]
Load = Callable[..., LoadedStrategy]

TASK = Task(id=TaskId("t1"), text="a b")
FORMS = pytest.mark.parametrize("form", ["async def", "def"])
PATIENCE_SECONDS = 60.0
HEAD = """
import asyncio, time
from journeyman import Decline, Misconfigured, Result, RetryLater, strategy

"""


def written(body: str, *, form: str = "async def", options: str = "") -> str:
    return (
        f"{HEAD}@strategy(tags={{'x'}}{options})\n"
        f"{form} mine(task, ctx):\n    " + body.replace("\n", "\n    ")
    )


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Holds threads of strategies back; opened at the latest when the test ends."""
    event = threading.Event()
    yield event
    event.set()


@FORMS
async def test_a_result_comes_back_whole(run_file: Run, form: str) -> None:
    body = "return Result([1, 'two'], evidence={'by': 'hand'})"

    ended = await run_file(written(body, form=form))

    assert ended == Result([1, "two"], evidence={"by": "hand"})


@FORMS
@pytest.mark.parametrize(
    ("expression", "output"),
    [("'x'", "x"), ("3", 3), ("{'a': [None]}", {"a": [None]}), ("False", False)],
)
async def test_a_bare_value_is_a_result(
    run_file: Run, form: str, expression: str, output: JSON
) -> None:
    ended = await run_file(written(f"return {expression}", form=form))

    assert ended == Result(output)


@FORMS
@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (
            "Decline('too long', words=9, what={1})",
            Decline("too long", words=9, what="{1}"),
        ),
        ("RetryLater('not ready', after=5)", RetryLater("not ready", after=5)),
        ("RetryLater()", RetryLater("", after=60)),
        (
            "Misconfigured('no key', fix='set it')",
            Misconfigured("no key", fix="set it"),
        ),
        (
            "Misconfigured(fix='set the key')",
            Misconfigured("set the key", fix="set the key"),
        ),
        ("Decline('half \\ud800')", Decline("half \\ud800")),
    ],
)
async def test_a_deliberate_end_is_told_apart_from_a_bug(
    run_file: Run, form: str, raised: str, expected: RunOutcome
) -> None:
    assert is_like(await run_file(written(f"raise {raised}", form=form)), expected)


@FORMS
@pytest.mark.parametrize(
    "raised",
    [
        "ValueError('boom')",
        "SystemExit(3)",
        "GeneratorExit",
        "asyncio.CancelledError",
        "StopIteration",
        "BaseException",
        "RetryLater(after=-1)",
        "RetryLater(after=1e300)",
    ],
)
async def test_whatever_else_is_raised_is_a_crash(
    run_file: Run, form: str, raised: str
) -> None:
    ended = await run_file(written(f"raise {raised}", form=form))

    assert isinstance(ended, StrategyError)


@FORMS
async def test_a_crash_points_at_the_authors_own_line(run_file: Run, form: str) -> None:
    body = "import json\nreturn json.loads(task.text)"

    ended = await run_file(written(body, form=form), text="{oops")

    assert isinstance(ended, StrategyError)
    assert ended.error.startswith("JSONDecodeError: Expecting property name")
    assert ended.where == "strategies/mine.py:8 in mine"
    assert ended.traceback.count("File") == 1
    assert "return json.loads(task.text)" in ended.traceback


async def test_an_exception_that_cannot_be_shown_is_still_a_crash(
    run_file: Run,
) -> None:
    body = "class Odd(Exception):\n    def __str__(self): return 1 / 0\nraise Odd"

    ended = await run_file(written(body))

    assert isinstance(ended, StrategyError)
    assert ended.error == "Odd: (cannot be shown)"


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ("None", "run returned None: return the result, or raise Decline"),
        ("float('nan')", "output is nan, which JSON cannot represent"),
        (
            "[1, {'a': float('inf')}]",
            "output[1]['a'] is inf, which JSON cannot represent",
        ),
        ("{1: 2}", "output has the key 1, which is not a string"),
        ("{'a': {3}}", "output['a'] is a set: give a str, number, bool, list "),
        ("b'x'", "output is a bytes: give a str"),
        (
            "[__import__('asyncio').sleep(1)]",
            "output[0] is a coroutine: `await` is missing before the call of sleep",
        ),
        ("(1, 2)", "output is a tuple: give a str"),
        ("'x' * 1_048_577", "too large: 1048585 bytes as JSON (limit 1048576)"),
        ("10 ** 5000", "it cannot be written as JSON"),
        ("Result('x', evidence=[1])", "evidence is a list, not a dict"),
        ("Result('x', evidence={'a': 1j})", "evidence['a'] is a complex: give a"),
        ("[x := []] and x.append(x) or x", "nested too deeply (over 100 levels)"),
    ],
)
async def test_a_result_that_is_not_json_is_a_crash_with_a_clear_text(
    run_file: Run, expression: str, error: str
) -> None:
    ended = await run_file(written(f"return {expression}"))

    assert isinstance(ended, StrategyError)
    assert ended.error.startswith(error)
    assert ended.where == "strategies/mine.py:6 in run"


async def test_half_a_surrogate_pair_in_the_result_is_no_bug_of_the_strategy(
    run_file: Run,
) -> None:
    assert isinstance(await run_file(written(r"return '\ud800'")), Decline)


@FORMS
async def test_a_field_missing_from_the_input_is_declined_before_the_run(
    run_file: Run, form: str
) -> None:
    source = written("return 1", form=form, options=", inputs={'n': int}")

    assert is_like(await run_file(source), Decline("the input has no 'n'"))


async def test_run_is_given_only_the_arguments_that_it_names(
    load_file: Load, make_context: Callable[..., Context], runner: Runner
) -> None:
    loaded = load_file("""
        from journeyman import strategy

        @strategy(tags={"x"}, inputs={"b": int, "a": str, "c": list})
        async def mine(a, ctx, b=7, unasked=8):
            return [a, b, unasked]
    """)
    task = Task(id=TaskId("t1"), input={"a": "x", "b": 2, "c": [], "unasked": 9})

    ended = await runner.run(loaded, task, make_context(), timeout_seconds=9)

    assert ended == Result(["x", 2, 8])


async def test_a_plain_def_may_run_on_the_loop(run_file: Run) -> None:
    body = "asyncio.get_running_loop()\nreturn 'here'"
    source = written(body, form="def", options=", runner='loop'")

    assert await run_file(source) == Result("here")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("await asyncio.sleep(1e9)", id="waits"),
        pytest.param("while True: await asyncio.sleep(0)", id="spins politely"),
        pytest.param(
            "import anyio\nwith anyio.CancelScope(shield=True): await anyio.sleep(1e9)",
            id="hides in a shield",
        ),
        pytest.param(
            "while True:\n"
            "    try: await asyncio.sleep(1e9)\n"
            "    except asyncio.CancelledError: pass",
            id="swallows its cancellation",
        ),
        pytest.param(
            "try: await asyncio.sleep(1e9)\nfinally: return 'too late'",
            id="answers too late",
        ),
        pytest.param(
            "try: await asyncio.sleep(1e9)\nfinally: raise ValueError",
            id="fails while it cleans up",
        ),
        pytest.param(
            "try: await asyncio.sleep(1e9)\nfinally: await asyncio.sleep(1e9)",
            id="cleans up forever",
        ),
    ],
)
async def test_a_coroutine_that_never_ends_is_timed_out(
    run_file: Run, body: str
) -> None:
    assert await run_file(written(body), seconds=0.05) == TimedOut(0.05)

    await anyio.lowlevel.checkpoint()  # no cancellation is left over for us


async def test_clean_up_within_the_grace_is_finished(
    run_file: Run, runner: Runner
) -> None:
    runner.grace_seconds = PATIENCE_SECONDS
    body = """
try:
    await asyncio.sleep(1e9)
finally:
    await asyncio.sleep(0)
    ctx.state["cleaned"] = True"""
    state: dict[str, object] = {}

    ended = await run_file(written(body), seconds=0.05, state=state)

    assert ended == TimedOut(0.05)
    assert state == {"cleaned": True}


async def test_the_strategys_own_timeout_goes_before_the_owners(
    run_file: Run,
) -> None:
    source = written("await asyncio.sleep(1e9)", options=", timeout=0.05")

    assert await run_file(source, seconds=1e9) == TimedOut(0.05)


@pytest.mark.parametrize(
    "body",
    [
        "while True: pass",
        "time.sleep(1e9)",
        "await asyncio.sleep(0)\nwhile True: pass",
        "try:\n    while True: pass\nexcept Exception: return 'hidden'",
    ],
)
async def test_a_strategy_that_blocks_the_loop_is_interrupted_and_gets_no_more_work(
    run_file: Run, runner: Runner, body: str
) -> None:
    runner.block_limit = 0.2

    ended = await run_file(written(body))

    assert isinstance(ended, Misconfigured)
    assert ended.problem.startswith(
        "blocked the event loop for 0.2 s at strategies/mine.py:"
    )
    assert ended.fix.startswith("use a plain def, which runs in a thread")


@FORMS
async def test_the_callers_cancellation_gets_through(
    load_file: Load,
    make_context: Callable[..., Context],
    runner: Runner,
    form: str,
    gate: threading.Event,
) -> None:
    waiting = (
        "ctx.state['gate'].wait()" if form == "def" else "await asyncio.sleep(1e9)"
    )
    loaded = load_file(written(waiting, form=form))
    context = make_context(state={"gate": gate})

    with anyio.move_on_after(0.05) as scope:
        await runner.run(loaded, TASK, context, timeout_seconds=1e9)

    assert scope.cancelled_caught
    assert context.cancelled


async def test_a_coroutine_that_swallows_the_callers_cancellation_is_left(
    run_file: Run,
) -> None:
    body = """
while True:
    try: await asyncio.sleep(1e9)
    except asyncio.CancelledError: pass"""

    with anyio.move_on_after(0.05) as scope:
        await run_file(written(body), seconds=1e9)

    assert scope.cancelled_caught


async def test_ctrl_c_on_the_loop_gets_through(run_file: Run) -> None:
    with pytest.raises(KeyboardInterrupt):
        await run_file(written("raise KeyboardInterrupt"))


async def test_a_thread_that_never_returns_costs_one_task(
    run_file: Run, gate: threading.Event
) -> None:
    body = "ctx.state['gate'].wait()"
    source = written(body, form="def")

    ended = await run_file(source, seconds=0.05, state={"gate": gate})

    assert ended == TimedOut(0.05)
    stuck = [thread for thread in threading.enumerate() if "mine" in thread.name]
    assert all(thread.daemon for thread in stuck)


async def test_a_polite_thread_sees_that_its_time_is_over(
    run_file: Run, gate: threading.Event
) -> None:
    body = "while not ctx.cancelled: pass\nctx.state['gate'].set()"

    ended = await run_file(
        written(body, form="def"), seconds=0.05, state={"gate": gate}
    )

    assert ended == TimedOut(0.05)
    assert gate.wait(PATIENCE_SECONDS)


async def test_a_strategy_that_leaves_too_many_threads_behind_gets_no_more_work(
    load_file: Load,
    make_context: Callable[..., Context],
    runner: Runner,
    gate: threading.Event,
) -> None:
    loaded = load_file(written("ctx.state['gate'].wait()\nreturn 1", form="def"))

    async def once() -> RunOutcome:
        context = make_context(state={"gate": gate})
        return await runner.run(loaded, TASK, context, timeout_seconds=0.01)

    ended = [await once() for _ in range(4)]
    gate.set()
    for thread in threading.enumerate():
        if thread.name == "strategy-mine":
            await anyio.to_thread.run_sync(thread.join)
    await anyio.wait_all_tasks_blocked()

    assert ended[:3] == [TimedOut(0.01)] * 3
    assert isinstance(ended[3], Misconfigured)
    assert "3 of its runs never ended" in ended[3].problem
    after = await runner.run(
        loaded, TASK, make_context(state={"gate": gate}), timeout_seconds=9
    )
    assert after == Result(1)


async def test_progress_from_a_thread_is_told_on_the_loop(run_file: Run) -> None:
    told: list[tuple[float, str, bool]] = []

    def progress(fraction: float, note: str) -> None:
        is_on_loop = threading.current_thread() is threading.main_thread()
        told.append((fraction, note, is_on_loop))

    body = "ctx.progress(0.5, 'half')\nctx.progress(7)\nreturn 1"
    await run_file(written(body, form="def"), progress=progress)

    assert told == [(0.5, "half", True), (1.0, "", True)]


@FORMS
async def test_the_budget_is_read_on_the_loop_once_whoever_asks(
    run_file: Run, form: str
) -> None:
    read_on_loop: list[bool] = []

    def budget() -> BudgetView:
        is_on_loop = threading.current_thread() is threading.main_thread()
        read_on_loop.append(is_on_loop)
        return BudgetView(balance=7)

    body = "return [ctx.budget.balance, ctx.budget.balance]"
    ended = await run_file(written(body, form=form), budget=budget)

    assert ended == Result([7, 7])
    assert read_on_loop == [True]


async def test_an_outsiders_task_cancel_is_not_mistaken_for_a_time_out(
    run_file: Run,
) -> None:
    async def host() -> None:
        await run_file(written("await asyncio.sleep(1e9)"), seconds=1e9)

    loop = asyncio.get_running_loop()
    task = loop.create_task(host())
    await anyio.wait_all_tasks_blocked()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
