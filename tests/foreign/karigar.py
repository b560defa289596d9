"""Karigar: a gig platform of two hundred engineers in Bengaluru, Go with grpc-gateway.

Resource names, protojson (64-bit integers as strings, enums by their full name), page
tokens, google.rpc.Status with details. Each submission is reviewed for some seconds, and
only an accepted one can be completed, which pays.
"""

import base64
import binascii
import re
import secrets
import time
from collections.abc import Callable
from functools import wraps
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_REVIEW_SECONDS = 3
_OBJECTIVE = "Return input_text in upper case."
# google.rpc.Code and the HTTP status that the gateway makes of it.
_INVALID, _NOT_FOUND, _DENIED, _PRECONDITION, _UNAUTHENTICATED = 3, 5, 7, 9, 16
_STATUS = {3: 400, 5: 404, 7: 403, 9: 400, 16: 401}
_TASK = re.compile(r"^tasks/[a-z0-9]{6}$")
_SUBMISSION = re.compile(r"^tasks/[a-z0-9]{6}/submissions/[0-9]+$")
_DURATION = re.compile(r"^-?\d+(\.\d{1,9})?s$")
_TASKS = [
    ("h4k2pz", "Auto-rickshaw rear panel", "keep distance and honk please", "40"),
    ("m9d0qa", "Sweet box lid", "one kilo of assorted sweets", "15"),
    ("t3x7wv", "Metro announcement card", "next station is cubbon park", "28"),
    ("b6n1rc", "Temple notice", "please leave your footwear outside", "19"),
    ("y8s5le", "Cricket scoreboard", "rain stopped play at tea", "33"),
]


class _Status(Exception):  # noqa: N818
    """A google.rpc.Status, as the gateway writes it."""

    def __init__(self, code: int, message: str, *details: dict[str, Any]) -> None:
        body = {"code": code, "message": message, "details": list(details)}
        self.response = Response(_STATUS[code], body)


def _violations(found: list[tuple[str, str]]) -> _Status:
    """Return what protovalidate found wrong, with the fields in the details."""
    lines = [f"{name}: {told}" for name, told in found]
    text = lines[0] if len(lines) == 1 else "\n - " + "\n - ".join(lines)
    detail = {
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        "fieldViolations": [{"field": n, "description": told} for n, told in found],
    }
    joint = "" if text.startswith("\n") else " "
    return _Status(_INVALID, f"validation error:{joint}{text}", detail)


def _get(message: dict[str, Any], name: str, kind: type, label: str) -> Any:
    """Return a field by its proto name or its JSON name, or an empty one."""
    head, *rest = name.split("_")
    value = message.get(head + "".join(word.title() for word in rest))
    value = message.get(name) if value is None else value
    if value is None:
        return kind()
    if not isinstance(value, kind):
        shown = f'"{value}"' if isinstance(value, str) else str(value)
        told = f"proto: invalid value for {label} field {name}: {shown}"
        raise _Status(_INVALID, told)
    return value


def _name(value: str, field: str, pattern: re.Pattern[str]) -> list[tuple[str, str]]:
    if not value:
        return [(field, "value is required")]
    if not pattern.match(value):
        told = f"value does not match regex pattern `{pattern.pattern}`"
        return [(field, told)]
    return []


def _rpc(method: Callable[..., Response]) -> Callable[..., Response]:
    @wraps(method)
    def answer(self: "Karigar", request: Request) -> Response:
        try:
            return method(self, request)
        except _Status as status:
            return status.response

    return answer


