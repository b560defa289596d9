"""A task exchange in the manner of a Google Cloud API: resources, states and etags.

A task goes OPEN -> CLAIMED -> SUBMITTED -> COMPLETED; each step wants the task's present
etag and answers a new one. Completion verifies and pays, or returns the task to CLAIMED.
"""

import base64
import json
import re
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_TYPE = "type.googleapis.com/google."
_RPC = f"{_TYPE}rpc."
_Run = Callable[[str], Any]
_HEADERS = {"Content-Type": "application/json; charset=UTF-8"}
_UNKNOWN = "Invalid JSON payload received. Unknown name"
_CODES = {"INVALID_ARGUMENT": 400, "FAILED_PRECONDITION": 400, "UNAUTHENTICATED": 401}
_CODES |= {"PERMISSION_DENIED": 403, "NOT_FOUND": 404, "ABORTED": 409}
_CREDENTIAL = (
    "Expected OAuth 2 access token, login cookie or other valid authentication "
    "credential. See https://developers.google.com/identity/sign-in/web/devconsole-project."
)
_SEED = [
    ("tasks/q7f2", "Normalize a station name", 22, "lower harbour street"),
    ("tasks/k1d9", "Normalize a part number", 9, "bolt m8x40-zn rev c"),
    ("tasks/w3hh", "Normalize a book title", 35, "a field guide to mosses"),
    ("tasks/z0pa", "Normalize a postal line", 17, "po box 88, kiln lane"),
    ("tasks/m5ce", "Normalize a menu entry", 28, "lentil soup with lemon"),
    ("tasks/t8xn", "Normalize a ship's name", 61, "queen of the western isles"),
]


class _Status(Exception):  # noqa: N818
    def __init__(self, status: str, message: str, *details: dict[str, Any]) -> None:
        self.status, self.message, self.details = status, message, list(details)


def _info(reason: str, **metadata: str) -> dict[str, Any]:
    info = {"@type": f"{_RPC}ErrorInfo", "reason": reason, "metadata": metadata}
    return info | {"domain": "taskexchange.googleapis.com"}


def _bad(*violations: tuple[str, str], message: str = "") -> _Status:
    rows = [
        {"field": f, "description": d} if f else {"description": d}
        for f, d in violations
    ]
    text = message or "\n".join(f"{f}: {d}" if f else d for f, d in violations)
    detail = {"@type": f"{_RPC}BadRequest", "fieldViolations": rows}
    return _Status("INVALID_ARGUMENT", text, detail)


def _value(field: str, kind: str, value: Any = None, why: str = "") -> _Status:
    text = f"Invalid value at '{field}' ({kind}), {why or json.dumps(value)}"
    return _bad((field, text), message=text)


