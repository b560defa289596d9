"""A persisted-operation RPC gateway in the manner of graphql-js 16 behind Apollo Server 4.

Every POST carries `{"operation": ..., "variables": {"input": {...}}}`; answers are
`{"data": ...}` or `{"errors": [...], "data": ...}`. Variables are coerced against input types
and refused in graphql-js's words. Ids are Relay global ids; the listing is a connection.
"""

import base64
import json
import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.foreign.backend import Backend, Request, Response

# (database id, source text, credits)
TASKS = [
    (311, "The ferry to Larvik leaves at half past six.", 30),
    (312, "please keep the loading dock clear between deliveries", 45),
    (315, "Batch 7b: two crates of quince, one of medlar", 20),
    (316, "new hours from monday: nine to four, closed for lunch", 60),
    (320, "A crème brûlée wants patience and a very small torch.", 35),
    (321, "return unopened packets to the counter by friday", 25),
]

# The persisted documents' variables: operation -> (input type, field -> type).
OPERATIONS: dict[str, tuple[str, dict[str, str]]] = {
    "claimTask": ("ClaimTaskInput", {"taskId": "ID!", "clientMutationId": "String"}),
    "submitResult": (
        "SubmitResultInput",
        {"claimId": "ID!", "result": "String!", "clientMutationId": "String"},
    ),
    "completeTask": (
        "CompleteTaskInput",
        {"submissionId": "ID!", "clientMutationId": "String"},
    ),
}


def gid(kind: str, number: int) -> str:
    return base64.b64encode(f"{kind}:{number}".encode()).decode()


def inspect(value: Any, depth: int = 0) -> str:
    """Print a value as graphql-js's inspect() does."""
    if isinstance(value, dict):
        if not value:
            return "{}"
        if depth > 2:
            return "[Object]"
        inner = ", ".join(f"{k}: {inspect(v, depth + 1)}" for k, v in value.items())
        return "{ " + inner + " }"
    if isinstance(value, list):
        return "[" + ", ".join(inspect(v, depth + 1) for v in value[:10]) + "]"
    return json.dumps(value, ensure_ascii=False)


def distance(a: str, b: str) -> int:
    """Return the lexical distance of two names (case alone counts one)."""
    if a == b:
        return 0
    if a.lower() == b.lower():
        return 1
    a, b = a.lower(), b.lower()
    rows = [list(range(len(b) + 1))]
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            cost = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, rows[-2][j - 2] + 1)
            row.append(cost)
        rows.append(row)
    return rows[-1][-1]


def did_you_mean(name: str, options: list[str]) -> str:
    limit = int(len(name) * 0.4) + 1
    near = sorted((distance(name, o), o) for o in options if distance(name, o) <= limit)
    quoted = " or ".join(f'"{o}"' for _, o in near[:2])
    return f" Did you mean {quoted}?" if quoted else ""


def scalar_problem(type_: str, value: Any) -> str:
    """Return why a value is not of a scalar type, or ""."""
    if value is None:
        if type_.endswith("!"):
            return f'Expected non-nullable type "{type_}" not to be null.'
        return ""
    name = type_.rstrip("!")
    if name == "String" and not isinstance(value, str):
        return f"String cannot represent a non string value: {inspect(value)}"
    if name == "ID" and (isinstance(value, bool) or not isinstance(value, (str, int))):
        return f"ID cannot represent value: {inspect(value)}"
    return ""


def coerce(type_: str, fields: dict[str, str], variables: dict[str, Any]) -> list[str]:
    """Return what is wrong with $input, as getVariableValues() would say it."""
    if "input" not in variables:
        return [f'Variable "$input" of required type "{type_}!" was not provided.']
    value = variables["input"]
    if value is None:
        return [f'Variable "$input" of non-null type "{type_}!" must not be null.']
    prefix = f'Variable "$input" got invalid value {inspect(value)}; '
    if not isinstance(value, (dict, list)):
        return [prefix + f'Expected type "{type_}" to be an object.']
    given = (
        value if isinstance(value, dict) else {str(i): v for i, v in enumerate(value)}
    )
    found = []
    for name, kind in fields.items():
        if name not in given:
            if kind.endswith("!"):
                found.append(
                    prefix
                    + f'Field "{name}" of required type "{kind}" was not provided.'
                )
        elif problem := scalar_problem(kind, given[name]):
            found.append(
                f'Variable "$input" got invalid value {inspect(given[name])} at '
                f'"input.{name}"; {problem}'
            )
    return found + [
        prefix
        + f'Field "{name}" is not defined by type "{type_}".'
        + did_you_mean(name, list(fields))
        for name in given
        if name not in fields
    ]


