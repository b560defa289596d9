"""A small team's bounty service in Rust: axum, serde, uuid and the validator crate.

Extractors refuse in axum's plain text, validation answers the crate's map of errors, and
the handlers say {"error": ...}. The text comes with the claim; the completion pays.
"""

import json
import re
import secrets
import uuid
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_TASKS = [
    (1042, "Signal flags", "all stations report to harbour control", 12),
    (1043, "Headline", "council votes to reopen the old bridge", 30),
    (1047, "Button caption", "save and continue", 8),
    (1051, "Telegram", "arriving thursday stop bring the maps stop", 45),
    (1052, "Poster", "harvest fair, saturday from ten", 22),
    (1060, "Plate", "do not open while running", 17),
    (1066, "Title card", "the long winter, part two", 27),
]
_INSTRUCTIONS = "Return the input in upper case; change nothing else."
# The structs that the handlers deserialize, field by field.
_CLAIM = {"task_id": "u64", "agent_id": "string"}
_OUTPUT = {"format": ["plain_text", "markdown"], "body": "string"}
_SUBMIT = {"claim_id": "uuid", "output": _OUTPUT, "summary": "string"}
_COMPLETE = {"submission_id": "u64", "version": "u32"}
_NAMES = {id(_CLAIM): "ClaimRequest", id(_OUTPUT): "Output"}
_NAMES |= {id(_SUBMIT): "SubmitRequest", id(_COMPLETE): "CompleteRequest"}
_EOF = "EOF while parsing a value at line 1 column 0"
_QUERY = "Failed to deserialize query string"
_INTO = "Failed to deserialize the JSON body into the target type"
_JSON = json.JSONDecoder()
_UUID = re.compile(r"(?i)[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}")


class _Rejection(Exception):  # noqa: N818
    """The answer is its arguments: a status and a body."""


def _fail(status: int, message: str) -> _Rejection:
    return _Rejection(status, {"error": message})


def _handler(action: Callable[..., Response]) -> Callable[..., Response]:
    def answer(self: Any, request: Request) -> Response:
        try:
            return action(self, request)
        except _Rejection as no:
            return Response(*no.args)

    return answer


def _unexpected(value: Any) -> str:
    """Return what serde calls a value that it did not want."""
    if isinstance(value, bool):
        return f"boolean `{str(value).lower()}`"
    if isinstance(value, int | float):
        return f"{'integer' if isinstance(value, int) else 'floating point'} `{value}`"
    if isinstance(value, str):
        return f"string {json.dumps(value, ensure_ascii=False)}"
    return "null" if value is None else "map" if isinstance(value, dict) else "sequence"


def _wrong(value: Any, kind: Any) -> str:
    """Return serde's complaint about one value, or "" when it fits."""
    if isinstance(kind, list) and not isinstance(value, str):
        return f"invalid type: {_unexpected(value)}, expected string or map"
    if isinstance(kind, list):
        known = " or ".join(f"`{name}`" for name in kind)
        return "" if value in kind else f"unknown variant `{value}`, expected {known}"
    if kind in ("u64", "u32"):
        if not isinstance(value, int) or isinstance(value, bool):
            return f"invalid type: {_unexpected(value)}, expected {kind}"
        fits = 0 <= value < 2 ** int(kind[1:])
        return "" if fits else f"invalid value: {_unexpected(value)}, expected {kind}"
    if not isinstance(value, str):
        wanted = "a UUID string" if kind == "uuid" else "a string"
        return f"invalid type: {_unexpected(value)}, expected {wanted}"
    if kind == "string" or _UUID.fullmatch(value):
        return ""
    odd = re.search(r"(?i)[^0-9a-f-]", value)
    wanted = "expected an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-]"
    why = f"invalid length: expected length 32 for simple format, found {len(value)}"
    if odd:
        why = f"invalid character: {wanted}, found `{odd[0]}` at {odd.start() + 1}"
    return f"UUID parsing failed: {why}"


