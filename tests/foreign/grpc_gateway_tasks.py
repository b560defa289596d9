"""A Go gRPC service behind grpc-gateway v2, with protovalidate and Google's AIP manners."""

import hashlib
import json
import re
import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

_HTTP = {3: 400, 5: 404, 7: 403, 9: 400, 10: 409, 12: 501, 16: 401}
_META = {"Grpc-Metadata-Content-Type": "application/grpc"}
_TASKS = [
    ("tasks/b7k2", "Runway caption", "Runway two seven closed until noon", 16),
    ("tasks/c4m9", "Subtitle line", "we never said it would be easy, did we?", 10),
    ("tasks/d1x5", "Banner", "open house: saturday & sunday", 25),
    ("tasks/f8q3", "Plate text", "Built 1911 by h. a. lindqvist", 13),
    ("tasks/g2r6", "Ticker", "Wheat up 3.2%, corn flat, soy down", 30),
    ("tasks/h9t4", "Map legend", "ferry route (summer only)", 6),
    ("tasks/j5v8", "Poster", "The quiet river - a film by ana ruiz", 19),
]


class _Status(Exception):  # noqa: N818
    def __init__(self, code: int, message: str, *details: dict[str, Any]) -> None:
        super().__init__(message)
        self.code, self.message, self.details = code, message, list(details)


def _unary(method: Any) -> Any:
    def call(self: Any, request: Request) -> Response:
        try:
            return Response(200, method(self, request), dict(_META))
        except _Status as no:
            refused: Response = self._error(no)
            return refused

    return call


class _Message:
    """A request as protojson reads it and protovalidate judges it."""

    def __init__(self, raw: bytes, value: Any, prefix: str = "") -> None:
        self.raw, self.prefix = raw.decode(errors="replace"), prefix
        self.violations: list[dict[str, Any]] = []
        self.value = value
        if not isinstance(value, dict):
            raise self._unexpected(value)

    def _unexpected(
        self, value: Any, kind: str = "syntax error ", why: str = "unexpected token"
    ) -> _Status:
        begins: dict[Any, str] = {dict: "{", list: "["}
        token = begins.get(type(value)) or json.dumps(value, ensure_ascii=False)
        before = self.raw[: max(self.raw.find(token), 0)]
        where = (
            f"(line {before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))})"
        )
        return _Status(3, f"proto: {kind}{where}: {why} {token}")

    def _get(self, name: str) -> Any:
        camel = re.sub(r"_(.)", lambda m: m[1].upper(), name)
        return self.value.get(name, self.value.get(camel))

    def violate(
        self, number: int, name: str, type_: str, rule: str, message: str
    ) -> None:
        found = {
            "name": self.prefix + name,
            "number": number,
            "type": type_,
            "rule": rule,
        }
        self.violations.append(found | {"message": message})

    def string(self, number: int, name: str, pattern: str = "") -> str:
        value = self._get(name)
        if value is not None and not isinstance(value, str):
            raise self._unexpected(value, "", f"invalid value for string field {name}:")
        if not value:
            self.violate(number, name, "TYPE_STRING", "required", "value is required")
        elif pattern and not re.search(pattern, value):
            why = f"value does not match regex pattern `{pattern}`"
            self.violate(number, name, "TYPE_STRING", "string.pattern", why)
        return value or ""

    def duration(self, number: int, name: str, most: int) -> float:
        value = self._get(name)
        if value is None:
            self.violate(number, name, "TYPE_MESSAGE", "required", "value is required")
            return 0
        if not isinstance(value, str):
            raise self._unexpected(value)
        if not re.fullmatch(r"-?\d{1,12}(\.\d{1,9})?s", value):
            raise self._unexpected(value, "", "invalid google.protobuf.Duration value")
        seconds = float(value[:-1])
        if not 0 < seconds <= most:
            why = f"value must be greater than 0s and less than or equal to {most}s"
            self.violate(number, name, "TYPE_MESSAGE", "duration.gt_lte", why)
        return seconds

    def message(self, number: int, name: str) -> "_Message | None":
        value = self._get(name)
        if value is None:
            self.violate(number, name, "TYPE_MESSAGE", "required", "value is required")
            return None
        inner = _Message(self.raw.encode(), value, f"{self.prefix}{name}.")
        inner.violations = self.violations
        return inner

    def check(self) -> None:
        lines = [f"{v['name']}: {v['message']} [{v['rule']}]" for v in self.violations]
        text = (
            f" {lines[0]}"
            if len(lines) == 1
            else "".join(f"\n - {line}" for line in lines)
        )
        violations = []
        for v in self.violations:
            *outer, last = v["name"].split(".")
            elements = [
                {"field_number": 2, "field_name": o, "field_type": "TYPE_MESSAGE"}
                for o in outer
            ]
            elements.append(
                {
                    "field_number": v["number"],
                    "field_name": last,
                    "field_type": v["type"],
                }
            )
            violations.append(
                {
                    "field": {"elements": elements},
                    "rule_id": v["rule"],
                    "message": v["message"],
                }
            )
        detail = {
            "@type": "type.googleapis.com/buf.validate.Violations",
            "violations": violations,
        }
        if lines:
            raise _Status(3, f"validation error:{text}", detail)


