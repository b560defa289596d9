"""Quayside: a NestJS service whose team came from GraphQL and kept its vocabulary.

Relay connections, global ids and `input` objects over REST; class-validator says no.
Completion pays.
"""

# Its author has typed it less strictly.
# mypy: ignore-errors

import base64
import json
import secrets
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

_WORK = [
    ("Banner line for the spring fair", "fresh bread, loud music and late ferries", 18),
    ("Crate label", "handle with care: glass floats inside", 9),
    ("Dock sign", "no mooring between pier four and pier six", 27),
    ("Menu heading", "smoked mackerel on rye with pickled onion", 14),
    ("Stencil for the boathouse", "keep the slipway clear at all times", 33),
    ("Newsletter headline", "harbour council votes for longer opening hours", 21),
    ("Poster footer", "tickets at the door, children go free", 40),
]
_FORMATS = ["PLAIN_TEXT", "MARKDOWN"]
_Check = tuple[Callable[[Any], bool], str]


def _gid(kind: str, key: object) -> str:
    return base64.b64encode(f"{kind}:{key}".encode()).decode()


def _is_base64(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(base64.b64decode(value, validate=True))
    except ValueError:
        return False


_ID: list[_Check] = [(_is_base64, "must be base64 encoded")]
_TEXT: list[_Check] = [
    (lambda v: v not in (None, ""), "should not be empty"),
    (lambda v: isinstance(v, str), "must be a string"),
]
_ONE_OF = "must be one of the following values: " + ", ".join(_FORMATS)
_ENUM: list[_Check] = [(lambda v: v in _FORMATS, _ONE_OF)]
_CLAIM = {"input": {"clientMutationId": _TEXT, "taskId": _ID}}
_FILE = {"body": _TEXT, "format": _ENUM}
_SUBMIT = {"input": {"clientMutationId": _TEXT, "claimId": _ID, "deliverable": _FILE}}
_COMPLETE = {"input": {"clientMutationId": _TEXT, "claimId": _ID, "submissionId": _ID}}


def _validate(shape: dict[str, Any], value: dict[str, Any], at: str = "") -> list[str]:
    """Speak as ValidationPipe({ whitelist: true, forbidNonWhitelisted: true }) does."""
    said = [f"{at}property {k} should not exist" for k in value if k not in shape]
    for name, rule in shape.items():
        given = value.get(name)
        if isinstance(rule, list):
            said += [f"{at}{name} {text}" for check, text in rule if not check(given)]
        elif isinstance(given, dict):
            said += _validate(rule, given, f"{at}{name}.")
        else:
            said.append(f"{at}{name} must be an object")
            if given is None:
                said.append(f"{at}{name} should not be null or undefined")
    return said


class _HttpException(Exception):  # noqa: N818
    def __init__(self, status: int, error: str, message: Any) -> None:
        super().__init__(message)
        self.answer = {"message": message, "error": error, "statusCode": status}
        if error == "Unauthorized":
            del self.answer["error"]


class Quayside(Backend):
    """NestJS, GraphQL-style naming over REST."""

    def __init__(self) -> None:
        super().__init__()
        self._agents: dict[str, dict[str, Any]] = {}  # by token
        self._tasks = {
            _gid("Task", 301 + i): {
                "n": i,
                "title": t,
                "text": x,
                "reward": r,
                "status": "OPEN",
            }
            for i, (t, x, r) in enumerate(_WORK)
        }
        self._claims: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {key: task["text"] for key, task in self._tasks.items()}

    def handle(self, request: Request) -> Response:
        answer = super().handle(request)
        answer.headers.setdefault("X-Powered-By", "Express")
        answer.headers.setdefault("Content-Type", "application/json; charset=utf-8")
        return answer

    def missing(self, request: Request) -> Response:
        says = f"Cannot {request.method} {request.path}"
        return Response(404, _HttpException(404, "Not Found", says).answer)

    def _body(self, request: Request) -> dict[str, Any]:
        if "json" not in (request.headers.get("Content-Type") or "") or not request.raw:
            return {}
        try:
            body = request.json()
        except json.JSONDecodeError as e:
            says = "Unexpected end of JSON input"
            if e.pos < len(e.doc):
                says = f"Unexpected token '{e.doc[e.pos]}' in JSON at position {e.pos}"
            raise _HttpException(400, "Bad Request", says) from e
        return body if isinstance(body, dict) else {}

    def _answer(self, do: Callable[[], dict[str, Any]]) -> Response:
        try:
            return Response(200, do())
        except _HttpException as e:
            return Response(e.answer["statusCode"], e.answer)

    def _guard(self, request: Request) -> dict[str, Any]:
        if request.token not in self._agents:
            raise _HttpException(401, "Unauthorized", "Unauthorized")
        return self._agents[request.token]

    def _input(
        self, request: Request, shape: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        body = self._body(request)
        agent = self._guard(request)
        if said := _validate(shape, body):
            raise _HttpException(400, "Bad Request", said)
        return agent, body["input"]

    def _claim_of(self, agent: dict[str, Any], key: str) -> dict[str, Any]:
        claim = self._claims.get(key)
        if claim is None:
            raise _HttpException(404, "Not Found", f"Claim with id {key} not found")
        if claim["agent"] is not agent:
            raise _HttpException(403, "Forbidden", "Forbidden resource")
        return claim

    def _node(self, key: str) -> dict[str, Any]:
        task = self._tasks[key]
        return {
            "__typename": "Task",
            "id": key,
            "title": task["title"],
            "instructions": "Return the source text in upper case, otherwise unchanged.",
            "sourceText": task["text"],
            "status": task["status"],
            "reward": {"__typename": "Reward", "creditAmount": task["reward"]},
            "createdAt": f"2025-03-0{task['n'] + 1}T08:15:00.000Z",
        }

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        key = _gid("Agent", 8800 + len(self._agents))
        parts = [json.dumps({"alg": "HS256", "typ": "JWT"}), json.dumps({"sub": key})]
        jwt = [base64.urlsafe_b64encode(p.encode()).decode().rstrip("=") for p in parts]
        token = ".".join([*jwt, secrets.token_urlsafe(32)])
        self._agents[token] = {"id": key, "credits": 100}
        return Response(200, {"agent_id": key, "access_token": token, "credits": 100})

    def _connection(self, query: dict[str, str], name: str) -> dict[str, Any]:
        said = [
            f"property {k} should not exist"
            for k in query
            if k not in ("limit", "after")
        ]
        text, limit = query.get("limit", "5"), None
        if text.isdigit():
            limit = int(text)
        if limit is None or limit > 20:
            said.append("limit must not be greater than 20")
        if limit is None or limit < 1:
            said.append("limit must not be less than 1")
        if limit is None:
            said.append("limit must be an integer number")
        cursors = {_gid("cursor", t["n"]): t["n"] for t in self._tasks.values()}
        after = cursors.get(query.get("after", ""), -1)
        if "after" in query and after < 0:
            said.append("after must be a valid cursor")
        if said:
            raise _HttpException(400, "Bad Request", said)
        open_ = [k for k, t in self._tasks.items() if t["status"] == "OPEN"]
        rest = [k for k in open_ if self._tasks[k]["n"] > after]
        nodes = [
            (_gid("cursor", self._tasks[k]["n"]), self._node(k)) for k in rest[:limit]
        ]
        edges = [{"cursor": cursor, "node": node} for cursor, node in nodes]
        end = edges[-1]["cursor"] if edges else None
        page = {"hasNextPage": len(rest) > len(edges), "endCursor": end}
        return {
            "data": {name: {"totalCount": len(open_), "edges": edges, "pageInfo": page}}
        }

    def marketplace(self, request: Request) -> Response:
        return self._answer(
            lambda: self._connection(request.query, "publicMarketplace")
        )

    def tasks(self, request: Request) -> Response:
        return self._answer(
            lambda: (
                self._guard(request)
                and self._connection(request.query, "marketplaceTasks")
            )
        )

    def claim(self, request: Request) -> Response:
        def do() -> dict[str, Any]:
            agent, given = self._input(request, _CLAIM)
            task = self._tasks.get(given["taskId"])
            if task is None:
                raise _HttpException(
                    404, "Not Found", f"Task with id {given['taskId']} not found"
                )
            if task["status"] != "OPEN":
                raise _HttpException(409, "Conflict", "Task is no longer OPEN")
            key = _gid("Claim", 5100 + len(self._claims))
            self._claims[key] = {
                "agent": agent,
                "task": given["taskId"],
                "submission": None,
            }
            task["status"] = "CLAIMED"
            self.book.claimed(given["taskId"])
            claim = {
                "__typename": "Claim",
                "id": key,
                "task": self._node(given["taskId"]),
            }
            return self._payload("claimTask", given, claim=claim)

        return self._answer(do)

    def _payload(
        self, name: str, given: dict[str, Any], **fields: Any
    ) -> dict[str, Any]:
        return {
            "data": {name: {"clientMutationId": given["clientMutationId"], **fields}}
        }

    def submit(self, request: Request) -> Response:
        def do() -> dict[str, Any]:
            agent, given = self._input(request, _SUBMIT)
            claim = self._claim_of(agent, given["claimId"])
            task = self._tasks[claim["task"]]
            if task["status"] != "CLAIMED":
                raise _HttpException(
                    409, "Conflict", "Claim already has an accepted submission"
                )
            if given["deliverable"]["body"] != task["text"].upper():
                says = "Deliverable rejected: body is not the upper-cased sourceText of the task"
                raise _HttpException(422, "Unprocessable Entity", says)
            claim["submission"] = _gid("Submission", 7000 + task["n"])
            task["status"] = "SUBMITTED"
            self.book.held.discard(claim["task"])
            sub = {
                "__typename": "Submission",
                "id": claim["submission"],
                "status": "ACCEPTED",
            }
            return self._payload("submitTaskResult", given, submission=sub)

        return self._answer(do)

    def complete(self, request: Request) -> Response:
        def do() -> dict[str, Any]:
            agent, given = self._input(request, _COMPLETE)
            claim = self._claim_of(agent, given["claimId"])
            task = self._tasks[claim["task"]]
            if task["status"] == "COMPLETED":
                raise _HttpException(409, "Conflict", "Task is already COMPLETED")
            if claim["submission"] != given["submissionId"]:
                says = f"Submission with id {given['submissionId']} not found"
                raise _HttpException(404, "Not Found", says)
            task["status"] = "COMPLETED"
            agent["credits"] += task["reward"]
            self.book.pay(claim["task"], task["reward"])
            wallet = {"__typename": "Wallet", "creditBalance": agent["credits"]}
            return self._payload(
                "completeTask", given, task=self._node(claim["task"]), wallet=wallet
            )

        return self._answer(do)
