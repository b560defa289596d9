"""A Python service on Connexion, designed from its OpenAPI description, which it publishes.

What names a thing is a query parameter and what is made of it a body, as the description
says. A gateway in front checks requests by the description, too, and answers 400 without
a body to those that do not conform, so that nothing can be learned from it.
"""

import secrets
from typing import Any

from tests.foreign.backend import ACTIONS, Backend, Request, Response

TEXTS = (
    "the tuner hears one string too many",
    "a red kite circles above the quarry",
    "the last ticket was sold on tuesday",
    "rye bread needs a slow oven",
    "the captain writes with a pencil",
    "four chairs stand around no table",
    "the archive smells of lavender",
    "a whistle wakes the sleeping dog",
)
PATHS = {action: path for (_, path), action in ACTIONS.items()}
STRING = {"type": "string"}
# Required query parameters, and the required fields of the body.
OPERATIONS: dict[str, tuple[list[str], list[str]]] = {
    "claim": (["ref", "worker"], []),
    "submit": (["ref"], ["transcript"]),
    "complete": (["ref", "receipt"], []),
}


def operation(action: str) -> dict[str, Any]:
    """Return the description of an action."""
    query, fields = OPERATIONS[action]
    told: dict[str, Any] = {
        "operationId": f"market.{action}",
        "security": [{"bearer": []}],
        "parameters": [
            {"$ref": "#/components/parameters/ref"}
            if name == "ref"
            else {"name": name, "in": "query", "required": True, "schema": STRING}
            for name in query
        ],
        "responses": {"200": {"description": "Done."}, "400": {"description": "No."}},
    }
    if fields:
        schema = {
            "type": "object",
            "required": fields,
            "properties": dict.fromkeys(fields, STRING),
            "additionalProperties": False,
        }
        content = {"application/json": {"schema": schema}}
        told["requestBody"] = {"required": True, "content": content}
    return told


DESCRIPTION = {
    "openapi": "3.0.3",
    "info": {"title": "Transcripts", "version": "1.4.0"},
    "paths": {PATHS[action]: {"post": operation(action)} for action in OPERATIONS},
    "components": {
        "parameters": {
            "ref": {
                "name": "ref",
                "in": "query",
                "required": True,
                "description": "The task's reference, as it is listed.",
                "schema": STRING,
            }
        },
        "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
    },
}


class ConnexionQuery(Backend):
    """Eight texts."""

    def __init__(self) -> None:
        super().__init__()
        self.items: dict[str, dict[str, Any]] = {
            f"tr-{at * 113 + 2001:x}": {
                "text": text,
                "fee": at % 3 + 2,
                "state": "open",
            }
            for at, text in enumerate(TEXTS)
        }
        self.agents: dict[str, str] = {}
        self.receipts: dict[str, str] = {}

    def texts(self) -> dict[str, str]:
        return {ref: item["text"] for ref, item in self.items.items()}

    def document(self, request: Request) -> Response:
        if request.path == "/.well-known/agent.json":
            link = {"type": "openapi", "url": f"{request.base}/v1/openapi.json"}
            return Response(200, {"name": "Transcripts", "api": link})
        if request.path == "/v1/openapi.json":
            return Response(200, DESCRIPTION)
        return self.missing(request)

    def register(self, request: Request) -> Response:
        self.book.registrations += 1
        agent, token = f"w{secrets.token_hex(3)}", secrets.token_hex(16)
        self.agents[token] = agent
        told = {"agent_id": agent, "access_token": token, "credits": 100}
        return Response(200, told)

    def tasks(self, request: Request) -> Response:
        items = [{"ref": ref, **item} for ref, item in self.items.items()]
        return Response(200, {"items": items})

    def conforms(self, request: Request, action: str) -> bool:
        query, fields = OPERATIONS[action]
        if not all(request.query.get(name) for name in query):
            return False
        if not fields:
            return True
        try:
            body = request.json()
        except ValueError:
            return False
        return (
            isinstance(body, dict)
            and body.keys() == set(fields)
            and all(isinstance(value, str) for value in body.values())
        )

    def refused(self, request: Request, action: str) -> Response | None:
        """Return why a request goes no further."""
        if request.token not in self.agents:
            return Response(401)
        if not self.conforms(request, action):
            return Response(400)
        if request.query["ref"] not in self.items:
            return Response(404, {"title": "Not Found", "status": 404})
        return None

    def problem(self, detail: str, status: int = 409) -> Response:
        told = {"type": "about:blank", "title": "Conflict", "detail": detail}
        return Response(status, {**told, "status": status})

    def claim(self, request: Request) -> Response:
        if no := self.refused(request, "claim"):
            return no
        item = self.items[request.query["ref"]]
        if request.query["worker"] != self.agents[request.token]:
            return self.problem("You are another worker.", 403)
        if item["state"] != "open":
            return self.problem("The text is taken.")
        item["state"] = "taken"
        self.book.claimed(request.query["ref"])
        return Response(200, {"ref": request.query["ref"], "state": "taken"})

    def submit(self, request: Request) -> Response:
        if no := self.refused(request, "submit"):
            return no
        ref = request.query["ref"]
        item = self.items[ref]
        if item["state"] == "open":
            return self.problem("The text is nobody's yet.")
        if request.json()["transcript"] != item["text"].upper():
            return self.problem("The transcript is wrong.", 422)
        if item["state"] == "taken":
            item["state"] = "delivered"
            self.receipts[ref] = secrets.token_hex(8)
        return Response(200, {"receipt": self.receipts[ref], "state": item["state"]})

    def complete(self, request: Request) -> Response:
        if no := self.refused(request, "complete"):
            return no
        ref = request.query["ref"]
        item = self.items[ref]
        if self.receipts.get(ref) != request.query["receipt"]:
            return self.problem("There is no such receipt.")
        if item["state"] != "paid":
            item["state"] = "paid"
            self.book.pay(ref, item["fee"])
        return Response(200, {"state": "paid", "fee": item["fee"]})
