"""Majuscule: a start-up's text normalisation market, a Rust service on axum.

Bodies go through serde, so the extractor says the first thing that is wrong, in plain
text; what the service itself refuses is an `AppError` (thiserror) written as JSON.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import re
import secrets
import time
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

TASKS = [
    ("invoice header", "acme industries ltd, unit 4b, leeds", 120),
    ("shipping label", "fragile: this side up, keep dry", 85),
    ("ticker headline", "copper futures slip 2.4% on weak demand", 240),
    ("passport line", "garcía márquez, josé maría", 310),
    ("chart title", "net retention by cohort (2021-2024)", 150),
    ("gate display", "flight mj408 to oslo now boarding at c12", 195),
    ("part number", "hx-20 bracket, zinc plated, m6", 105),
]
OUTPUT = "internally tagged enum Output"
STRUCTS = {  # what the structs derive Deserialize from, in camelCase
    "ClaimRequest": {"taskId": "a string", "leaseSeconds": "u32"},
    "SubmitRequest": {"claimId": "a string", "output": OUTPUT, "elapsedMs": "u64"},
    "CompleteRequest": {"claimId": "a string", "submissionId": "a string"},
}


class _Refusal(Exception):  # noqa: N818
    def __init__(self, status: int, body: Any) -> None:
        super().__init__(body)
        self.response = Response(status, body)


def _app_error(status: int, code: str, message: str) -> _Refusal:
    return _Refusal(status, {"error": {"code": code, "message": message}})


def _seen(value: Any) -> str:
    """Name a value as serde's `Unexpected` does."""
    if isinstance(value, str):
        return f"string {json.dumps(value, ensure_ascii=False)}"
    names = {bool: "boolean `{}`", int: "integer `{}`", float: "floating point `{}`"}
    names |= {dict: "map", list: "sequence"}
    return names.get(type(value), "null").format(json.dumps(value))


def _mismatch(value: Any, kind: str) -> str:
    """Return what serde has against the value, or ""."""
    said = f"invalid type: {_seen(value)}, expected {kind}"
    if kind == "a string":
        return "" if isinstance(value, str) else said
    if kind in ("u32", "u64"):
        fits = type(value) is int and 0 <= value < 2 ** int(kind[1:])
        return "" if fits else said.replace("type", "value", type(value) is int)
    if not isinstance(value, dict):
        return said  # the kind is an enum, tagged by its field `type`
    for key in ("type", "value"):
        if key not in value:
            return f"missing field `{key}`"
        if key == "type" and value[key] not in ("text", "json", "url"):
            return (
                f"unknown variant `{value[key]}`, expected one of `text`, `json`, `url`"
            )
    return "" if value["type"] == "json" else _mismatch(value["value"], "a string")


def _skip(text: str, at: int) -> int:
    return at + len(text[at:]) - len(text[at:].lstrip(" \t\r\n,:"))


def _extract(request: Request, struct: str) -> dict[str, Any]:
    """Do what axum's `Json<T>` extractor does."""
    if not re.match(
        r"application/(.+\+)?json", request.headers.get("Content-Type") or ""
    ):
        raise _Refusal(415, "Expected request with `Content-Type: application/json`")
    text = request.raw.decode(errors="replace")

    def place(at: int) -> str:
        line = text.rfind("\n", 0, at) + 1
        return f"at line {text.count(chr(10), 0, at) + 1} column {len(text[line:at].encode())}"

    try:
        body = json.loads(text)
    except json.JSONDecodeError as error:
        said, at = "expected value", error.pos + 1
        if error.pos >= len(text.rstrip()):
            said, at = "EOF while parsing a value", len(text)
        said = f"Failed to parse the request body as JSON: {said} {place(at)}"
        raise _Refusal(400, said) from None

    def wrong(said: str, at: int) -> _Refusal:
        start = "Failed to deserialize the JSON body into the target type: "
        return _Refusal(422, f"{start}{said} {place(at)}")

    if not isinstance(body, dict):
        said = f"invalid type: {_seen(body)}, expected struct {struct}"
        raise wrong(said, 0 if isinstance(body, list) else len(text.rstrip()))
    decoder, at = json.JSONDecoder(), text.index("{") + 1
    while text[(at := _skip(text, at))] != "}":
        key, at = decoder.raw_decode(text, at)
        start = _skip(text, at)
        value, at = decoder.raw_decode(text, start)
        kind = STRUCTS[struct].get(key)
        if kind and (said := _mismatch(value, kind)):
            whole = isinstance(value, (dict, list)) and kind != OUTPUT
            raise wrong(f"{key}: {said}", start if whole else at)
    for key in STRUCTS[struct]:
        if key not in body:
            raise wrong(f"missing field `{key}`", at + 1)
    return body


def _handler(action: Callable[..., Any]) -> Callable[..., Response]:
    def handled(self: Any, request: Request) -> Response:
        try:
            answer = action(self, request)
        except _Refusal as refusal:
            return refusal.response
        return answer if isinstance(answer, Response) else Response(200, answer)

    return handled


