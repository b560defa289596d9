"""Taskloop: a start-up's Express 4 service in TypeScript, bodies checked by zod 4.

The author validates `{ body, query }` in one middleware and prints each issue as a line of
his own: "<path> — <zod's sentence>". Cursor paging, camelCase, `{ ok, data }` around it all.
"""
# Its author has typed it less strictly.
# mypy: ignore-errors

import html
import json
import math
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_TASKS = {
    "tsk_k3v9q2xw": (
        "Spring banner",
        "copywriting",
        "spring sale starts on monday",
        14,
    ),
    "tsk_7hd0m1ze": (
        "Label for a door",
        "labels",
        "keep this door closed at all times",
        9,
    ),
    "tsk_p5r8c4ua": (
        "Newsletter subject",
        "copywriting",
        "what our bees did in june",
        22,
    ),
    "tsk_2nb6y7tj": (
        "Title slide",
        "slides",
        "quarterly numbers, explained slowly",
        17,
    ),
    "tsk_w0f4s9li": ("Name plate", "labels", "dr. amelia north-hughes", 6),
    "tsk_d8x1g3ok": ("Call to action", "copywriting", "try it free for 30 days", 31),
    "tsk_m6j2e5vb": ("Poster line", "slides", "no lifeguard on duty", 11),
}
_MISSING = object()
_EXPRESS = {"X-Powered-By": "Express"}
_WANTED = "Send your access token as: Authorization: Bearer <token>"


def _id(prefix: str) -> str:
    return f"{prefix}_{secrets.token_hex(4)}"


def _now(minutes: int = 0) -> str:
    moment = datetime.now(UTC) + timedelta(minutes=minutes)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _kind(value: Any) -> str:
    """Return zod's word for what was received."""
    if value is _MISSING:
        return "undefined"
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN"
    kinds = {
        bool: "boolean",
        int: "number",
        float: "number",
        str: "string",
        list: "array",
    }
    return "null" if value is None else kinds.get(type(value), "object")


def _issues(schema: Any, value: Any, path: str) -> list[str]:
    """Return zod's sentences on a value; a dictionary is an object, a list is an enum."""
    if schema is True:
        return [] if value is True else [f"{path} — Invalid input: expected true"]
    if isinstance(schema, list):
        listed = "|".join(f'"{option}"' for option in schema)
        bad = f"{path} — Invalid option: expected one of {listed}"
        return [] if value in schema else [bad]
    object_, number = isinstance(schema, dict), isinstance(schema, tuple)
    wanted = "object" if object_ else "number" if number else "string"
    if _kind(value) != wanted:
        return [f"{path} — Invalid input: expected {wanted}, received {_kind(value)}"]
    if object_:
        inner = [
            _issues(s, value.get(n, _MISSING), f"{path}.{n}") for n, s in schema.items()
        ]
        return sum(inner, [])  # noqa: RUF017
    if number and value != int(value):
        return [f"{path} — Invalid input: expected int, received number"]
    if number and value < schema[0]:
        return [f"{path} — Too small: expected number to be >={schema[0]}"]
    if number and value > schema[1]:
        return [f"{path} — Too big: expected number to be <={schema[1]}"]
    if number or (value.startswith(schema) and value):
        return []
    if schema:
        return [f'{path} — Invalid string: must start with "{schema}"']
    return [f"{path} — Too small: expected string to have >=1 characters"]


_CLAIM = {"taskId": "tsk_", "estimatedMinutes": (1, 240)}
_DELIVERABLE = {"content": "", "format": ["plain", "markdown"]}
_SUBMIT = {"assignmentId": "asg_", "deliverable": _DELIVERABLE}
_COMPLETE = {"assignmentId": "asg_", "submissionId": "sub_", "confirmed": True}
_POST = {"title": "", "input": {"text": ""}, "reward": {"amount": (1, 1000)}}
_CHECKOUT = {"plan": ["starter", "pro", "credits"], "agent_id": "agt_", "price_id": ""}
_CHECKOUT |= {"requested_credits": (1, 100000), "amount_cents": (1, 100000)}


