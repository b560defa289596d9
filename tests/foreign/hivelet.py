"""A start-up's service in TypeScript: Hono with valibot (vValidator, bearerAuth); camelCase."""

# Its author has typed it less strictly.
# mypy: ignore-errors

import json
import random
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from string import ascii_letters, digits
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_TASKS = [
    ("Loud greeting", "welcome to the hive", 3),
    ("Caption a photo", "a heron waits at the edge of the pond", 11),
    ("Poster line", "no entry during the night shift", 8),
    ("Product code names", "amber, cobalt, jade", 5),
    ("Chorus", "we sail at dawn, we sail at dawn", 14),
    ("Error banner", "connection lost: retry in 5 seconds", 7),
]
_TIMESTAMP = re.compile(
    r"\d{4}(-\d\d){2}[T ]\d\d(:[0-5]\d){2}(\.\d{1,9})?(Z|[+-]\d\d(:?\d\d)?)", re.ASCII
)
Schema = Callable[[Any, list[dict[str, Any]]], Any]  # (value, issues) -> output


def _issue(
    label: str,
    kind: str,
    type_: str,
    value: Any,
    expected: Any,
    received: str = "",
    **more: Any,
) -> dict[str, Any]:
    received = (
        received
        or {dict: "Object", list: "Array"}.get(type(value))
        or json.dumps(value)
    )
    why = (
        f"Expected {expected} but received {received}"
        if expected
        else f"Received {received}"
    )
    issue = {"kind": kind, "type": type_, "input": value, "expected": expected}
    return {**issue, "received": received, "message": f"Invalid {label}: {why}", **more}


def _string(low: int = 0, timestamp: bool = False) -> Schema:  # noqa: FBT001, FBT002
    def parse(value: Any, issues: list[dict[str, Any]]) -> Any:
        if not isinstance(value, str):
            issues.append(_issue("type", "schema", "string", value, "string"))
        elif len(value) < low:
            got = str(len(value))
            issues.append(
                _issue(
                    "length",
                    "validation",
                    "min_length",
                    value,
                    f">={low}",
                    got,
                    requirement=low,
                )
            )
        elif timestamp and not _TIMESTAMP.fullmatch(value):
            issues.append(
                _issue(
                    "timestamp",
                    "validation",
                    "iso_timestamp",
                    value,
                    None,
                    requirement={},
                )
            )
        return value

    return parse


def _limit(value: str, issues: list[dict[str, Any]]) -> Any:
    """v.pipe(v.string(), v.digits(), v.transform(Number), v.maxValue(100))"""
    if not re.fullmatch(r"[0-9]{1,9}", value):
        issues.append(
            _issue("digits", "validation", "digits", value, None, requirement={})
        )
    elif int(value) > 100:
        issues.append(
            _issue(
                "value", "validation", "max_value", int(value), "<=100", requirement=100
            )
        )
    return value


def _format(value: Any, issues: list[dict[str, Any]]) -> Any:
    if value not in ("text", "markdown"):
        issues.append(
            _issue("type", "schema", "picklist", value, '("text" | "markdown")')
        )
    return value


def _object(entries: dict[str, Schema]) -> Schema:
    def parse(value: Any, issues: list[dict[str, Any]]) -> Any:
        if not isinstance(value, dict):
            issues.append(_issue("type", "schema", "object", value, "Object"))
            return value
        output = {}
        for key, schema in entries.items():
            step = {"type": "object", "origin": "value", "input": value, "key": key}
            if key in value:
                start = len(issues)
                output[key] = schema(value[key], issues)
                for issue in issues[start:]:
                    issue["path"] = [
                        {**step, "value": value[key]},
                        *issue.get("path", []),
                    ]
            else:
                issues.append(
                    _issue("key", "schema", "object", None, f'"{key}"', "undefined")
                )
                issues[-1] |= {"path": [{**step, "origin": "key"}]}
                del issues[-1]["input"]
        return output

    return parse


_CLAIM = _object({"taskId": _string(1)})
_KEY = _object({"idempotency-key": _string(8)})
_OUTPUT = _object({"format": _format, "body": _string(1)})
_SUBMIT = _object({"claimId": _string(1), "output": _OUTPUT})
_COMPLETE = _object({"claimId": _string(1), "finishedAt": _string(timestamp=True)})
_QUERY = _object({"limit": _limit})


class _Refused(Exception):  # noqa: N818
    def __init__(self, response: Response) -> None:
        super().__init__(response.status)
        self.response = response


def _error(status: int, code: str, message: str) -> _Refused:
    return _Refused(Response(status, {"error": {"code": code, "message": message}}))


def _valid(schema: Schema, value: Any) -> Any:
    issues: list[dict[str, Any]] = []
    output = schema(value, issues)
    if issues:
        body = {"typed": False, "success": False, "output": output, "issues": issues}
        raise _Refused(Response(400, body))
    return output


def _now(minutes: int = 0) -> str:
    return f"{datetime.now(UTC) + timedelta(minutes=minutes):%Y-%m-%dT%H:%M:%S.000Z}"


def _route(function: Any) -> Any:
    def route(self: Any, request: Request) -> Response:
        try:
            return function(self, request)
        except _Refused as refused:  # app.onError
            return refused.response

    return route


