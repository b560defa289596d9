"""A TypeScript service on Effect: a refusal is Schema's tree, drawn with lines in a text.

HttpApiDecodeError has a message of several lines: the type that was wanted, then a branch
`["taskId"]` and below it `is missing`. Excess properties are ignored, as is the default. A
claim tells who the agent is, in an object of its own.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

ECHOES = (
    "the fiber yields to the slower guest",
    "a scope closes behind the last chair",
    "layers of paint on the service door",
    "retry the lock with another key",
    "the queue is bounded by good manners",
    "interrupt the speech but not the song",
    "streams merge below the paper mill",
)


def written(schema: dict[str, Any]) -> str:
    """Return a schema as Effect writes it."""
    fields = "; ".join(
        f"readonly {name}: {written(kind) if isinstance(kind, dict) else kind}"
        for name, kind in schema.items()
    )
    return f"{{ {fields} }}"


def tree(body: Any, schema: dict[str, Any], indent: str = "") -> str | None:
    """Return the first branch that fails, drawn as TreeFormatter does."""
    top = written(schema)
    if not isinstance(body, dict):
        return f"Expected {top}, actual {body!r}"
    for name, kind in schema.items():
        branch = f'{top}\n{indent}└─ ["{name}"]\n{indent}   └─ '
        value = body.get(name)
        if name not in body:
            return f"{branch}is missing"
        if isinstance(kind, dict):
            if inner := tree(value, kind, f"{indent}      "):
                return branch + inner
        elif not isinstance(value, str):
            return f"{branch}Expected {kind}, actual {value!r}"
    return None


class EffectSchema(Backend):
    """Seven echoes in a layer."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, dict[str, Any]] = {}
        for n, echo in enumerate(ECHOES):
            key = f"task_{secrets.token_hex(6)}"
            self.rows[key] = {
                "id": key,
                "instructions": echo,
                "reward": {"credits": n % 3 + 1},
                "status": {"_tag": "Open"},
            }
        self.agents: dict[str, str] = {}

    def texts(self) -> dict[str, str]:
        return {key: row["instructions"] for key, row in self.rows.items()}

    def no(self, status: int, tag: str, message: str) -> Response:
        return Response(status, {"_tag": tag, "message": message})

    def missing(self, request: Request) -> Response:
        return Response(404, b"")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"agent_{secrets.token_hex(6)}", secrets.token_hex(32)
        self.agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        found = [row for row in self.rows.values() if row["status"]["_tag"] == "Open"]
        return Response(200, found)

    marketplace = tasks

    def decoded(
        self, request: Request, schema: dict[str, Any]
    ) -> tuple[Response | None, dict[str, Any], dict[str, Any]]:
        """Return a refusal, or the body and its row."""
        if request.token not in self.agents:
            return self.no(401, "Unauthorized", ""), {}, {}
        try:
            body = request.json()
        except ValueError:
            body = None
        if fault := tree(body, schema):
            answer = self.no(400, "HttpApiDecodeError", fault)
            answer.body["issues"] = []
            return answer, {}, {}
        row = self.rows.get(body["taskId"])
        if row is None:
            return self.no(404, "TaskNotFound", "There is no such task"), {}, {}
        return None, body, row

    def claim(self, request: Request) -> Response:
        schema = {"taskId": "string", "agent": {"id": "string"}}
        refusal, body, row = self.decoded(request, schema)
        if refusal:
            return refusal
        if body["agent"]["id"] != self.agents[request.token]:
            return self.no(403, "Forbidden", "That is another agent")
        if row["status"]["_tag"] != "Open":
            return self.no(409, "TaskNotOpen", "The task is not open")
        row["status"] = {"_tag": "Claimed"}
        self.book.claimed(row["id"])
        return Response(200, row)

    def submit(self, request: Request) -> Response:
        schema = {"taskId": "string", "answer": "string"}
        refusal, body, row = self.decoded(request, schema)
        if refusal:
            return refusal
        if row["status"]["_tag"] != "Claimed":
            return self.no(409, "TaskNotClaimed", "The task is not claimed")
        if body["answer"] != row["instructions"].upper():
            return self.no(422, "AnswerRejected", "The answer is wrong")
        row["status"] = {"_tag": "Submitted"}
        return Response(200, row)

    def complete(self, request: Request) -> Response:
        refusal, _, row = self.decoded(request, {"taskId": "string"})
        if refusal:
            return refusal
        if row["status"]["_tag"] == "Submitted":
            row["status"] = {"_tag": "Completed"}
            self.book.pay(row["id"], row["reward"]["credits"])
        elif row["status"]["_tag"] != "Completed":
            return self.no(409, "TaskNotSubmitted", "Nothing was submitted")
        return Response(200, row)
