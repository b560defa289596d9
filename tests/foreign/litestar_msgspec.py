"""Litestar with msgspec structs that forbid unknown fields; a review takes a moment.

A refusal says only "Validation failed for POST /..." in its detail; the fault itself is in
`extra`, with the name between backquotes or as the key, one at a time. Claiming begins an
attempt, whose number goes with the result. Until somebody has looked at a result,
completing is a conflict.
"""

import secrets
import time
from typing import Any

from tests.foreign.backend import Backend, Request, Response

POEMS = (
    "the moth returns to the same lamp",
    "dust settles on the piano lid",
    "an attic holds three winters",
    "the stair complains at midnight",
    "ink dries before the last word",
    "a key without any door",
    "the mirror faces the wall",
    "letters tied with kitchen string",
    "the cradle is full of books",
    "someone hums behind the curtain",
    "a globe with the wrong borders",
    "the skylight collects maple leaves",
)
REVIEW_SECONDS = 1.0


class LitestarMsgspec(Backend):
    """Twelve poems and one attentive editor."""

    def __init__(self) -> None:
        super().__init__()
        self.poems: dict[int, dict[str, Any]] = {
            n: {
                "id": n,
                "text": poem,
                "reward": f"{n % 4 + 1}.00",
                "status": "open",
                "attempts": 0,
            }
            for n, poem in enumerate(POEMS, start=1200)
        }
        self.submitted: dict[int, float] = {}
        self.agents: set[str] = set()

    def texts(self) -> dict[str, str]:
        return {str(number): poem["text"] for number, poem in self.poems.items()}

    def no(self, status: int, detail: str, **more: Any) -> Response:
        return Response(status, {"status_code": status, "detail": detail, **more})

    def missing(self, request: Request) -> Response:
        return self.no(404, "Not Found")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(20)
        self.agents.add(token)
        agent = f"poet-{secrets.token_hex(3)}"
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        found = [poem for poem in self.poems.values() if poem["status"] == "open"]
        limit = min(int(request.query.get("limit", "5") or 5), 100)
        offset = int(request.query.get("offset", "0") or 0)
        return Response(
            200,
            {
                "items": found[offset : offset + limit],
                "limit": limit,
                "offset": offset,
                "total": len(found),
            },
        )

    def fault(self, body: Any, struct: dict[str, type]) -> dict[str, str] | None:
        """Return what msgspec says first."""
        if not isinstance(body, dict):
            return {"message": "Expected `object`, got `array`", "key": "data"}
        for name, value in body.items():
            if name not in struct:
                words = f"Object contains unknown field `{name}`"
                return {"message": words}
            if not isinstance(value, struct[name]) or isinstance(value, bool):
                given = "str" if isinstance(value, str) else "object"
                words = f"Expected `{struct[name].__name__}`, got `{given}`"
                return {"message": words, "key": name}
        for name in struct:
            if name not in body:
                return {"message": f"Object missing required field `{name}`"}
        return None

    def decoded(
        self, request: Request, struct: dict[str, type]
    ) -> tuple[Response | None, dict[str, Any], dict[str, Any]]:
        """Return a refusal, or the body and its poem."""
        if request.token not in self.agents:
            return self.no(401, "Unauthorized"), {}, {}
        try:
            body = request.json()
        except ValueError:
            return self.no(400, "JSON is malformed: invalid character"), {}, {}
        if fault := self.fault(body, struct):
            words = f"Validation failed for POST {request.path}"
            return self.no(400, words, extra=[fault]), {}, {}
        poem = self.poems.get(body["task_id"])
        if poem is None:
            return self.no(404, f"Task {body['task_id']} does not exist"), {}, {}
        if body.get("attempt", poem["attempts"]) != poem["attempts"]:
            return self.no(409, "Not the current attempt"), {}, {}
        return None, body, poem

    def claim(self, request: Request) -> Response:
        refusal, _, poem = self.decoded(request, {"task_id": int})
        if refusal:
            return refusal
        if poem["status"] != "open":
            return self.no(409, "Task is not open")
        poem["status"] = "in_progress"
        poem["attempts"] += 1
        self.book.claimed(str(poem["id"]))
        return Response(
            201,
            {
                "task_id": poem["id"],
                "attempt": poem["attempts"],
                "status": "in_progress",
            },
        )

    def submit(self, request: Request) -> Response:
        struct = {"task_id": int, "attempt": int, "result": str}
        refusal, body, poem = self.decoded(request, struct)
        if refusal:
            return refusal
        if poem["status"] != "in_progress":
            return self.no(409, "Task is not in progress")
        if body["result"] != poem["text"].upper():
            return self.no(422, "The result was rejected")
        poem["status"] = "under_review"
        self.submitted[poem["id"]] = time.monotonic()
        return Response(201, {"task_id": poem["id"], "status": "under_review"})

    def complete(self, request: Request) -> Response:
        refusal, _, poem = self.decoded(request, {"task_id": int, "attempt": int})
        if refusal:
            return refusal
        if poem["status"] == "under_review":
            if time.monotonic() - self.submitted[poem["id"]] < REVIEW_SECONDS:
                return self.no(409, "The submission is still under review")
            poem["status"] = "completed"
            self.book.pay(str(poem["id"]), int(float(poem["reward"])))
        elif poem["status"] != "completed":
            return self.no(409, "Nothing to complete")
        return Response(201, {"status": "completed", "reward": poem["reward"]})
