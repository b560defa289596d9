"""A Rust service: axum 0.8, serde with deny_unknown_fields, garde, uuid.

The rejections of the Json extractor go out as they are, in plain text: syntax is 400, data
422, one fault at a time in the order of the body, with serde_path_to_error's path before
it and serde_json's line and column behind. garde's report is plain text too. Only the
service's own errors are JSON.
"""

import hashlib
import json
import re
import secrets
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_TEXTS = [
    "ferrous filings on a magnet",
    "the baker's dozen was fourteen",
    "cross the café terrace quietly",
    "a borrowed key opens no doors",
    "six crates of winter pears",
    "Slow trains, fast rivers",
    "ink dries before the letter ends",
    "the museum of lost gloves",
    "north wind; shutters closed by nine",
    "every bridge has a toll",
    "Quarry road is shut until may",
]


class _RejectError(Exception):
    """A JsonRejection."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class _Node:
    """A JSON value and where it stands."""

    def __init__(self, value: Any, start: int, end: int) -> None:
        self.value, self.start, self.end = value, start, end
        self.members: list[tuple[str, int, _Node]] = []  # key, its end, value


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _parse(text: str, at: int) -> _Node:
    """Parse valid JSON with positions (json.loads has seen it before)."""
    at = _skip(text, at)
    value, end = json.JSONDecoder().raw_decode(text, at)
    node = _Node(value, at, end)
    if isinstance(value, dict) and value:
        at += 1
        while True:
            key, key_end = json.JSONDecoder().raw_decode(text, _skip(text, at))
            child = _parse(text, _skip(text, key_end) + 1)
            node.members.append((key, key_end, child))
            at = _skip(text, child.end) + 1
            if text[at - 1] == "}":
                break
    return node


def _unexpected(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"boolean `{str(value).lower()}`"
    if isinstance(value, int):
        return f"integer `{value}`"
    if isinstance(value, float):
        return f"floating point `{value}`"
    if isinstance(value, str):
        return f"string {json.dumps(value, ensure_ascii=False)}"
    return "map" if isinstance(value, dict) else "sequence"


def _one_of(names: list[str], word: str = "expected ") -> str:
    ticked = [f"`{name}`" for name in names]
    if len(ticked) > 2:
        return f"{word}one of {', '.join(ticked)}"
    return word + " or ".join(ticked)


class _Reader:
    """Deserializes a body as the derived code would."""

    def __init__(self, raw: bytes) -> None:
        self.text = raw.decode(errors="replace")
        try:
            json.loads(self.text)
        except ValueError as error:
            at = getattr(error, "pos", 0)
            said = str(error)
            message = (
                "EOF while parsing a value"
                if at >= len(self.text)
                else "key must be a string"
                if "property name" in said
                else "trailing characters"
                if "Extra data" in said
                else "expected value"
            )
            at = min(at + 1, len(self.text))
            raise _RejectError(
                400,
                f"Failed to parse the request body as JSON: {message}{self._at(at)}",
            ) from None
        self.root = _parse(self.text, 0)

    def _at(self, at: int) -> str:
        before = self.text[:at]
        column = len(before.rsplit("\n", 1)[-1].encode())
        return f" at line {before.count(chr(10)) + 1} column {column}"

    def fail(self, path: str, message: str, at: int) -> _RejectError:
        prefix = f"{path}: " if path else ""
        return _RejectError(
            422,
            "Failed to deserialize the JSON body into the target type: "
            f"{prefix}{message}{self._at(at)}",
        )

    def type_(self, path: str, node: _Node, expected: str) -> _RejectError:
        where = node.start if isinstance(node.value, dict | list) else node.end
        return self.fail(
            path, f"invalid type: {_unexpected(node.value)}, expected {expected}", where
        )

    def struct(
        self, node: _Node, name: str, fields: dict[str, Any], path: str = ""
    ) -> dict[str, Any]:
        """Read a struct; `fields` gives each field's reader, optional ones end in "?"."""
        names = [field.rstrip("?") for field in fields]
        if isinstance(node.value, list):
            raise self.fail(
                path,
                f"invalid length {len(node.value)}, expected struct {name} with "
                f"{len(names)} elements",
                node.end,
            )
        if not isinstance(node.value, dict):
            raise self.type_(path, node, f"struct {name}")
        found: dict[str, Any] = {}
        for key, key_end, child in node.members:
            inner = f"{path}.{key}" if path else key
            if key not in names:
                raise self.fail(
                    inner, f"unknown field `{key}`, {_one_of(names)}", key_end
                )
            if key in found:
                raise self.fail(path, f"duplicate field `{key}`", key_end)
            if f"{key}?" in fields and child.value is None:
                found[key] = None
                continue
            reader = fields.get(key) or fields[f"{key}?"]
            found[key] = reader(inner, child)
        for field in fields:
            if not field.endswith("?") and field not in found:
                raise self.fail(path, f"missing field `{field}`", node.end)
        return found

    def string(self, path: str, node: _Node) -> str:
        if not isinstance(node.value, str):
            raise self.type_(path, node, "a string")
        return node.value

    def u64(self, path: str, node: _Node) -> int:
        value = node.value
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.type_(path, node, "u64")
        if not 0 <= value < 2**64:
            raise self.fail(
                path, f"invalid value: integer `{value}`, expected u64", node.end
            )
        return value

    def uuid(self, path: str, node: _Node) -> str:
        value = node.value
        if not isinstance(value, str):
            raise self.type_(path, node, "a UUID string")
        try:
            return str(uuid.UUID(value))
        except ValueError:
            bad = re.search("[^0-9a-fA-F-]", value)
            if bad:
                why = (
                    "invalid character: expected an optional prefix of `urn:uuid:` "
                    f"followed by [0-9a-fA-F-], found `{bad[0]}` at {bad.start() + 1}"
                )
            elif "-" not in value:
                why = (
                    "invalid length: expected length 32 for simple format, found "
                    f"{len(value)}"
                )
            else:
                why = f"invalid group count: expected 5, found {value.count('-') + 1}"
            raise self.fail(path, f"UUID parsing failed: {why}", node.end) from None

    def output(self, path: str, node: _Node) -> dict[str, Any]:
        """Read `#[serde(tag = "type")] enum Output { Text { body }, Blob { base64 } }`."""
        variants = {"text": "body", "blob": "base64"}
        if not isinstance(node.value, dict):
            raise self.type_(path, node, "internally tagged enum Output")
        tag = None
        for key, _, child in node.members:
            if key == "type":
                if not isinstance(child.value, str):
                    raise self.type_(f"{path}.type", child, "variant identifier")
                tag = child.value
                if tag not in variants:
                    raise self.fail(
                        f"{path}.type",
                        f"unknown variant `{tag}`, {_one_of(list(variants))}",
                        child.end,
                    )
        if tag is None:
            raise self.fail(path, "missing field `type`", node.end)
        # From here on serde works on the buffered content: the path stays behind, and
        # the position is that of the outer map.
        field = variants[tag]
        after = _skip(self.text, node.end)
        at = after + 1 if self.text[after : after + 1] == "}" else node.end
        for key, _, child in node.members:
            if key == "type":
                continue
            if key != field:
                raise self.fail(path, f"unknown field `{key}`, expected `{field}`", at)
            if not isinstance(child.value, str):
                raise self.fail(
                    path,
                    f"invalid type: {_unexpected(child.value)}, expected a string",
                    at,
                )
        if field not in node.value:
            raise self.fail(path, f"missing field `{field}`", at)
        return node.value


