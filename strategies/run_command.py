"""A program in any language does the tasks: JSON in, the result out; off until set.

The program gets the task as one JSON object on its standard input, and prints the
result: plain text, or {"output": ..., "evidence": {...}}. Its exit code says how it
ended (sysexits.h): 0 a result, 65 or 69 declined, 75 try again later, 78 misconfigured,
anything else an error. How to set it up: docs/how-to/shell-strategy.md.
"""

import json
import os
import shlex
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any, NoReturn

from journeyman import (
    Context,
    Decline,
    Misconfigured,
    Result,
    RetryLater,
    Strategy,
    Task,
    param,
    skip,
)

EX_DATAERR, EX_UNAVAILABLE, EX_TEMPFAIL, EX_CONFIG = 65, 69, 75, 78
LAST_LINES = 5
"""Of what a failed program said, for the log."""
LONGEST_WORDS = 1_000
KEPT = {"PATH", "HOME", "TMPDIR", "LANG", "LANGUAGE", "TZ"}
KEPT |= {"SSL_CERT_FILE", "SSL_CERT_DIR"}
HERE = Path(__file__).parent
FIX = "correct the parameter `command`"


class RunCommand(Strategy):
    """Passes each task to a program, and submits its answer."""

    api, version = 1, "1.0.0"
    runner = "process"

    command: str = param(
        "", help="the program and its arguments; empty: it does nothing"
    )
    shell: bool = param(False, help="run the command with /bin/sh: pipes, variables")
    task_kinds: str = param(
        "", help="the kinds of task that it wants, separated by blanks"
    )
    task_tags: str = param("", help="or tasks with one of these tags")
    seconds: float = param(
        60.0, gt=0, le=3_600, help="for one task; then the program is killed"
    )
    max_bytes: int = param(500_000, ge=1, le=1_000_000, help="of what it prints")
    environment: str = param("", help="variables to pass on beside PATH, LANG, TZ")
    after: float = param(60.0, ge=0, help="seconds until a task is tried again")

    def on_start(self) -> None:
        """Report at once if the program does not exist."""
        if self.command:
            program = self.words()[0]
            if shutil.which(program) is None:
                raise Misconfigured(f"there is no program {program!r}", fix=FIX)

    def wants(self, task: Task) -> Any:  # noqa: ANN401 - any decision
        """Want the kinds and tags that the owner configured."""
        if not self.command:
            why = "no command is configured: set strategies.params.run_command.command"
            return skip(why, specific=False)
        has_tag = not set(self.task_tags.split()).isdisjoint(task.tags)
        if has_tag or task.kind in self.task_kinds.split():
            return True
        return skip(f"kind {task.kind!r} is not wanted", specific=False)

    def run(self, task: Task, ctx: Context) -> Result:
        """Run the program in the empty folder of this task."""
        # Through files, not pipes: however much it prints, it fills no memory.
        printed, said = ctx.workspace / ".printed", ctx.workspace / ".said"
        code = self._execute(task, printed, said, ctx.workspace)
        words = _last_words(said, self.max_bytes)
        if words:
            ctx.log.info("the program printed", text=words)
        if code != 0:
            self._fail(code, words)
        if printed.stat().st_size > self.max_bytes:
            raise RuntimeError(f"it printed more than {self.max_bytes} bytes")
        return _result(printed.read_bytes())

    def words(self) -> list[str]:
        """Return the command as a list; `./` is the folder of this file.

        Raises:
            Misconfigured: a quotation mark is missing.
        """
        if self.shell:
            return ["/bin/sh", "-c", self.command]
        try:
            words = shlex.split(self.command)
        except ValueError as error:
            raise Misconfigured(f"command: {error}", fix=FIX) from None
        return [str(HERE / word) if word.startswith("./") else word for word in words]

    def _execute(self, task: Task, printed: Path, said: Path, folder: Path) -> int:
        try:
            with (
                printed.open("wb") as out,
                said.open("wb") as err,
                # A list, and the task on its input: nothing in a task is a command.
                subprocess.Popen(  # noqa: S603 - what the owner configured
                    self.words(),
                    stdin=subprocess.PIPE,
                    stdout=out,
                    stderr=err,
                    cwd=folder,
                    env=self._environment(),
                    start_new_session=True,
                ) as program,
            ):
                return self._feed(program, _told(task))
        except FileNotFoundError as error:
            raise Misconfigured(f"there is no {error.filename}", fix=FIX) from None
        except PermissionError as error:
            fix = "make it executable, and put it beside this file or below /usr, /opt"
            raise Misconfigured(f"may not run {error.filename}", fix=fix) from None

    def _feed(self, program: "subprocess.Popen[bytes]", told: bytes) -> int:
        try:
            program.communicate(told, timeout=self.seconds)
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"it was not done within {self.seconds:g} s") from None
        finally:
            # Everything that it started: no process of one task survives into the next.
            _kill_group(program.pid)
        return program.returncode

    def _environment(self) -> dict[str, str]:
        wanted = KEPT | set(self.environment.split())
        return {
            name: value
            for name, value in os.environ.items()
            if (name in wanted or name.startswith("LC_"))
            and not name.startswith("JOURNEYMAN_")
        }

    def _fail(self, code: int, words: str) -> NoReturn:
        if code in (EX_DATAERR, EX_UNAVAILABLE):
            raise Decline(words or f"the program declined it (exit code {code})")
        if code == EX_TEMPFAIL:
            raise RetryLater(words or "the program is not ready", after=self.after)
        if code == EX_CONFIG:
            raise Misconfigured(words or "the program needs its owner", fix=FIX)
        how = f"exit code {code}" if code > 0 else f"signal {-code}"
        raise RuntimeError(f"the program failed: {how}: {words or 'no message'}")


def _told(task: Task) -> bytes:
    told = {
        "id": task.id,
        "title": task.title,
        "description": task.description,
        "kind": task.kind,
        "tags": list(task.tags),
        "reward": task.reward,
        "text": task.text,
        "input": task.input,
        "deadline": task.deadline.isoformat() if task.deadline else None,
    }
    return json.dumps(told).encode("ascii")


def _result(printed: bytes) -> Result:
    try:
        text = printed.decode().strip()
    except UnicodeDecodeError:
        raise RuntimeError("what it printed is not valid UTF-8") from None
    if not text:
        raise RuntimeError("it printed nothing, and its exit code was 0")
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return Result(text)
    if isinstance(answer, dict) and "output" in answer:
        return Result(answer["output"], evidence=answer.get("evidence") or {})
    return Result(text)


def _last_words(said: Path, most: int) -> str:
    with said.open("rb") as file:
        file.seek(max(0, said.stat().st_size - most))
        lines = file.read(most).decode(errors="replace").splitlines()
    return " | ".join(lines[-LAST_LINES:])[-LONGEST_WORDS:]


def _kill_group(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return  # nothing of it is left