class Refused(Exception):
    def __init__(self, message: str, code: str, **extensions: Any) -> None:
        self.message, self.extensions = message, {"code": code, **extensions}


def whole(messages: list[str], code: str, status: int = 200) -> Response:
    """Return request errors: nothing was executed, so there is no data."""
    errors = [{"message": m, "extensions": {"code": code}} for m in messages]
    if messages and messages[0].startswith("Variable "):
        errors = [{**e, "locations": [{"line": 1, "column": 20}]} for e in errors]  # type: ignore[list-item]
    return Response(status, {"errors": errors}, refused=True)


DO = {
    "claimTask": "do_claim",
    "submitResult": "do_submit",
    "completeTask": "do_complete",
}


class GqlRpc(Backend):
    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, dict[str, Any]] = {}  # token -> agent
        self.tasks_: dict[str, dict[str, Any]] = {
            gid("Task", n): {"n": n, "text": text, "credits": pay, "state": "OPEN"}
            for n, text, pay in TASKS
        }
        self.claims: dict[str, dict[str, Any]] = {}
        self.submissions: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        return {id_: task["text"] for id_, task in self.tasks_.items()}

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent = {"id": gid("Agent", 9000 + self.book.registrations), "credits": 100}
        token = "agt_" + secrets.token_hex(20)
        self.agents[token] = agent
        payload = {"agent_id": agent["id"], "access_token": token, "credits": 100}
        return Response(200, payload)

    # -- the listing -----------------------------------------------------------------------

    def node(self, id_: str) -> dict[str, Any]:
        task = self.tasks_[id_]
        return {
            "__typename": "Task",
            "id": id_,
            "databaseId": task["n"],
            "headline": "Put a line into capital letters",
            "guidance": "Return the source body, every letter upper-cased, nothing added.",
            "source": {
                "__typename": "TextSource",
                "body": task["text"],
                "locale": "en",
            },
            "reward": {"__typename": "Reward", "credits": task["credits"]},
            "state": task["state"],
        }

    def connection(self, field: str, ids: list[str], request: Request) -> Response:
        limit = request.query.get("limit", "50")
        if not limit.isascii() or not limit.isdigit():
            return whole(
                [
                    (
                        f'Variable "$first" got invalid value {inspect(limit)}; Int cannot '
                        f"represent non-integer value: {inspect(limit)}"
                    )
                ],
                "BAD_USER_INPUT",
            )
        shown = ids[: int(limit)]
        edges = [
            {"cursor": gid("cursor", i), "node": self.node(id_)}
            for i, id_ in enumerate(shown)
        ]
        page = {
            "hasNextPage": len(shown) < len(ids),
            "endCursor": edges[-1]["cursor"] if edges else None,
        }
        body = {"totalCount": len(ids), "edges": edges, "pageInfo": page}
        return Response(200, {"data": {field: body}})

    def tasks(self, request: Request) -> Response:
        return self.connection("tasks", list(self.tasks_), request)

    def marketplace(self, request: Request) -> Response:
        open_ = [i for i, t in self.tasks_.items() if t["state"] == "OPEN"]
        return self.connection("publicTasks", open_, request)

    # -- the operations --------------------------------------------------------------------

    @staticmethod
    def envelope_problem(body: Any, name: str, served: str) -> str:
        """Return what Apollo Server would say of the body around the variables."""
        if not isinstance(body, dict) or not body:
            return (
                "POST body missing, invalid Content-Type, or JSON object has no keys. "
                "Expected `operation` and `variables`."
            )
        operation, variables = body.get("operation"), body.get("variables")
        if operation is None:
            return (
                "Requests must contain a non-empty `operation` naming a persisted "
                f"operation. Persisted here: {served}."
            )
        if not isinstance(operation, str):
            return "`operation` in a POST body must be a string if provided."
        if operation != name:
            return f'Unknown operation named "{operation}". Persisted here: {served}.'
        if isinstance(variables, str):
            return (
                "`variables` in a POST body should be provided as an object, not a "
                "recursively JSON-encoded string."
            )
        if variables is not None and not isinstance(variables, dict):
            return "`variables` in a POST body must be an object if provided."
        return ""

    def execute(self, name: str, request: Request) -> Response:
        """Read the envelope, coerce the variables, run the resolver."""
        type_, fields = OPERATIONS[name]
        try:
            body = request.json() if request.raw else None
        except ValueError:
            return whole(["POST body sent invalid JSON."], "BAD_REQUEST", 400)
        agent = self.agents.get(request.token)
        if agent is None:
            return whole(
                ["You must be authenticated to run this operation."],
                "UNAUTHENTICATED",
                401,
            )
        if problem := self.envelope_problem(body, name, f"{name}($input: {type_}!)"):
            unknown = problem.startswith("Unknown operation")
            code = "OPERATION_RESOLUTION_FAILURE" if unknown else "BAD_REQUEST"
            return whole([problem], code, 400)
        variables = body.get("variables")  # type: ignore[union-attr]
        if found := coerce(type_, fields, variables or {}):
            return whole(found, "BAD_USER_INPUT")
        given = (variables or {})["input"]
        try:
            payload = getattr(self, DO[name])(agent, given)
        except Refused as no:
            error = {
                "message": no.message,
                "locations": [{"line": 1, "column": 51}],
                "path": [name],
                "extensions": no.extensions,
            }
            return Response(
                200, {"errors": [error], "data": {name: None}}, refused=True
            )
        payload["clientMutationId"] = given.get("clientMutationId")
        return Response(200, {"data": {name: payload}})

    def claim(self, request: Request) -> Response:
        return self.execute("claimTask", request)

    def submit(self, request: Request) -> Response:
        return self.execute("submitResult", request)

    def complete(self, request: Request) -> Response:
        return self.execute("completeTask", request)

    @staticmethod
    def resolve(
        nodes: dict[str, dict[str, Any]],
        kind: str,
        id_: Any,
        argument: str,
    ) -> dict[str, Any]:
        node = nodes.get(str(id_))
        if node is None:
            raise Refused(
                f"Could not resolve to a {kind} with the global id of '{id_}'.",
                "NOT_FOUND",
                argumentName=argument,
            )
        return node

    def do_claim(self, agent: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
        id_ = str(given["taskId"])
        task = self.resolve(self.tasks_, "Task", id_, "taskId")
        if task["state"] != "OPEN":
            raise Refused(
                f"Task {id_} cannot be claimed: it is {task['state']}.", "TASK_NOT_OPEN"
            )
        claim_id = gid("Claim", 5001 + len(self.claims))
        self.claims[claim_id] = {"task": id_, "agent": agent["id"], "submission": None}
        task["state"] = "CLAIMED"
        self.book.claimed(id_)
        until = datetime.now(UTC) + timedelta(minutes=30)
        return {
            "claim": {
                "id": claim_id,
                "expiresAt": until.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
                "task": {"id": id_, "state": "CLAIMED"},
            }
        }

    def do_submit(self, agent: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
        claim = self.resolve(self.claims, "Claim", given["claimId"], "claimId")
        if claim["agent"] != agent["id"]:
            raise Refused("This claim belongs to another agent.", "FORBIDDEN")
        if claim["submission"]:
            raise Refused(
                "A result was already accepted for this claim.",
                "ALREADY_SUBMITTED",
                submissionId=claim["submission"],
            )
        if given["result"] != self.tasks_[claim["task"]]["text"].upper():
            raise Refused(
                "Result rejected by review: it is not the source body in capital letters.",
                "RESULT_REJECTED",
                argumentName="result",
            )
        id_ = gid("Submission", 7001 + len(self.submissions))
        self.submissions[id_] = {"task": claim["task"], "agent": agent["id"]}
        claim["submission"] = id_
        self.tasks_[claim["task"]]["state"] = "SUBMITTED"
        return {"submission": {"id": id_, "verdict": "ACCEPTED"}}

    def do_complete(
        self, agent: dict[str, Any], given: dict[str, Any]
    ) -> dict[str, Any]:
        found = self.resolve(
            self.submissions, "Submission", given["submissionId"], "submissionId"
        )
        if found["agent"] != agent["id"]:
            raise Refused("This submission belongs to another agent.", "FORBIDDEN")
        task = self.tasks_[found["task"]]
        if task["state"] == "COMPLETED":
            raise Refused(
                f"Task {found['task']} is already completed.", "TASK_COMPLETED"
            )
        task["state"] = "COMPLETED"
        agent["credits"] += task["credits"]
        self.book.pay(found["task"], task["credits"])
        return {
            "task": {"id": found["task"], "state": "COMPLETED"},
            "payout": {"credits": task["credits"]},
            "viewer": {"id": agent["id"], "credits": agent["credits"]},
        }
