"""Whatever a strategy writes, by any way, becomes an event of the log."""

import ctypes
import logging
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import anyio
import pytest
from tests.daemon.conftest import MakeSite, Site

from journeyman.daemon.output import captured_output, private_output
from journeyman.strategies.speaker import Speaking
from journeyman.testing import RecordingLog

WAYS: dict[str, Callable[[], object]] = {
    "print": lambda: print("by print"),  # noqa: T201 - what strategies do
    "stderr": lambda: sys.stderr.write("by stderr\n"),
    "in pieces": lambda: [sys.stdout.write(part) for part in ("by in ", "pieces\n")],
    "logging": lambda: logging.getLogger("mine").warning("by logging"),
    "buffer": lambda: os.write(sys.stdout.fileno(), b"by buffer\n"),
    "os.write": lambda: os.write(2, b"by os.write\n"),
    "C": lambda: ctypes.CDLL(None).dprintf(1, b"by C\n"),
    "program": lambda: subprocess.run(["echo", "by program"], check=True),  # noqa: S607 - any
}
UNKNOWN = {"buffer", "os.write", "C", "program"}


@contextmanager
def as_outside_of_pytest() -> Iterator[None]:
    """Let `logging` and `warnings` write to standard error."""

    def show(message: object, *where: object) -> None:
        sys.stderr.write(f"{where}: {message}\n")

    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setattr(logging.getLogger(), "handlers", [])
        warnings.simplefilter("always")
        patch.setattr(warnings, "showwarning", show)
        yield


@pytest.mark.parametrize("way", list(WAYS))
async def test_it_is_told_in_the_log_and_nowhere_else(
    way: str, capfd: pytest.CaptureFixture[str]
) -> None:
    log = RecordingLog()

    with private_output() as own, captured_output(log):
        with Speaking("mine", "t1"), as_outside_of_pytest():
            WAYS[way]()
        own.write("a line of the log\n")

    told = log.named("output.printed" if way in UNKNOWN else "strategy.log")
    (line,) = told
    text = line["text"] if way in UNKNOWN else line["details"]["text"]  # type: ignore[index] # a dict, as emitted
    assert text == f"by {way}"
    assert way in UNKNOWN or (line["strategy"], line["task_id"]) == ("mine", "t1")
    assert capfd.readouterr() == ("a line of the log\n", "")


async def test_two_that_print_at_once_are_told_apart() -> None:
    log = RecordingLog()

    async def speak(name: str) -> None:
        with Speaking(name):
            for part in (name, " ", name, "\n"):
                sys.stdout.write(part)
                await anyio.lowlevel.checkpoint()

    with captured_output(log):
        async with anyio.create_task_group() as group:
            group.start_soon(speak, "one")
            group.start_soon(speak, "two")

    told = {
        str(line["strategy"]): line["details"] for line in log.named("strategy.log")
    }
    assert told == {"one": {"text": "one one"}, "two": {"text": "two two"}}


LINES = "print('\\n'.join(['y' * 50_000] * 3))"


async def test_who_writes_much_does_not_wait_for_the_loop_that_it_holds() -> None:
    log = RecordingLog()

    with captured_output(log):
        for program in (
            [sys.executable, "-c", LINES],
            ["head", "-c", "2M", "/dev/zero"],
        ):
            subprocess.run(program, check=True, timeout=60)  # noqa: ASYNC221, S603 - what holds the loop

    *told, last = [str(line["text"]) for line in log.named("output.printed")]
    assert told[:3] == ["y" * 50_000] * 3
    assert max(map(len, told)) <= 65_536
    assert sum(map(len, told)) < 1_100_000
    assert last.endswith("bytes more, while the event loop was busy")


CLOSES = """
import asyncio, os, time
from journeyman.daemon.output import captured_output
from journeyman.testing import RecordingLog

async def main():
    with captured_output(RecordingLog()):
        os.close(1)
        os.close(2)
        began = time.process_time()
        time.sleep(0.3)
        used = time.process_time() - began
    print(used < 0.2)

asyncio.run(main())
"""


def test_that_some_code_closes_both_outputs_costs_nothing() -> None:
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", CLOSES], capture_output=True, text=True, check=True
    )

    assert done.stdout == "True\n"


async def test_a_line_without_an_end_is_told_at_the_end(
    capfd: pytest.CaptureFixture[str],
) -> None:
    log = RecordingLog()

    with captured_output(log):
        sys.stdout.write("begun")
        os.write(1, b"\xffraw")
    print("free again")  # noqa: T201 - what the command line does afterwards

    assert [line["text"] for line in log.named("output.printed")] == ["begun", "�raw"]
    assert capfd.readouterr().out == "free again\n"


OUTLIVES = """
import asyncio, atexit, sys
from journeyman.daemon.output import captured_output, nothing_afterwards
from journeyman.testing import RecordingLog

class Held:
    def __del__(self):
        print("by a finalizer")

async def run(held=Held()):
    atexit.register(print, "by an exit handler")
    with nothing_afterwards(), captured_output(RecordingLog()):
        print("told")
        if {fails}:
            raise ValueError

try:
    asyncio.run(run())
except ValueError:
    sys.stderr.write("our message")
"""


@pytest.mark.parametrize("fails", [False, True])
def test_what_is_printed_after_the_daemon_is_written_nowhere(*, fails: bool) -> None:
    script = OUTLIVES.format(fails=fails)

    ended = subprocess.run(  # noqa: S603 - this Python, with the text above
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert (ended.stdout, ended.stderr) == ("", "our message" if fails else "")


SPEAKS = """
import logging, os, sys, warnings
from journeyman import strategy

print("imported")

@strategy(kinds={{"word_count"}}, runner={runner!r})
{form} mine(task, ctx):
    print("printed")
    warnings.warn("warned")
    logging.warning("logged")
    sys.stderr.write("complained\\n")
    for number in range(300):
        print("line", number)
    print("x" * 9_000)
    return str(len(task.text.split()))
"""


@pytest.mark.parametrize(
    ("runner", "form", "trusted"),
    [
        ("loop", "async def", ("*",)),
        ("thread", "def", ("*",)),
        ("process", "def", ()),
    ],
)
async def test_every_runner_tells_it_with_the_strategy_and_its_task(
    make_site: MakeSite, runner: str, form: str, trusted: tuple[str, ...]
) -> None:
    site = await make_site(tasks=1)
    rewrite(site, SPEAKS.format(runner=runner, form=form))

    with as_outside_of_pytest(), captured_output(site.log, 8_192):
        await site.run(
            work__once=True,
            strategies__trusted=trusted,
            isolation__output_bytes=8_192,
        )

    lines = site.log.named("strategy.log")
    texts = [str(line["details"]) for line in lines]
    for said in ("imported", "printed", "warned", "logged", "complained"):
        assert [text for text in texts if said in text], (
            said,
            site.log.named("output.printed"),
        )
    printed = next(line for line in lines if line["details"] == {"text": "printed"})
    assert printed["strategy"] == "mine"
    assert printed["task_id"]
    counted = [text for text in texts if text.startswith("{'text': 'line ")]
    assert len(counted) == 300
    assert "bytes more were left out: isolation.output_bytes" in texts[-1]


def rewrite(site: Site, source: str) -> None:
    (site.folder / "strategies" / "count_words.py").write_text(source)