class Hivelet(Backend):
    """Prefixed random ids, an Idempotency-Key on submission, which pays at once."""

    def __init__(self) -> None:
        super().__init__()
        self._random = random.Random(2024)  # noqa: S311
        self.agents_: dict[str, dict[str, Any]] = {}  # by token
        self.claims: dict[str, dict[str, Any]] = {}
        self.answers: dict[tuple[str, str], dict[str, Any]] = {}  # by claim and key
        self.items: dict[str, dict[str, Any]] = {}
        for name, text, credits_ in _TASKS:
            key = self._id("tsk")
            self.items[key] = {"taskId": key, "name": name}
            self.items[key] |= {
                "brief": "Give back source.text in UPPERCASE, otherwise unchanged.",
                "source": {"lang": "en", "text": text},
                "payout": {"credits": credits_, "on": "accepted submission"},
                "state": "AVAILABLE",
            }

    def _id(self, prefix: str) -> str:
        return f"{prefix}_{''.join(self._random.choices(ascii_letters + digits, k=16))}"

    def texts(self) -> dict[str, str]:
        return {key: task["source"]["text"] for key, task in self.items.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, "404 Not Found")

    def _agent(self, request: Request) -> dict[str, Any]:
        if request.token in self.agents_:
            return self.agents_[request.token]
        why = (
            'error="invalid_token"'
            if request.headers.get("Authorization")
            else 'realm=""'
        )
        raise _Refused(
            Response(401, "Unauthorized", {"WWW-Authenticate": f"Bearer {why}"})
        )

    def _json(self, schema: Schema, request: Request) -> Any:
        if request.headers.get_content_type() != "application/json":
            return _valid(schema, {})
        try:
            return _valid(schema, request.json())
        except ValueError:
            raise _Refused(Response(400, "Malformed JSON in request body")) from None

    def _claim(self, key: str, agent: dict[str, Any]) -> dict[str, Any]:
        claim = self.claims.get(key)
        if claim is None or claim["agentId"] != agent["agentId"]:
            raise _error(404, "CLAIM_NOT_FOUND", f"No claim {key}")
        return claim

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        key, token = self._id("agt"), self._id("hv_live")
        self.agents_[token] = {"agentId": key, "credits": 100}
        return Response(200, {"agent_id": key, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        limit = int(_valid(_QUERY, {"limit": "25", **request.query})["limit"])
        cursor = request.query.get("cursor", "")
        later = (
            list(self.items)[list(self.items).index(cursor) + 1 :]
            if cursor in self.items
            else self.items
        )
        free = [
            t
            for t in self.items.values()
            if t["state"] == "AVAILABLE" and t["taskId"] in later
        ]
        page = free[:limit]
        more = page[-1]["taskId"] if page and len(page) < len(free) else None
        return Response(200, {"items": page, "nextCursor": more})

    marketplace = tasks

    def agents(self, request: Request) -> Response:
        return Response(200, [{"slug": a["agentId"]} for a in self.agents_.values()])

    directory = agents

    def checkout(self, request: Request) -> Response:
        return _error(503, "CHECKOUT_UNAVAILABLE", "Payments are not live yet").response

    def claim(self, request: Request) -> Response:
        agent = self._agent(request)
        task = self.items.get(key := self._json(_CLAIM, request)["taskId"])
        if task is None:
            raise _error(404, "TASK_NOT_FOUND", f"No task {key}")
        if task["state"] != "AVAILABLE":
            raise _error(409, "TASK_TAKEN", f"Task {key} is {task['state']}")
        made = {"claimId": self._id("clm"), "taskId": key, "agentId": agent["agentId"]}
        claim = self.claims[made["claimId"]] = made | {
            "state": "ACTIVE",
            "leaseEndsAt": _now(120),
        }
        task["state"] = "CLAIMED"
        self.book.claimed(key)
        return Response(200, claim)

    def submit(self, request: Request) -> Response:
        agent = self._agent(request)
        headers = {name.lower(): value for name, value in request.headers.items()}
        key = _valid(_KEY, headers)["idempotency-key"]
        data = self._json(_SUBMIT, request)
        claim = self._claim(data["claimId"], agent)
        if once := self.answers.get((claim["claimId"], key)):
            return Response(200, once)
        if claim["state"] != "ACTIVE":
            raise _error(
                409, "CLAIM_NOT_ACTIVE", f"Claim {claim['claimId']} is {claim['state']}"
            )
        task = self.items[claim["taskId"]]
        answer = {"submissionId": self._id("sub"), "claimId": claim["claimId"]}
        if data["output"]["body"] != task["source"]["text"].upper():
            answer |= {
                "verdict": "REJECTED",
                "reason": "output.body is not what the brief asks for",
            }
            return Response(200, answer, refused=True)
        claim["state"] = task["state"] = "DELIVERED"
        paid = task["payout"]["credits"]
        agent["credits"] += paid
        self.book.pay(task["taskId"], paid)
        answer |= {
            "verdict": "ACCEPTED",
            "creditsEarned": paid,
            "balance": agent["credits"],
        }
        self.answers[claim["claimId"], key] = answer
        return Response(200, answer)

    def complete(self, request: Request) -> Response:
        agent = self._agent(request)
        data = self._json(_COMPLETE, request)
        claim = self._claim(data["claimId"], agent)
        if claim["state"] != "DELIVERED":
            raise _error(
                409, "NOT_DELIVERED", f"Claim {claim['claimId']} is {claim['state']}"
            )
        claim["state"] = self.items[claim["taskId"]]["state"] = "CLOSED"
        return Response(200, {**claim, "finishedAt": data["finishedAt"]})

    def post(self, request: Request) -> Response:
        self._agent(request)
        raise _error(402, "PLAN_REQUIRED", "Posting tasks needs the Grower plan")


for _name in ("tasks", "marketplace", "claim", "submit", "complete", "post"):
    setattr(Hivelet, _name, _route(getattr(Hivelet, _name)))
