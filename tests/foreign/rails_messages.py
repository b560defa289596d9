"""Rails 7 in API mode: `full_messages`, one wrapper for each model, a job that pays.

A missing wrapper is the exception's own message; what the model finds is a bare list of
sentences made of human attribute names. A result brings an idempotency key in its body. A
completion only enqueues the payout, and the task's own state says when it was made. The
listing is an array, its next page is in the `Link` header, money is an object of a decimal.
"""

import secrets
import time
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Json = dict[str, Any]
PROMPTS = (
    "polish the brass before noon",
    "the ferry leaves from pier two",
    "fold every napkin into a swan",
    "a violin was left on the tram",
    "keep the receipt until spring",
    "the orchard gate sticks in winter",
    "count the stairs on your way up",
    "there is a letter under the mat",
)
PER_PAGE = 3
PAYOUT_SECONDS = 2.0


class RenderError(Exception):
    def __init__(self, status: int, body: Json) -> None:
        super().__init__(body)
        self.status, self.body = status, body


def required(request: Request, wrapper: str) -> Json:
    """Return params.require(wrapper)."""
    try:
        body = request.json()
    except ValueError:
        told = "Error occurred while parsing request parameters"
        raise RenderError(400, {"error": told}) from None
    given = body.get(wrapper) if isinstance(body, dict) else None
    if not given or not isinstance(given, dict):
        told = f"param is missing or the value is empty or invalid: {wrapper}"
        raise RenderError(400, {"error": told})
    return given


def valid(*faults: str) -> None:
    """Raise ActiveRecord::RecordInvalid, rendered, if anything is wrong."""
    found = [fault for fault in faults if fault]
    if found:
        raise RenderError(422, {"errors": found})


def number(value: object) -> int:
    """Return a value as an integer column casts it."""
    return int(value) if str(value).isdecimal() else 0  # type: ignore[call-overload]


class RailsMessages(Backend):
    """Eight tasks, and a table for every step."""

    def __init__(self) -> None:
        super().__init__()
        self.agents: dict[str, int] = {}
        self.rows: dict[int, Json] = {}
        for n, prompt in enumerate(PROMPTS):
            self.rows[310 + n] = {
                "id": 310 + n,
                "name": "Shout it",
                "description": prompt,
                "state": "open",
                "reward": {"amount": f"{n % 3 + 2}.0", "currency": "credits"},
                "created_at": "2026-10-30T11:02:07.114Z",
                "updated_at": "2026-10-30T11:02:07.114Z",
            }
        self.claims: dict[int, Json] = {}
        self.results: dict[int, Json] = {}
        self.completions: dict[int, Json] = {}  # by result
        self.jobs: list[tuple[float, Json, Json]] = []

    def texts(self) -> dict[str, str]:
        return {str(key): row["description"] for key, row in self.rows.items()}

    def handle(self, request: Request) -> Response:
        with self._lock:
            self.work_off()
        return super().handle(request)

    def work_off(self) -> None:
        """Run the payouts that are due, as the worker process does."""
        while self.jobs and self.jobs[0][0] <= time.monotonic():
            _, completion, row = self.jobs.pop(0)
            completion["state"] = row["state"] = "paid"
            self.book.pay(str(row["id"]), int(float(row["reward"]["amount"])))

    def rendered(self, request: Request, run: Callable[[Request], Any]) -> Response:
        if request.token not in self.agents:
            return Response(401, {"error": "HTTP Token: Access denied."})
        try:
            return Response(200, run(request))
        except RenderError as no:
            return Response(no.status, no.body)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = 9000 + len(self.agents), secrets.token_hex(20)
        self.agents[token] = agent
        return Response(
            200, {"agent_id": str(agent), "access_token": token, "credits": 100}
        )

    def tasks(self, request: Request) -> Response:
        page = max(number(request.query.get("page", "1")), 1)
        every = list(self.rows.values())
        shown = every[(page - 1) * PER_PAGE : page * PER_PAGE]
        answer = self.rendered(request, lambda _: shown)
        if page * PER_PAGE < len(every):
            after = f"{request.base}{request.path}?page={page + 1}"
            answer.headers["Link"] = f'<{after}>; rel="next"'
        return answer

    def claim(self, request: Request) -> Response:
        return self.rendered(request, self.on_claim)

    def on_claim(self, request: Request) -> Json:
        given = required(request, "task_claim")
        row = self.rows.get(number(given.get("task_id")))
        valid("" if row else "Task must exist")
        assert row is not None
        valid("" if row["state"] == "open" else "Task has already been taken")
        row["state"] = "claimed"
        claim = {
            "id": 5200 + len(self.claims),
            "task_id": row["id"],
            "agent_id": self.agents[request.token],
        }
        self.claims[claim["id"]] = claim
        self.book.claimed(str(row["id"]))
        return claim

    def submit(self, request: Request) -> Response:
        return self.rendered(request, self.on_submit)

    def on_submit(self, request: Request) -> Json:
        given = required(request, "task_result")
        claim = self.claims.get(number(given.get("task_claim_id")))
        key, body = given.get("idempotency_key"), given.get("body")
        valid(
            "" if claim else "Task claim must exist",
            "" if isinstance(body, str) and body.strip() else "Body can't be blank",
            "" if key else "Idempotency key can't be blank",
        )
        assert claim is not None
        for result in self.results.values():
            if result["idempotency_key"] == key:
                return result
        right = self.rows[claim["task_id"]]["description"].upper()
        valid("" if body == right else "Body is not what was asked for")
        result = {
            "id": 7700 + len(self.results),
            "task_claim_id": claim["id"],
            "idempotency_key": key,
            "body": body,
        }
        self.results[result["id"]] = result
        self.rows[claim["task_id"]]["state"] = "submitted"
        return result

    def complete(self, request: Request) -> Response:
        return self.rendered(request, self.on_complete)

    def on_complete(self, request: Request) -> Json:
        given = required(request, "task_completion")
        result = self.results.get(number(given.get("task_result_id")))
        valid("" if result else "Task result must exist")
        assert result is not None
        if result["id"] not in self.completions:
            completion = {
                "id": 8800 + len(self.completions),
                "task_result_id": result["id"],
                "state": "payout_enqueued",
            }
            self.completions[result["id"]] = completion
            row = self.rows[self.claims[result["task_claim_id"]]["task_id"]]
            self.jobs.append((time.monotonic() + PAYOUT_SECONDS, completion, row))
        return self.completions[result["id"]]