def _now(**later: int) -> str:
    when = datetime.now(UTC) + timedelta(**later)
    return when.strftime("%Y-%m-%dT%H:%M:%S.%f") + "417Z"


class AxumStrict(Backend):
    """See the module."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, str] = {}
        self._balance: dict[str, int] = {}
        self._leases: dict[str, dict[str, Any]] = {}
        self._tasks: dict[int, dict[str, Any]] = {
            51 + number: {
                "text": text,
                "state": "leased" if number in (3, 7) else "open",
                "reward": 7 + number,
            }
            for number, text in enumerate(_TEXTS)
        }
        self._texts = {
            str(key): task["text"]
            for key, task in self._tasks.items()
            if task["state"] == "open"
        }

    def texts(self) -> dict[str, str]:
        """Return the texts of the tasks that were open at first."""
        return dict(self._texts)

    def missing(self, request: Request) -> Response:
        """Answer as axum's fallback: nothing."""
        return Response(404, b"")

    def _error(self, status: int, code: str, message: str) -> Response:
        return Response(status, {"error": code, "message": message})

    def _guarded(
        self, request: Request, inner: Callable[[Request], Response]
    ) -> Response:
        if request.token not in self._agents:
            return self._error(401, "unauthorized", "missing or invalid bearer token")
        if request.method == "GET":
            return inner(request)
        kind = (request.headers.get("Content-Type") or "").split(";")[0].strip()
        if kind != "application/json" and not kind.endswith("+json"):
            return Response(
                415, "Expected request with `Content-Type: application/json`"
            )
        try:
            return inner(request)
        except _RejectError as reject:
            return Response(reject.status, str(reject))

    # -- the handlers -----------------------------------------------------------------

    def register(self, request: Request) -> Response:
        """Create an agent."""
        self.book.registrations += 1
        agent, token = str(uuid.uuid4()), f"rk_{secrets.token_hex(24)}"
        self._agents[token] = agent
        self._balance[agent] = 100
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        """List open and leased tasks."""
        return self._guarded(request, self._list)

    def _list(self, request: Request) -> Response:
        limit = request.query.get("limit", "20")
        if not re.fullmatch(r"\+?\d+", limit):
            why = (
                "cannot parse integer from empty string"
                if not limit
                else "invalid digit found in string"
            )
            return Response(400, f"Failed to deserialize query string: limit: {why}")
        shown = [
            {
                "id": key,
                "summary": "Uppercase the input and return it as a text output",
                "spec": {"op": "uppercase", "input": task["text"]},
                "reward": task["reward"],
                "state": task["state"],
                "posted_at": "2026-02-11T09:14:22.481920133Z",
            }
            for key, task in self._tasks.items()
            if task["state"] != "settled"
        ]
        return Response(200, {"tasks": shown[: min(int(limit), 100)]})

    def claim(self, request: Request) -> Response:
        """Claim: {id, agent, note?}."""
        return self._guarded(request, self._claim)

    def _claim(self, request: Request) -> Response:
        read = _Reader(request.raw)
        body = read.struct(
            read.root,
            "ClaimTask",
            {"id": read.u64, "agent": read.uuid, "note?": read.string},
        )
        if body["agent"] != self._agents[request.token]:
            return self._error(
                403, "agent_mismatch", "`agent` is not the agent of this bearer token"
            )
        key = body["id"]
        task = self._tasks.get(key)
        if task is None:
            return self._error(404, "task_not_found", f"task {key} does not exist")
        if task["state"] != "open":
            return self._error(
                409, "task_unavailable", f"task {key} is {task['state']}, not open"
            )
        task["state"] = "leased"
        token = f"lt_{secrets.token_hex(12)}"
        self._leases[token] = {
            "task": key,
            "agent": body["agent"],
            "state": "active",
            "receipt": None,
        }
        self.book.claimed(str(key))
        return Response(
            200,
            {
                "lease_token": token,
                "task": {"id": key, "state": "leased"},
                "expires_at": _now(minutes=30),
            },
        )

    def _lease(self, request: Request, token: str) -> dict[str, Any] | None:
        lease = self._leases.get(token)
        if lease is None or lease["agent"] != self._agents[request.token]:
            return None
        return lease

    def submit(self, request: Request) -> Response:
        """Submit: {lease_token, output: {type: "text", body}, elapsed_ms?}."""
        return self._guarded(request, self._submit)

    def _submit(self, request: Request) -> Response:
        read = _Reader(request.raw)
        body = read.struct(
            read.root,
            "SubmitOutput",
            {
                "lease_token": read.string,
                "output": read.output,
                "elapsed_ms?": read.u64,
            },
        )
        output = body["output"]
        report = []
        if not body["lease_token"]:
            report.append("lease_token: length is lower than 1")
        if output["type"] == "text" and not output["body"]:
            report.append("output.body: length is lower than 1")
        if report:
            return Response(422, "".join(f"{line}\n" for line in report))
        lease = self._lease(request, body["lease_token"])
        if lease is None:
            return self._error(404, "lease_not_found", "no such lease")
        if lease["state"] != "active":
            return self._error(
                409, "lease_not_active", f"lease is already {lease['state']}"
            )
        if output["type"] != "text":
            return self._error(
                422, "output_rejected", "this task takes an output of type `text`"
            )
        if output["body"] != self._tasks[lease["task"]]["text"].upper():
            return self._error(
                422,
                "output_rejected",
                "output is not the uppercased input; the lease stays active",
            )
        lease["state"] = "delivered"
        digest = hashlib.sha256(output["body"].encode()).hexdigest()
        lease["receipt"] = {"id": str(uuid.uuid4()), "digest": digest}
        return Response(
            200,
            {
                "state": "delivered",
                "receipt": {**lease["receipt"], "issued_at": _now()},
            },
        )

    def complete(self, request: Request) -> Response:
        """Complete: {lease_token, receipt: {id, digest}}."""
        return self._guarded(request, self._complete)

    def _complete(self, request: Request) -> Response:
        read = _Reader(request.raw)

        def receipt(path: str, node: _Node) -> dict[str, Any]:
            return read.struct(
                node, "ReceiptRef", {"id": read.uuid, "digest": read.string}, path
            )

        body = read.struct(
            read.root,
            "SettleLease",
            {"lease_token": read.string, "receipt": receipt},
        )
        digest = body["receipt"]["digest"]
        if len(digest) != 64:
            word = "lower" if len(digest) < 64 else "greater"
            return Response(422, f"receipt.digest: length is {word} than 64\n")
        lease = self._lease(request, body["lease_token"])
        if lease is None:
            return self._error(404, "lease_not_found", "no such lease")
        if lease["state"] != "delivered":
            return self._error(
                409,
                "lease_not_delivered",
                f"lease is {lease['state']}, expected delivered",
            )
        if lease["receipt"] != body["receipt"]:
            return self._error(
                409, "receipt_mismatch", "receipt was not issued for this lease"
            )
        task = self._tasks[lease["task"]]
        lease["state"] = task["state"] = "settled"
        self._balance[lease["agent"]] += task["reward"]
        self.book.pay(str(lease["task"]), task["reward"])
        return Response(
            200,
            {
                "state": "settled",
                "task": {"id": lease["task"], "state": "settled"},
                "credited": task["reward"],
                "balance": self._balance[lease["agent"]],
                "settled_at": _now(),
            },
        )
