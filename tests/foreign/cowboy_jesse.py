"""An Erlang service: Cowboy, and jesse's errors as they are turned into JSON.

[{"invalid": "data", "error": "missing_required_property", "data": "job_id", "path": []}]:
what is missing is the `data` of an error, and where, its path; a wrong type is the value
that was sent, with the path to it. What a job makes is an object with its media type.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

MESSAGES = (
    "the supervisor lets it crash gently",
    "mailboxes overflow with good news",
    "a process waits for its better half",
    "hot code cools on the window sill",
    "the atom table is nearly full",
    "distributed cows moo in unison",
    "nodes whisper across the cookie jar",
)


def invalid(error: str, data: Any, path: list[str]) -> dict[str, Any]:
    return {"invalid": "data", "error": error, "data": data, "path": path}


def jesse(body: Any, schema: dict[str, Any], *path: str) -> list[dict[str, Any]]:
    """Return jesse's list of errors, all of them."""
    if not isinstance(body, dict):
        return [invalid("wrong_type", body, [*path])]
    found = []
    for name, kind in schema.items():
        if name not in body:
            found.append(invalid("missing_required_property", name, [*path]))
        elif isinstance(kind, dict):
            found += jesse(body[name], kind, *path, name)
        elif not isinstance(body[name], kind):
            found.append(invalid("wrong_type", body[name], [*path, name]))
    return found


class CowboyJesse(Backend):
    """Seven messages in Mnesia."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[int, dict[str, Any]] = {
            n: {
                "job_id": n,
                "input": message,
                "fee": n % 5 + 1,
                "status": "waiting",
            }
            for n, message in enumerate(MESSAGES, start=100_400)
        }
        self.agents: set[str] = set()

    def texts(self) -> dict[str, str]:
        return {str(number): row["input"] for number, row in self.rows.items()}

    def missing(self, request: Request) -> Response:
        return Response(404, b"")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(20)
        self.agents.add(token)
        agent = f"pid-{secrets.token_hex(4)}"
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        found = [row for row in self.rows.values() if row["status"] == "waiting"]
        return Response(200, {"jobs": found})

    marketplace = tasks

    def accepted(
        self, request: Request, schema: dict[str, Any]
    ) -> tuple[Response | None, dict[str, Any], dict[str, Any]]:
        """Return a refusal, or the body and its row."""
        if request.token not in self.agents:
            return Response(401, b""), {}, {}
        try:
            body = request.json()
        except ValueError:
            return Response(400, {"errors": ["invalid_json"]}), {}, {}
        if errors := jesse(body, schema):
            return Response(400, {"errors": errors}), {}, {}
        row = self.rows.get(body["job_id"])
        if row is None:
            return Response(404, {"errors": ["job_not_found"]}), {}, {}
        return None, body, row

    def claim(self, request: Request) -> Response:
        refusal, _, row = self.accepted(request, {"job_id": int})
        if refusal:
            return refusal
        if row["status"] != "waiting":
            return Response(409, {"errors": ["job_not_waiting"]})
        row["status"] = "running"
        self.book.claimed(str(row["job_id"]))
        return Response(200, row)

    def submit(self, request: Request) -> Response:
        schema = {"job_id": int, "output": {"media_type": str, "body": str}}
        refusal, body, row = self.accepted(request, schema)
        if refusal:
            return refusal
        if row["status"] != "running":
            return Response(409, {"errors": ["job_not_running"]})
        if body["output"]["body"] != row["input"].upper():
            return Response(422, {"errors": ["output_rejected"]})
        row["status"] = "finished"
        return Response(200, row)

    def complete(self, request: Request) -> Response:
        refusal, _, row = self.accepted(request, {"job_id": int})
        if refusal:
            return refusal
        if row["status"] == "finished":
            row["status"] = "paid"
            self.book.pay(str(row["job_id"]), row["fee"])
        elif row["status"] != "paid":
            return Response(409, {"errors": ["job_not_finished"]})
        return Response(200, row)