class _HttpError(Exception):
    def __init__(self, status: int, type_: str, message: str, **more: Any) -> None:
        self.status = status
        self.body = {"ok": False, "error": {"type": type_, "message": message, **more}}


def _refuse(issues: list[str]) -> None:
    if issues:
        count = f"{len(issues)} problem{'s' if len(issues) > 1 else ''} in your request"
        raise _HttpError(400, "ValidationError", count, details=issues)


def _route(schema: Any = None, private: bool = True) -> Callable[..., Any]:  # noqa: FBT001, FBT002
    """Make a route: express.json(), requireAgent, validate(schema), the handler."""

    def wrap(action: Callable[..., dict[str, Any]]) -> Callable[..., Response]:
        def route(self: Any, request: Request) -> Response:
            try:
                body = self._body(request)
                agent = self._agents.get(request.token, {})
                if private and not agent:
                    raise _HttpError(401, "Unauthenticated", _WANTED)
                _refuse(_issues(schema, body, "body") if schema else [])
                answer = action(self, agent, body if schema else request.query)
                return Response(200, answer, dict(_EXPRESS))
            except _HttpError as no:
                return Response(no.status, no.body, dict(_EXPRESS))

        return route

    return wrap


class Taskloop(Backend):
    """Express and zod: one envelope, one middleware, completion pays."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._assignments: dict[str, dict[str, Any]] = {}
        self._posted = _now()
        self._status = dict.fromkeys(_TASKS, "OPEN")

    def texts(self) -> dict[str, str]:
        return {id_: task[2] for id_, task in _TASKS.items()}

    def missing(self, request: Request) -> Response:
        head = '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        head += "<title>Error</title>"
        line = f"<pre>Cannot {request.method} {html.escape(request.path)}</pre>"
        page = f"{head}\n</head>\n<body>\n{line}\n</body>\n</html>\n"
        return Response(
            404, page, {"Content-Type": "text/html; charset=utf-8"} | _EXPRESS
        )

    def _body(self, request: Request) -> Any:
        """Read the body as express.json() does: {} without the right media type."""
        media = (
            (request.headers.get("Content-Type") or "").split(";")[0].strip().lower()
        )
        if media != "application/json" or not request.raw:
            return {}
        text = request.raw.decode(errors="replace").strip()
        try:
            body = json.loads(text)
        except ValueError:
            body = None
        if isinstance(body, (dict, list)):
            return body
        sentence = f"Unexpected token '{text[:1]}', \"{text[:20]}\" is not valid JSON"
        raise _HttpError(400, "SyntaxError", sentence)

    @_route(private=False)
    def register(self, agent: dict[str, Any], query: Any) -> dict[str, Any]:
        agent = {"id": _id("agt"), "credits": 100}
        token = "tl_live_" + secrets.token_urlsafe(24)
        self._agents[token] = agent
        self.book.registrations += 1
        return {"agent_id": agent["id"], "access_token": token, "credits": 100}

    def _shown(self, id_: str) -> dict[str, Any]:
        title, category, text, amount = _TASKS[id_]
        shown = {
            "id": id_,
            "title": title,
            "category": category,
            "status": self._status[id_],
        }
        shown["instructions"] = "Return input.text in upper case, nothing else."
        shown["input"] = {"text": text, "language": "en"}
        shown["reward"] = {"amount": amount, "currency": "CREDITS"}
        return shown | {"postedAt": self._posted}

    @_route(private=False)
    def tasks(self, agent: dict[str, Any], query: Any) -> dict[str, Any]:
        try:
            limit = float(query.get("limit", "4") or "0")  # z.coerce.number()
        except ValueError:
            limit = math.nan
        _refuse(_issues((1, 25), limit, "query.limit"))
        ids, cursor = list(_TASKS), query.get("cursor", "")
        if cursor and cursor not in ids:
            raise _HttpError(
                400, "BadCursor", "cursor is no page.nextCursor of this list"
            )
        rest = ids[ids.index(cursor) + 1 :] if cursor else ids
        rest = [id_ for id_ in rest if self._status[id_] == "OPEN"]
        page, more = rest[: int(limit)], len(rest) > int(limit)
        paging = {"nextCursor": page[-1] if more else None, "hasMore": more}
        return {"ok": True, "data": [self._shown(id_) for id_ in page], "page": paging}

    def agents(self, request: Request) -> Response:
        return Response(
            200, {"ok": True, "data": [{"id": a["id"]} for a in self._agents.values()]}
        )

    marketplace, directory = tasks, agents

    @_route(_CLAIM)
    def claim(self, agent: dict[str, Any], body: Any) -> dict[str, Any]:
        id_ = body["taskId"]
        if id_ not in _TASKS:
            raise _HttpError(404, "TaskNotFound", f"There is no task {id_}")
        for held in self._assignments.values():
            if held["taskId"] == id_:
                more = (
                    {"assignmentId": held["id"]}
                    if held["agentId"] == agent["id"]
                    else {}
                )
                raise _HttpError(
                    409, "TaskNotOpen", f"It is {self._status[id_]}", **more
                )
        self._status[id_] = "ASSIGNED"
        given = {"id": _id("asg"), "taskId": id_, "agentId": agent["id"]}
        given |= {"state": "IN_PROGRESS", "dueAt": _now(int(body["estimatedMinutes"]))}
        self._assignments[given["id"]] = given
        self.book.claimed(id_)
        return {"ok": True, "data": {"assignment": given}}

    def _assignment(
        self, agent: dict[str, Any], id_: str, state: str
    ) -> dict[str, Any]:
        found = self._assignments.get(id_)
        if found is None or found["agentId"] != agent["id"]:
            raise _HttpError(404, "AssignmentNotFound", f"You have no assignment {id_}")
        if found["state"] != state:
            raise _HttpError(
                409, "WrongState", f"It is {found['state']}, this needs {state}"
            )
        return found

    @_route(_SUBMIT)
    def submit(self, agent: dict[str, Any], body: Any) -> dict[str, Any]:
        found = self._assignment(agent, body["assignmentId"], "IN_PROGRESS")
        if body["deliverable"]["content"] != _TASKS[found["taskId"]][2].upper():
            wrong = "deliverable.content is not input.text in upper case. You may submit again."
            raise _HttpError(422, "DeliverableRejected", wrong)
        found |= {"state": "DELIVERED", "submissionId": _id("sub")}
        submission = {"id": found["submissionId"], "verdict": "PASSED"}
        return {"ok": True, "data": {"submission": submission, "assignment": found}}

    @_route(_COMPLETE)
    def complete(self, agent: dict[str, Any], body: Any) -> dict[str, Any]:
        found = self._assignment(agent, body["assignmentId"], "DELIVERED")
        if found["submissionId"] != body["submissionId"]:
            raise _HttpError(404, "SubmissionNotFound", "There is no such submission")
        amount = _TASKS[found["taskId"]][3]
        self.book.pay(found["taskId"], amount)
        agent["credits"] += amount
        found["state"] = self._status[found["taskId"]] = "COMPLETED"
        payout = {
            "amount": amount,
            "currency": "CREDITS",
            "balanceAfter": agent["credits"],
        }
        return {"ok": True, "data": {"assignment": found, "payout": payout}}

    @_route(_POST)
    def post(self, agent: dict[str, Any], body: Any) -> dict[str, Any]:
        if body["reward"]["amount"] > agent["credits"]:
            raise _HttpError(
                402, "InsufficientCredits", f"You have {agent['credits']} credits"
            )
        agent["credits"] -= body["reward"]["amount"]
        return {"ok": True, "data": {"task": {"id": _id("tsk"), "status": "IN_REVIEW"}}}

    @_route(_CHECKOUT, private=False)
    def checkout(self, agent: dict[str, Any], body: Any) -> dict[str, Any]:
        id_ = "cs_" + secrets.token_hex(12)
        answer = {"ok": True, "sessionId": id_, "url": f"https://pay.example.com/{id_}"}
        return answer | {
            "mode": "payment",
            "agentId": body["agent_id"],
            "plan": body["plan"],
        }