def _deserialize(text: str, whole: Any, struct: dict[str, Any], path: str = "") -> Any:
    """Check one JSON object in its order, as serde does, and return it."""

    def data_error(where: str, message: str) -> _Rejection:
        key = re.escape(where.rpartition(".")[2])
        found = re.search(rf'"{key}"\s*:\s*', text) if where else None
        end = _JSON.raw_decode(text, found.end())[1] if found else len(text.rstrip())
        line, column = (
            text.count("\n", 0, end) + 1,
            end - (text.rfind("\n", 0, end) + 1),
        )
        place = (f"{where}: " if where else "") + message
        return _Rejection(422, f"{_INTO}: {place} at line {line} column {column}")

    if not isinstance(whole, dict):
        wanted = f"expected struct {_NAMES[id(struct)]}"
        raise data_error(path, f"invalid type: {_unexpected(whole)}, {wanted}")
    for name in [name for name in whole if name in struct]:
        kind, where = struct[name], f"{path}.{name}" if path else name
        if isinstance(kind, dict):
            _deserialize(text, whole[name], kind, where)
        elif message := _wrong(whole[name], kind):
            raise data_error(where, message)
    if absent := [name for name in struct if name not in whole]:
        raise data_error(path, f"missing field `{absent[0]}`")
    return whole


def _body(request: Request, struct: dict[str, Any]) -> dict[str, Any]:
    """Extract `Json<T>`."""
    media = (
        (request.headers.get("Content-Type") or "").partition(";")[0].strip().lower()
    )
    if not re.fullmatch(r"application/(.+\+)?json", media):
        raise _Rejection(415, "Expected request with `Content-Type: application/json`")
    try:
        text = request.raw.decode()
        whole = json.loads(text)
    except ValueError as error:
        where = (
            f"line {getattr(error, 'lineno', 1)} column {getattr(error, 'colno', 1)}"
        )
        what = f"expected value at {where}" if request.raw.strip() else _EOF
        raise _Rejection(
            400, f"Failed to parse the request body as JSON: {what}"
        ) from None
    read: dict[str, Any] = _deserialize(text, whole, struct)
    return read