def _info(reason: str, **metadata: str) -> dict[str, Any]:
    type_ = "type.googleapis.com/google.rpc.ErrorInfo"
    return {
        "@type": type_,
        "reason": reason,
        "domain": "typeset.example.com",
        "metadata": metadata,
    }


def _time(when: datetime) -> str:
    return when.isoformat(timespec="seconds").replace("+00:00", "Z")


class GrpcGatewayTasks(Backend):
    """ClaimTask, SubmitResult and CompleteTask; CompleteTask pays."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}
        self._state = {task[0]: "TASK_STATE_OPEN" for task in _TASKS}
        self._claims: dict[str, dict[str, Any]] = {}
        self._submissions: dict[str, dict[str, Any]] = {}
        self._created = _time(datetime.now(UTC))

    def texts(self) -> dict[str, str]:
        return {name: text for name, _, text, _ in _TASKS}

    def _error(self, no: _Status) -> Response:
        body = {"code": no.code, "message": no.message, "details": no.details}
        return Response(
            _HTTP[no.code],
            body,
            {"WWW-Authenticate": no.message} if no.code == 16 else {},
        )

    def missing(self, request: Request) -> Response:
        known = any(
            path == request.path and method != request.method
            for method, path in ACTIONS
        )
        return self._error(
            _Status(12, "Method Not Allowed") if known else _Status(5, "Not Found")
        )

    def _agent(self, request: Request) -> dict[str, Any]:
        if request.token not in self._agents:
            raise _Status(
                16,
                "invalid auth token"
                if request.token
                else "Request unauthenticated with bearer",
            )
        return self._agents[request.token]

    def _own(
        self, kind: str, among: dict[str, Any], name: str, agent: dict[str, Any]
    ) -> str:
        if name not in among:
            raise _Status(5, f'{kind} "{name}" not found')
        if among[name]["claimant"] != agent["name"]:
            raise _Status(7, f'{kind} "{name}" belongs to another agent')
        return str(among[name]["task"])

    def _read(self, request: Request) -> _Message:
        try:  # the gateway lets io.EOF pass
            value = request.json() if request.raw.strip() else {}
        except ValueError:
            start = request.raw.decode(errors="replace").split()[0][:20]
            raise _Status(
                3, f"proto: syntax error (line 1:1): invalid value {start}"
            ) from None
        return _Message(request.raw, value)

    def _task(self, row: tuple[str, str, str, int]) -> dict[str, Any]:
        name, title, text, reward = row
        return {
            "name": name,
            "display_name": title,
            "instructions": "Return input.text converted to upper case, every other character unchanged.",
            "input": {"text": text},
            "reward_credits": str(reward),  # int64
            "state": self._state[name],
            "max_lease": "7200s",  # google.protobuf.Duration
            "create_time": self._created,
            "etag": hashlib.sha1(f"{name}{self._state[name]}".encode()).hexdigest()[  # noqa: S324
                :12
            ],
        }

    def register(self, request: Request) -> Response:
        name, token = f"agents/{secrets.token_hex(5)}", "agt_" + secrets.token_hex(16)
        self._agents[token] = {"name": name, "balance": 100}
        self.book.registrations += 1
        return Response(
            200, {"agent_id": name, "access_token": token, "credits": 100}, dict(_META)
        )

    @_unary
    def tasks(self, request: Request) -> dict[str, Any]:
        limit, token = (
            request.query.get("limit", "0"),
            request.query.get("page_token", ""),
        )
        if not re.fullmatch(r"[+-]?\d{1,9}", limit):
            why = f"parsing {json.dumps(limit)}: invalid syntax"
            raise _Status(
                3, f"type mismatch, parameter: limit, error: strconv.ParseInt: {why}"
            )
        if int(limit) < 0 or (token and not re.fullmatch(r"o\d{1,4}", token)):
            raise _Status(
                3,
                "invalid page_token"
                if int(limit) >= 0
                else "limit must not be negative",
            )
        start, size = int(token[1:] or 0), min(int(limit) or 5, 50)
        after = f"o{start + size}" if start + size < len(_TASKS) else ""
        page = [self._task(row) for row in _TASKS[start : start + size]]
        return {"tasks": page, "next_page_token": after, "total_size": len(_TASKS)}

    marketplace = tasks

    @_unary
    def claim(self, request: Request) -> dict[str, Any]:
        agent, message = self._agent(request), self._read(request)
        name, etag = (
            message.string(1, "task", "^tasks/[a-z0-9]+$"),
            message.string(2, "etag"),
        )
        lease = message.duration(3, "lease_duration", 7200)
        message.check()
        row = next((t for t in _TASKS if t[0] == name), None)
        if row is None:
            raise _Status(5, f'task "{name}" not found')
        if self._state[name] != "TASK_STATE_OPEN":
            raise _Status(
                9,
                f'task "{name}" is not open',
                _info("TASK_NOT_OPEN", state=self._state[name]),
            )
        if etag != self._task(row)["etag"]:
            raise _Status(
                10,
                f'etag of task "{name}" does not match the current etag',
                _info("ETAG_MISMATCH"),
            )
        self._state[name] = "TASK_STATE_CLAIMED"
        self.book.claimed(name)
        claim = f"{name}/claims/{secrets.token_hex(4)}"
        self._claims[claim] = {"task": name, "claimant": agent["name"]}
        expire = datetime.now(UTC) + timedelta(seconds=lease)
        return {"name": claim, **self._claims[claim], "expire_time": _time(expire)}

    @_unary
    def submit(self, request: Request) -> dict[str, Any]:
        agent, message = self._agent(request), self._read(request)
        name = message.string(1, "claim", "^tasks/[a-z0-9]+/claims/[a-z0-9]+$")
        output = message.message(2, "output")
        text = output.string(1, "text") if output else ""
        message.check()
        task = self._own("claim", self._claims, name, agent)
        if self._state[task] != "TASK_STATE_CLAIMED":
            raise _Status(
                9,
                f'claim "{name}" already has an accepted submission',
                _info("ALREADY_SUBMITTED"),
            )
        if text != self.texts()[task].upper():
            raise _Status(
                3,
                "output.text is not input.text in upper case",
                _info("OUTPUT_MISMATCH", task=task),
            )
        self._state[task] = "TASK_STATE_SUBMITTED"
        self.book.held.discard(task)
        submission = f"{name}/submissions/{secrets.token_hex(4)}"
        self._submissions[submission] = self._claims[name]
        return {"name": submission, "claim": name, "verdict": "VERDICT_ACCEPTED"}

    @_unary
    def complete(self, request: Request) -> dict[str, Any]:
        agent, message = self._agent(request), self._read(request)
        name = message.string(
            1, "submission", "^tasks/[a-z0-9]+/claims/[a-z0-9]+/submissions/[a-z0-9]+$"
        )
        message.check()
        task = self._own("submission", self._submissions, name, agent)
        row = next(t for t in _TASKS if t[0] == task)
        if self._state[task] != "TASK_STATE_SUBMITTED":
            raise _Status(
                9, f'task "{task}" is already completed', _info("ALREADY_COMPLETED")
            )
        self._state[task] = "TASK_STATE_COMPLETED"
        agent["balance"] += row[3]
        self.book.pay(task, row[3])
        return {
            "task": self._task(row),
            "payment": {"credits": str(row[3]), "balance": str(agent["balance"])},
        }