class Majuscule(Backend):
    """Judges on submission (200 either way) and settles on completion."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._claims: dict[str, dict[str, Any]] = {}
        self._tasks: dict[str, dict[str, Any]] = {}
        for title, text, bounty in TASKS:
            task = {"taskId": f"tsk_{secrets.token_hex(8)}", "title": title}
            task["instructions"] = "Convert payload.text to upper case, nothing else."
            task["payload"] = {"text": text, "outputType": "text"}
            task["bounty"] = {"credits": bounty}
            self._tasks[task["taskId"]] = {**task, "state": "AVAILABLE"}

    def texts(self) -> dict[str, str]:
        """Return the payload's text of every task."""
        return {key: task["payload"]["text"] for key, task in self._tasks.items()}

    def missing(self, request: Request) -> Response:
        """Answer as an axum router does without a fallback: with no body."""
        allowed = [method for method, path in ACTIONS if path == request.path]
        return Response(405, b"", {"Allow": allowed[0]}) if allowed else Response(404)

    def _agent(self, request: Request) -> dict[str, Any]:
        if request.token not in self._agents:
            raise _app_error(401, "unauthorized", "missing or invalid bearer token")
        return self._agents[request.token]

    def _claim(self, agent: Any, body: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        key = body["claimId"]
        claim = self._claims.get(key)
        if claim is None or claim["agent"] is not agent:
            raise _app_error(404, "claim_not_found", f"claim `{key}` not found")
        if claim["settled"]:
            raise _app_error(
                409, "already_settled", f"claim `{key}` is already settled"
            )
        return claim, self._tasks[claim["taskId"]]

    @_handler
    def register(self, request: Request) -> Any:
        self.book.registrations += 1
        token = f"mj_live_{secrets.token_urlsafe(24)}"
        agent = {"agent_id": f"agt_{secrets.token_hex(8)}", "credits": 100}
        self._agents[token] = agent
        return {**agent, "access_token": token}

    @_handler
    def tasks(self, request: Request) -> Any:
        if request.path.endswith("/get-marketplace-tasks"):
            self._agent(request)
        limit, cursor = request.query.get("limit", "5"), request.query.get("cursor", "")
        if not limit.isdecimal():
            said = "Failed to deserialize query string: limit: invalid digit found in string"
            raise _Refusal(400, said)
        if not 1 <= int(limit) <= 50:
            raise _app_error(400, "invalid_limit", f"limit {limit} is not in 1..=50")
        order = list(self._tasks)
        if cursor and cursor not in order:
            raise _app_error(400, "invalid_cursor", f"invalid cursor `{cursor}`")
        after = order[order.index(cursor) + 1 :] if cursor else order
        free = [t for key in after if (t := self._tasks[key])["state"] == "AVAILABLE"]
        shown = free[: int(limit)]
        following = shown[-1]["taskId"] if len(free) > len(shown) else None
        return {"items": shown, "nextCursor": following}

    marketplace = tasks

    @_handler
    def claim(self, request: Request) -> Any:
        agent, body = self._agent(request), _extract(request, "ClaimRequest")
        key, seconds = body["taskId"], body["leaseSeconds"]
        if key not in self._tasks:
            raise _app_error(404, "task_not_found", f"task `{key}` not found")
        if not 60 <= seconds <= 3600:
            raise _app_error(422, "invalid_lease", "leaseSeconds must be in 60..=3600")
        if self._tasks[key]["state"] != "AVAILABLE":
            raise _app_error(409, "task_unavailable", f"task `{key}` is not available")
        self._tasks[key]["state"] = "LEASED"
        claim = {"claimId": f"clm_{secrets.token_hex(8)}", "taskId": key}
        own = {"agent": agent, "accepted": None, "settled": False}
        self._claims[claim["claimId"]] = claim | own
        self.book.claimed(key)
        until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))
        return {"claim": claim | {"leaseExpiresAt": until}, "task": self._tasks[key]}

    @_handler
    def submit(self, request: Request) -> Any:
        agent, body = self._agent(request), _extract(request, "SubmitRequest")
        claim, task = self._claim(agent, body)
        if body["output"]["type"] != "text":
            raise _app_error(422, "output_type_mismatch", "the task expects `text`")
        right = body["output"]["value"] == task["payload"]["text"].upper()
        number, verdict = (
            f"sub_{secrets.token_hex(8)}",
            "ACCEPTED" if right else "REJECTED",
        )
        claim["accepted"] = number if right else None
        reason = None if right else "output.value is not payload.text in upper case"
        shown = {"submissionId": number, "verdict": verdict, "reason": reason}
        return Response(200, {"submission": shown}, refused=not right)

    @_handler
    def complete(self, request: Request) -> Any:
        agent, body = self._agent(request), _extract(request, "CompleteRequest")
        claim, task = self._claim(agent, body)
        if claim["accepted"] != (number := body["submissionId"]):
            message = f"`{number}` is not the accepted submission of this claim"
            raise _app_error(409, "not_accepted", message)
        claim["settled"], task["state"], paid = (
            True,
            "SETTLED",
            task["bounty"]["credits"],
        )
        self.book.pay(claim["taskId"], paid)
        agent["credits"] += paid
        return {"payout": {"credits": paid, "newBalance": agent["credits"]}}

    @_handler
    def post(self, request: Request) -> Any:
        self._agent(request)
        raise _app_error(403, "forbidden", "your plan does not include this feature")

    checkout = post

    @_handler
    def directory(self, request: Request) -> Any:
        ids = [agent["agent_id"] for agent in self._agents.values()]
        slug = request.query.get("slug")
        return {"agents": [{"agentId": key} for key in ids if slug in (None, key)]}

    agents = directory
