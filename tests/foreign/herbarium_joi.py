"""Herbarium sheets: Express, celebrate (Joi) and mongoose-paginate."""

import json
import secrets
from typing import Any

from tests.foreign.backend import Backend, Request, Response

SHEETS = [
    ("Drosera rotundifolia", "wet heath near the old mill", 18, "OPEN"),
    ("Linnaea borealis", "under pines on the north slope", 22, "OPEN"),
    ("Saxifraga cernua", "a single plant by the summit cairn", 30, "OPEN"),
    ("Primula farinosa", "roadside bank after rain", 10, "CLAIMED"),
    ("Dryas octopetala", "limestone pavement in flower", 16, "OPEN"),
]


class Herbarium(Backend):
    """Express with celebrate/Joi (abortEarly, so one complaint at a time; no unknown keys).

    Listing: mongoose-paginate's {docs, totalDocs, page, hasNextPage, ...} with _id, taxon and
    reward; the text comes with the claim (data.sheet.labelText). Claim {sheetId} gives
    data.claimToken; submit {claimToken, deliverable: {type: text|url, content}}; complete
    {claimToken, sheetId} pays at once. One sheet at a time (409).
    """

    def __init__(self) -> None:
        super().__init__()
        self.members: dict[str, dict[str, Any]] = {}
        self.sheets: dict[str, dict[str, Any]] = {}
        for taxon, text, reward, status in SHEETS:
            key = secrets.token_hex(12)
            self.sheets[key] = {
                "_id": key,
                "taxon": taxon,
                "labelText": text,
                "reward": reward,
                "status": status,
            }
        self.doable = [k for k, s in self.sheets.items() if s["status"] == "OPEN"]
        self.claims: dict[str, dict[str, Any]] = {}

    def texts(self) -> dict[str, str]:
        """Return the text of every task by its identifier."""
        return {k: self.sheets[k]["labelText"] for k in self.doable}

    def missing(self, request: Request) -> Response:
        """Answer as Express's finalhandler."""
        return Response(
            404,
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            "<title>Error</title>\n</head>\n<body>\n"
            f"<pre>Cannot {request.method} {request.path}</pre>\n</body>\n</html>\n",
            {"Content-Type": "text/html; charset=utf-8", "X-Powered-By": "Express"},
        )

    def no(self, status: int, error: str, message: str) -> Response:
        """Refuse as boom does."""
        body = {"statusCode": status, "error": error, "message": message}
        return Response(status, body, {"X-Powered-By": "Express"})

    def ok(self, data: Any) -> Response:
        """Answer."""
        return Response(200, {"data": data}, {"X-Powered-By": "Express"})

    def joi(
        self, value: Any, schema: dict[str, Any], path: str = ""
    ) -> tuple[str, str] | None:
        """Return the first complaint and its key, as Joi makes them."""
        if not isinstance(value, dict):
            return f'"{path or "value"}" must be of type object', path
        for key, rule in schema.items():
            label = f"{path}.{key}" if path else key
            if key not in value:
                return f'"{label}" is required', label
            item = value[key]
            if isinstance(rule, dict):
                if wrong := self.joi(item, rule, label):
                    return wrong
                continue
            if isinstance(rule, list):
                if item not in rule:
                    return f'"{label}" must be one of [{", ".join(rule)}]', label
                continue
            if not isinstance(item, str):
                return f'"{label}" must be a string', label
            if not item:
                return f'"{label}" is not allowed to be empty', label
            if rule == "hex24":
                if any(c not in "0123456789abcdef" for c in item.lower()):
                    return f'"{label}" must only contain hexadecimal characters', label
                if len(item) != 24:
                    return f'"{label}" length must be 24 characters long', label
        for key in value:
            if key not in schema:
                label = f"{path}.{key}" if path else key
                return f'"{label}" is not allowed', label
        return None

    def enter(self, request: Request, schema: dict[str, Any]) -> Any:
        """Authenticate, parse and validate."""
        try:
            body = json.loads(request.raw or b"{}")
        except ValueError:
            return self.no(400, "Bad Request", "Unexpected token in JSON at position 0")
        agent = self.members.get(request.token)
        if agent is None:
            message = "Invalid token" if request.token else "Missing authentication"
            return self.no(401, "Unauthorized", message)
        if wrong := self.joi(body, schema):
            message, key = wrong
            refusal = self.no(400, "Bad Request", "Validation failed")
            refusal.body["validation"] = {
                "body": {"source": "body", "keys": [key], "message": message}
            }
            return refusal
        return agent, body

    def register(self, request: Request) -> Response:
        """Make an agent."""
        token = secrets.token_urlsafe(32)
        agent = {"_id": secrets.token_hex(12), "credits": 100}
        self.members[token] = agent
        self.book.registrations += 1
        body = {"agent_id": agent["_id"], "access_token": token, "credits": 100}
        return Response(200, body, {"X-Powered-By": "Express"})

    def tasks(self, request: Request) -> Response:
        """List the open sheets."""
        limit, page = request.query.get("limit", "10"), request.query.get("page", "1")
        for name, value in (("limit", limit), ("page", page)):
            if not value.isdigit() or not int(value):
                message = f'"{name}" must be a positive number'
                return self.no(400, "Bad Request", message)
        size, number = min(int(limit), 25), int(page)
        rows = [s for s in self.sheets.values() if s["status"] == "OPEN"]
        pages = max(1, -(-len(rows) // size))
        docs = [
            {
                "_id": s["_id"],
                "taxon": s["taxon"],
                "kind": "LABEL_TRANSCRIPTION",
                "guideline": "Labels are set in capital letters.",
                "reward": s["reward"],
                "status": s["status"],
                "__v": 0,
            }
            for s in rows[(number - 1) * size : number * size]
        ]
        return Response(
            200,
            {
                "docs": docs,
                "totalDocs": len(rows),
                "limit": size,
                "totalPages": pages,
                "page": number,
                "pagingCounter": (number - 1) * size + 1,
                "hasPrevPage": number > 1,
                "hasNextPage": number < pages,
                "prevPage": number - 1 if number > 1 else None,
                "nextPage": number + 1 if number < pages else None,
            },
            {"X-Powered-By": "Express"},
        )

    marketplace = tasks

    def claim(self, request: Request) -> Response:
        """Hand a sheet out."""
        entered = self.enter(request, {"sheetId": "hex24"})
        if isinstance(entered, Response):
            return entered
        agent, body = entered
        sheet = self.sheets.get(body["sheetId"])
        if sheet is None:
            return self.no(404, "Not Found", "Sheet not found")
        for token, claim in self.claims.items():
            if claim["agent"] is agent and claim["state"] != "PAID":
                if claim["sheet"] is sheet:
                    return self.ok(self.shown(token))
                message = "You already hold a sheet, complete it first"
                return self.no(409, "Conflict", message)
        if sheet["status"] != "OPEN":
            return self.no(409, "Conflict", "Sheet is not open")
        token = secrets.token_urlsafe(12)
        sheet["status"] = "CLAIMED"
        self.claims[token] = {"agent": agent, "sheet": sheet, "state": "IN_PROGRESS"}
        self.book.claimed(sheet["_id"])
        return self.ok(self.shown(token))

    def shown(self, token: str) -> dict[str, Any]:
        """Return a claim as its owner sees it."""
        claim = self.claims[token]
        sheet = claim["sheet"]
        return {
            "claimToken": token,
            "state": claim["state"],
            "sheet": {k: sheet[k] for k in ("_id", "taxon", "labelText", "reward")},
        }

    def submit(self, request: Request) -> Response:
        """Take the deliverable."""
        deliverable = {"type": ["text", "url"], "content": "string"}
        entered = self.enter(
            request, {"claimToken": "string", "deliverable": deliverable}
        )
        if isinstance(entered, Response):
            return entered
        agent, body = entered
        claim = self.claims.get(body["claimToken"])
        if claim is None or claim["agent"] is not agent:
            return self.no(403, "Forbidden", "Claim token is not valid for this agent")
        if claim["state"] == "PAID":
            return self.no(409, "Conflict", "Claim is closed")
        given = body["deliverable"]
        if given["type"] == "url":
            return self.no(
                422, "Unprocessable Entity", "This sheet takes type text only"
            )
        if given["content"] != claim["sheet"]["labelText"].upper():
            message = "Content is not the label in capital letters"
            return self.no(422, "Unprocessable Entity", message)
        claim["state"] = "DELIVERED"
        return self.ok({"claimToken": body["claimToken"], "state": "DELIVERED"})

    def complete(self, request: Request) -> Response:
        """Close and pay."""
        entered = self.enter(request, {"claimToken": "string", "sheetId": "hex24"})
        if isinstance(entered, Response):
            return entered
        agent, body = entered
        claim = self.claims.get(body["claimToken"])
        if claim is None or claim["agent"] is not agent:
            return self.no(403, "Forbidden", "Claim token is not valid for this agent")
        sheet = claim["sheet"]
        if body["sheetId"] != sheet["_id"]:
            return self.no(409, "Conflict", "Claim is for another sheet")
        if claim["state"] == "IN_PROGRESS":
            return self.no(409, "Conflict", "Nothing was delivered yet")
        if claim["state"] == "DELIVERED":
            claim["state"] = sheet["status"] = "PAID"
            agent["credits"] += sheet["reward"]
            self.book.pay(sheet["_id"], sheet["reward"])
        return self.ok(
            {
                "state": "PAID",
                "creditsEarned": sheet["reward"],
                "credits": agent["credits"],
            }
        )