class Axum(Backend):
    """Tasks, claims and submissions behind axum handlers."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        names = ("id", "title", "input", "amount")
        self._tasks: dict[int, dict[str, Any]] = {
            row[0]: {**dict(zip(names, row, strict=True)), "status": "open"}
            for row in _TASKS
        }
        self._claims: dict[str, dict[str, Any]] = {}
        self._submissions: dict[int, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the input of every task."""
        return {str(id_): task["input"] for id_, task in self._tasks.items()}

    def missing(self, request: Request) -> Response:
        """Return axum's bare 404 or 405."""
        allowed = [
            m for m, path in ACTIONS if path == request.path and m != request.method
        ]
        return (
            Response(405, "", {"Allow": allowed[0]}) if allowed else Response(404, "")
        )

    def _agent(self, request: Request) -> dict[str, Any]:
        if request.token not in self._agents:
            raise _fail(
                401, "Invalid token" if request.token else "Missing credentials"
            )
        return self._agents[request.token]

    def register(self, request: Request) -> Response:
        """Create an agent; the handler takes no body."""
        self.book.registrations += 1
        agent = {"agent_id": f"agt_{secrets.token_hex(8)}", "credits": 100}
        self._agents[token := secrets.token_hex(32)] = agent
        return Response(200, agent | {"access_token": token})

    def marketplace(self, request: Request) -> Response:
        """List the open tasks, a page at a time."""
        for name, text in request.query.items():
            if name in ("limit", "after") and not re.fullmatch(r"\+?\d+", text):
                return Response(400, f"{_QUERY}: {name}: invalid digit found in string")
        limit = min(max(int(request.query.get("limit", 5)), 1), 100)
        after = int(request.query.get("after", 0))
        rest = [
            t for t in self._tasks.values() if t["status"] == "open" and t["id"] > after
        ]
        more = {
            "instructions": _INSTRUCTIONS,
            "output_format": "plain_text",
            "status": "open",
        }
        tasks = []
        for task in rest[:limit]:
            payout = {"amount": task["amount"], "currency": "credits"}
            tasks.append(
                {"id": task["id"], "title": task["title"], **more, "payout": payout}
            )
        next_ = tasks[-1]["id"] if len(rest) > limit else None
        return Response(
            200, {"tasks": tasks, "page": {"limit": limit, "next_after": next_}}
        )

    def agents(self, request: Request) -> Response:
        """List the agents."""
        return Response(
            200, {"agents": [agent["agent_id"] for agent in self._agents.values()]}
        )

    directory = agents

    @_handler
    def tasks(self, request: Request) -> Response:
        """List the same for an agent."""
        self._agent(request)
        return self.marketplace(request)

    @_handler
    def claim(self, request: Request) -> Response:
        """Give a task, and its input, to an agent."""
        agent, body = self._agent(request), _body(request, _CLAIM)
        if body["agent_id"] != agent["agent_id"]:
            raise _fail(403, "agent_id does not belong to this token")
        task = self._tasks.get(body["task_id"])
        if task is None:
            raise _fail(404, f"task {body['task_id']} not found")
        if task["status"] != "open":
            raise _fail(
                409, f"task {task['id']} is not open (status: {task['status']})"
            )
        if sum(c["agent"] is agent and c["active"] for c in self._claims.values()) >= 3:
            raise _fail(409, "claim limit reached: at most 3 active claims per agent")
        id_ = str(uuid.uuid4())
        self._claims[id_] = {"id": id_, "task": task, "agent": agent, "active": True}
        task["status"] = "claimed"
        self.book.claimed(str(task["id"]))
        return Response(
            200, {"claim_id": id_, "task_id": task["id"], "input": task["input"]}
        )

    @_handler
    def submit(self, request: Request) -> Response:
        """Store a submission, or the next version of it; it is judged at completion."""
        agent, body = self._agent(request), _body(request, _SUBMIT)
        if len(body["summary"]) < 10:  # #[validate(length(min = 10))]
            params = {"min": 10, "value": body["summary"]}
            error = {"code": "length", "message": None, "params": params}
            raise _Rejection(400, {"summary": [error]})
        claim = self._claims.get(str(uuid.UUID(body["claim_id"])))
        if claim is None or claim["agent"] is not agent:
            raise _fail(404, f"claim {body['claim_id']} not found")
        if not claim["active"]:
            raise _fail(409, f"claim {claim['id']} is already completed")
        old = claim.get("submission") or {
            "id": 501 + len(self._submissions),
            "version": 0,
        }
        new = old | {
            "claim": claim,
            "version": old["version"] + 1,
            "body": body["output"]["body"],
        }
        claim["submission"] = self._submissions[old["id"]] = new
        return Response(200, {"submission_id": new["id"], "version": new["version"]})

    @_handler
    def complete(self, request: Request) -> Response:
        """Judge the submission and pay it."""
        agent, body = self._agent(request), _body(request, _COMPLETE)
        found = self._submissions.get(body["submission_id"])
        if found is None or found["claim"]["agent"] is not agent:
            raise _fail(404, f"submission {body['submission_id']} not found")
        claim, task = found["claim"], found["claim"]["task"]
        if not claim["active"]:
            raise _fail(409, f"submission {found['id']} is already completed")
        this, version = f"submission {found['id']}", found["version"]
        if body["version"] != version:
            raise _fail(409, f"{this} is at version {version}, got {body['version']}")
        if found["body"] != task["input"].upper():
            raise _fail(422, f"{this} rejected: output does not match, submit again")
        claim["active"], task["status"] = False, "completed"
        self.book.pay(str(task["id"]), task["amount"])
        agent["credits"] += task["amount"]
        return Response(
            200, {"credits_earned": task["amount"], "balance": agent["credits"]}
        )
