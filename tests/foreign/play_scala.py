"""A Play application in Scala: JsError as it is, and optimistic locking by version.

Refusals map a path, `obj.answer.text`, to what is wrong with it: error.path.missing,
error.expected.jsnumber. Ids are Longs. A result is an object in an object; every change has
to say which version of the task it read, and makes a newer one. Listing is by offset, and
the answer says how many there are. Completing takes the task's id and version once more.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

QUESTIONS = (
    "the curtain rises on an implicit plot",
    "a future is a promise with a ticket",
    "fold the map from left to right",
    "either the cat or the canary sings",
    "some summers, none of the winters",
    "the sealed letter has three endings",
    "an actor answers only his own mail",
    "lift the lid and peek at the option",
    "pattern match the socks by candle",
    "the monad ate the second burrito",
    "cats and scalaz share the windowsill",
    "traverse the orchard in one pass",
)
FIRST = 90_000_000_017
PAGE = 5

Faults = dict[str, list[dict[str, Any]]]


def fault(word: str, *args: Any) -> list[dict[str, Any]]:
    return [{"msg": [f"error.{word}"], "args": [*args]}]


def read(body: Any, shape: dict[str, Any], path: str = "obj") -> Faults:
    """Return what Json.reads finds wrong, all at once."""
    if not isinstance(body, dict):
        return {path: fault("expected.jsobject")}
    found: Faults = {}
    for name, kind in shape.items():
        here, value = f"{path}.{name}", body.get(name)
        if name not in body:
            found[here] = fault("path.missing")
        elif isinstance(kind, dict):
            found |= read(value, kind, here)
        elif kind is int and (not isinstance(value, int) or isinstance(value, bool)):
            found[here] = fault("expected.jsnumber")
        elif kind is str and not isinstance(value, str):
            found[here] = fault("expected.jsstring")
    return found


class PlayScala(Backend):
    """Twelve questions behind a Play router."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[int, dict[str, Any]] = {
            FIRST + 13 * n: {
                "id": FIRST + 13 * n,
                "version": 3,
                "question": question,
                "stage": "Open",
                "reward": n % 5 + 1,
            }
            for n, question in enumerate(QUESTIONS)
        }
        self.agents: dict[str, str] = {}

    def texts(self) -> dict[str, str]:
        return {str(number): row["question"] for number, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        words = f"Action Not Found: {request.method} {request.path}"
        return Response(404, {"error": {"requestId": 7, "message": words}})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"p{secrets.randbelow(10**9)}", secrets.token_hex(20)
        self.agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        every = [row for row in self.rows.values() if row["stage"] == "Open"]
        offset = int(request.query.get("offset", "0") or 0)
        limit = min(int(request.query.get("limit", "5") or PAGE), PAGE)
        return Response(
            200,
            {
                "items": every[offset : offset + limit],
                "offset": offset,
                "limit": limit,
                "total": len(every),
            },
        )

    def answered(self, request: Request, shape: dict[str, Any], run: Any) -> Response:
        if request.token not in self.agents:
            return Response(401, {"message": "authentication.required"})
        try:
            body = request.json()
        except ValueError:
            return Response(400, {"message": "Invalid Json"})
        if found := read(body, shape):
            return Response(400, {"message": "validation.failed", "errors": found})
        row = self.rows.get(body["taskId"])
        if row is None:
            return Response(404, {"message": "task.not.found"})
        if row["stage"] != "Settled" and body["version"] != row["version"]:
            words = f"stale version {body['version']}, current is {row['version']}"
            return Response(409, {"message": "version.conflict", "detail": words})
        answer: Response = run(body, row)
        return answer

    def moved(self, row: dict[str, Any], stage: str) -> Response:
        row.update(stage=stage, version=row["version"] + 1)
        return Response(200, dict(row))

    def claim(self, request: Request) -> Response:
        return self.answered(request, {"taskId": int, "version": int}, self.on_claim)

    def on_claim(self, body: dict[str, Any], row: dict[str, Any]) -> Response:
        if row["stage"] != "Open":
            return Response(409, {"message": "task.already.assigned"})
        self.book.claimed(str(row["id"]))
        return self.moved(row, "Assigned")

    def submit(self, request: Request) -> Response:
        shape = {"taskId": int, "version": int, "answer": {"text": str}}
        return self.answered(request, shape, self.on_submit)

    def on_submit(self, body: dict[str, Any], row: dict[str, Any]) -> Response:
        if row["stage"] != "Assigned":
            return Response(409, {"message": "task.not.assigned"})
        if body["answer"]["text"] != row["question"].upper():
            return Response(422, {"message": "answer.rejected"})
        return self.moved(row, "Answered")

    def complete(self, request: Request) -> Response:
        return self.answered(request, {"taskId": int, "version": int}, self.on_complete)

    def on_complete(self, body: dict[str, Any], row: dict[str, Any]) -> Response:
        if row["stage"] == "Settled":
            return Response(200, dict(row))
        if row["stage"] != "Answered":
            return Response(409, {"message": "task.not.answered"})
        self.book.pay(str(row["id"]), row["reward"])
        return self.moved(row, "Settled")