class Karigar(Backend):
    """Tasks by resource name; a completion pays what the review accepted."""

    def __init__(self) -> None:
        super().__init__()
        self._workers: dict[str, dict[str, Any]] = {}  # by token
        self._reviews: dict[str, dict[str, Any]] = {}  # by submission name
        self._tasks: dict[str, dict[str, Any]] = {}
        for key, title, text, reward in _TASKS:
            self._tasks[f"tasks/{key}"] = {
                "name": f"tasks/{key}",
                "displayName": title,
                "state": "TASK_STATE_OPEN",
                "worker": "",
                "latestSubmission": "",
                "spec": {"inputText": text, "objective": _OBJECTIVE},
                "rewardCredits": reward,
            }

    def texts(self) -> dict[str, str]:
        return {f"tasks/{key}": text for key, _, text, _ in _TASKS}

    def missing(self, request: Request) -> Response:
        return _Status(_NOT_FOUND, "Not Found").response

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        worker, token = (
            f"workers/{secrets.token_hex(6)}",
            "kgr." + secrets.token_hex(24),
        )
        self._workers[token] = {"name": worker, "balance": 100}
        body = {"agent_id": worker, "access_token": token, "credits": 100}
        return Response(200, body)

    @_rpc
    def tasks(self, request: Request) -> Response:
        worker = self._worker(request)["name"]
        given = request.query.get("limit", "0")
        try:
            limit = min(int(given), 100) or 25
        except ValueError:
            told = f'strconv.ParseInt: parsing "{given}": invalid syntax'
            told = f"type mismatch, parameter: limit, error: {told}"
            raise _Status(_INVALID, told) from None
        if limit < 0:
            raise _violations([("limit", "value must be greater than or equal to 0")])
        token = request.query.get("pageToken") or request.query.get("page_token") or ""
        try:
            start = int(base64.urlsafe_b64decode(token) or b"0")
        except (ValueError, binascii.Error):
            raise _Status(_INVALID, "invalid page token") from None
        seen = [t for t in self._tasks.values() if t["worker"] in ("", worker)]
        end = start + limit
        following = base64.urlsafe_b64encode(str(end).encode()).decode()
        body = {"tasks": seen[start:end], "totalSize": len(seen)}
        body["nextPageToken"] = following if end < len(seen) else ""
        return Response(200, body)

    @_rpc
    def claim(self, request: Request) -> Response:
        worker, body = self._worker(request), self._body(request)
        name = _get(body, "task", str, "string")
        if found := _name(name, "task", _TASK):
            raise _violations(found)
        task = self._task(name)
        if task["state"] != "TASK_STATE_OPEN":
            raise _Status(_PRECONDITION, f"{name} is in state {task['state']}")
        task |= {"state": "TASK_STATE_CLAIMED", "worker": worker["name"]}
        self.book.claimed(name)
        return Response(200, {"task": task, "leaseDuration": "1800s"})

    @_rpc
    def submit(self, request: Request) -> Response:  # noqa: PLR0915
        worker, body = self._worker(request), self._body(request)
        parent = _get(body, "parent", str, "string")
        made = _get(body, "submission", dict, "message")
        found = _name(parent, "parent", _TASK)
        text = _get(made, "output_text", str, "string")
        spent = _get(made, "work_duration", str, "google.protobuf.Duration")
        if spent and not _DURATION.match(spent):
            told = f'proto: invalid google.protobuf.Duration value "{spent}"'
            raise _Status(_INVALID, told)
        if body.get("submission") is None:
            found.append(("submission", "value is required"))
        else:
            fields = {"output_text": text, "work_duration": spent}
            wanting = [f"submission.{name}" for name in fields if not fields[name]]
            found += [(name, "value is required") for name in wanting]
        if found:
            raise _violations(found)
        task = self._task(parent)
        if task["worker"] != worker["name"]:
            raise _Status(_DENIED, f"{parent} is not claimed by {worker['name']}")
        last = self._reviews.get(task["latestSubmission"])
        if last and self._state(last) != "REJECTED":
            told = f"{last['name']} is {self._state(last)} already"
            raise _Status(_PRECONDITION, told)
        number = int(last["name"].rsplit("/", 1)[1]) + 1 if last else 1
        review = {"name": f"{parent}/submissions/{number}", "task": task, "text": text}
        review |= {"until": time.monotonic() + _REVIEW_SECONDS}
        self._reviews[review["name"]] = review
        task |= {"state": "TASK_STATE_SUBMITTED", "latestSubmission": review["name"]}
        shown = {"name": review["name"], "state": "SUBMISSION_STATE_IN_REVIEW"}
        shown |= {"outputText": text, "workDuration": spent}
        return Response(200, shown | {"expectedReviewDuration": f"{_REVIEW_SECONDS}s"})

    @_rpc
    def complete(self, request: Request) -> Response:
        worker, body = self._worker(request), self._body(request)
        name = _get(body, "submission", str, "string")
        if found := _name(name, "submission", _SUBMISSION):
            raise _violations(found)
        review = self._reviews.get(name)
        if review is None:
            raise _Status(_NOT_FOUND, f"{name} not found")
        task = review["task"]
        if task["worker"] != worker["name"]:
            raise _Status(_DENIED, f"{name} does not belong to {worker['name']}")
        if self._state(review) == "IN_REVIEW":
            left = int(review["until"] - time.monotonic()) + 1
            retry = {"@type": "type.googleapis.com/google.rpc.RetryInfo"}
            retry["retryDelay"] = f"{left}s"
            told = f"{name} is IN_REVIEW, it can be completed once it is ACCEPTED"
            raise _Status(_PRECONDITION, told, retry)
        if self._state(review) == "REJECTED":
            told = f"{name} was REJECTED: output_text does not meet the objective"
            raise _Status(_PRECONDITION, f"{told}, create a new submission")
        if task["state"] == "TASK_STATE_COMPLETED":
            raise _Status(_PRECONDITION, f"{task['name']} is already completed")
        task["state"] = "TASK_STATE_COMPLETED"
        worker["balance"] += int(task["rewardCredits"])
        self.book.pay(task["name"], int(task["rewardCredits"]))
        payout = {"credits": task["rewardCredits"]}
        payout["balanceCredits"] = str(worker["balance"])
        return Response(200, {"task": task, "payout": payout})

    def _state(self, review: dict[str, Any]) -> str:
        if time.monotonic() < review["until"]:
            return "IN_REVIEW"
        right = review["text"] == review["task"]["spec"]["inputText"].upper()
        return "ACCEPTED" if right else "REJECTED"

    def _worker(self, request: Request) -> dict[str, Any]:
        if request.token not in self._workers:
            raise _Status(_UNAUTHENTICATED, "missing or invalid bearer token")
        return self._workers[request.token]

    def _body(self, request: Request) -> dict[str, Any]:
        try:
            body = request.json() if request.raw.strip() else {}
        except ValueError:
            body = None
        if not isinstance(body, dict):
            start = request.raw.decode(errors="replace").strip()[:1]
            told = f"proto: syntax error (line 1:1): unexpected token {start}"
            raise _Status(_INVALID, told)
        return body

    def _task(self, name: str) -> dict[str, Any]:
        if name not in self._tasks:
            raise _Status(_NOT_FOUND, f"{name} not found")
        return self._tasks[name]