class GoogleTransitions(Backend):
    """Tasks with an etag and named states; completion verifies and pays."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}  # token -> agents/...
        self._version = 0
        self._tasks: dict[str, dict[str, Any]] = {}
        order = "Set output.text to input.text in upper case."
        for name, title, reward, text in _SEED:
            self._tasks[name] = {
                "name": name,
                "displayName": title,
                "description": order,
            }
            self._tasks[name].update(input={"text": text}, rewardCredits=str(reward))
            self._move(self._tasks[name], "OPEN")

    def texts(self) -> dict[str, str]:
        """Return the text of every task."""
        return {name: text for name, _, _, text in _SEED}

    def missing(self, request: Request) -> Response:
        """Answer a method that this API does not have."""
        return self._error(_Status("NOT_FOUND", "Method not found."))

    def register(self, request: Request) -> Response:
        """Create an agent."""
        self.book.registrations += 1
        name, token = (
            f"agents/{secrets.token_hex(5)}",
            f"ya29.{secrets.token_urlsafe(24)}",
        )
        self._agents[token] = name
        body = {"agent_id": name, "access_token": token, "credits": 100}
        return Response(200, body, dict(_HEADERS))

    def marketplace(self, request: Request) -> Response:
        """List open tasks to anyone."""
        return self._call(
            request, lambda agent: self._list(request, agent), public=True
        )

    def tasks(self, request: Request) -> Response:
        """List open tasks and the caller's own."""
        return self._call(request, lambda agent: self._list(request, agent))

    def claim(self, request: Request) -> Response:
        """Move a task from OPEN to CLAIMED."""

        def run(agent: str) -> dict[str, Any]:
            body = self._message(request, "name", "etag", "leaseDuration")
            seconds = self._duration(body["leaseDuration"])
            task = self._task(body, agent, "OPEN")
            expires = datetime.now(UTC) + timedelta(seconds=seconds)
            task.update(
                claimant=agent, leaseExpireTime=expires.strftime("%Y-%m-%dT%H:%M:%SZ")
            )
            self.book.claimed(task["name"])
            return self._move(task, "CLAIMED")

        return self._call(request, run)

    def submit(self, request: Request) -> Response:
        """Move a task from CLAIMED to SUBMITTED."""

        def run(agent: str) -> dict[str, Any]:
            body = self._message(request, "name", "etag", "output")
            output = body["output"]
            if not isinstance(output, dict):
                raise _value("output", f"{_TYPE}cloud.taskexchange.v1.Output", output)
            self._known(output, {"text"}, " at 'output'")
            if not output.get("text"):
                raise _bad(("output.text", "Required field is missing."))
            if not isinstance(output["text"], str):
                raise _value("output.text", "TYPE_STRING", output["text"])
            task = self._task(body, agent, "CLAIMED")
            task["output"] = output
            return self._move(task, "SUBMITTED")

        return self._call(request, run)

    def complete(self, request: Request) -> Response:
        """Verify the output; move a task from SUBMITTED to COMPLETED and pay it."""

        def run(agent: str) -> dict[str, Any]:
            task = self._task(
                self._message(request, "name", "etag"), agent, "SUBMITTED"
            )
            name = task["name"]
            if task["output"]["text"] != task["input"]["text"].upper():
                self._move(task, "CLAIMED")
                text = (
                    f"The output of '{name}' did not pass verification. The task was "
                )
                text += "returned to state CLAIMED; submit a corrected output."
                info = _info("VERIFICATION_FAILED", state="CLAIMED", etag=task["etag"])
                raise _Status("FAILED_PRECONDITION", text, info)
            self.book.pay(name, int(task["rewardCredits"]))
            return self._move(task, "COMPLETED")

        return self._call(request, run)

    def _move(self, task: dict[str, Any], state: str) -> dict[str, Any]:
        self._version += 1
        raw = b"\x07\x06" + (0x160000 + self._version * 8191).to_bytes(6, "big")
        task.update(state=state, etag=base64.b64encode(raw).decode())
        return dict(task)

    def _call(self, request: Request, run: _Run, public: bool = False) -> Response:  # noqa: FBT001, FBT002
        agent = self._agents.get(request.token, "")
        try:
            if not agent and not public:
                had, why = (
                    "is missing required authentication credential",
                    "CREDENTIALS_MISSING",
                )
                if request.token:
                    had, why = (
                        "had invalid authentication credentials",
                        "ACCESS_TOKEN_INVALID",
                    )
                raise _Status(
                    "UNAUTHENTICATED", f"Request {had}. {_CREDENTIAL}", _info(why)
                )
            return Response(200, run(agent), dict(_HEADERS))
        except _Status as problem:
            return self._error(problem)

    @staticmethod
    def _error(problem: _Status) -> Response:
        code = _CODES[problem.status]
        error = {"code": code, "message": problem.message, "status": problem.status}
        if problem.details:
            error["details"] = problem.details
        return Response(code, {"error": error}, dict(_HEADERS))

    def _list(self, request: Request, agent: str) -> dict[str, Any]:
        for name in request.query:
            if name not in ("limit", "pageToken"):
                why = f"Field '{name}' could not be found in request message."
                raise _bad(
                    ("", f'{_UNKNOWN} "{name}": Cannot bind query parameter. {why}')
                )
        limit = request.query.get("limit", "0")
        if not re.fullmatch(r"-?\d{1,9}", limit):
            raise _value("limit", "TYPE_INT32", limit)
        size = min(max(int(limit), 0) or 4, 100)
        try:
            start = int(
                base64.urlsafe_b64decode(request.query.get("pageToken") or "MA==")
            )
        except ValueError:
            raise _bad(("pageToken", "The page token is invalid.")) from None
        who = ("", agent)
        seen = [
            task for task in self._tasks.values() if task.get("claimant", "") in who
        ]
        answer: dict[str, Any] = {"tasks": seen[start : start + size]}
        if start + size < len(seen):
            answer["nextPageToken"] = base64.urlsafe_b64encode(
                b"%d" % (start + size)
            ).decode()
        return answer

    @staticmethod
    def _known(body: dict[str, Any], names: set[str], where: str = "") -> None:
        texts = [
            f'{_UNKNOWN} "{n}"{where}: Cannot find field.'
            for n in body
            if n not in names
        ]
        if texts:
            raise _bad(
                *((where[5:-1], text) for text in texts), message="\n".join(texts)
            )

    def _message(self, request: Request, *names: str) -> dict[str, Any]:
        try:
            body = json.loads(request.raw or b"{}")
        except ValueError:
            text = request.raw[:40].decode(errors="replace")
            text = f"Invalid JSON payload received. Unexpected token.\n{text}\n^"
            raise _Status("INVALID_ARGUMENT", text) from None
        if not isinstance(body, dict):
            raise _bad(("", f'{_UNKNOWN} "": Root element must be a message.'))
        if "lease_duration" in body:  # protobuf takes a field's original name as well
            body["leaseDuration"] = body.pop("lease_duration")
        self._known(body, set(names))
        lacking = [name for name in names if body.get(name) in (None, "")]
        if lacking:
            raise _bad(*((name, "Required field is missing.") for name in lacking))
        for name in ("name", "etag"):
            if not isinstance(body[name], str):
                raise _value(name, "TYPE_STRING", body[name])
        return body

    @staticmethod
    def _duration(value: Any) -> float:
        match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)s", str(value))
        if not match:
            why = "Field 'leaseDuration', Illegal duration format; duration must end with 's'"
            raise _value("lease_duration", f"{_TYPE}protobuf.Duration", why=why)
        if not 60 <= float(match[1]) <= 86400:
            raise _bad(("leaseDuration", "Must be between 60s and 86400s."))
        return float(match[1])

    def _task(self, body: dict[str, Any], agent: str, state: str) -> dict[str, Any]:
        name = body["name"]
        if not re.fullmatch(r"tasks/[^/]+", name):
            raise _bad(
                (
                    "name",
                    f'Invalid resource name "{name}". Expected format: tasks/{{task}}',
                )
            )
        task = self._tasks.get(name)
        if task is None:
            raise _Status("NOT_FOUND", f"Resource '{name}' was not found.")
        if task["state"] != state:
            why = (
                f"Task is in state {task['state']}; this method requires state {state}."
            )
            row = {"type": "STATE", "subject": name, "description": why}
            detail = {"@type": f"{_RPC}PreconditionFailure", "violations": [row]}
            raise _Status("FAILED_PRECONDITION", why, detail)
        if state != "OPEN" and task["claimant"] != agent:
            raise _Status(
                "PERMISSION_DENIED", f"The caller is not the claimant of '{name}'."
            )
        if task["etag"] != body["etag"]:
            text = (
                f"The etag in the request does not match the current etag of '{name}'. "
            )
            text += "Read the task again and retry with its etag."
            raise _Status("ABORTED", text, _info("ETAG_MISMATCH", resource=name))
        return task
