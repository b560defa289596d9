"""Asks a running daemon, over the unix socket in its data directory."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, overload
from urllib.parse import quote

from journeyman.control.verbs import Asked, Verb, VerbRequest
from journeyman.control.wire import NoListenerError, exchange
from journeyman.domain import errors
from journeyman.domain.tasks import JSON

OK, UNHEALTHY = 200, 503


class RefusedByDaemonError(errors.JourneymanError):
    """The daemon refused; the problem, the fix and the exit code are the daemon's."""

    def __init__(self, problem: str, fix: str, exit_code: int) -> None:
        super().__init__(problem, fix)
        self.exit_code = exit_code


class ControlClient:
    """Asks the daemon of one data directory, with a connection for each call."""

    def __init__(self, path: Path) -> None:
        self._socket = path

    @overload
    def call(self, verb: Verb[None]) -> dict[str, JSON]: ...
    @overload
    def call(self, verb: Verb[Asked], request: Asked) -> dict[str, JSON]: ...
    def call(
        self, verb: Verb[Any], request: VerbRequest | None = None
    ) -> dict[str, JSON]:
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
        body = json.dumps(fields).encode() if fields and path == verb.path else b""
        try:
            status, text = exchange(
                self._socket, verb.method, path, body, seconds=verb.seconds
            )
        except NoListenerError as error:
            raise self._not_running() from error
        except TimeoutError as error:
            raise self._silent(verb.seconds) from error
        except OSError as error:
            raise self._broken_off() from error
        answer = _answer(text)
        if status not in {OK, UNHEALTHY}:
            raise _refused(status, answer)
        return answer

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


def _answer(text: bytes) -> dict[str, JSON]:
    try:
        return dict(json.loads(text))
    except ValueError:  # The plain text of an error that nobody caught.
        return {}


def _refused(status: int, answer: dict[str, JSON]) -> RefusedByDaemonError:
    code = answer.get("exit_code")
    return RefusedByDaemonError(
        str(answer.get("problem") or f"the daemon failed (status {status})"),
        str(answer.get("fix") or "Look at its log."),
        code if isinstance(code, int) else 1,
    )
