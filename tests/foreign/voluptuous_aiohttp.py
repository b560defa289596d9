"""aiohttp with voluptuous: "required key not provided @ data['task']", and no more.

Schemas refuse what they do not know, and str(error) is the whole message. A task is an
object with a ref in it; how many seconds the work took has to be told, as a number.
"""

import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

KNOTS = (
    "a bowline holds the sleeping boat",
    "the sheepshank was never needed",
    "two half hitches make a promise",
    "the rope ladder ends in fog",
    "splice the line before supper",
    "a clove hitch around the moon",
    "the reef knot minds its manners",
)


def at(path: tuple[str, ...]) -> str:
    return " @ data" + "".join(f"['{name}']" for name in path)


def checked(body: Any, schema: dict[str, Any], *path: str) -> str | None:
    """Return what voluptuous says first."""
    if not isinstance(body, dict):
        return "expected a dictionary" + (
            f" for dictionary value{at(path)}" if path else ""
        )
    for name, value in body.items():
        if name not in schema:
            return f"extra keys not allowed{at((*path, name))}"
        kind = schema[name]
        if isinstance(kind, dict):
            if fault := checked(value, kind, *path, name):
                return fault
        elif not isinstance(value, kind):
            word = "str" if kind is str else "int"
            return f"expected {word} for dictionary value{at((*path, name))}"
    for name in schema:
        if name not in body:
            return f"required key not provided{at((*path, name))}"
    return None


class VoluptuousAiohttp(Backend):
    """Seven knots in a dictionary."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, dict[str, Any]] = {}
        for n, knot in enumerate(KNOTS):
            key = f"knot-{n + 1}"
            self.rows[key] = {
                "ref": key,
                "text": knot,
                "pays": n % 3 + 2,
                "status": "free",
            }
        self.agents: set[str] = set()

    def texts(self) -> dict[str, str]:
        return {key: row["text"] for key, row in self.rows.items()}

    def no(self, status: int, message: str) -> Response:
        return Response(status, {"message": message})

    def missing(self, request: Request) -> Response:
        return Response(404, "404: Not Found")

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        token = secrets.token_hex(16)
        self.agents.add(token)
        agent = f"sailor-{secrets.token_hex(3)}"
        return Response(200, {"agent_id": agent, "access_token": token, "credits": 100})

    def tasks(self, request: Request) -> Response:
        found = [row for row in self.rows.values() if row["status"] == "free"]
        return Response(200, {"tasks": found})

    marketplace = tasks

    def read(
        self, request: Request, schema: dict[str, Any]
    ) -> tuple[Response | None, dict[str, Any], dict[str, Any]]:
        """Return a refusal, or the body and its row."""
        if request.token not in self.agents:
            return self.no(401, "unauthorized"), {}, {}
        try:
            body = request.json()
        except ValueError:
            return self.no(400, "body is not json"), {}, {}
        if fault := checked(body, schema):
            return self.no(400, fault), {}, {}
        row = self.rows.get(body["task"]["ref"])
        if row is None:
            return self.no(404, "no such task"), {}, {}
        return None, body, row

    def claim(self, request: Request) -> Response:
        refusal, _, row = self.read(request, {"task": {"ref": str}})
        if refusal:
            return refusal
        if row["status"] != "free":
            return self.no(409, "task is taken")
        row["status"] = "taken"
        self.book.claimed(row["ref"])
        return Response(200, row)

    def submit(self, request: Request) -> Response:
        schema = {"task": {"ref": str}, "result": str, "seconds": int | float}
        refusal, body, row = self.read(request, schema)
        if refusal:
            return refusal
        if row["status"] != "taken":
            return self.no(409, "task is not taken")
        if body["result"] != row["text"].upper():
            return self.no(422, "result was rejected")
        row["status"] = "delivered"
        return Response(200, row)

    def complete(self, request: Request) -> Response:
        refusal, _, row = self.read(request, {"task": {"ref": str}})
        if refusal:
            return refusal
        if row["status"] == "delivered":
            row["status"] = "paid"
            self.book.pay(row["ref"], row["pays"])
        elif row["status"] != "paid":
            return self.no(409, "task was not delivered")
        return Response(200, row)
