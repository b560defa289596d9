"""Asks a running daemon, over the unix socket in its data directory."""

import socket
import ssl
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self, overload
from urllib.parse import quote

import httpx2 as httpx

from journeyman.control.verbs import FROM_MEMORY, Asked, Request, Verb
from journeyman.domain import errors
from journeyman.domain.tasks import JSON

OK, UNHEALTHY = 200, 503


class RefusedByDaemonError(errors.JourneymanError):
    """The daemon refused; the problem, the fix and the exit code are the daemon's."""

    def __init__(self, problem: str, fix: str, exit_code: int) -> None:
        super().__init__(problem, fix)
        self.exit_code = exit_code


class ControlClient:
    """A connection to the daemon of one data directory. Use it as a context manager."""

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

    @overload
    def call(self, verb: Verb[None]) -> dict[str, JSON]: ...
    @overload
    def call(self, verb: Verb[Asked], request: Asked) -> dict[str, JSON]: ...
    def call(self, verb: Verb[Any], request: Request | None = None) -> dict[str, JSON]:
        """Ask the daemon, and return its answer.

        Raises:
            NotRunningError: no daemon answers.
            TimedOutError: one is there and does not answer in time.
            StateError: it ended before it answered.
            JourneymanError: it refused, and said why.
        """
        fields = asdict(request) if request else {}
        quoted = {name: quote(str(value), safe="") for name, value in fields.items()}
        path = verb.path.format(**quoted)
        body = fields if fields and path == verb.path else None
        self._require_listener()
        try:
            response = self._client.request(
                verb.method, path, json=body, timeout=verb.seconds
            )
        except httpx.TimeoutException as error:
            raise self._silent(verb.seconds) from error
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
            knock.settimeout(FROM_MEMORY)
            try:
                knock.connect(str(self._socket))
            except OSError as error:
                # Also a path that is too long for a socket: no daemon has it open.
                raise self._not_running() from error

    def _silent(self, seconds: float) -> errors.TimedOutError:
        return errors.TimedOutError(
            f"the daemon of {self._socket.parent} did not answer within {seconds:.0f} "
            "s",
            "Look at its log; `journeyman stop` or SIGTERM ends it, and nothing is "
            "lost.",
        )

    def _broken_off(self) -> errors.StateError:
        # Taken for "not running", a post would be repeated.
        return errors.StateError(
            f"the daemon of {self._socket.parent} ended before it answered",
            "What was asked may have been done: look with `journeyman status`.",
        )

    def _not_running(self) -> errors.NotRunningError:
        return errors.NotRunningError(
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
