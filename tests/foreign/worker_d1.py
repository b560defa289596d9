"""A Cloudflare worker over D1, written in one sitting: three words are an error message.

The listing is what `.all()` gave, every column of `SELECT *` with its nulls, and booleans
that are numbers. Each endpoint was written on another day and names things as it liked;
no refusal names a field, and two of them are the same words for everything. What a body
has too much is not looked at. A number must be one.
"""

import secrets
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

PROMPTS = (
    "ship it before the pizza gets cold",
    "the router blinked twice and gave up",
    "my plant outlived three laptops",
    "the elevator music is stuck in my head",
    "leave the hammock where you found it",
    "a raccoon deployed on a friday",
    "the coffee knows what i did",
    "nobody reads the second page",
    "the duck on my desk disagrees",
    "turn left at the burnt toaster",
    "we named the bug after my uncle",
    "the fog machine passed code review",
)


class BadError(Exception):
    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status, self.words = status, words


def parsed(request: Request) -> dict[str, Any]:
    try:
        body = request.json()
    except ValueError as fault:
        raise BadError(400, "bad json") from fault
    if not isinstance(body, dict):
        raise BadError(400, "bad json")
    return body


class WorkerD1(Backend):
    """Twelve rows."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, str] = {}
        self.rows: list[dict[str, Any]] = [
            {
                "id": 31 + at,
                "prompt": prompt,
                "pts": at % 5 + 2,
                "who": None,
                "answer": None,
                "done": 0,
                "ts": 1_740_400_000 + 61 * at,
            }
            for at, prompt in enumerate(PROMPTS)
        ]

    def texts(self) -> dict[str, str]:
        return {str(row["id"]): row["prompt"] for row in self.rows}

    def missing(self, request: Request) -> Response:
        return Response(404, "nope")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"a{secrets.token_hex(4)}", secrets.token_hex(16)
        self.agents[token] = agent
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        free = [row for row in self.rows if row["who"] is None]
        meta = {"served_by": "v3-prod", "duration": 0.21, "rows_read": len(self.rows)}
        return Response(200, {"success": True, "meta": meta, "results": free})

    marketplace = tasks

    def agent(self, request: Request) -> str:
        if request.token not in self.agents:
            raise BadError(401, "who are you")
        return self.agents[request.token]

    def answered(
        self, request: Request, run: Callable[[str, dict[str, Any]], Any]
    ) -> Response:
        try:
            return Response(200, run(self.agent(request), parsed(request)))
        except BadError as no:
            return Response(no.status, no.words)

    def row(self, key: Any) -> dict[str, Any]:
        found = [row for row in self.rows if row["id"] == key]
        if not found or isinstance(key, bool):
            raise BadError(404, "no such thing")
        return found[0]

    def claim(self, request: Request) -> Response:
        return self.answered(request, self.on_claim)

    def on_claim(self, agent: str, body: dict[str, Any]) -> Any:
        if not body.get("id"):
            raise BadError(400, "bad request")
        if not body.get("who"):
            raise BadError(400, "missing stuff: who are you working for?")
        if body["who"] != agent:
            raise BadError(403, "that's not you")
        row = self.row(body["id"])
        if row["who"]:
            raise BadError(409, "gone")
        row["who"] = agent
        self.book.claimed(str(row["id"]))
        return {"ok": True, "job": row["id"]}

    def own(self, agent: str, key: Any) -> dict[str, Any]:
        row = self.row(key)
        if row["who"] != agent:
            raise BadError(403, "not yours")
        return row

    def submit(self, request: Request) -> Response:
        return self.answered(request, self.on_submit)

    def on_submit(self, agent: str, body: dict[str, Any]) -> Any:
        if not body.get("job"):
            raise BadError(400, "which one?")
        if not body.get("answer"):
            raise BadError(400, "nothing in there")
        row = self.own(agent, body["job"])
        if body["answer"] != row["prompt"].upper():
            raise BadError(422, "wrong")
        row["answer"] = body["answer"]
        return {"ok": True, "job": row["id"], "next": "finish"}

    def complete(self, request: Request) -> Response:
        return self.answered(request, self.on_complete)

    def on_complete(self, agent: str, body: dict[str, Any]) -> Any:
        if not body.get("job") or body.get("who") != agent:
            raise BadError(400, "bad request")
        row = self.own(agent, body["job"])
        if row["answer"] is None:
            raise BadError(409, "not so fast")
        row["done"] = 1
        if str(row["id"]) not in self.book.paid:
            self.book.pay(str(row["id"]), row["pts"])
        return {"ok": True, "pts": row["pts"]}
