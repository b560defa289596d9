"""Asks a running daemon, over the unix socket in its data directory."""

import socket
import ssl
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

import httpx2 as httpx

from journeyman.domain.errors import (
    JourneymanError,
    NotRunningError,
    StateError,
    TimedOutError,
)
from journeyman.domain.tasks import JSON, NewTask, SpendId

ANSWER_SECONDS = 5.0
"""A healthy daemon answers from memory, in a few milliseconds."""
TRANSACTION_SECONDS = 120.0
"""A post or a top-up waits for the network, which has time-outs of its own."""
OK, UNHEALTHY = 200, 503


class RefusedByDaemonError(JourneymanError):
    """The daemon said no; it says why in its own words, with its own exit code."""

    def __init__(self, problem: str, fix: str, exit_code: int) -> None:
        """Repeat what the daemon said."""
        super().__init__(problem, fix)
        self.exit_code = exit_code


class ControlClient:
    """The console's commands as methods. Use it as a context manager.

    Every method raises:
        NotRunningError: no daemon answers.
        TimedOutError: one is there and does not answer in time.
        StateError: it ended before it answered.
        JourneymanError: it refused, and said why.
    """

    def __init__(self, path: Path) -> None:
        self._socket = path
        self._client = httpx.Client(
            transport=httpx.HTTPTransport(
                uds=str(path),
                # No TLS on a socket of this machine: loading roots would take longer
                # than the whole command.
                verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
            ),
            base_url="http://daemon",
            trust_env=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._client.close()

    def status(self) -> dict[str, JSON]:
        """Give everything at a glance; see `DaemonDesk.status`."""
        return self._ask("GET", "/status")

    def health(self) -> dict[str, JSON]:
        """Give `healthy` and `problem`."""
        return self._ask("GET", "/healthz")

    def pause(self) -> None:
        """Have it claim nothing until `resume`."""
        self._ask("POST", "/pause")

    def resume(self) -> None:
        """Have it claim again."""
        self._ask("POST", "/resume")

    def stop(self) -> None:
        """Have it drain and exit, as after SIGTERM."""
        self._ask("POST", "/stop")

    def reload(self) -> dict[str, JSON]:
        """Have it load its strategies anew; see `Reloaded`."""
        return self._ask("POST", "/reload", timeout=TRANSACTION_SECONDS)

    def release(self, strategy: str) -> dict[str, JSON]:
        """Have it let a strategy out of quarantine."""
        return self._ask("POST", f"/strategies/{quote(strategy, safe='')}/release")

    def promote(self, strategy: str) -> dict[str, JSON]:
        """Have it give a strategy work that was in shadow."""
        return self._ask("POST", f"/strategies/{quote(strategy, safe='')}/promote")

    def post(self, new: NewTask) -> dict[str, JSON]:
        """Have it publish a task within the owner's limits."""
        body = asdict(new) | {"tags": list(new.tags)}
        return self._ask("POST", "/posts", body, TRANSACTION_SECONDS)

    def top_up(self, credits_: int) -> dict[str, JSON]:
        """Have it ask for a payment page."""
        body: dict[str, JSON] = {"credits": credits_}
        return self._ask("POST", "/top-ups", body, TRANSACTION_SECONDS)

    def settle_top_up(self, spend_id: SpendId, *, paid: bool) -> dict[str, JSON]:
        """Have it book a top-up on the owner's word, or forget it."""
        verdict = "confirm" if paid else "cancel"
        return self._ask("POST", f"/top-ups/{spend_id}/{verdict}")

    def _ask(
        self,
        method: str,
        path: str,
        body: dict[str, JSON] | None = None,
        timeout: float = ANSWER_SECONDS,
    ) -> dict[str, JSON]:
        self._require_listener()
        try:
            response = self._client.request(method, path, json=body, timeout=timeout)
        except httpx.TimeoutException as error:
            raise self._silent(timeout) from error
        except httpx.ConnectError as error:
            raise self._not_running() from error
        except httpx.TransportError as error:
            raise self._broken_off() from error
        answer = _answer(response)
        if response.status_code not in {OK, UNHEALTHY}:
            raise _refused(response.status_code, answer)
        return answer

    def _require_listener(self) -> None:
        """Knock first: the library leaks a socket for each connection that fails."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as knock:
            knock.settimeout(ANSWER_SECONDS)
            try:
                knock.connect(str(self._socket))
            except OSError as error:
                # Also a path that is too long for a socket: no daemon has it open.
                raise self._not_running() from error

    def _silent(self, seconds: float) -> TimedOutError:
        return TimedOutError(
            f"the daemon of {self._socket.parent} did not answer within {seconds:.0f} "
            "s",
            "Look at its log; `journeyman stop` or SIGTERM ends it, and nothing is "
            "lost.",
        )

    def _broken_off(self) -> StateError:
        """Tell of a lost answer; taken for "not running", a post would be repeated."""
        return StateError(
            f"the daemon of {self._socket.parent} ended before it answered",
            "What was asked may have been done: look with `journeyman status`.",
        )

    def _not_running(self) -> NotRunningError:
        return NotRunningError(
            f"no daemon runs in the data directory {self._socket.parent}",
            "Start it with `journeyman run`, or name its --data-dir.",
        )


def _answer(response: httpx.Response) -> dict[str, JSON]:
    try:
        return dict(response.json())
    except ValueError:  # The plain text of an error that nobody caught.
        return {}


def _refused(status: int, answer: dict[str, JSON]) -> RefusedByDaemonError:
    code = answer.get("exit_code")
    return RefusedByDaemonError(
        str(answer.get("problem") or f"the daemon failed (status {status})"),
        str(answer.get("fix") or "Look at its log."),
        code if isinstance(code, int) else 1,
    )
