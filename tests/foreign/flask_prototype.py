"""A Flask prototype of an afternoon: `except Exception as e: return jsonify(error=repr(e))`.

A missing field is the repr of a KeyError with status 500, and so is an unknown identifier.
Tasks are a dictionary by number, as they lie in the file, so no record holds its own
identifier. Submitting answers a receipt, completing wants it, and the payout is made by a
cron job: afterwards the task is "paid" in the listing.
"""

import secrets
import time
from collections.abc import Callable
from typing import Any

from tests.foreign.backend import Backend, Request, Response

Json = dict[str, Any]
PROMPTS = (
    "somebody painted the moon green",
    "the radio plays only on stairs",
    "put the lid back on the jar",
    "an echo lives under the bridge",
    "the tram driver waves to cats",
    "peel the onions by the window",
    "a ladder leans on nothing at all",
)
CRON_SECONDS = 4.0


class FlaskPrototype(Backend):
    """Seven tasks in a dictionary."""

    def __init__(self) -> None:
        super().__init__()
        self.workers: dict[str, str] = {}
        self.rows: dict[str, Json] = {
            str(n): {"prompt": prompt, "payout": n % 3 + 2, "status": "todo"}
            for n, prompt in enumerate(PROMPTS, 101)
        }
        self.receipts: dict[str, str] = {}
        self.due: dict[str, float] = {}

    def texts(self) -> dict[str, str]:
        return {key: row["prompt"] for key, row in self.rows.items()}

    def handle(self, request: Request) -> Response:
        with self._lock:
            self.cron()
        return super().handle(request)

    def cron(self) -> None:
        for key in [*self.due]:
            if self.due[key] <= time.monotonic():
                del self.due[key]
                self.rows[key]["status"] = "paid"
                self.book.pay(key, self.rows[key]["payout"])

    def route(self, request: Request, run: Callable[[str, Json], Json]) -> Response:
        worker = self.workers.get(request.token)
        if worker is None:
            return Response(401, {"error": "bad token"})
        try:
            answer = run(worker, request.json())
            return Response(200, answer, refused=not answer["ok"])
        except Exception as fault:  # noqa: BLE001 - this is how such a prototype does it
            return Response(500, {"error": repr(fault)})

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        worker, token = f"w{len(self.workers) + 1}", secrets.token_hex(16)
        self.workers[token] = worker
        return Response(
            200, {"agent_id": worker, "access_token": token, "credits": 100}
        )

    def tasks(self, request: Request) -> Response:
        return Response(200, {"tasks": self.rows})

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        return self.route(request, self.on_claim)

    def on_claim(self, worker: str, data: Json) -> Json:
        row = self.rows[data["task"]]
        if row["status"] != "todo":
            return {"ok": False, "reason": "taken"}
        row.update(status="doing", worker=worker)
        self.book.claimed(data["task"])
        return {"ok": True}

    def submit(self, request: Request) -> Response:
        return self.route(request, self.on_submit)

    def on_submit(self, worker: str, data: Json) -> Json:
        key, answer = data["task"], data["answer"]
        row = self.rows[key]
        if row["status"] != "doing" or row["worker"] != worker:
            return {"ok": False, "reason": "not yours"}
        if answer.strip() != row["prompt"].upper():
            return {"ok": False, "reason": "wrong answer"}
        row["status"] = "done"
        receipt = secrets.token_hex(4)
        self.receipts[receipt] = key
        return {"ok": True, "receipt": receipt}

    def complete(self, request: Request) -> Response:
        return self.route(request, self.on_complete)

    def on_complete(self, worker: str, data: Json) -> Json:
        key = self.receipts[data["receipt"]]
        if self.rows[key]["status"] == "done":
            self.rows[key]["status"] = "payout pending"
            self.due[key] = time.monotonic() + CRON_SECONDS
        return {"ok": True, "status": self.rows[key]["status"]}
